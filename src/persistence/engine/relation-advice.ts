/** Which relations no index serves: each record that includes one of them reads all rows of another table. */
import type { ModelClass } from '../../metadata/crud-options.js';
import type { RecordInfo } from '../../model/model-info.js';
import {
  everyInclude,
  type RelatedPlan,
  type ResourcePlan,
  type SortTerm,
} from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import { columnOf, type IndexInfo, indexColumns, servesOrder } from '../sql/table-indexes.js';

/** The indexes of a table; undefined where there is no such table. */
export type IndexesOf = (model: ModelClass) => readonly IndexInfo[] | undefined;

/** The models whose tables are read for a resource and its relations. */
export function tablesRead({ info, relations }: ResourcePlan): readonly RecordInfo[] {
  const related = [...everyInclude(relations.include), ...relations.subresources.values()];
  return [info, ...related.flatMap(({ target, through }) => [target.info, ...(through ? [through] : [])])];
}

/** One line for each relation that may be asked for and that no index serves, with the index that would. */
export function adviseRelations(plan: ResourcePlan, indexesOf: IndexesOf): string[] {
  // Two relations may lead over the same rows.
  const lines = new Map<string, string>();
  for (const [need, related] of relationsAsked(plan)) {
    for (const index of missingIndexes(related, indexesOf)) {
      const line = `${plan.name}: no index serves ${need}; CREATE INDEX ON ${index};`;
      if (!lines.has(index)) lines.set(index, line);
    }
  }
  return [...lines.values()];
}

/** The relations whose rows a client can ask for, and how. */
function relationsAsked({ relations }: ResourcePlan): readonly (readonly [need: string, RelatedPlan])[] {
  const included = everyInclude(relations.include).map((plan) => [plan.path, 'include', plan] as const);
  const lists = [...relations.subresources].map(([name, plan]) => [name, 'subresources', plan] as const);
  return [...included, ...lists].map(([path, option, plan]) => [`the relation '${path}' (${option})`, plan]);
}

function missingIndexes(plan: RelatedPlan, indexesOf: IndexesOf): string[] {
  const { relation, target, through } = plan;
  const between =
    relation.through && through ? missingKey(through, relation.through.parentKey, indexesOf) : [];
  // The rows behind others are found by their own key, and sorted then.
  const isByKey = relation.isOne || through !== null;
  return [
    ...between,
    ...(isByKey ? missingKey(target.info, relation.targetKey, indexesOf) : missingOrder(plan, indexesOf)),
  ];
}

/** Any index that begins with the key; a primary or unique one has it. */
function missingKey(info: RecordInfo, key: string, indexesOf: IndexesOf): string[] {
  const indexes = indexesOf(info.model);
  if (!indexes || indexes.some(({ keys }) => keys[0]?.column === columnOf(info, key))) return [];
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
