/**
 * Checks at the start that connections have the settings that they were opened with. A pooler that assigns each transaction another
 * connection to the server refuses such settings, or takes no notice of them.
 */
import { type QueryOptionsWithType, QueryTypes, type Sequelize } from 'sequelize';
import { ConfigError } from '../../util/config-error.js';
import { plainManager, type ServerConfig } from '../session/connection-internals.js';
import type { EngineSequelize } from '../session/engine-sequelize.js';
import { warnOf } from '../session/engine-warnings.js';
import { UNREPORTED } from '../session/guard-connections.js';

/** Settings that pg sends by itself; PostgreSQL reports them in milliseconds. */
const TIMEOUTS = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
const READ_ONLY = 'default_transaction_read_only';
const NAMES = [READ_ONLY, ...TIMEOUTS, ...Object.keys(UNREPORTED)];
const SETTINGS = `
  SELECT name, setting, reset_val AS "own", pg_backend_pid() AS "process"
  FROM pg_settings WHERE name IN (${NAMES.map((name) => `'${name}'`).join()})`;

/** Options by which Sequelize takes a connection for reads. */
const READ = Object.freeze({ type: QueryTypes.SELECT, useMaster: false });
const WRITE = Object.freeze({ type: '', useMaster: true });

interface Settings {
  readonly byName: Readonly<Record<string, string>>;
  /** Settings of new connections of the role, before anything is set. */
  readonly own: Readonly<Record<string, string>>;
  /** Process id of the server. */
  readonly process: number;
}

interface PooledClient {
  /** The process at the other end: of a pooler, another one than that of the server. */
  readonly processID?: number;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
}

interface CheckedOptions {
  readonly replicas?: readonly string[];
  readonly preparedStatements?: boolean;
}

/**
 * Connects to the primary and the servers for reads, and warns of settings that they do not have. It notes on the instance
 * that its connections for reads refuse writes. It rejects as Sequelize does where the primary cannot be reached.
 *
 * @throws ConfigError when a pooler refuses options of a connection to a replica, or cannot keep a pinned setting
 */
export async function checkConnections(
  sequelize: EngineSequelize,
  { replicas = [], preparedStatements = true }: CheckedOptions,
): Promise<void> {
  const manager = plainManager<PooledClient>(sequelize);
  const { config } = manager;
  const { write, read } = config.replication || { write: config, read: [] };
  const check = async (client: PooledClient, also: Promise<unknown> = Promise.resolve()) => {
    await also;
    try {
      const server = [client.host, client.port, client.database, client.user].join();
      const settings = await readSettings(sequelize, client);
      refuseUnreported(settings, client);
      return { ...settings, server };
    } finally {
      manager.releaseConnection(client);
    }
  };
  // A pool that is empty connects to one server after the other, as long as no connection is released.
  const clients = read.slice(0, config.pool.max).map(() => manager.getConnection(READ));
  const connected = Promise.allSettled(clients);
  const [primary, ...readers] = await Promise.allSettled([
    manager.getConnection(WRITE).then((client) => check(client)),
    ...clients.map(async (acquired) => check(await acquired, connected)),
  ]);
  if (primary.status === 'rejected') throw primary.reason;
  const failures = readers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (failures.length > 0 && replicas.length === 0) throw failures[0];
  for (const failure of failures) refuseRefusal(failure);
  // A replica that is down at the start may come back.
  if (failures.length > 0) warnOf(sequelize, unconnectedWarning(failures, clients.length));
  const found = readers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const ignored = [
    ...ignoredTimeouts(primary.value, [write]),
    ...found.flatMap((settings) => ignoredTimeouts(settings, read)),
    ...(found.every(isReadOnly) ? [] : [READ_ONLY]),
  ];
  // Where a server cannot be reached, another one may have answered twice.
  const servers = new Set(found.map(({ server }) => server));
  sequelize.readsRefuseWrites = servers.size === read.length && found.every(isReadOnly);
  if (ignored.length > 0) {
    warnOf(sequelize, ignoredWarning([...new Set(ignored)], preparedStatements));
  }
}

async function readSettings(sequelize: Sequelize, connection: PooledClient): Promise<Settings> {
  // Sequelize's types lack a query on a connection that is in no transaction.
  const options = {
    type: QueryTypes.SELECT,
    transaction: { connection },
  } as object as QueryOptionsWithType<QueryTypes.SELECT>;
  const rows = await sequelize.query<{ name: string; setting: string; own: string; process: number }>(
    SETTINGS,
    options,
  );
  return {
    byName: Object.fromEntries(rows.map(({ name, setting }) => [name, setting])),
    own: Object.fromEntries(rows.map(({ name, own }) => [name, own])),
    process: rows[0]?.process ?? 0,
  };
}

/** Behind a pooler, the next statement may run on a connection to the server that nothing was set on. */
function refuseUnreported(
  { own, process }: Settings,
  { processID = process, user = '…' }: PooledClient,
): void {
  if (processID === process) return;
  const wrong = Object.entries(UNREPORTED).filter(([name, value]) => (own[name] ?? value) !== value);
  if (wrong.length === 0) return;
  const found = wrong.map(([name]) => `${name} = ${own[name]}`).join(', ');
  const mend = wrong.map(([name, value]) => `ALTER ROLE ${user} SET ${name} = ${value};`).join(' ');
  throw new ConfigError([
    `Connections lead to a pooler, and PostgreSQL gives them ${found}, with which values would be read or written ` +
      `as others; a pooler cannot keep another setting for each of its clients. Write: ${mend}`,
  ]);
}

function isReadOnly({ byName }: Settings): boolean {
  return byName[READ_ONLY] === 'on';
}

/** Timeouts of a connection that differ from the settings of all servers. */
function ignoredTimeouts({ byName }: Settings, servers: readonly ServerConfig[]): string[] {
  return TIMEOUTS.filter((name) =>
    servers.every(({ dialectOptions = {} }) => {
      const wanted = Number.parseInt(String(dialectOptions[name]), 10);
      // pg sends none where there is none.
      return wanted > 0 && wanted !== Number(byName[name]);
    }),
  );
}

const IGNORE = `ignore_startup_parameters = ${[...TIMEOUTS, 'options'].join(', ')}`;
const SET_TIMEOUTS = 'the timeouts with ALTER ROLE … SET';
const UNPREPARED = 'preparedStatements: false, unless the pooler keeps prepared statements';

function ignoredWarning(names: readonly string[], isNaming: boolean): string {
  const advice = [
    ...(names.some((name) => name !== READ_ONLY) ? [`set ${SET_TIMEOUTS}`] : []),
    ...(names.includes(READ_ONLY)
      ? [`GETs that run code of yours take a transaction, unless replicas name a role with ${READ_ONLY} = on`]
      : []),
    ...(isNaming ? [`set ${UNPREPARED}`] : []),
  ];
  const are = names.length > 1 ? 'are' : 'is';
  return `A pooler ignores what its connections are asked for: ${names.join(', ')} ${are} not as configured; ${advice.join('; ')}.`;
}

/** Advice where a pooler refuses a setting of a connection; undefined for any other failure. */
export function refusalAdvice(message: string): string | undefined {
  if (!message.startsWith('unsupported startup parameter')) return undefined;
  return (
    `a pooler refuses what its connections are asked for (${message}); set ${IGNORE} in PgBouncer, ` +
    `${SET_TIMEOUTS}, and the option ${UNPREPARED}`
  );
}

function unconnectedWarning(failures: readonly unknown[], replicas: number): string {
  const codes = failures.map((failure) => driverError(failure)?.code ?? 'no code');
  return (
    `At the start ${failures.length} of ${replicas} replicas could not be connected to (${[...new Set(codes)].join(', ')}); reads that ` +
    'they have to answer are 503 until they can. The health routes have the reason.'
  );
}

function driverError(failure: unknown): (Error & { readonly code?: string }) | undefined {
  return (failure as { readonly parent?: Error }).parent;
}

/** @throws ConfigError where a pooler refuses what connections to a replica are asked for */
function refuseRefusal(failure: unknown): void {
  if (failure instanceof ConfigError) throw failure;
  const advice = refusalAdvice(driverError(failure)?.message ?? '');
  if (advice !== undefined) throw new ConfigError([`On the way to a replica ${advice}.`]);
}
