/** An update answers what is in the row, also when the table gets a trigger while the application runs. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, onPath, SERVES_MANY } from '../../support/combination.js';
import { expectJson } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

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
        // Only what a connection keeps tells that the columns have changed, and later statements of a session are not kept.
        const tells = fastPath && onPath({ fast: true, unit: false, session: false, records: false });
        if (!tells) pass(HALF_A_MINUTE);
        expectJson(await change('after'), 200, { id: 1, text: 'after!', size: null });
      },
    );
  });
}
