/** Converts an error of the driver to the one that Sequelize throws. */
import { DatabaseError, type Model, type Sequelize } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import { queryPrototype } from '../describe/sequelize-internals.js';

/** As Sequelize's own reads tell a failure: with the statement. Several may share what ended their connection. */
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
