/** The reason of a wait for a connection that was in vain while others were in use: the database is there, and the pool is short. */

const NAME = 'FullPoolError';

/**
 * Has an error say so; its message is the log's, and holds no value.
 *
 * @param waited milliseconds
 * @param error that of the pool, where it has one
 */
export function fullPool(size: number, waited: number, error = new Error('Operation timeout')): Error {
  const message =
    `No connection was free for ${waited} ms: pool.max is ${size}, and pool.acquire ${waited}. Raise pool.max of engineLifespan, or look for ` +
    'what holds connections so long, such as a lock.';
  return Object.assign(error, { name: NAME, message });
}

/** True for an error of `fullPool`. */
export function isFullPool(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
