/**
 * Shares of the read connections. A table that is locked, by a migration say, must not let its own reads take all of them, nor
 * may slow reads. On our path a read beyond the share of its table waits for a lock only shortly; on the general path it
 * waits for its turn.
 */
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { fullPool } from '../../errors/database-fault.js';
import { keptIn } from '../../util/memo.js';
import { Turns } from '../../util/turns.js';

/** Milliseconds that a read beyond the share waits for a lock. */
const LOCK_TIMEOUT = 50;
/** Sets a limit for its transaction; a longer wait for a lock ends with 55P03. */
export const LIMIT_LOCKS = `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}ms', true)`;

interface Readers {
  /** Number of connections that reads of any table share. */
  lanesInUse(): number;
  /** Lets reads go on that were held back. */
  wake(): void;
}

/**
 * The share of one table. As long as nothing waits, a table may use all connections. Reads beyond its share release their connections when
 * they have waited for a lock.
 */
export class TableShare {
  readonly #size: number;
  readonly #readers: Readers;
  /** Reads under way that wait for locks as long as their connection lets them. */
  #patient = 0;
  #isLocked = false;
  /** When one of them has begun alone, or any was answered. */
  #progressAt = 0;

  /** @param connections for reads that there may be */
  constructor(connections: number, readers: Readers) {
    this.#readers = readers;
    this.#size = Math.max(1, Math.floor(connections / 2));
  }

  /**
   * True where a read may share a connection, on which others would come to wait. False where its table has its share
   * and none of its reads has ended for a while.
   */
  get mayShare(): boolean {
    if (this.#patient === 0 || this.#patient + this.#readers.lanesInUse() < this.#size)
      return !this.#isLocked;
    return !this.#isLocked && performance.now() - this.#progressAt < LOCK_TIMEOUT;
  }

  /** True where no other read of the table may begin. */
  get isHeldBack(): boolean {
    return this.#isLocked && this.#patient >= this.#size;
  }

  /** Begins a read. @returns true where it has to be limited */
  begin(): boolean {
    // Lanes in use count as waiting until the table is found locked: then `hold` counts those that wait.
    const others = this.#isLocked ? 0 : this.#readers.lanesInUse();
    const isLimited = this.#patient + others >= this.#size;
    if (this.#patient === 0) this.#progressAt = performance.now();
    if (!isLimited) this.#patient += 1;
    return isLimited;
  }

  /** Ends a read. @returns true where it is to begin again, because it has waited for a lock beyond the share */
  end(isLimited: boolean, error: Error | null): boolean {
    const { isHeldBack } = this;
    if (!isLimited) this.#patient -= 1;
    const hasWaited = isLockTimeout(error);
    if (!isUnanswered(error)) {
      this.#progressAt = performance.now();
      this.#isLocked = hasWaited && (isLimited || this.#isLocked);
    }
    if (isHeldBack && !this.isHeldBack) this.#readers.wake();
    return hasWaited && isLimited;
  }

  /** Counts a connection that many reads share and that waits; until `free`. */
  hold(): void {
    this.#patient += 1;
  }

  /** Ends `hold`. @param error with which the last of its reads has ended */
  free(error: Error | null): void {
    this.end(false, error);
  }
}

/** True where a read has waited for a lock in vain. */
export function isLockTimeout(error: Error | null): boolean {
  return (error as { readonly code?: unknown } | null)?.code === '55P03';
}

/** True where a read has ended with its connection, or with its timeout, which says nothing of its table. */
function isUnanswered(error: Error | null): boolean {
  if (error === null) return false;
  const { severity } = error as { readonly severity?: string };
  return severity === undefined || severity === 'FATAL';
}

/** Shares of all tables. */
export class TableShares {
  readonly #connections: number;
  readonly #readers: Readers;
  readonly #shares = new Map<string, TableShare>();

  /** @param connections for reads that there may be; one alone cannot be shared out */
  constructor(connections: number, readers: Readers) {
    this.#connections = connections;
    this.#readers = readers;
  }

  /** The share of a table; null where it may have all there is. */
  of(table: string): TableShare | null {
    if (this.#connections === 1) return null;
    return keptIn(this.#shares, table, () => new TableShare(this.#connections, this.#readers));
  }
}

/**
 * Slow reads of one pool. They leave one connection to all others, where there are two: clients choose filters, and those of a few
 * would else be all that the database does.
 */
export class SlowReads {
  readonly #limit: number;
  #underway = 0;

  /** @param connections for reads that there may be; one alone cannot be left to others */
  constructor(connections: number) {
    this.#limit = connections > 1 ? connections - 1 : Number.POSITIVE_INFINITY;
  }

  /** True where no other slow read may begin. */
  get areTooMany(): boolean {
    return this.#underway >= this.#limit;
  }

  begin(): void {
    this.#underway += 1;
  }

  end(): void {
    this.#underway -= 1;
  }
}

/**
 * The reads of all tables of one instance, on the general path. A read of Sequelize's cannot wait only shortly for a lock, so a table may have all read connections but one.
 */
export class TableGate {
  readonly #turns: () => Turns;
  readonly #tables = new Map<string, Turns>();

  /**
   * @param connections for reads that there may be; a pool of one has none to leave
   * @param patience milliseconds that a read waits, as for a connection
   */
  constructor(connections: number, patience: number) {
    const most = connections > 1 ? connections - 1 : Number.POSITIVE_INFINITY;
    const refusal = () => new ConnectionAcquireTimeoutError(fullPool(most + 1, patience));
    this.#turns = () => new Turns({ most, waiting: Number.POSITIVE_INFINITY, patience, refusal });
  }

  /**
   * Runs a read of a table, when fewer than the limit are under way.
   *
   * @throws ConnectionAcquireTimeoutError when that takes too long
   */
  run<T>(table: string, read: () => Promise<T>): Promise<T> {
    return keptIn(this.#tables, table, this.#turns).run(read);
  }
}
