/** One page of rows next to a place, in either direction, and the places where its neighbours begin. */
import { type FindOptions, literal, type Model, type ProjectionAlias } from 'sequelize';
import { InvalidCursorError } from '../query/invalid-cursor-error.js';
import type { Keyset, KeyValues } from '../query/keyset.js';
import { describeFault } from './database-fault.js';
import { withAttributes } from './default-scope.js';
import { type KeyTerm, rangesAfter, reversed } from './keyset-sql.js';
import type { CursorPage, CursorPageRequest } from './page.js';
import type { RowFinder } from './row-finder.js';
import { renderSql } from './sql-fragment.js';

/** Names of the extra columns that hold the key values as text. No attribute can have one. */
const keyColumn = (index: number): string => `keyset ${index}`;

/** A row and the values it is sorted by. */
interface KeyedRow<M> {
  readonly record: M;
  readonly values: KeyValues;
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
  const rows = await findRows(finder, walk, place, size + 1);
  const hasMore = rows.length > size;
  const page = rows.slice(0, size);
  const far = hasMore ? placeOf(page.at(-1)) : null;
  const near = place === null ? null : await findNear(finder, reversed(walk), page[0], place);
  const items = page.map(({ record }) => record);
  return isBackward ? { items: items.reverse(), next: near, prev: far } : { items, next: far, prev: near };
}

/** The place where the rows on the near side end, or null when there is no row. */
async function findNear<M extends Model>(
  finder: RowFinder<M>,
  walkBack: readonly KeyTerm[],
  first: KeyedRow<M> | undefined,
  place: Keyset,
): Promise<Keyset | null> {
  // Behind an empty page lies everything up to the place, and the row it was made from if that is still there.
  const near = placeOf(first) ?? { values: place.values, isInclusive: !place.isInclusive };
  for (const range of rangesAfter(walkBack, near, finder.column)) {
    const found = await finder.find(walkBack, range, {
      // Where a scope joins other tables, Sequelize sorts by what is selected.
      attributes: walkBack.map(({ attribute }) => attribute),
      limit: 1,
      raw: true,
    });
    if (found.length > 0) return near;
  }
  return null;
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
    const options: FindOptions = {
      attributes: withAttributes(finder.scope, keyAttributes(finder, walk)),
      limit: limit - rows.length,
    };
    const records = await finder.find(walk, range, options);
    rows.push(...records.map((record) => takeKeys(record, walk.length)));
    if (rows.length >= limit) break;
  }
  return rows;
}

/** The key values as the database writes them: a JavaScript date would lose the microseconds. */
function keyAttributes<M extends Model>(finder: RowFinder<M>, walk: readonly KeyTerm[]): ProjectionAlias[] {
  return walk.map(({ attribute }, index) => [
    literal(`${renderSql(finder.column(attribute), () => '')}::text`),
    keyColumn(index),
  ]);
}

/** Reads the extra columns off a record, and takes them away: nobody else is to see them. */
function takeKeys<M extends Model>(record: M, count: number): KeyedRow<M> {
  const { dataValues } = record as unknown as { dataValues: Record<string, string | null> };
  const names = Array.from({ length: count }, (_, index) => keyColumn(index));
  const values = names.map((name) => {
    const value = dataValues[name];
    if (value !== undefined) return value;
    const { name: model } = record.constructor;
    throw new TypeError(
      `A hook of ${model} replaced the attributes of a query; a list by cursor needs its own, too.`,
    );
  });
  for (const name of names) delete dataValues[name];
  return { record, values };
}
