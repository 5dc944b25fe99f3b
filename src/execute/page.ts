/** Pages of rows, by number and by place: their form, their origin, and how either executor finds them. */
import type { SortTerm } from '../compile/resource-plan.js';
import type { TotalIs } from '../declare/count-options.js';
import { describeFault } from '../errors/database-fault.js';
import { MultipleResultsFound } from '../errors/errors.js';
import { type Count, type Total, totalOfCounted, totalOfSeen } from '../operation/count.js';
import type { KeysetWindow, ListOperation, OffsetWindow } from '../operation/operation.js';
import {
  digestOfValues,
  InvalidCursorError,
  type Keyset,
  type KeyValues,
} from '../request/query/cursor-codec.js';
import { type KeyTerm, reversed } from './sql/keyset-sql.js';

/** Page of a list: `OffsetPage` or `CursorPage`, by the paging of the resource. */
export interface Page<T> {
  readonly items: T[];
  /** Number of rows on all pages; null where it is not counted. */
  readonly total?: number | null;
  /**
   * Kind of `total`: the exact number, a number that there are more rows than, or unknown. A repository sets it where
   * `count` is set. Left out, a number is exact.
   */
  readonly totalIs?: TotalIs;
  /** True where another page follows a page by number. Left out, `total` decides, or else a full page. */
  readonly hasNext?: boolean;
  readonly page?: number;
  readonly size?: number;
  readonly next?: Keyset | null;
  readonly prev?: Keyset | null;
}

/** A page by number. Unless `count` says otherwise, its total is exact. */
export interface OffsetPage<T> extends Page<T> {
  readonly total: number | null;
  readonly page: number;
  readonly size: number;
}

/** A page by place. */
export interface CursorPage<T> extends Page<T> {
  /** Where the next page begins, or null when no row follows. */
  readonly next: Keyset | null;
  /** Where the page before this one ends, or null when no row precedes. */
  readonly prev: Keyset | null;
}

interface PageOrigin {
  readonly model: object;
  /** A total order. */
  readonly order: readonly SortTerm[];
}

const ORIGIN = Symbol('origin');

interface Known {
  readonly [ORIGIN]?: PageOrigin;
}

/** Notes the list on a page, and on its places, which a copy of the page has too. */
export function withOrigin<P extends Page<unknown>>(page: P, model: object, order: readonly SortTerm[]): P {
  const origin: PageOrigin = { model, order };
  for (const each of [page, page.next, page.prev]) {
    if (each) Object.defineProperty(each, ORIGIN, { value: origin });
  }
  return page;
}

/** The list of a page that a repository returned, or of a copy with its places; undefined for any other value. */
export function originOf(page: Page<unknown>): PageOrigin | undefined {
  const known = [page, page.next, page.prev] as readonly (Known | null | undefined)[];
  return known.find((each) => each?.[ORIGIN])?.[ORIGIN];
}

/** Rows in an order: from a number on, from a place on, and how many there are. */
export interface PageSource<Row, Range> {
  /** Number of rows, counted up to a limit; `Infinity` counts all. */
  count(limit: number): Promise<number>;
  findFrom(offset: number, limit: number): Promise<Row[]>;
  /** The total order. */
  readonly terms: readonly KeyTerm[];
  /** The rows behind a place as ranges that follow one another; all rows where there is no place. */
  ranges(walk: readonly KeyTerm[], place: Keyset | null): Iterable<Range>;
  find(range: Range, limit: number): Promise<Row[]>;
  hasAny(range: Range): Promise<boolean>;
  valuesOf(row: Row): KeyValues;
  /** True where the row is the one that the place of its range was made from. */
  isPlace(row: Row): boolean;
}

/**
 * Finds the page of a list.
 *
 * @throws InvalidCursorError for a place whose values are not of the columns' types, and for one of a row that has no such values
 * @throws MultipleResultsFound where a page would begin or end between two rows with one key
 */
export function findPage<Row, Range>(
  source: PageSource<Row, Range>,
  { window, count }: Pick<ListOperation, 'window' | 'count'>,
): Promise<OffsetPage<Row> | CursorPage<Row>> {
  return window.kind === 'keyset'
    ? findCursorPage(source, window, count)
    : findOffsetPage(source, window, count);
}

/** The rows are not counted where those of the page show their number. */
async function findOffsetPage<Row, Range>(
  source: PageSource<Row, Range>,
  { page, size }: OffsetWindow,
  count: Count,
): Promise<OffsetPage<Row>> {
  const offset = (page - 1) * size;
  // One row more than the page shows that others follow, in all modes of count.
  const isAsked = typeof count === 'number';
  const limit = isAsked ? size + 1 : size;
  const rows = await source.findFrom(offset, limit);
  const areLast = rows.length < limit && (rows.length > 0 || page === 1);
  const seen = rows.length > 0 ? offset + rows.length : 0;
  const { total, totalIs } = await findTotal(source, seen, areLast, count);
  if (!isAsked) return { items: rows, total, page, size };
  return { items: rows.slice(0, size), total, totalIs, page, size, hasNext: rows.length > size };
}

/** Finds the number of rows. @param seen rows that are there @param areAll true where there are no others */
async function findTotal(
  source: Pick<PageSource<unknown, unknown>, 'count'>,
  seen: number,
  areAll: boolean,
  count: Count,
): Promise<Total> {
  const all = count === 'exact' ? Number.POSITIVE_INFINITY : 0;
  const limit = typeof count === 'number' ? count : all;
  return totalOfSeen(seen, areAll, limit) ?? totalOfCounted(await source.count(limit + 1), limit);
}

async function findCursorPage<Row, Range>(
  source: PageSource<Row, Range>,
  window: KeysetWindow,
  count: Count,
): Promise<CursorPage<Row>> {
  if (source.terms.some(({ value }) => value?.kind === 'rank'))
    throw new TypeError(
      'A rank is the same for many rows, and no place in a list; page its order by number.',
    );
  const page = await findPlaced(source, window).catch((error: unknown) => {
    // The values of a cursor are the only ones that are not checked before. A value of another type than its column's
    // was made up, which is possible where cursors are not signed.
    const isMadeUp = (window.after || window.before) && describeFault(error)?.kind === 'invalid';
    throw isMadeUp ? new InvalidCursorError('cursor.malformed', window.before ? 'before' : 'after') : error;
  });
  if (count === 'none') return page;
  const { items, next, prev } = page;
  // Whatever the place, the whole list is counted.
  const seen = items.length + (next ? 1 : 0) + (prev ? 1 : 0);
  return { ...page, ...(await findTotal(source, seen, !next && !prev, count)) };
}

/**
 * The page by place. Rows beyond the ends of the page are found in the table each time, and never concluded from the request. The row of
 * a cursor may be gone, and there may be new ones.
 */
async function findPlaced<Row, Range>(
  source: PageSource<Row, Range>,
  { after, before, size }: KeysetWindow,
): Promise<CursorPage<Row>> {
  const { terms } = source;
  const isBackward = before !== null;
  const given = before ?? after;
  const place = isDigested(given) ? await findPlace(source, given, isBackward ? 'before' : 'after') : given;
  const walk = isBackward ? reversed(terms) : terms;
  const placeOf = (row: Row | undefined): Keyset | null =>
    row === undefined ? null : { values: source.valuesOf(row), isInclusive: false };
  // The row that the place was made from is read too: where it still exists, the near side is not empty.
  const start = place && { values: place.values, isInclusive: true };
  const rows = await findRows(source, walk, start, size + (start ? 2 : 1));
  const [first] = rows;
  const hasPlaceBefore = place !== null && !place.isInclusive && first !== undefined && source.isPlace(first);
  const begin = hasPlaceBefore ? 1 : 0;
  const items = rows.slice(begin, begin + size);
  const far = rows.length > begin + size ? placeOf(items.at(-1)) : null;
  if (begin === 1 && rows[1] !== undefined && source.isPlace(rows[1])) throw severalAtPlace();
  if (far && hasSameKey(far.values, source.valuesOf(rows[begin + size] as Row))) throw severalAtPlace();
  // Behind an empty page lies everything up to the place, and the row it was made from if that is still there.
  const near = place && (placeOf(items[0]) ?? { values: place.values, isInclusive: !place.isInclusive });
  const hasNear = near && (hasPlaceBefore || (await hasRows(source, reversed(walk), near)));
  const back = hasNear ? near : null;
  return isBackward ? { items: items.reverse(), next: back, prev: far } : { items, next: far, prev: back };
}

/** True for rows of a view, or of a table with heirs, that have one key. */
function hasSameKey(values: KeyValues, others: KeyValues): boolean {
  return values.every((value, index) => value === others[index]);
}

/** A page that began between two rows with one key would repeat or leave out one of them. */
function severalAtPlace(): MultipleResultsFound {
  return new MultipleResultsFound(
    'More than one record has the same key, and no page can begin between them.',
  );
}

/** A place that has only the key of its row. */
type DigestedPlace = Keyset & Required<Pick<Keyset, 'digest'>>;

function isDigested(place: Keyset | null): place is DigestedPlace {
  return place?.digest !== undefined;
}

/** The place with the other values of its row. @throws InvalidCursorError */
async function findPlace<Row, Range>(
  source: PageSource<Row, Range>,
  { values, isInclusive, digest }: DigestedPlace,
  parameter: 'after' | 'before',
): Promise<Keyset> {
  const byKey = source.terms.filter((_, index) => values[index] !== null);
  const start = { values: values.filter((value) => value !== null), isInclusive: true };
  // The rows of the list from the key on: a made-up key must not reveal a row that the request may not see.
  const [row] = await findRows(source, byKey, start, 1);
  const found = row !== undefined && source.isPlace(row) ? source.valuesOf(row) : [];
  if (digestOfValues(found) !== digest) throw new InvalidCursorError('cursor.gone', parameter);
  return { values: found, isInclusive };
}

async function hasRows<Row, Range>(
  source: PageSource<Row, Range>,
  walk: readonly KeyTerm[],
  place: Keyset,
): Promise<boolean> {
  for (const range of source.ranges(walk, place)) if (await source.hasAny(range)) return true;
  return false;
}

/** Rows in the order of the walk, range after range until there are enough. */
async function findRows<Row, Range>(
  source: PageSource<Row, Range>,
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
