/** `engineLifespan` and its relatives: connecting, the timeouts, what goes wrong, and disconnecting. */
// @runs fast
import { expect } from 'chai';
import express from 'express';
import { DataTypes, QueryTypes } from 'sequelize';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  bootstrap,
  ConfigError,
  Crud,
  configureEngine,
  currentEngine,
  disposeEngine,
  type Engine,
  type EngineOptions,
  engineLifespan,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { configError } from '../../support/config-error.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';

@Crud()
@Table({ tableName: 'lamps', timestamps: false, indexes: [{ name: 'lamps_room', fields: ['room'] }] })
class Lamp extends NumberedRow {
  @Column(DataType.STRING(20)) declare room: string | null;
}

const ENCODED =
  ', with its user and password percent-encoded, as encodeURIComponent does (%40 for @, %2F for /, %23 for #, %3F for ?, %25 for %)';
const SECRET = 'hunter2-5f4dcc3b';

describe('connecting an engine', () => {
  const database = forSuite(() => freshDatabase());

  const connect = (options: EngineOptions = {}): Promise<Engine> =>
    engineLifespan(database.url, { models: [Lamp], ...options })();
  const ask = (engine: Engine, statement: string) =>
    engine.sequelize.query<Record<string, unknown>>(statement, { type: QueryTypes.SELECT });
  const tables = (engine: Engine) =>
    ask(engine, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");

  afterEach(async () => {
    await disposeEngine();
    await execute(database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  });

  describe('to a database', () => {
    it('creates tables and indexes before it is there, with createAll', async () => {
      const engine = await connect({ createAll: true });
      expect(await tables(engine)).to.deep.equal([{ name: 'lamps' }]);
      const indexes = await ask(engine, "SELECT indexname AS name FROM pg_indexes WHERE tablename = 'lamps'");
      expect(indexes.map(({ name }) => name)).to.have.members(['lamps_pkey', 'lamps_room']);
    });

    it('does not change a table that exists', async () => {
      const first = await connect();
      await first.sequelize.query(`
        CREATE TABLE lamps (id serial PRIMARY KEY, room text, watts integer);
        INSERT INTO lamps (room, watts) VALUES ('hall', 40);
      `);
      await first[Symbol.asyncDispose]();
      const second = await connect({ createAll: true });
      expect(await ask(second, 'SELECT * FROM lamps')).to.deep.equal([{ id: 1, room: 'hall', watts: 40 }]);
    });

    it('serves them on a single connection', async () => {
      const app = express();
      const pool = { max: 1 };
      await using _engine = await engineLifespan(database.url, { models: [Lamp], createAll: true, pool })(
        app,
      );
      await bootstrap(app, { models: [Lamp] });
      const agent = supertest(app);
      const answers = await Promise.all(Array.from({ length: 20 }, () => agent.post('/lamps').send({})));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 201));
      expect((await agent.get('/lamps?size=5')).body).to.include({ total: 20 });
    });
  });

  describe('with timeouts', () => {
    const show = async (engine: Engine): Promise<unknown> => {
      const names = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
      const values = names.map((name) => `current_setting('${name}') AS ${name}`);
      const [row] = await ask(engine, `SELECT ${values.join(', ')}`);
      return row;
    };

    it('has none that is 0, so that migrations run as umzug runs them', async () => {
      const dialectOptions = {
        lock_timeout: 0,
        statement_timeout: 0,
        query_timeout: 0,
        idle_in_transaction_session_timeout: 0,
      };
      const engine = await connect({ models: [], dialectOptions });
      expect(await show(engine)).to.deep.equal({
        lock_timeout: '0',
        statement_timeout: '0',
        idle_in_transaction_session_timeout: '0',
      });
      const { sequelize } = engine;
      const connection = await sequelize.connectionManager.getConnection({ type: 'write' });
      sequelize.connectionManager.releaseConnection(connection);
      expect(connection).to.have.property('queryTimeout', 0);
      // Its storage is a model, and its context the interface for changes of tables.
      const storage = sequelize.define(
        'SequelizeMeta',
        {
          name: { type: DataTypes.STRING, allowNull: false, unique: true, primaryKey: true },
        },
        { tableName: 'SequelizeMeta', timestamps: false },
      );
      await storage.sync();
      const context = sequelize.getQueryInterface();
      await context.createTable('migrated', { id: { type: DataTypes.INTEGER, primaryKey: true } });
      await sequelize.transaction(async (transaction) => {
        await context.addColumn('migrated', 'name', { type: DataTypes.TEXT }, { transaction });
        await context.addIndex('migrated', ['name'], { transaction });
      });
      await storage.create({ name: '001.js' });
      const executed = await storage.findAll({ order: [['name', 'ASC']] });
      expect(executed.map((each) => each.get('name'))).to.deep.equal(['001.js']);
      expect(Object.keys(await context.describeTable('migrated'))).to.deep.equal(['id', 'name']);
      await context.dropTable('migrated');
      await storage.destroy({ where: { name: '001.js' } });
      expect(await storage.findAll()).to.deep.equal([]);
    });

    it('answers 504 to a request whose statement takes too long', async () => {
      const app = express();
      const dialectOptions = { statement_timeout: 500 };
      await using engine = await engineLifespan(database.url, {
        models: [Lamp],
        createAll: true,
        dialectOptions,
      })(app);
      await engine.sequelize.query(
        `INSERT INTO lamps DEFAULT VALUES; ALTER TABLE lamps RENAME TO slow;
         CREATE VIEW lamps AS SELECT slow.* FROM slow, pg_sleep(10)`,
      );
      const logger = { debug() {}, info() {}, warn() {}, error() {} };
      await bootstrap(app, { models: [Lamp], logger });
      expectProblem(await supertest(app).get('/lamps/1'), 504, {
        detail: 'The database did not answer in time.',
      });
    });

    it('answers 503 to a request that gets no connection', async () => {
      const app = express();
      const pool = { max: 1, acquire: 1000 };
      await using engine = await engineLifespan(database.url, { models: [Lamp], createAll: true, pool })(app);
      const lines: unknown[] = [];
      const error = (_message: string, details: object = {}) =>
        lines.push((details as { readonly reason?: unknown }).reason);
      await bootstrap(app, { models: [Lamp], logger: { debug() {}, info() {}, warn() {}, error } });
      const transaction = await engine.sequelize.transaction({ readOnly: true });
      const agent = supertest(app);
      const busy = await agent.get('/lamps/1');
      const refused = await agent.get('/lamps/x');
      await transaction.rollback();
      // Not that it is not available: it is there.
      expectProblem(busy, 503, { detail: 'Too many requests wait for the database; try again.' });
      expect(lines).to.deep.equal([
        'No connection was free for 1000 ms: pool.max is 1, and pool.acquire 1000. Raise pool.max of engineLifespan, or look for what holds ' +
          'connections so long, such as a lock.',
      ]);
      expect(busy.headers['retry-after']).to.equal('1');
      expect(refused.status).to.equal(400);
      expect((await agent.get('/lamps/1')).status).to.equal(404);
    });
  });

  it('with options of Sequelize hands them on', async () => {
    const statements: string[] = [];
    const engine = await connect({
      createAll: true,
      logging: (statement) => void statements.push(statement),
      define: { comment: 'made here' },
    });
    await Lamp.count();
    expect(statements.at(-1)).to.equal(
      'Executing (default): SELECT count(*) AS "count" FROM "lamps" AS "Lamp";',
    );
    const [row] = await ask(engine, "SELECT obj_description('lamps'::regclass) AS comment");
    expect(row).to.deep.equal({ comment: 'made here' });
  });

  /** What the server says is in `fault/start`. */
  describe('that cannot be', () => {
    const failureOf = async (dsn: string, options: EngineOptions = {}): Promise<string> => {
      const failure = await caughtError(engineLifespan(dsn, { models: [Lamp], ...options }));
      expect(failure).to.be.an.instanceOf(ConfigError);
      const { message, stack } = failure as ConfigError;
      expect(`${message} ${stack} ${JSON.stringify(failure)}`).to.not.contain(SECRET);
      return message;
    };

    it('says which flag is none, and which two contradict each other', async () => {
      const sequelize = new Sequelize(database.url, { dialect: 'postgres', logging: false });
      const wrong = { groupCommit: 'yes' as never };
      const problem = 'groupCommit is "yes"; use true or false.';
      expect(() => configureEngine({ sequelize, ...wrong })).to.throw(ConfigError, problem);
      expect(await configError(() => connect(wrong))).to.equal(problem);
      const both = { groupCommit: true, preparedStatements: false };
      const reason = 'groupCommit: true needs prepared';
      expect(() => configureEngine({ sequelize, ...both })).to.throw(ConfigError, reason);
      expect(await configError(() => connect(both))).to.include(reason);
    });

    it('says that createAll is no flag, and that replicas is no array, without the DSN', async () => {
      const wrong = { createAll: 'no', replicas: database.url } as never;
      expect(await configError(() => connect(wrong))).to.equal(
        '2 problems:\n  - createAll is "no"; use true or false.\n  - replicas is a string; use an array of DSNs.',
      );
    });

    for (const [dsn, found, encoded = ''] of [
      ['', 'The DSN is empty: the environment variable that it comes from is not set'],
      [undefined, 'The DSN is undefined: the environment variable that it comes from is not set'],
      ['undefined', 'The DSN is undefined: the environment variable that it comes from is not set'],
      [5, 'The DSN is number'],
      ['lamps', 'The DSN is not a URL'],
      ['localhost:5432/lamps', 'The DSN is not a URL'],
      [`me:${SECRET}@localhost/lamps`, 'The DSN is not a URL'],
      [`postgres://me:${SECRET}@host:port/lamps`, 'The DSN cannot be read for certain', ENCODED],
      [`mysql://me:${SECRET}@host/lamps`, "The DSN begins with 'mysql:'"],
      [`postgres://me:%${SECRET}@host/lamps`, 'The DSN cannot be read for certain', ENCODED],
    ] as const) {
      it(`says what is wrong with the DSN ${String(dsn).replace(SECRET, '…')}`, async () => {
        expect(await failureOf(dsn as unknown as string)).to.equal(
          `${found}; use one such as postgres://user:password@host:5432/database${encoded}.`,
        );
      });
    }

    it('leaves no engine behind', async () => {
      await failureOf('lamps');
      expect(() => currentEngine()).to.throw(ConfigError, 'No engine is configured');
      expect(await tables(await connect())).to.deep.equal([]);
    });
  });

  describe('and disconnecting it', () => {
    it('does not disconnect a later one', async () => {
      const first = await connect();
      await first[Symbol.asyncDispose]();
      const second = await connect();
      await first[Symbol.asyncDispose]();
      expect(currentEngine()).to.equal(second);
      expect(await ask(second, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    });
  });

  describe('of your own', () => {
    it('is used, and not closed', async () => {
      const sequelize = new Sequelize(database.url, { logging: false, models: [Lamp] });
      await sequelize.sync();
      const engine = configureEngine({ sequelize });
      expect(currentEngine()).to.equal(engine);
      const app = express();
      await bootstrap(app, { models: [Lamp] });
      expectJson(await supertest(app).post('/lamps').send({}), 201, { id: 1, room: null });
      await disposeEngine();
      expect((await supertest(app).get('/lamps/1')).status).to.equal(200);
      await sequelize.close();
    });

    it('is not needed to serve models that are attached', async () => {
      const sequelize = new Sequelize(database.url, { logging: false, models: [Lamp] });
      await sequelize.sync();
      const app = express();
      await bootstrap(app, { models: [Lamp] });
      expect((await supertest(app).get('/lamps')).status).to.equal(200);
      await sequelize.close();
    });
  });
});
