/** What Sequelize makes of an error of the driver: its own class for each kind of constraint. */
import type { Model, Sequelize } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';

/** Internals of Sequelize that are not in its types. */
interface Dialected {
  readonly dialect: {
    readonly Query: { readonly prototype: { formatError(error: Error, stack?: string): Error } };
  };
}

/** What a query was about. */
export interface QuerySubject {
  readonly model?: ModelClass;
  readonly instance?: Model;
}

/** The error that a query of Sequelize's would have failed with. */
export function toSequelizeError(sequelize: Sequelize, error: Error, subject: QuerySubject = {}): Error {
  const { Query } = (sequelize as unknown as Dialected).dialect;
  return Object.assign(Object.create(Query.prototype), subject).formatError(error, new Error().stack);
}
