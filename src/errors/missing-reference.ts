/** PostgreSQL's error for a foreign key without a row. */
import { DatabaseError } from 'sequelize';
import type { RecordInfo } from '../describe/model-info.js';
import { constrainedModel } from '../describe/sequelize-internals.js';

/**
 * The error of a foreign key whose row is not there for the request. It is that of a row which is not there at all, so that no
 * answer tells the two apart.
 */
export function missingReference({ model, attributes }: RecordInfo, attribute: string): DatabaseError {
  const { tableName: table } = constrainedModel(model);
  const constraint = `${table}_${attributes.get(attribute)?.column}_fkey`;
  const message = `insert or update on table "${table}" violates foreign key constraint "${constraint}"`;
  const details = { severity: 'ERROR', code: '23503', table, constraint, sql: '' };
  return new DatabaseError(Object.assign(new Error(message), details));
}
