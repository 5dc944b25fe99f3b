/** Persistence errors as HTTP has them: the one table of statuses. */
import { HttpError } from 'routing-controllers';
import {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotDeletedError,
  NotFoundError,
  NotStoredError,
  PersistenceError,
} from '../errors/errors.js';

const CONFLICTS = [MultipleResultsFound, ConcurrentModificationError, NotDeletedError, NotStoredError];

/**
 * The status of an error: 404 for `NotFoundError`, 409 for `MultipleResultsFound`, `ConcurrentModificationError`,
 * `NotDeletedError` and `NotStoredError`, and 500 for everything else.
 *
 * @example
 * ```ts
 * statusFor(new NotFoundError('There is no City with this id.')); // 404
 * ```
 */
export function statusFor(error: unknown): number {
  if (error instanceof NotFoundError) return 404;
  return CONFLICTS.some((each) => error instanceof each) ? 409 : 500;
}

/**
 * A persistence error as a routing-controllers `HttpError`, for hand-written code that throws those. Any other error
 * becomes a 500 that says nothing of it; it is kept as the `cause`.
 *
 * @example
 * ```ts
 * throw httpExceptionFor(error);
 * ```
 */
export function httpExceptionFor(error: unknown): HttpError {
  const message = error instanceof PersistenceError ? error.message : 'Internal Server Error';
  return Object.assign(new HttpError(statusFor(error), message), { cause: error });
}
