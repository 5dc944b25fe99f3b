/** Statements that read the rows of one table. */
import type { KeyTerm } from './keyset-sql.js';
import { identifier, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';
import type { TableSql } from './table-sql.js';

/** Parts of a SELECT from a table. */
export interface RowsSql {
  readonly columns: readonly SqlFragment[];
  /** All must hold. */
  readonly conditions: readonly SqlFragment[];
  readonly order?: readonly KeyTerm[];
  /** Clause behind the order, such as a limit. */
  readonly tail?: SqlFragment;
  /** Counts the rows, up to this many, and selects nothing of them. */
  readonly countTo?: number;
}

/** Selects rows, or something else of them, such as their number. */
export function compileSelect({ source, column }: TableSql, rows: RowsSql): Statement {
  const { columns, conditions, order = [], tail = raw(''), countTo } = rows;
  const from = sql` FROM ${source}${whereSql(conditions)}`;
  if (countTo !== undefined) return toStatement(countSql(from, countTo));
  const keys = order.map((term) => orderTerm(term, column(term.attribute)));
  const orderBy = keys.length === 0 ? raw('') : sql` ORDER BY ${joinSql(keys, ', ')}`;
  return toStatement(sql`SELECT ${joinSql(columns, ', ')}${from}${orderBy}${tail}`);
}

/**
 * Counts rows, without an order. A limit is inside, so that no more rows than that are looked at.
 *
 * @param from what follows the columns of a SELECT
 * @param limit `Infinity` counts all
 */
export function countSql(from: SqlFragment, limit: number): SqlFragment {
  if (limit === Number.POSITIVE_INFINITY) return sql`SELECT count(*)${from}`;
  return sql`SELECT count(*) FROM (SELECT 1${from} LIMIT ${raw(String(limit))}) AS ${raw(COUNTED)}`;
}

/** A name that no model has. */
const COUNTED = identifier('.counted');

/** One column of an order. */
export function orderTerm({ descending }: Pick<KeyTerm, 'descending'>, column: SqlFragment): SqlFragment {
  return descending ? sql`${column} DESC` : column;
}

/** The rows for which all conditions hold. */
export function whereSql(conditions: readonly SqlFragment[]): SqlFragment {
  const [first, second] = conditions;
  if (first === undefined) return raw('');
  if (second === undefined) return sql` WHERE ${first}`;
  const each = conditions.map((condition) => sql`(${condition})`);
  return sql` WHERE ${joinSql(each, ' AND ')}`;
}
