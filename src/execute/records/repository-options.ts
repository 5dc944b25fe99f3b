/** Options of the methods of `Repository`. */
import type { Attributes, Includeable, Model, OrderItem } from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { Where } from '../../declare/attributes.js';
import type { CountRequest } from '../../declare/count-options.js';
import type { FilterTemplate } from '../../declare/filter-template.js';
import type { Keyset } from '../../request/query/keyset.js';
import type { Deleted, Inclusion } from '../../request/query/list-query.js';
import type { Filter } from '../../request/query/predicate.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';

/** Options of `Repository.list`. */
export interface ListOptions<M extends Model> {
  where?: Where<M>;
  /** Default: the primary key, ascending. */
  order?: OrderItem[];
  limit?: number;
  offset?: number;
  /** Relations to load along. */
  include?: Includeable | Includeable[];
  /** Soft-deleted rows: them only, or them among the others. Rows that are loaded along are none. Default: none of them. */
  deleted?: Deleted;
}

/** Options of `get` and `find`. */
export interface FindByKeyOptions<M extends Model = Model> {
  /** The attributes that are read. Default: all. */
  readonly fields?: readonly (keyof Attributes<M> & string)[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
  /** Soft deletion of the row: `only` requires it, `with` allows it. Default: the row is not soft-deleted. */
  readonly deleted?: Deleted | undefined;
}

/** Conditions on the rows, and their order. */
export interface RowCriteria<M extends Model = Model> {
  /** A condition of the caller's own; it and the filter must both hold. */
  readonly where?: Where<M>;
  /** A parsed `q`. */
  readonly filter?: Filter | null;
  /** Default: the primary key, ascending. The primary key is appended when absent. */
  readonly sort?: readonly SortTerm[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
  /** Soft-deleted rows: them only, or them among the others. Default: none of them. */
  readonly deleted?: Deleted | undefined;
}

/** A page by number. */
export interface PageRequest<M extends Model = Model> extends RowCriteria<M>, CountRequest {
  /** From 1. */
  readonly page: number;
  /** Rows per page. */
  readonly size: number;
}

/** A page by place. With neither `after` nor `before` it is the first one. */
export interface CursorPageRequest<M extends Model = Model> extends RowCriteria<M>, CountRequest {
  /** The page that follows this place. */
  readonly after?: Keyset | null;
  /** The page that precedes this place. */
  readonly before?: Keyset | null;
  /** Rows per page. */
  readonly size: number;
}

/** Options of one relation to load. */
export interface RelationOptions {
  /** Rows of each record, of a relation to many. Default: all of them. */
  readonly size?: number;
  /** Default: the primary key, ascending. The primary key is appended when absent. */
  readonly sort?: readonly SortTerm[];
  /** Filter of the rows: a parsed `q`, or `filter` of this package. Default: all rows. */
  readonly filter?: Filter | FilterTemplate | null;
  /** The attributes that are read. Default: all. */
  readonly fields?: readonly string[];
}

/**
 * The relations to load: their names, or paths such as `reviews.author`, or options for each path, or the `include` of a query.
 * A path includes what is before its dots. Any relation of the model can be loaded, whatever `@Crud` says.
 *
 * @example
 * ```ts
 * await cities.get(1, { include: ['country', 'reviews.author'] });
 * await cities.page({ page: 1, size: 20, include: { reviews: { size: 3, filter: filter`rating>=4` } } });
 * ```
 */
export type RelationsToLoad =
  | readonly (string | Inclusion)[]
  | Readonly<Record<string, true | RelationOptions>>;

/** Options of `Repository.purge` in the place of a key. */
export interface PurgeOptions {
  /** Rows that were deleted before this moment. */
  readonly before: Date;
  /** At most so many rows, by key. Default: 1,000. */
  readonly limit?: number;
}

const MAX_ROWS = 1_000;

/** True where an argument is no key. */
export function isPurgeOptions(which: unknown): which is PurgeOptions {
  return typeof which === 'object' && which !== null && Object.getPrototypeOf(which) === Object.prototype;
}

/** @throws TypeError for something else than a moment @throws RangeError for no moment at all, and for a limit that is none */
export function checkPurge(options: PurgeOptions): Required<PurgeOptions> {
  const { before, limit = MAX_ROWS } = options;
  const [unknown] = unknownOptions('purge', options, ['before', 'limit']);
  if (unknown) throw new TypeError(unknown);
  if (!(before instanceof Date)) {
    throw new TypeError(
      `purge.before is ${showValue(before)}; use a Date, such as new Date(Date.now() - 30 * 86_400_000).`,
    );
  }
  if (Number.isNaN(before.getTime())) {
    throw new RangeError('purge.before is an invalid Date; use one that is a moment.');
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new RangeError(`purge.limit is ${showValue(limit)}; use an integer from 1.`);
  }
  return { before, limit };
}
