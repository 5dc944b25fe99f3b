/**
 * Lines about requests that have failed. While the database is away each request fails for the same reason: the first is told at
 * once, with its stack, and the others as a number, once a second. What fails for a reason of its own is always told.
 */
import { describeError } from '../../util/describe-error.js';
import type { Logger } from '../../util/logger.js';

/** Milliseconds. */
const INTERVAL = 1_000;

/** The statuses by which a dependency is known to have failed: it is unreachable, or takes too long. */
const OF_DEPENDENCIES: readonly number[] = [503, 504];

/** A failed request. */
export interface Failure {
  /** The method and the route. */
  readonly message: string;
  readonly requestId: string;
  readonly status: number;
  readonly reason: unknown;
}

/** A reason that was told lately. */
interface Told {
  /** Requests that have failed for it since. */
  count: number;
}

/** Writes to one logger. */
export class FailureLog {
  readonly #logger: Logger;
  readonly #told = new Map<string, Told>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Tells of a failed request. */
  add({ message, requestId, status, reason }: Failure): void {
    const described = describeError(reason);
    const tell = (): void => this.#logger.error(message, { requestId, status, ...described });
    if (!OF_DEPENDENCIES.includes(status)) {
      tell();
      return;
    }
    const { error, code } = described as { readonly error?: string; readonly code?: string };
    const kind = { status, error, ...(code === undefined ? {} : { code }) };
    const key = JSON.stringify(kind);
    const known = this.#told.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    const told: Told = { count: 0 };
    this.#told.set(key, told);
    tell();
    const timer = setInterval(() => {
      if (told.count === 0) {
        clearInterval(timer);
        this.#told.delete(key);
        return;
      }
      this.#logger.error(
        `${told.count} more ${told.count === 1 ? 'request' : 'requests'} failed in a second`,
        { ...kind, count: told.count },
      );
      told.count = 0;
    }, INTERVAL);
    // It keeps no process alive.
    timer.unref();
  }
}

const logs = new WeakMap<Logger, FailureLog>();

/** That of a logger. */
export function failureLog(logger: Logger): FailureLog {
  const known = logs.get(logger) ?? new FailureLog(logger);
  logs.set(logger, known);
  return known;
}
