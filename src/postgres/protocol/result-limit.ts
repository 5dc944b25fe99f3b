/**
 * The limit on the bytes of one result, and the part of the process's budget that results take as they arrive. A process whose
 * heap is full ends, so a result is refused before.
 */

import { HEAP_FULL, RESULT_TOO_LARGE } from '../../errors/database-fault.js';
import { BUDGET, HEAP_LIMIT, isWithin, TEXT_WEIGHT, takeBytes } from '../../util/memory-budget.js';

/** Bytes of one result of our SQL. */
export const MAX_RESULT: number = Math.min(32 * 1024 * 1024, HEAP_LIMIT / 16);
/** Bytes of memory for one result, whatever has sent the query. */
const MAX_MEMORY = BUDGET / 2;
/** A result of fewer bytes takes nothing of the budget. */
const SMALL_RESULT = 256 * 1024;

const HINT = 'lower pageSize.max, or read fewer columns with fields.';

/** Error of a result that is refused. */
class ResultRefusedError extends Error {
  readonly severity = 'ERROR';

  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Bytes of the results of a query, or of a connection. */
export class ResultBytes {
  /** Bytes of the result that arrives, and of the memory for it. */
  #bytes = 0;
  #memory = 0;
  /** Bytes of memory for results before it. */
  #kept = 0;
  /** Bytes of the budget. */
  #taken = 0;
  readonly #most: number;

  /** @param most bytes of a result */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /**
   * Adds bytes to the result that arrives.
   *
   * @param memory bytes that are needed to answer with them
   * @returns why the result is refused; null where it is not
   */
  add(bytes: number, memory = TEXT_WEIGHT * bytes): Error | null {
    this.#bytes += bytes;
    this.#memory += memory;
    if (this.#bytes <= SMALL_RESULT) return null;
    const more = this.#kept + this.#memory - this.#taken;
    const isTooLarge = this.#bytes > this.#most || this.#memory > MAX_MEMORY;
    if (isTooLarge || (more > 0 && !isWithin(more))) return this.#refuse(isTooLarge);
    if (more > 0) this.#take(more);
    return null;
  }

  /** Bytes of the result that arrives. */
  get size(): number {
    return this.#bytes;
  }

  /** Begins the next result. @param isKept whether those before are kept beside it */
  next(isKept: boolean): void {
    this.#kept = isKept ? this.#taken : 0;
    this.#bytes = 0;
    this.#memory = 0;
  }

  /** Gives back what the results have taken. */
  end(): void {
    this.#take(-this.#taken);
    this.next(false);
  }

  #refuse(isTooLarge: boolean): Error {
    this.#take(this.#kept - this.#taken);
    return isTooLarge
      ? new ResultRefusedError(
          `A result is too large: it has ${this.#bytes} bytes so far; ${HINT}`,
          RESULT_TOO_LARGE,
        )
      : new ResultRefusedError(`There is no memory for a result beside the others; ${HINT}`, HEAP_FULL);
  }

  #take(bytes: number): void {
    takeBytes(bytes);
    this.#taken += bytes;
  }
}
