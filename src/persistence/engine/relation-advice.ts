/** Which relations no index serves: what follows one of them from a record reads all rows of another table. */
import type { ModelClass } from '../../metadata/crud-options.js';
import type { RecordInfo } from '../../model/model-info.js';
import {
  everyInclude,
  type RelatedPlan,
  type RelationFilter,
  type ResourcePlan,
  type SortTerm,
} from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import { type IndexInfo, indexColumns, servesOrder, startsWith } from '../sql/table-indexes.js';

/** The indexes of a table; undefined where there is no such table. */
export type IndexesOf = (model: ModelClass) => readonly IndexInfo[] | undefined;

/** The models whose tables are read for a resource and its relations. */
export function tablesRead(plan: ResourcePlan): readonly RecordInfo[] {
  const related = relationsAsked(plan).flatMap(({ plan: { target, through } }) => [
    target.info,
    ...(through ? [through] : []),
  ]);
  return [plan.info, ...related];
}

/** One line for each relation that may be asked for and that no index serves, with the index that would. */
export function adviseRelations(plan: ResourcePlan, indexesOf: IndexesOf): string[] {
  // Two relations may lead over the same rows.
  const lines = new Map<string, string>();
  for (const asked of relationsAsked(plan)) {
    for (const index of missingIndexes(asked, indexesOf)) {
      const need = `the relation '${asked.path}' (${asked.option})`;
      const line = `${plan.name}: no index serves ${need}; CREATE INDEX ON ${index};`;
      if (!lines.has(index)) lines.set(index, line);
    }
  }
  return [...lines.values()];
}

/** A relation that requests can follow, and the option that lets them. */
interface AskedRelation {
  readonly path: string;
  readonly option: 'include' | 'subresources' | 'filterAllow';
  readonly plan: RelatedPlan;
}

function relationsAsked({ relations }: ResourcePlan): readonly AskedRelation[] {
  const shown: readonly AskedRelation[] = [
    ...everyInclude(relations.include).map((plan) => ({ path: plan.path, option: 'include', plan }) as const),
    ...[...relations.subresources].map(([path, plan]) => ({ path, option: 'subresources', plan }) as const),
  ];
  // The index that shows the rows of a relation begins with the key that a filter by it needs.
  const isShown = new Set(shown.map(({ path }) => path));
  return [...shown, ...filtersIn(relations.filters).filter(({ path }) => !isShown.has(path))];
}

function filtersIn(filters: ReadonlyMap<string, RelationFilter>, prefix = ''): readonly AskedRelation[] {
  return [...filters].flatMap(([name, { related, relations }]) => [
    { path: `${prefix}${name}`, option: 'filterAllow', plan: related },
    ...filtersIn(relations, `${prefix}${name}.`),
  ]);
}

function missingIndexes({ plan, option }: AskedRelation, indexesOf: IndexesOf): string[] {
  const { relation, target, through } = plan;
  const between =
    relation.through && through ? missingKey(through, relation.through.parentKey, indexesOf) : [];
  // The rows behind others are found by their own key, and sorted then. A filter asks whether there is one.
  const isByKey = relation.isOne || through !== null || option === 'filterAllow';
  return [
    ...between,
    ...(isByKey
      ? missingKey(target.info, relation.targetKey, indexesOf, [...(target.access?.scope.keys() ?? [])])
      : missingOrder(plan, indexesOf)),
  ];
}

/** Any index that begins with the key, alone or along with the scope; a primary or unique key has one. */
function missingKey(
  info: RecordInfo,
  key: string,
  indexesOf: IndexesOf,
  scope: readonly string[] = [],
): string[] {
  const indexes = indexesOf(info.model);
  const serves = ({ keys }: IndexInfo): boolean =>
    [[key], [...scope, key]].some((first) => startsWith(info, keys, first));
  if (!indexes || indexes.some(serves)) return [];
  return [`${quotedTable(info.model)} (${indexColumns(info, [ascending(key)])})`];
}

/** One that has the rows of a parent in their order, so that no more of them are read than are answered. */
function missingOrder({ relation, target }: RelatedPlan, indexesOf: IndexesOf): string[] {
  const { info, access, defaultSort } = target;
  const indexes = indexesOf(relation.target);
  const within = [...(access?.scope.keys() ?? []), relation.targetKey];
  // The rows with one of several values have no order of their own.
  const fixed = Object.entries(relation.scope).flatMap(([name, value]) => (Array.isArray(value) ? [] : name));
  const equal = [...new Set([...within, ...fixed])];
  const serves = (index: IndexInfo): boolean =>
    [within, equal].some((first) => servesOrder(info, index, first, defaultSort));
  if (!indexes || indexes.some(serves)) return [];
  const rest = defaultSort.filter(({ attribute }) => !equal.includes(attribute));
  return [`${quotedTable(relation.target)} (${indexColumns(info, [...equal.map(ascending), ...rest])})`];
}

function ascending(attribute: string): SortTerm {
  return { attribute, descending: false };
}
