/** The option `aggregate` of `@Crud`: types only. */

/**
 * Groups of records that clients may ask for, at `GET /cities/aggregate`. Nothing that is not listed can be asked for.
 *
 * @example { group: ['countryCode'] }
 */
export interface AggregateOptions<A extends string = string> {
  /** Attributes that records may be grouped by. Default: none. */
  group?: readonly A[];
  /** Groups in an answer. Default: 100, and at most 1000. */
  size?: { default?: number; max?: number };
  /**
   * The word of the path, for resources whose ids are texts: a record with this id could not be read. Default: `aggregate`.
   *
   * @example 'summary'
   */
  path?: string;
}
