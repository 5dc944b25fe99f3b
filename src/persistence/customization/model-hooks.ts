/** Which of a user's hooks would see an operation. Asked at each operation, because hooks can be added at any time. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';

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

/** Hooks that see neither queries nor records. */
const OTHER_HOOKS: ReadonlySet<string> = new Set([
  'beforeDefine',
  'afterDefine',
  'beforeInit',
  'afterInit',
  'beforeAssociate',
  'afterAssociate',
  'beforeConnect',
  'afterConnect',
  'beforeDisconnect',
  'afterDisconnect',
  'beforePoolAcquire',
  'afterPoolAcquire',
  'beforeSync',
  'afterSync',
  'beforeBulkSync',
  'afterBulkSync',
]);

/** What reads run; others are those of writes. */
const READ_HOOKS: ReadonlySet<string> = new Set([...FIND_HOOKS, 'afterFind', 'beforeQuery', 'afterQuery']);

/** Whether any code of the user's would see a read, or a write. */
export function hasQueryHooks<M extends Model>(model: ModelClass<M>, kind: 'read' | 'write'): boolean {
  const { options, sequelize } = model as unknown as HookedModel;
  return hasHooks(options.hooks, kind) || hasHooks(sequelize.options.hooks, kind);
}

/** The hooks through which code of the user's would see a read, or a write, each with what has it. */
export function queryHooks<M extends Model>(model: ModelClass<M>, kind: 'read' | 'write'): string[] {
  const { options, sequelize } = model as unknown as HookedModel;
  return [
    ...seenHooks(options.hooks, kind).map((name) => `the model has a hook ${name}`),
    ...seenHooks(sequelize.options.hooks, kind).map((name) => `its Sequelize has a hook ${name}`),
  ];
}

type Hooks = Readonly<Record<string, readonly unknown[] | undefined>>;

/** Where Sequelize keeps hooks; not in its types. */
interface HookedModel {
  readonly options: { readonly hooks?: Hooks };
  readonly sequelize: { readonly options: { readonly hooks?: Hooks } };
}

function hasHooks(hooks: Hooks | undefined, kind: 'read' | 'write'): boolean {
  for (const name in hooks) if (isSeen(name, kind) && hooks[name]?.length) return true;
  return false;
}

function seenHooks(hooks: Hooks = {}, kind: 'read' | 'write'): string[] {
  return Object.keys(hooks).filter((name) => isSeen(name, kind) && hooks[name]?.length);
}

function isSeen(name: string, kind: 'read' | 'write'): boolean {
  return kind === 'read' ? READ_HOOKS.has(name) : !OTHER_HOOKS.has(name);
}
