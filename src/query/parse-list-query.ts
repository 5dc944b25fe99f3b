/** Query parameters of a list -> `ListQuery`. Pure: what a client wants is decided here, before any connection is taken. */
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { InvalidQueryError } from './invalid-query-error.js';
import type { ListQuery } from './list-query.js';
import { type QueryString, quote } from './query-string.js';
import { parameterIssues } from './unknown-parameters.js';

const POSITIVE_INTEGER = /^[1-9][0-9]*$/;
/** The largest page number. Far beyond any table, and its product with a size is still an exact integer. */
const MAX_PAGE = 2_147_483_647;

/** The parameters of an offset list. */
export const LIST_PARAMETERS: readonly string[] = ['page', 'size'];

/**
 * Reads the parameters of a list.
 *
 * @throws InvalidQueryError naming each wrong parameter, what it got and what it accepts
 */
export function parseListQuery(plan: ResourcePlan, queryString: QueryString): ListQuery {
  const { parameters } = queryString;
  const issues = parameterIssues(plan, queryString, LIST_PARAMETERS);
  const query: ListQuery = {
    page: integerParameter(parameters, 'page', { fallback: 1, max: MAX_PAGE }, issues),
    size: integerParameter(
      parameters,
      'size',
      { fallback: plan.pageSize.default, max: plan.pageSize.max },
      issues,
    ),
  };
  if (issues.length > 0) throw new InvalidQueryError(issues);
  return Object.freeze(query);
}

function integerParameter(
  parameters: QueryString['parameters'],
  parameter: string,
  { fallback, max }: { fallback: number; max: number },
  issues: RequestIssue[],
): number {
  const raw = parameters.get(parameter);
  if (raw === undefined) return fallback;
  const value = POSITIVE_INTEGER.test(raw) ? Number(raw) : Number.NaN;
  if (value <= max) return value;
  issues.push({
    parameter,
    code: 'range',
    detail: `Parameter '${parameter}' is ${quote(raw)}; it accepts an integer from 1 to ${max}.`,
  });
  return fallback;
}
