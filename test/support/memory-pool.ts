/** A pool of Sequelize's own kind whose connections are in memory. */
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { Pool, TimeoutError } from 'sequelize-pool';
import type { QueuedPool } from '../../src/postgres/connections/connection-queue.js';
import type { PooledClient } from '../../src/postgres/session/connection-internals.js';

/** A pool in memory, with the part of Sequelize's pools that a queue uses. */
export class MemoryPool implements QueuedPool {
  readonly size: number;
  readonly acquireTimeout: number;
  /** True where each has to get a connection of its own from the pool. */
  bypassesQueue = false;
  /** Connections that were lost. */
  readonly broken = new Set<PooledClient>();
  /** The pool itself. */
  readonly pool: Pool<PooledClient>;

  /**
   * @param open opens a connection
   * @param acquireTimeout in milliseconds
   */
  constructor(size: number, acquireTimeout: number, open: () => Promise<PooledClient>) {
    this.size = size;
    this.acquireTimeout = acquireTimeout;
    this.pool = new Pool<PooledClient>({
      create: open,
      destroy: () => {},
      validate: this.isSound,
      max: size,
      min: 0,
      acquireTimeoutMillis: acquireTimeout,
      log(message, level) {
        if (level === 'error') throw new Error(message);
      },
    });
  }

  get isInUse(): boolean {
    return this.pool.using > 0;
  }

  get waiting(): number {
    return this.pool.waiting;
  }

  readonly isSound = (client: PooledClient): boolean => !this.broken.has(client) && !client._invalid;

  /** Fails as Sequelize's connection manager does. */
  async acquire(): Promise<PooledClient> {
    try {
      return await this.pool.acquire();
    } catch (error) {
      throw error instanceof TimeoutError ? new ConnectionAcquireTimeoutError(error) : error;
    }
  }

  release(client: PooledClient): void {
    this.pool.release(client);
  }

  async destroy(client: PooledClient): Promise<void> {
    await this.pool.destroy(client);
  }
}
