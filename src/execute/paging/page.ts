/** Pages of rows, as a repository takes and returns them. */
import type { Model } from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { Where } from '../../declare/attributes.js';
import type { CountRequest, TotalIs } from '../../declare/count-options.js';
import type { Keyset } from '../../request/query/keyset.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { Filter } from '../../request/query/predicate.js';
import type { RelationsToLoad } from './relations-to-load.js';

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

/** Page of a list: `OffsetPage` or `CursorPage`, by the paging of the resource. */
export interface Page<T> {
  readonly items: T[];
  /** Number of rows on all pages; null where it is not known. */
  readonly total?: number | null;
  /**
   * Kind of `total`: the exact number, a number that there are more rows than, or not known. A repository sets it where
   * `count` is given. Left out, a number is exact.
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
