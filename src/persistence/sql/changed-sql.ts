/** Whether an UPDATE would change a column, as Sequelize sees it. */
import type { ColumnType } from '../../model/column-type.js';

/**
 * The condition that the column has another value than the parameter: texts, numbers of any length and times by how they
 * are written, floats by the number that JavaScript reads, moments by their milliseconds. The parameter must not be the one
 * that is written: PostgreSQL gives each of them one type, which the two places may not agree on (42P08).
 */
export function changedSql(type: ColumnType, column: string, parameter: string): string {
  switch (type.kind) {
    case 'string':
    case 'bigint':
    case 'decimal':
    case 'time':
      return `${column}::text IS DISTINCT FROM ${parameter}::text`;
    case 'float':
      return `${column}::text::float8 IS DISTINCT FROM ${parameter}::float8`;
    case 'date':
      return `date_trunc('milliseconds', ${column}) IS DISTINCT FROM ${parameter}::timestamptz`;
    case 'json':
      return `${column}::jsonb IS DISTINCT FROM ${parameter}::jsonb`;
    case 'array':
      return isWritten(type.element)
        ? `${column}::text[] IS DISTINCT FROM ${parameter}::text[]`
        : `${column} IS DISTINCT FROM ${parameter}`;
    default:
      return `${column} IS DISTINCT FROM ${parameter}`;
  }
}

/** Types of which several texts are one value to PostgreSQL, and not to Sequelize. */
function isWritten(element: ColumnType): boolean {
  if (element.kind === 'array') return isWritten(element.element);
  return element.kind === 'bigint' || element.kind === 'decimal' || element.kind === 'time';
}
