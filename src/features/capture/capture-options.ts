/** The options `history` and `changes` of `@Crud`, as far as capture needs them, and `history` of `bootstrap`. */
import { isDeepStrictEqual } from 'node:util';
import type { Request } from 'express';
import { compileChoice, isPlain, knownAttribute, type OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { featureOption, type ResourcePlan } from '../../compile/resource-plan.js';
import type { HistoryOptions } from '../../declare/history-options.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { declaredOptions } from '../../describe/record.js';
import type { OptionCompiler } from '../../operation/feature.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';
import { scopeAttributes } from './scope-columns.js';

/** Members of the options of `bootstrap`. */
export interface HistoryOption {
  /**
   * The writer of the changes that resources with `history` or `changes` store.
   *
   * @example
   * ```ts
   * await bootstrap(app, { history: { actor: (request) => request.user?.id ?? null } });
   * ```
   */
  history?: {
    /**
     * The actor of a request, such as the id of a user: evaluated once for each request that may write, after `dependencies` and `can`.
     * An error in it fails the request. Default: the actor is null.
     */
    actor?: ActorRule;
  };
}

/** Actor of a request. Null and undefined is none. */
export type ActorRule = (
  request: Request,
) => string | number | bigint | null | undefined | Promise<string | number | bigint | null | undefined>;

/** The option `history`, compiled. */
export interface HistoryPlan extends Required<Omit<HistoryOptions, 'capture' | 'retention'>> {
  /** An interval of PostgreSQL; null is for ever. */
  readonly retention: string | null;
  readonly isByRow: boolean;
}

/** The option `changes`, compiled. */
export interface ChangesPlan {
  /** An interval of PostgreSQL. */
  readonly retention: string;
  /** The last segment of the feed's path. */
  readonly word: string;
  /** True where the application has chosen it. */
  readonly isWordNamed: boolean;
}

/** Names of the members of `history`. */
const NAMES = ['exclude', 'keep', 'renamed', 'retention', 'images', 'onPurge', 'capture'];

const RETENTION = /^[1-9]\d{0,5} (?:hour|day|week|month|year)s?$/;

const PATH = /^\/[\w-]+$/;

/** Retention of changes that only a feed needs. */
const USUAL_RETENTION = '7 days';

/** The members of an option that is true, false or an object; null where there are none. */
function membersOf(
  option: string,
  value: unknown,
  usual: string,
  { report }: OptionCheck,
): Readonly<Record<string, unknown>> | null {
  if (value === true) return {};
  if (isPlain(value)) return value as Readonly<Record<string, unknown>>;
  if (value !== false)
    report(`${option} is ${showValue(value)}; use true, or an object such as { retention: '${usual}' }.`);
  return null;
}

/** Compiles `history` of `@Crud`. */
export function compileHistory(value: unknown, check: OptionCheck): HistoryPlan | null {
  const options = membersOf('history', value, '2 years', check);
  if (!options) return null;
  unknownOptions('history', options, NAMES).forEach(check.report);
  const { exclude = [], keep = [], renamed = {}, retention, images, onPurge, capture } = options;
  return Object.freeze({
    exclude: namesOf(check, 'exclude', exclude),
    keep: namesOf(check, 'keep', keep),
    renamed: renamedOf(check, renamed),
    retention: retention === undefined ? null : retentionOf(check, 'history.retention', retention),
    images: compileChoice(check, 'history.images', images, ['row', 'changed']),
    onPurge: compileChoice(check, 'history.onPurge', onPurge, ['keep', 'erase']),
    isByRow: capture !== undefined && compileChoice(check, 'history.capture', capture, ['row']) === 'row',
  });
}

/** Compiles `changes` of `@Crud`. */
export function compileChanges(value: unknown, check: OptionCheck): ChangesPlan | null {
  const options = membersOf('changes', value, USUAL_RETENTION, check);
  if (!options) return null;
  unknownOptions('changes', options, ['retention', 'path']).forEach(check.report);
  const { retention = USUAL_RETENTION, path } = options;
  if (path !== undefined && !(typeof path === 'string' && PATH.test(path)))
    check.report(
      `changes.path is ${showValue(path)}; use one segment of letters, digits, '-' and '_', such as '/_changes'.`,
    );
  return Object.freeze({
    retention: retentionOf(check, 'changes.retention', retention),
    word: String(path ?? '/changes').slice(1),
    isWordNamed: path !== undefined,
  });
}

function namesOf(check: OptionCheck, option: string, value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.filter((name) => knownAttribute(check, `history.${option}`, String(name)) !== undefined);
  check.report(`history.${option} is ${showValue(value)}; use an array of attributes.`);
  return [];
}

function renamedOf(check: OptionCheck, value: unknown): Readonly<Record<string, string>> {
  if (isPlain(value)) {
    const known = Object.entries(value as object).filter(
      ([, name]) => knownAttribute(check, 'history.renamed', String(name)) !== undefined,
    );
    // `eraseHistory` finds the old columns there, also in a process without routes.
    const { renamed } = Object(declaredOptions(check.info.model)?.history) as HistoryOptions;
    if (known.length > 0 && !isDeepStrictEqual(value, renamed))
      check.report(
        'history.renamed is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
      );
    return Object.freeze(Object.fromEntries(known));
  }
  check.report(
    `history.renamed is ${showValue(value)}; use an object of old columns and attributes, such as { town: 'city' }.`,
  );
  return {};
}

function retentionOf({ report }: OptionCheck, option: string, value: unknown): string {
  if (typeof value === 'string' && RETENTION.test(value)) return value;
  report(
    `${option} is ${showValue(value)}; use a number and hours, days, weeks, months or years, such as '2 years'.`,
  );
  return USUAL_RETENTION;
}

/** The plan of a resource's history; null where it has none. */
export const historyOf = featureOption<HistoryPlan | null>('history', null);

/** The plan of a resource's feed; null where it has none. */
export const changesOf = featureOption<ChangesPlan | null>('changes', null);

/** The path of a resource's feed. */
export function changesPath({ prefix, features }: Pick<ResourcePlan, 'prefix' | 'features'>): string {
  return `${prefix}/${changesOf({ features })?.word ?? ''}`;
}

/** True where the changes of a resource are stored. */
export function isCaptured(plan: Pick<ResourcePlan, 'features'>): boolean {
  return historyOf(plan) !== null || changesOf(plan) !== null;
}

/** Parts of a plan from which its stored attributes follow. */
type StoredPlan = Pick<ResourcePlan, 'info' | 'features' | 'hidden' | 'access' | 'entityTag'>;

/** The attributes that every stored row has, because its key, its id, or the judgement of it, is made of them. */
export function judgedAttributes({
  info,
  access,
  entityTag,
  features,
}: StoredPlan): readonly AttributeInfo[] {
  const scoped = scopeAttributes(info);
  const names = new Set([
    ...(scoped === 'all' ? [] : scoped).map(({ name }) => name),
    ...[...info.primaryKey, ...info.address].map(({ name }) => name),
    ...(access?.scope.keys() ?? []),
    ...(info.softDelete ? [info.softDelete.attribute] : []),
    ...(entityTag ? [entityTag.attribute] : []),
    ...(historyOf({ features })?.keep ?? []),
  ]);
  return [...info.attributes.values()].filter(({ name }) => names.has(name));
}

/** The attributes whose values are not stored: those of `exclude`, those that no answer shows, and BLOBs. */
export function excludedAttributes(plan: StoredPlan, hidden = plan.hidden): readonly AttributeInfo[] {
  const judged = new Set(judgedAttributes(plan));
  const { exclude = [] } = historyOf(plan) ?? {};
  return [...plan.info.attributes.values()].filter(
    (attribute) =>
      attribute.type.kind !== 'virtual' &&
      !judged.has(attribute) &&
      (exclude.includes(attribute.name) || hidden.has(attribute.name) || attribute.type.kind === 'blob'),
  );
}

/** Problems of capture with other options. */
export const checkCapture: ResourceCheck = (plan) => {
  const history = historyOf(plan);
  if (!isCaptured(plan)) return [];
  const option = history ? 'history' : 'changes';
  const judged = new Set(judgedAttributes(plan).map(({ name }) => name));
  const refused = (history?.exclude ?? []).filter((name) => judged.has(name));
  return [
    ...(plan.info.primaryKey.length > 0
      ? []
      : [
          `${option} names changes by the key of their row, and no attributes tell its rows apart; leave it out.`,
        ]),
    ...refused.map(
      (name) =>
        `history.exclude names '${name}', which the primary key, id, scope, default scope, soft deletion, etag or history.keep needs; take it out.`,
    ),
    ...scopeProblems(plan, option),
    ...(history?.images === 'changed' && plan.access?.visible && history.keep.length === 0
      ? [
          "history.images is 'changed', and visible may read attributes that did not change; name them with history.keep, or use images: 'row'.",
        ]
      : []),
  ];
};

/** Problems of a default scope that reads values which are not stored. */
function scopeProblems(plan: StoredPlan, option: string): readonly string[] {
  const scoped = scopeAttributes(plan.info);
  if (scoped !== 'all')
    return scoped
      .filter(({ type }) => type.kind === 'blob')
      .map(
        ({ name }) =>
          `${option}: the default scope reads '${name}', a BLOB, whose values are not stored with changes; compare another attribute.`,
      );
  const isChanged = historyOf(plan)?.images === 'changed';
  const [left] = excludedAttributes(plan);
  if (!isChanged && !left) return [];
  const lack = isChanged
    ? "history.images: 'changed' stores only parts of it"
    : `changes are stored without '${left?.name}'`;
  const { name, primaryKey } = plan.info;
  return [
    `${option}: a literal of the default scope may read the row as a whole, and ${lack}; name its columns there, such as "${name}"."${primaryKey[0]?.column}".`,
  ];
}

/** Compiles `history` of `bootstrap`. */
export const compileActor: OptionCompiler = (value = {}, report): { readonly actor: ActorRule | null } => {
  if (!isPlain(value)) {
    report(`history is ${showValue(value)}; use { actor: (request) => … }, or leave it out.`);
    return { actor: null };
  }
  const { actor = null, ...others } = value as Readonly<Record<string, unknown>>;
  unknownOptions('history', others, ['actor']).forEach(report);
  if (actor !== null && typeof actor !== 'function')
    report(`history.actor is ${showValue(actor)}; use a function of the request that returns who sends it.`);
  return { actor: typeof actor === 'function' ? (actor as ActorRule) : null };
};
