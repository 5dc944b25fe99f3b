/** A limit of the work of one kind that a process runs at once: each holds a connection, or reads a whole table. */
import { RefusedRequestError } from './refused-request-error.js';

interface LimitOptions {
  /** Work that waits for its turn at most. Default: none, it is refused at once. */
  readonly waiting?: number;
  /** Milliseconds that work waits at most. */
  readonly patience?: number;
  /** Seconds after which a client may try again. Default: 5. */
  readonly retryAfter?: number;
}

/** A limit of a process. */
export class WorkLimit {
  readonly #most: number;
  readonly #words: string;
  readonly #options: LimitOptions;
  #running = 0;
  /** Each begins one. The oldest is the first. */
  readonly #waiting: (() => void)[] = [];

  /** @param words name of the work in errors: `imports` */
  constructor(most: number, words: string, options: LimitOptions = {}) {
    this.#most = most;
    this.#words = words;
    this.#options = options;
  }

  /** Runs work, as soon as it may. @throws RefusedRequestError 503 where too many wait, or the turn has not come in time */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The next one takes its place.
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    const { waiting = 0, patience = 0 } = this.#options;
    if (this.#waiting.length >= waiting) throw this.#refusal();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(this.#refusal());
      }, patience);
      this.#waiting.push(begin);
    });
  }

  #refusal(): RefusedRequestError {
    const headers = { 'Retry-After': String(this.#options.retryAfter ?? 5) };
    return new RefusedRequestError(503, `Too many ${this.#words} are under way; try again.`, headers);
  }
}
