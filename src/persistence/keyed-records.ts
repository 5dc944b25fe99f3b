/** Records of a model by place: through Sequelize's finders, with the key values in columns of their own. */
import type { Model } from 'sequelize';
import type { Keyset } from '../query/keyset.js';
import type { KeyedRow, KeyedRows } from './find-cursor-page.js';
import { type KeyTerm, rowAt } from './keyset-sql.js';
import type { RowFinder } from './row-finder.js';
import { type SqlFragment, sql } from './sql-fragment.js';

/** Names of the extra columns that hold the key values as text. No attribute can have one. */
const keyColumn = (index: number): string => `keyset ${index}`;
/** Name of the one that says whether the row is the one that the place was made from. */
const PLACE_COLUMN = 'keyset place';

/** The records that a finder finds. */
export function keyedRecords<M extends Model>(finder: RowFinder<M>): KeyedRows<M> {
  return {
    terms: finder.terms(),
    column: finder.column,
    async find(walk, range, place, limit) {
      const records = await finder.find(walk, range, { limit }, extraColumns(finder, walk, place));
      return records.map((record) => takeKeys(record, walk.length, place !== null));
    },
    async hasAny(walk, range) {
      const found = await finder.find(walk, range, {
        // Where a scope joins other tables, Sequelize sorts by what is selected.
        attributes: walk.map(({ attribute }) => attribute),
        limit: 1,
        raw: true,
      });
      return found.length > 0;
    },
  };
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
