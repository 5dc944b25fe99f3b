/** How each back end of an engine is asked. */
import type { ClickHouseClient } from '../persistence/engine/client-types.js';
import type { Engine } from '../persistence/engine/engine.js';
import { separateClickHouse } from '../persistence/engine/optional-client.js';
import { postgresServers } from '../persistence/engine/ping-postgres.js';
import type { ComponentName } from './health-report.js';
import { pingCache } from './ping-cache.js';
import { pingServers } from './ping-servers.js';
import { type Ping, untilAborted } from './probe.js';

/** The pings of the back ends that an engine has. Nothing is looked at before a probe runs them. */
export function pingsOf({
  sequelize,
  clickhouse,
  cache,
}: Engine): readonly (readonly [ComponentName, Ping])[] {
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
