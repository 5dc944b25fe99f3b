/** One page of rows next to a place, in either direction, and the places where its neighbours begin. */
import type { Model } from 'sequelize';
import { InvalidCursorError } from '../query/invalid-cursor-error.js';
import type { Keyset, KeyValues } from '../query/keyset.js';
import { describeFault } from './database-fault.js';
import { type KeyTerm, rangesAfter, reversed, rowAt } from './keyset-sql.js';
import type { CursorPage, CursorPageRequest } from './page.js';
import type { RowFinder } from './row-finder.js';
import { type SqlFragment, sql } from './sql-fragment.js';

/** Names of the extra columns that hold the key values as text. No attribute can have one. */
const keyColumn = (index: number): string => `keyset ${index}`;
/** Name of the one that says whether the row is the one that the place was made from. */
const PLACE_COLUMN = 'keyset place';

/** A row and the values it is sorted by. */
interface KeyedRow<M> {
  readonly record: M;
  readonly values: KeyValues;
  /** Whether it is the row that the place was made from. */
  readonly isPlace: boolean;
}

/**
 * Finds a page. Whether rows lie beyond its ends is read from the table each time, never concluded from the request:
 * the row that a cursor was made from may be gone, and others may have come.
 *
 * @throws InvalidCursorError for a place whose values are not of the columns' types
 */
export async function findCursorPage<M extends Model>(
  finder: RowFinder<M>,
  request: CursorPageRequest<M>,
): Promise<CursorPage<M>> {
  try {
    return await findPage(finder, request);
  } catch (error) {
    // Of all values in the query only those of a cursor are not checked before: one that is not of its column's type
    // was made up, which is possible where cursors are not signed.
    const isMadeUp = (request.after || request.before) && describeFault(error)?.kind === 'invalid';
    throw isMadeUp ? new InvalidCursorError('cursor.malformed', request.before ? 'before' : 'after') : error;
  }
}

async function findPage<M extends Model>(
  finder: RowFinder<M>,
  { after = null, before = null, size }: CursorPageRequest<M>,
): Promise<CursorPage<M>> {
  const terms = finder.terms();
  const isBackward = before !== null;
  const place = before ?? after;
  const walk = isBackward ? reversed(terms) : terms;
  // The row that the place was made from is asked for too: where it still is, the near side is known not to be empty.
  const start = place && { values: place.values, isInclusive: true };
  const rows = await findRows(finder, walk, start, size + (start ? 2 : 1));
  const hasPlaceBefore = place !== null && !place.isInclusive && rows[0]?.isPlace === true;
  if (hasPlaceBefore) rows.shift();
  const page = rows.slice(0, size);
  const far = rows.length > size ? placeOf(page.at(-1)) : null;
  const near = place && nearPlace(page[0], place);
  const hasNear = near && (hasPlaceBefore || (await hasRows(finder, reversed(walk), near)));
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

async function hasRows<M extends Model>(
  finder: RowFinder<M>,
  walk: readonly KeyTerm[],
  place: Keyset,
): Promise<boolean> {
  for (const range of rangesAfter(walk, place, finder.column)) {
    const found = await finder.find(walk, range, {
      // Where a scope joins other tables, Sequelize sorts by what is selected.
      attributes: walk.map(({ attribute }) => attribute),
      limit: 1,
      raw: true,
    });
    if (found.length > 0) return true;
  }
  return false;
}

function placeOf(row: KeyedRow<unknown> | undefined): Keyset | null {
  return row ? { values: row.values, isInclusive: false } : null;
}

/** Rows in the order of the walk, range after range until there are enough. */
async function findRows<M extends Model>(
  finder: RowFinder<M>,
  walk: readonly KeyTerm[],
  place: Keyset | null,
  limit: number,
): Promise<KeyedRow<M>[]> {
  const rows: KeyedRow<M>[] = [];
  const ranges = place ? rangesAfter(walk, place, finder.column) : [null];
  for (const range of ranges) {
    const columns = extraColumns(finder, walk, place);
    const records = await finder.find(walk, range, { limit: limit - rows.length }, columns);
    rows.push(...records.map((record) => takeKeys(record, walk.length, place !== null)));
    if (rows.length >= limit) break;
  }
  return rows;
}

/** The key values as the database writes them (a JavaScript date would lose the microseconds), and its comparison. */
function extraColumns<M extends Model>(
  { column }: RowFinder<M>,
  walk: readonly KeyTerm[],
  place: Keyset | null,
): Record<string, SqlFragment> {
  return {
    ...Object.fromEntries(
      walk.map(({ attribute }, index) => [keyColumn(index), sql`${column(attribute)}::text`]),
    ),
    ...(place ? { [PLACE_COLUMN]: rowAt(walk, place, column) } : {}),
  };
}

/** Reads the extra columns off a record, and takes them away: nobody else is to see them. */
function takeKeys<M extends Model>(record: M, count: number, hasPlace: boolean): KeyedRow<M> {
  const { dataValues } = record as unknown as { dataValues: Record<string, string | boolean | null> };
  const take = (name: string): string | boolean | null => {
    const value = dataValues[name];
    delete dataValues[name];
    if (value !== undefined) return value;
    const { name: model } = record.constructor;
    throw new TypeError(
      `A hook of ${model} replaced the attributes of a query; a list by cursor needs its own, too.`,
    );
  };
  const values = Array.from({ length: count }, (_, index) => take(keyColumn(index)) as string | null);
  return { record, values, isPlace: hasPlace && take(PLACE_COLUMN) === true };
}
