/**
 * A parameter of an UPDATE that is both written and compared. PostgreSQL gives it one type, which it takes from the first
 * place it meets; where the two places ask for different ones (a `varchar` is compared as `text`) that is an error
 * (42P08), so the type is written down.
 */
import type { ColumnType } from '../model/column-type.js';

/** PostgreSQL stores `real` up to here. */
const REAL_MAXIMUM = 3.5e38;

/** The parameter as the value of a column. */
export function parameterSql(type: ColumnType, position: number): string {
  if (type.kind === 'float') return `$${position}::${type.maximum < REAL_MAXIMUM ? 'real' : 'float8'}`;
  return `$${position}${CASTS[type.kind] ?? ''}`;
}

/**
 * Whether the column has another value than the parameter, as Sequelize sees it: texts, decimals and times by how they
 * are written, moments by their milliseconds.
 */
export function changedSql(type: ColumnType, column: string, position: number): string {
  switch (type.kind) {
    case 'string':
    case 'decimal':
    case 'time':
      return `${column}::text IS DISTINCT FROM $${position}::text`;
    case 'date':
      return `date_trunc('milliseconds', ${column}) IS DISTINCT FROM $${position}::timestamptz`;
    case 'json':
      return `${column}::jsonb IS DISTINCT FROM $${position}::text::jsonb`;
    default:
      return `${column} IS DISTINCT FROM ${parameterSql(type, position)}`;
  }
}

/** Of other kinds the two places agree. */
const CASTS: Readonly<Partial<Record<ColumnType['kind'], string>>> = {
  string: '::text',
  decimal: '::text::numeric',
  time: '::text::time',
  date: '::timestamptz',
  json: '::text::json',
  integer: '::integer',
  bigint: '::bigint',
  boolean: '::boolean',
  uuid: '::uuid',
  dateonly: '::date',
};
