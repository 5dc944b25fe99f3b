/** Prepared statements: kept within limits, made again when they are of no use any more, and none where none are wanted. */
// @runs fast
// @runs unpooled: connections keep none
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, dbSession, type EngineOptions, Repository } from '../../../src/index.js';
import { HAS_PIPELINE } from '../../../src/postgres/protocol/pg-internals.js';
import { NumberedRow } from '../../models/rows.js';
import { expectRecovery } from '../../support/calm-answers.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { onPath } from '../../support/combination.js';
import { expectJson } from '../../support/expect-answer.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const COLUMNS = ['a', 'b', 'c', 'd', 'e'];

@Crud({ pageSize: { max: 100 }, sortAllow: COLUMNS as never[], filterAllow: COLUMNS as never[] })
@Table({ tableName: 'tools', timestamps: false })
class Tool extends NumberedRow {}
for (const name of COLUMNS) Column({ type: DataType.INTEGER })(Tool.prototype, name);

const NOTHING = { b: null, c: null, d: null, e: null };
const ROW = { id: 1, a: 5, ...NOTHING };
const READS = 24;

describe('prepared statements', () => {
  let database: TestDatabase;
  let site: TestApp;
  let control: Client;
  const logger = new CapturedLog();
  const caller = new AsyncLocalStorage<number>();
  /** The caller of each statement that was logged. */
  const callers: unknown[] = [];

  /** Rows of a statement on every connection of the engine; the connections must be at rest. */
  async function onEachConnection<R>(text: string): Promise<R[]> {
    const { connectionManager } = site.engine.sequelize as unknown as { connectionManager: Pools };
    const found: R[] = [];
    for (const name of ['write', 'read'] as const) {
      const clients: PooledConnection[] = [];
      while (clients.length < connectionManager.pool[name].size) {
        const type = name === 'write' ? '' : 'SELECT';
        clients.push(await connectionManager.getConnection({ type, useMaster: name === 'write' }));
      }
      for (const client of clients) {
        found.push(...(await client.query<R>(text)).rows);
        connectionManager.releaseConnection(client);
      }
    }
    return found;
  }

  /** Reads the row while only one of the connections, by the age of its backend, is there to do it. */
  async function readOn(connection: number, expected: object): Promise<void> {
    const { connectionManager } = site.engine.sequelize as unknown as { connectionManager: Pools };
    const clients: PooledConnection[] = [];
    while (clients.length < connectionManager.pool.read.size) {
      clients.push(await connectionManager.getConnection({ type: 'SELECT', useMaster: false }));
    }
    clients.sort((one, other) => one.processID - other.processID);
    const [only, ...others] = [...clients.splice(connection, 1), ...clients] as [PooledConnection];
    connectionManager.releaseConnection(only);
    try {
      expectJson(await site.agent.get('/tools/1'), 200, expected);
    } finally {
      for (const client of others) connectionManager.releaseConnection(client);
    }
  }

  /** Number of statements that each connection keeps. */
  async function keptStatements(): Promise<number[]> {
    const text = "SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name <> ''";
    return (await onEachConnection<{ count: number }>(text)).map(({ count }) => count);
  }

  /** Reads the row in a session on each connection; each begins with a statement of its own. */
  async function readInSessions(): Promise<unknown[]> {
    const read = () => dbSession(async (session) => (await session.repository(Tool).get(1)).id);
    return Promise.all([read(), read(), read(), read()]);
  }

  /** Many at the same time, on several connections, those that are shared included. */
  async function readMany(expected: object): Promise<void> {
    const answers = await Promise.all(Array.from({ length: READS }, () => site.agent.get('/tools/1')));
    for (const answer of answers) expectJson(answer, 200, expected);
  }

  const start = async (engine: EngineOptions = {}): Promise<void> => {
    database = await freshDatabase('prepared');
    site = await startTestApp({
      models: [Tool],
      database,
      engine: { pool: { max: 4 }, logging: () => callers.push(caller.getStore()), ...engine },
      minPool: 4,
      bootstrap: { fastPath: true, logger },
    });
    control = await connectTo(database.url);
    await control.query('INSERT INTO tools (a) VALUES (5)');
  };

  afterEach(async () => {
    await control.end();
    await site[Symbol.asyncDispose]();
    logger.clear();
  });

  describe('that are kept', () => {
    beforeEach(async () => {
      await start();
      for (let round = 0; round < 3; round += 1) await readMany(ROW);
    });

    it('are made again when the type of a result has changed', async () => {
      await control.query("ALTER TABLE tools ALTER a TYPE text USING a || ' pieces'");
      await readMany({ ...ROW, a: '5 pieces' });
      await control.query('ALTER TABLE tools ALTER a TYPE bigint USING 9007199254740993');
      await readMany({ ...ROW, a: '9007199254740993' });
      await control.query('ALTER TABLE tools ALTER a TYPE integer USING 6');
      await readMany({ ...ROW, a: 6 });
    });

    it('are still good where a connection has not heard of a type that came and went', async () => {
      for (const connection of [0, 1]) await readOn(connection, ROW);
      await control.query('ALTER TABLE tools ALTER a TYPE bigint');
      await readOn(0, { ...ROW, a: '5' });
      await control.query('ALTER TABLE tools ALTER a TYPE integer');
      for (const connection of [1, 0]) await readOn(connection, ROW);
    });

    it('are made again for writes', async () => {
      const change = (a: number) => site.agent.patch('/tools/1').send({ a });
      expectJson(await change(6), 200, { ...ROW, a: 6 });
      await control.query('ALTER TABLE tools ALTER a TYPE bigint');
      expectJson(await change(7), 200, { ...ROW, a: '7' });
      expectJson(await site.agent.post('/tools').send({ a: 1 }), 201, { id: 2, a: '1', ...NOTHING });
      await control.query('ALTER TABLE tools ALTER a TYPE numeric(9, 2)');
      expectJson(await change(8), 200, { ...ROW, a: '8.00' });
      expectJson(await site.agent.post('/tools').send({ a: 1 }), 201, { id: 3, a: '1.00', ...NOTHING });
    });

    it('are made again in the async context of each caller', async () => {
      const repository = new Repository(Tool);
      const ids = Array.from({ length: READS }, (_, index) => index);
      // Some combinations read by other statements.
      await Promise.all(ids.map(() => repository.get(1)));
      await control.query('ALTER TABLE tools ALTER a TYPE bigint');
      callers.length = 0;
      await Promise.all(ids.map((id) => caller.run(id, () => repository.get(1))));
      // Without a pipeline a connection executes its own statement again, which is logged once.
      expect(callers.length).to.be.greaterThan(HAS_PIPELINE ? READS : READS - 1);
      // Sequelize logs the statements of the catalogue, too, which no caller has.
      const seen = onPath({ fast: callers, general: callers.filter((id) => id !== undefined) });
      expect(new Set(seen)).to.deep.equal(new Set(ids));
    });

    for (const statement of ['DISCARD ALL', 'DEALLOCATE ALL']) {
      it(`are made again after ${statement}`, async () => {
        await onEachConnection(statement);
        await readMany(ROW);
        await onEachConnection(statement);
        expectJson(await site.agent.patch('/tools/1').send({ a: 6 }), 200, { ...ROW, a: 6 });
        await onEachConnection(statement);
        await readMany({ ...ROW, a: 6 });
      });
    }

    const closeConnections = async () => {
      const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
      await control.query(`SELECT pg_terminate_backend(pid) ${others}`);
      while ((await control.query(`SELECT 1 ${others}`)).rows.length > 0) await sleep(2);
    };

    it('are made again on new connections', async () => {
      await closeConnections();
      await expectRecovery(() => site.agent.get('/tools/1'));
      await readMany(ROW);
    });

    it('are made again when the table comes back', async () => {
      await control.query('ALTER TABLE tools RENAME TO away');
      const answers = await Promise.all(Array.from({ length: READS }, () => site.agent.get('/tools/1')));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([500]));
      await control.query('ALTER TABLE away RENAME TO tools');
      await readMany(ROW);
    });

    it('are kept from then on, too, where the first of many reads of a new connection finds no table', async () => {
      const repository = new Repository(Tool);
      for (let round = 0; round < 3; round += 1) {
        await closeConnections();
        await control.query('ALTER TABLE tools RENAME TO away');
        const reads = Array.from({ length: 10 * READS }, () => caughtError(() => repository.get(1)));
        for (const error of await Promise.all(reads))
          expect(error).to.have.nested.property('parent.code', '42P01');
        await control.query('ALTER TABLE away RENAME TO tools');
      }
      await readMany(ROW);
      expect(Math.max(...(await keptStatements()))).to.be.greaterThan(0);
      expect(logger.text).to.not.include('pooler');
    });

    it('are at most 200 for a connection, however many orders and sizes are asked for', async () => {
      for (let size = 1; size <= 100; size += 1) {
        const orders = COLUMNS.map((name, index) => `${index % 2 ? '-' : ''}${name}`);
        const answers = await Promise.all(
          orders.map((order) => site.agent.get(`/tools?size=${size}&sort=${order}`)),
        );
        for (const { body } of answers) expect(body.items).to.deep.equal([ROW]);
      }
      // Its BEGIN is kept, too, and no connection has had one before.
      expect(await readInSessions()).to.deep.equal([1, 1, 1, 1]);
      expect(Math.max(...(await keptStatements()))).to.be.within(20, 200);
      await readMany(ROW);
    });

    it('are no more for filters, which clients make up', async () => {
      const before = await keptStatements();
      for (const name of COLUMNS) {
        for (const operator of ['==', '=lt=', '=gt=']) {
          await site.agent.get(`/tools?q=${name}${operator}5`).expect(200);
        }
      }
      expect(Math.max(...(await keptStatements())) - Math.max(...before)).to.be.within(0, 1);
    });
  });

  describe('that are not wanted', () => {
    beforeEach(() => start({ preparedStatements: false }));

    it('are not kept', async () => {
      await readMany(ROW);
      expectJson(await site.agent.post('/tools').send({ a: 1 }), 201, { id: 2, a: 1, ...NOTHING });
      expectJson(await site.agent.patch('/tools/1').send({ a: 6 }), 200, { ...ROW, a: 6 });
      await site.agent.delete('/tools/2').expect(204);
      expect(new Set(await keptStatements())).to.deep.equal(new Set([0]));
    });

    it('leave the answers as they are when the type of a result has changed', async () => {
      await readMany(ROW);
      await control.query("ALTER TABLE tools ALTER a TYPE text USING a || ' pieces'");
      await readMany({ ...ROW, a: '5 pieces' });
    });
  });
});

interface PooledConnection {
  readonly processID: number;
  query<R>(text: string): Promise<{ rows: R[] }>;
}

interface Pools {
  readonly pool: Readonly<Record<'read' | 'write', { readonly size: number }>>;
  getConnection(options: { type: string; useMaster: boolean }): Promise<PooledConnection>;
  releaseConnection(client: PooledConnection): void;
}
