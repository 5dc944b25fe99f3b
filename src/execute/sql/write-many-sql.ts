/**
 * Statements that write the rows of a request, in its order. PostgreSQL promises no order of RETURNING, so that a row is found again by
 * its key. Nothing is written unless all rows can be.
 */

import type { ModelInfo, RowKey } from '../../describe/model-info.js';
import { NO_VERSION } from '../../operation/feature.js';
import type { UpdateMany } from '../../operation/operation.js';
import type { Predicate } from '../../request/query/predicate.js';
import {
  type GivenColumn,
  givenSql,
  isComparedAsText,
  keysSlot,
  type NamedSql,
  placeOf,
  STATES,
  sequenceSlot,
  TOUCHED,
  typedArray,
} from './parameter-arrays.js';
import { compilePredicate, selectedCast, selectedColumn } from './predicate-sql.js';
import { type SelectionSql, type TableSql, whereSql } from './select-sql.js';
import { columnName, identifier, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';
import { changedSql, nowSql, stampsSql, writtenSql } from './write-sql.js';

/** Names that no model has. */
const GIVEN = raw(identifier('.given'));
const FOUND = raw(identifier('.found'));
const JUDGED = raw(identifier('.judged'));
const WRITTEN = raw(identifier('.written'));
const ANY = raw(identifier('.any'));
const NEW = raw(identifier('.new'));
const CREATED = raw(identifier('.created'));

/** The row that a foreign key of the request has to name, in the place of its own value; by its attributes. */
export interface GivenReference {
  readonly attributes: readonly string[];
  readonly row: Predicate;
}

/** Rows that have values for the same attributes. */
export interface GivenGroup {
  readonly columns: readonly GivenColumn[];
  /** Attributes that get the moment of the write. */
  readonly stamped: readonly Pick<GivenColumn, 'attribute'>[];
}

/**
 * Inserts rows. Missing keys are drawn from the sequence first. A column behind the selected ones is true for a row whose
 * reference is missing. A row that is not found again by its key makes the statement fail.
 */
export function compileInsertMany(
  table: TableSql,
  groups: readonly GivenGroup[],
  references: readonly GivenReference[],
  returning: SelectionSql,
): Statement {
  const { primaryKey: key } = table.info;
  const parts = groups.map((each, group) => insertGroup(table, group, each, references, returning));
  const refused = parts.map(({ given }) => sql`SELECT FROM ${given} WHERE refused`);
  const isRefused = sql`EXISTS (${joinSql(refused, ' UNION ALL ')})`;
  const gate = references.length > 0 ? sql` WHERE NOT ${isRefused}` : raw('');
  const tables = parts.map(({ select, given }) => sql`${given} AS MATERIALIZED (${select})`);
  const inserts = parts.map(
    ({ insert, written, names }) =>
      sql`${written} (${joinSql([...numbered('k', key), ...names.map(raw)], ', ')}) AS (${insert(gate)})`,
  );
  const rows = parts.map(({ given, written, names }) => {
    const lost = sql`${written}.k0 IS NULL${references.length > 0 ? sql` AND NOT ${isRefused}` : raw('')}`;
    const place = sql`CASE WHEN ${lost} THEN format('%s was not written under its key', ${given}.n)::int4 ELSE ${given}.n END`;
    const columns = [
      ...names.map((name) => sql`${written}.${raw(name)}`),
      sql`${given}.refused`,
      sql`${place} AS n`,
    ];
    return sql`SELECT ${joinSql(columns, ', ')} FROM ${given} LEFT JOIN ${written} ON ${sameParts(key, written, 'k', given, 'k')}`;
  });
  return toStatement(
    sql`WITH ${joinSql([...tables, ...inserts], ', ')} ${joinSql(rows, ' UNION ALL ')} ORDER BY n`,
  );
}

function insertGroup(
  table: TableSql,
  group: number,
  { columns, stamped }: GivenGroup,
  references: readonly GivenReference[],
  returning: SelectionSql,
) {
  const { info, name } = table;
  const { primaryKey } = info;
  const rows = givenSql(table, group, columns);
  const each = raw(identifier('.each'));
  const given = raw(identifier(`.given.${group}`));
  const written = raw(identifier(`.written.${group}`));
  const drawn = primaryKey.filter(({ name: part }) => placeOf(columns, part) < 0);
  const keys = primaryKey.map((part, index) => {
    const value = drawn.includes(part)
      ? sql`nextval(${sequenceSlot(index)}::oid::regclass)`
      : rows.valueOf(each)(part.name);
    return sql`${value} AS ${raw(`k${index}`)}`;
  });
  const refused = refusedSql(columns, references, rows.valueOf(each));
  const values = columns.map((_, index) => raw(`v${index}`));
  const attributes = [...columns, ...stamped].map(({ attribute }) => attribute);
  const target = [...drawn, ...attributes];
  const shown = [
    ...drawn.map((part) => raw(`k${primaryKey.indexOf(part)}`)),
    ...values,
    ...stamped.map(({ attribute }) => nowSql(attribute)),
  ];
  // Only a key of the sequence's own may be where the database makes all keys.
  const overriding = raw(drawn.length > 0 ? ' OVERRIDING SYSTEM VALUE' : '');
  const selected = [...primaryKey.map(selectedColumn), ...returning.columns];
  return {
    given,
    written,
    names: returning.columns.map((_, index) => `c${index}`),
    select: sql`SELECT ${each}.*, ${joinSql(keys, ', ')}, ${refused ?? raw('false')} AS refused FROM (SELECT ${rows.select}) AS ${each}`,
    insert: (gate: SqlFragment) =>
      sql`INSERT INTO ${raw(name)} (${joinSql(target.map(columnName), ', ')})${overriding} SELECT ${joinSql(shown, ', ')} FROM ${given}${gate} RETURNING ${joinSql(selected, ', ')}`,
  };
}

/** True for a row with a missing reference; null where no reference is written. */
function refusedSql(
  columns: readonly GivenColumn[],
  references: readonly GivenReference[],
  value: (attribute: string) => SqlFragment,
): SqlFragment | null {
  const missing = references.flatMap(({ attributes, row }) => {
    if (attributes.some((name) => placeOf(columns, name) < 0)) return [];
    const given = joinSql(attributes.map(value), ', ');
    return sql`num_nulls(${given}) = 0 AND NOT ${compilePredicate(row, value)}`;
  });
  return missing.length === 0 ? null : joinSql(missing, ' OR ');
}

/** An UPDATE of many rows, each with values of its own. */
interface UpdateManySql extends Pick<UpdateMany, 'unseen'> {
  readonly set: readonly GivenColumn[];
  /** On the rows, beside their keys; null is every row. */
  readonly where: Predicate | null;
  readonly references: readonly GivenReference[];
  /** The attribute with the state of a row; null where the request has no condition. */
  readonly state: string | null;
  readonly isTouched: boolean;
  /** New rows, for keys that no row has. Default: such an item is refused. */
  readonly create?: GivenGroup | undefined;
  readonly returning: SelectionSql;
}

/**
 * Changes the rows that the keys address, which are locked in the order of their primary keys before. Only rows that differ are written; the
 * others are returned as they are. Columns behind the selected ones are true for an item whose row does not exist or has another state, whose
 * key an earlier item has, whose reference is missing, and that adds to NULL. With new rows one more is true for a new row. A new row that is
 * not found again by its key makes the statement fail.
 */
export function compileUpdateMany(table: TableSql, update: UpdateManySql): Statement {
  const { info, source, column } = table;
  const { set, where, references, state, isTouched, create, returning } = update;
  const { primaryKey, address } = info;
  const more: NamedSql[] = [
    ...keyArrays(table),
    ...(state === null ? [] : [{ name: 'wanted', value: sql`${STATES}::text[]` }]),
    ...(isTouched ? [{ name: 'touched', value: sql`${TOUCHED}::bool[]` }] : []),
  ];
  const rows = givenSql(table, 0, set, { texts: true, more });
  const sums = [...set.entries()].filter(([, { attribute }]) => attribute.isAdded);
  const names = returning.attributes.map((_, index) => raw(`c${index}`));
  const selected = returning.attributes.map((each) => sql`${column(each.name)}${raw(selectedCast(each))}`);
  const keys = primaryKey.map(({ name }) => column(name));
  const addressed = address.map(({ name }) => column(name));
  const conditions = [
    addressed.length === 1
      ? sql`${addressed[0] as SqlFragment} = ANY(${keysSlot(0)})`
      : sql`(${joinSql(addressed, ', ')}) IN (SELECT ${joinSql(numbered('k', address), ', ')} FROM ${GIVEN})`,
    ...(where === null ? [] : [compilePredicate(where, column)]),
  ];
  // A row without a version is in a state of its own.
  const stateSql = (name: string) => sql`coalesce(${column(name)}::text, ${raw(`'${NO_VERSION}'`)}) AS state`;
  const found = joinSql(
    [
      ...addressed.map((part, index) => sql`${part} AS ${raw(`found${index}`)}`),
      ...(address === primaryKey
        ? []
        : keys.map((part, index) => sql`${part} AS ${raw(`${rowKey(info)}${index}`)}`)),
      ...(state === null ? [] : [stateSql(state)]),
      ...set.map(({ attribute }, index) => sql`${column(attribute.name)} AS ${raw(`o${index}`)}`),
      ...sums.map(([index, { attribute }]) => sql`${column(attribute.name)} IS NULL AS ${raw(`e${index}`)}`),
      ...selected.map((each, index) => sql`${each} AS ${names[index] as SqlFragment}`),
    ],
    ', ',
  );
  const made = create && givenSql(table, 1, create.columns);
  const missing = made
    ? refusedSql(create.columns, references, made.valueOf(NEW))
    : refusedSql(set, references, rows.valueOf(GIVEN));
  const refused = [
    create
      ? // Of a collation, texts that differ may find one row.
        sql`found0 IS NOT NULL AND row_number() OVER (PARTITION BY ${joinSql(numbered('found', address), ', ')} ORDER BY ${GIVEN}.n) > 1`
      : sql`found0 IS NULL`,
    sql`row_number() OVER (PARTITION BY ${joinSql(numbered('k', address, GIVEN), ', ')} ORDER BY ${GIVEN}.n) > 1`,
    ...(state === null ? [] : [sql`wanted IS NOT NULL AND wanted IS DISTINCT FROM state`]),
    ...(missing ? [missing] : []),
    ...sums.map(([index, { isPartial }]) => raw(`${isPartial ? `h${index} AND ` : ''}e${index}`)),
  ];
  const tables = [
    sql`${GIVEN} AS MATERIALIZED (SELECT ${rows.select})`,
    sql`${FOUND} AS MATERIALIZED (SELECT ${found} FROM ${source}${whereSql(conditions)} ORDER BY ${joinSql(keys, ', ')} FOR NO KEY UPDATE OF ${raw(identifier(info.name))})`,
    ...(made ? [sql`${NEW} AS MATERIALIZED (SELECT ${made.select})`] : []),
    sql`${JUDGED} AS MATERIALIZED (SELECT ${GIVEN}.*, ${FOUND}.*, ${joinSql(refused, ' OR ')} AS refused FROM ${GIVEN}${made ? sql` JOIN ${NEW} ON ${NEW}.n = ${GIVEN}.n` : raw('')} LEFT JOIN ${FOUND} ON ${sameParts(address, FOUND, 'found', GIVEN, 'k')})`,
  ];
  const aliases = (key: RowKey) => joinSql([...numbered('k', key), ...names], ', ');
  const written: { readonly name: SqlFragment; readonly join: SqlFragment }[] = [];
  if (create) {
    tables.push(sql`${CREATED} (${aliases(address)}) AS (${insertJudged(table, create, returning)})`);
    written.push({ name: CREATED, join: sameParts(address, CREATED, 'k', JUDGED, 'k') });
  }
  if (set.length > 0 || isTouched) {
    const changed = sql`${updateJudged(table, update)} RETURNING ${joinSql([...keys, ...selected], ', ')}`;
    tables.push(sql`${WRITTEN} (${aliases(primaryKey)}) AS (${changed})`);
    written.push({ name: WRITTEN, join: sameParts(primaryKey, WRITTEN, 'k', JUDGED, rowKey(info)) });
  }
  const now = names.map((name) => {
    const cases = written.map((each) => sql` WHEN ${each.name}.k0 IS NOT NULL THEN ${each.name}.${name}`);
    const found = sql`${JUDGED}.${name}`;
    return cases.length === 0 ? found : sql`CASE${joinSql(cases, '')} ELSE ${found} END AS ${name}`;
  });
  const joins = written.map(({ name, join }) => sql` LEFT JOIN ${name} ON ${join}`);
  const columns = [...now, raw('refused'), ...(create ? [raw('found0 IS NULL')] : [])];
  const lost = sql`found0 IS NULL AND ${CREATED}.k0 IS NULL AND ${NONE_REFUSED}`;
  const place = create
    ? sql`CASE WHEN ${lost} THEN format('%s was not written under its key', n)::int4 ELSE n END`
    : raw('n');
  return toStatement(
    sql`WITH ${joinSql(tables, ', ')} SELECT ${joinSql(columns, ', ')} FROM ${JUDGED}${joinSql(joins, '')} ORDER BY ${place}`,
  );
}

const NONE_REFUSED = sql`NOT EXISTS (SELECT FROM ${JUDGED} AS ${ANY} WHERE ${ANY}.refused)`;

/** Inserts the new rows whose keys no row has, in the order of these keys, so that two statements never wait for each other. */
function insertJudged(
  { info, name }: TableSql,
  { columns, stamped }: GivenGroup,
  returning: SelectionSql,
): SqlFragment {
  const target = [...columns, ...stamped].map(({ attribute }) => columnName(attribute));
  const values = [
    ...columns.map((_, index) => sql`${NEW}.${raw(`v${index}`)}`),
    ...stamped.map(({ attribute }) => nowSql(attribute)),
  ];
  const shown = [...info.address.map(columnName), ...returning.columns];
  return sql`INSERT INTO ${raw(name)} (${joinSql(target, ', ')}) SELECT ${joinSql(values, ', ')} FROM ${NEW} JOIN ${JUDGED} ON ${NEW}.n = ${JUDGED}.n WHERE found0 IS NULL AND ${NONE_REFUSED} ORDER BY ${joinSql(numbered('k', info.address, JUDGED), ', ')} RETURNING ${joinSql(shown, ', ')}`;
}

/** The names of the parts of the primary key of a row that was found, without their numbers: an address may be one among some rows only. */
function rowKey({ primaryKey, address }: ModelInfo): string {
  return address === primaryKey ? 'k' : 'key';
}

/** Columns for the parts of a key: `k0`, `k1`, … */
function numbered(name: string, key: RowKey, table?: SqlFragment): readonly SqlFragment[] {
  return key.map((_, index) => (table ? sql`${table}.${raw(`${name}${index}`)}` : raw(`${name}${index}`)));
}

function sameParts(
  key: RowKey,
  first: SqlFragment,
  firstName: string,
  second: SqlFragment,
  secondName: string,
): SqlFragment {
  const others = numbered(secondName, key, second);
  return joinSql(
    numbered(firstName, key, first).map((part, index) => sql`${part} = ${others[index] as SqlFragment}`),
    ' AND ',
  );
}

/**
 * The same for rows that may be written in any order, by those who find out by the number of written rows that all were there, and had other
 * values. There are no columns.
 *
 * @param isOne true where the request has one row
 */
export function compileUpdateFree(
  table: TableSql,
  update: Pick<UpdateManySql, 'set' | 'where' | 'unseen'>,
  isOne: boolean,
): Statement {
  const { address } = table.info;
  const rows = givenSql(table, 0, update.set, { texts: true, more: keyArrays(table), isOne });
  const conditions = [
    ...address.map(({ name }, index) => sql`${table.column(name)} = ${JUDGED}.${raw(`k${index}`)}`),
    ...(update.where === null ? [] : [compilePredicate(update.where, table.column)]),
  ];
  return toStatement(
    updateFrom(table, { ...update, isTouched: false }, sql`(SELECT ${rows.select}) AS ${JUDGED}`, conditions),
  );
}

/** The parts of the keys of the request: `k0`, `k1`, … */
function keyArrays(table: TableSql): readonly NamedSql[] {
  return table.info.address.map((part, index) => ({
    name: `k${index}`,
    value: typedArray(table, part, keysSlot(index)),
  }));
}

function updateJudged(table: TableSql, update: UpdateManySql): SqlFragment {
  const { info, column } = table;
  const keys = numbered(rowKey(info), info.primaryKey);
  const [key, ...more] = info.primaryKey.map(({ name }) => column(name));
  // Without this condition the server reads a table of up to some hundred thousand rows as a whole.
  const looked =
    key && more.length === 0
      ? [sql`${key} = ANY(ARRAY(SELECT ${keys[0] as SqlFragment} FROM ${JUDGED}))`]
      : [];
  const conditions = [
    ...looked,
    ...info.primaryKey.map(
      ({ name }, index) => sql`${column(name)} = ${JUDGED}.${keys[index] as SqlFragment}`,
    ),
    NONE_REFUSED,
  ];
  // The row itself is the one from before the lock was waited for, and would be left out where that one had the value.
  return updateFrom(table, update, JUDGED, conditions, (index) => sql`${JUDGED}.${raw(`o${index}`)}`);
}

/**
 * @param from the table `.judged`, with the values
 * @param before makes the value that an attribute has
 */
function updateFrom(
  table: TableSql,
  { set, unseen, isTouched }: Pick<UpdateManySql, 'set' | 'unseen' | 'isTouched'>,
  from: SqlFragment,
  conditions: readonly SqlFragment[],
  before: (index: number, attribute: string) => SqlFragment = (_, attribute) => table.column(attribute),
): SqlFragment {
  const { source, column } = table;
  const assignments = set.map(({ attribute, isPartial }, index) => {
    const { name } = attribute;
    const value = writtenSql(attribute, column(name), sql`${JUDGED}.${raw(`v${index}`)}`);
    const own = isPartial
      ? sql`CASE WHEN ${JUDGED}.${raw(`h${index}`)} THEN ${value} ELSE ${column(name)} END`
      : value;
    return sql`${columnName(attribute)} = ${own}`;
  });
  const differences = set.map(({ attribute: { name, type, isAdded }, isPartial }, index) => {
    const value = sql`${JUDGED}.${raw(`${isComparedAsText(type) && !isAdded ? 't' : 'v'}${index}`)}`;
    const changes = isAdded ? sql`${value} <> 0` : changedSql(type, before(index, name), value);
    const differs = unseen?.has(name) ? raw('true') : changes;
    return isPartial ? sql`${JUDGED}.${raw(`h${index}`)} AND ${differs}` : differs;
  });
  const differs = joinSql(isTouched ? [...differences, sql`${JUDGED}.touched`] : differences, ' OR ');
  const all = joinSql([...assignments, ...stampsSql(table)], ', ');
  return sql`UPDATE ${source} SET ${all} FROM ${from}${whereSql([...conditions, differs])}`;
}
