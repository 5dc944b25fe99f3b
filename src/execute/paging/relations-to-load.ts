/** Relations that a repository loads along with records. */
import type { SortTerm } from '../../compile/resource-plan.js';
import type { FilterTemplate } from '../../declare/filter-template.js';
import type { Inclusion } from '../../request/query/list-query.js';
import type { Filter } from '../../request/query/predicate.js';

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
