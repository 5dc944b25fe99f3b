/** A limit of the work of one kind that a process runs at once: each holds a connection, or reads a whole table. */
import { Turns } from '../util/turns.js';
import { RefusedRequestError } from './refused-request-error.js';

interface LimitOptions {
  /** Work that waits for its turn at most. Default: none, it is refused at once. */
  readonly waiting?: number;
  /** Milliseconds that work waits at most. */
  readonly patience?: number;
  /** Seconds after which a client may try again. Default: 5. */
  readonly retryAfter?: number;
}

/** A limit of a process. Work that it refuses fails with a RefusedRequestError of status 503. */
export class WorkLimit extends Turns {
  /** @param words name of the work in errors: `imports` */
  constructor(most: number, words: string, { waiting = 0, patience = 0, retryAfter = 5 }: LimitOptions = {}) {
    const headers = { 'Retry-After': String(retryAfter) };
    const refusal = () =>
      new RefusedRequestError(503, `Too many ${words} are under way; try again.`, headers);
    super({ most, waiting, patience, refusal });
  }
}
