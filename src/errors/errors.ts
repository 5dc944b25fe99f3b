/** The errors of persistence that a caller can act on. They are independent of HTTP; `statusFor` has their statuses. */

/**
 * Base of all errors of this kind. Its message may be shown to a client, so it never holds a value or any SQL.
 *
 * @example
 * ```ts
 * class QuotaExceeded extends PersistenceError {
 *   override readonly name = 'QuotaExceeded'; // answered with 500, as every subtype that is not in the table
 * }
 * ```
 */
export class PersistenceError extends Error {
  override readonly name: string = 'PersistenceError';
}

/**
 * There is no such row. 404.
 *
 * @example
 * ```ts
 * throw new NotFoundError('There is no published Article with this slug.');
 * ```
 */
export class NotFoundError extends PersistenceError {
  override readonly name = 'NotFoundError';
}

/** Error for the id of no row. @internal */
export function noSuchRecord({ name, key }: { readonly name: string; readonly key: string }): NotFoundError {
  return new NotFoundError(`There is no ${name} with this ${key}.`);
}

/**
 * Exactly one row was expected and there are several. 409.
 *
 * @example
 * ```ts
 * throw new MultipleResultsFound('There is more than one Article with this title; ask by slug.');
 * ```
 */
export class MultipleResultsFound extends PersistenceError {
  override readonly name = 'MultipleResultsFound';
}

/** The answer to an id of several rows, which a view may have. @internal */
export function severalRecords({
  name,
  key,
}: {
  readonly name: string;
  readonly key: string;
}): MultipleResultsFound {
  return new MultipleResultsFound(`There is more than one ${name} with this ${key}.`);
}

/**
 * Another transaction changed the row between its reading and its writing. 409.
 *
 * @example
 * ```ts
 * throw new ConcurrentModificationError('Somebody else changed this Article at the same time; read it again.');
 * ```
 */
export class ConcurrentModificationError extends PersistenceError {
  override readonly name = 'ConcurrentModificationError';
}

/**
 * The database took a write and left its row out: a trigger returned NULL, or a rule or a view did something else. 409.
 *
 * @internal
 */
export class NotStoredError extends PersistenceError {
  override readonly name = 'NotStoredError';
}

/** The error of a write whose row the database left out. @internal */
export function notStored(write: 'insert' | 'update' | 'delete'): NotStoredError {
  const verb = write === 'delete' ? 'delete' : 'store';
  return new NotStoredError(`The database did not ${verb} the record, and nothing was done.`);
}

/**
 * A relation was read that the query did not load; a bug in the caller. 500.
 *
 * @example
 * ```ts
 * throw new RelationNotLoaded("The relation 'author' of Article was not loaded; include it.");
 * ```
 */
export class RelationNotLoaded extends PersistenceError {
  override readonly name = 'RelationNotLoaded';
}

/** The error of a relation that a record does not hold. */
export function relationNotLoaded(
  model: string,
  relations: readonly string[],
  name: string,
): RelationNotLoaded {
  return new RelationNotLoaded(
    relations.includes(name)
      ? `The relation '${name}' of this ${model} was not loaded; include it in the query.`
      : `${model} has no relation '${name}'; it has ${relations.join(', ') || 'none'}.`,
  );
}
