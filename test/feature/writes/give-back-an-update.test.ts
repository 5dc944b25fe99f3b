/** An UPDATE returns the row that a query would find, also when the table gets a trigger while the application runs. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, onPath, SERVES_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp, startTestApp, type TestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud({ prefix: '/plain' })
@Table({ tableName: 'plain', timestamps: false })
class Plain extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column({ type: DataType.DECIMAL(10, 4), field: 'the price' }) declare price: string | null;
  @Column(DataType.DATE) declare moment: Date | null;
  @Column(DataType.CHAR(3)) declare code: string | null;
  @Column(DataType.JSON) declare json: unknown;

  /** A value that clients may write, and no column stores. */
  @Column({
    type: DataType.VIRTUAL(DataType.STRING(20)),
    set(this: Plain, value: string) {
      this.setDataValue('note' as never, value as never);
      this.setDataValue('name', value.toUpperCase());
    },
  })
  declare note: string;
}

const { TEXT, DATE } = DataType;
const ROW = { name: TEXT };
const Marked = served('marked', { ...ROW, tableoid: { type: TEXT, field: 'mark' } });
const Scoped = served('scoped', ROW, { table: { defaultScope: { where: { name: 'shown' } } } });
const Soft = served('soft', { ...ROW, ended: DATE }, { table: { paranoid: true, deletedAt: 'ended' } });
const Counted = served('counted', ROW, { table: { version: true } });
const Triggered = served('triggered', ROW);
const Cascading = served('cascading', { ...ROW, code: TEXT, parent: TEXT });

const VALUES = {
  name: 'new',
  price: '1.5',
  moment: '2026-01-31T10:00:00.5+02:00',
  code: 'a',
  json: { a: [1] },
};
const SHOWN = { ...VALUES, price: '1.5000', moment: '2026-01-31T08:00:00.500Z', code: 'a' };

const MODELS = [Plain, Marked, Scoped, Soft, Counted, Triggered, Cascading];

describe('an update on the general path', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { fastPath: false }, minPool: 2 }));

  const query = (text: string) => site.engine.sequelize.query(text);

  before(async () => {
    await query('ALTER TABLE cascading ADD UNIQUE (code)');
    await query(
      'ALTER TABLE cascading ADD FOREIGN KEY (parent) REFERENCES cascading (code) ON UPDATE CASCADE',
    );
  });

  beforeEach(async () => {
    await emptyTables(site, ...MODELS.map((model) => String(model.getTableName())));
    for (const { tableName } of MODELS) await query(`INSERT INTO ${tableName} (name) VALUES ('shown')`);
    await query('UPDATE counted SET version = 0');
  });

  /** Expects a change to give the record that a query finds afterwards, with these values. */
  async function expectGiven(path: string, body: object, expected: object = body): Promise<void> {
    const given = await site.agent.patch(path).send(body);
    const found = await site.agent.get(path);
    expectJson(given, 200, found.body);
    expect(found.body).to.deep.include(expected);
  }

  for (const [what, path, body, expected] of [
    ['values in the form of their columns', '/plain/1', VALUES, SHOWN],
    ['nothing of what was not stored', '/plain/1', { note: 'quiet' }, { name: 'QUIET' }],
    ['what was read where there was nothing to write', '/plain/1', { name: 'shown' }],
    ['columns with the name of one of the system', '/marked/1', { name: 'new' }],
    ['a version', '/counted/1', { name: 'new' }, { version: 1 }],
    ['a row that can be soft-deleted', '/soft/1', { name: 'new' }],
  ] as const) {
    it(`gives ${what}`, () => expectGiven(path, body, expected));
  }

  it('answers 404 where the row leaves the scope', async () => {
    await site.agent.patch('/scoped/1').send({ name: 'hidden' }).expect(404);
    expect(await Scoped.unscoped().count({ where: { name: 'hidden' } })).to.equal(0);
  });

  it('shows what a hook has written afterwards', () =>
    withHook(
      Plain,
      'afterUpdate',
      () => query("UPDATE plain SET code = 'xyz'"),
      () => expectGiven('/plain/1', { name: 'new' }, { name: 'new', code: 'xyz' }),
    ));

  it('shows what a foreign key of the same table has written afterwards', async () => {
    await Cascading.update({ code: 'a', parent: 'a' }, { where: {} });
    await expectGiven('/cascading/1', { code: 'b' }, { code: 'b', parent: 'b' });
  });

  it('shows what a trigger has made of the values, or that it has refused them', async () => {
    await query(`
      CREATE FUNCTION shape() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
        IF NEW.name = 'refused' THEN RETURN NULL; END IF;
        NEW.name := upper(NEW.name);
        RETURN NEW;
      END $f$`);
    await query('CREATE TRIGGER shaping BEFORE UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION shape()');
    await expectGiven('/triggered/1', { name: 'new' }, { name: 'NEW' });
    // Other changes of the trigger are undone with a row that it leaves out.
    expectProblem(await site.agent.patch('/triggered/1').send({ name: 'refused' }), 409, {
      detail: 'The database did not store the record, and nothing was done.',
    });
    expect((await site.agent.get('/triggered/1')).body).to.include({ name: 'NEW' });
  });
});

@Crud({ endpoints: ['list', 'read', 'create', 'update', ...(SERVES_MANY ? (['updateMany'] as const) : [])] })
@Table({ tableName: 'signs', timestamps: false })
class Sign extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
  @Column(DataType.INTEGER) declare size: number | null;
}

/** Changes the row after the UPDATE that fires it. */
const TRIGGER = `
  CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF NEW.text NOT LIKE '%!' THEN UPDATE signs SET text = NEW.text || '!' WHERE id = NEW.id; END IF;
    RETURN NULL;
  END $f$;
  CREATE TRIGGER shouting AFTER UPDATE ON signs FOR EACH ROW EXECUTE FUNCTION shout();`;
const HALF_A_MINUTE = 30_000;

for (const fastPath of [true, false]) {
  describe(`a trigger that is added, on the ${fastPath ? 'fast' : 'general'} path`, () => {
    const sql = new SqlLog();
    const { now } = performance;
    let site: TestApp;

    const query = (text: string) => site.engine.sequelize.query(text);
    const change = (text: string) => site.agent.patch('/signs/1').send({ text });
    const changeMany = async () => {
      const many = await site.agent.patch('/signs').send([{ id: 1, text: 'many' }]);
      expectJson(many, 200, { items: [{ id: 1, text: 'many!', size: null }] });
      const each = await site.agent.patch('/signs?atomic=false').send([{ id: 1, text: 'each' }]);
      expectJson(each, 207, { items: [{ status: 200, item: { id: 1, text: 'each!', size: null } }] });
    };
    const stored = () => query('SELECT id, text, size FROM signs').then(([[row]]) => row);

    /** Has everything believe that time has gone by. */
    const pass = (milliseconds: number): void => {
      const before = performance.now;
      performance.now = () => before.call(performance) + milliseconds;
    };

    beforeEach(async () => {
      site = await startTestApp({
        models: [Sign],
        engine: { logging: sql.record, dialectOptions: { lock_timeout: 300 } },
        minPool: 2,
        bootstrap: { fastPath, logger: new CapturedLog() },
      });
      await Sign.create({ text: 'new' });
    });

    afterEach(async () => {
      performance.now = now;
      await site[Symbol.asyncDispose]();
    });

    it('is seen after half a minute', async () => {
      expectJson(await change('before'), 200, { id: 1, text: 'before', size: null });
      await query(TRIGGER);
      pass(HALF_A_MINUTE);
      expectJson(await change('after'), 200, { id: 1, text: 'after!', size: null });
      expect(await stored()).to.deep.equal({ id: 1, text: 'after!', size: null });
      if (SERVES_MANY) await changeMany();
      await query('DROP TRIGGER shouting ON signs');
      pass(HALF_A_MINUTE);
      expectJson(await change('last'), 200, { id: 1, text: 'last', size: null });
    });

    it('is looked for again when the database has not told', async () => {
      await change('first');
      pass(HALF_A_MINUTE);
      const lock = await site.engine.sequelize.transaction();
      await site.engine.sequelize.query('LOCK TABLE pg_trigger', { transaction: lock });
      expect((await change('second')).ok).to.equal(false);
      await lock.rollback();
      await query(TRIGGER);
      expectJson(await change('third'), 200, { id: 1, text: 'third!', size: null });
    });

    except({ pgbouncer: 'no statement is kept that would be stale' }).it(
      'is seen at once when the columns have changed, too',
      async () => {
        expectJson(await change('before'), 200, { id: 1, text: 'before', size: null });
        await query(`BEGIN; ALTER TABLE signs ALTER size TYPE bigint; ${TRIGGER} COMMIT`);
        // Only a statement that a connection keeps fails when the columns have changed. Later statements of a session are not kept.
        const tells = fastPath && onPath({ fast: true, unit: false, session: false, records: false });
        if (!tells) pass(HALF_A_MINUTE);
        expectJson(await change('after'), 200, { id: 1, text: 'after!', size: null });
      },
    );
  });
}
