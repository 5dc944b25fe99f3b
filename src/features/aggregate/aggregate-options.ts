/** The option `aggregate` of `@Crud` -> its plan, or everything that is wrong with it. */
import { compileSize, isPlain, type OptionCheck, visibleAttribute } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { isRelatedName, isSpelled } from '../../compile/compile-sort.js';
import { featureOption, type PageSize, type ResourcePlan } from '../../compile/resource-plan.js';
import { MEASURES, type Measure, type TimeUnit } from '../../declare/aggregate-options.js';
import { type AttributeInfo, customAttributes } from '../../describe/model-info.js';
import type { IndexAdvice } from '../../operation/feature.js';
import { isTransformed } from '../../schema/model-decorators.js';
import { didYouMean, repeatedNames, showValue, unknownOptions } from '../../util/option-problems.js';
import { COUNT, type GroupTerm, type MeasureTerm } from './aggregate-operation.js';
import { groupProblem, measureProblem, unitsOf } from './aggregate-types.js';

/** The option, compiled. */
export interface AggregatePlan {
  /** Word of the path. */
  readonly word: string;
  /** True where the application has named the word. */
  readonly isWordNamed: boolean;
  /** By name. */
  readonly groups: ReadonlyMap<string, GroupTerm>;
  /** By name. */
  readonly measures: ReadonlyMap<string, MeasureTerm>;
  readonly size: PageSize;
  /** Attributes one of which `q` must narrow; an empty list demands any `q`, and null none. */
  readonly requireFilter: readonly string[] | null;
  /** Rows that may be grouped, as PostgreSQL estimates them; null is any number. */
  readonly maxEstimate: number | null;
}

/** The plan of a resource; undefined where it has none. */
export const aggregatePlan = featureOption<AggregatePlan | undefined>('aggregate', undefined);

const WORD = /^[a-z0-9][a-z0-9-]*$/;
const NAMES = ['group', ...MEASURES, 'size', 'requireFilter', 'maxEstimate', 'path'] as const;
type Given = Readonly<Partial<Record<(typeof NAMES)[number], unknown>>>;

/** Groups in an answer, where the option does not say. */
const USUAL_SIZE: PageSize = Object.freeze({ default: 100, max: 1000 });
/** The largest page: no request reaches more groups. */
export const MAX_PAGED = 10_000;

/** Compiles the option. */
export function compileAggregate(value: unknown, check: OptionCheck): AggregatePlan {
  const { report } = check;
  if (!isPlain(value)) report(`aggregate is ${showValue(value)}; use an object such as { group: ['name'] }.`);
  const given: Given = isPlain(value) ? (value as Given) : {};
  unknownOptions('aggregate', given, NAMES).forEach(report);
  const { path, size = {}, maxEstimate = null } = given;
  if (!isPlain(size))
    report(`aggregate.size is ${showValue(size)}; use an object such as { default: 100, max: 1000 }.`);
  const word = path ?? 'aggregate';
  if (typeof word !== 'string' || !WORD.test(word))
    report(
      `aggregate.path is ${showValue(path)}; use one word of small letters, digits and '-', such as 'summary'.`,
    );
  if (maxEstimate !== null && !(Number.isSafeInteger(maxEstimate) && Number(maxEstimate) > 0))
    report(`aggregate.maxEstimate is ${showValue(maxEstimate)}; use a number of records, such as 1_000_000.`);
  const groups = compileGroups(given.group ?? [], check);
  const measures = MEASURES.flatMap((measure) => compileMeasures(measure, given[measure] ?? [], check));
  return Object.freeze({
    word: String(word),
    isWordNamed: path !== undefined,
    groups: new Map(groups.map((term) => [term.name, term])),
    measures: new Map(measures.map((term) => [term.name, term])),
    size: compileSize('aggregate.size', size as Partial<PageSize>, USUAL_SIZE, report, MAX_PAGED),
    requireFilter: compileRequired(given.requireFilter ?? false, check),
    maxEstimate: maxEstimate as number | null,
  });
}

/** Problems of the option together with others. */
export const checkAggregate: ResourceCheck = ({ features, filters }) => {
  const { requireFilter = null } = aggregatePlan({ features }) ?? {};
  if (requireFilter === null) return [];
  const missing = requireFilter.filter(
    (name) => ![...filters.values()].some((each) => each.attribute === name),
  );
  return missing.map(
    (name) =>
      `aggregate.requireFilter names '${name}', which q cannot be about; name it in filterAllow, too.`,
  );
};

/** Indexes by which the demanded filters find their rows. */
export function aggregateIndexes(plan: ResourcePlan): readonly IndexAdvice[] {
  return (aggregatePlan(plan)?.requireFilter ?? []).map((attribute) => ({
    serves: `an aggregate with a condition on '${attribute}' (aggregate.requireFilter)`,
    attribute,
  }));
}

function compileGroups(given: unknown, check: OptionCheck): readonly GroupTerm[] {
  return listOf('aggregate.group', given, check.report).flatMap((each) =>
    (isPlain(each) ? Object.entries(each as object) : [[String(each), null] as const]).flatMap(
      ([name, units]) => compileGroup(check, name, units),
    ),
  );
}

/** @param units null for the value as it is */
function compileGroup(check: OptionCheck, name: string, units: unknown): readonly GroupTerm[] {
  const { report } = check;
  const own = Object.freeze({ name, attribute: name, unit: null });
  // The relations are compiled later: see `relatedProblem`.
  if (units === null && isRelatedName(check, name)) return [own];
  if (units === null && reportSpan(check, name)) return [];
  const attribute = shownAttribute(check, 'aggregate.group', name);
  if (!attribute) return [];
  const problem = groupProblem(attribute);
  if (problem !== undefined)
    report(`aggregate.group names '${name}', of type ${attribute.type.kind}, ${problem}`);
  else if (units !== null)
    return compileUnits(attribute, units, report).map((unit) =>
      Object.freeze({ name: `${name}.${unit}`, attribute: name, unit }),
    );
  else if (name !== COUNT) return [own];
  else
    report(
      `aggregate.group names '${name}', which is the number of records in an order of groups; remove it.`,
    );
  return [];
}

/** Reports a span that is written as requests write it. */
function reportSpan({ info, report }: OptionCheck, name: string): boolean {
  const [, of = '', unit = ''] = /^(.+)\.(\w+)$/.exec(name) ?? [];
  const attribute = info.attributes.has(name) ? undefined : info.attributes.get(of);
  if (!attribute || !unitsOf(attribute).some((each) => each === unit)) return false;
  report(
    `aggregate.group names '${name}', as requests do; the option names the attribute and its spans: { ${of}: ['${unit}'] }.`,
  );
  return true;
}

function compileUnits(
  attribute: AttributeInfo,
  given: unknown,
  report: OptionCheck['report'],
): readonly TimeUnit[] {
  const option = `aggregate.group.${attribute.name}`;
  const known = unitsOf(attribute);
  if (known.length === 0) {
    report(`${option} has spans of time, and the attribute is no time; write its name alone.`);
    return [];
  }
  if (Array.isArray(given) && given.length === 0)
    report(`${option} is []; name one of ${known.join(', ')}, or leave it out.`);
  return listOf(option, given, report, 'day').flatMap((each) => {
    const unit = known.find((name) => name === each);
    if (unit === undefined)
      report(`${option} has ${showValue(each)}; use ${known.join(', ')}.${didYouMean(String(each), known)}`);
    return unit ?? [];
  });
}

function compileMeasures(measure: Measure, given: unknown, check: OptionCheck): readonly MeasureTerm[] {
  const option = `aggregate.${measure}`;
  return listOf(option, given, check.report).flatMap((each) => {
    const attribute = shownAttribute(check, option, String(each));
    if (!attribute) return [];
    const { name, type } = attribute;
    const problem = measureProblem(measure, attribute);
    if (problem !== undefined) {
      check.report(`${option} names '${name}', of type ${type.kind}, ${problem}`);
      return [];
    }
    return [Object.freeze({ name: `${measure}.${name}`, measure, attribute: name })];
  });
}

function listOf(
  option: string,
  given: unknown,
  report: OptionCheck['report'],
  example = 'name',
): readonly unknown[] {
  if (Array.isArray(given)) {
    repeatedNames(option, given).forEach(report);
    return [...new Set(given)];
  }
  report(`${option} is ${showValue(given)}; use a list, such as ['${example}'].`);
  return [];
}

/** An attribute whose answers show the value of its column. Groups cannot show values that code computes. */
function shownAttribute(check: OptionCheck, option: string, name: string): AttributeInfo | undefined {
  const { info, hidden, options, report } = check;
  const attribute = visibleAttribute(check, option, name);
  if (!attribute) return undefined;
  const { readSchema } = options;
  const isShaped =
    customAttributes(info.model, 'get').has(name) ||
    isTransformed(typeof readSchema === 'function' ? readSchema : info.model, name, 'read');
  if (!isSpelled(name))
    report(`${option} names '${name}', which a list of names cannot spell; rename it, or remove it.`);
  else if (hidden.has(name))
    report(`${option} names '${name}', which the readSchema lacks; remove it, or groups would show it.`);
  else if (isShaped)
    report(
      `${option} names '${name}', of which code makes what answers show; groups would show what it is made of. Remove it.`,
    );
  else if (attribute.type.kind === 'virtual')
    report(`${option} names '${name}', which has no column; remove it.`);
  else return attribute;
  return undefined;
}

function compileRequired(given: unknown, check: OptionCheck): readonly string[] | null {
  if (typeof given === 'boolean') return given ? [] : null;
  return listOf('aggregate.requireFilter', given, check.report).flatMap(
    (each) => visibleAttribute(check, 'aggregate.requireFilter', String(each))?.name ?? [],
  );
}
