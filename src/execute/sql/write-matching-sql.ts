/** Statements that write all rows of a predicate, up to a number of them; where there are more, nothing is written. */
import type { AttributeInfo } from '../../describe/model-info.js';
import type { Predicate, Slot } from '../../request/query/predicate.js';
import { attributeOf, compilePredicate } from './predicate-sql.js';
import { whereSql } from './select-sql.js';
import { identifier, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';
import type { TableSql } from './table-sql.js';
import { assignChanged, assignNow, differsSql, type Stamps, stampsSql } from './write-sql.js';

/** Maximum number of rows that may be written. */
export const MAXIMUM: Slot = Object.freeze({ slot: 'many.maximum' });

/** Names that no model has. */
const FOUND = raw(identifier('.found'));
const JUDGED = raw(identifier('.judged'));
const WRITTEN = raw(identifier('.written'));

/** An UPDATE of all rows of a predicate. */
export interface UpdateMatchingSql {
  readonly set: readonly AttributeInfo[];
  readonly stamps: Stamps;
  /** Null is every row. */
  readonly where: Predicate | null;
  /** Rows that have to be there. */
  readonly references: readonly Predicate[];
  /** True where a row that has the values already is written, too. Default: false. */
  readonly always?: boolean | undefined;
}

/** Changes rows; only one that differs is written. The columns: how many were found, up to one too many, how many were written, and whether each reference is there. */
export function compileUpdateMatching(table: TableSql, update: UpdateMatchingSql): Statement {
  const { source, column } = table;
  const { set, stamps, where, references, always } = update;
  if (set.length === 0) return writeMatching(table, where, references, 'NO KEY UPDATE', null);
  const assignments = set.map((each) => assignChanged(each, column));
  const all = joinSql([...assignments, ...stampsSql(stamps, column)], ', ');
  return writeMatching(table, where, references, 'NO KEY UPDATE', {
    head: sql`UPDATE ${source} SET ${all} FROM ${FOUND}`,
    conditions: [differsSql(set, column, always)],
  });
}

/** Deletes rows, or marks them as deleted. The columns are the same. */
export function compileDeleteMatching(
  table: TableSql,
  where: Predicate | null,
  mark: string | null,
): Statement {
  const { info, source } = table;
  const head =
    mark === null
      ? sql`DELETE FROM ${source} USING ${FOUND}`
      : sql`UPDATE ${source} SET ${assignNow(attributeOf(info, mark))} FROM ${FOUND}`;
  const lock = mark === null ? 'UPDATE' : 'NO KEY UPDATE';
  return writeMatching(table, where, [], lock, { head, conditions: [] });
}

function writeMatching(
  { info, source, column }: TableSql,
  where: Predicate | null,
  references: readonly Predicate[],
  lock: 'UPDATE' | 'NO KEY UPDATE',
  write: { readonly head: SqlFragment; readonly conditions: readonly SqlFragment[] } | null,
): Statement {
  const key = column(info.primaryKey.name);
  const conditions = whereSql(where === null ? [] : [compilePredicate(where, column)]);
  // Two statements that lock the same rows do so in one order.
  const rows = sql`SELECT ${key} AS k FROM ${source}${conditions} ORDER BY ${key} LIMIT ${MAXIMUM}::int8 + 1 FOR ${raw(lock)} OF ${raw(identifier(info.name))}`;
  const marks = references.map(
    (each, index) => sql`${compilePredicate(each, column)} AS ${raw(`r${index}`)}`,
  );
  const judged = sql`SELECT ${joinSql([raw('count(*) AS found'), ...marks], ', ')} FROM ${FOUND}`;
  const shown = joinSql(
    references.map((_, index) => raw(`, r${index}`)),
    '',
  );
  const tables = sql`WITH ${FOUND} AS MATERIALIZED (${rows}), ${JUDGED} AS MATERIALIZED (${judged})`;
  if (!write) return toStatement(sql`${tables} SELECT found, 0${shown} FROM ${JUDGED}`);
  const may = joinSql(
    [sql`found <= ${MAXIMUM}::int8`, ...references.map((_, index) => raw(`r${index}`))],
    ' AND ',
  );
  const written = whereSql([
    sql`${key} = ${FOUND}.k`,
    sql`(SELECT ${may} FROM ${JUDGED})`,
    ...write.conditions,
  ]);
  return toStatement(
    sql`${tables}, ${WRITTEN} AS (${write.head}${written} RETURNING 1) SELECT found, (SELECT count(*) FROM ${WRITTEN})${shown} FROM ${JUDGED}`,
  );
}
