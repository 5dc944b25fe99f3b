/**
 * Hooks and scopes of the user's, which take part in queries. Both are read at each operation, because they can be added at any
 * time. An accessor throws where a field is not there: read as "the user has none", a hook or a scope would be passed by.
 */
import {
  type IncludeOptions,
  type Model,
  type ModelStatic,
  Op,
  Model as PlainModel,
  Utils,
  type WhereOptions,
} from 'sequelize';
import { Model as TypescriptModel } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { type ConformedInclude, conformedIncludes } from './include-internals.js';
import { missing, partOf, withMembers } from './sequelize-internals.js';

/** The scope that a model applies. */
export interface AppliedScope {
  readonly where?: WhereOptions;
  readonly attributes?: unknown;
  readonly include?: readonly IncludeOptions[];
  readonly order?: unknown;
  readonly limit?: unknown;
  readonly offset?: unknown;
}

type Hooks = Readonly<Record<string, readonly unknown[] | undefined>>;

interface CustomizedModel {
  readonly options: { readonly hooks?: Hooks; readonly defaultScope?: AppliedScope };
  readonly _scope?: AppliedScope | null;
}

/** The scope of a model; empty when it has none. */
export function scopeOf<M extends Model>(model: ModelStatic<M>): AppliedScope {
  const { _scope: scope, options } = model as object as CustomizedModel;
  if (scope !== undefined) return scope ?? NO_SCOPE;
  // A class that Sequelize made of another one has a scope of its own, which nothing else shows.
  return model.sequelize?.models[model.name] === model
    ? (options.defaultScope ?? NO_SCOPE)
    : missing('Model._scope');
}

const NO_SCOPE: AppliedScope = {};

/** True where the model applies any scope. */
export function hasScope<M extends Model>(model: ModelStatic<M>): boolean {
  for (const _ in scopeOf(model)) return true;
  return false;
}

/** True where the scope of a model keeps an attribute out of the query of its finders. */
export function isLeftOut<M extends Model>(model: ModelStatic<M>, name: string): boolean {
  const { attributes } = scopeOf(model);
  const isNamed = (list: readonly unknown[]): boolean => list.some((each) => [each].flat().at(-1) === name);
  if (Array.isArray(attributes)) return !isNamed(attributes);
  const { exclude = [], include = [] } = (attributes ?? {}) as {
    readonly exclude?: readonly string[];
    readonly include?: readonly unknown[];
  };
  return exclude.includes(name) && !isNamed(include);
}

/** Condition of the scope of a model, as Sequelize's SQL for a table with the model's name; null where it has none. */
export function scopeCondition(model: ModelStatic<Model>): string | null {
  const { where } = scopeOf(model);
  if (!where) return null;
  const { queryGenerator = missing('QueryInterface.queryGenerator') } =
    (model.sequelize?.getQueryInterface() ?? {}) as { queryGenerator?: object };
  const generator = partOf<ConditionGenerator>(queryGenerator, 'QueryGenerator', 'getWhereConditions');
  const mapped = Utils.mapFinderOptions({ where: Utils.cloneDeep(where as object) as WhereOptions }, model);
  return generator.getWhereConditions(mapped.where, model.name, model, { type: 'SELECT' }) || null;
}

interface ConditionGenerator {
  getWhereConditions(where: unknown, table: string, model: object, options: object): string;
}

/**
 * The same model with another scope. Not a subclass, as `unscoped()` makes: records must be of the model's own class, by
 * which their read schema is found.
 */
export function withScope<M extends object>(model: M, scope: AppliedScope): M {
  if (!('_scope' in model)) missing('Model._scope');
  return withMembers(model, { _scope: scope });
}

/**
 * The same model, in whose queries the condition of its scope holds beside that of the query. Sequelize drops the first where it is no plain
 * object, and where both are about one attribute, it has the second in its place (`whereMergeStrategy: 'overwrite'`).
 */
export function holdingScope<M extends Model>(model: ModelClass<M>): ModelClass<M> {
  const scope = scopeOf(model);
  if (!scope.where) return model;
  const { options } = model as object as CustomizedModel;
  const combining = withMembers(model, { options: withMembers(options, { whereMergeStrategy: 'and' }) });
  // Where another version of Sequelize has the scope elsewhere, a plain condition holds as it is.
  if (!('_scope' in model) && Object.getPrototypeOf(scope.where) === Object.prototype) return combining;
  return withScope(combining, { ...scope, where: { [Op.and]: [inParentheses(scope.where)] } });
}

/** A condition that holds as a whole: Sequelize writes the OR of a literal as it is. */
export function inParentheses(where: WhereOptions): WhereOptions {
  return { [Op.and]: [where] } as WhereOptions;
}

/** The hooks of a model, or of an instance. */
export function hooksOf(owner: object): Hooks {
  return (owner as CustomizedModel).options.hooks ?? missing('options.hooks');
}

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

/** @param refused the beginning of the message: `City cannot be aggregated` @throws TypeError where a condition does not choose all rows of the model */
export function checkChoice<M extends Model>(model: ModelClass<M>, refused: string): void {
  const problem = choiceProblem(model);
  if (problem !== null) throw new TypeError(`${refused}: ${problem}`);
}

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

/** The hooks through which code of the user's would see a read, or a write, each with its owner. */
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
