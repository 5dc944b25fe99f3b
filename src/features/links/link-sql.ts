/** The statements of links: the record is locked, then the targets in the order of their keys, then the rows of the join model. */
import type { ResourcePlan, SubresourcePlan } from '../../compile/resource-plan.js';
import type { AttributeInfo, ModelInfo, RowKey } from '../../describe/model-info.js';
import { tableFacts } from '../../describe/table-facts.js';
import { placedColumns } from '../../execute/session/select-values.js';
import { type GivenColumn, givenSql, typedArray } from '../../execute/sql/parameter-arrays.js';
import { compilePredicate, selectedCast } from '../../execute/sql/predicate-sql.js';
import { describeTable, type TableSql, whereSql } from '../../execute/sql/select-sql.js';
import {
  columnName,
  identifier,
  joinSql,
  raw,
  type SqlFragment,
  sql,
} from '../../execute/sql/sql-fragment.js';
import { nowSql, stampsSql } from '../../execute/sql/write-sql.js';
import type { Access } from '../../operation/access.js';
import { allOf, byKey, equalTo, scopedRows } from '../../operation/predicates.js';
import { PARENT, type RelatedAccess } from '../../operation/related-rows.js';
import type { Predicate } from '../../request/query/predicate.js';
import { aliveRows } from '../soft-delete/deletion.js';
import { describePairs, MAX_REPLACED } from './link-options.js';

/** Names that no model has. */
const GIVEN = raw(identifier('.given'));
const TARGET = raw(identifier('.target'));
const LINK = raw(identifier('.link'));
const OWNER = raw(identifier('.owner'));
const TRUE = raw('true');

/** Locks the record of the slots. Columns: the key of its relation, its state, and whether the request may change it. */
export function lockParentSql(
  { info, entityTag }: ResourcePlan,
  key: string,
  { where, allowed }: Access,
): SqlFragment {
  const { source, column } = describeTable(info);
  const columns = [
    sql`${column(key)}::text`,
    entityTag ? sql`${column(entityTag.attribute)}::text` : raw('NULL'),
    allowed ? sql`(${compilePredicate(allowed, column)}) IS TRUE` : TRUE,
  ];
  const rows = compilePredicate(parentRows(info, where), column);
  return sql`SELECT ${placedColumns(columns)} FROM ${source}${whereSql([rows])} FOR NO KEY UPDATE OF ${raw(identifier(info.name))}`;
}

/** The record of the slots. */
function parentRows(info: ModelInfo, where: Predicate | null): Predicate {
  return allOf(byKey(info.address), where, aliveRows(info), scopedRows(info));
}

/** Raises the version of the record of the slots. */
export function touchSql({ info }: ResourcePlan, { where }: Access): SqlFragment {
  const table = describeTable(info);
  const rows = compilePredicate(allOf(byKey(info.address), where), table.column);
  return sql`UPDATE ${table.source} SET ${joinSql(stampsSql(table), ', ')}${whereSql([rows])}`;
}

/** The rows of the target that a request may see, and may link. */
export function seenTargets(
  { target: { info } }: Pick<SubresourcePlan, 'target'>,
  { target, where }: RelatedAccess,
): Predicate | null {
  return allOf(aliveRows(info), scopedRows(info), target.where, where);
}

/** The rows of the join model that a request may see. */
export function seenPairs({ through }: SubresourcePlan, access: RelatedAccess): Predicate | null {
  return through && allOf(scopedRows(through), access.through?.where ?? null);
}

/** The address of a target, as columns of given rows. */
export function addressColumns({ target: { info } }: Pick<SubresourcePlan, 'target'>) {
  return info.address.map((attribute, place): GivenColumn & { place: number } => ({ attribute, place }));
}

/** Parts that both kinds of relations have in common. */
function findParts(below: SubresourcePlan, related: RelatedAccess, isOne = false) {
  const target = describeTable(below.target.info);
  const rows = givenSql(target, 0, addressColumns(below), { isOne });
  const { address, primaryKey } = below.target.info;
  const value = rows.valueOf(GIVEN);
  const isGiven = joinSql(
    address.map(({ name }) => sql`${target.column(name)} = ${value(name)}`),
    ' AND ',
  );
  const seen = seenTargets(below, related);
  return {
    target,
    given: sql`${GIVEN} AS MATERIALIZED (SELECT ${rows.select})`,
    from: sql`${target.source} JOIN ${GIVEN} ON ${isGiven}`,
    seen: seen ? [compilePredicate(seen, target.column)] : [],
    order: joinSql(columnsOf(target, primaryKey), ', '),
    texts: columnsOf(target, address).map((each) => sql`${each}::text`),
    name: raw(identifier(below.target.info.name)),
  };
}

function columnsOf({ column }: TableSql, key: RowKey): readonly SqlFragment[] {
  return key.map(({ name }) => column(name));
}

const namedAs = (columns: readonly SqlFragment[], name: string) =>
  columns.map((each, index) => sql`${each} AS ${raw(`${name}${index}`)}`);

function named(columns: readonly SqlFragment[], name: string): SqlFragment {
  return joinSql(namedAs(columns, name), ', ');
}

const numbered = (table: SqlFragment, name: string, { length }: readonly unknown[]) =>
  Array.from({ length }, (_, index) => sql`${table}.${raw(`${name}${index}`)}`);

/** Choice of targets. */
export interface FindChoice {
  /** True where all links of the record are found, to targets that the request sees. */
  readonly isWhole: boolean;
  /** True where one target is given. */
  readonly isOne: boolean;
  /** Children: false where their rows were locked before. */
  readonly isLocking?: boolean;
}

/**
 * Selects the targets that are given, and the links of the record in the slot `parent` to them; or all links. All are locked, each in the
 * order of the targets, which is that of the rows. Columns: the place among the given ones, the key of the target, whether a link is there and alive, the parts of the
 * id, and the attributes of the link.
 */
export function findPairsSql(
  below: SubresourcePlan,
  related: RelatedAccess,
  shown: readonly AttributeInfo[],
  { isWhole, isOne }: FindChoice,
): SqlFragment {
  const { target, given, from, seen, order, texts, name } = findParts(below, related, isOne);
  const { source, column, own, info, key } = pairParts(below, related);
  const alive = aliveRows(info);
  const isAlive = alive ? sql`(${compilePredicate(alive, column)}) IS TRUE` : TRUE;
  const attributes = shown.map((each) => sql`${column(each.name)}${raw(selectedCast(each))}`);
  const selected = joinSql([sql`${key} AS key`, sql`${isAlive} AS alive`, ...namedAs(attributes, 'a')], ', ');
  const keyed = sql`${GIVEN}.n, ${target.column(below.relation.targetKey)} AS key`;
  // A view has no rows of its own to lock.
  const held =
    tableFacts(below.relation.target)?.isTable === false ? raw('') : sql` FOR KEY SHARE OF ${name}`;
  const columns = placedColumns([
    sql`${TARGET}.n`,
    sql`coalesce(${TARGET}.key, ${LINK}.key)::text`,
    sql`${LINK}.alive`,
    ...numbered(TARGET, 'i', texts),
    ...numbered(LINK, 'a', attributes),
  ]);
  const isNamed = sql`${key} IN (SELECT key FROM ${TARGET})`;
  const visible = compilePredicate(visibleTarget(below, related), column);
  const rows = whereSql([...own, isWhole ? sql`(${isNamed} OR ${isAlive}) AND ${visible}` : isNamed]);
  const tables = [
    given,
    sql`${TARGET} AS MATERIALIZED (SELECT ${joinSql([keyed, ...namedAs(texts, 'i')], ', ')} FROM ${from}${whereSql(seen)} ORDER BY ${order}${held})`,
    sql`${LINK} AS MATERIALIZED (SELECT ${selected} FROM ${source}${rows} ORDER BY ${key} LIMIT ${raw(String(MAX_REPLACED * 2 + 1))} FOR UPDATE OF ${raw(identifier(info.name))})`,
  ];
  return sql`WITH ${joinSql(tables, ', ')} SELECT ${columns} FROM ${TARGET} FULL JOIN ${LINK} ON ${TARGET}.key = ${LINK}.key ORDER BY coalesce(${TARGET}.key, ${LINK}.key)`;
}

/** The rows of the join model that belong to the record, as far as the request sees them. */
function pairParts(below: SubresourcePlan, related: RelatedAccess) {
  const { through } = below.relation;
  if (!through) throw new TypeError('A relation without a join model has no pairs.');
  const info = describePairs(below);
  const { source, column } = describeTable(info);
  const pairs = seenPairs(below, related);
  const own = [
    compilePredicate(equalTo(through.parentKey, PARENT), column),
    ...(pairs ? [compilePredicate(pairs, column)] : []),
  ];
  return { info, source, column, own, key: column(through.targetKey) };
}

/** Condition that the target of a row of the join model is one that the request sees. */
function visibleTarget(below: SubresourcePlan, related: RelatedAccess): Predicate {
  const { targetKey, through } = below.relation;
  return {
    kind: 'exists',
    target: below.target.info,
    key: targetKey,
    value: { attribute: through?.targetKey ?? '' },
    where: seenTargets(below, related),
  };
}

/** A record, and the rows of its model that a request may change. */
interface Owner extends Pick<Access, 'where'> {
  readonly info: ModelInfo;
}

function ownerSql({ info, where }: Owner, key: string): SqlFragment {
  const table = describeTable(info);
  const keys = named(columnsOf(table, info.primaryKey), 'k');
  const rows = whereSql([compilePredicate(parentRows(info, where), table.column)]);
  return sql`${OWNER} AS MATERIALIZED (SELECT ${keys}, ${table.column(key)} AS key FROM ${table.source}${rows})`;
}

/**
 * The same of a relation whose children have the key themselves. The third column is NULL for a child of no record, and false for one of another record.
 *
 * @param owner the record where it is not locked yet. One of the model of its children is locked among them, in one order.
 */
export function findChildrenSql(
  below: SubresourcePlan,
  related: RelatedAccess,
  { isWhole, isOne, isLocking = true }: FindChoice,
  owner: Owner | null = null,
): SqlFragment {
  const { target, given, from, seen, order, texts, name } = findParts(below, related, isOne);
  const { targetKey, parentKey } = below.relation;
  const { info } = below.target;
  const keys = columnsOf(target, info.primaryKey);
  const isOneModel = owner?.info.model === info.model;
  const isOwn = owner
    ? sql`${target.column(targetKey)} IN (SELECT key FROM ${OWNER})`
    : compilePredicate(equalTo(targetKey, PARENT), target.column);
  const own = sql`SELECT ${named(keys, 'k')} FROM ${target.source}${whereSql([isOwn, ...seen])} LIMIT ${raw(String(MAX_REPLACED + 1))}`;
  const some = joinSql(numbered(TARGET, 'k', keys), ', ');
  const wanted = [
    sql`SELECT ${some} FROM ${TARGET}`,
    ...(isWhole ? [sql`(${own})`] : []),
    ...(isOneModel ? [sql`SELECT ${joinSql(numbered(OWNER, 'k', keys), ', ')} FROM ${OWNER}`] : []),
  ];
  const isWanted = sql`(${joinSql(keys, ', ')}) IN (${joinSql(wanted, ' UNION ')})`;
  const locked = sql`SELECT ${named(keys, 'k')}, ${named(texts, 'i')}, ${isOwn} AS own FROM ${target.source}${whereSql([isWanted, ...(owner ? [] : seen)])} ORDER BY ${order}${isLocking ? sql` FOR NO KEY UPDATE OF ${name}` : raw('')}`;
  const tables = [
    ...(owner ? [ownerSql(owner, parentKey)] : []),
    given,
    sql`${TARGET} AS MATERIALIZED (SELECT ${GIVEN}.n, ${named(keys, 'k')} FROM ${from}${whereSql(seen)})`,
    sql`${LINK} AS MATERIALIZED (${locked})`,
  ];
  const others = numbered(TARGET, 'k', keys);
  const isSame = joinSql(
    numbered(LINK, 'k', keys).map((each, index) => sql`${each} = ${others[index] as SqlFragment}`),
    ' AND ',
  );
  const columns = [sql`${TARGET}.n`, raw('NULL'), sql`${LINK}.own`, ...numbered(LINK, 'i', texts)];
  return sql`WITH ${joinSql(tables, ', ')} SELECT ${placedColumns(columns)} FROM ${LINK} LEFT JOIN ${TARGET} ON ${isSame}`;
}

/** Inserts rows of the join model, for targets that the request sees. A pair that another request has inserted meanwhile is left out, and any other key that is taken is an error. */
export function insertPairsSql(
  below: SubresourcePlan,
  related: RelatedAccess,
  info: ModelInfo,
  columns: readonly GivenColumn[],
  stamped: readonly AttributeInfo[],
  isOne: boolean,
): SqlFragment {
  const table = describeTable(info);
  const { through } = below.relation;
  const key = through?.targetKey ?? '';
  const rows = givenSql(table, 1, columns, { isOne });
  const names = [...columns.map(({ attribute }) => attribute), ...stamped].map(columnName);
  const values = [...columns.map((_, index) => sql`${GIVEN}.${raw(`v${index}`)}`), ...stamped.map(nowSql)];
  const value = rows.valueOf(GIVEN);
  return sql`INSERT INTO ${raw(table.name)} (${joinSql(names, ', ')}) SELECT ${joinSql(values, ', ')} FROM (SELECT ${rows.select}) AS ${GIVEN}${whereSql([compilePredicate(visibleTarget(below, related), value)])} ORDER BY ${value(key)} ON CONFLICT (${joinSql(info.address.map(columnName), ', ')}) DO NOTHING RETURNING 1 AS "c0"`;
}

/** Selects the attributes of the links between the record of the slots, and targets with keys in the slot `keys`; behind the place of its key, which counts from 1. */
export function shownLinksSql(
  below: SubresourcePlan,
  related: RelatedAccess,
  shown: readonly AttributeInfo[],
  parent: { readonly plan: ResourcePlan; readonly access: Access },
): SqlFragment {
  const { through, parentKey } = below.relation;
  if (!through) throw new TypeError('A relation without a join model has no attributes of links.');
  const info = describePairs(below);
  const table = describeTable(info);
  const { source, column } = table;
  const { info: owner } = parent.plan;
  const row: Predicate = {
    kind: 'exists',
    target: owner,
    key: parentKey,
    value: { attribute: through.parentKey },
    where: allOf(byKey(owner.address), parent.access.where),
  };
  const keyed = compilePredicate(
    { kind: 'comparison', attribute: through.targetKey, operator: '=in=', values: [KEYS] },
    column,
  );
  const rows = allOf(row, aliveRows(info), seenPairs(below, related));
  const key = info.attributes.get(through.targetKey) as AttributeInfo;
  const columns = [
    // A key may have another text in the link, as CITEXT, DECIMAL and INET do.
    sql`array_position(${typedArray(table, key, KEYS)}, ${column(through.targetKey)})::text`,
    ...shown.map((each) => sql`${column(each.name)}${raw(selectedCast(each))}`),
  ];
  return sql`SELECT ${placedColumns(columns)} FROM ${source}${whereSql([keyed, compilePredicate(rows, column)])}`;
}

/** An array of keys of targets. */
export const KEYS = Object.freeze({ slot: 'keys' });
