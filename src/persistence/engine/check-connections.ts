/**
 * Looks at the start whether connections are as they were asked to be. What a connection is to be like is said when it is
 * opened; a pooler that gives each transaction another connection to the server refuses that, or takes no notice of it.
 */
import { type QueryOptionsWithType, QueryTypes, type Sequelize } from 'sequelize';
import { ConfigError } from '../../util/config-error.js';
import { plainManager, type ServerConfig } from '../session/connection-internals.js';
import type { EngineSequelize } from '../session/engine-sequelize.js';
import { warnOf } from '../session/engine-warnings.js';

/** What pg asks for by itself; PostgreSQL tells these in milliseconds. */
const TIMEOUTS = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'];
const READ_ONLY = 'default_transaction_read_only';
const SETTINGS = `
  SELECT name, setting FROM pg_settings WHERE name IN (${[READ_ONLY, ...TIMEOUTS].map((name) => `'${name}'`).join()})`;

/** How Sequelize asks for a connection for reads. */
const READ = Object.freeze({ type: QueryTypes.SELECT, useMaster: false });

/** Settings by name. */
type Settings = Readonly<Record<string, unknown>>;

/** A connection, as pg describes it. */
interface PooledClient {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
}

/** Those of `EngineOptions` that matter here. */
interface CheckedOptions {
  readonly replicas?: readonly string[];
  readonly preparedStatements?: boolean;
}

/**
 * Connects to the primary and the servers for reads, warns of what was asked for in vain, and has the instance know
 * whether its connections for reads refuse writes. Rejects as Sequelize does where the primary cannot be reached.
 *
 * @throws ConfigError when a pooler refuses what a connection to a replica is to be like
 */
export async function checkConnections(
  sequelize: EngineSequelize,
  { replicas = [], preparedStatements = true }: CheckedOptions,
): Promise<void> {
  const manager = plainManager<PooledClient>(sequelize);
  const { config } = manager;
  const { write, read } = config.replication || { write: config, read: [] };
  // A pool that is empty connects to one server after the other, as long as no connection is given back.
  const clients = read.slice(0, config.pool.max).map(() => manager.getConnection(READ));
  const connected = Promise.allSettled(clients);
  const [primary, ...readers] = await Promise.allSettled([
    askSettings(sequelize, { useMaster: true }),
    ...clients.map(async (acquired) => {
      const client = await acquired;
      await connected;
      try {
        const server = [client.host, client.port, client.database, client.user].join();
        return { ...(await askSettings(sequelize, { transaction: { connection: client } })), server };
      } finally {
        manager.releaseConnection(client);
      }
    }),
  ]);
  if (primary.status === 'rejected') throw primary.reason;
  const failed = readers.find((answer) => answer.status === 'rejected');
  // A replica that is down at the start may come back.
  if (failed && replicas.length === 0) throw failed.reason;
  for (const answer of readers) refuseRefusal(answer);
  const found = readers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const ignored = [
    ...ignoredTimeouts(primary.value, [write]),
    ...found.flatMap((settings) => ignoredTimeouts(settings, read)),
    ...(found.every(isReadOnly) ? [] : [READ_ONLY]),
  ];
  // In place of a server that cannot be reached, another one may have answered twice.
  const servers = new Set(found.map(({ server }) => server));
  sequelize.readsRefuseWrites = servers.size === read.length && found.every(isReadOnly);
  if (ignored.length > 0) {
    warnOf(sequelize, ignoredWarning([...new Set(ignored)], preparedStatements));
  }
}

/** @param where options of a query that say which connection it is made on; Sequelize's types lack them */
async function askSettings(sequelize: Sequelize, where: object): Promise<Settings> {
  const options: QueryOptionsWithType<QueryTypes.SELECT> = { type: QueryTypes.SELECT, ...where };
  const rows = await sequelize.query<{ name: string; setting: string }>(SETTINGS, options);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

function isReadOnly(settings: Settings): boolean {
  return settings[READ_ONLY] === 'on';
}

/** Those that are not what any of the servers was asked for. */
function ignoredTimeouts(settings: Settings, servers: readonly ServerConfig[]): string[] {
  return TIMEOUTS.filter((name) =>
    servers.every(({ dialectOptions = {} }) => {
      const asked = Number.parseInt(String(dialectOptions[name]), 10);
      // pg asks for none where there is none.
      return asked > 0 && asked !== Number(settings[name]);
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

/** What to do where a pooler refuses what a connection is asked for; nothing for any other failure. */
export function refusalAdvice(message: string): string | undefined {
  if (!message.startsWith('unsupported startup parameter')) return undefined;
  return (
    `a pooler refuses what its connections are asked for (${message}); set ${IGNORE} in PgBouncer, ` +
    `${SET_TIMEOUTS}, and the option ${UNPREPARED}`
  );
}

function refuseRefusal(answer: PromiseSettledResult<unknown>): void {
  if (answer.status === 'fulfilled') return;
  const { parent } = answer.reason as { readonly parent?: Error };
  const advice = refusalAdvice(parent?.message ?? '');
  if (advice !== undefined) throw new ConfigError([`On the way to a replica ${advice}.`]);
}
