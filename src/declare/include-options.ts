/** Options of relations that clients include. Nothing is checked or computed here. */
import type { VisibleRule } from './access-options.js';
import type { CountOptions } from './count-options.js';

/** Options of one included relation. */
export interface IncludeOptions {
  /** The rows of each record, of a relation to many. Default: 10, and at most 20. */
  size?: { default?: number; max?: number };
  /**
   * Counts that a client may choose for the rows of each record, of a relation to many; `true` is `{}`. With
   * `reviews.size=0` their number is answered alone. Default: they are not counted.
   *
   * @example { count: { default: 'none', allow: ['none', 'capped'], cap: 100 } }
   */
  count?: true | CountOptions;
  /**
   * The rows that may be seen through this relation, beside the conditions of their model: `scope`, `visible`, `fields`, soft
   * deletion. `'all'` means no other condition. Required where code that an include cannot call guards the rows on the
   * routes of their own: `dependencies`, middlewares, an overridden `list` or `read`, a repository. Default: none.
   *
   * @example { where: (request) => filter`authorId==${request.user.id}` }
   */
  where?: 'all' | VisibleRule;
}

/**
 * The relations that a client may include, by path. Each path before a dot has to be there, too: at most three relations deep,
 * and ten in all. Nothing is included unless a request names it.
 *
 * @example
 * ```ts
 * include: { country: true, reviews: { size: { default: 3, max: 20 } }, 'reviews.author': true }
 * // GET /cities?include=country,reviews.author&reviews.sort=-createdAt
 * ```
 */
export type IncludeAllow = Readonly<Record<string, true | IncludeOptions>>;

/**
 * Relations to many whose rows have a list of their own under each record. It is the list of their resource, with its
 * parameters, envelope and cursors. A name in capitals and small letters is a path in small letters: `blogPosts` is `/blog-posts`.
 *
 * A request for it has to be allowed to read the record, and to list the rows. An object says of a relation which rows may be seen
 * there: see `where` of `IncludeOptions`. It is required where code that such a list cannot call guards the rows, or an
 * overridden or decorated `read` guards the record.
 *
 * A ConfigError names relations that cannot be served: to one record, to rows that are not served or have no list, of a record without a
 * read, and with a path that a controller has already.
 *
 * @example
 * ```ts
 * subresources: ['reviews']                        // GET /cities/{id}/reviews?sort=-rating
 * subresources: { reviews: { where: 'all' } }
 * ```
 */
export type SubresourceAllow =
  | readonly string[]
  | Readonly<Record<string, true | Pick<IncludeOptions, 'where'>>>;
