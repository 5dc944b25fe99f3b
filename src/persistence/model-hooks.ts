/** Which of a user's hooks would see an operation. Asked at each operation, because hooks can be added at any time. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';

/** `hasHook` of Sequelize looks at the model's own hooks only. */
interface Hookable {
  hasHook(name: string): boolean;
  readonly sequelize?: Hookable;
}

const WRITE_HOOKS = [
  'beforeValidate',
  'validationFailed',
  'afterValidate',
  'beforeSave',
  'afterSave',
  'beforeCreate',
  'afterCreate',
  'beforeUpdate',
  'afterUpdate',
  'beforeDestroy',
  'afterDestroy',
  'beforeBulkDestroy',
  'afterBulkDestroy',
];

const FIND_HOOKS = ['beforeFind', 'beforeFindAfterExpandIncludeAll', 'beforeFindAfterOptions', 'beforeCount'];

/** Whether a write runs code of the user's, which may write too. */
export function hasWriteHooks<M extends Model>(model: ModelClass<M>): boolean {
  return hasAny(model, [...WRITE_HOOKS, ...FIND_HOOKS]);
}

/** Whether a delete runs code of the user's for each row. */
export function hasDestroyHooks<M extends Model>(model: ModelClass<M>): boolean {
  return hasAny(model, ['beforeDestroy', 'afterDestroy']);
}

/** Whether code of the user's may change a query before it is sent. */
export function hasFindHooks<M extends Model>(model: ModelClass<M>): boolean {
  return hasAny(model, FIND_HOOKS);
}

function hasAny(model: unknown, names: readonly string[]): boolean {
  const { sequelize } = model as Hookable;
  return names.some((name) => (model as Hookable).hasHook(name) || sequelize?.hasHook(name) === true);
}
