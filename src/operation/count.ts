/** The count of a list's rows: its limit, and the total that follows from rows or from a count. */

import { DEFAULT_CAP } from '../compile/compile-count.js';
import { COUNT_MODES, type CountMode, type CountRequest, type TotalIs } from '../declare/count-options.js';
import type { Inclusion } from '../request/query/list-query.js';
import { showValue } from '../util/option-problems.js';

/**
 * Limit of the count: all rows, none, or this many at most. With a number the page also has `totalIs`, and `hasNext`:
 * it is `Infinity` for all rows, and 0 for none.
 */
export type Count = 'exact' | 'none' | number;

/** The number of rows, as far as it was counted. */
export interface Total {
  /** Null where it is not counted. */
  readonly total: number | null;
  readonly totalIs: TotalIs;
}

/**
 * Reads the count of a request.
 *
 * @param usual for a request that says nothing of it
 * @throws RangeError for a mode that there is not, and a cap that is no integer from 1
 */
export function countOf({ count, cap = DEFAULT_CAP }: CountRequest, usual: 'exact' | 'none'): Count {
  return count === undefined ? usual : countLimit(count, cap);
}

/** The count of a list: without a mode, pages by number have an exact one, and pages by cursor none. */
export function countOfList(inputs: CountRequest & { readonly kind?: unknown }): Count {
  return countOf(inputs, inputs.kind === 'cursor' ? 'none' : 'exact');
}

/** Number of rows that a mode counts at most. @throws RangeError */
function countLimit(mode: CountMode, cap: number): number {
  if (!COUNT_MODES.includes(mode)) {
    throw new RangeError(`count is ${showValue(mode)}; use one of ${COUNT_MODES.join(', ')}.`);
  }
  // It is part of a statement.
  if (!Number.isSafeInteger(cap) || cap < 1) {
    throw new RangeError(`cap is ${showValue(cap)}; use an integer from 1.`);
  }
  return { exact: Number.POSITIVE_INFINITY, capped: cap, none: 0 }[mode];
}

/**
 * Total that follows from the rows without a count; undefined where they have to be counted.
 *
 * @param seen rows that are there
 * @param areAll true where there are no others
 * @param limit rows that are counted at most
 */
export function totalOfSeen(seen: number, areAll: boolean, limit: number): Total | undefined {
  if (areAll) return { total: seen, totalIs: 'exact' };
  if (limit === 0) return { total: null, totalIs: 'none' };
  return seen > limit ? totalOfCounted(seen, limit) : undefined;
}

/** @param counted rows that were found, up to one more than the limit */
export function totalOfCounted(counted: number, limit: number): Total {
  return counted > limit ? { total: limit, totalIs: 'at_least' } : { total: counted, totalIs: 'exact' };
}

/** Rows of each parent that are counted at most; undefined where the relation says nothing of it. */
export function relatedLimit({ count, plan }: Pick<Inclusion, 'count' | 'plan'>): number | undefined {
  return count && plan.count ? countLimit(count, plan.count.cap) : undefined;
}

/** True where a request counts the related rows, and reads none of them. */
export function isNumberOnly(inclusion: Pick<Inclusion, 'count' | 'plan' | 'size'>): boolean {
  return inclusion.size === 0 && Boolean(relatedLimit(inclusion));
}
