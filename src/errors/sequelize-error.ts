/** Errors that this package makes, in the form in which Sequelize and its driver make theirs. */
import { DatabaseError, type Model, type Sequelize } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import type { RecordInfo } from '../describe/model-info.js';
import { constrainedModel, queryPrototype } from '../describe/sequelize-internals.js';
import { survivable } from '../util/promises.js';

/** An error as Sequelize's own reads throw it: with the statement. Several may share the error that ended their connection. */
export function asDatabaseError(
  error: Error,
  { text }: { readonly text: string },
  values: readonly unknown[],
): DatabaseError {
  const own: Error = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
  return new DatabaseError(Object.assign(own, { sql: text, parameters: [...values] }));
}

/** The error that a query of Sequelize's would have failed with: it has a class for each kind of constraint. */
export function toSequelizeError(
  sequelize: Sequelize,
  error: Error,
  subject: { readonly model?: ModelClass; readonly instance?: Model } = {},
): Error {
  return Object.assign(Object.create(queryPrototype(sequelize)), subject).formatError(
    error,
    new Error().stack,
  );
}

/**
 * The error of a foreign key whose row is not there for the request. It is that of a row which is not there at all, so that no
 * answer separates the two.
 */
export function missingReference({ model, attributes }: RecordInfo, attribute: string): DatabaseError {
  const { tableName: table } = constrainedModel(model);
  const constraint = `${table}_${attributes.get(attribute)?.column}_fkey`;
  const message = `insert or update on table "${table}" violates foreign key constraint "${constraint}"`;
  const details = { severity: 'ERROR', code: '23503', table, constraint, sql: '' };
  return new DatabaseError(Object.assign(new Error(message), details));
}

/** Sequelize's own text begins in the same way, and names no mend. @param finished the end of the transaction */
export function lateQuery(finished: string, sql: string): Error {
  const error = new Error(
    `${finished} has been called on this transaction before this query came: its unit of work is over. Put await before each call that ` +
      'belongs to a unit of work, or to a request.',
  );
  return survivable(Object.assign(error, { sql }));
}
