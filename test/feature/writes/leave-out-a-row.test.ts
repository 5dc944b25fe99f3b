/** A table that accepts a write and leaves its row out, by a trigger that returns NULL: 409, and all its changes are undone. */

import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { type CrudContext, crudController, Repository } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectNothing, expectProblem } from '../../support/expect-answer.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const endpoints = ['list', 'read', 'create', 'update', 'replace', 'delete'];
const NAMED = { name: { type: DataType.STRING(20), allowNull: false } };
/** The client sets the key, so that a record can be replaced. */
const OF_CLIENTS = { base: KeyedRow, crud: { endpoints } };
const PARANOID = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true };
const Plain = served('plain', NAMED, OF_CLIENTS);
const Soft = served('soft', NAMED, {
  base: KeyedRow,
  crud: { endpoints: [...endpoints, 'restore', 'purge'], etag: false },
  table: { ...PARANOID, version: true },
});
/** Its hooks have Sequelize write it on either path. */
const Hooked = served('hooked', NAMED, {
  ...OF_CLIENTS,
  table: { hooks: { beforeUpdate() {}, beforeCreate() {}, beforeDestroy() {} } },
});
const Called = served('called', NAMED, OF_CLIENTS);
const Disguised = served('disguised', NAMED, OF_CLIENTS);
/** Its rules write nothing. */
const Ruled = served('ruled', NAMED, { base: KeyedRow });
/** Over a view that hides the table. */
const Seen = served('seen', NAMED);

/** Bodies of functions whose every RETURN is one of NEW, and that have none of it. */
const DISGUISES = {
  'a comment': 'BEGIN INSERT INTO tried VALUES (TG_OP); NEW /* row */ := NULL; RETURN NEW; END',
  'a quoted name': 'BEGIN INSERT INTO tried VALUES (TG_OP); "new" := NULL; RETURN NEW; END',
  'a variable': 'DECLARE new disguised := NULL; BEGIN INSERT INTO tried VALUES (TG_OP); RETURN NEW; END',
  'a loop':
    'BEGIN INSERT INTO tried VALUES (TG_OP); FOREACH NEW IN ARRAY ARRAY[NULL::disguised] LOOP END LOOP; RETURN NEW; END',
};

class CalledController extends crudController(Called) {
  override async update(id: never, values: object, { repository }: CrudContext) {
    return repository.update(id, values);
  }
}

const VIEW = `
  CREATE TABLE unseen (id serial PRIMARY KEY, name varchar(20) NOT NULL);
  CREATE VIEW seen AS SELECT DISTINCT * FROM unseen;
  CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF TG_OP = 'INSERT' THEN
      INSERT INTO unseen (name) VALUES (NEW.name) RETURNING * INTO NEW;
    ELSIF TG_OP = 'UPDATE' AND NEW.name NOT LIKE 'out%' THEN
      UPDATE unseen SET name = NEW.name WHERE id = OLD.id;
    ELSIF TG_OP = 'DELETE' AND OLD.name NOT LIKE 'stays%' THEN
      DELETE FROM unseen WHERE id = OLD.id;
      RETURN OLD;
    END IF;
    IF NEW.name LIKE 'out%' THEN RETURN NULL; END IF;
    RETURN NEW;
  END $f$;
  CREATE TRIGGER seeing INSTEAD OF INSERT OR UPDATE OR DELETE ON seen FOR EACH ROW EXECUTE FUNCTION see()`;

/** Leaves out new values that begin with `out`, changes of `same`, and deletions of values that begin with `stays`. */
const leavingOut = (first = '') => `
  CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    ${first}
    IF TG_OP = 'DELETE' THEN
      IF OLD.name LIKE 'stays%' THEN RETURN NULL; END IF;
      RETURN OLD;
    END IF;
    IF NEW.name LIKE 'out%' THEN RETURN NULL; END IF;
    IF TG_OP = 'UPDATE' AND OLD.name = 'same' THEN RETURN NULL; END IF;
    RETURN NEW;
  END $f$`;
const triggerOf = (table: string) => `
  CREATE TRIGGER leaving BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION leave_out()`;

const TABLES = ['plain', 'soft', 'hooked', 'called'];

describe('a row that the database leaves out', () => {
  const site = serveTestApp(() => ({
    models: [Plain, Soft, Hooked, Called, Ruled],
    bootstrap: { controllers: [CalledController] },
  }));
  const keyed = serveTestApp(async () => {
    const database = await freshDatabase();
    await execute(database.url, VIEW);
    return { models: [Seen], database, bootstrap: { idempotency: { principal: () => 'ann' } } };
  });

  const query = (text: string) => site.engine.sequelize.query(text);

  before(async () => {
    await query(`CREATE TABLE tried (what text); ${leavingOut('INSERT INTO tried VALUES (TG_OP);')}`);
    for (const table of TABLES) await query(triggerOf(table));
  });

  beforeEach(async () => {
    await query(`TRUNCATE ${TABLES.join()}`);
    for (const table of TABLES)
      await query(`INSERT INTO ${table} (id, name) VALUES (1, 'first'), (2, 'stays'), (3, 'same')`);
    await query('TRUNCATE tried');
  });

  /** Expects the refusal, and that all that the table has done is undone. */
  async function expectLeftOut(
    answer: Response,
    table: string,
    verb = 'store',
    item?: number,
  ): Promise<void> {
    const detail = `The database did not ${verb} the record, and nothing was done.`;
    const errors = [{ pointer: `/${item}`, code: 'conflict', detail }];
    expectProblem(answer, 409, item === undefined ? { detail } : { detail, errors });
    const [tried] = await query('SELECT FROM tried');
    expect(tried).to.have.length(0);
    const [rows] = await query(`SELECT id, name FROM ${table} ORDER BY id`);
    expect(rows).to.deep.equal([
      { id: 1, name: 'first' },
      { id: 2, name: 'stays' },
      { id: 3, name: 'same' },
    ]);
  }

  for (const table of TABLES) {
    it(`[P10] is 409 for one record of ${table}`, async () => {
      const { agent } = site;
      await expectLeftOut(await agent.post(`/${table}`).send({ id: 9, name: 'out' }), table);
      await expectLeftOut(await agent.patch(`/${table}/1`).send({ name: 'out' }), table);
      await expectLeftOut(await agent.patch(`/${table}/3`).send({ name: 'other' }), table);
      await expectLeftOut(await agent.put(`/${table}/1`).send({ name: 'out' }), table);
      await expectLeftOut(await agent.put(`/${table}/9`).send({ name: 'out' }), table);
      const deleted = await agent.delete(table === 'soft' ? '/soft/3' : `/${table}/2`);
      await expectLeftOut(deleted, table, table === 'soft' ? 'store' : 'delete');
    });

    it(`is told from a row of ${table} that is not there, and from one that is as it is to be`, async () => {
      const { agent } = site;
      expect((await agent.patch(`/${table}/9`).send({ name: 'x' })).status).to.equal(404);
      expect((await agent.delete(`/${table}/9`)).status).to.equal(404);
      expect((await agent.patch(`/${table}/3`).send({ name: 'same' })).body).to.include({ name: 'same' });
      expect((await agent.post(`/${table}`).send({ id: 9, name: 'new' })).status).to.equal(201);
      expect((await agent.patch(`/${table}/1`).send({ name: 'second' })).body).to.include({ name: 'second' });
      expectNothing(await agent.delete(`/${table}/1`), 204);
    });
  }

  it('is 409 for a record that is restored or purged', async () => {
    const { agent } = site;
    await query(`ALTER TABLE soft DISABLE TRIGGER leaving`);
    await query(`UPDATE soft SET "deletedAt" = now()`);
    await query(`ALTER TABLE soft ENABLE TRIGGER leaving`);
    await query('TRUNCATE tried');
    await expectLeftOut(await agent.post('/soft/3/restore'), 'soft');
    await expectLeftOut(await agent.delete('/soft/2/purge'), 'soft', 'delete');
    expect((await agent.post('/soft/1/restore')).status).to.equal(200);
  });

  for (const [name, body] of Object.entries(DISGUISES)) {
    it(`is 409 where ${name} hides that there is none`, async () => {
      await using app = await startTestApp({ models: [Disguised] });
      const send = (text: string) => app.engine.sequelize.query(text);
      await send(`
        INSERT INTO disguised (id, name) VALUES (1, 'first'), (2, 'stays'), (3, 'same');
        CREATE TABLE tried (what text);
        CREATE FUNCTION hide() RETURNS trigger LANGUAGE plpgsql AS $f$ ${body} $f$;
        CREATE TRIGGER hiding BEFORE INSERT OR UPDATE ON disguised FOR EACH ROW EXECUTE FUNCTION hide()`);
      const detail = 'The database did not store the record, and nothing was done.';
      expectProblem(await app.agent.post('/disguised').send({ id: 9, name: 'new' }), 409, { detail });
      expectProblem(await app.agent.patch('/disguised/1').send({ name: 'new' }), 409, { detail });
      expectProblem(await app.agent.put('/disguised/1').send({ name: 'new' }), 409, { detail });
      const [tried] = await send('SELECT FROM tried');
      expect(tried).to.have.length(0);
    });
  }

  it('is 409 for a record that stays as it was instead of being deleted', async () => {
    await query(`
      CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
        INSERT INTO tried VALUES (TG_OP);
        RETURN OLD;
      END $f$;
      ALTER TABLE soft DISABLE TRIGGER leaving;
      CREATE TRIGGER staying BEFORE UPDATE ON soft FOR EACH ROW EXECUTE FUNCTION stay()`);
    await expectLeftOut(await site.agent.delete('/soft/1'), 'soft');
    const [alive] = await query('SELECT FROM soft WHERE "deletedAt" IS NULL');
    expect(alive).to.have.length(3);
    await query(`ALTER TABLE soft DISABLE TRIGGER staying; UPDATE soft SET "deletedAt" = now();
      ALTER TABLE soft ENABLE TRIGGER staying`);
    await expectLeftOut(await site.agent.post('/soft/1/restore'), 'soft');
    const [deleted] = await query('SELECT FROM soft WHERE "deletedAt" IS NOT NULL');
    expect(deleted).to.have.length(3);
    await query('DROP TRIGGER staying ON soft; ALTER TABLE soft ENABLE TRIGGER leaving');
  });

  it('is an error of a job that purges', async () => {
    const { agent } = site;
    await query(
      `ALTER TABLE soft DISABLE TRIGGER leaving; UPDATE soft SET "deletedAt" = now() - interval '1 day'`,
    );
    await query(`ALTER TABLE soft ENABLE TRIGGER leaving`);
    const failure = await new Repository(Soft).purge({ before: new Date() }).catch((error: unknown) => error);
    expect(failure).to.have.property(
      'message',
      'The database did not delete the record, and nothing was done.',
    );
    expect((await agent.post('/soft/1/restore')).status).to.equal(200);
  });

  it('is 409 where a rule does nothing instead', async () => {
    const { agent } = site;
    await query("INSERT INTO ruled (id, name) VALUES (1, 'first'), (2, 'stays'), (3, 'same')");
    for (const each of ['INSERT', 'UPDATE', 'DELETE'])
      await query(`CREATE RULE no_${each} AS ON ${each} TO ruled DO INSTEAD NOTHING`);
    await expectLeftOut(await agent.post('/ruled').send({ id: 9, name: 'new' }), 'ruled');
    await expectLeftOut(await agent.patch('/ruled/1').send({ name: 'new' }), 'ruled');
    await expectLeftOut(await agent.delete('/ruled/1'), 'ruled', 'delete');
  });

  it('is 409 behind a view', async () => {
    const { agent, engine } = keyed;
    expect((await agent.post('/seen').send({ name: 'first' })).status).to.equal(201);
    expect((await agent.post('/seen').send({ name: 'stays' })).status).to.equal(201);
    const refusals = [
      await agent.post('/seen').send({ name: 'out' }),
      await agent.patch('/seen/1').send({ name: 'out' }),
      await agent.delete('/seen/2'),
    ];
    for (const each of refusals) expect(each.status, each.text).to.equal(409);
    expect((await agent.patch('/seen/1').send({ name: 'next' })).body).to.deep.equal({ id: 1, name: 'next' });
    const [rows] = await engine.sequelize.query('SELECT name FROM unseen ORDER BY id');
    expect(rows).to.deep.equal([{ name: 'next' }, { name: 'stays' }]);
  });

  it('keeps no key', async () => {
    const send = (name: string) => keyed.agent.post('/seen').set('Idempotency-Key', '"k"').send({ name });
    expect((await send('out')).status).to.equal(409);
    expect((await send('in')).status).to.equal(201);
    expect((await send('in')).headers).to.include({ 'idempotent-replayed': 'true' });
  });
});

const OF_MANY_ROWS = { endpoints: ['list', 'createMany', 'updateMany', 'deleteMany'], filterAllow: ['name'] };
const Many = served('many', NAMED, { crud: OF_MANY_ROWS });
const SoftMany = served('soft_many', NAMED, {
  crud: { ...OF_MANY_ROWS, prefix: '/soft-many' },
  table: PARANOID,
});

except(OF_MANY).describe('rows that the database leaves out', () => {
  const site = serveTestApp(() => ({ models: [Many, SoftMany] }));
  const query = (text: string) => site.engine.sequelize.query(text);

  before(async () => {
    await query(leavingOut());
    for (const table of ['many', 'soft_many'])
      await query(`${triggerOf(table)}; INSERT INTO ${table} (name) VALUES ('first'), ('stays'), ('same')`);
  });

  for (const [path, table, verb] of [
    ['/many', 'many', 'delete'],
    ['/soft-many', 'soft_many', 'store'],
  ] as const) {
    it(`[P10] undo the others of ${path}`, async () => {
      const { agent } = site;
      const detail = (each: string) => `The database did not ${each} the record, and nothing was done.`;
      const item = (each: string) => ({
        detail: detail(each),
        errors: [{ pointer: '/1', code: 'conflict', detail: detail(each) }],
      });
      expectProblem(await agent.post(path).send([{ name: 'new' }, { name: 'out' }]), 409, item('store'));
      const changes = [1, 3].map((id) => ({ id, name: 'x' }));
      expectProblem(await agent.patch(path).send(changes), 409, item('store'));
      expectProblem(await agent.patch(`${path}?q=name!=none`).send({ name: 'x' }), 409, {
        detail: detail('store'),
      });
      expectProblem(await agent.delete(`${path}?q=name!=none`), 409, { detail: detail(verb) });
      const [rows] = await query(`SELECT id, name FROM ${table} ORDER BY id`);
      expect(rows).to.deep.equal([
        { id: 1, name: 'first' },
        { id: 2, name: 'stays' },
        { id: 3, name: 'same' },
      ]);
    });
  }
});
