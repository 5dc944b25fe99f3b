/** `engineLifespan`: connects when an application starts, and disconnects when it ends. */

import type { Express } from 'express';
import { distance } from 'fastest-levenshtein';
import type { PoolOptions, SyncOptions } from 'sequelize';
import { getModels, type ModelCtor, type SequelizeOptions } from 'sequelize-typescript';
import { currentRecords } from './declare/crud.js';
import type { ModelClass } from './declare/crud-options.js';
import { minifiedModels } from './describe/minified-names.js';
import { hasState } from './errors/database-fault.js';
import { refusedOptions } from './execute/customization/refused-options.js';
import { modelProblems } from './inspect/model-problems.js';
import { createOwnTables } from './inspect/own-tables.js';
import {
  type AddressDefaults,
  type ClickHouseClient,
  type Cluster,
  checkConnections,
  checkParts,
  chooseHosts,
  connectionAdvice,
  connectionManager,
  dealReads,
  type Engine,
  EngineSequelize,
  holdInstance,
  LIMITS,
  limitsSetBy,
  NO_LIMIT,
  openEngine,
  ownerProblems,
  type PostgresAddress,
  type Redis,
  readConnectionString,
  timeoutDriver,
  untilConnected,
  warnOf,
} from './postgres/index.js';
import { ConfigError, throwProblems } from './util/config-error.js';
import { isOffline, noteStart } from './util/offline.js';
import { flagProblems, listProblems, showValue, unknownOptions } from './util/option-problems.js';
import { without } from './util/without.js';

/** Options of `engineLifespan`. Options that are not named here go to Sequelize as they are (`pool`, `logging`, …). */
export interface EngineOptions extends Omit<SequelizeOptions, 'models' | 'replication'> {
  /**
   * Model classes, or paths that sequelize-typescript loads them from. No class can be in two engines that are in use.
   * Default: every `@Crud` class.
   */
  models?: readonly (ModelClass | string)[];
  /**
   * Creates the tables and indexes that do not exist before the promise resolves, and in `bootstrap` the tables that its options need. Never
   * changes one. Default: false.
   */
  createAll?: boolean;
  /**
   * Servers that reads go to: `dbSession`, `@InjectSession`, every generated GET, and each SELECT of Sequelize outside of a transaction. Reads under way are dealt evenly over
   * those that can be reached. The size of the pool is that of all of them together. Default: none.
   */
  replicas?: readonly string[];
  /**
   * ClickHouse: a URL, for which `@clickhouse/client` has to be installed, or a client of yours. Health probes ping with
   * a client of yours, and with one of their own where it is a URL. Default: none.
   */
  clickhouse?: string | ClickHouseClient;
  /**
   * Redis: a URL, for which `ioredis` has to be installed, or a client of yours, which may be a `Cluster`. One made from a
   * URL fails commands while it is not connected; the start waits for it 2 seconds at most. Default: none.
   */
  cache?: string | Redis | Cluster;
  /**
   * True where connections keep prepared statements, at most 200 each, so that PostgreSQL plans a statement once. Use
   * `false` behind a pooler that runs each transaction on another connection and keeps none, such as PgBouncer before
   * 1.21 in transaction mode. Reads then share no connections. With `true`, answers are right behind such a pooler,
   * too: once it shows, a warning is logged and no statements are kept from then on. Default: true.
   */
  preparedStatements?: boolean;
  /**
   * True where generated creates and updates of several requests may share a transaction. `true` makes writes half as
   * fast again where many wait for a connection. Up to eight of one statement are executed and committed together,
   * each answered with its own outcome. They have one `now()` and one transaction id, which `DEFAULT now()` and
   * logical replication show. When one fails, waits 20 ms for a lock or takes 100 ms, all of them are rolled back.
   * Then each is executed again in a transaction of its own. Tables with triggers or deferrable constraints take no
   * part. A `ConfigError` together with `preparedStatements: false`. Default: false, one transaction for each write.
   */
  groupCommit?: boolean;
}

/** Waiting at most this long, in milliseconds, so that no request hangs. The order matters: lock < statement < query. */
const TIMEOUTS = Object.freeze({
  connectionTimeoutMillis: 3_000,
  lock_timeout: 2_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  idle_in_transaction_session_timeout: 10_000,
});
/** Options of each connection; `dialectOptions` replace single values. */
const DRIVER: Readonly<Record<string, unknown>> = Object.freeze({ keepAlive: true, ...TIMEOUTS });
/** https://www.postgresql.org/support/versioning/ */
const OLDEST_SERVER = '13.0.0';
const POOL = Object.freeze({ max: 10, acquire: 5_000 });

/** Sequelize takes an `acquire` of 0 for its own default. */
function poolOf(given: EngineOptions['pool']): PoolOptions {
  const pool = { ...POOL, ...given };
  return pool.acquire === 0 ? { ...pool, acquire: NO_LIMIT } : pool;
}

/**
 * Prepares a connection to PostgreSQL. The result, called with the application or without, connects and returns the
 * engine; disposing the engine disconnects.
 *
 * Default timeouts: connecting 3 s, waiting for a pooled connection 5 s, a lock 2 s, a statement 5 s, a query
 * 6 s (0.2 s late at most), an idle transaction 10 s. `dialectOptions`, `pool` and `options` of the DSN change single values and keep the
 * others; 0 is no limit. Migrations take longer, so they have an instance of their own: `new Sequelize(dsn)`, which has no limits.
 *
 * @example
 * ```ts
 * await using engine = await engineLifespan(process.env.DATABASE_URL, { models: [City], createAll: true })(app);
 * await bootstrap(app);
 * ```
 * @param dsn as libpq reads it, such as `postgres://user:password@host:5432/database?sslmode=verify-full`: percent-encoded, with several
 * hosts and `target_session_attrs`, or with a socket. Missing parts are those of `options`, or else of `PGHOST`, `PGUSER` and so on.
 * @throws ConfigError for a malformed DSN, URL or option, for a client whose package is missing, and for a model class of another
 * engine in use. Also when the server cannot be reached, refuses the credentials or has no such database, or a pooler refuses the
 * timeouts. The message never holds the password.
 */
export function engineLifespan(
  dsn: string | undefined,
  options: EngineOptions = {},
): (app?: Express) => Promise<Engine> {
  return async () => {
    noteStart();
    if (isOffline()) return openOffline(options);
    checkParts(options);
    const { sequelize, primary } = createSequelize(dsn, options);
    const release = holdInstance(sequelize);
    try {
      await connect(sequelize, primary, options);
      if (options.createAll) {
        await createTables(sequelize);
        createOwnTables(sequelize);
      }
      const engine = openEngine({ ...options, sequelize }, () => sequelize.close());
      if (typeof options.cache === 'string' && engine.cache) await untilConnected(engine.cache);
      return engine;
    } catch (error) {
      await sequelize.close();
      throw error;
    } finally {
      // From here on the engine holds it, if there is one.
      release();
    }
  };
}

/** SQLSTATEs of a table, type or index that another start has made in the meantime; `IF NOT EXISTS` ends with them, too. */
const MADE_BEFORE = ['23505', '42P07', '42710'];

/** Creates the tables of the models. It begins again for each part that another start has made, and throws where a statement fails twice. */
async function createTables(sequelize: EngineSequelize): Promise<void> {
  let failed: string | undefined;
  for (;;) {
    try {
      // On the primary: a replica may not have seen the tables yet.
      await sequelize.sync({ useMaster: true } as SyncOptions);
      return;
    } catch (error) {
      const { sql } = (error as { readonly parent?: { readonly sql?: string } }).parent ?? {};
      if (sql === failed || !MADE_BEFORE.some((state) => hasState(error, state))) throw error;
      failed = sql;
    }
  }
}

const NOWHERE = 'postgres://offline@127.0.0.1:1/offline';

/**
 * The engine of an application that the command line describes: its models are attached, and nothing is connected. Queries of the user's
 * wait until the process ends, so that none fails behind `bootstrap`.
 */
function openOffline({
  cache: _cache,
  clickhouse: _clickhouse,
  replicas: _replicas,
  ...options
}: EngineOptions) {
  const { sequelize } = createSequelize(NOWHERE, options);
  const manager = connectionManager(sequelize);
  const waiting = { getConnection: { value: () => new Promise(() => {}) } };
  // A field of its own would be that of a closed instance.
  Object.setPrototypeOf(manager, Object.create(Object.getPrototypeOf(manager), waiting));
  return openEngine({ ...options, sequelize }, () => sequelize.close());
}

function createSequelize(dsn: string | undefined, options: EngineOptions) {
  const {
    models = currentRecords().map(({ model }) => model),
    createAll = false,
    replicas = [],
    clickhouse: _clickhouse,
    cache: _cache,
    preparedStatements: _preparedStatements,
    groupCommit: _groupCommit,
    ...forwarded
  } = options;
  throwProblems([
    ...flagProblems('createAll', createAll),
    // It may be a DSN, and hold a password.
    ...(Array.isArray(replicas) ? [] : [`replicas is a ${typeof replicas}; use an array of DSNs.`]),
    ...listProblems('The engine option models', models, 'model classes'),
    ...misspelt(forwarded),
    ...refusedOptions(forwarded),
  ]);
  const defaults = forwarded as AddressDefaults;
  const primary = readConnectionString(dsn, defaults);
  const readers = replicas.map((replica) => readReplica(replica, primary, defaults));
  const { dialectOptions, hosts, sessionAttributes, ...address } = primary.server;
  const settings = {
    dialect: 'postgres',
    logging: false,
    // Set, because Sequelize opens an extra connection otherwise to read it. Older servers are not supported.
    databaseVersion: OLDEST_SERVER,
    dialectModule: timeoutDriver,
    // Names of columns may have parentheses, which would be refused.
    attributeBehavior: 'escape',
    ...forwarded,
    ...address,
    pool: poolOf(forwarded.pool),
    dialectOptions: driverOptions(dialectOptions),
    replication: {
      write: { hosts, sessionAttributes },
      read: (readers.length > 0 ? readers : [primary]).map(readConnection),
    },
  };
  const sequelize = new EngineSequelize(settings as SequelizeOptions);
  const all = [primary, ...readers];
  if (all.some(({ server }) => server.hosts)) chooseHosts(sequelize);
  if (replicas.length > 1) dealReads(sequelize);
  for (const text of new Set(all.flatMap(({ advice }) => advice))) warnOf(sequelize, text);
  const classes = loadModels([...new Set(models)], forwarded.modelMatch);
  throwProblems(modelProblems(classes));
  // Before a table is created under such a name.
  throwProblems(minifiedModels(classes).problems);
  throwProblems(ownerProblems(sequelize, classes));
  // sequelize-typescript has a type of its own for its models.
  addModels(sequelize, classes as unknown as ModelCtor[]);
  return { sequelize, primary };
}

/** Options of ours, for misspelt names. No option of Sequelize's is spelled nearly like one of these. */
const NAMES = [
  'models',
  'createAll',
  'replicas',
  'clickhouse',
  'cache',
  'preparedStatements',
  'groupCommit',
] satisfies (keyof EngineOptions)[];

const POOL_NAMES = ['max', 'min', 'acquire', 'idle', 'evict', 'maxUses', 'validate'];

/** Sequelize and pg would ignore them. */
function misspelt({ pool, dialectOptions, ...others }: SequelizeOptions): string[] {
  return [
    ...('replication' in others ? ["engineLifespan has no option 'replication'; use replicas."] : []),
    ...nearNames('engineLifespan', others, NAMES),
    ...unknownOptions('pool', pool ?? {}, POOL_NAMES),
    ...poolProblems(pool ?? {}),
    ...nearNames('dialectOptions', dialectOptions ?? {}, LIMITS),
  ];
}

function poolProblems({ max, acquire }: PoolOptions): string[] {
  const problems: string[] = [];
  if (max !== undefined && !(Number.isInteger(max) && max > 0))
    problems.push(`pool.max is ${showValue(max)}; use an integer from 1.`);
  if (acquire !== undefined && !(Number.isInteger(acquire) && acquire >= 0 && acquire <= NO_LIMIT))
    problems.push(
      `pool.acquire is ${showValue(acquire)}; use a whole number of milliseconds, 0 for no limit.`,
    );
  return problems;
}

function nearNames(owner: string, options: object, names: readonly string[]): string[] {
  return Object.keys(options).flatMap((name) => {
    const meant = names.find((each) => distance(each.toLowerCase(), name.toLowerCase()) <= 2);
    return meant && meant !== name ? [`${owner} has no option '${name}'. Did you mean '${meant}'?`] : [];
  });
}

const NO_KEY = /^Foreign key for "(.+)" is missing on "(.+)"\.$/;

function addModels(sequelize: EngineSequelize, models: ModelCtor[]): void {
  try {
    sequelize.addModels(models);
  } catch (error) {
    const [, target, model] = NO_KEY.exec((error as Error).message) ?? [];
    if (model === undefined) throw error;
    throw new ConfigError([
      `${model} has no foreign key to ${target}, and an association between both needs one; put @ForeignKey(() => ${target}) on an ` +
        `attribute of ${model}, or name the attribute as the second argument of the association.`,
    ]);
  }
}

/** Loads classes as `addModels` does, before any is attached: a class that belongs to another engine must stay there. */
function loadModels(models: (ModelClass | string)[], match?: SequelizeOptions['modelMatch']): ModelClass[] {
  const byName = match ?? ((file: string, member: string) => file === member);
  const loaded = models.flatMap((each) => {
    if (typeof each !== 'string') return [each];
    const found = getModels([each], byName) as unknown as ModelClass[];
    if (found.length > 0) return found;
    throw new ConfigError([
      `The engine option models has the path '${each}', where there is no file of a model.`,
    ]);
  });
  return [...new Set(loaded)];
}

/** A replica has the user and the database of the primary where its string names none. */
function readReplica(
  dsn: string,
  { server }: PostgresAddress,
  { dialectOptions }: AddressDefaults,
): PostgresAddress {
  const { database, username, password } = server;
  return readConnectionString(dsn, { database, username, password, dialectOptions, isReplica: true });
}

/**
 * A server for the pool of reads, the replicas or else the primary, whose connections the server itself has set
 * read-only. Sequelize sends every SELECT without a transaction there; `transaction({ readOnly: true })` alone only
 * chooses the pool.
 */
function readConnection({ server }: PostgresAddress): object {
  const { dialectOptions } = server;
  const options = `${dialectOptions['options'] ?? ''} -c default_transaction_read_only=on`.trim();
  return { ...server, dialectOptions: driverOptions({ ...dialectOptions, options }) };
}

/** Options of a connection, with the defaults that they do not set. */
function driverOptions(given: Readonly<Record<string, unknown>>): object {
  return { ...without(DRIVER, limitsSetBy(given)), ...given };
}

async function connect(
  sequelize: EngineSequelize,
  address: PostgresAddress,
  options: EngineOptions,
): Promise<void> {
  try {
    await checkConnections(sequelize, options);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([connectionAdvice(error, address)]);
  }
}
