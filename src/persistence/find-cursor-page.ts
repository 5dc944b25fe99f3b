/** One page of rows next to a place, in either direction, and the places where its neighbours begin. */
import { InvalidCursorError } from '../query/invalid-cursor-error.js';
import type { Keyset, KeyValues } from '../query/keyset.js';
import { describeFault } from './database-fault.js';
import type { ColumnSql } from './filter-sql.js';
import { type KeyTerm, rangesAfter, reversed } from './keyset-sql.js';
import type { CursorPage, CursorPageRequest } from './page.js';
import type { SqlFragment } from './sql-fragment.js';

/** A row and the values it is sorted by. */
export interface KeyedRow<R> {
  readonly record: R;
  readonly values: KeyValues;
  /** Whether it is the row that the place was made from. */
  readonly isPlace: boolean;
}

/** Rows that can be walked in an order, from a place on. */
export interface KeyedRows<R> {
  /** The total order. */
  readonly terms: readonly KeyTerm[];
  readonly column: ColumnSql;
  /** Finds rows of a range in the order of the walk; `place` is what to compare them with. */
  find(
    walk: readonly KeyTerm[],
    range: SqlFragment | null,
    place: Keyset | null,
    limit: number,
  ): Promise<KeyedRow<R>[]>;
  /** Whether a range has any row. */
  hasAny(walk: readonly KeyTerm[], range: SqlFragment): Promise<boolean>;
}

/** What of a request says where the page is. */
export type PlaceRequest = Pick<CursorPageRequest, 'after' | 'before' | 'size'>;

/**
 * Finds a page. Whether rows lie beyond its ends is read from the table each time, never concluded from the request:
 * the row that a cursor was made from may be gone, and others may have come.
 *
 * @throws InvalidCursorError for a place whose values are not of the columns' types
 */
export async function findCursorPage<R>(rows: KeyedRows<R>, request: PlaceRequest): Promise<CursorPage<R>> {
  try {
    return await findPage(rows, request);
  } catch (error) {
    // Of all values in the query only those of a cursor are not checked before: one that is not of its column's type
    // was made up, which is possible where cursors are not signed.
    const isMadeUp = (request.after || request.before) && describeFault(error)?.kind === 'invalid';
    throw isMadeUp ? new InvalidCursorError('cursor.malformed', request.before ? 'before' : 'after') : error;
  }
}

async function findPage<R>(
  source: KeyedRows<R>,
  { after = null, before = null, size }: PlaceRequest,
): Promise<CursorPage<R>> {
  const { terms } = source;
  const isBackward = before !== null;
  const place = before ?? after;
  const walk = isBackward ? reversed(terms) : terms;
  // The row that the place was made from is asked for too: where it still is, the near side is known not to be empty.
  const start = place && { values: place.values, isInclusive: true };
  const rows = await findRows(source, walk, start, size + (start ? 2 : 1));
  const hasPlaceBefore = place !== null && !place.isInclusive && rows[0]?.isPlace === true;
  if (hasPlaceBefore) rows.shift();
  const page = rows.slice(0, size);
  const far = rows.length > size ? placeOf(page.at(-1)) : null;
  const near = place && nearPlace(page[0], place);
  const hasNear = near && (hasPlaceBefore || (await hasRows(source, reversed(walk), near)));
  const items = page.map(({ record }) => record);
  const back = hasNear ? near : null;
  return isBackward ? { items: items.reverse(), next: back, prev: far } : { items, next: far, prev: back };
}

/**
 * The place where the rows on the near side of a page end. Behind an empty page lies everything up to the place, and the
 * row it was made from if that is still there.
 */
function nearPlace(first: KeyedRow<unknown> | undefined, place: Keyset): Keyset {
  return placeOf(first) ?? { values: place.values, isInclusive: !place.isInclusive };
}

async function hasRows<R>(source: KeyedRows<R>, walk: readonly KeyTerm[], place: Keyset): Promise<boolean> {
  for (const range of rangesAfter(walk, place, source.column)) {
    if (await source.hasAny(walk, range)) return true;
  }
  return false;
}

function placeOf(row: KeyedRow<unknown> | undefined): Keyset | null {
  return row ? { values: row.values, isInclusive: false } : null;
}

/** Rows in the order of the walk, range after range until there are enough. */
async function findRows<R>(
  source: KeyedRows<R>,
  walk: readonly KeyTerm[],
  place: Keyset | null,
  limit: number,
): Promise<KeyedRow<R>[]> {
  const rows: KeyedRow<R>[] = [];
  const ranges = place ? rangesAfter(walk, place, source.column) : [null];
  for (const range of ranges) {
    rows.push(...(await source.find(walk, range, place, limit - rows.length)));
    if (rows.length >= limit) break;
  }
  return rows;
}
