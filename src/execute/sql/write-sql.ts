/** Statements that write the rows of one table. Their values are in slots, so that one text serves all of a shape. */

import { type ColumnType, innermostType } from '../../describe/column-type.js';
import { type AttributeInfo, type ModelInfo, timestampsOf, versionOf } from '../../describe/model-info.js';
import { keyNames } from '../../describe/row-key.js';
import type { DeletionMark, Reference } from '../../operation/operation.js';
import { allOf, compared, equalTo } from '../../operation/predicates.js';
import type { OuterValue, Predicate, RelatedFilter, Slot, Value } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';
import type { WrittenAttribute } from './encode-parameter.js';
import { attributeOf, type ColumnSql, compilePredicate } from './predicate-sql.js';
import { type SelectionSql, type TableSql, whereSql } from './select-sql.js';
import { columnName, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement, writtenSlot } from './statement.js';

/** The moment of a write. */
export const NOW: Slot = Object.freeze({ slot: 'now' });

/** Condition that the row of a written reference is there, or that the row which is changed lacks a part of it. */
export function referredRow(reference: Reference): Predicate {
  const { more = [], own = [] } = reference;
  if (own.length === 0) return rowReferred(reference, writtenSlot);
  const isOwn = (name: string) => own.some(({ attribute }) => attribute === name);
  const row = rowReferred({ ...reference, more: [...more, ...own] }, (attribute) =>
    isOwn(attribute) ? { attribute } : writtenSlot(attribute),
  );
  return {
    kind: 'or',
    operands: [...own.map(({ attribute }) => compared(attribute, '=isnull=', ['true'])), row],
  };
}

/** The row of a reference all of whose values are there. @param value makes the value of an attribute of the reference */
export function rowReferred<V extends Value>(
  { attribute, target, key, more = [], where }: Reference,
  value: (attribute: string) => V | OuterValue,
): RelatedFilter<Value> {
  const others = more.map((each) => ({ key: each.key, value: value(each.attribute) }));
  const further = others.length > 0 ? { more: others } : {};
  return { kind: 'exists', target, key, value: value(attribute), ...further, where };
}

/**
 * Inserts a row with values for some attributes; the other columns get the defaults of the table. Without a condition, the
 * parameters are these values in their order.
 *
 * @param where a condition on the values; null is none
 */
export function compileInsert(
  table: TableSql,
  row: readonly AttributeInfo[],
  where: Predicate | null,
  returning: SelectionSql,
): Statement {
  return toStatement(sql`${insertSql(table, row, where)}${returningSql(returning)}`);
}

function insertSql(
  { info, name, column }: TableSql,
  row: readonly AttributeInfo[],
  where: Predicate | null,
): SqlFragment {
  // A statement names one column at least.
  const names = joinSql((row.length > 0 ? row : someColumn(info)).map(columnName), ', ');
  const given = row.map((each) => sql`${writtenSlot(each.name)}`);
  const values = joinSql(given.length > 0 ? given : [raw('DEFAULT')], ', ');
  const source = where
    ? sql`SELECT ${values} WHERE ${compilePredicate(where, column)}`
    : sql`VALUES (${values})`;
  return sql`INSERT INTO ${raw(name)} (${names}) ${source}`;
}

function someColumn({ primaryKey, attributes }: ModelInfo): readonly AttributeInfo[] {
  const stored = [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
  return [...primaryKey, ...stored].slice(0, 1);
}

interface UpdateSql {
  /** Attributes, at least one. */
  readonly set: readonly WrittenAttribute[];
  readonly where: Predicate;
  readonly returning: SelectionSql;
  /** True where a row that has the values already is written, too. Default: false. */
  readonly always?: boolean | undefined;
}

/** Changes rows. Only a row that differs is written, so that `updatedAt`, the version and triggers only follow changes. */
export function compileUpdate(table: TableSql, update: UpdateSql): Statement {
  return toStatement(updateSql(table, update));
}

function updateSql(table: TableSql, { set, where, returning, always }: UpdateSql): SqlFragment {
  const conditions = whereSql([
    compilePredicate(where, table.column),
    ...filledSql(set, table.column),
    differsSql(set, table.column, always),
  ]);
  return sql`UPDATE ${table.source} SET ${changesSql(table, set)}${conditions}${returningSql(returning)}`;
}

/** Assignments of a change: the values of a body, and the columns that every change of a row writes. */
export function changesSql(table: TableSql, set: readonly WrittenAttribute[]): SqlFragment {
  const values = set.map((attribute) => {
    const { name } = attribute;
    return sql`${columnName(attribute)} = ${writtenSql(attribute, table.column(name), writtenSlot(name))}`;
  });
  return joinSql([...values, ...stampsSql(table)], ', ');
}

/** Assignments that every change of a row writes along: the moment, and the number of changes. */
export function stampsSql({ info: { model, attributes }, column }: TableSql): readonly SqlFragment[] {
  const updatedAt = attributes.get(timestampsOf(model).updatedAt ?? '');
  const version = attributes.get(versionOf(model) ?? '');
  return [
    ...(updatedAt ? [assignNow(updatedAt)] : []),
    // A row that has none yet begins to count.
    ...(version ? [sql`${columnName(version)} = coalesce(${column(version.name)}, 0) + 1`] : []),
  ];
}

/** A row with a key of the request. */
interface ReplaceSql {
  readonly row: readonly AttributeInfo[];
  /** Change of an existing row; null where it stays as it is. */
  readonly change: UpdateSql | null;
  /** Condition of the rows that have to be there for a new row; null is none. */
  readonly references: Predicate | null;
  readonly returning: SelectionSql;
}

/**
 * Changes the row with a key, or inserts one where there is none. The column behind those of the row is true for a new one. An INSERT
 * with ON CONFLICT DO UPDATE would run the checks of a new row for each change: NOT NULL and CHECK of columns that keep their
 * values, policies and triggers. Where another transaction inserts the row meanwhile, no row is returned.
 */
export function compileReplace(
  table: TableSql,
  { row, change, references, returning }: ReplaceSql,
): Statement {
  const { info } = table;
  const [first, ...more] = keyNames(info.address).map((name) => [name, writtenSlot(name)] as const);
  if (!first) throw new TypeError(`${info.name} has no key by which a record is replaced.`);
  const where = allOf(...more.map(([name, value]) => equalTo(name, value)));
  const taken = { kind: 'exists', target: info, key: first[0], value: first[1], where } as const;
  const insert = insertSql(table, row, allOf({ ...taken, isNegated: true }, references));
  const created = sql`crud_created AS (${insert} ON CONFLICT DO NOTHING${returningSql(returning)})`;
  const rows = sql`SELECT *, true FROM crud_created`;
  if (change === null) return toStatement(sql`WITH ${created} ${rows}`);
  const changed = sql`crud_changed AS (${updateSql(table, change)})`;
  return toStatement(sql`WITH ${changed}, ${created} SELECT *, false FROM crud_changed UNION ALL ${rows}`);
}

/** Conditions that the row has the value that something is added to. */
export function filledSql(set: readonly WrittenAttribute[], column: ColumnSql): readonly SqlFragment[] {
  return set.flatMap(({ name, isAdded }) => (isAdded ? sql`${column(name)} IS NOT NULL` : []));
}

/** Condition that is true where a row has other values, or counts as one that has. */
export function differsSql(set: readonly WrittenAttribute[], column: ColumnSql, always = false): SqlFragment {
  if (always) return raw('true');
  // A parameter of its own: PostgreSQL infers one type for each, and a column may be compared as another (42P08).
  const differences = set.map(({ name, type, isAdded }) =>
    // The sum of a row that is none of these could be out of range, and its error would show that the row is there.
    isAdded ? sql`${writtenSlot(name)}::numeric <> 0` : changedSql(type, column(name), writtenSlot(name)),
  );
  return differences.length === 0 ? raw('false') : joinSql(differences, ' OR ');
}

/** Deletes rows, or marks them. */
export function compileDelete(table: TableSql, where: Predicate, mark: DeletionMark | null): Statement {
  const { source, column } = table;
  const conditions = whereSql([compilePredicate(where, column)]);
  if (mark === null) return toStatement(sql`DELETE FROM ${source}${conditions}`);
  return toStatement(sql`UPDATE ${source} SET ${markSql(table, mark)}${conditions}`);
}

/** Assignments of a soft delete. One that sets a value is a change like others. */
export function markSql(table: TableSql, { attribute, value }: DeletionMark): SqlFragment {
  const marked = attributeOf(table.info, attribute);
  if (value === null) return assignNow(marked);
  return joinSql([sql`${columnName(marked)} = ${raw(quoteText(value))}`, ...stampsSql(table)], ', ');
}

/** The moment of the write, as the column has it: without a zone, the clock of the one that Sequelize writes in. */
export function nowSql({ type }: AttributeInfo): SqlFragment {
  if (type.kind !== 'date' || type.zone === undefined) return sql`${NOW}`;
  const isOffset = /^[+-]\d\d:\d\d$/.test(type.zone);
  return sql`${NOW}::timestamptz AT TIME ZONE ${raw(`${isOffset ? 'INTERVAL ' : ''}${quoteText(type.zone)}`)}`;
}

function assignNow(attribute: AttributeInfo): SqlFragment {
  return sql`${columnName(attribute)} = ${nowSql(attribute)}`;
}

function returningSql({ columns }: SelectionSql): SqlFragment {
  return columns.length === 0 ? raw('') : sql` RETURNING ${joinSql(columns, ', ')}`;
}

/**
 * The condition that the column has another value. Texts, numbers of any length and times are compared by their texts, floats by
 * the number that JavaScript reads, and moments by their milliseconds.
 */
export function changedSql(type: ColumnType, column: SqlFragment, value: Value | SqlFragment): SqlFragment {
  switch (type.kind) {
    case 'string':
    case 'enum':
    case 'bigint':
    case 'decimal':
    case 'time':
      // Texts that are equal in a collation of the column may differ in letters.
      return sql`${column}::text COLLATE "C" IS DISTINCT FROM ${value}::text`;
    case 'float':
      return sql`${column}::text::float8 IS DISTINCT FROM ${value}::float8`;
    case 'date':
      if (type.zone !== undefined) return sql`${column} IS DISTINCT FROM ${value}::timestamp`;
      return sql`date_trunc('milliseconds', ${column}) IS DISTINCT FROM ${value}::timestamptz`;
    case 'json':
      // An answer has null for both NULL and the null of JSON.
      return sql`coalesce(${column}::jsonb, 'null') IS DISTINCT FROM coalesce(${value}::jsonb, 'null')`;
    case 'array':
      // As JSON, an array has no bounds, which answers do not show either.
      if (innermostType(type).kind === 'float')
        return sql`to_jsonb(${column}::text[]::float8[]) IS DISTINCT FROM to_jsonb(${value}::float8[])`;
      return isWritten(type.element)
        ? sql`to_jsonb(${column}::text[]) IS DISTINCT FROM to_jsonb(${value}::text[])`
        : sql`to_jsonb(${column}) IS DISTINCT FROM to_jsonb(CASE WHEN false THEN ${column} ELSE ${value} END)`;
    default:
      return sql`${column} IS DISTINCT FROM ${value}`;
  }
}

/**
 * The value that an UPDATE writes. One that is added is added to the row as it is at that time, also where another transaction has
 * changed it meanwhile. A moment of a body has milliseconds, as answers have: where the column has the same, its microseconds stay. So do the null of JSON, and the bounds of an array.
 */
export function writtenSql(
  { type, isAdded }: WrittenAttribute,
  column: SqlFragment,
  value: Value | SqlFragment,
): SqlFragment {
  if (isAdded) return sql`${column} + ${value}`;
  // A column without a zone is shown with all digits.
  if (!['date', 'json', 'array'].includes(type.kind) || (type.kind === 'date' && type.zone !== undefined))
    return sql`${value}`;
  return sql`CASE WHEN ${changedSql(type, column, value)} THEN ${value} ELSE ${column} END`;
}

/** Types of which several texts are one value to PostgreSQL, and not to Sequelize. */
function isWritten(element: ColumnType): boolean {
  return ['bigint', 'decimal', 'time'].includes(innermostType(element).kind);
}
