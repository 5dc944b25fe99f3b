/**
 * Reads that others do not wait for. Slow ones leave one connection of the pool to all others, where there are two. A read waits
 * for a lock only shortly. Then its table is locked, by a migration say, and reads of locked tables are tried one at a time,
 * with a pause between them in which a pool of one connection serves others. They stay in the queue without a connection.
 */
import type { PreparedStatement } from '../protocol/prepared-statement.js';

/** Milliseconds that a read waits for a lock at a time, and then of the pause. */
export const LOCK_TIMEOUT = 250;

/** A read that has begun. */
export interface BegunRead {
  readonly isSlow: boolean;
  /** True where others of locked tables wait for it. */
  readonly isTrial: boolean;
}

/** Reads of one pool that take long. */
export class LongReads {
  readonly #limit: number;
  readonly #wake: () => void;
  #slow = 0;
  readonly #lockedTables = new Set<string>();
  /** True while a read of a locked table is under way, and in the pause after it. */
  #isTrying = false;

  /**
   * @param connections for reads that there may be; one alone cannot be left to others
   * @param wake has those served that were held back
   */
  constructor(connections: number, wake: () => void) {
    this.#limit = Math.max(1, connections - 1);
    this.#wake = wake;
  }

  /** True where a read may not begin now. */
  isHeldBack({ isSlow }: PreparedStatement, table: string): boolean {
    return (isSlow && this.#slow >= this.#limit) || (this.#isTrying && this.#lockedTables.has(table));
  }

  begin({ isSlow }: PreparedStatement, table: string): BegunRead {
    const isTrial = this.#lockedTables.has(table);
    if (isTrial) this.#isTrying = true;
    if (isSlow) this.#slow += 1;
    return { isSlow, isTrial };
  }

  /** Ends a read; true where it has waited for a lock in vain. To be called before its connection is free. */
  end({ isSlow, isTrial }: BegunRead, table: string, error: Error | null): boolean {
    if (isSlow) this.#slow -= 1;
    const isLocked = (error as { readonly code?: unknown } | null)?.code === '55P03';
    if (isLocked && (isTrial || !this.#isTrying)) this.#pause();
    if (isLocked) this.#lockedTables.add(table);
    else {
      this.#lockedTables.delete(table);
      if (isTrial) this.#isTrying = false;
    }
    return isLocked;
  }

  #pause(): void {
    this.#isTrying = true;
    const end = (): void => {
      this.#isTrying = false;
      this.#wake();
    };
    setTimeout(end, LOCK_TIMEOUT).unref();
  }
}
