/** Errors of sessions that were not committed, and of code that goes on in them. */

/** @throws RolledBackError for a failure in a session that was caught */
export function refuseFailure({ cause }: { readonly cause: unknown }): never {
  throw new RolledBackError('A unit of work', { cause });
}

/** Error of a request that joins the session of one with other settings. */
export function otherSettings(): Error {
  return new Error(
    'A request joins a unit of work that has the settings of another one; end that one before.',
  );
}

/** Error of a session that could not be committed, as something in it had failed. A mistake in the code: 500. */
export class RolledBackError extends Error {
  override readonly name = 'RolledBackError';

  /** @param what the name of the statement that failed */
  constructor(what: string, options?: ErrorOptions) {
    super(
      `${what} failed inside a transaction and its error was caught, so all of the transaction is rolled back. ` +
        'Run what may fail alone in uow.savepoint(work).',
      options,
    );
  }
}

/**
 * Error of a write that comes after the rollback of the writes that it belongs to.
 *
 * @param whole the name of the work that was rolled back
 */
export function lateWrite(whole: string, cause?: unknown): Error {
  return new Error(
    `A write came after the ${whole} that it belongs to had been rolled back. Wait for all parts of a ${whole.split(' ')[0]} before it ` +
      'throws, with Promise.allSettled for example, or give a query that is no part of it { transaction: null }.',
    { cause },
  );
}
