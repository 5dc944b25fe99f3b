/** The order of a list: `sort`. */

import {
  MAX_SORT_TERMS,
  orderNames,
  parseSortName,
  sortedAttribute,
  termsOf,
  totalOrder,
} from '../compile/compile-sort.js';
import type { ResourcePlan, SortTerm } from '../compile/resource-plan.js';
import { type AccessForm, perForm } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import { quote } from '../request/query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/option-problems.js';
import { chosenNames } from './chosen-names.js';

/** Parses orders of the rows of a resource. */
export type SortReader = (text: string, form: AccessForm, issues: RequestIssue[]) => readonly SortTerm[];

/** The parser of orders by what requests of a form may read. */
export function sortReader(plan: ResourcePlan): SortReader {
  const planFor = perForm(({ unreadable }) => ({
    ...plan,
    sortable: plan.sortable.filter(
      (name) => !termsOf(plan, name, false).some((term) => unreadable.has(sortedAttribute(term))),
    ),
  }));
  return (text, form, issues) => parseSort(planFor(form), text, issues);
}

/** A total order. */
export const sort: FeatureFactory = ({ plan }) => {
  const { defaultSort } = plan;
  const read = sortReader(plan);
  const shown = orderNames(defaultSort);
  return {
    inputs: [
      {
        in: 'query',
        name: 'sort',
        endpoints: ['list'],
        absent: defaultSort,
        turn: 2,
        read: (text, { issues, access }) => read(text, access.form, issues),
        describe: () =>
          chosenNames(
            `The order; \`-\` is descending. An attribute is named once. Default: \`${shown}\`. ` +
              'The primary key is appended, so that the order is total.',
            plan.sortable.flatMap((name) => [name, `-${name}`]),
            Math.min(MAX_SORT_TERMS, plan.sortable.length),
          ),
      },
    ],
    dependsOn: ['sort'],
    rewrite: { list: (operation, { sort: order = defaultSort }) => ({ ...operation, order }) },
  };
};

/** Parses `-population,name` (JSON:API's syntax). What is wrong is added to `issues`. */
export function parseSort(plan: ResourcePlan, text: string, issues: RequestIssue[]): readonly SortTerm[] {
  const terms: SortTerm[] = [];
  const named = new Set<string>();
  for (const item of text.split(',', MAX_SORT_TERMS + 1)) {
    // A `+` in a query string arrives as a space.
    const { name, descending } = parseSortName(item.trim());
    if (!plan.sortable.includes(name)) issues.push(unknownIssue(plan, name));
    else if (named.has(name)) issues.push(repeatedIssue(name));
    else terms.push(...termsOf(plan, name, descending));
    named.add(name);
  }
  const count = text.split(',').length;
  if (count > MAX_SORT_TERMS) issues.push(tooManyIssue(count));
  return totalOrder(terms, plan.info.primaryKey);
}

function unknownIssue({ sortable }: ResourcePlan, name: string): RequestIssue {
  const choices = sortable.length > 0 ? `Sortable: ${sortable.join(', ')}.` : 'Nothing can be sorted here.';
  return {
    parameter: 'sort',
    code: 'sort.unknown-field',
    detail: `Cannot sort by ${quote(name)}.${didYouMean(name, sortable)} ${choices}`,
    allowed: sortable,
  };
}

function repeatedIssue(name: string): RequestIssue {
  return { parameter: 'sort', code: 'sort.repeated', detail: `'${name}' may be named once in sort.` };
}

function tooManyIssue(count: number): RequestIssue {
  return {
    parameter: 'sort',
    code: 'sort.too-many',
    detail: `At most ${MAX_SORT_TERMS} fields are allowed in sort (found ${count}).`,
  };
}
