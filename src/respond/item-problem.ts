/** Problems of items of a body, as errors of the body. */
import { type ItemPlace, type RequestIssue, withinItem } from '../schema/request-issue.js';
import type { Problem } from './problem.js';

/** Words for a problem that says nothing about an attribute. */
const ITEM_CODES: Readonly<Record<number, string>> = {
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  412: 'changed',
  428: 'conditionRequired',
};

/** The errors of an item, with pointers into it. */
export function itemIssues({ status, detail, errors }: Problem): readonly RequestIssue[] {
  return errors ?? [{ pointer: '', code: ITEM_CODES[status] ?? 'refused', detail }];
}

/** A problem of one item of a body, as a problem of the body. A failure of the server is not about an item. */
export function ofItem(problem: Problem, item: ItemPlace): Problem {
  const { status, detail, errors } = problem;
  if (status >= 500 || (item === 'unknown' && !errors)) return problem;
  return { status, detail, errors: itemIssues(problem).map((each) => withinItem(item, each)) };
}
