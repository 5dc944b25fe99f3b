/**
 * Leaves one connection for reads of other tables, on the general path. A read of Sequelize's cannot be told to wait only
 * shortly for a lock, so a table that is locked, by a migration say, may have all read connections but one.
 */
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { fullPool } from '../../errors/full-pool.js';

/** Reads of one table. */
interface TableReads {
  underWay: number;
  /** Each begins one read. */
  readonly waiting: Set<() => void>;
}

/** The reads of all tables of one instance. */
export class TableGate {
  readonly #limit: number;
  readonly #patience: number;
  readonly #tables = new Map<string, TableReads>();

  /**
   * @param connections for reads that there may be; a pool of one has none to leave
   * @param patience milliseconds that a read waits, as for a connection
   */
  constructor(connections: number, patience: number) {
    this.#limit = connections > 1 ? connections - 1 : Number.POSITIVE_INFINITY;
    this.#patience = patience;
  }

  /**
   * Runs a read of a table, when fewer than the limit are under way.
   *
   * @throws ConnectionAcquireTimeoutError when that takes too long
   */
  async run<T>(table: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#tables.get(table) ?? { underWay: 0, waiting: new Set() };
    this.#tables.set(table, reads);
    if (reads.underWay >= this.#limit) await this.#turn(reads);
    else reads.underWay += 1;
    try {
      return await read();
    } finally {
      const [next] = reads.waiting;
      // The next one takes its place.
      if (next) next();
      else reads.underWay -= 1;
    }
  }

  #turn({ waiting }: TableReads): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        waiting.delete(begin);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(new ConnectionAcquireTimeoutError(fullPool(this.#limit + 1, this.#patience)));
      }, this.#patience);
      waiting.add(begin);
    });
  }
}
