/** Tests that no code of the user's observes the queries of a model, so that they may leave out steps of Sequelize's, or be replaced. */
import type { Model } from 'sequelize';
import type { ModelHooks } from 'sequelize/types/hooks';
import type { ModelClass } from '../../declare/crud-options.js';
import type { Endpoint } from '../../declare/endpoint.js';
import { describeRecords } from '../../describe/describe-model.js';
import { hasQueryHooks, hasScope } from '../../describe/hooks-and-scopes-internals.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { hookedCascades } from '../../describe/sequelize-internals.js';
import { ofTables } from '../../describe/table-facts.js';
import { keptIn } from '../../util/memo.js';
import { sequelizeProblem } from './internals-trial.js';
import { classBlockers, kindOf, tableBlockers } from './model-fast-path-blockers.js';
import { hasOwnMethods, ownMethods, queryCustomizations } from './query-customizations.js';

/** Models without any reason in their class and their Sequelize, by an object that Sequelize makes anew when a model is added. */
const PLAIN = new WeakMap<object, boolean>();

/** True where no methods, settings, hooks or scopes of the user's take part in reads or writes of a model. */
export function hasPlainQueries<M extends Model>(model: ModelClass<M>, kind: 'read' | 'write'): boolean {
  return isPlainClass(model as unknown as ModelClass) && !hasScope(model) && !hasQueryHooks(model, kind);
}

/**
 * An option of Sequelize's queries: hooks are left out where there are none. Sequelize waits at each place for a hook otherwise,
 * and validates an update a second time after them.
 */
export function hookOptions<M extends Model>(
  model: ModelClass<M>,
  kind: 'read' | 'write',
): { readonly hooks?: false } {
  return hasPlainQueries(model, kind) ? { hooks: false } : {};
}

/** Tested once; hooks and scopes can come at any time. */
function isPlainClass(model: ModelClass): boolean {
  return keptIn(
    PLAIN,
    model.getAttributes(),
    () => !sequelizeProblem() && queryCustomizations(model).length === 0,
  );
}

/** Returns true where our SQL may run an operation on a model now. */
type OpenTest = () => boolean;

const openTests = new WeakMap<ModelInfo, Map<string, OpenTest>>();

/**
 * The test for an operation of a model. Its class is judged once, its table when a catalogue was read, and hooks and scopes each
 * time.
 */
export function openTest(info: ModelInfo, operation: Endpoint, needsRecords: boolean): OpenTest {
  const tests = keptIn(openTests, info, () => new Map<string, OpenTest>());
  const name = needsRecords ? `${operation} of records` : operation;
  return keptIn(tests, name, () => compileOpenTest(info, operation, needsRecords));
}

function compileOpenTest(info: ModelInfo, operation: Endpoint, needsRecords: boolean): OpenTest {
  const { model } = info;
  const kind = kindOf(operation);
  let isPlain: boolean | undefined;
  const isOfTable = ofTables(() => tableBlockers(info, operation).length === 0);
  return () => {
    isPlain ??= !sequelizeProblem() && classBlockers(info, operation, needsRecords).length === 0;
    return isOfTable() && isPlain && !hasQueryHooks(model, kind) && !hasScope(model);
  };
}

/** True where a write runs hooks or methods of the user's, which may write too, or throw once the row is written. */
export function runsCodeInWrites<M extends Model>(model: ModelClass<M>): boolean {
  return sequelizeProblem() !== undefined || hasQueryHooks(model, 'write') || hasOwnMethods(model);
}

/** True where code of the user's runs once a row is inserted, and may write it again. */
export function runsCodeAfterInserts<M extends Model>(model: ModelClass<M>): boolean {
  const { statics, methods } = ownMethods(model);
  return statics.has('create') || methods.has('save') || hasHook(model, ['afterCreate', 'afterSave']);
}

/** True where code of the user's sees the records that a query has found, and may change or hide their values. */
export function changesFound<M extends Model>(model: ModelClass<M>): boolean {
  const { statics } = ownMethods(model);
  return statics.has('findAll') || statics.has('findOne') || hasHook(model, ['afterFind']);
}

/** True where code of the user's may change a query before it is sent. */
export function hasFindHooks<M extends Model>(model: ModelClass<M>): boolean {
  return sequelizeProblem() !== undefined || hasQueryHooks(model, 'find');
}

/** True where a delete runs code of the user's for each row. */
export function hasDestroyHooks<M extends Model>(model: ModelClass<M>): boolean {
  return hasHook(model, ['beforeDestroy', 'afterDestroy']);
}

function hasHook<M extends Model>(model: ModelClass<M>, names: readonly (keyof ModelHooks)[]): boolean {
  const { sequelize } = model;
  return names.some((name) => model.hasHook(name) || sequelize?.hasHook(name));
}

/**
 * True where Sequelize deletes a record in more steps than one statement, or by methods of the user's. A soft delete
 * saves the record, and deletes nothing along. Sequelize has no statement of its own for a mark of `softDelete`.
 */
export function destroysRecords<M extends Model>(model: ModelClass<M>, isForced: boolean): boolean {
  const { methods } = ownMethods(model);
  const plain = model as unknown as ModelClass;
  const kept = isForced ? null : describeRecords(plain).softDelete;
  if (kept?.values) return true;
  if ((kept ? SOFT_DESTROY : DESTROY).some((name) => methods.has(name))) return true;
  return !kept && hookedCascades(plain).length > 0;
}

/** True where Sequelize deletes rows of other models before a row, and does not report that a policy has kept that one. */
export function deletesAlong<M extends Model>(model: ModelClass<M>): boolean {
  const { methods } = ownMethods(model);
  return (
    hookedCascades(model as unknown as ModelClass).length > 0 && !DESTROY.some((name) => methods.has(name))
  );
}

/** The methods that Sequelize's `destroy` is, or calls. */
const DESTROY = ['destroy', 'where', 'get'];
const SOFT_DESTROY = [...DESTROY, 'save', 'validate', 'changed', 'getDataValue', 'setDataValue'];
