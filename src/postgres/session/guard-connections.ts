/**
 * Connections of a Sequelize instance: prepared when they are new, and closed when they are of no use.
 *
 * Settings that change which texts PostgreSQL writes, or how it reads ours, are pinned on each connection. A role or a database may
 * have other values, with which dates become null and floats lose digits. `TimeZone` is not among them: Sequelize sets it by its option
 * `timezone`, and moments are read with their offset.
 *
 * A pool goes on using a connection that the server has ended, and a connection to the wrong server. After a failover the address
 * of the primary can lead to a standby for a while. A connection from that time refuses writes until it is closed.
 */
import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { BaseError, ConnectionError, type Sequelize } from 'sequelize';
import { instanceOptions } from '../../describe/sequelize-internals.js';
import { fullPool } from '../../errors/database-fault.js';
import { takeTurns } from '../protocol/pg-client.js';
import {
  type ConnectionManager,
  knownManager,
  type Pool,
  poolsOf,
  type ServerConfig,
} from './connection-internals.js';
import { type ParsingClient, parseExactly } from './exact-parsers.js';

/** A client of the driver, as far as pools use it. Sequelize sends its own settings the same way. */
interface Connection extends ParsingClient {
  query(text: string): Promise<unknown>;
  end?(): unknown;
  /** Pool that the connection belongs to; set when it is ready, and only where there are two. */
  readonly queryType?: 'read' | 'write';
  /** pg's side of the socket, which emits every message of the server. Another driver may have none. */
  readonly connection?: EventEmitter;
}

interface ServerError {
  readonly severity?: string;
  readonly code?: string;
}

/** The order of day and month of `DateStyle` stays as it is: our dates begin with the year. */
const PINNED: Readonly<Record<string, string>> = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  xmloption: 'content',
  quote_all_identifiers: 'off',
};

const SET_PINNED = Object.entries(PINNED)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join('; ');

/** Settings that PgBouncer keeps for each client, because PostgreSQL reports them. It keeps `IntervalStyle` from 1.20 on only. */
const REPORTED: ReadonlySet<string> = new Set(['DateStyle', 'standard_conforming_strings']);

/** The pinned settings that a pooler cannot keep for each client, with their values. */
export const UNREPORTED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PINNED).filter(([name]) => !REPORTED.has(name)),
);

const prepared = new WeakSet<ConnectionManager<Connection>>();

/**
 * Prepares each new connection, which executes one query at a time from then on. A connection that was opened before is closed at
 * its next use, and a new one is opened in its place. So is one that the server ends, and one for writes that has refused
 * a write because it is read-only (25006). A connection of the pool for reads refuses every write, and stays.
 */
export function prepareConnections(sequelize: Sequelize): void {
  // An instance that is no working one is the user's own to find out about: health probes report it.
  const manager = knownManager<Connection>(sequelize);
  if (!manager || prepared.has(manager)) return;
  prepared.add(manager);
  const connect = manager.connect.bind(manager);
  const validate = manager.validate.bind(manager);
  const { timezone: zone = '+00:00' } = instanceOptions(sequelize);
  const ofUse = new WeakSet<Connection>();
  manager.connect = async (settings) => {
    const client = await connect(settings);
    takeTurns(client);
    try {
      await client.query(SET_PINNED);
    } catch (error) {
      // The connection is in no pool yet, so no other code would close it.
      void client.end?.();
      throw error;
    }
    parseExactly(client, zone);
    ofUse.add(client);
    client.connection?.on('errorMessage', ({ severity, code }: ServerError) => {
      const isStandby = code === '25006' && client.queryType !== 'read';
      // The error comes before the socket is closed, and the next query could come in between.
      if (isStandby || severity === 'FATAL') ofUse.delete(client);
    });
    return client;
  };
  manager.validate = (client) => ofUse.has(client) && validate(client);
}

/**
 * Does the same for the instance of an engine, and keeps its pools right when a connection fails while it is being prepared: after
 * the log-in, Sequelize still sends settings. A failure there leaves the socket open. Its error is the driver's, and cannot be
 * separated from an error of the user's own. And because the connection is in neither of the two pools yet, an event throws a
 * `TypeError`, which ends the process.
 */
export function guardConnections(sequelize: Sequelize): void {
  const manager = knownManager<Connection>(sequelize);
  if (!manager) return;
  // Behind the guard, which closes the socket of a connection that fails here.
  prepareConnections(sequelize);
  const { pool } = manager;
  const connect = manager.connect.bind(manager);
  const destroy = pool.destroy.bind(pool);
  manager.connect = (settings) => connectOrClose(settings, connect);
  // Connections outside a pool are closed by the code that opened them.
  pool.destroy = (connection) => (connection.queryType ? destroy(connection) : undefined);
  const { read, write } = poolsOf(manager);
  for (const each of new Set([read, write])) reportFull(each);
}

/** Errors of a pool that is full have that in the place of a timeout. */
function reportFull(pool: Pool<Connection>): void {
  const acquire = pool.acquire.bind(pool);
  pool.acquire = () =>
    acquire().catch((error: Error) => {
      // The pool's class has no name of its own in its errors, and in a minified bundle none at all.
      const isFull = error.message === 'Operation timeout' && pool.using > 0;
      throw isFull ? fullPool(pool.maxSize, pool.acquireTimeoutMillis, error) : error;
    });
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
