/** The error of a query that was given up because no answer came in time: pg's own has a message and nothing else. */

/** The message, by which pg's error and ours are known. */
export const QUERY_TIMEOUT = 'Query read timeout';

/** What a query that is given up fails with. */
export function queryTimeout(): Error {
  return new Error(QUERY_TIMEOUT);
}

/** Whether a query failed because it was given up. */
export function isQueryTimeout(error: { readonly message?: unknown } | null): boolean {
  return error?.message === QUERY_TIMEOUT;
}
