/** Where fast statements get their connections: Sequelize's own pools, so that their limits, settings and hooks hold. */
import type { Sequelize } from 'sequelize';
import type { Driver } from '../protocol/pg-text-query.js';
import { ConnectionQueue } from './connection-queue.js';
import type { PooledClient } from './pooled-client.js';

/** One pool of Sequelize. */
interface Pool {
  /** How many wait for a connection. */
  readonly waiting: number;
  readonly maxSize: number;
  readonly acquireTimeoutMillis: number;
  /** After so many uses a connection is closed. */
  readonly maxUsesPerResource: number;
  /** Whether it is closing. */
  readonly _draining: boolean;
}

/** Internals of Sequelize's connection manager that are not in its types. */
interface ConnectionManager {
  readonly lib: Driver;
  readonly pool: Pool & { readonly read?: Pool; readonly write?: Pool };
  readonly config: {
    readonly pool: { validate(client: PooledClient): boolean };
    readonly replication?: { readonly read: readonly object[] } | null | false;
  };
  getConnection(options: { type: string; useMaster: boolean }): Promise<PooledClient>;
  releaseConnection(client: PooledClient): void;
  destroyConnection(client: PooledClient): Promise<void>;
}

/** Reads go where Sequelize sends a SELECT, to the read pool if there is one; writes to the primary. */
export type Destination = 'read' | 'write';

/** Gives and takes back connections. */
export class ConnectionSource {
  readonly #sequelize: Sequelize;
  readonly #manager: ConnectionManager;
  /** Where a connection for one statement comes from. */
  readonly queues: Readonly<Record<Destination, ConnectionQueue>>;

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize;
    this.#manager = sequelize.connectionManager as unknown as ConnectionManager;
    const { read, write } = this.#manager.pool;
    const queue = this.#queueOf('write', write);
    this.queues = { read: read ? this.#queueOf('read', read) : queue, write: queue };
  }

  get driver(): Driver {
    return this.#manager.lib;
  }

  /** How many servers answer reads. */
  get readServers(): number {
    const { replication } = this.#manager.config;
    return replication ? replication.read.length : 1;
  }

  /** How many connections for reads there can be. */
  get maxReads(): number {
    return this.#reads.maxSize;
  }

  /** Whether somebody waits for a connection for reads. */
  get isReadWaiting(): boolean {
    return this.#reads.waiting > 0;
  }

  acquire(destination: Destination): Promise<PooledClient> {
    const isWrite = destination === 'write';
    return this.#manager.getConnection({ type: isWrite ? '' : 'SELECT', useMaster: isWrite });
  }

  release(client: PooledClient): void {
    this.#manager.releaseConnection(client);
  }

  get #reads(): Pool {
    const { pool } = this.#manager;
    return pool.read ?? pool;
  }

  #queueOf(destination: Destination, pool: Pool = this.#manager.pool): ConnectionQueue {
    const { validate } = this.#manager.config.pool;
    const bypassesQueue = () =>
      pool._draining || pool.maxUsesPerResource < Number.POSITIVE_INFINITY || this.#hasPoolHooks;
    return new ConnectionQueue({
      size: pool.maxSize,
      acquireTimeout: pool.acquireTimeoutMillis,
      get waiting() {
        return pool.waiting;
      },
      get bypassesQueue() {
        return bypassesQueue();
      },
      isSound: validate,
      acquire: () => this.acquire(destination),
      release: (client) => this.release(client),
      destroy: (client) => this.#manager.destroyConnection(client),
    });
  }

  get #hasPoolHooks(): boolean {
    return this.#sequelize.hasHook('beforePoolAcquire') || this.#sequelize.hasHook('afterPoolAcquire');
  }
}
