/** Where fast statements get their connections: Sequelize's own pools, so that their limits, settings and hooks hold. */
import type { Sequelize } from 'sequelize';
import type { Driver } from '../protocol/pg-text-query.js';
import {
  type ConnectionManager,
  connectionManager,
  type Pool,
  type PooledClient,
  poolsOf,
  readServers,
} from '../session/connection-internals.js';
import { ConnectionQueue } from './connection-queue.js';

/** Reads go where Sequelize sends a SELECT, to the read pool if there is one; writes to the primary. */
export type Destination = 'read' | 'write';

/** Use of the connections of a pool. */
export interface PoolUsage {
  readonly pool: Destination | 'all';
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  /** Statements and transactions that wait for one. */
  readonly waiting: number;
}

/** Acquires and releases connections. */
export class ConnectionSource {
  readonly #sequelize: Sequelize;
  readonly #manager: ConnectionManager<PooledClient>;
  readonly #reads: Pool<PooledClient>;
  /** Where a connection for one statement comes from. */
  readonly queues: Readonly<Record<Destination, ConnectionQueue>>;

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize;
    this.#manager = connectionManager(sequelize);
    const { read, write } = poolsOf(this.#manager);
    this.#reads = read;
    const queue = this.#queueOf('write', write);
    this.queues = { read: read === write ? queue : this.#queueOf('read', read), write: queue };
  }

  get driver(): Driver {
    return this.#manager.lib;
  }

  /** Number of servers that answer reads. */
  get readServers(): number {
    return readServers(this.#sequelize);
  }

  /** Number of connections that the pool for reads may open. */
  get maxReads(): number {
    return this.#reads.maxSize;
  }

  /** True where the pool for reads has to see each use of a connection, or is closing. */
  get seesEachRead(): boolean {
    return this.#seesEachUse(this.#reads);
  }

  /** True where a caller waits for a connection for reads. */
  get isReadWaiting(): boolean {
    return this.#reads.waiting > 0;
  }

  /** Present use of the connections of each pool. */
  get usage(): readonly PoolUsage[] {
    const { read, write } = poolsOf(this.#manager);
    const pools = read === write ? { write } : { read, write };
    return Object.entries(pools).map(([name, { size, using, maxSize }]) => ({
      // One pool serves both where there are no replicas.
      pool: read === write ? 'all' : (name as Destination),
      used: using,
      idle: size - using,
      max: maxSize,
      waiting: this.queues[name as Destination].waiting,
    }));
  }

  acquire(destination: Destination): Promise<PooledClient> {
    const isWrite = destination === 'write';
    return this.#manager.getConnection({ type: isWrite ? '' : 'SELECT', useMaster: isWrite });
  }

  release(client: PooledClient): void {
    this.#manager.releaseConnection(client);
  }

  #queueOf(destination: Destination, pool: Pool<PooledClient>): ConnectionQueue {
    const { validate } = this.#manager.config.pool;
    const bypassesQueue = () => this.#seesEachUse(pool);
    return new ConnectionQueue({
      size: pool.maxSize,
      acquireTimeout: pool.acquireTimeoutMillis,
      get waiting() {
        return pool.waiting;
      },
      get bypassesQueue() {
        return bypassesQueue();
      },
      get isInUse() {
        return pool.using > 0;
      },
      isSound: validate,
      acquire: () => this.acquire(destination),
      release: (client) => this.release(client),
      destroy: async (client) => {
        await this.#manager.pool.destroy(client);
      },
    });
  }

  #seesEachUse(pool: Pool<PooledClient>): boolean {
    return (
      pool._draining ||
      pool.maxUsesPerResource < Number.POSITIVE_INFINITY ||
      this.#sequelize.hasHook('beforePoolAcquire') ||
      this.#sequelize.hasHook('afterPoolAcquire')
    );
  }
}
