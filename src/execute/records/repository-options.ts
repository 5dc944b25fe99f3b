/** Options of the methods of `Repository`. */
import type { Attributes, Model, OrderItem } from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { Where } from '../../declare/attributes.js';
import type { CountRequest } from '../../declare/count-options.js';
import type { FilterTemplate } from '../../declare/filter-template.js';
import type { Keyset } from '../../request/query/cursor-codec.js';
import type { Inclusion, SoftDeleteChoice } from '../../request/query/list-query.js';
import type { Filter } from '../../request/query/predicate.js';

/** Choice of rows: all conditions must hold. */
export interface RowChoice<M extends Model = Model> extends SoftDeleteChoice {
  /** A condition of the caller's own, in words of Sequelize or by `filter` of this package. Default: every row. */
  readonly where?: Where<M> | FilterTemplate | undefined;
  /** A parsed `q`, or `filter` of this package. Default: every row. */
  readonly filter?: Filter | FilterTemplate | null | undefined;
}

/** Options of `Repository.list`. */
export interface ListOptions<M extends Model> extends RowChoice<M> {
  /** Default: the primary key, ascending. */
  readonly order?: OrderItem[];
  /** Default: all rows. */
  readonly limit?: number;
  /** Default: 0. */
  readonly offset?: number;
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
}

/** Options of `get` and `find`. */
export interface FindByKeyOptions<M extends Model = Model> extends SoftDeleteChoice {
  /** The attributes that are read. Default: all. */
  readonly fields?: readonly (keyof Attributes<M> & string)[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
}

/** Conditions on the rows, and their order. */
export interface RowCriteria<M extends Model = Model> extends RowChoice<M> {
  /** Default: the primary key, ascending. The primary key is appended when absent. */
  readonly sort?: readonly SortTerm[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
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

/** The rows of a stream. */
export interface StreamRequest<M extends Model = Model> extends RowCriteria<M> {
  /** The rows that follow this place. Default: all of them. */
  readonly after?: Keyset | null;
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
 * A path includes the relations before its dots. Any relation of the model can be loaded, also without `include` in `@Crud`.
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
