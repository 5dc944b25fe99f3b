/** Statements that read the rows of one table. */
import type { KeyTerm } from './keyset-sql.js';
import { joinSql, raw, renderSql, type SqlFragment, sql } from './sql-fragment.js';
import type { TableSql } from './table-sql.js';

/** A text with numbered parameters, and their values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** What is asked of a table. */
export interface Selection {
  /** More columns than those that rows are read with. */
  readonly more?: readonly SqlFragment[];
  /** All must hold. */
  readonly conditions: readonly SqlFragment[];
  readonly order?: readonly KeyTerm[];
  /** What follows the order, such as a limit. */
  readonly tail?: SqlFragment;
}

/** Selects rows. */
export function selectRows(table: TableSql, selection: Selection): Statement {
  const columns = joinSql([raw(table.columns), ...(selection.more ?? [])], ', ');
  return select(table, columns, selection);
}

/** Selects something else of the rows, such as their number. */
export function select(table: TableSql, columns: SqlFragment, selection: Selection): Statement {
  const { conditions, order, tail } = selection;
  const whole = joinSql(
    [
      sql`SELECT ${columns} FROM ${raw(`${table.table} AS ${table.alias}`)}`,
      where(table, conditions),
      ...(order ? [orderBy(table, order)] : []),
      ...(tail ? [tail] : []),
    ],
    '',
  );
  return { text: renderSql(whole, (_, index) => `$${index + 1}`), values: whole.values };
}

function where({ alive }: TableSql, conditions: readonly SqlFragment[]): SqlFragment {
  const all = [...(alive === null ? [] : [alive]), ...conditions.map((each) => sql`(${each})`)];
  return all.length === 0 ? raw('') : sql` WHERE ${joinSql(all, ' AND ')}`;
}

function orderBy({ column }: TableSql, terms: readonly KeyTerm[]): SqlFragment {
  const keys = terms.map(({ attribute, descending }) =>
    descending ? sql`${column(attribute)} DESC` : column(attribute),
  );
  return sql` ORDER BY ${joinSql(keys, ', ')}`;
}
