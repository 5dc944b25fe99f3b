/** The engines in use: the servers that the process is connected to. */

import type { Sequelize } from 'sequelize';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { flagProblems, unknownOptions } from '../../util/option-problems.js';
import { groupWrites, keepNoStatements } from '../connections/statement-runner.js';
import { callbacksUnderWay } from '../session/commit-callbacks.js';
import { knownManager, poolsOf } from '../session/connection-internals.js';
import { prepareConnections } from '../session/guard-connections.js';
import { holdInstance, modelsOf, ownerProblems } from '../session/model-registry.js';
import type { ClickHouseClient, Cluster, Redis } from './client-types.js';
import { checkClients, openCache, openClickHouse } from './optional-client.js';

/** Connections to the back ends. Closing it closes them, when the callbacks after commits have ended or take long. */
export interface Engine extends AsyncDisposable {
  // Test runners need a Promise; the type that this extends is a PromiseLike.
  [Symbol.asyncDispose](): Promise<void>;
  readonly sequelize: Sequelize;
  readonly clickhouse?: ClickHouseClient;
  /** Where a `Cluster` was passed, it is that one: the commands are the same. */
  readonly cache?: Redis;
}

/** Input of `configureEngine`. */
export interface EngineParts {
  sequelize: Sequelize;
  /** A URL, or a client of yours. */
  clickhouse?: string | ClickHouseClient;
  /** A URL, or a client of yours, which may be one of a cluster. */
  cache?: string | Redis | Cluster;
  /** True where connections keep prepared statements; see `EngineOptions`. Default: true. */
  preparedStatements?: boolean;
  /** True where writes of several requests may share a transaction; see `EngineOptions`. Default: false. */
  groupCommit?: boolean;
}

const engines = new Set<Engine>();

/**
 * Registers a Sequelize instance you made yourself. The instance stays yours, as do clients: disposing the
 * engine does not close them. `engineLifespan` makes and owns an instance instead. A client of Redis that is made from a URL
 * is connecting when this returns, and fails commands until its event `ready`.
 *
 * @example
 * ```ts
 * configureEngine({ sequelize, cache: 'redis://localhost' });
 * ```
 * @throws ConfigError when a URL, a client or an option is wrong, the package of a client is missing, or another engine in use has a
 * model of the instance
 */
export function configureEngine(parts: EngineParts): Engine {
  checkNames(parts);
  const engine = openEngine(parts, async () => {});
  prepareConnections(parts.sequelize);
  return engine;
}

/**
 * Puts an engine together and keeps it among the engines in use until it is disposed. That happens once: it closes the
 * clients that were made here, and runs `close`.
 */
export function openEngine(parts: EngineParts, close: () => Promise<void>): Engine {
  const { sequelize, clickhouse, cache, preparedStatements = true, groupCommit = false } = parts;
  // First of all: a new client connects, and would have no owner to close it.
  checkParts(parts);
  throwProblems(ownerProblems(sequelize, modelsOf(sequelize)));
  if (!preparedStatements) keepNoStatements(sequelize);
  if (groupCommit) groupWrites(sequelize);
  const columns = clickhouse === undefined ? null : openClickHouse(clickhouse);
  const store = cache === undefined ? null : openCache(cache);
  let disposed: Promise<void> | undefined;
  const release = holdInstance(sequelize);
  const engine: Engine = {
    sequelize,
    ...(columns ? { clickhouse: columns.client } : {}),
    ...(store ? { cache: store.client } : {}),
    [Symbol.asyncDispose]: () => {
      disposed ??= end();
      return disposed;
    },
  };
  const end = async (): Promise<void> => {
    // They may query, in the current engine too.
    const callbacks = callbacksUnderWay(sequelize);
    if (callbacks) await callbacks;
    engines.delete(engine);
    release();
    await closeAll([close, columns?.close, store?.close]);
  };
  engines.add(engine);
  return engine;
}

/**
 * Checks the options of an engine, without connecting to anything.
 *
 * @throws ConfigError with all problems
 */
export function checkParts(parts: Omit<EngineParts, 'sequelize'>): void {
  const { preparedStatements = true, groupCommit = false, ...clients } = parts;
  const isContradiction = groupCommit === true && preparedStatements === false;
  throwProblems([
    ...flagProblems('preparedStatements', preparedStatements),
    ...flagProblems('groupCommit', groupCommit),
    ...(isContradiction
      ? ['groupCommit: true needs prepared statements; leave it out, or preparedStatements: false.']
      : []),
  ]);
  checkClients(clients);
}

const NAMES = [
  'sequelize',
  'clickhouse',
  'cache',
  'preparedStatements',
  'groupCommit',
] satisfies (keyof EngineParts)[];

function checkNames(parts: EngineParts): void {
  const { sequelize } = Object(parts) as Partial<EngineParts>;
  if (typeof sequelize !== 'object' || sequelize === null)
    throw new ConfigError([
      'configureEngine needs an instance of Sequelize by its name; write configureEngine({ sequelize }).',
    ]);
  throwProblems(unknownOptions('configureEngine', parts, NAMES));
}

/** Closes each; one that fails to close does not keep the others open. */
async function closeAll(closes: readonly ((() => Promise<void>) | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(closes.map(async (close) => close?.()));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * The engine in use. Where a process has several, each is passed explicitly: `unitOfWork(work, { engine })`.
 *
 * @example
 * ```ts
 * const [rows] = await currentEngine().sequelize.query('SELECT version()');
 * ```
 * @throws ConfigError when none is configured, or several are
 */
export function currentEngine(): Engine {
  const [engine, second] = engines;
  if (engine && !second) return engine;
  throw new ConfigError([
    engine
      ? 'Several engines are configured; pass the one that is meant, as in unitOfWork(work, { engine }).'
      : 'No engine is configured; call engineLifespan(dsn)(app) or configureEngine({ sequelize }) first.',
  ]);
}

/** All engines in use, in the order in which they were configured. */
export function enginesInUse(): Engine[] {
  return [...engines];
}

/** Closes the connections that something has, which would be waited for. Their transactions are rolled back. */
export function closeBusyConnections({ sequelize }: Engine): void {
  const manager = knownManager<object>(sequelize);
  if (!manager) return;
  const { read, write } = poolsOf(manager);
  for (const { resource } of new Set([...read._inUseObjects, ...write._inUseObjects])) {
    // Other code may have closed it.
    new Promise((resolve) => resolve(manager.pool.destroy(resource))).catch(() => {});
  }
}

/**
 * Closes every engine in use. Does nothing when there is none, so that it can be called twice.
 *
 * @example
 * ```ts
 * process.once('SIGTERM', () => server.close(() => disposeEngine()));
 * ```
 */
export async function disposeEngine(): Promise<void> {
  await Promise.all(enginesInUse().map((engine) => engine[Symbol.asyncDispose]()));
}
