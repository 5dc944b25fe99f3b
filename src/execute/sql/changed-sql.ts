/** Compiles the test for a change of a column by an UPDATE, as Sequelize detects one. */
import type { ColumnType } from '../../describe/column-type.js';
import type { Value } from '../../request/query/predicate.js';
import { type SqlFragment, sql } from './sql-fragment.js';

/**
 * The condition that the column has another value: texts, numbers of any length and times by how they are written, floats by
 * the number that JavaScript reads, moments by their milliseconds.
 */
export function changedSql(type: ColumnType, column: SqlFragment, value: Value | SqlFragment): SqlFragment {
  switch (type.kind) {
    case 'string':
    case 'bigint':
    case 'decimal':
    case 'time':
      return sql`${column}::text IS DISTINCT FROM ${value}::text`;
    case 'float':
      return sql`${column}::text::float8 IS DISTINCT FROM ${value}::float8`;
    case 'date':
      if (type.zone !== undefined) return sql`${column} IS DISTINCT FROM ${value}::timestamp`;
      return sql`date_trunc('milliseconds', ${column}) IS DISTINCT FROM ${value}::timestamptz`;
    case 'json':
      // An answer has null for both NULL and the null of JSON.
      return sql`coalesce(${column}::jsonb, 'null') IS DISTINCT FROM coalesce(${value}::jsonb, 'null')`;
    case 'array':
      // As JSON, an array has no bounds, which answers do not show either.
      return isWritten(type.element)
        ? sql`to_jsonb(${column}::text[]) IS DISTINCT FROM to_jsonb(${value}::text[])`
        : sql`to_jsonb(${column}) IS DISTINCT FROM to_jsonb(CASE WHEN false THEN ${column} ELSE ${value} END)`;
    default:
      return sql`${column} IS DISTINCT FROM ${value}`;
  }
}

/**
 * The value that an UPDATE writes. A moment of a body has milliseconds, as answers have: where the column has the same, its
 * microseconds stay. So do the null of JSON, and the bounds of an array.
 */
export function writtenSql(type: ColumnType, column: SqlFragment, value: Value | SqlFragment): SqlFragment {
  // A column without a zone is shown with all digits.
  if (!['date', 'json', 'array'].includes(type.kind) || (type.kind === 'date' && type.zone !== undefined))
    return sql`${value}`;
  return sql`CASE WHEN ${changedSql(type, column, value)} THEN ${value} ELSE ${column} END`;
}

/** Types of which several texts are one value to PostgreSQL, and not to Sequelize. */
function isWritten(element: ColumnType): boolean {
  if (element.kind === 'array') return isWritten(element.element);
  return element.kind === 'bigint' || element.kind === 'decimal' || element.kind === 'time';
}
