/** Pages of rows, as a repository takes and returns them. */
import type { Attributes, Model, WhereOptions } from 'sequelize';
import type { SortTerm } from '../../plan/resource-plan.js';
import type { Keyset } from '../../query/keyset.js';
import type { Filter } from '../../query/list-query.js';
import type { RelationsToLoad } from './relations-to-load.js';

/** Which rows, and in which order. */
export interface RowCriteria<M extends Model = Model> {
  /** A condition of the caller's own; it and the filter must both hold. */
  readonly where?: WhereOptions<Attributes<M>>;
  /** A parsed `q`. */
  readonly filter?: Filter | null;
  /** Default: the primary key, ascending. The primary key is appended when absent. */
  readonly sort?: readonly SortTerm[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
}

/** A page by number. */
export interface PageRequest<M extends Model = Model> extends RowCriteria<M> {
  /** From 1. */
  readonly page: number;
  /** Rows per page. */
  readonly size: number;
}

/** A page by place. With neither `after` nor `before` it is the first one. */
export interface CursorPageRequest<M extends Model = Model> extends RowCriteria<M> {
  /** The page that follows this place. */
  readonly after?: Keyset | null;
  /** The page that precedes this place. */
  readonly before?: Keyset | null;
  /** Rows per page. */
  readonly size: number;
}

/** What a list gives: `OffsetPage` or `CursorPage`, by how the resource is paged. */
export interface Page<T> {
  readonly items: T[];
  readonly total?: number;
  readonly page?: number;
  readonly size?: number;
  readonly next?: Keyset | null;
  readonly prev?: Keyset | null;
}

/** A page by number, with the exact number of all rows. */
export interface OffsetPage<T> extends Page<T> {
  readonly total: number;
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
