/** The rows behind a relation of many parents at once: one statement, with a limit for each parent. */
import type { AttributeInfo } from '../../model/model-info.js';
import type { Predicate, Slot } from '../../operation/operation.js';
import { PARENT } from '../../operation/related-rows.js';
import type { KeyTerm } from './keyset-sql.js';
import { attributeOf, compilePredicate } from './predicate-sql.js';
import { orderTerm } from './select-sql.js';
import { columnName, identifier, inlineSlot, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';
import type { SelectionSql, TableSql } from './table-sql.js';

/** The keys of the parents, as the text of an array. */
export const KEYS: Slot = Object.freeze({ slot: 'keys' });

/** Names that no model has. */
const PARENTS = identifier('.parents');
const ROWS = identifier('.rows');

/** The parents, by the column of their key. */
export interface ParentsSql {
  readonly table: string;
  readonly key: AttributeInfo;
}

/** What is asked of a relation. */
export interface RelatedSql {
  readonly parents: ParentsSql;
  /** The rows of the parent whose key is in the slot `parent`. */
  readonly where: Predicate;
  readonly selection: SelectionSql;
  readonly order: readonly KeyTerm[];
  /** Rows of each parent. */
  readonly limit: number;
}

/**
 * Selects the first rows of each parent, parent by parent. The last column tells the place of the parent among the keys, from 1, so
 * that no key is compared in JavaScript.
 */
export function compileRelated(
  { info, source, column }: TableSql,
  { parents, where, selection: { attributes }, order, limit }: RelatedSql,
): Statement {
  const sorted = order.map(({ attribute }) => attributeOf(info, attribute));
  const selected = [...new Set([...attributes, ...sorted])].map(columnName);
  const condition = inlineSlot(compilePredicate(where, column), PARENT, raw(`${PARENTS}.k`));
  const within = order.map((term) => orderTerm(term, column(term.attribute)));
  const rows = sql`SELECT ${joinSql(selected, ', ')} FROM ${source} WHERE ${condition} ORDER BY ${joinSql(within, ', ')}`;
  const place = raw(`${PARENTS}.n`);
  const shown = attributes.map((each) => sql`${raw(ROWS)}.${columnName(each)}`);
  // PostgreSQL promises no order of a join, whatever its parts have.
  const around = order.map((term, index) =>
    orderTerm(term, sql`${raw(ROWS)}.${columnName(sorted[index] as AttributeInfo)}`),
  );
  return toStatement(
    sql`SELECT ${joinSql([...shown, place], ', ')} FROM ${parentsSql(parents)} CROSS JOIN LATERAL (${rows} LIMIT ${raw(
      String(limit),
    )}) AS ${raw(ROWS)} ORDER BY ${joinSql([place, ...around], ', ')}`,
  );
}

/**
 * Selects the one row of each parent, in no order, where the parents have its primary key. PostgreSQL looks up all keys in one
 * scan of the index. The last column is the key.
 */
export function compileByKey(
  { info, source, column }: TableSql,
  { parents, where, selection: { attributes } }: Pick<RelatedSql, 'parents' | 'where' | 'selection'>,
  key: string,
): Statement {
  const columns = [...attributes, attributeOf(info, key)].map(columnName);
  const any = sql`ANY(${typedKeys(parents)})`;
  const condition = inlineSlot(compilePredicate(where, column), PARENT, any);
  return toStatement(sql`SELECT ${joinSql(columns, ', ')} FROM ${source} WHERE ${condition}`);
}

/** The keys as rows. */
function parentsSql(parents: ParentsSql): SqlFragment {
  return sql`unnest(${typedKeys(parents)}) WITH ORDINALITY AS ${raw(PARENTS)}(k, n)`;
}

/** The keys. The array gets the type of the parents' column; the SELECT in it is never executed. */
function typedKeys({ table, key }: ParentsSql): SqlFragment {
  return sql`CASE WHEN false THEN ARRAY(SELECT ${columnName(key)} FROM ${raw(table)}) ELSE ${KEYS} END`;
}
