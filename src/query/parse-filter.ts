/** The `q` parameter -> a typed filter. */
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import type { Filter } from './filter.js';
import { FilterError } from './filter-error.js';
import { parseFilterSyntax } from './filter-syntax.js';
import { typeFilter } from './type-filter.js';

/** Parses `q`; what is wrong with it is added to `issues`. A blank filter is null. */
export function parseFilter(plan: ResourcePlan, text: string, issues: RequestIssue[]): Filter | null {
  try {
    const syntax = parseFilterSyntax(text);
    if (syntax === null) return null;
    const { filter, errors } = typeFilter(plan, syntax);
    issues.push(...errors.map((error) => error.toIssue()));
    return filter;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    issues.push(error.toIssue());
    return null;
  }
}
