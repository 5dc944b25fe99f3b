/** One page of rows by number, and how many there are in all. */
import type { OffsetPage, PageRequest } from './page.js';

/** Rows in an order, which can be counted. */
export interface OffsetSource<Row> {
  find(limit: number, offset: number): Promise<Row[]>;
  count(): Promise<number>;
}

/** Finds a page. The rows are not counted where a short page tells how many there are. */
export async function findOffsetPage<Row>(
  source: OffsetSource<Row>,
  { page, size }: Pick<PageRequest, 'page' | 'size'>,
): Promise<OffsetPage<Row>> {
  const offset = (page - 1) * size;
  const items = await source.find(size, offset);
  const isLast = items.length < size && (items.length > 0 || page === 1);
  const total = isLast ? offset + items.length : await source.count();
  return { items, total, page, size };
}
