/** What a unit of work fails with that went on after something in it had failed. */

/** A transaction that could not be committed, as something in it had failed. A mistake in the code: 500. */
export class RolledBackError extends Error {
  override readonly name = 'RolledBackError';

  /** @param what failed */
  constructor(what: string, options?: ErrorOptions) {
    super(
      `${what} failed inside a transaction and its error was caught, so all of the transaction is rolled back. ` +
        'Run what may fail alone in uow.savepoint(work).',
      options,
    );
  }
}
