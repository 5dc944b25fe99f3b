/** The values of orders: columns, expressions over them, and values of the record behind a relation. */

import { areNullsFirst, orderShape } from '../../compile/compile-sort.js';
import type { RankValue, RelatedPlan, SortKey, SortTerm, SortValue } from '../../compile/resource-plan.js';
import { describeRecords } from '../../describe/describe-model.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { keyPairs, parentKeys, targetKeys } from '../../describe/relations.js';
import { isUniqueKey, type TableFacts, tableFacts } from '../../describe/table-facts.js';
import { OPEN_ACCESS } from '../../operation/access.js';
import { bindTexts } from '../../operation/predicates.js';
import { anyRelated, grantedOf, openRelation, relatedSlots } from '../../operation/related-rows.js';
import type {
  FragmentFilter,
  OuterValue,
  Predicate,
  RelatedFilter,
  Value,
} from '../../request/query/predicate.js';
import { liftAll } from './lift-values.js';
import {
  attributeOf,
  type ColumnSql,
  columnsOf,
  compilePredicate,
  jsonTextSql,
  selectRow,
} from './predicate-sql.js';
import { identifier, joinSql, raw, type SqlFragment, sql, tableSource } from './sql-fragment.js';

type RelatedValue = Extract<SortValue, { kind: 'related' }>;

/** Members that a term has in the order of one statement. */
export interface PlacedTerm {
  /** The record behind the relation, with slots in the place of values. Default: the same with texts. */
  readonly row?: RelatedFilter<Value> | undefined;
  /** A rank, with slots in the place of values. Default: the same with texts. */
  readonly rank?: FragmentFilter<Value>;
  /** The value in a statement that joins the other table. */
  readonly at?: SqlFragment;
  /** Name of that table in the statement: an index has columns of one table only. Default: that of the rows. */
  readonly source?: string;
}

/** The value that rows are sorted by. */
export function keySql(term: SortKey & PlacedTerm, column: ColumnSql): SqlFragment {
  const { attribute, value, at } = term;
  if (value === undefined) return column(attribute);
  if (at) return at;
  switch (value.kind) {
    case 'lower':
      return sql`lower(${column(attribute)})`;
    case 'json':
      // In any other collation than that of the bytes, an index would depend on the locale of the database.
      return sql`${jsonTextSql(value.attribute, value.path, column)} COLLATE "C"`;
    case 'related': {
      const { related, key } = value;
      const shown = (inner: ColumnSql) => ({ columns: keySql(key, inner), tail: firstSql(related, inner) });
      return sql`(${selectRow(rowOf(term, value), column, 0, shown)})`;
    }
    case 'rank':
      return compilePredicate(term.rank ?? rankOf(value), column);
  }
}

/** The direction of a term, behind its column in ORDER BY or an index. The place of NULLs is named where it is not the usual one. */
export function directionSql(term: SortTerm): string {
  const { descending } = term;
  const isFirst = areNullsFirst(term);
  const place = isFirst === descending ? '' : isFirst ? ' NULLS FIRST' : ' NULLS LAST';
  return `${descending ? ' DESC' : ''}${place}`;
}

/** An order whose statements have one text, for any access behind relations. */
interface LiftedOrder {
  readonly order: readonly (SortTerm & PlacedTerm)[];
  readonly shape: string;
  /** By slot. */
  readonly bound: Readonly<Record<string, string>>;
}

/** True where an order has values of a request. */
export function isLifted(order: readonly SortTerm[]): boolean {
  return order.some(({ value }) => value?.kind === 'related' || value?.kind === 'rank');
}

/** Lifts the values out of the rows behind relations by which an order sorts, and out of a rank. */
export function liftOrder(order: readonly SortTerm[]): LiftedOrder {
  const rows = new Map<RelatedPlan | RankValue, Predicate>();
  for (const term of order) {
    if (term.value?.kind === 'related') rows.set(term.value.related, rowOf(term, term.value));
    if (term.value?.kind === 'rank') rows.set(term.value, rankOf(term.value));
  }
  const lifted = liftAll(null, [...rows.values()], 'order');
  const keys = [...rows.keys()];
  // Lifting keeps the kind of a predicate.
  const liftedOf = (key: RelatedPlan | RankValue): unknown => lifted.rows[keys.indexOf(key)];
  return {
    order: order.map((term) => {
      if (term.value?.kind === 'related')
        return { ...term, row: liftedOf(term.value.related) as RelatedFilter<Value> };
      if (term.value?.kind === 'rank')
        return { ...term, rank: liftedOf(term.value) as FragmentFilter<Value> };
      return term;
    }),
    shape: `${orderShape(order)}${lifted.shape}`,
    bound: lifted.bound,
  };
}

/** The record of a row that the request may see. @throws TypeError for a term that was not made for a request */
function rowOf(term: SortKey & PlacedTerm, { related }: RelatedValue): RelatedFilter<Value> {
  if (term.row) return term.row;
  const access = grantedOf(term as SortTerm) ?? openRelation(related);
  if (access) return bindTexts(anyRelated(related, access, null), relatedSlots(access));
  throw new TypeError(
    `The order by '${term.attribute}' is of no request, so that nothing says which rows of ${related.target.name} may be seen; pass on the sort of its query.`,
  );
}

function rankOf({ texts, parts }: RankValue): FragmentFilter {
  return { kind: 'sql', texts, parts };
}

/** A table that a list is joined with, and the values that its rows are sorted by. */
interface JoinedOrder {
  readonly joins: readonly SqlFragment[];
  readonly places: ReadonlyMap<SortTerm, Required<Pick<PlacedTerm, 'at' | 'source'>> & { nullable: boolean }>;
}

/** Joins the records behind relations: PostgreSQL chooses how, where a subquery would be executed for each row. */
export function joinOrder(terms: readonly (SortTerm & PlacedTerm)[], outer: ColumnSql): JoinedOrder {
  const related = terms.flatMap((term) =>
    term.value?.kind === 'related' ? [{ term, value: term.value }] : [],
  );
  const plans = [...new Set(related.map(({ value }) => value.related))];
  const places: Map<SortTerm, { at: SqlFragment; source: string; nullable: boolean }> = new Map();
  const joins = plans.map((plan, number) => {
    const own = related.filter(({ value }) => value.related === plan);
    const row = rowOf(own[0]?.term as SortTerm, own[0]?.value as RelatedValue);
    const source = `.order ${number}`;
    const isInner = row.where === null && looseReason(plan) === null;
    for (const [index, { term, value }] of own.entries()) {
      const at = raw(`${identifier(source)}.${identifier(`.v${index}`)}`);
      places.set(term, { at, source, nullable: !isInner || mayBeNull(value) });
    }
    return joinSqlOf(plan, row, { source, isInner, keys: own.map(({ value }) => value.key) }, outer);
  });
  return { joins, places };
}

/** No column of the rows may have the name of another one in the statement, as their own are not qualified. */
const keyAt = (index: number): string => identifier(`.key${index}`);

function joinSqlOf(
  plan: RelatedPlan,
  row: RelatedFilter<Value>,
  {
    source,
    isInner,
    keys,
  }: { readonly source: string; readonly isInner: boolean; readonly keys: readonly SortKey[] },
  outer: ColumnSql,
): SqlFragment {
  const name = raw(identifier(source));
  const values = (column: ColumnSql) =>
    joinSql(
      keys.map((key, index) => sql`${keySql(key, column)} AS ${raw(identifier(`.v${index}`))}`),
      ', ',
    );
  if (!isUniqueTarget(plan)) {
    const shown = (column: ColumnSql) => ({ columns: values(column), tail: firstSql(plan, column) });
    return sql` LEFT JOIN LATERAL (${selectRow(row, outer, 0, shown)}) AS ${name} ON true`;
  }
  const { target, where } = row;
  const pairs = [row, ...(row.more ?? [])];
  const column = columnsOf(target, target.name);
  const found = where ? sql` WHERE ${compilePredicate(where, column)}` : raw('');
  const shown = pairs.map(({ key }, index) => sql`${column(key)} AS ${raw(keyAt(index))}`);
  const rows = sql`SELECT ${joinSql(shown, ', ')}, ${values(column)} FROM ${tableSource(target, target.name)}${found}`;
  const equal = pairs.map(
    ({ value }, index) => sql`${name}.${raw(keyAt(index))} = ${outer((value as OuterValue).attribute)}`,
  );
  const on = joinSql(equal, ' AND ');
  return sql`${raw(isInner ? ' JOIN' : ' LEFT JOIN')} (${rows}) AS ${name} ON ${on}`;
}

/** The first row, as an include shows it, where a key may be that of several. */
function firstSql(plan: RelatedPlan, column: ColumnSql): SqlFragment {
  if (isUniqueTarget(plan)) return raw('');
  const terms = plan.target.defaultSort.map((term) => sql`${keySql(term, column)}${raw(directionSql(term))}`);
  return sql` ORDER BY ${joinSql(terms, ', ')} LIMIT 1`;
}

/** True where the catalogue has proven that no two rows of the target have the same key. */
function isUniqueTarget({ relation, target: { info } }: RelatedPlan): boolean {
  const facts = tableFacts(info.model);
  const columns = targetKeys(relation).map((name) => attributeOf(info, name).column);
  return (
    facts !== undefined && holdsAll(info, facts) && isUniqueKey({ uniqueKeys: facts.exactKeys }, columns)
  );
}

/** True where constraints of the table are about all rows of the model. */
function holdsAll({ leavesHeirs }: RecordInfo, { isTable, isInherited }: TableFacts): boolean {
  return isTable && (!isInherited || leavesHeirs === true);
}

function mayBeNull({ key, related: { target } }: RelatedValue): boolean {
  return key.value?.kind === 'json' || target.info.attributes.get(key.attribute)?.found?.notNull !== true;
}

/**
 * Why a row may have no record behind a relation that a request sees, as the end of a sentence; null where each has one. Only then
 * an inner join, which an index of the other table serves, leaves out no row.
 */
export function looseReason(plan: RelatedPlan): string | null {
  const { relation, target, where } = plan;
  const { parent } = relation;
  const { info, access } = target;
  const everybody = { target: OPEN_ACCESS, where: null, through: null };
  const facts = tableFacts(parent);
  const found = tableFacts(target.model);
  if (where || access?.visible || access?.scope.size || anyRelated(plan, everybody, null).where)
    return `a request may not see each ${info.name}`;
  if (!facts || !found) return 'nothing is known of its tables';
  if (found.hasRowSecurity) return `row security may hide rows of ${info.name}`;
  const pairs = keyPairs(relation).map(({ parentKey, targetKey }) => ({
    column: attributeOf(describeRecords(parent), parentKey).column,
    targetColumn: attributeOf(info, targetKey).column,
  }));
  const empty = pairs.findIndex(({ column }) => facts.columns.get(column)?.notNull !== true);
  if (empty >= 0) return `${parentKeys(relation)[empty]} may be NULL`;
  const isReferred = facts.foreignKeys.some(
    (each) =>
      each.isSure &&
      each.target === found.id &&
      each.columns.length === pairs.length &&
      pairs.every(
        ({ column, targetColumn }) => each.targetColumns[each.columns.indexOf(column)] === targetColumn,
      ),
  );
  return isReferred && holdsAll(describeRecords(parent), facts)
    ? null
    : `no foreign key makes sure that each row has one`;
}
