/** SQL for migrations: the tables and indexes that an application needs beside its models. No database is queried. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import type { RecordInfo } from '../describe/model-info.js';
import { constrainedModel } from '../describe/sequelize-internals.js';
import { columnOf, type IndexInfo, type IndexKey } from '../execute/sql/table-indexes.js';
import type { FeatureNeeds } from '../operation/feature.js';
import { adviseIndexes, indexNeeds, tablesRead } from './index-advice.js';
import { ownTables } from './own-tables.js';

/**
 * The tables of ours, and the indexes that are missing by the models.
 *
 * @param options of `bootstrap` whose tables are needed; null: all tables
 */
export function describeSql(
  plans: readonly ResourcePlan[],
  features: readonly FeatureNeeds[],
  options: object | null,
): string {
  let option: string | undefined;
  const needed = ownTables(plans, features).filter(
    (table) => !table.option || !options || table.option in options,
  );
  const tables = needed.flatMap((table) => {
    const isOfAnother = table.option !== option;
    option = table.option;
    const remark = isOfAnother && option ? [`-- For the option ${option} of bootstrap.`] : [];
    return [...remark, ...table.definition.map(ended)];
  });
  const infos = new Map(plans.flatMap(tablesRead).map((info) => [info.model, info]));
  const indexesOf = (model: ModelClass): readonly IndexInfo[] => declaredIndexes(infos.get(model));
  const needs = plans.flatMap((plan) => indexNeeds(plan, features));
  const lines = adviseIndexes(needs, indexesOf);
  const columns = plans.flatMap((plan) => addedColumns(plan, features));
  return `${[...tables, ...columns, ...lines.map(asComment)].join('\n')}\n`;
}

function addedColumns(plan: ResourcePlan, features: readonly FeatureNeeds[]): readonly string[] {
  return features
    .flatMap((feature) => feature.columns?.(plan) ?? [])
    .map((each) => `-- ${plan.name}: a column that the model lacks\n${ended(each)}`);
}

function ended(statement: string): string {
  return `${statement};`;
}

/** An advice is a sentence and a statement. */
function asComment(advice: string): string {
  return advice.replace(/^(.*?); (CREATE (?:EXTENSION|INDEX) .*)$/s, '-- $1\n$2');
}

function declaredIndexes(info: RecordInfo | undefined): IndexInfo[] {
  if (!info) return [];
  const { uniqueKeys = {}, _indexes = [] } = constrainedModel(info.model);
  const whole = _indexes.filter((index) => !('where' in index && index.where));
  return [
    { method: 'btree', keys: keysOf(info, info.model.primaryKeyAttributes) },
    ...Object.values(uniqueKeys).map(({ fields }) => ({ method: 'btree', keys: keysOf(info, fields) })),
    ...whole.map(({ fields = [], ...index }) => ({ method: methodOf(index), keys: keysOf(info, fields) })),
  ];
}

function methodOf(index: object): string {
  const { using, type } = index as { readonly using?: unknown; readonly type?: unknown };
  return String(using ?? type ?? 'btree').toLowerCase();
}

/** The keys up to an expression. */
function keysOf(info: RecordInfo, fields: readonly unknown[]): IndexKey[] {
  const keys: IndexKey[] = [];
  for (const field of fields) {
    const { name, order } = (typeof field === 'object' && field !== null ? field : { name: field }) as {
      readonly name?: unknown;
      readonly order?: unknown;
    };
    if (typeof name !== 'string') break;
    keys.push({ column: columnOf(info, name), descending: String(order).toUpperCase() === 'DESC' });
  }
  return keys;
}
