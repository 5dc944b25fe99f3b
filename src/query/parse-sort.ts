/** The `sort` parameter -> a total order. */
import { MAX_SORT_TERMS, parseSortTerm, totalOrder } from '../plan/compile-options.js';
import type { ResourcePlan, SortTerm } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/did-you-mean.js';
import { quote } from './query-string.js';

/**
 * Parses `-population,name` (JSON:API's syntax). Without the parameter the resource's default order holds; what is
 * wrong is added to `issues`.
 */
export function parseSort(
  plan: ResourcePlan,
  text: string | undefined,
  issues: RequestIssue[],
): readonly SortTerm[] {
  if (text === undefined) return plan.defaultSort;
  const terms: SortTerm[] = [];
  for (const item of text.split(',', MAX_SORT_TERMS + 1)) {
    // A `+` in a query string arrives as a space.
    const term = parseSortTerm(item.trim());
    if (!plan.sortable.includes(term.attribute)) issues.push(unknownIssue(plan, term.attribute));
    else if (terms.some(({ attribute }) => attribute === term.attribute))
      issues.push(repeatedIssue(term.attribute));
    else terms.push(term);
  }
  const count = text.split(',').length;
  if (count > MAX_SORT_TERMS) issues.push(tooManyIssue(count));
  return totalOrder(terms, plan.info.primaryKey.name);
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
