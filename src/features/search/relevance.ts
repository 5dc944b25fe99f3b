/** The order `relevance` of a full text search: the best of its first hits, on pages by number. A rank is no place for a cursor. */
import { parseSortName } from '../../compile/compile-sort.js';
import type { ResourcePlan, SortTerm } from '../../compile/resource-plan.js';
import type { Reading } from '../../operation/feature.js';
import { queryRank } from './parse-query.js';
import { RELEVANCE, searchOf } from './search-options.js';

/** Rows that pages of the order reach: the next ones would be ranked anew, all of them for each page. */
const MAX_PAGED = 1_000;
/** Hits that are ranked. */
const MAX_RANKED = 10_000;

/** Reads the order where `sort` names it; undefined for any other order. Problems are added to the issues. */
export type RelevanceReader = (text: string, reading: Reading) => readonly SortTerm[] | undefined;

/** The parser of the order; null where the resource has none. */
export function relevanceReader(plan: ResourcePlan): RelevanceReader | null {
  const text = searchOf(plan)?.text;
  const { primaryKey } = plan.info;
  if (!text || primaryKey.length === 0) return null;
  const key = primaryKey.map(({ name }): SortTerm => Object.freeze({ attribute: name, descending: false }));
  return (sort, reading) => {
    if (!sort.split(',').some((item) => parseSortName(item.trim()).name === RELEVANCE)) return undefined;
    const problem = problemOf(sort, reading);
    const wanted = reading.textOf('search');
    if (problem !== undefined)
      reading.issues.push({ parameter: 'sort', code: 'sort.relevance', detail: problem });
    // The problem of the search is among the issues.
    if (problem !== undefined || wanted === undefined || !reading.inputs['search']) return plan.defaultSort;
    const { texts, parts } = queryRank(text, wanted);
    const value = Object.freeze({ kind: 'rank', texts, parts, among: MAX_RANKED } as const);
    return Object.freeze([Object.freeze({ attribute: RELEVANCE, descending: true, value }), ...key]);
  };
}

function problemOf(sort: string, { takes, inputs, textOf }: Reading): string | undefined {
  if (!takes('page'))
    return 'An order by relevance has pages by number alone, and this list has none; sort by an attribute.';
  if (sort.trim() !== RELEVANCE)
    return 'relevance is alone in sort, and has no other direction; leave the rest out, or sort by attributes.';
  if (textOf('search') === undefined)
    return 'An order by relevance is that of a search; add search, or sort by an attribute.';
  if (Number(inputs.page) * Number(inputs.size) > MAX_PAGED)
    return `Pages of an order by relevance end at ${MAX_PAGED} rows; sort by an attribute to read more.`;
  return undefined;
}
