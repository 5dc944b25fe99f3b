/** The values of orders that are no columns. */
import type { SortValue } from '../../compile/resource-plan.js';
import { type ColumnSql, jsonTextSql } from './predicate-sql.js';
import { type SqlFragment, sql } from './sql-fragment.js';

/** Writes the SQL of a value. @param attribute that the term names */
export function valueSql(attribute: string, value: SortValue, column: ColumnSql): SqlFragment {
  switch (value.kind) {
    case 'lower':
      return sql`lower(${column(attribute)})`;
    case 'json':
      // In any other collation than that of the bytes, an index would depend on the locale of the database.
      return sql`${jsonTextSql(value.attribute, value.path, column)} COLLATE "C"`;
  }
}
