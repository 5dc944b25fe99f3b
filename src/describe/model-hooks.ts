/** Hooks of the user's that an operation runs. Read at each operation, because hooks can be added at any time. */
import { type Model, Model as PlainModel } from 'sequelize';
import { Model as TypescriptModel } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { type ConformedInclude, conformedIncludes } from './include-internals.js';
import { type Hooks, hooksOf, scopeOf } from './sequelize-internals.js';

/** Sequelize's hooks, each in one class, as words of a text. One that is in none sees everything. */
export const HOOK_CLASSES = {
  /** May change a query before it is sent. Writes have queries, too. */
  find: 'beforeFind beforeFindAfterExpandIncludeAll beforeFindAfterOptions beforeCount',
  /** Sees a query of any kind, or the records that it returns. */
  query: 'afterFind beforeQuery afterQuery',
  /** Sees a write. */
  write:
    'beforeValidate validationFailed afterValidate beforeSave afterSave beforeCreate afterCreate beforeUpdate ' +
    'afterUpdate beforeDestroy afterDestroy beforeBulkDestroy afterBulkDestroy beforeRestore afterRestore ' +
    'beforeUpsert afterUpsert beforeBulkCreate afterBulkCreate beforeBulkRestore afterBulkRestore beforeBulkUpdate ' +
    'afterBulkUpdate',
  /** Sees neither queries nor records. */
  none:
    'beforeDefine afterDefine beforeInit afterInit beforeAssociate afterAssociate beforeConnect afterConnect ' +
    'beforeDisconnect afterDisconnect beforePoolAcquire afterPoolAcquire beforeSync afterSync beforeBulkSync afterBulkSync',
} as const;

type HookClass = keyof typeof HOOK_CLASSES;

const CLASS_OF: ReadonlyMap<string, HookClass> = new Map(
  (Object.keys(HOOK_CLASSES) as HookClass[]).flatMap((each) =>
    HOOK_CLASSES[each].split(' ').map((name) => [name, each] as const),
  ),
);

/** Hook classes that run at an operation, or may change a query before it is sent. */
const SEEN_BY: Readonly<Record<'read' | 'write' | 'find', ReadonlySet<HookClass>>> = {
  read: new Set(['find', 'query']),
  write: new Set(['find', 'query', 'write']),
  find: new Set(['find']),
};

/** True where a hook of the user's runs at a read or a write, or may change a query before it is sent. */
export function hasQueryHooks<M extends Model>(model: ModelClass<M>, kind: keyof typeof SEEN_BY): boolean {
  return hasAny(hooksOf(model), kind) || hasAny(sharedHooks(model), kind);
}

/**
 * Problem of a condition on rows of a model where hooks, a finder of its own or a scope with an inner join choose the
 * rows that its queries find. Null where only conditions choose them.
 */
export function choiceProblem<M extends Model>(model: ModelClass<M>): string | null {
  const isOwn = model.findAll !== PlainModel.findAll && model.findAll !== TypescriptModel.findAll;
  const { include } = scopeOf(model);
  const isJoined = include !== undefined && conformedIncludes(model, include).some(isInnerJoin);
  if (!isOwn && !hasQueryHooks(model, 'find') && !isJoined) return null;
  return (
    `hooks, a finder of its own or joins of a default scope choose the rows of ${model.name}, which a condition would pass by; write ` +
    'what they ask for as visible, or as the where of a default scope.'
  );
}

/** As Sequelize decides it. */
function isInnerJoin({
  model,
  where,
  required,
  right = false,
  limit,
  separate = limit !== undefined,
  include = [],
}: ConformedInclude): boolean {
  if (separate) return false;
  return right || (required ?? Boolean(where ?? scopeOf(model).where)) || include.some(isInnerJoin);
}

/** The hooks through which code of the user's would see a read, or a write, each with what has it. */
export function queryHooks<M extends Model>(model: ModelClass<M>, kind: 'read' | 'write'): string[] {
  return [
    ...seenHooks(hooksOf(model), kind).map((name) => `the model has a hook ${name}`),
    ...seenHooks(sharedHooks(model), kind).map((name) => `its Sequelize has a hook ${name}`),
  ];
}

function sharedHooks<M extends Model>({ sequelize }: ModelClass<M>): Hooks {
  return sequelize ? hooksOf(sequelize) : NO_HOOKS;
}

const NO_HOOKS: Hooks = {};

function hasAny(hooks: Hooks, kind: keyof typeof SEEN_BY): boolean {
  for (const name in hooks) if (hooks[name]?.length && isSeen(name, kind)) return true;
  return false;
}

function seenHooks(hooks: Hooks, kind: keyof typeof SEEN_BY): string[] {
  return Object.keys(hooks).filter((name) => hooks[name]?.length && isSeen(name, kind));
}

function isSeen(name: string, kind: keyof typeof SEEN_BY): boolean {
  const its = CLASS_OF.get(name);
  return its === undefined || SEEN_BY[kind].has(its);
}
