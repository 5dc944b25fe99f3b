/** Limits of aggregates: how many run at once, and what a request has to narrow before anything is grouped. */
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { Filter } from '../../request/query/predicate.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import type { AggregatePlan } from './aggregate-options.js';

/** A process runs so many at the same time: each may read a whole table. */
const MOST_AT_ONCE = 2;

let running = 0;

/** Runs one of few at the same time. @throws RefusedRequestError 503 where as many run already */
export async function runLimited<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MOST_AT_ONCE)
    throw new RefusedRequestError(503, 'Too many aggregates run at the same time; try again.', {
      'Retry-After': '1',
    });
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
  }
}

/** @throws InvalidQueryError for a filter that lacks what the option demands */
export function checkFilter({ requireFilter }: AggregatePlan, filter: Filter | null): void {
  if (requireFilter === null) return;
  const isNarrowed = requireFilter.length === 0 ? filter !== null : narrows(filter, requireFilter);
  if (isNarrowed) return;
  const subject = requireFilter.length === 0 ? 'a condition' : `a condition on ${requireFilter.join(' or ')}`;
  throw new InvalidQueryError([
    {
      parameter: 'q',
      code: 'aggregate.filter',
      detail: `This route needs ${subject} in q, which every record has to meet.`,
    },
  ]);
}

/** True where each row that is found meets a condition on one of the attributes. */
function narrows(filter: Filter | null, names: readonly string[]): boolean {
  switch (filter?.kind) {
    case 'comparison':
      return names.includes(filter.attribute);
    case 'and':
      return filter.operands.some((each) => narrows(each, names));
    case 'or':
      return filter.operands.every((each) => narrows(each, names));
    default:
      return false;
  }
}

/** @throws InvalidQueryError where more rows would be grouped than the option allows */
export function checkEstimate({ maxEstimate }: AggregatePlan, rows: number): void {
  if (maxEstimate === null || rows <= maxEstimate) return;
  throw new InvalidQueryError([
    {
      parameter: 'q',
      code: 'aggregate.too-large',
      detail: `This would group about ${rows} records, and at most ${maxEstimate} are allowed; narrow it with q.`,
    },
  ]);
}
