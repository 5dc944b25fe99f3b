/** How each back end of an engine is asked. */
import type { ClickHouseClient, Redis } from '../persistence/client-types.js';
import type { Engine } from '../persistence/engine.js';
import { type PostgresServer, postgresServers } from '../persistence/ping-postgres.js';
import type { ComponentName } from './health-report.js';
import { type Ping, ProbeFailure, shownReason, untilAborted } from './probe.js';

/** The pings of the back ends that an engine has. */
export function pingsOf({
  sequelize,
  clickhouse,
  cache,
}: Engine): readonly (readonly [ComponentName, Ping])[] {
  return [
    ['postgres', pingServers(postgresServers(sequelize))],
    ...(clickhouse ? [['clickhouse', abortable(pingClickHouse(clickhouse))] as const] : []),
    ...(cache ? [['cache', abortable(pingCache(cache))] as const] : []),
  ];
}

/** The drivers do not all stop when they are told to. */
function abortable(ping: Ping): Ping {
  return (signal) => untilAborted(signal, ping(signal));
}

/** Every server is asked at the same time; all of them have to answer. */
function pingServers(servers: readonly PostgresServer[]): Ping {
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

/** By a query: the plain ping asks nothing that needs credentials. It never rejects, but says so in its result. */
function pingClickHouse(client: ClickHouseClient): Ping {
  return async (signal) => {
    const result = await client.ping({ select: true, abort_signal: signal });
    if (!result.success) throw result.error;
  };
}

/** On a connection of its own: a client that is reconnecting keeps commands, or refuses them without saying why. */
function pingCache(client: Redis): Ping {
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
      // What connect() rejects with is only that the connection is closed; the event before it says why.
      throw failure ?? error;
    } finally {
      close();
    }
  };
}
