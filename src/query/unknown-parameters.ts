/** Parameters nobody reads: a typo in one must not silently change what a request means. */

import type { ResourcePlan } from '../plan/resource-plan.js';
import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/did-you-mean.js';
import { type QueryString, quote } from './query-string.js';

/**
 * What is wrong with a query string before its values are read: parameters given twice or not decodable, and those
 * that the route does not read. Where the resource ignores the latter, nothing about them is wrong.
 */
export function parameterIssues(
  { unknownQuery }: ResourcePlan,
  { parameters, issues }: QueryString,
  accepted: readonly string[],
): RequestIssue[] {
  if (parameters.size === 0 && issues.length === 0) return [];
  if (unknownQuery === 'ignore') {
    return issues.filter((issue) => 'parameter' in issue && accepted.includes(issue.parameter));
  }
  const choices = accepted.length > 0 ? `It accepts ${accepted.join(', ')}.` : 'It accepts none.';
  const unknown = [...parameters.keys()]
    .filter((name) => !accepted.includes(name))
    .map((name) => ({
      parameter: name,
      code: 'unknown',
      detail: `This route has no parameter ${quote(name)}.${didYouMean(name, accepted)} ${choices}`,
    }));
  return [...issues, ...unknown];
}
