/** The rows behind a relation of many parents at once: one statement, with a limit for each parent. */

import { describeRecords } from '../../describe/describe-model.js';
import type { AttributeInfo, RowKey } from '../../describe/model-info.js';
import { parentKeys, type Relation } from '../../describe/relations.js';
import { PARENT, parentSlot } from '../../operation/related-rows.js';
import type { Predicate, Slot } from '../../request/query/predicate.js';
import { arrayLiteral } from './encode-parameter.js';
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
import { type Slots, type Statement, toStatement } from './statement.js';

/** The values of one attribute of the parents' keys, as the text of an array. */
const keysSlot = (index: number): Slot => ({ slot: `keys.${index}` });

/** Fills the slots of the keys of parents. @param literal writes the text of an array. Default: with quotes */
export function keysOfParents(
  { keys }: ParentsSql,
  texts: readonly string[],
  literal: (texts: readonly string[]) => string = arrayLiteral,
): Slots {
  const parts = texts.map((text) => keyTexts(keys, text));
  return Object.fromEntries(
    keys.map((_, index) => [
      keysSlot(index).slot,
      literal(keys.length === 1 ? texts : parts.map((part) => part[index] as string)),
    ]),
  );
}

/** Names that no model has. */
const PARENTS = identifier('.parents');
const ROWS = identifier('.rows');
/** The place of a parent among the keys. */
const PLACE = raw(`${PARENTS}.n`);

/** The parents, by the columns of their key. */
export interface ParentsSql {
  readonly table: string;
  readonly keys: RowKey;
}

/** Describes the parents of a relation. */
export function describeParents(relation: Relation): ParentsSql {
  const info = describeRecords(relation.parent);
  return {
    table: quotedTable(relation.parent),
    keys: parentKeys(relation).map((name) => attributeOf(info, name)),
  };
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

/** Selects the first rows of one parent: PostgreSQL keeps a plan for it. */
export function compileOfOne(
  table: TableSql,
  { selection: { attributes }, parents, where, order, limit }: RelatedSql,
): Statement {
  const columns = joinSql(attributes.map(selectedColumn), ', ');
  const rows = rowsOf(table, parents, where, (index) => sql`(${typedKeys(parents, index)})[1]`);
  const terms = order.map((term) => orderTerm(term, keySql(term, table.column)));
  return toStatement(
    sql`SELECT ${columns}${rows} ORDER BY ${joinSql(terms, ', ')} LIMIT ${raw(String(limit ?? 'ALL'))}`,
  );
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
  const counted = countSql(rowsOf(table, parents, where), limit);
  return sql`SELECT ${raw(ROWS)}.c AS "count", ${PLACE} AS "place" FROM ${parentsSql(parents)} CROSS JOIN LATERAL (${counted}) AS ${raw(ROWS)}(c)`;
}

/** Clauses behind the columns of a SELECT of the rows of one parent. */
function rowsOf(
  { source, column }: TableSql,
  { keys }: ParentsSql,
  where: Predicate,
  keyAt: (index: number) => SqlFragment = keyOfParent,
): SqlFragment {
  const condition = keys.reduce(
    (found, _, index) => inlineSlot(found, parentSlot(index), keyAt(index)),
    compilePredicate(where, column),
  );
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
  const rows = sql`SELECT ${joinSql(selected, ', ')}${rowsOf(table, parents, where)} ORDER BY ${joinSql(within, ', ')}`;
  const shown = shownAs(attributes.map((each) => sql`${raw(ROWS)}.${selectedColumn(each)}`));
  // PostgreSQL promises no order of a join, also where its parts have one.
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
  const any = sql`ANY(${typedKeys(parents, 0)})`;
  const condition = inlineSlot(compilePredicate(where, column), PARENT, any);
  return toStatement(sql`SELECT ${joinSql(columns, ', ')} FROM ${source} WHERE ${condition}`);
}

function keyOfParent(index: number): SqlFragment {
  return raw(`${PARENTS}.k${index}`);
}

function parentsSql(parents: ParentsSql): SqlFragment {
  const arrays = parents.keys.map((_, index) => typedKeys(parents, index));
  const names = parents.keys.map((_, index) => raw(`k${index}`));
  return sql`unnest(${joinSql(arrays, ', ')}) WITH ORDINALITY AS ${raw(PARENTS)}(${joinSql(names, ', ')}, n)`;
}

/** The keys. The array gets the type of the parents' column; the SELECT in it is never executed. */
function typedKeys({ table, keys }: ParentsSql, index: number): SqlFragment {
  const column = columnName(keys[index] as AttributeInfo);
  return sql`CASE WHEN false THEN ARRAY(SELECT ${column} FROM ${raw(table)}) ELSE ${keysSlot(index)} END`;
}
