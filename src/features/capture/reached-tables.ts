/** The tables that requests of a route write: that of its resource, and those that children, links and foreign keys lead to. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { type TableWrite, tableWritesOf } from '../../declare/endpoint.js';
import { describeRecords } from '../../describe/describe-model.js';
import { foreignKeysOf } from '../../describe/foreign-keys.js';
import { hookedCascades } from '../../describe/sequelize-internals.js';
import { type ForeignKeyFacts, tableFacts } from '../../describe/table-facts.js';
import type { RowWork } from '../../operation/route-settings.js';
import { sourceOf } from './change-table.js';

/** A write of rows of a model. */
export interface RowWrite {
  readonly model: ModelClass;
  readonly write: TableWrite;
}

/** The writes of some operations, before foreign keys pass any of them on. */
export function directWrites(works: readonly RowWork[]): readonly RowWrite[] {
  return works.flatMap(({ model, operation }) => {
    const isMarked = describeRecords(model).softDelete !== null;
    return tableWritesOf(operation, isMarked).map((write) => ({ model, write }));
  });
}

/** The models of some resources, and those that their foreign keys refer to. */
export function modelsAbove(plans: readonly ResourcePlan[]): ReadonlySet<ModelClass> {
  const models = new Set(plans.map(({ model }) => model));
  // The loop also visits members that it adds to the set.
  for (const model of models)
    for (const { target } of foreignKeysOf(model)) if (target.sequelize) models.add(target);
  return models;
}

/** The tables of some writes, and those whose rows the database, or Sequelize, changes with them. */
export function reachedTables(
  direct: readonly RowWrite[],
  models: ReadonlySet<ModelClass>,
): ReadonlySet<string> {
  const reached = new Map(direct.map((each) => [keyOf(each), each]));
  // The loop also visits entries that it adds to the map.
  for (const write of reached.values())
    for (const each of passedOn(write, models)) if (!reached.has(keyOf(each))) reached.set(keyOf(each), each);
  return new Set([...reached.values()].map(sourceOf));
}

function keyOf({ model, write }: RowWrite): string {
  return `${write} ${model.name} ${sourceOf({ model })}`;
}

/** The writes of other rows that a write comes with. */
function passedOn({ model, write }: RowWrite, models: ReadonlySet<ModelClass>): readonly RowWrite[] {
  if (write === 'insert') return [];
  const facts = tableFacts(model);
  const key = new Set(describeRecords(model).primaryKey.map(({ column }) => column));
  const byKeys = [...models]
    .filter(({ sequelize }) => facts && sequelize === model.sequelize)
    .flatMap((child) =>
      (tableFacts(child)?.foreignKeys ?? [])
        .filter(({ target }) => target === facts?.id)
        .flatMap((each) => effectOf(each, write, key).map((effect) => ({ model: child, write: effect }))),
    );
  if (write === 'update') return byKeys;
  const destroyed = hookedCascades(model).flatMap((name) => {
    const { target } = model.associations[name] as { readonly target: ModelClass };
    return directWrites([{ model: target, operation: 'delete' }]);
  });
  return [...byKeys, ...destroyed];
}

/** @param key columns that no request changes */
function effectOf(
  { onDelete, onUpdate, targetColumns }: ForeignKeyFacts,
  write: 'update' | 'delete',
  key: ReadonlySet<string>,
): readonly ('update' | 'delete')[] {
  const action = write === 'delete' ? onDelete : onUpdate;
  if (action === 'NO ACTION' || action === 'RESTRICT') return [];
  if (write === 'update') return targetColumns.every((each) => key.has(each)) ? [] : ['update'];
  return action === 'CASCADE' ? ['delete'] : ['update'];
}
