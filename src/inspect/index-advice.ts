/** Orders, filters and relations of requests that no index can serve: on a large table each of them reads all rows. */

import type { DataType } from 'sequelize';
import {
  followsRelation,
  isOfAttribute,
  orderNames,
  sortRelations,
  termsOf,
} from '../compile/compile-sort.js';
import {
  everyInclude,
  type RelatedPlan,
  type RelationFilter,
  type ResourcePlan,
  type SortTerm,
} from '../compile/resource-plan.js';
import type { JsonType, ModelClass } from '../declare/crud-options.js';
import { operatorRow } from '../declare/filter-operators.js';
import { isRangeType } from '../describe/column-type.js';
import { describeRecords } from '../describe/describe-model.js';
import type { RecordInfo } from '../describe/model-info.js';
import { parentKeys, targetKeys } from '../describe/relations.js';
import { dataTypeInstance } from '../describe/sequelize-internals.js';
import { compilePredicate, jsonPathSql } from '../execute/sql/predicate-sql.js';
import { looseReason } from '../execute/sql/sort-sql.js';
import { identifier, quotedTable, raw } from '../execute/sql/sql-fragment.js';
import {
  columnOf,
  expressionKey,
  type IndexInfo,
  type IndexKey,
  indexColumns,
  indexedAs,
  servesOrder,
  startsWith,
} from '../execute/sql/table-indexes.js';
import { aliveRows } from '../features/soft-delete/deletion.js';
import type { FeatureNeeds, IndexAdvice } from '../operation/feature.js';
import { groupBy } from '../util/memo.js';
import type { IndexRow } from './catalogue.js';

/** Bits of `indoption` (`pg_index.h`). */
const DESCENDING = 1;
const NULLS_FIRST = 2;

/** An index, as far as its use is concerned. */
export function readIndex({ method, columns, expressions, options, collations }: IndexRow): IndexInfo {
  const keys = columns.map((name, position): IndexKey => {
    const option = options[position] ?? 0;
    const collation = collations[position] ?? '';
    // An index of another collation than that of its column serves neither its orders nor its filters.
    const isPlain = name !== null && collation === '';
    const column = isPlain ? name : expressionKey(`${name ?? expressions[position]}${collation}`);
    const nulls = (option & NULLS_FIRST) === 0 ? 'last' : 'first';
    return { column, descending: (option & DESCENDING) !== 0, nulls };
  });
  return { method, keys };
}

/** The condition of rows that are not soft-deleted, as a partial index has it; null where none can be. */
export function aliveSql(info: RecordInfo): string | null {
  const alive = aliveRows(info);
  const column = (attribute: string) => raw(identifier(columnOf(info, attribute)));
  return alive && compilePredicate(alive, column).texts.join('');
}

/** True where an index has the rows of all statements without deleted ones: PostgreSQL finds it by the same condition alone. */
export function holdsAlive(info: RecordInfo, predicate: string | null): boolean {
  if (predicate === null) return true;
  const alive = aliveSql(info);
  return alive !== null && plainCondition(predicate) === plainCondition(alive);
}

/** A condition without the parts that PostgreSQL adds when it writes it. */
export function plainCondition(text: string): string {
  return text
    .replaceAll(/::(?:character varying|double precision|"[^"]*"|[\w.]+)(?:\(\d+\))?/g, '')
    .replaceAll(/[\s"'()]/g, '');
}

/** An order or a filter of a table that an index can serve, and that index. */
interface IndexNeed extends IndexInfo {
  readonly model: ModelClass;
  /** Text for people: `City: no index serves the order 'name' (sortAllow)`. */
  readonly text: string;
  /** The table and the columns, as `CREATE INDEX ON` has them. */
  readonly index: string;
  /** The extension that it needs. Default: none. */
  readonly extension?: string | undefined;
  /** Columns beside its own with which an index that serves it may begin. Default: none. */
  readonly first?: readonly string[];
  serves(index: IndexInfo): boolean;
}

function indexOf(info: RecordInfo, terms: readonly SortTerm[]): Omit<IndexNeed, 'text' | 'serves'> {
  return {
    model: info.model,
    method: 'btree',
    index: `${quotedTable(info.model)} (${indexColumns(info, terms)})`,
    keys: terms.map((term) => ({ ...term, column: indexedAs(info, term) })),
  };
}

/** The indexes of a table; undefined where there is no such table. */
type IndexesOf = (model: ModelClass) => readonly IndexInfo[] | undefined;

/** One line for each index that is missing, without those whose needs the others serve: in the other direction, too. */
export function adviseIndexes(needs: readonly IndexNeed[], indexesOf: IndexesOf): string[] {
  const missing = needs.filter(
    (need) => indexesOf(need.model)?.some((index) => need.serves(index)) === false,
  );
  const byModel = groupBy(missing, ({ model }) => model);
  const advised = new Set([...byModel.values()].flatMap(fewest));
  return missing
    .filter((need) => advised.has(need))
    .map(({ text, index, extension }) => {
      const before = extension === undefined ? '' : `CREATE EXTENSION IF NOT EXISTS ${extension}; `;
      return `${text}; ${before}CREATE INDEX ON ${index};`;
    });
}

/** Fewest indexes of a table that serve all needs: the first and longest ones of those that can replace others. */
function fewest(own: readonly IndexNeed[]): readonly IndexNeed[] {
  const kept = new Set(own);
  // A need has to be held against few of the others: a table of 300 columns has a hundred thousand pairs.
  const beginning = groupBy(own, ({ keys: [key] }) => key?.column);
  const serving = new Map(own.map((need) => [need, servingIndexes(need, beginning)]));
  const served = new Map<IndexNeed, IndexNeed[]>(own.map((index) => [index, []]));
  for (const [need, indexes] of serving) for (const index of indexes) served.get(index)?.push(need);
  for (const index of own.toReversed().sort((one, other) => one.keys.length - other.keys.length)) {
    const isServedElse = (need: IndexNeed) =>
      serving.get(need)?.some((each) => each !== index && kept.has(each));
    if (served.get(index)?.every(isServedElse)) kept.delete(index);
  }
  return [...kept];
}

/** The indexes that serve a need: its own, and those of others. @param beginning needs by the first column of their index */
function servingIndexes(
  need: IndexNeed,
  beginning: ReadonlyMap<string | undefined, readonly IndexNeed[]>,
): readonly IndexNeed[] {
  const columns = new Set([...need.keys.map(({ column }) => column), ...(need.first ?? [])]);
  const others = [...columns].flatMap((column) => beginning.get(column) ?? []);
  return [need, ...others.filter((index) => index !== need && need.serves(index))];
}

/** The orders and filters of a resource. Where the rows are scoped, an index begins with the columns of the scope. */
function listNeeds(plan: ResourcePlan): IndexNeed[] {
  const { info, access, name } = plan;
  const key = info.primaryKey.map(({ name }) => name);
  const scope = [...(access?.scope.keys() ?? [])];
  const within = scope.length > 0 ? ` within the scope of ${scope.join(', ')}` : '';
  const need = (what: string, terms: readonly SortTerm[], serves: IndexNeed['serves']): IndexNeed => {
    const ordered = terms.filter((term) => !scope.some((name) => isOfAttribute(term, name)));
    const isNamed = (name: string) =>
      scope.includes(name) || ordered.some((term) => isOfAttribute(term, name));
    const missing = key.filter((name) => !isNamed(name));
    // An index in the other direction makes PostgreSQL sort rows of one value, and all rows without a value.
    const { descending = false } = ordered.at(-1) ?? {};
    const last = missing.map((attribute) => ({ attribute, descending }));
    const keys = [...scope.map(ascending), ...ordered, ...last];
    return { ...indexOf(info, keys), text: `${name}: no index serves ${what}${within}`, serves };
  };
  const order = (option: string, terms: readonly SortTerm[]): IndexNeed => {
    return need(`the order '${orderNames(terms)}' (${option})`, terms, (index) =>
      servesOrder(info, index, scope, terms),
    );
  };
  // An index for each column would cost each write more than it is worth.
  const { everything } = plan;
  const own = plan.sortable.filter((each) => !followsRelation(termsOf(plan, each, false)));
  const sorted = everything.has('sortAllow') ? [] : own;
  const compared = everything.has('filterAllow') ? [] : [...plan.filters];
  return [
    ...sorted.flatMap((name) => directionsOf(plan, name).map((terms) => order('sortAllow', terms))),
    order('defaultSort', plan.defaultSort),
    ...compared.map(([filter, { type, operators, jsonType }]) => {
      const serves = `a filter by '${filter}' (filterAllow)`;
      if (jsonType) return pathNeed(plan, filter, jsonType, within);
      const [method] = operators.flatMap((operator) => operatorRow(operator, isRangeType(type)).index ?? []);
      if (method && (type.kind === 'array' || isRangeType(type)))
        return attributeNeed(plan, { serves, attribute: filter, method });
      return need(serves, [ascending(filter)], ({ keys }) => servesFilter(plan, keys, scope, filter));
    }),
  ];
}

/** The orders by a name that indexes of their own serve: one walked backward has its NULLs on the other side. */
function directionsOf(plan: ResourcePlan, name: string): readonly (readonly SortTerm[])[] {
  const ascending = termsOf(plan, name, false);
  return ascending.some(({ nulls }) => nulls) ? [ascending, termsOf(plan, name, true)] : [ascending];
}

/** An index of the expression that is compared, behind the columns of the scope. */
function pathNeed(
  { info, name, access }: ResourcePlan,
  path: string,
  jsonType: JsonType,
  within: string,
): IndexNeed {
  const scope = [...(access?.scope.keys() ?? [])];
  const before = scope.map(ascending);
  const { value } = jsonPathSql(path, jsonType, (attribute) => raw(identifier(columnOf(info, attribute))));
  const [expression = ''] = value.texts;
  const scoped = indexOf(info, before);
  const key = { column: expressionKey(expression), descending: false };
  const columns = [...(scope.length > 0 ? [indexColumns(info, before)] : []), expression];
  return {
    ...scoped,
    text: `${name}: no index serves a filter by '${path}' (filterAllow)${within}`,
    keys: [...scoped.keys, key],
    index: `${quotedTable(info.model)} (${columns.join(', ')})`,
    serves: ({ keys }) => startsWith(info, keys, scope) && keys[scope.length]?.column === key.column,
  };
}

/** Need of an index over one attribute. GIN and GiST take columns in any order, and those of a scope by an extension only. */
function attributeNeed(
  plan: ResourcePlan,
  { serves, attribute, method = 'btree', operators, extension }: IndexAdvice,
): IndexNeed {
  const { info, name } = plan;
  const isOther = method !== 'btree';
  const scope = isOther ? [] : [...(plan.access?.scope.keys() ?? [])];
  const need = indexOf(info, [...new Set([...scope, attribute])].map(ascending));
  const column = columnOf(info, attribute);
  const text = `(${identifier(column)}::text)`;
  const indexed = operators && isPadded(info, attribute) ? text : identifier(column);
  const key = operators ? `${indexed} ${operators}` : indexed;
  const columns = [column, expressionKey(text)];
  return {
    ...need,
    text: `${name}: no index serves ${serves}`,
    method,
    extension,
    index: isOther ? `${quotedTable(info.model)} USING ${method} (${key})` : need.index,
    serves: (index) =>
      index.method === method &&
      (isOther
        ? index.keys.some((each) => columns.includes(each.column))
        : servesFilter(plan, index.keys, scope, attribute)),
  };
}

/** True for a column of `char(n)`, whose texts have indexes of their own. */
function isPadded({ attributes, model }: RecordInfo, attribute: string): boolean {
  const declared = dataTypeInstance(model.getAttributes()[attribute]?.type as DataType);
  const { found } = attributes.get(attribute) ?? {};
  return found ? found.baseType === 'character' : typeof declared !== 'string' && declared.key === 'CHAR';
}

/** A key as orders have it unless they say otherwise. */
function ascending(attribute: string): SortTerm {
  return { attribute, descending: false };
}

function servesFilter(
  { info }: ResourcePlan,
  keys: readonly IndexKey[],
  scope: readonly string[],
  attribute: string,
): boolean {
  const [address, ...others] = info.address;
  // One value of an address is one row at most, in any scope.
  if (
    address?.isAddress &&
    others.length === 0 &&
    attribute === address.name &&
    keys[0]?.column === address.column
  )
    return true;
  if (!startsWith(info, keys, scope)) return false;
  return scope.includes(attribute) || keys[scope.length]?.column === columnOf(info, attribute);
}

/** A line for each relation whose rows no index has in the order of `sortAllow`, with the reason. */
export function looseSortLines(plan: ResourcePlan): string[] {
  return sortRelations(plan).flatMap((related) => {
    const reason = looseReason(related);
    if (reason === null) return [];
    return [
      `${plan.name}: each page in an order by '${related.relation.name}.…' (sortAllow) reads and sorts all rows of the list, because ${reason}; ` +
        'on a large table copy the value into a column of it.',
    ];
  });
}

/** The models whose tables are read for a resource and its relations. */
export function tablesRead(plan: ResourcePlan): readonly RecordInfo[] {
  const related = relationsAsked(plan).flatMap(({ plan: { target, through } }) => [
    target.info,
    ...(through ? [through] : []),
  ]);
  return [plan.info, ...related];
}

/** Index needs of a resource: of its lists, of its relations, and of features. */
export function indexNeeds(plan: ResourcePlan, features: readonly FeatureNeeds[]): IndexNeed[] {
  const relations = relationsAsked(plan).flatMap((asked) =>
    needsOf(asked).map((need) => ({
      ...need,
      text: `${plan.name}: no index serves the relation '${asked.path}' (${asked.option})`,
    })),
  );
  const others = features.flatMap(({ indexes }) => indexes?.(plan) ?? []);
  return [...listNeeds(plan), ...relations, ...others.map((advice) => attributeNeed(plan, advice))];
}

interface AskedRelation {
  readonly path: string;
  readonly option: 'include' | 'subresources' | 'filterAllow' | 'sortAllow';
  readonly plan: RelatedPlan;
}

function relationsAsked(resource: ResourcePlan): readonly AskedRelation[] {
  const { relations } = resource;
  const shown: readonly AskedRelation[] = [
    ...everyInclude(relations.include).map((plan) => ({ path: plan.path, option: 'include', plan }) as const),
    ...[...relations.subresources].map(([path, plan]) => ({ path, option: 'subresources', plan }) as const),
  ];
  // The index that shows the rows of a relation begins with the key that a filter by it needs.
  const isShown = new Set(shown.map(({ path }) => path));
  const sorted = sortRelations(resource).map(
    (plan) => ({ path: plan.relation.name, option: 'sortAllow', plan }) as const,
  );
  const others = [...sorted, ...filtersIn(relations.filters)];
  return [...shown, ...others.filter(({ path }) => !isShown.has(path))];
}

function filtersIn(filters: ReadonlyMap<string, RelationFilter>, prefix = ''): readonly AskedRelation[] {
  return [...filters].flatMap(([name, { related, relations }]) => [
    { path: `${prefix}${name}`, option: 'filterAllow', plan: related },
    ...filtersIn(relations, `${prefix}${name}.`),
  ]);
}

type UnnamedNeed = Omit<IndexNeed, 'text'>;

function needsOf({ plan, option }: AskedRelation): UnnamedNeed[] {
  const { relation, target, through } = plan;
  const between = relation.through && through ? [keyNeed(through, [relation.through.parentKey])] : [];
  // The rows behind others are found by their own key, and sorted then. A filter tests that there is one.
  const isByKey = relation.isOne || through !== null || option === 'filterAllow';
  const scope = [...(target.access?.scope.keys() ?? [])];
  // The rows of each value are read in the order of the values.
  const walked =
    option === 'sortAllow' ? [keyNeed(describeRecords(relation.parent), parentKeys(relation))] : [];
  return [
    ...between,
    isByKey ? keyNeed(target.info, targetKeys(relation), scope) : orderNeed(plan),
    ...(looseReason(plan) === null ? walked : []),
  ];
}

/** Any index that begins with the key, alone or along with the scope; a primary or unique key has one. */
function keyNeed(info: RecordInfo, key: readonly string[], scope: readonly string[] = []): UnnamedNeed {
  const all = [...new Set([...scope, ...key])];
  const serves = ({ keys }: IndexInfo): boolean => [key, all].some((first) => startsWith(info, keys, first));
  return { ...indexOf(info, key.map(ascending)), serves, first: scope.map((name) => columnOf(info, name)) };
}

/** An index with the rows of a parent in their order, so that no more of them are read than are answered. */
function orderNeed({ relation, target }: RelatedPlan): UnnamedNeed {
  const { info, access, defaultSort } = target;
  const within = [...new Set([...(access?.scope.keys() ?? []), ...targetKeys(relation)])];
  // The rows with one of several values have no order of their own.
  const fixed = Object.entries(relation.scope).flatMap(([name, value]) => (Array.isArray(value) ? [] : name));
  const equal = [...new Set([...within, ...fixed])];
  const serves = (index: IndexInfo): boolean =>
    [within, equal].some((first) => servesOrder(info, index, first, defaultSort));
  const rest = defaultSort.filter((term) => !equal.some((name) => isOfAttribute(term, name)));
  return { ...indexOf(info, [...equal.map(ascending), ...rest]), serves };
}
