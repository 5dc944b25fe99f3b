/** Options of a purge: the soft-deleted rows that a job of the application removes. */
import { showValue, unknownOptions } from '../../util/option-problems.js';

/** Options of `Repository.purge` in the place of a key. */
export interface PurgeOptions {
  /** Rows that were deleted before this moment. */
  readonly before: Date;
  /** At most so many rows, by key. Default: 1,000. */
  readonly limit?: number;
}

const MAX_ROWS = 1_000;

/** True where an argument is no key. */
export function isPurgeOptions(which: unknown): which is PurgeOptions {
  return typeof which === 'object' && which !== null && Object.getPrototypeOf(which) === Object.prototype;
}

/** @throws TypeError for something else than a moment @throws RangeError for no moment at all, and for a limit that is none */
export function checkPurge(options: PurgeOptions): Required<PurgeOptions> {
  const { before, limit = MAX_ROWS } = options;
  const [unknown] = unknownOptions('purge', options, ['before', 'limit']);
  if (unknown) throw new TypeError(unknown);
  if (!(before instanceof Date)) {
    throw new TypeError(
      `purge.before is ${showValue(before)}; use a Date, such as new Date(Date.now() - 30 * 86_400_000).`,
    );
  }
  if (Number.isNaN(before.getTime())) {
    throw new RangeError('purge.before is an invalid Date; use one that is a moment.');
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new RangeError(`purge.limit is ${showValue(limit)}; use an integer from 1.`);
  }
  return { before, limit };
}
