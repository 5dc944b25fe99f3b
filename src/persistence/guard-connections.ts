/**
 * Keeps Sequelize's pools right when a connection fails while it is being prepared: after the log-in, Sequelize still
 * sends settings. A failure there leaves the socket open, is an error of the driver that nobody can tell from one of the
 * user's own, and, as the connection is in neither of the two pools yet, a `TypeError` in an event, which ends the process.
 */
import { Socket } from 'node:net';
import { BaseError, ConnectionError, type Sequelize } from 'sequelize';

/** A pg client, as far as pools know it. */
interface Connection {
  /** Which pool it belongs to; set when it is ready. */
  readonly queryType?: 'read' | 'write';
}

/** How to connect; `stream` of pg makes the socket. */
interface ConnectSettings {
  readonly dialectOptions?: { readonly stream?: unknown };
}

/** Internals of Sequelize's connection manager that are not in its types. */
interface ConnectionManager {
  connect(settings: ConnectSettings): Promise<Connection>;
  readonly pool: { destroy(connection: Connection): unknown };
}

/** Changes the instance's own connection manager. */
export function guardConnections({ connectionManager }: Sequelize): void {
  const manager = connectionManager as unknown as ConnectionManager;
  const { pool } = manager;
  const connect = manager.connect.bind(manager);
  const destroy = pool.destroy.bind(pool);
  manager.connect = (settings) => connectOrClose(settings, connect);
  // Who connects closes what is not in a pool.
  pool.destroy = (connection) => (connection.queryType ? destroy(connection) : undefined);
}

async function connectOrClose(
  settings: ConnectSettings,
  connect: ConnectionManager['connect'],
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
