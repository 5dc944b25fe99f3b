/** The option `aggregate` of `@Crud` -> its plan, or everything that is wrong with it. */
import { hiddenBy, isPlain, knownAttribute, type OptionCheck } from '../../compile/compile-options.js';
import { isComparable } from '../../compile/filter-operators.js';
import type { PageSize, ResourcePlan } from '../../compile/resource-plan.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';
import type { GroupTerm } from './aggregate-operation.js';

/** The option, compiled. */
export interface AggregatePlan {
  /** Word of the path. */
  readonly word: string;
  /** True where the application has named the word. */
  readonly isWordNamed: boolean;
  /** By name. */
  readonly groups: ReadonlyMap<string, GroupTerm>;
  readonly size: PageSize;
}

/** The plan of a resource; undefined where it has none. */
export function aggregatePlan({ features }: Pick<ResourcePlan, 'features'>): AggregatePlan | undefined {
  return features['aggregate'] as AggregatePlan | undefined;
}

const WORD = /^[a-z0-9][a-z0-9-]*$/;

const NAMES = ['group', 'size', 'path'] as const;

/** Groups in an answer, where the option does not say. */
const USUAL_SIZE = { default: 100, max: 1000 };

/** Compiles the option. */
export function compileAggregate(value: unknown, check: OptionCheck): AggregatePlan {
  const { report } = check;
  const given = isPlain(value) ? (value as Record<(typeof NAMES)[number], unknown>) : null;
  if (!given) report(`aggregate is ${showValue(value)}; use an object such as { group: ['name'] }.`);
  const { group = [], path, size } = given ?? {};
  unknownOptions('aggregate', given ?? {}, NAMES).forEach(report);
  const word = path ?? 'aggregate';
  if (typeof word !== 'string' || !WORD.test(word))
    report(
      `aggregate.path is ${showValue(path)}; use one word of letters, digits and '-', such as 'summary'.`,
    );
  return Object.freeze({
    word: String(word),
    isWordNamed: path !== undefined,
    groups: compileGroups(group, check),
    size: compileSize(size, report),
  });
}

function compileGroups(given: unknown, check: OptionCheck): ReadonlyMap<string, GroupTerm> {
  const { info, exposure, report } = check;
  const groups = new Map<string, GroupTerm>();
  if (!Array.isArray(given)) {
    report(`aggregate.group is ${showValue(given)}; use a list of attributes.`);
    return groups;
  }
  for (const name of given as readonly unknown[]) {
    const attribute = knownAttribute(check, 'aggregate.group', String(name));
    if (!attribute) continue;
    if (exposure.unreadable.has(attribute.name))
      report(
        `aggregate.group names '${attribute.name}', which ${hiddenBy(info, attribute.name)} hides from answers; remove one of the two.`,
      );
    else if (!isComparable(attribute.type))
      report(
        `aggregate.group names '${attribute.name}', of type ${attribute.type.kind}, whose values cannot be compared.`,
      );
    else groups.set(attribute.name, Object.freeze({ name: attribute.name, attribute: attribute.name }));
  }
  return groups;
}

function compileSize(given: unknown, report: OptionCheck['report']): PageSize {
  if (given === undefined) return USUAL_SIZE;
  if (!isPlain(given)) {
    report(`aggregate.size is ${showValue(given)}; use an object such as { default: 100, max: 1000 }.`);
    return USUAL_SIZE;
  }
  const { max = USUAL_SIZE.max, ...others } = given as { default?: number; max?: number };
  const { default: usual = Math.min(USUAL_SIZE.default, max) } = others;
  unknownOptions('aggregate.size', given as object, ['default', 'max']).forEach(report);
  if (!Number.isInteger(max) || max < 1 || max > 10_000)
    report(`aggregate.size.max is ${showValue(max)}; use an integer from 1 to 10000.`);
  else if (!Number.isInteger(usual) || usual < 1 || usual > max)
    report(`aggregate.size.default is ${showValue(usual)}; use an integer from 1 to ${max}.`);
  return Object.freeze({ default: usual, max });
}
