/** Relations that no index serves: to follow one of them from a record reads all rows of another table. */

import {
  everyInclude,
  type RelatedPlan,
  type RelationFilter,
  type ResourcePlan,
} from '../compile/resource-plan.js';
import type { RecordInfo } from '../describe/model-info.js';
import { type IndexInfo, servesOrder, startsWith } from '../execute/sql/table-indexes.js';
import type { FeatureNeeds } from '../operation/feature.js';
import { ascending, attributeNeed, type IndexNeed, indexOf, listNeeds } from './index-advice.js';

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

type UnnamedNeed = Omit<IndexNeed, 'text'>;

function needsOf({ plan, option }: AskedRelation): UnnamedNeed[] {
  const { relation, target, through } = plan;
  const between = relation.through && through ? [keyNeed(through, relation.through.parentKey)] : [];
  // The rows behind others are found by their own key, and sorted then. A filter asks whether there is one.
  const isByKey = relation.isOne || through !== null || option === 'filterAllow';
  const scope = [...(target.access?.scope.keys() ?? [])];
  return [...between, isByKey ? keyNeed(target.info, relation.targetKey, scope) : orderNeed(plan)];
}

/** Any index that begins with the key, alone or along with the scope; a primary or unique key has one. */
function keyNeed(info: RecordInfo, key: string, scope: readonly string[] = []): UnnamedNeed {
  const serves = ({ keys }: IndexInfo): boolean =>
    [[key], [...scope, key]].some((first) => startsWith(info, keys, first));
  return { ...indexOf(info, [ascending(key)]), serves };
}

/** One that has the rows of a parent in their order, so that no more of them are read than are answered. */
function orderNeed({ relation, target }: RelatedPlan): UnnamedNeed {
  const { info, access, defaultSort } = target;
  const within = [...(access?.scope.keys() ?? []), relation.targetKey];
  // The rows with one of several values have no order of their own.
  const fixed = Object.entries(relation.scope).flatMap(([name, value]) => (Array.isArray(value) ? [] : name));
  const equal = [...new Set([...within, ...fixed])];
  const serves = (index: IndexInfo): boolean =>
    [within, equal].some((first) => servesOrder(info, index, first, defaultSort));
  const rest = defaultSort.filter(({ attribute }) => !equal.includes(attribute));
  return { ...indexOf(info, [...equal.map(ascending), ...rest]), serves };
}
