/** The table of a model as statements name it, its selections and lists, and the SELECTs that read its rows. */

import { followsRelation, isOfAttribute } from '../../compile/compile-sort.js';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ColumnKind } from '../../describe/column-type.js';
import type { AttributeInfo, ModelInfo, RecordInfo } from '../../describe/model-info.js';
import type { Selection } from '../../operation/operation.js';
import { type KeyTerm, keyTerms } from './keyset-sql.js';
import { attributeOf, type ColumnSql, columnsOf, selectedColumn } from './predicate-sql.js';
import { directionSql, joinOrder, keySql } from './sort-sql.js';
import { identifier, joinSql, quotedTable, raw, type SqlFragment, sql, tableSource } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';

/** A model's table, as statements name it. */
export interface TableSql {
  readonly info: ModelInfo;
  /** With the schema, quoted. */
  readonly name: string;
  /** The table with the name that it has in a statement: the model's, as in Sequelize's. */
  readonly source: SqlFragment;
  readonly column: ColumnSql;
}

/** Describes the table of a model. */
export function describeTable(info: ModelInfo): TableSql {
  const name = quotedTable(info.model);
  const source = tableSource(info, info.name);
  return Object.freeze({ info, name, source, column: columnsOf(info, info.name) });
}

/** Selected columns of the rows. */
export interface SelectionSql {
  /** No other selection of the table has it. */
  readonly number: number;
  readonly attributes: readonly AttributeInfo[];
  /** Their columns. No other table is in the query, so they need no qualification. */
  readonly columns: readonly SqlFragment[];
}

/** Describes a selection of a model's columns. */
export function describeSelection({ info }: TableSql, { columns }: Selection, number: number): SelectionSql {
  const attributes = columns.map((name) => attributeOf(info, name));
  return { number, attributes, columns: attributes.map(selectedColumn) };
}

/** Columns whose text in a result is the one of `::text`. */
const SELF_TEXT: ReadonlySet<ColumnKind> = new Set([
  'integer',
  'bigint',
  'decimal',
  'float',
  'date',
  'dateonly',
  'time',
  'uuid',
]);

/** A selection in an order. */
export interface ListSql {
  readonly number: number;
  readonly selection: SelectionSql;
  /** The total order. */
  readonly terms: readonly KeyTerm[];
  /** Tables that have values of the order. */
  readonly joins: readonly SqlFragment[];
  /** The values that rows are sorted by, where they are not selected as such. */
  readonly keyColumns: readonly SqlFragment[];
  /** Where each of the values that rows are sorted by is found in a row: the key columns follow the selected ones. */
  readonly keyPositions: readonly number[];
}

/** Describes a list. */
export function describeList(
  { info, column }: TableSql,
  selection: SelectionSql,
  order: readonly SortTerm[],
  number: number,
): ListSql {
  const { attributes } = selection;
  const found = keyTerms(info, order);
  const joined = followsRelation(order) ? joinOrder(found, column) : null;
  const terms = joined ? found.map((term) => ({ ...term, ...joined.places.get(term) })) : found;
  const keyColumns: SqlFragment[] = [];
  const keyPositions = terms.map((term) => {
    const known = attributes.findIndex(
      ({ name, type }) => isOfAttribute(term, name) && SELF_TEXT.has(type.kind),
    );
    if (known >= 0) return known;
    return attributes.length + keyColumns.push(sql`${keySql(term, column)}::text`) - 1;
  });
  return { number, selection, terms, joins: joined?.joins ?? [], keyColumns, keyPositions };
}

/** Parts of a SELECT from a table. */
export interface RowsSql {
  readonly columns: readonly SqlFragment[];
  /** All must hold. */
  readonly conditions: readonly SqlFragment[];
  readonly order?: readonly KeyTerm[];
  /** Clause behind the order, such as a limit. */
  readonly tail?: SqlFragment;
  /** Other tables, which change nothing about which rows there are. They are no part of a count. */
  readonly joins?: readonly SqlFragment[];
  /** Counts the rows, up to this many, and selects nothing of them. */
  readonly countTo?: number;
  /** Selects these attributes from as many of the rows, in any order. Default: from all. */
  readonly among?: { readonly limit: number; readonly attributes: readonly AttributeInfo[] } | undefined;
}

/** Selects rows, or something else of them, such as their number. */
export function compileSelect(table: TableSql, rows: RowsSql): Statement {
  const { source, column } = table;
  const { columns, conditions, order = [], tail = raw(''), joins = [], countTo, among } = rows;
  const where = whereSql(conditions);
  if (countTo !== undefined) return toStatement(countSql(sql` FROM ${source}${where}`, countTo));
  const from = among
    ? sql` FROM (${someOf(table, where, order, among)}) AS ${raw(identifier(table.info.name))}`
    : sql` FROM ${joinSql([source, ...joins], '')}${where}`;
  const keys = order.map((term) => orderTerm(term, keySql(term, column)));
  const orderBy = keys.length === 0 ? raw('') : sql` ORDER BY ${joinSql(keys, ', ')}`;
  return toStatement(sql`SELECT ${joinSql(columns, ', ')}${from}${orderBy}${tail}`);
}

/** The order of a list by a value that is computed for some of its rows: the number of these; undefined for any other order. */
export function rankedOf(terms: readonly SortTerm[]): number | undefined {
  const [value] = terms.flatMap((term) => (term.value?.kind === 'rank' ? term.value : []));
  return value?.among;
}

/** Some of the rows, with the columns that they are selected and sorted by. Found again by their keys, each would be read twice. */
function someOf(
  { source, column }: TableSql,
  where: SqlFragment,
  order: readonly KeyTerm[],
  { limit, attributes }: Required<RowsSql>['among'] & object,
): SqlFragment {
  const used = new Map<unknown, SqlFragment>();
  const use: ColumnSql = (name, on) => {
    const found = column(name, on);
    used.set(found.texts[0], found);
    return found;
  };
  for (const { name } of attributes) use(name);
  for (const term of order) keySql(term, use);
  return sql`SELECT ${joinSql([...used.values()], ', ')} FROM ${source}${where} LIMIT ${raw(String(limit))}`;
}

/** True in SQL for the rows of some conditions that a clause leaves, such as a limit. */
export function firstOf(
  { info, source, column }: Pick<TableSql, 'source' | 'column'> & { readonly info: RecordInfo },
  conditions: readonly SqlFragment[],
  tail: SqlFragment,
): SqlFragment {
  const key = joinSql(
    info.primaryKey.map(({ name }) => column(name)),
    ', ',
  );
  return sql`(${key}) IN (SELECT ${key} FROM ${source}${whereSql(conditions)}${tail})`;
}

/**
 * Counts rows, without an order. A limit is inside, so that no more rows than that are read.
 *
 * @param from the text behind the columns of a SELECT
 * @param limit `Infinity` counts all
 */
export function countSql(from: SqlFragment, limit: number): SqlFragment {
  if (limit === Number.POSITIVE_INFINITY) return sql`SELECT count(*)${from}`;
  return sql`SELECT count(*) FROM (SELECT 1${from} LIMIT ${raw(String(limit))}) AS ${raw(COUNTED)}`;
}

/** A name that no model has. */
const COUNTED = identifier('.counted');

/** One column of an order. */
export function orderTerm(term: KeyTerm, column: SqlFragment): SqlFragment {
  const direction = directionSql(term);
  return direction === '' ? column : sql`${column}${raw(direction)}`;
}

/** The rows for which all conditions hold. */
export function whereSql(conditions: readonly SqlFragment[]): SqlFragment {
  const [first, second] = conditions;
  if (first === undefined) return raw('');
  if (second === undefined) return sql` WHERE ${first}`;
  const each = conditions.map((condition) => sql`(${condition})`);
  return sql` WHERE ${joinSql(each, ' AND ')}`;
}
