/**
 * Values of many rows as parameters: an array for each column, so that one text serves any number of rows. The arrays get their
 * types from the columns of the table; the SELECT that shows a type is never executed.
 */
import type { ColumnType } from '../../describe/column-type.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import type { Slot } from '../../request/query/predicate.js';
import { keptIn } from '../../util/memo.js';
import {
  arrayLiteral,
  intoCells,
  type PlacedColumn,
  type RowCells,
  type RowEncoder,
  type RowShape,
  type WriteValues,
  type WrittenAttribute,
} from './encode-parameter.js';
import type { ColumnSql } from './predicate-sql.js';
import type { TableSql } from './select-sql.js';
import { columnName, identifier, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';

/** The identifier of the sequence that makes a part of keys, by its place. */
export const sequenceSlot = (part: number): Slot => ({ slot: `many.sequence.${part}` });
/** A part of the keys of the rows that are changed, by its place. */
export const keysSlot = (part: number): Slot => ({ slot: `many.keys.${part}` });

/** The states that rows must have, NULL is any. */
export const STATES: Slot = Object.freeze({ slot: 'many.states' });

/** True for each row that counts as changed. */
export const TOUCHED: Slot = Object.freeze({ slot: 'many.touched' });

/** A column of values. */
export interface GivenColumn {
  readonly attribute: WrittenAttribute;
  /** True where some rows have no value for it. Default: none lacks one. */
  readonly isPartial?: boolean;
}

/** Types that only PostgreSQL understands, of whose arrays the members are separated by commas. */
const LISTED: ReadonlySet<string> = new Set(['HSTORE', 'TSVECTOR']);

/** True where values of the type can be sent as columns. */
export function isBindable(type: ColumnType): boolean {
  if (type.kind === 'array') return type.element.kind !== 'array' && isBindable(type.element);
  if (type.kind === 'other') return LISTED.has(type.sqlType);
  return type.kind !== 'virtual' && type.kind !== 'named' && type.kind !== 'hstore';
}

/** The arrays of a group of rows, in slots. Those of an array column are joined; `first` and `last` are the bounds of the members of a row. */
type GivenPart = 'value' | 'first' | 'last' | 'given';

function givenSlot(group: number, part: GivenPart, attribute: string): Slot {
  return { slot: `many.${group}.${part}.${attribute}` };
}

/** The places of the rows among all of the request, from 0. */
function placesSlot(group: number): Slot {
  return { slot: `many.${group}.places` };
}

/** Names that no model has. */
const ROWS = raw(identifier('.rows'));

/** The rows of a group, as a table of their own. */
interface GivenSql {
  /** Columns behind SELECT: `n`, `v0`, `v1`, …; with texts also `t0`, … */
  readonly select: SqlFragment;
  /** The value of an attribute, in a table of these rows. */
  readonly valueOf: (table: SqlFragment) => ColumnSql;
}

/**
 * Rows of a group.
 *
 * @param texts true where the values are also passed as they are written, because columns compare them so
 */
export function givenSql(
  table: TableSql,
  group: number,
  columns: readonly GivenColumn[],
  {
    texts = false,
    more = [],
    isOne = false,
  }: { readonly texts?: boolean; readonly more?: readonly NamedSql[]; readonly isOne?: boolean } = {},
): GivenSql {
  const arrays: NamedSql[] = [{ name: 'n', value: sql`${placesSlot(group)}::int4[]` }];
  const shown: SqlFragment[] = [sql`${ROWS}.n`];
  const show = (name: string, value: SqlFragment) => shown.push(sql`${value} AS ${raw(name)}`);
  const unnest = (name: string, value: SqlFragment) => {
    arrays.push({ name, value });
    show(name, sql`${ROWS}.${raw(name)}`);
  };
  for (const [index, { attribute, isPartial }] of columns.entries()) {
    const { name, type } = attribute;
    const values = givenSlot(group, 'value', name);
    if (isPartial) unnest(`h${index}`, sql`${givenSlot(group, 'given', name)}::bool[]`);
    if (type.kind === 'array') {
      arrays.push({ name: `f${index}`, value: sql`${givenSlot(group, 'first', name)}::int4[]` });
      arrays.push({ name: `l${index}`, value: sql`${givenSlot(group, 'last', name)}::int4[]` });
      const members = sql`[${ROWS}.${raw(`f${index}`)}:${ROWS}.${raw(`l${index}`)}]`;
      show(`v${index}`, sql`(${typedMembers(table, attribute, values)})${members}`);
      if (texts && isComparedAsText(type)) show(`t${index}`, sql`(${values}::text[])${members}`);
    } else {
      unnest(`v${index}`, typedArray(table, attribute, values));
      if (texts && isComparedAsText(type)) unnest(`t${index}`, sql`${values}::text[]`);
    }
  }
  for (const { name, value } of more) unnest(name, value);
  const names = arrays.map(({ name }) => raw(name));
  const unnested = joinSql(
    arrays.map(({ value }) => value),
    ', ',
  );
  const firsts = arrays.map(({ name, value }) => sql`(${value})[1] AS ${raw(name)}`);
  const from = isOne
    ? sql`(SELECT ${joinSql(firsts, ', ')}) AS ${ROWS}`
    : sql`unnest(${unnested}) AS ${ROWS} (${joinSql(names, ', ')})`;
  return {
    select: sql`${joinSql(shown, ', ')} FROM ${from}`,
    valueOf: (source) => (attribute) => sql`${source}.${raw(`v${placeOf(columns, attribute)}`)}`,
  };
}

/** A piece of SQL with a name of its own. */
export interface NamedSql {
  readonly name: string;
  readonly value: SqlFragment;
}

/** The place of an attribute among the columns; -1 where it is none of them. */
export function placeOf(columns: readonly GivenColumn[], attribute: string): number {
  return columns.findIndex((each) => each.attribute.name === attribute);
}

/** An array of values of an attribute's column. */
export function typedArray({ name }: TableSql, attribute: AttributeInfo, values: Slot): SqlFragment {
  return sql`CASE WHEN false THEN ARRAY(SELECT ${columnName(attribute)} FROM ${raw(name)}) ELSE ${values} END`;
}

/** A value of an array column. A slice of it has the type of the array, where the column has a domain over it. */
function typedMembers({ name }: TableSql, attribute: AttributeInfo, values: Slot): SqlFragment {
  return sql`CASE WHEN false THEN (SELECT ${columnName(attribute)} FROM ${raw(name)})[1:0] ELSE ${values} END`;
}

/** Types of which one value has several texts that Sequelize compares as different, and of which a column may store fewer digits than are sent. */
export function isComparedAsText(type: ColumnType): boolean {
  if (type.kind === 'array') return isComparedAsText(type.element);
  return ['bigint', 'decimal', 'float', 'time'].includes(type.kind);
}

/** The values of a row, and its place among all of the request. */
export interface GivenRow extends RowCells {
  readonly place: number;
}

/** New rows by shape, in the order of their first ones; null where only Sequelize can write one of them. */
export function newRowsByShape(
  encoder: RowEncoder,
  rows: readonly WriteValues[],
): Map<RowShape, GivenRow[]> | null {
  const groups = new Map<RowShape, GivenRow[]>();
  for (const [place, row] of rows.entries()) {
    const given: GivenRow = { place, texts: [], lengths: [] };
    const shape = encoder.newRow(row, intoCells(given));
    if (shape === null || given.isNested) return null;
    keptIn(groups, shape, () => []).push(given);
  }
  return groups;
}

/** Puts the values of a group into slots. */
export function bindRows(
  group: number,
  columns: readonly (GivenColumn & PlacedColumn)[],
  rows: readonly GivenRow[],
  slots: Record<string, string | null>,
): void {
  slots[placesSlot(group).slot] = plainArray(rows.map(({ place }) => place));
  for (const column of columns) {
    bindColumn(group, column, rows, slots);
    if (!column.isPartial) continue;
    const given = rows.map(({ texts }) => (texts[column.place] === undefined ? 'f' : 't'));
    slots[givenSlot(group, 'given', column.attribute.name).slot] = plainArray(given);
  }
}

function bindColumn(
  group: number,
  { attribute: { name, type }, place }: PlacedColumn,
  rows: readonly GivenRow[],
  slots: Record<string, string | null>,
): void {
  if (type.kind !== 'array') {
    slots[givenSlot(group, 'value', name).slot] = arrayLiteral(rows.map(({ texts }) => texts[place] ?? null));
    return;
  }
  const members: string[] = [];
  const first: string[] = [];
  const last: string[] = [];
  let count = 0;
  for (const { texts, lengths } of rows) {
    const text = texts[place] ?? null;
    if (text === null) {
      first.push('NULL');
      last.push('NULL');
      continue;
    }
    const length = lengths[place] ?? 0;
    if (length > 0) members.push(text.slice(1, -1));
    first.push(String(count + 1));
    count += length;
    last.push(String(count));
  }
  slots[givenSlot(group, 'value', name).slot] = `{${members.join(',')}}`;
  slots[givenSlot(group, 'first', name).slot] = plainArray(first);
  slots[givenSlot(group, 'last', name).slot] = plainArray(last);
}

/** An array of texts that need no quotes. */
function plainArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}
