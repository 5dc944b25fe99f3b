/** What Sequelize makes of an error of the driver: its own class for each kind of constraint. */
import type { Model, Sequelize } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import { queryPrototype } from '../../model/sequelize-internals.js';

/** What a query was about. */
export interface QuerySubject {
  readonly model?: ModelClass;
  readonly instance?: Model;
}

/** The error that a query of Sequelize's would have failed with. */
export function toSequelizeError(sequelize: Sequelize, error: Error, subject: QuerySubject = {}): Error {
  return Object.assign(Object.create(queryPrototype(sequelize)), subject).formatError(
    error,
    new Error().stack,
  );
}
