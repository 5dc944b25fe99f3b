/** The rows behind a relation of many parents at once: one statement, with a limit for each parent. */

import { describeRecords } from '../../describe/describe-model.js';
import type { AttributeInfo, RowKey } from '../../describe/model-info.js';
import type { Relation } from '../../describe/relations.js';
import { PARENT } from '../../operation/related-rows.js';
import type { Predicate, Slot } from '../../request/query/predicate.js';
import type { KeyTerm } from './keyset-sql.js';
import { attributeOf, compilePredicate, selectedColumn } from './predicate-sql.js';
import { countSql, orderTerm, type SelectionSql, type TableSql } from './select-sql.js';
import { keySql } from './sort-sql.js';
import {
  columnName,
  identifier,
  inlineSlot,
  joinSql,
  quotedTable,
  raw,
  type SqlFragment,
  sql,
} from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';

/** The keys of the parents, as the text of an array. */
export const KEYS: Slot = Object.freeze({ slot: 'keys' });

/** Names that no model has. */
const PARENTS = identifier('.parents');
const ROWS = identifier('.rows');
/** The place of a parent among the keys. */
const PLACE = raw(`${PARENTS}.n`);

/** The parents, by the column of their key. */
export interface ParentsSql {
  readonly table: string;
  readonly key: AttributeInfo;
}

/** Describes the parents of a relation. */
export function describeParents({ parent, parentKey }: Pick<Relation, 'parent' | 'parentKey'>): ParentsSql {
  return { table: quotedTable(parent), key: attributeOf(describeRecords(parent), parentKey) };
}

interface RelatedRowsSql {
  readonly parents: ParentsSql;
  /** The rows of the parent whose key is in the slot `parent`. */
  readonly where: Predicate;
}

/** Selection of the keys of related rows, with an order and a limit. */
interface RelatedKeysSql extends RelatedRowsSql {
  readonly order: readonly KeyTerm[];
  /** Rows of each parent; null is all of them. */
  readonly limit: number | null;
}

interface RelatedSql extends RelatedKeysSql {
  readonly selection: SelectionSql;
}

/**
 * Selects the first rows of each parent, parent by parent. The last column is the place of the parent among the keys, from 1, so
 * that no key is compared in JavaScript.
 */
export function compileRelated(table: TableSql, { selection, ...asked }: RelatedSql): Statement {
  return toStatement(selectRelated(table, asked, selection.attributes, (columns) => columns));
}

/** Selects the primary keys of the same rows as `key`, as `keyTextSql` has them, and the places as `place`. */
export function selectRelatedKeys(table: TableSql, asked: RelatedKeysSql): SqlFragment {
  return selectRelated(table, asked, table.info.primaryKey, (columns) => [
    sql`${keyTextSql(columns)} AS "key"`,
  ]);
}

/** The text of a key, of several columns the JSON array of their texts. */
export function keyTextSql(columns: readonly SqlFragment[]): SqlFragment {
  const [first, ...more] = columns.map(textSql);
  if (first && more.length === 0) return first;
  return sql`array_to_json(ARRAY[${joinSql(columns.map(textSql), ', ')}])::text`;
}

/** The texts of the columns of a key. @param text as `keyTextSql` makes it */
export function keyTexts(key: RowKey, text: string): readonly string[] {
  return key.length === 1 ? [text] : (JSON.parse(text) as string[]);
}

/** The text that the driver would read of a value. A cast writes a boolean otherwise. */
export function textSql(column: SqlFragment): SqlFragment {
  return sql`CASE WHEN ${column} IS NOT NULL THEN ${raw("format('%s', ")}${column}) END`;
}

/** Counts the rows of each parent as `count`, up to a limit. The second column is the place of the parent, from 1, as `place`. */
export function selectRelatedCounts(
  table: TableSql,
  { parents, where }: RelatedRowsSql,
  limit: number,
): SqlFragment {
  const counted = countSql(rowsOf(table, where), limit);
  return sql`SELECT ${raw(ROWS)}.c AS "count", ${PLACE} AS "place" FROM ${parentsSql(parents)} CROSS JOIN LATERAL (${counted}) AS ${raw(ROWS)}(c)`;
}

/** Clauses behind the columns of a SELECT of the rows of one parent. */
function rowsOf({ source, column }: TableSql, where: Predicate): SqlFragment {
  const condition = inlineSlot(compilePredicate(where, column), PARENT, raw(`${PARENTS}.k`));
  return sql` FROM ${source} WHERE ${condition}`;
}

/** A column with a value that rows are sorted by. No model has one of this name. */
function sortedColumn(index: number): SqlFragment {
  return raw(identifier(`.sorted ${index}`));
}

function selectRelated(
  table: TableSql,
  { parents, where, order, limit }: RelatedKeysSql,
  attributes: readonly AttributeInfo[],
  shownAs: (columns: readonly SqlFragment[]) => readonly SqlFragment[],
): SqlFragment {
  const { info, column } = table;
  const values = order.filter(({ value }) => value);
  const sorted = order.flatMap(({ attribute, value }) => (value ? [] : [attributeOf(info, attribute)]));
  const selected = [
    ...[...new Set([...attributes, ...sorted])].map(columnName),
    ...values.map((term, index) => sql`${keySql(term, column)} AS ${sortedColumn(index)}`),
  ];
  const within = order.map((term) => orderTerm(term, keySql(term, column)));
  const rows = sql`SELECT ${joinSql(selected, ', ')}${rowsOf(table, where)} ORDER BY ${joinSql(within, ', ')}`;
  const shown = shownAs(attributes.map((each) => sql`${raw(ROWS)}.${selectedColumn(each)}`));
  // PostgreSQL promises no order of a join, whatever its parts have.
  const around = order.map((term) => {
    const found = term.value
      ? sortedColumn(values.indexOf(term))
      : columnName(attributeOf(info, term.attribute));
    return orderTerm(term, sql`${raw(ROWS)}.${found}`);
  });
  const columns = joinSql([...shown, sql`${PLACE} AS "place"`], ', ');
  const limited = sql`${rows} LIMIT ${raw(String(limit ?? 'ALL'))}`;
  return sql`SELECT ${columns} FROM ${parentsSql(parents)} CROSS JOIN LATERAL (${limited}) AS ${raw(
    ROWS,
  )} ORDER BY ${joinSql([PLACE, ...around], ', ')}`;
}

/**
 * Selects the one row of each parent, in no order, where the parents have its primary key. PostgreSQL finds all keys in one
 * scan of the index. The last column is the key.
 */
export function compileByKey(
  { info, source, column }: TableSql,
  { parents, where, selection: { attributes } }: Pick<RelatedSql, 'parents' | 'where' | 'selection'>,
  key: string,
): Statement {
  const columns = [...attributes, attributeOf(info, key)].map(selectedColumn);
  const any = sql`ANY(${typedKeys(parents)})`;
  const condition = inlineSlot(compilePredicate(where, column), PARENT, any);
  return toStatement(sql`SELECT ${joinSql(columns, ', ')} FROM ${source} WHERE ${condition}`);
}

function parentsSql(parents: ParentsSql): SqlFragment {
  return sql`unnest(${typedKeys(parents)}) WITH ORDINALITY AS ${raw(PARENTS)}(k, n)`;
}

/** The keys. The array gets the type of the parents' column; the SELECT in it is never executed. */
function typedKeys({ table, key }: ParentsSql): SqlFragment {
  return sql`CASE WHEN false THEN ARRAY(SELECT ${columnName(key)} FROM ${raw(table)}) ELSE ${KEYS} END`;
}
