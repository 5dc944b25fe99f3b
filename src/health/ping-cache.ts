/** How a cache is asked: on connections of its own, since a client that is reconnecting keeps commands, or refuses them. */
import type { Cluster, Redis } from '../persistence/engine/client-types.js';
import { pingServers } from './ping-servers.js';
import { type Ping, ProbeFailure } from './probe.js';

/** The ping of a server, or of a cluster: all its masters have to answer. */
export function pingCache(cache: Redis | Cluster): Ping {
  return cache.isCluster ? pingCluster(cache as Cluster) : pingRedis(cache as Redis);
}

/** Which nodes there are, the client itself has found out, and goes on doing so. */
function pingCluster(cluster: Cluster): Ping {
  return async (signal) => {
    // One that waits for its first command would never be asked for one, because nothing is sent to who is not ready.
    if (cluster.status === 'wait') await cluster.connect();
    const masters = cluster.nodes('master');
    if (masters.length === 0) throw new ProbeFailure('connection lost');
    await pingServers(masters.map((master) => ({ ping: pingRedis(master) })))(signal);
  };
}

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
      // What connect() rejects with is only that the connection is closed; the event before it says why.
      throw failure ?? error;
    } finally {
      close();
    }
  };
}
