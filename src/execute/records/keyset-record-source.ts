/** Records of a model by place, through Sequelize's finders. */
import type { Model } from 'sequelize';
import type { Keyset, KeyValues } from '../../request/query/keyset.js';
import type { KeysetSource } from '../paging/find-cursor-page.js';
import { type KeyTerm, rangesAfter, rowAt } from '../sql/keyset-sql.js';
import { type SqlFragment, sql } from '../sql/sql-fragment.js';
import type { RowFinder } from './row-finder.js';

/** Names of the extra columns that hold the key values as text. No attribute can have one. */
const keyColumn = (index: number): string => `keyset ${index}`;
/** Name of the one that says whether the row is the one that the place was made from. */
const PLACE_COLUMN = 'keyset place';

/** A record, and where it is. */
interface KeyedRecord<M> {
  readonly record: M;
  readonly values: KeyValues;
  /** True for the record that the place was made from. */
  readonly isPlace: boolean;
}

/** Rows behind a place, or all. */
interface RecordRange {
  readonly walk: readonly KeyTerm[];
  readonly place: Keyset | null;
  readonly condition: SqlFragment | null;
}

/** The records that a finder finds. */
export function keysetRecordSource<M extends Model>(
  finder: RowFinder<M>,
): KeysetSource<KeyedRecord<M>, RecordRange> {
  const { column } = finder;
  const terms = finder.terms();
  return {
    terms,
    ranges(walk, place) {
      const conditions = place ? rangesAfter(walk, place, column) : [null];
      return conditions.map((condition) => ({ walk, place, condition }));
    },
    async find({ walk, place, condition }, limit) {
      // As the database writes them: a JavaScript date would lose the microseconds.
      const keys = terms.map(({ attribute }, index) => [keyColumn(index), sql`${column(attribute)}::text`]);
      const columns = {
        ...Object.fromEntries(keys),
        ...(place ? { [PLACE_COLUMN]: rowAt(walk, place, column) } : {}),
      };
      const records = await finder.find(walk, condition, { limit }, columns);
      return records.map((record) => ({
        record,
        values: terms.map((_, index) => take(record, keyColumn(index)) as string | null),
        isPlace: place !== null && take(record, PLACE_COLUMN) === true,
      }));
    },
    async hasAny({ walk, condition }) {
      const found = await finder.find(walk, condition, {
        // Where a scope joins other tables, Sequelize sorts by what is selected.
        attributes: walk.map(({ attribute }) => attribute),
        limit: 1,
        raw: true,
      });
      return found.length > 0;
    },
    count: (limit) => finder.count(limit),
    valuesOf: ({ values }) => values,
    isPlace: ({ isPlace }) => isPlace,
  };
}

/** Reads an extra column off a record, and takes it away: nobody else is to see it. */
export function take(record: Model, name: string): unknown {
  const { dataValues } = record;
  const value = dataValues[name];
  delete dataValues[name];
  if (value !== undefined) return value;
  const { name: model } = record.constructor;
  throw new TypeError(
    `A hook of ${model} replaced the attributes of a query, which has columns of its own; add to them.`,
  );
}
