/** The relations that a request names in `include`, and those that messages may name. */

import { everyInclude, type IncludePlan, type RelatedPlan } from '../compile/resource-plan.js';
import { hasKeyIn, parentKeys } from '../describe/relations.js';
import { type AccessForm, OPEN_ACCESS } from '../operation/access.js';
import type { Reading } from '../operation/feature.js';
import type { RelatedAccess } from '../operation/related-rows.js';
import { quote } from '../request/query/query-string.js';
import { didYouMean } from '../util/option-problems.js';

type Plans = ReadonlyMap<string, IncludePlan>;

/** A request that includes relations. */
export interface Including {
  /** Plans of the relations of its records, by name. */
  readonly plans: Plans;
  /** The paths that it names, and those before their dots. */
  readonly wanted: ReadonlySet<string>;
  readonly reading: Reading;
}

/** Paths that `include` names, and each path before a dot of theirs. */
export function includedPaths(text: string, paths: readonly string[]): ReadonlySet<string> {
  const names = text.split(',');
  return new Set(paths.filter((path) => names.some((name) => `${name}.`.startsWith(`${path}.`))));
}

/** Adds problems of the names to the issues. */
export function checkNames(text: string, paths: readonly string[], including: Including): void {
  const names = text.split(',', paths.length + 1);
  for (const [index, name] of names.entries()) {
    if (!paths.includes(name)) addUnknown(including, name);
    else if (names.indexOf(name) !== index)
      including.reading.issues.push({
        parameter: 'include',
        code: 'include.repeated',
        detail: `'${name}' may be named once in include.`,
      });
  }
}

/** Adds that there is no such relation. */
export function addUnknown(including: Including, name: string): void {
  const { plans, reading } = including;
  const paths = knownPaths(plans, reading.access.form, including);
  const choices = paths.length > 0 ? `The relations are ${paths.join(', ')}.` : 'There are no relations.';
  reading.issues.push({
    parameter: 'include',
    code: 'include.unknown',
    detail: `Cannot include ${quote(name)}.${didYouMean(name, paths)} ${choices}`,
    allowed: paths,
  });
}

/** The relations that messages may name, as far as their rules were evaluated. */
function knownPaths(plans: Plans, form: AccessForm, including: Including): readonly string[] {
  const { wanted, reading } = including;
  return [...plans.values()].flatMap((plan) => {
    const { path, include, relation } = plan;
    if (!wanted.has(path)) {
      if (parentKeys(relation).some((name) => form.unreadable.has(name))) return [];
      return [path, ...everyInclude(include).map((each) => each.path)];
    }
    const access = reading.related(plan);
    if (isHidden(plan, form, access)) return [];
    return [path, ...knownPaths(include, access.target.form, including)];
  });
}

/** True where a request may not read a key of the relation: the rows that belong together would reveal it. */
export function isHidden(
  { relation }: RelatedPlan,
  { unreadable }: AccessForm,
  { target, through }: RelatedAccess,
): boolean {
  const between = (through ?? OPEN_ACCESS).form.unreadable;
  return hasKeyIn(relation, unreadable, target.form.unreadable, between);
}
