/** Limits of aggregates: how many run at once, and what a request has to narrow before anything is grouped. */
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { Filter } from '../../request/query/predicate.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import type { AggregatePlan } from './aggregate-options.js';

/** A process runs so many at the same time: each may read a whole table. */
const MOST_AT_ONCE = 2;
/** The charts of some dashboards wait for their turn. */
const MOST_WAITING = 32;
/** Milliseconds that one waits at most. */
const PATIENCE = 5_000;

let running = 0;
/** Each begins one. The oldest is the first. */
const waiting: (() => void)[] = [];

/** Runs one of few at the same time. @throws RefusedRequestError 503 where too many wait, or the turn has not come in time */
export async function runLimited<T>(work: () => Promise<T>): Promise<T> {
  if (running < MOST_AT_ONCE) running += 1;
  else await nextTurn();
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    // The next one takes its place.
    if (next) next();
    else running -= 1;
  }
}

function nextTurn(): Promise<void> {
  if (waiting.length >= MOST_WAITING) throw tooMany();
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(begin), 1);
      reject(tooMany());
    }, PATIENCE);
    waiting.push(begin);
  });
}

function tooMany(): RefusedRequestError {
  return new RefusedRequestError(503, 'Too many aggregates run at the same time; try again.', {
    'Retry-After': '1',
  });
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
