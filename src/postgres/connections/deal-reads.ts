/**
 * Distributes the connections of reads over the replicas. Sequelize's read pool lends the connection that was returned last, to any
 * server, and opens another one only where none is free. So nearly all its reads would go to one server, and a server that is down
 * would fail its reads.
 */
import type { Sequelize } from 'sequelize';
import type { PooledClient } from '../session/connection-internals.js';
import {
  type ConnectionManager,
  knownManager,
  type Pool,
  poolsOf,
  type ServerConfig,
} from '../session/connection-internals.js';

interface ReadClient extends PooledClient {
  queryType?: 'read';
}

interface Server {
  readonly settings: ServerConfig;
  /** Connections that are being opened. */
  opening: number;
  /** When one that could not be reached may be tried again; 0 for one that can be reached. */
  retryAt: number;
}

type Held = Pool<ReadClient>['_inUseObjects'][number];

/** Milliseconds until a server that could not be reached is tried again, with one connection. */
const PAUSE = 1_000;

/** Changes the instance's own read pool, which must have been made for several servers. */
export function dealReads(sequelize: Sequelize): void {
  const manager = knownManager<ReadClient>(sequelize);
  if (manager) dealOver(manager);
}

function dealOver(manager: ConnectionManager<ReadClient>): void {
  const { config } = manager;
  const { read: replicas } = config.replication || { read: [] };
  const { read: pool } = poolsOf(manager);
  /** The one whose last turn was longest ago is the first. */
  const servers = replicas.map((settings): Server => ({ settings, opening: 0, retryAt: 0 }));
  const serverOf = new WeakMap<ReadClient, Server>();

  const isTo = (server: Server) => (held: Held) => serverOf.get(held.resource) === server;
  const count = (held: readonly Held[], server: Server) => held.filter(isTo(server)).length;
  const inUse = (server: Server) => count(pool._inUseObjects, server);
  const connections = (server: Server) =>
    server.opening + inUse(server) + count(pool._availableObjects, server);

  /** Servers that may be tried, least first by the measure; all servers, where none may. */
  function inOrder(measure: (server: Server) => number): Server[] {
    const open = servers.filter(isOpen);
    return (open.length > 0 ? open : [...servers]).sort((one, other) => measure(one) - measure(other));
  }

  /**
   * Puts a connection to the server with the least under way last, and opens one more to a server that has too few for its
   * part. True where a connection can be lent now.
   */
  function deal(): boolean {
    const { _availableObjects: available, size, maxSize } = pool;
    const server = inOrder(inUse).find((each) => available.some(isTo(each)));
    const [fewest] = inOrder(connections) as [Server];
    const isOpened = size < maxSize && (!server || connections(fewest) <= inUse(server));
    if (isOpened) pool._createResource();
    // Available connections all lead to servers that cannot be reached.
    if (!server) return !isOpened;
    available.push(...available.splice(available.findLastIndex(isTo(server)), 1));
    servers.push(...servers.splice(servers.indexOf(server), 1));
    return true;
  }

  async function connectTo(server: Server): Promise<ReadClient> {
    // Until this attempt is over, there is no other one to a server that was down.
    if (server.retryAt > 0) server.retryAt = Number.POSITIVE_INFINITY;
    server.opening += 1;
    try {
      const client = await manager._connect(server.settings);
      serverOf.set(client, server);
      server.retryAt = 0;
      return Object.assign(client, { queryType: 'read' as const });
    } catch (error) {
      server.retryAt = performance.now() + PAUSE;
      throw error;
    } finally {
      server.opening -= 1;
    }
  }

  /** Connects to the server with the fewest connections, or else to another one. */
  async function connect(): Promise<ReadClient> {
    const failures: unknown[] = [];
    for (const server of inOrder(connections)) {
      if (failures.length > 0 && !isOpen(server)) continue;
      try {
        return await connectTo(server);
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures[0];
  }

  /** True where a connection makes room for one to another server, which was down when this one was opened. */
  function isSurplus(client: ReadClient): boolean {
    const server = serverOf.get(client);
    if (!server || pool.size < pool.maxSize) return false;
    return servers.some((each) => isOpen(each) && connections(server) - connections(each) > 1);
  }

  const { validate } = config.pool;
  const isOfUse = (client: ReadClient) => validate(client) && !isSurplus(client);
  config.pool.validate = isOfUse;
  Object.assign(pool._factory, { create: connect, validate: isOfUse });
  const dispense = pool._dispense.bind(pool);
  pool._dispense = () => {
    if (pool.waiting === 0 || pool._availableObjects.length === 0 || deal()) dispense();
  };
}

function isOpen({ retryAt }: Server): boolean {
  return retryAt === 0 || performance.now() >= retryAt;
}
