/** `checkHealth`: asks all configured back ends at once, each on connections of its own. */
import {
  type ClickHouseClient,
  type Cluster,
  type Engine,
  enginesInUse,
  postgresServers,
  type Redis,
  separateClickHouse,
} from '../postgres/index.js';
import { throwProblems } from '../util/config-error.js';
import { type ComponentName, HealthReport } from './health-report.js';
import { type Ping, ProbeFailure, probe, shownReason, untilAborted } from './probe.js';

/** Options of a check. */
export interface CheckOptions {
  /** Seconds that each back end has to answer. Default: 5. */
  timeout?: number;
}

/** Seconds. */
export const DEFAULT_TIMEOUT = 5;
/** Seconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const TIMER_LIMIT = 2_000_000;

/**
 * Asks every configured back end at the same time, each on a connection of its own. One that fails or is late is
 * recorded, never thrown; without any the report is healthy.
 *
 * @example
 * ```ts
 * const report = await checkHealth({ timeout: 1 });
 * ```
 * @throws ConfigError for a timeout that is not a positive number of seconds
 */
export async function checkHealth({ timeout = DEFAULT_TIMEOUT }: CheckOptions = {}): Promise<HealthReport> {
  throwProblems(timeoutProblems(timeout));
  const pings = enginesInUse().flatMap(pingsOf);
  return new HealthReport(await Promise.all(pings.map(([name, ping]) => probe(name, ping, timeout))));
}

/** Problems of a timeout. */
export function timeoutProblems(timeout: unknown): string[] {
  if (typeof timeout === 'number' && timeout > 0 && timeout < TIMER_LIMIT) return [];
  return [
    `The health timeout is ${String(timeout)}; use a number of seconds above 0 and below ${TIMER_LIMIT}.`,
  ];
}

/** The pings of the back ends that an engine has. Nothing is looked at before a probe runs them. */
function pingsOf({ sequelize, clickhouse, cache }: Engine): readonly (readonly [ComponentName, Ping])[] {
  return [
    ['postgres', async (signal) => pingServers(postgresServers(sequelize))(signal)],
    ...(clickhouse ? [['clickhouse', abortable(pingClickHouse(clickhouse))] as const] : []),
    ...(cache ? [['cache', abortable(pingCache(cache))] as const] : []),
  ];
}

/** The drivers do not all stop when they are told to. */
function abortable(ping: Ping): Ping {
  return (signal) => untilAborted(signal, ping(signal));
}

/** By a query: the plain ping asks nothing that needs credentials. It never rejects, but says so in its result. */
function pingClickHouse(shared: ClickHouseClient): Ping {
  return async (signal) => {
    const { client, close } = separateClickHouse(shared);
    try {
      const result = await client.ping({ select: true, abort_signal: signal });
      if (!result.success) throw result.error;
    } finally {
      await close();
    }
  };
}

/** Asks all servers of a back end at the same time; each has to answer. */
function pingServers(servers: readonly { readonly ping: Ping }[]): Ping {
  return async (signal) => {
    const answers = await Promise.allSettled(
      servers.map((server) => untilAborted(signal, server.ping(signal))),
    );
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [shownReason(answer.reason)] : [],
    );
    const [reason] = reasons;
    if (reason === undefined) return;
    throw new ProbeFailure(
      servers.length === 1 ? reason : `${reasons.length} of ${servers.length} servers: ${reason}`,
    );
  };
}

/** The ping of a server, or of a cluster: all its masters have to answer. */
function pingCache(cache: Redis | Cluster): Ping {
  return cache.isCluster ? pingCluster(cache as Cluster) : pingRedis(cache as Redis);
}

/** The client itself has found the nodes of the cluster, and goes on finding them. */
function pingCluster(cluster: Cluster): Ping {
  return async (signal) => {
    // One that waits for its first command would never be asked for one, because nothing is sent to who is not ready.
    if (cluster.status === 'wait') await cluster.connect();
    const masters = cluster.nodes('master');
    if (masters.length === 0) throw new ProbeFailure('connection lost');
    await pingServers(masters.map((master) => ({ ping: pingRedis(master) })))(signal);
  };
}

/** On a connection of its own: a client that is reconnecting keeps commands, or refuses them. */
function pingRedis(client: Redis): Ping {
  return async (signal) => {
    const connection = client.duplicate({
      lazyConnect: true,
      enableOfflineQueue: true,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    let failure: unknown;
    connection.on('error', (error: unknown) => {
      failure ??= error;
    });
    const close = (): void => {
      // Disconnecting once more than needed would start a timer that nothing clears.
      if (connection.status === 'end') return;
      connection.disconnect();
      // It says goodbye first, which a silent peer would not answer.
      if (signal.aborted) connection.stream?.destroy();
    };
    signal.addEventListener('abort', close, { once: true });
    try {
      await connection.connect();
      await connection.ping();
    } catch (error) {
      // connect() rejects only with a closed connection; the event before it has the reason.
      throw failure ?? error;
    } finally {
      close();
    }
  };
}
