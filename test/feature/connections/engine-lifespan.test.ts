/** The life of an engine: its connections, its options, its errors, and its end, which comes once, whatever fails. */
// @runs once
import { expect } from 'chai';
import express from 'express';
import type { Client } from 'pg';
import { DataTypes, type QueryOptionsWithType, QueryTypes, type Transaction } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  bootstrap,
  ConfigError,
  Crud,
  configureEngine,
  currentEngine,
  dbSession,
  disposeEngine,
  type Engine,
  type EngineOptions,
  engineLifespan,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { configError, configProblems } from '../../support/config-error.js';
import { poolStates } from '../../support/connections.js';
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

const SETTINGS = [
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'default_transaction_read_only',
  'application_name',
  'work_mem',
] as const;

/** Milliseconds; only settings that the server has, too. */
const SAFE = {
  lock_timeout: '2s',
  statement_timeout: '5s',
  idle_in_transaction_session_timeout: '10s',
  default_transaction_read_only: 'off',
  application_name: '',
  work_mem: '4MB',
};

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
      // Storage and context of a tool for migrations: a model, and the interface for changes of tables.
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
      // The detail does not say that the database is away: it is there.
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
    const engine = await connect({ createAll: true, define: { comment: 'made here' } });
    const [row] = await ask(engine, "SELECT obj_description('lamps'::regclass) AS comment");
    expect(row).to.deep.equal({ comment: 'made here' });
  });

  /** Errors of the server are in `fault/start`. */
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

    it('names the options that were meant, which Sequelize would ignore', async () => {
      const wrong = { createall: true, replica: [], prepared_statements: false, replication: {} } as never;
      expect(await configProblems(() => connect(wrong))).to.deep.equal([
        "engineLifespan has no option 'replication'; use replicas.",
        "engineLifespan has no option 'createall'. Did you mean 'createAll'?",
        "engineLifespan has no option 'replica'. Did you mean 'replicas'?",
        "engineLifespan has no option 'prepared_statements'. Did you mean 'preparedStatements'?",
      ]);
    });

    it('names the limits that were meant, which Sequelize and pg would ignore', async () => {
      const wrong = {
        pool: { maxx: 3, max: NaN, acquire: Number.POSITIVE_INFINITY },
        dialectOptions: { statementTimeout: 9, lock_timeout: 9 },
      } as never;
      expect(await configProblems(() => connect(wrong))).to.deep.equal([
        "pool has no option 'maxx'. Did you mean 'max'? The options are max, min, acquire, idle, evict, maxUses, validate.",
        'pool.max is NaN; use an integer from 1.',
        'pool.acquire is Infinity; use a whole number of milliseconds, 0 for no limit.',
        "dialectOptions has no option 'statementTimeout'. Did you mean 'statement_timeout'?",
      ]);
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

  describe('of your own', () => {
    it('is used, and not closed, and is not needed to serve models that are attached', async () => {
      const sequelize = new Sequelize(database.url, { logging: false, models: [Lamp] });
      await sequelize.sync();
      const app = express();
      await bootstrap(app, { models: [Lamp] });
      expect((await supertest(app).get('/lamps')).status).to.equal(200);
      const engine = configureEngine({ sequelize });
      expect(currentEngine()).to.equal(engine);
      expectJson(await supertest(app).post('/lamps').send({}), 201, { id: 1, room: null });
      await disposeEngine();
      expect((await supertest(app).get('/lamps/1')).status).to.equal(200);
      await sequelize.close();
    });
  });
});

describe('an engine', () => {
  const database = forSuite(() => freshDatabase('engine'));

  const open = (options: EngineOptions = {}): Promise<Engine> =>
    engineLifespan(database.url, { models: [Lamp], ...options })();

  afterEach(() => disposeEngine());

  describe('of engineLifespan', () => {
    /** The settings of a connection of each pool. */
    const settingsOf = async ({ sequelize }: Engine) => {
      const columns = SETTINGS.map((name) => `current_setting('${name}') AS ${name}`).join(', ');
      const ask = (useMaster: boolean) =>
        sequelize.query<typeof SAFE>(`SELECT ${columns}`, {
          type: QueryTypes.SELECT,
          useMaster,
        } as QueryOptionsWithType<QueryTypes.SELECT>);
      return { write: (await ask(true))[0], read: (await ask(false))[0] };
    };

    it('has safe timeouts on both pools, and read connections that the server keeps from writing', async () => {
      await using engine = await open();
      expect(await settingsOf(engine)).to.deep.equal({
        write: SAFE,
        read: { ...SAFE, default_transaction_read_only: 'on' },
      });
    });

    it('has safe limits of its own', async () => {
      await using engine = await open();
      const { pool, dialectOptions } = optionsOf(engine);
      expect(pool).to.include({ max: 10, acquire: 5_000 });
      expect(dialectOptions).to.include({
        connectionTimeoutMillis: 3_000,
        query_timeout: 6_000,
        keepAlive: true,
      });
    });

    it('keeps the other timeouts where one is changed', async () => {
      await using engine = await open({
        dialectOptions: { lock_timeout: 700, application_name: 'lamps', options: '-c work_mem=9MB' },
        pool: { max: 3 },
      });
      const changed = { ...SAFE, lock_timeout: '700ms', application_name: 'lamps', work_mem: '9MB' };
      expect(await settingsOf(engine)).to.deep.equal({
        write: changed,
        read: { ...changed, default_transaction_read_only: 'on' },
      });
      expect(optionsOf(engine).pool).to.include({ max: 3, acquire: 5_000 });
    });

    describe('with a limit for queries', () => {
      const SLOW = 'SELECT pg_sleep($1)';
      /** Seconds: to be waited for, and to be given up. */
      const SHORT = 0.05;
      const LONG = 20;
      /** Milliseconds. What opens a connection has no more than that, either, on however busy a machine. */
      const LIMIT = 400;
      /** The forms that pg takes a query in. */
      const forms: Readonly<Record<string, (client: Client, seconds: number) => Promise<unknown>>> = {
        'a text': (client, seconds) => client.query(SLOW, [seconds]),
        'a description': (client, seconds) => client.query({ text: SLOW, values: [seconds] }),
        'a text and a callback': (client, seconds) =>
          new Promise((resolve, reject) => {
            client.query(`SELECT pg_sleep(${seconds})`, (error, result) =>
              error ? reject(error) : resolve(result),
            );
          }),
        'a text, values and a callback': (client, seconds) =>
          new Promise((resolve, reject) => {
            client.query(SLOW, [seconds], (error, result) => (error ? reject(error) : resolve(result)));
          }),
      };

      for (const [form, ask] of Object.entries(forms)) {
        it(`gives up ${form}, and answers it in time`, async () => {
          await using engine = await open({ dialectOptions: { query_timeout: LIMIT } });
          const error = await caughtError(() => withConnection(engine, (client) => ask(client, LONG)));
          expect(error).to.have.property('message', 'Query read timeout');
          const result = await withConnection(engine, (client) => ask(client, SHORT));
          expect(result).to.have.property('rowCount', 1);
        });
      }

      it('executes nothing behind what it has given up', async () => {
        await using engine = await open({ createAll: true, dialectOptions: { query_timeout: LIMIT } });
        const ends = await withConnection(engine, async (client) => {
          const closed = new Promise<void>((resolve) => void client.once('end', resolve));
          const queries = [client.query(SLOW, [LONG]), client.query('INSERT INTO lamps DEFAULT VALUES')];
          const settled = await Promise.allSettled(queries);
          await closed;
          return settled;
        });
        expect(ends.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
        expect(await new Repository(Lamp).list()).to.deep.equal([]);
      });

      it('keeps the limit that a query has of its own, and has none where that is asked for', async () => {
        await using engine = await open();
        const impatient = { text: SLOW, values: [LONG], query_timeout: 50 };
        const error = await caughtError(() => withConnection(engine, (client) => client.query(impatient)));
        expect(error).to.have.property('message', 'Query read timeout');
        await using patient = await open({ models: [], dialectOptions: { query_timeout: 0 } });
        const ask = (client: Client) => client.query(SLOW, [SHORT]);
        expect(await withConnection(patient, ask)).to.have.property('rowCount', 1);
      });

      it('leaves to pg what is no query, and tells what the server says', async () => {
        await using engine = await open();
        const failureOf = (text: string) =>
          caughtError(() => withConnection(engine, async (client) => client.query(text)));
        expect(await failureOf(null as never)).to.have.property(
          'message',
          'Client was passed a null or undefined query',
        );
        expect(await failureOf('SELECT 1/0')).to.have.property('code', '22012');
      });
    });

    it('reads the options of the DSN on both pools', async () => {
      const url = new URL(database.url);
      url.searchParams.set('application_name', 'from the DSN');
      const address = url.href.replaceAll('+', '%20');
      await using engine = await engineLifespan(address, { models: [Lamp] })();
      const { read, write } = await settingsOf(engine);
      expect([read, write].map((settings) => settings?.application_name)).to.deep.equal([
        'from the DSN',
        'from the DSN',
      ]);
    });

    it('is current until it is disposed', async () => {
      const engine = await open();
      expect(currentEngine()).to.equal(engine);
      await engine[Symbol.asyncDispose]();
      expect(() => currentEngine()).to.throw(ConfigError, 'No engine is configured');
    });

    it('closes its connections, once, however often it is disposed', async () => {
      const engine = await open();
      await engine.sequelize.query('SELECT 1', { type: QueryTypes.SELECT });
      let closed = 0;
      engine.sequelize.addHook('afterDisconnect', () => {
        closed += 1;
      });
      await Promise.all([engine[Symbol.asyncDispose](), disposeEngine(), engine[Symbol.asyncDispose]()]);
      await disposeEngine();
      expect(closed).to.equal(2);
      expect(poolStates(engine).map(({ size }) => size)).to.deep.equal([0, 0]);
    });

    it('lets what is under way finish before it closes', async () => {
      const engine = await open();
      const work = engine.sequelize.query<{ done: number }>('SELECT 1 AS done FROM pg_sleep(0.05)', {
        type: QueryTypes.SELECT,
      });
      await new Promise(setImmediate);
      await engine[Symbol.asyncDispose]();
      expect(await work).to.deep.equal([{ done: 1 }]);
    });

    it('leaves nothing behind where createAll fails', async () => {
      const error = await caughtError(() => open({ createAll: true, models: [Shade] }));
      expect(error).to.have.nested.property('parent.code', '42P01');
      expect(() => currentEngine()).to.throw(ConfigError);
      await untilAlone(database.url);
    });
  });

  describe('among several', () => {
    it('works when it is passed', async () => {
      const second = await freshDatabase('second');
      try {
        await using one = await open({ createAll: true });
        await using two = await engineLifespan(second.url, { models: [] })();
        await unitOfWork(() => Lamp.create(), { engine: one });
        expect(await Lamp.count()).to.equal(1);
        await Lamp.drop();
        const databases = await Promise.all(
          [one, two].map((engine) =>
            dbSession(({ transaction }) => databaseOf(engine, transaction), { engine }),
          ),
        );
        expect(databases).to.deep.equal([one, two].map(({ sequelize }) => sequelize.getDatabaseName()));
        const error = await caughtError(() => unitOfWork(async () => {}));
        expect(error).to.be.instanceOf(ConfigError).and.have.property('message').that.includes('Several');
      } finally {
        await second.drop();
      }
    });

    it('is current again when the others are gone', async () => {
      const one = await open();
      const two = await open({ models: [] });
      await one[Symbol.asyncDispose]();
      expect(currentEngine()).to.equal(two);
    });
  });

  describe('of configureEngine', () => {
    it('has a dbSession that cannot write all the same', async () => {
      const sequelize = new Sequelize(database.url, { logging: false, models: [Lamp] });
      try {
        await using _engine = configureEngine({ sequelize });
        await sequelize.sync();
        const error = await caughtError(() => dbSession((session) => session.repository(Lamp).create({})));
        expect(error).to.have.nested.property('parent.code', '25006');
        expect(await dbSession((session) => session.repository(Lamp).list())).to.deep.equal([]);
      } finally {
        await sequelize.drop();
        await sequelize.close();
      }
    });

    it('can have GETs that cannot write, the way the guide says', async () => {
      const sequelize = new Sequelize(database.url, {
        logging: false,
        models: [Lamp],
        replication: {
          write: {},
          read: [{ dialectOptions: { options: '-c default_transaction_read_only=on' } }],
        } as never,
      });
      try {
        await using _engine = configureEngine({ sequelize });
        await sequelize.sync({ useMaster: true } as never);
        const app = express();
        await bootstrap(app, { models: [Lamp] });
        const sql = 'INSERT INTO lamps DEFAULT VALUES RETURNING id';
        const error = await caughtError(() => sequelize.query(sql, { type: QueryTypes.SELECT }));
        expect(error).to.have.nested.property('parent.code', '25006');
        expect(await new Repository(Lamp).create({})).to.include({ id: 1 });
      } finally {
        await sequelize.drop({ useMaster: true } as never);
        await sequelize.close();
      }
    });
  });
});

/** A table that cannot be created, because the table of its reference does not exist. */
@Table({ tableName: 'shades', timestamps: false })
class Shade extends Model {
  @PrimaryKey
  @Column({ type: DataType.INTEGER, references: { model: 'nowhere', key: 'id' } })
  declare id: number;
}

/** Options that Sequelize was made with; its types leave them out. */
function optionsOf({ sequelize }: Engine) {
  const { options } = sequelize as unknown as {
    options: { pool: object; dialectOptions: object };
  };
  return options;
}

async function databaseOf({ sequelize }: Engine, transaction: Transaction): Promise<string | undefined> {
  const [row] = await sequelize.query<{ name: string }>('SELECT current_database() AS name', {
    type: QueryTypes.SELECT,
    transaction,
  });
  return row?.name;
}

/** Until no other client is connected; the server takes a moment to notice that one has left. */
async function untilAlone(url: string): Promise<void> {
  const sequelize = new Sequelize(url, { logging: false });
  const others = `
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  while ((await sequelize.query(others, { type: QueryTypes.SELECT })).length > 0);
  await sequelize.close();
}

/** Runs work on a connection of pg, as Sequelize hands it out. */
async function withConnection<R>({ sequelize }: Engine, work: (client: Client) => Promise<R>): Promise<R> {
  const { connectionManager } = sequelize;
  const client = (await connectionManager.getConnection({ type: 'write' } as never)) as Client;
  try {
    return await work(client);
  } finally {
    connectionManager.releaseConnection(client);
  }
}
