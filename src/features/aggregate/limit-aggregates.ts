/** Limits of aggregates: the number that runs at once, and the attributes that a request has to narrow before anything is grouped. */
import { WorkLimit } from '../../operation/work-limit.js';
import type { Filter } from '../../request/query/predicate.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import type { AggregatePlan } from './aggregate-options.js';

/** Each may read a whole table. The charts of some dashboards wait for their turn. */
export const AGGREGATES = new WorkLimit(2, 'aggregates', { waiting: 32, patience: 5_000, retryAfter: 1 });

/** @param search the condition of the search, which is in the filter, too. @throws InvalidQueryError for a filter that lacks an attribute of the option */
export function checkFilter(
  { requireFilter }: AggregatePlan,
  filter: Filter | null,
  search: Filter | null,
): void {
  if (requireFilter === null) return;
  const isNarrowed =
    requireFilter.length === 0 ? filter !== null && filter !== search : narrows(filter, requireFilter);
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
    case 'comparison': {
      const { attribute, jsonType } = filter;
      return names.includes(jsonType ? (attribute.split('.')[0] as string) : attribute);
    }
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
