/** The option `aggregate` of `@Crud`: types and names only. */

/** Spans of time that records may be grouped by. Weeks begin on Monday (ISO 8601). */
export const TIME_UNITS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

/** Name of a span of time. */
export type TimeUnit = (typeof TIME_UNITS)[number];

/** Measures of an attribute. The number of records is always there, as `count`. */
export const MEASURES = ['sum', 'avg', 'min', 'max', 'countDistinct'] as const;

/** Name of a measure. */
export type Measure = (typeof MEASURES)[number];

/**
 * Groups of records that clients may request, at `GET /cities/aggregate`, and the values that are computed of each. A request for a name
 * that is not listed is refused.
 *
 * @example
 * ```ts
 * aggregate: { group: ['countryCode', { createdAt: ['day', 'month'] }], sum: ['population'], max: ['createdAt'] }
 * ```
 */
export interface AggregateOptions<A extends string = string, R extends string = string>
  extends Readonly<Partial<Record<Measure, readonly A[]>>> {
  /**
   * Attributes that records may be grouped by, and moments and days by spans of time. `country.name` is an attribute of the record behind a
   * relation to one, which `sortAllow` has to name, too. Default: none.
   */
  group?: readonly (A | `${R}.${string}` | { readonly [attribute in A]?: readonly TimeUnit[] })[];
  /** Groups in an answer. Default: 100, and at most 1000. */
  size?: { default?: number; max?: number };
  /**
   * Demands a `q` of every request; a list of attributes demands that it has a condition on one of them, which every record has to meet.
   * Default: false.
   *
   * @example ['createdAt']
   */
  requireFilter?: boolean | readonly A[];
  /**
   * Records that may be grouped, as PostgreSQL estimates them before it begins; more are 400. Default: any number.
   *
   * @example 1_000_000
   */
  maxEstimate?: number;
  /**
   * The word of the path, for resources whose ids are texts: a record with this id could not be read. Default: `aggregate`.
   *
   * @example 'summary'
   */
  path?: string;
}
