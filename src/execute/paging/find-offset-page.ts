/** One page of rows by number, and how many there are in all. */
import { type Count, type Total, totalOfCounted, totalOfSeen } from '../../operation/count.js';
import type { OffsetPage, PageRequest } from './page.js';

/** Rows that can be counted. */
export interface CountedSource {
  /** Number of rows, counted up to a limit; `Infinity` counts all. */
  count(limit: number): Promise<number>;
}

/** Rows in an order, which can be counted. */
export interface OffsetSource<Row> extends CountedSource {
  findFrom(offset: number, limit: number): Promise<Row[]>;
}

/** Where a page by number is. */
type Place = Pick<PageRequest, 'page' | 'size'>;

/** Finds a page. The rows are not counted where those of the page tell how many there are. */
export async function findOffsetPage<Row>(
  source: OffsetSource<Row>,
  { page, size }: Place,
  count: Count,
): Promise<OffsetPage<Row>> {
  const offset = (page - 1) * size;
  // A row more than the page has tells whether others follow, whatever is counted.
  const isAsked = typeof count === 'number';
  const limit = isAsked ? size + 1 : size;
  const rows = await source.findFrom(offset, limit);
  const areLast = rows.length < limit && (rows.length > 0 || page === 1);
  const seen = rows.length > 0 ? offset + rows.length : 0;
  const { total, totalIs } = await findTotal(source, seen, areLast, limitOf(count));
  if (!isAsked) return { items: rows, total, page, size };
  return { items: rows.slice(0, size), total, totalIs, page, size, hasNext: rows.length > size };
}

/** Finds how many rows there are. @param seen rows that are there @param areAll whether there are no others */
export async function findTotal(
  source: CountedSource,
  seen: number,
  areAll: boolean,
  limit: number,
): Promise<Total> {
  return totalOfSeen(seen, areAll, limit) ?? totalOfCounted(await source.count(limit + 1), limit);
}

/** Number of rows that are counted at most. */
export function limitOf(count: Count): number {
  if (typeof count === 'number') return count;
  return count === 'exact' ? Number.POSITIVE_INFINITY : 0;
}
