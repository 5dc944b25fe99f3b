/**
 * Keeps Sequelize's pools right when a connection fails while it is being prepared: after the log-in, Sequelize still
 * sends settings. A failure there leaves the socket open, is an error of the driver that nobody can tell from one of the
 * user's own, and, as the connection is in neither of the two pools yet, a `TypeError` in an event, which ends the process.
 *
 * And when a connection leads to the wrong server: after a failover the address of the primary can lead to a standby for a
 * while, and a connection from that time refuses writes until it is closed.
 */
import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { BaseError, ConnectionError, type Sequelize } from 'sequelize';
import { fullPool } from '../../errors/full-pool.js';
import {
  type ConnectionManager,
  knownManager,
  type Pool,
  poolsOf,
  type ServerConfig,
} from './connection-internals.js';
import { pinSettings } from './pin-settings.js';

/** A pg client, as far as pools know it. */
interface Connection {
  /** Pool that the connection belongs to; set when it is ready, and only where there are two. */
  readonly queryType?: 'read' | 'write';
  /** pg's side of the socket, which tells every message of the server. Another driver may have none. */
  readonly connection?: EventEmitter;
}

/** Error that a server reports. */
interface ServerError {
  readonly severity?: string;
  readonly code?: string;
}

/** Changes the instance's own connection manager. */
export function guardConnections(sequelize: Sequelize): void {
  const manager = knownManager<Connection>(sequelize);
  if (!manager) return;
  // Behind the guard, which closes the socket of a connection that fails here.
  pinSettings(sequelize);
  const { pool } = manager;
  const connect = manager.connect.bind(manager);
  const destroy = pool.destroy.bind(pool);
  manager.connect = (settings) => connectOrClose(settings, connect);
  // Connections outside a pool are closed by the code that opened them.
  pool.destroy = (connection) => (connection.queryType ? destroy(connection) : undefined);
  const { read, write } = poolsOf(manager);
  for (const each of new Set([read, write])) tellFull(each);
  closeUseless(sequelize);
}

/** A pool that is full says so in the place of a timeout. */
function tellFull(pool: Pool<Connection>): void {
  const acquire = pool.acquire.bind(pool);
  pool.acquire = () =>
    acquire().catch((error: Error) => {
      // The pool's class has no name of its own in its errors.
      const isFull = error.constructor.name === 'TimeoutError' && pool.using > 0;
      throw isFull ? fullPool(pool.maxSize, pool.acquireTimeoutMillis, error) : error;
    });
}

/** Managers that do what is next. */
const closing = new WeakSet<ConnectionManager<Connection>>();

/**
 * Has a connection closed, instead of used again, that the server ends, or that is for writes and has refused one because
 * it is read-only (25006). One of the pool for reads refuses every write, and stays.
 */
export function closeUseless(sequelize: Sequelize): void {
  // An instance that is no working one is the user's own to find out about: health probes report it.
  const manager = knownManager<Connection>(sequelize);
  if (!manager || closing.has(manager)) return;
  closing.add(manager);
  const connect = manager.connect.bind(manager);
  const validate = manager.validate.bind(manager);
  const useless = new WeakSet<Connection>();
  manager.connect = async (settings) => {
    const client = await connect(settings);
    client.connection?.on('errorMessage', ({ severity, code }: ServerError) => {
      const isStandby = code === '25006' && client.queryType !== 'read';
      // It is said before the socket is closed, and the next one would find out in between.
      if (isStandby || severity === 'FATAL') useless.add(client);
    });
    return client;
  };
  manager.validate = (client) => !useless.has(client) && validate(client);
}

async function connectOrClose(
  settings: ServerConfig,
  connect: ConnectionManager<Connection>['connect'],
): Promise<Connection> {
  const sockets: Socket[] = [];
  const stream = () => {
    const socket = new Socket();
    sockets.push(socket);
    return socket;
  };
  try {
    return await connect({ ...settings, dialectOptions: { stream, ...settings.dialectOptions } });
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error instanceof BaseError ? error : new ConnectionError(error as Error);
  }
}
