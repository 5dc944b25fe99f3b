/** One page of rows next to a place, in either direction, and the places where its neighbours begin. */

import { describeFault } from '../../errors/database-fault.js';
import type { Count } from '../../operation/count.js';
import { InvalidCursorError } from '../../request/query/cursor-codec.js';
import { digestOfValues, type Keyset, type KeyValues } from '../../request/query/keyset.js';
import { type KeyTerm, reversed } from '../sql/keyset-sql.js';
import { type CountedSource, findTotal, limitOf } from './find-offset-page.js';
import type { CursorPage, CursorPageRequest } from './page.js';

/** Rows that can be walked in an order, from a place on. */
export interface KeysetSource<Row, Range> extends CountedSource {
  /** The total order. */
  readonly terms: readonly KeyTerm[];
  /** The rows behind a place as ranges that follow one another; all rows where there is no place. */
  ranges(walk: readonly KeyTerm[], place: Keyset | null): Iterable<Range>;
  /** The first rows of a range. */
  find(range: Range, limit: number): Promise<Row[]>;
  /** True where a range has any row. */
  hasAny(range: Range): Promise<boolean>;
  /** The values that a row is sorted by. */
  valuesOf(row: Row): KeyValues;
  /** True where the row is the one that the place of its range was made from. */
  isPlace(row: Row): boolean;
}

/** Part of a request that defines the position of the page. */
export type PlaceRequest = Pick<CursorPageRequest, 'after' | 'before' | 'size'>;

/**
 * Finds a page. Whether rows lie beyond its ends is read from the table each time, never concluded from the request:
 * the row that a cursor was made from may be gone, and others may have come.
 *
 * @throws InvalidCursorError for a place whose values are not of the columns' types, and for one of a row that has no such values
 */
export async function findCursorPage<Row, Range>(
  source: KeysetSource<Row, Range>,
  request: PlaceRequest,
  count: Count,
): Promise<CursorPage<Row>> {
  const page = await findChecked(source, request);
  if (count === 'none') return page;
  const { items, next, prev } = page;
  // Whatever the place, the whole list is counted.
  const seen = items.length + (next ? 1 : 0) + (prev ? 1 : 0);
  return { ...page, ...(await findTotal(source, seen, !next && !prev, limitOf(count))) };
}

async function findChecked<Row, Range>(
  source: KeysetSource<Row, Range>,
  request: PlaceRequest,
): Promise<CursorPage<Row>> {
  try {
    return await findPage(source, request);
  } catch (error) {
    // Of all values in the query only those of a cursor are not checked before: one that is not of its column's type
    // was made up, which is possible where cursors are not signed.
    const isMadeUp = (request.after || request.before) && describeFault(error)?.kind === 'invalid';
    throw isMadeUp ? new InvalidCursorError('cursor.malformed', request.before ? 'before' : 'after') : error;
  }
}

async function findPage<Row, Range>(
  source: KeysetSource<Row, Range>,
  { after = null, before = null, size }: PlaceRequest,
): Promise<CursorPage<Row>> {
  const { terms } = source;
  const isBackward = before !== null;
  const place = await findPlace(source, before ?? after, isBackward ? 'before' : 'after');
  const walk = isBackward ? reversed(terms) : terms;
  const placeOf = (row: Row | undefined): Keyset | null =>
    row === undefined ? null : { values: source.valuesOf(row), isInclusive: false };
  // The row that the place was made from is asked for too: where it still is, the near side is known not to be empty.
  const start = place && { values: place.values, isInclusive: true };
  const rows = await findRows(source, walk, start, size + (start ? 2 : 1));
  const [first] = rows;
  const hasPlaceBefore = place !== null && !place.isInclusive && first !== undefined && source.isPlace(first);
  const begin = hasPlaceBefore ? 1 : 0;
  const items = rows.slice(begin, begin + size);
  const far = rows.length > begin + size ? placeOf(items.at(-1)) : null;
  // Behind an empty page lies everything up to the place, and the row it was made from if that is still there.
  const near = place && (placeOf(items[0]) ?? { values: place.values, isInclusive: !place.isInclusive });
  const hasNear = near && (hasPlaceBefore || (await hasRows(source, reversed(walk), near)));
  const back = hasNear ? near : null;
  return isBackward ? { items: items.reverse(), next: back, prev: far } : { items, next: far, prev: back };
}

/** A place that tells the key of its row only gets the other values from the row. @throws InvalidCursorError */
async function findPlace<Row, Range>(
  source: KeysetSource<Row, Range>,
  place: Keyset | null,
  parameter: 'after' | 'before',
): Promise<Keyset | null> {
  if (place?.digest === undefined) return place;
  const { values, isInclusive, digest } = place;
  const key = values.findIndex((value) => value !== null);
  const byKey = source.terms.slice(key, key + 1);
  const start = { values: values.slice(key, key + 1), isInclusive: true };
  // The rows of the list from the key on: what others may see of the row is not told by a key that was made up.
  const [row] = await findRows(source, byKey, start, 1);
  const found = row !== undefined && source.isPlace(row) ? source.valuesOf(row) : [];
  if (digestOfValues(found) !== digest) throw new InvalidCursorError('cursor.gone', parameter);
  return { values: found, isInclusive };
}

async function hasRows<Row, Range>(
  source: KeysetSource<Row, Range>,
  walk: readonly KeyTerm[],
  place: Keyset,
): Promise<boolean> {
  for (const range of source.ranges(walk, place)) if (await source.hasAny(range)) return true;
  return false;
}

/** Rows in the order of the walk, range after range until there are enough. */
async function findRows<Row, Range>(
  source: KeysetSource<Row, Range>,
  walk: readonly KeyTerm[],
  place: Keyset | null,
  limit: number,
): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  for (const range of source.ranges(walk, place)) {
    const found = await source.find(range, limit - rows.length);
    // Usually the first range has all of them, and they need no copy.
    rows = rows.length === 0 ? found : [...rows, ...found];
    if (rows.length >= limit) break;
  }
  return rows;
}
