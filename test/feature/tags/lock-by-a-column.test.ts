/** A lock column of any name, which this package or a trigger counts, is the tag of its rows, also of those that had none before. */
// @runs fast

import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, crudController, Repository } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY, SERVES_MANY } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { expectNothing, expectProblem, tagOf } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const MANY = SERVES_MANY ? (['createMany', 'updateMany'] as const) : [];

class Counted extends KeyedRow {
  @Column(DataType.STRING(20)) declare name: string | null;
}

const OPTIONS: CrudOptions = {
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'delete', 'restore', 'purge', ...MANY],
  can: { deleted: true },
  filterAllow: '*',
};
const SOFT = { softDelete: { attribute: 'isGone', deleted: true, alive: false } } as const;
const PLAIN = { timestamps: false } as const;

/** We count. */
@Crud({ ...OPTIONS, ...SOFT, etag: { attribute: 'lockVersion' } })
@Table({ ...PLAIN, tableName: 'ours' })
class Our extends Counted {
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'lock_version' }) declare lockVersion: number;
  @Column(DataType.BOOLEAN) declare isGone: boolean;
}

/** We count, and answers have texts. */
@Crud({ ...OPTIONS, ...SOFT, etag: { attribute: 'lock', by: 'us' } })
@Table({ ...PLAIN, tableName: 'bigs' })
class Big extends Counted {
  @Column({ type: DataType.BIGINT, defaultValue: 0 }) declare lock: string;
  @Column(DataType.BOOLEAN) declare isGone: boolean;
}

/** The version of Sequelize, in a column that was added to its table. */
@Crud({ ...OPTIONS, ...SOFT })
@Table({ ...PLAIN, tableName: 'sheets', version: true })
class Sheet extends Counted {
  @Column(DataType.BOOLEAN) declare isGone: boolean;
}

/** A trigger counts, by ten. */
@Crud({ ...OPTIONS, ...SOFT, etag: { attribute: 'rev', by: 'database' } })
@Table({ ...PLAIN, tableName: 'theirs' })
class Their extends Counted {
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'the rev' }) declare rev: number;
  @Column(DataType.BOOLEAN) declare isGone: boolean;
}

/** A trigger keeps the moment of a change. */
@Crud({ ...OPTIONS, ...SOFT, prefix: '/kept', etag: { attribute: 'changedAt', by: 'database' } })
@Table({ ...PLAIN, tableName: 'kept' })
class Kept extends Counted {
  @Column({ type: DataType.DATE, field: 'changed_at' }) declare changedAt: Date | null;
  @Column(DataType.BOOLEAN) declare isGone: boolean | null;
}

const MODELS = [Our, Big, Sheet, Their, Kept];

const TRIGGER = `
  CREATE FUNCTION tell_time() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN NEW.changed_at := clock_timestamp(); RETURN NEW; END $f$;
  CREATE TRIGGER tell_time BEFORE INSERT OR UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION tell_time();
  CREATE FUNCTION count_ten() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN NEW."the rev" := CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD."the rev" + 10 END; RETURN NEW; END $f$;
  CREATE TRIGGER count_ten BEFORE INSERT OR UPDATE ON theirs FOR EACH ROW EXECUTE FUNCTION count_ten()`;

const WAYS = [
  { model: Our, path: '/ours', lock: 'lockVersion', step: 1, show: Number },
  { model: Big, path: '/bigs', lock: 'lock', step: 1, show: String },
  { model: Sheet, path: '/sheets', lock: 'version', step: 1, show: Number },
  { model: Their, path: '/theirs', lock: 'rev', step: 10, show: Number },
] as const;

type Schemas = Readonly<Record<string, { readonly properties: object }>>;

describe('a lock column', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { models: [] },
    minPool: 2,
  }));
  let app: BuiltApp;

  before(async () => {
    await site.engine.sequelize.query(TRIGGER);
    await site.engine.sequelize.query(
      'ALTER TABLE sheets ALTER version DROP NOT NULL, ALTER version DROP DEFAULT',
    );
    app = await buildApp({ models: MODELS, indexAdvice: false });
  });

  for (const { model, path, lock, step, show } of WAYS)
    for (const isHooked of [false, true])
      it(`of ${model.name} is the tag of each state${isHooked ? ' that is written behind a hook' : ''}`, async () => {
        using _hook = isHooked ? addedHook(model, ['beforeSave', 'beforeDestroy']) : undefined;
        const id = isHooked ? 2 : 1;
        const one = `${path}/${id}`;
        let changes = 0;
        /** One change more than before. */
        const expectChange = async (sent: PromiseLike<{ status: number; body: object; headers: object }>) => {
          changes += 1;
          const { status, body, headers } = await sent;
          expect([status, body]).to.deep.equal([
            200,
            { id, name: (body as Counted).name, isGone: false, [lock]: show(changes * step) },
          ]);
          expect(tagOf({ headers })).to.equal(`"${changes * step}"`);
        };
        const created = await app.agent.post(path).send({ id, name: 'a' });
        expect([created.status, tagOf(created)]).to.deep.equal([201, '"0"']);
        expect(created.body).to.deep.equal({ id, name: 'a', isGone: false, [lock]: show(0) });
        for (const method of ['post', 'patch'] as const) {
          const refused = await app.agent[method](method === 'post' ? path : one).send({ id: 9, [lock]: 7 });
          expect(refused.body.errors.at(-1)).to.include({ pointer: `/${lock}`, code: 'readOnly' });
        }
        await expectChange(app.agent.patch(one).send({ name: 'b' }));
        // A write of the same value changes nothing.
        const same = await app.agent.patch(one).send({ name: 'b' });
        expect(tagOf(same)).to.equal(`"${step}"`);
        const late = await app.agent.patch(one).set('if-match', '"0"').send({ name: 'c' });
        expect([late.status, late.headers['etag']]).to.deep.equal([412, `"${step}"`]);
        await expectChange(app.agent.patch(one).set('if-match', `"${step}"`).send({ name: 'c' }));
        await expectChange(
          app.agent
            .put(one)
            .set('if-match', `"${2 * step}"`)
            .send({ name: 'd' }),
        );
        expect((await app.agent.delete(one).set('if-match', '"0"')).status).to.equal(412);
        expectNothing(await app.agent.delete(one).set('if-match', `"${3 * step}"`), 204);
        changes += 1;
        await expectChange(app.agent.post(`${one}/restore`).set('if-match', `"${4 * step}"`));
        await new Repository(model as typeof Our).update(id, { name: 'e' });
        changes += 1;
        const read = await app.agent.get(one);
        expect(tagOf(read)).to.equal(`"${changes * step}"`);
        expect(
          (await app.agent.get(one).set('if-none-match', String(read.headers['etag']))).status,
        ).to.be.oneOf([304, 200]);
        const answers = await Promise.all(
          Array.from({ length: 6 }, (_, index) =>
            app.agent
              .patch(one)
              .set('if-match', `"${changes * step}"`)
              .send({ name: `at once ${index}` }),
          ),
        );
        const statuses = answers.map(({ status }) => status).sort();
        expect(statuses).to.deep.equal([200, 412, 412, 412, 412, 412]);
        changes += 1;
        if (!SERVES_MANY) return;
        const many = (state: number) =>
          app.agent.patch(path).send([{ id, name: `many ${state}`, [lock]: show(state) }]);
        expect((await many(0)).status).to.equal(412);
        const written = await many(changes * step);
        expect([written.status, written.body.items?.[0][lock]]).to.deep.equal([
          200,
          show((changes + 1) * step),
        ]);
      });

  for (const { model, path, lock, show } of WAYS.slice(1, 3))
    for (const isHooked of [false, true])
      it(`[P9] of ${model.name} may be NULL in a row from before, which begins to count${isHooked ? ' behind a hook' : ''}`, async () => {
        using _hook = isHooked ? addedHook(model, ['beforeSave', 'beforeDestroy']) : undefined;
        const { agent } = app;
        const table = model.tableName;
        await site.engine.sequelize.query(
          `TRUNCATE ${table}; INSERT INTO ${table} (id, name, "isGone") SELECT id, 'a', false FROM generate_series(1, 6) AS t (id);
           UPDATE ${table} SET ${lock} = NULL; INSERT INTO ${table} (id, name, "isGone", ${lock}) VALUES (9, 'c', false, 0)`,
        );
        const at = (id: number, end = '') => `${path}/${id}${end}`;
        const refused = {
          detail: `The ${model.name} has been changed since; read it again, and repeat the change.`,
        };
        const send = (id: number, tag: string, name: string) =>
          agent.patch(at(id)).set('If-Match', tag).send({ name });
        const read = await agent.get(at(1));
        expect([read.body, tagOf(read)]).to.deep.equal([
          { id: 1, name: 'a', isGone: false, [lock]: null },
          '"null"',
        ]);
        for (const tag of ['"0"', '"1"', '"nonsense"', '"x7"', '"0", "odd"']) {
          const answer = await send(1, tag, 'no');
          expectProblem(answer, 412, refused);
          expect(tagOf(answer)).to.equal('"null"');
        }
        expect(tagOf(await send(1, '"null"', 'a')), 'nothing is written').to.equal('"null"');
        const first = await send(1, '"null"', 'first');
        expect([first.body[lock], tagOf(first)]).to.deep.equal([show(1), '"1"']);
        const stale = await send(1, '"null"', 'second');
        expectProblem(stale, 412, refused);
        expect(tagOf(stale)).to.equal('"1"');
        expect((await send(1, '"null", "1"', 'second')).body[lock]).to.equal(show(2));
        expect(tagOf(await send(2, '*', 'any'))).to.equal('"1"');
        expect(tagOf(await send(9, '"null"', 'no')), 'a row that counts').to.equal('"0"');
        expectProblem(await agent.put(at(3)).set('If-Match', '"0"').send({ name: 'x' }), 412, refused);
        expect(tagOf(await agent.put(at(3)).set('If-Match', '"null"').send({ name: 'x' }))).to.equal('"1"');
        expectProblem(await agent.delete(at(4)).set('If-Match', '"0"'), 412, refused);
        expectNothing(await agent.delete(at(4)).set('If-Match', '"null"'), 204);
        const tag = tagOf(await agent.get(at(4, '?deleted=only')));
        expectProblem(await agent.delete(at(4, '/purge')).set('If-Match', '"7"'), 412, refused);
        expectProblem(await agent.post(at(4, '/restore')).set('If-Match', '"7"'), 412, refused);
        expect((await agent.post(at(4, '/restore')).set('If-Match', tag)).status).to.equal(200);
        if (!SERVES_MANY) return;
        const many = (fifth: unknown, ninth: unknown) =>
          agent.patch(path).send([
            { id: 5, [lock]: fifth, name: 'x' },
            { id: 9, [lock]: ninth, name: 'x' },
          ]);
        const item = (index: number) => ({
          ...refused,
          errors: [{ pointer: `/${index}`, code: 'changed', ...refused }],
        });
        expectProblem(await many(show(0), show(0)), 412, item(0));
        expectProblem(await many(null, null), 412, item(1));
        const changed = (await many(null, show(0))).body.items;
        expect(changed.map((each: Record<string, unknown>) => each[lock])).to.deep.equal([show(1), show(1)]);
        const written = await agent.patch(`${path}?q=id==6`).send({ name: 'y' });
        expect(written.body).to.deep.equal({ affected: 1 });
        expect((await agent.get(at(6))).body[lock]).to.equal(show(1));
      });

  it('is counted by save() of code that has no request, and is in no body of the document', async () => {
    const our = await Our.create({ id: 5, name: 'a', lockVersion: 3 });
    await our.update({ name: 'b' });
    expect((await app.agent.get('/ours/5')).body).to.include({ name: 'b', lockVersion: 4 });
    const stale = await Our.findByPk(5);
    await our.update({ name: 'c' });
    expect(String(await caughtError(() => stale?.update({ name: 'd' })))).to.include('OptimisticLockError');
    const { OurCreate, OurRead } = (app.crud.openapi().components?.schemas ?? {}) as Schemas;
    expect(Object.keys(OurCreate?.properties ?? {})).to.deep.equal(['id', 'name']);
    expect(Object.keys(OurRead?.properties ?? {})).to.include('lockVersion');
  });

  it('may be a moment that a trigger keeps, with its microseconds', async () => {
    const send = (tag: string, name: string) =>
      app.agent.patch('/kept/1').set('if-match', tag).send({ name });
    const created = await app.agent.post('/kept').send({ id: 1, name: 'a' });
    expect(created.status).to.equal(201);
    const first = String((await app.agent.get('/kept/1')).headers['etag']);
    expect(tagOf(created))
      .to.equal(tagOf({ headers: { etag: first } }))
      .and.match(/^"t\d{16}"$/);
    // The same millisecond, and another moment.
    const [, moment = ''] = /t(\d+)/.exec(first) ?? [];
    for (const other of [
      `"t${BigInt(moment) + 1n}"`,
      '"null"',
      '"t"',
      '"7"',
      '"t9999999999999999999"',
      '"t0"',
    ])
      expect((await send(other, 'b')).status, other).to.equal(412);
    const changed = await send(first, 'b');
    expect(changed.status).to.equal(200);
    expect(changed.body).to.deep.include({ id: 1, name: 'b', isGone: false });
    const second = tagOf(changed);
    expect(second).to.not.equal(tagOf({ headers: { etag: first } }));
    const late = await send(first, 'c');
    expect([late.status, late.headers['etag']]).to.deep.equal([412, second]);
    expect((await app.agent.patch('/kept/1').send({ changedAt: new Date() })).body.errors[0]).to.include({
      code: 'readOnly',
    });
    const race = await Promise.all(Array.from({ length: 6 }, (_, index) => send(second, `at once ${index}`)));
    expect(race.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412, 412, 412]);
    const { headers } = await app.agent.get('/kept/1');
    expectNothing(await app.agent.delete('/kept/1').set('if-match', String(headers['etag'])), 204);
    await site.engine.sequelize.query(
      "ALTER TABLE kept DISABLE TRIGGER ALL; INSERT INTO kept VALUES (2, 'x', 'infinity'), (3, 'y', NULL)",
    );
    expect((await app.agent.get('/kept/2')).headers['etag']).to.match(/^W/);
    expect(tagOf(await app.agent.get('/kept/3'))).to.equal('"null"');
  });

  it('is refused where no trigger counts, and where the table makes it', async () => {
    const { sequelize } = site.engine;
    await sequelize.query('DROP TRIGGER count_ten ON theirs; ALTER TABLE ours DROP lock_version');
    await sequelize.query('ALTER TABLE ours ADD lock_version int GENERATED ALWAYS AS (id * 2) STORED');
    const failure = await configError(() => buildApp({ models: [Our, Their], logger: new CapturedLog() }));
    expect(failure).to.include(
      `Their: etag is { attribute: 'rev', by: 'database' }, and no trigger of the table "theirs" runs for a row of an UPDATE, so that its tags ` +
        "would never change; add one, or leave by: 'database' out.",
    );
    expect(failure).to.include(
      'Our: the column lock_version of the table "ours" is made by the table, so that no write can set lockVersion for etag; name another attribute.',
    );
  });
});

describe('the option etag with an attribute', () => {
  useEmptyRegistry();

  async function problemsOf(etag: unknown, table: object = {}, options: object = {}): Promise<string> {
    @Crud({ ...options, ...(etag === undefined ? {} : { etag }) } as CrudOptions)
    @Table({ tableName: 'wrong', ...table })
    class Wrong extends KeyedRow {
      @Column(DataType.INTEGER) declare lock: number;
      @Column(DataType.TEXT) declare text: string;
    }
    new Sequelize({ dialect: 'postgres', models: [Wrong] });
    return (await configError(() => buildApp({ models: [Wrong] }))).replace('Wrong: ', '');
  }

  for (const [etag, problem, table, options] of [
    [7, "etag is 7; use 'version', 'xmin', false, or an object such as { attribute: 'lockVersion' }."],
    [
      { attribute: 'lok' },
      "etag names 'lok', which is not an attribute. Did you mean 'lock'? The attributes are id, lock, text, createdAt, updatedAt.",
    ],
    [{ attribute: 'lock', by: 'them' }, `etag.by is "them"; use 'us' or 'database'.`],
    [{ attribute: 'lock', of: 1 }, "etag has no 'of'; use attribute and by."],
    [
      { attribute: 'text' },
      "etag names 'text', of type string, which does not count; use an integer, a timestamp with by: 'database', or etag: 'xmin'.",
    ],
    [{ attribute: 'id' }, "etag names 'id', which something else writes; use an attribute that only counts."],
    [
      { attribute: 'updatedAt' },
      "etag names 'updatedAt', which something else writes; use an attribute that only counts.",
    ],
    [
      { attribute: 'lock' },
      "etag names 'lock', and @Table has version, which counts by revision; remove one of the two.",
      { version: 'revision' },
    ],
    [
      { attribute: 'lock', by: 'database' },
      'the default scope leaves out lock, without which Sequelize changes no row; have the scope read it: @Exclude() hides it from answers.',
      { defaultScope: { attributes: ['id', 'text'] } },
    ],
    [
      { attribute: 'lock', by: 'database' },
      "readOnly names 'lock', which counts changes for etag; leave it out, as no body may set it.",
      {},
      { readOnly: ['lock'] },
    ],
  ] as const)
    it(`is refused as ${JSON.stringify([etag, table, options])}`, async () => {
      expect(await problemsOf(etag, table, options)).to.equal(problem);
    });

  it('is refused for a timestamp that the readSchema lacks, because tags would tell it', async () => {
    class PublicNote {
      @Expose() declare id: number;
    }
    @Crud({ etag: { attribute: 'changedAt', by: 'database' }, readSchema: PublicNote } as CrudOptions)
    @Table({ tableName: 'notes', timestamps: false })
    class Note extends KeyedRow {
      @Column(DataType.DATE) declare changedAt: Date;
    }
    new Sequelize({ dialect: 'postgres', models: [Note] });
    expect(await configError(() => buildApp({ models: [Note] }))).to.equal(
      "Note: etag names 'changedAt', a timestamp that the readSchema hides, and tags would tell it; use etag: 'xmin'.",
    );
  });

  it('is a fact of the model, whatever serves it', async () => {
    @Crud()
    @Table({ tableName: 'fine', timestamps: false })
    class Fine extends KeyedRow {
      @Column(DataType.INTEGER) declare lock: number;
    }
    class Fines extends crudController(Fine, { etag: { attribute: 'lock' } }) {}
    new Sequelize({ dialect: 'postgres', models: [Fine] });
    expect(await configError(() => buildApp({ models: [], controllers: [Fines] }))).to.equal(
      'Fine: etag names an attribute for a route, and which one counts is a fact of the model; write it in its @Crud.',
    );
  });
});

class Text extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
}

/** A model that declares its version, as existing tables have it: it may be NULL, or have a default of the table's own. */
@Crud({ prefix: '/declared', endpoints: ['read', 'create'] })
@Table({ tableName: 'declared', timestamps: false, version: 'lock' })
class Declared extends Text {
  @Column({ type: DataType.INTEGER, field: 'lock no' }) declare lock: number | null;
}

@Crud({ prefix: '/declared-hooked', endpoints: ['read', 'create'] })
@Table({ tableName: 'declared', timestamps: false, version: 'lock', hooks: { beforeCreate() {} } })
class DeclaredHooked extends Text {
  @Column({ type: DataType.INTEGER, field: 'lock no' }) declare lock: number | null;
}

describe('a new row with a declared version', () => {
  for (const [what, column, lock] of [
    ['without a default', '"lock no" int', null],
    ['with a default of its table', '"lock no" int DEFAULT 7', 7],
  ] as const) {
    it(`${what} is answered as it is read`, async () => {
      await using site = await startTestApp({
        models: [Declared, DeclaredHooked],
        engine: { createAll: false },
        bootstrap: { indexAdvice: false, models: [], logger: new CapturedLog() },
      });
      await site.engine.sequelize.query(
        `CREATE TABLE declared (id int PRIMARY KEY, text varchar(20) NOT NULL, ${column})`,
      );
      const { agent } = await buildApp({ models: [Declared, DeclaredHooked], indexAdvice: false });
      for (const [id, path] of ['/declared', '/declared-hooked'].entries()) {
        const made = await agent.post(path).send({ id, text: 'new' });
        expect([made.status, made.body]).to.deep.equal([201, { id, text: 'new', lock }]);
        expect(tagOf(made)).to.equal(`"${lock}"`);
        expect((await agent.get(`${path}/${id}`)).body).to.deep.equal(made.body);
      }
    });
  }
});

@Crud({
  prefix: '/leaves',
  endpoints: ['read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  filterAllow: ['id'],
})
@Table({ tableName: 'leaves', timestamps: false, version: true })
class Leaf extends KeyedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
}

const TABLE = `
  CREATE TABLE leaves (id int PRIMARY KEY, name text, size int, version int);
  CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN NEW.version := CASE TG_OP WHEN 'INSERT' THEN 100 ELSE OLD.version + 10 END; RETURN NEW; END $f$;
  CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON leaves FOR EACH ROW EXECUTE FUNCTION stamp();
  CREATE FUNCTION shrink() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.size := -1; RETURN NEW; END $f$;
  CREATE TRIGGER shrink BEFORE UPDATE OF name ON leaves FOR EACH ROW EXECUTE FUNCTION shrink()`;

except(OF_MANY).describe('a version that a trigger gives', () => {
  const { apps, query } = serveTables(TABLE, [Leaf]);

  beforeEach(() => query('TRUNCATE leaves'));

  for (const [index, path] of ['fast', 'general'].entries()) {
    const agent = () => (apps[index] as BuiltApp).agent;

    it(`is that of the answer to a write, on the ${path} path`, async () => {
      const leaf = (name: string, version: number) => ({ id: 1, name, size: name === 'a' ? 1 : -1, version });
      for (const [sent, expected] of [
        [agent().post('/leaves').send({ id: 1, name: 'a', size: 1 }), leaf('a', 100)],
        [agent().patch('/leaves/1').send({ name: 'b' }), leaf('b', 110)],
        [agent().put('/leaves/1').send({ name: 'c', size: 4 }), leaf('c', 120)],
      ] as const) {
        const { status, body, headers } = await sent;
        expect([status < 300, body, tagOf({ headers })]).to.deep.equal([
          true,
          expected,
          `"${expected.version}"`,
        ]);
        const read = await agent().get('/leaves/1');
        expect([read.body, tagOf(read)]).to.deep.equal([body, tagOf({ headers })]);
      }
      const many = await agent()
        .post('/leaves')
        .send([{ id: 2 }, { id: 3 }]);
      expect(many.body.items.map(({ version }: Leaf) => version)).to.deep.equal([100, 100]);
      const changed = await agent()
        .patch('/leaves')
        .send([
          { id: 2, size: 7 },
          { id: 3, size: 7 },
        ]);
      expect(changed.body.items.map(({ version }: Leaf) => version)).to.deep.equal([110, 110]);
    });

    it(`lets a trigger on one column run for rows whose value changes, on the ${path} path`, async () => {
      await agent()
        .post('/leaves')
        .send([
          { id: 1, name: 'a', size: 1 },
          { id: 2, name: 'b', size: 2 },
        ]);
      const { status, body } = await agent().patch('/leaves?q=id=le=2').send({ name: 'a', size: 5 });
      expect([status, body]).to.deep.equal([200, { affected: 2 }]);
      expect((await agent().get('/leaves/1')).body.size).to.equal(5);
      expect((await agent().get('/leaves/2')).body.size).to.equal(-1);
    });
  }
});
