/** Compiles the relations that a caller of a repository names to the relations to load. */

import { totalOrder } from '../../compile/compile-sort.js';
import { keyProblem, rowProblem, softDeleteProblems } from '../../compile/related-models.js';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { FilterTemplate } from '../../declare/filter-template.js';
import { describeModel, describeRecords } from '../../describe/describe-model.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { ownModel } from '../../describe/record.js';
import { describeRelation } from '../../describe/relations.js';
import { type AccessSource, OPEN_ACCESS } from '../../operation/access.js';
import { type FoundRelation, grantedOf, type RelatedAccess } from '../../operation/related-rows.js';
import type { Inclusion } from '../../request/query/list-query.js';
import type { Filter, Predicate } from '../../request/query/predicate.js';
import { typeTemplate } from '../../request/query/rule-filters.js';
import { ConfigError, throwProblems } from '../../util/config-error.js';
import { keptIn, perPair } from '../../util/memo.js';
import { didYouMean, showValue, unknownOptions } from '../../util/option-problems.js';
import { storedAttributes } from '../customization/hydrate-record.js';
import type { RelationOptions, RelationsToLoad } from './repository-options.js';

/** One relation to load. */
export interface WantedRelation {
  readonly plan: FoundRelation;
  /** Request that loads it. */
  readonly inclusion: object;
  readonly access: RelatedAccess;
  /** Rows of each record; null is all of them. */
  readonly size: number | null;
  readonly sort: readonly SortTerm[];
  readonly filter: Predicate | null;
  readonly fields: readonly string[] | undefined;
  readonly include: readonly WantedRelation[];
}

/**
 * Compiles the request for each relation of a model.
 *
 * @param source the access to each model; null is everything
 * @throws ConfigError for a name that is no relation, and for options without an effect
 */
export async function wantedRelations(
  model: ModelClass,
  include: RelationsToLoad,
  source: AccessSource | null,
): Promise<readonly WantedRelation[]> {
  throwProblems(includeProblems(model, include));
  const given: readonly (string | Inclusion | [string, true | RelationOptions])[] = Array.isArray(include)
    ? include
    : Object.entries(include);
  const inclusions = given.filter(isInclusion);
  const named = given.flatMap((each) => {
    if (isInclusion(each)) return [];
    const [path, options] = typeof each === 'string' ? [each, true as const] : each;
    return [[path, options === true ? NO_OPTIONS : options] as const];
  });
  const wanted = await Promise.all([
    ...inclusions.map((each) => wantedByQuery(model, each, source)),
    ...[...levelsOf(named)].map(([name, level]) => wantedByName(model, name, level, source)),
  ]);
  throwProblems(
    wanted.flatMap(({ plan: { relation, target } }) => {
      const problem = rowProblem(target.info);
      return problem === null ? [] : [`'${relation.name}' ${problem}`];
    }),
  );
  return wanted;
}

const NO_OPTIONS: RelationOptions = Object.freeze({});

/** Problems of includes that types let pass, such as those of Sequelize. */
function includeProblems({ name }: ModelClass, include: unknown): string[] {
  const use = "name relations of the model: include: ['author'], or { reviews: { size: 3 } }";
  if (typeof include !== 'object' || include === null)
    return [`include of ${name} is ${showValue(include)}; ${use}.`];
  const items: readonly unknown[] = Array.isArray(include) ? include : [];
  const strange = items.filter(
    (each) => typeof each !== 'string' && (typeof each !== 'object' || each === null || !('plan' in each)),
  );
  const shown = (each: unknown) => (typeof each === 'function' ? `the class ${each.name}` : showValue(each));
  return strange.map((each) => `include of ${name} has ${shown(each)}; ${use}.`);
}

function isInclusion(each: string | Inclusion | readonly unknown[]): each is Inclusion {
  return typeof each === 'object' && 'plan' in each;
}

/** A level of the relations: the options of one relation, and the paths behind it. */
interface Level {
  options: RelationOptions;
  readonly behind: Record<string, RelationOptions>;
}

function levelsOf(named: readonly (readonly [string, RelationOptions])[]): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>();
  for (const [path, options] of named) {
    const dot = path.indexOf('.');
    const name = dot < 0 ? path : path.slice(0, dot);
    const level = keptIn(levels, name, (): Level => ({ options: NO_OPTIONS, behind: {} }));
    if (dot < 0) level.options = options;
    else level.behind[path.slice(dot + 1)] = options;
  }
  return levels;
}

/** Compiles the request for one relation by its name. */
export async function wantedByName(
  model: ModelClass,
  name: string,
  { options, behind }: Level,
  source: AccessSource | null,
): Promise<WantedRelation> {
  const plan = relationOf(model, name);
  const { info } = plan.target;
  throwProblems(optionProblems(plan, options));
  const { size = null, sort = [], filter = null, fields } = options;
  return {
    plan,
    inclusion: options,
    access: await accessTo(plan, source),
    size: checkSize(size, name),
    sort: totalOrder(sort, info.primaryKey),
    filter: typedFilter(info, filter, `include.${name}.filter`),
    fields,
    include: await wantedRelations(info.model, behind, source),
  };
}

/** Problems of options that types let pass: an ignored option would load other rows. */
function optionProblems({ relation, target: { info } }: FoundRelation, options: RelationOptions): string[] {
  const option = `include.${relation.name}`;
  if (typeof options !== 'object' || options === null)
    return [`${option} is ${showValue(options)}; use true, or an object such as { size: 3 }.`];
  const { size, filter, fields = [] } = options;
  const stored = storedAttributes(info).map(({ name }) => name);
  const strange = fields.filter((name) => !stored.includes(name));
  return [
    ...unknownOptions(option, options, ['size', 'sort', 'filter', 'fields']),
    ...(relation.isOne && size !== undefined
      ? [`${option}.size is about a relation to one record; remove it.`]
      : []),
    ...(typeof filter === 'object' || filter === undefined
      ? []
      : [`${option}.filter is ${showValue(filter)}; use filter\`…\`, or the filter of a query.`]),
    ...strange.map(
      (name) =>
        `${option}.fields has '${name}', which is no column of ${info.name}.${didYouMean(name, stored)}`,
    ),
  ];
}

/**
 * The filter that a caller of a repository means; null where there is none.
 *
 * @param source where it is, as the beginning of a sentence
 * @throws TypeError for a mistake in a template, and for a value that is null or undefined, by which nothing is meant
 */
export function typedFilter<F extends Predicate>(
  info: RecordInfo,
  filter: F | FilterTemplate | null | undefined,
  source: string,
): F | Filter | null {
  if (!(filter instanceof FilterTemplate)) return filter ?? null;
  const typed = typeTemplate(info, filter, source);
  if (typed) return typed;
  throw new TypeError(`${source} has a value that is null or undefined: ${filter.texts.join('…')}`);
}

async function wantedByQuery(
  model: ModelClass,
  inclusion: Inclusion,
  source: AccessSource | null,
): Promise<WantedRelation> {
  const { plan, size, sort, filter, include } = inclusion;
  const { name, parent, target } = plan.relation;
  if (ownModel(parent) !== ownModel(model))
    throw new ConfigError([
      `The query includes '${name}' of ${parent.name}, which is none of ${model.name}.`,
    ]);
  const granted = grantedOf(inclusion);
  if (!granted && plan.where) {
    throw new ConfigError([
      `include.${name} has a condition that only its request can answer; pass the include of the query.`,
    ]);
  }
  return {
    plan,
    inclusion,
    access: granted ?? (await accessTo(plan, source)),
    size: checkSize(size, name),
    sort,
    filter,
    // The names in `fields` are those of answers, which code of the user's may compute from any attributes.
    fields: undefined,
    include: await Promise.all(include.map((each) => wantedByQuery(target, each, source))),
  };
}

async function accessTo(
  { relation: { target, through } }: FoundRelation,
  source: AccessSource | null,
): Promise<RelatedAccess> {
  return {
    target: source ? await source.to(target) : OPEN_ACCESS,
    where: null,
    through: source && through ? await source.to(through.model) : null,
  };
}

/** It is part of a text. */
function checkSize(size: number | null, name: string): number | null {
  if (size === null || (Number.isSafeInteger(size) && size >= 0)) return size;
  throw new ConfigError([`The size of '${name}' is ${String(size)}; use an integer from 0.`]);
}

const relationsOf = perPair((_model: ModelClass) => new Map<string, FoundRelation>());

/** The same for the same relation, as long as the model behind it stays as it is. */
function relationOf(model: ModelClass, name: string): FoundRelation {
  const known = relationsOf(model);
  const before = known.get(name);
  if (before && before.target.info === describeModel(before.relation.target)) return before;
  const { relation, problem } = describeRelation(model, name);
  if (!relation) throw new ConfigError([`'${name}' ${problem}`]);
  const { target, parent, through } = relation;
  if (target.sequelize !== parent.sequelize)
    throw new ConfigError([`'${name}' leads to ${target.name}, which is in another database.`]);
  const unkept = keyProblem(relation);
  throwProblems(
    [...softDeleteProblems(relation), ...(unkept ? [unkept] : [])].map((each) => `'${name}' ${each}`),
  );
  const between = through && describeRecords(through.model);
  const found = { relation, target: { info: describeModel(target) }, through: between };
  known.set(name, found);
  return found;
}
