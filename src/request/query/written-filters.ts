/**
 * Filters as they are written in the functions of rules. A name that is misspelt there fails every request; a rule cannot be called
 * before there is one, so the start reads its text. Whatever is not certain in it is left to the requests.
 */

import { everyInclude, type ResourcePlan } from '../../compile/resource-plan.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { didYouMean } from '../../util/option-problems.js';
import { FilterError } from './filter-error.js';
import { parseFilterSyntax, type SyntaxNode } from './filter-syntax.js';

/** `filter` with a text behind it, called by its name or as compilers write an import; values hold no braces and no quotes. */
const WRITTEN = /(?:(?<![\w$.])filter|\w\.filter\)?)\s*`((?:[^`\\$]|\$(?!\{)|\$\{[^{}`]*\})*)`/g;

/** Value in the place of each `${…}` of a text: only the names of the text are checked. */
const VALUE = 'value';

/** One line for each name in a written filter that is no attribute, and for each filter that cannot be read. */
export function writtenFilterProblems(plans: readonly ResourcePlan[]): string[] {
  const models = new Map<object, ResourcePlan>();
  const related = plans.flatMap(({ relations }) => everyInclude(relations.include));
  for (const plan of [...plans, ...related.map(({ target }) => target)]) models.set(plan.model, plan);
  const rules = [
    ...[...models.values()].map(({ name, info, access }) => ({
      info,
      rule: access?.visible,
      source: `${name}: visible`,
    })),
    ...plans.flatMap(({ name, relations }) =>
      everyInclude(relations.include).map(({ path, target: { info }, where }) => ({
        info,
        rule: where,
        source: `${name}: where of include.${path}`,
      })),
    ),
  ];
  return rules.flatMap(({ info, rule, source }) =>
    writtenFilters(rule).flatMap((text) => problemsOf(info, text, source)),
  );
}

function writtenFilters(rule: unknown): string[] {
  if (typeof rule !== 'function') return [];
  return [...Function.prototype.toString.call(rule).matchAll(WRITTEN)].map(([, text = '']) => text);
}

function problemsOf({ attributes }: RecordInfo, written: string, source: string): string[] {
  const names = [...attributes.keys()];
  try {
    const syntax = parseFilterSyntax(written.replaceAll(/\$\{[^{}`]*\}/g, VALUE));
    return namesIn(syntax)
      .filter((name) => !attributes.has(name))
      .map(
        (name) =>
          `${source} names '${name}', which is not an attribute.${didYouMean(name, names)} The attributes are ${names.join(', ')}.`,
      );
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return [`${source} has the filter '${written}', which cannot be read: ${error.message}`];
  }
}

function namesIn(node: SyntaxNode | null): string[] {
  if (node === null) return [];
  if ('operands' in node) return node.operands.flatMap(namesIn);
  return [node.selector.text];
}
