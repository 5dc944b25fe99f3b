/** Counts the rows of each parent behind a relation, as far as a request has them counted. */

import type { Group } from '../execute/records/read-related.js';
import { type Total, totalOfCounted, totalOfSeen } from '../operation/count.js';

/** A total as it is answered. */
export interface RelatedTotal {
  readonly total: Total['total'];
  readonly total_is: Total['totalIs'];
}

/**
 * Finds the totals. Only those parents are counted whose rows do not tell.
 *
 * @param groups the rows of each parent; undefined where none were read
 * @param count counts the rows of these parents, up to one more than the limit
 */
export async function relatedTotals(
  keys: readonly string[],
  groups: readonly (Group | undefined)[],
  limit: number,
  count: (keys: readonly string[]) => Promise<readonly number[]>,
): Promise<readonly RelatedTotal[]> {
  const known = keys.map((_, index) => {
    const group = groups[index];
    return group && totalOfSeen(group.end - group.first + (group.hasNext ? 1 : 0), !group.hasNext, limit);
  });
  const counted = [...(await count(keys.filter((_, index) => known[index] === undefined)))];
  return known.map((each) => shown(each ?? totalOfCounted(counted.shift() as number, limit)));
}

/** That of a record whose key is NULL. */
export const NO_ROWS: RelatedTotal = Object.freeze({ total: 0, total_is: 'exact' });

function shown({ total, totalIs }: Total): RelatedTotal {
  return { total, total_is: totalIs };
}
