/** Where fast statements get their connections: Sequelize's own pools, so that their limits, settings and hooks hold. */
import type { Sequelize } from 'sequelize';
import type { Driver, DriverClient } from './driver-query.js';

/** A connection of a pool. */
export interface PooledClient extends DriverClient {
  /** Sequelize's mark for one that must not be used again. */
  _invalid?: boolean;
}

/** One pool of Sequelize. */
interface Pool {
  /** How many wait for a connection. */
  readonly waiting: number;
  readonly maxSize: number;
}

/** Internals of Sequelize's connection manager that are not in its types. */
interface ConnectionManager {
  readonly lib: Driver;
  readonly pool: Pool & { readonly read?: Pool };
  getConnection(options: { type: string; useMaster: boolean }): Promise<PooledClient>;
  releaseConnection(client: PooledClient): void;
}

/** Reads go where Sequelize sends a SELECT, to the read pool if there is one; writes to the primary. */
export type Destination = 'read' | 'write';

/** Gives and takes back connections. */
export class ConnectionSource {
  readonly #manager: ConnectionManager;

  constructor({ connectionManager }: Sequelize) {
    this.#manager = connectionManager as unknown as ConnectionManager;
  }

  get driver(): Driver {
    return this.#manager.lib;
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
}

/** What was given up is still under way, so nobody else may have the connection. Sequelize does the same. */
export function markGivenUp(client: PooledClient, error: Error | null): void {
  if (error?.message === 'Query read timeout') client._invalid = true;
}
