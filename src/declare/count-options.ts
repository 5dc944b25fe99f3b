/** Options of counts, in the words of users and clients. Nothing is checked or computed here. */

/** The ways to count, by the names that clients use. */
export const COUNT_MODES = ['exact', 'capped', 'none'] as const;

/**
 * Mode of a count: `'exact'` counts all rows of a list, `'capped'` stops at a cap, and `'none'` counts nothing. A page
 * that shows all rows has their number in any mode.
 */
export type CountMode = (typeof COUNT_MODES)[number];

/** Kinds of totals, by the names that clients read. */
export const TOTALS = ['exact', 'at_least', 'none'] as const;

/** Kind of a total: the number of all rows, a number that there are more rows than, or no number. */
export type TotalIs = (typeof TOTALS)[number];

/**
 * Modes of a count that a client may choose with the parameter `count`. `true` is `{}`. Where the option is set, every
 * answer has `total` (a number or null) and `total_is`: `exact`, `at_least` or `none`.
 *
 * @example
 * ```ts
 * @Crud({ count: { default: 'capped', allow: ['capped', 'none'], cap: 1_000 } })
 * // GET /cities?count=none
 * ```
 */
export interface CountOptions {
  /**
   * Mode of a request without the parameter. Default: `'exact'` for pages by number, `'capped'` for these where the resource has `search`,
   * and `'none'` for pages by cursor and relations. Where `allow` leaves that out, it is the first of `allow`.
   */
  default?: CountMode;
  /** Modes that a request may choose. Default: all three. */
  allow?: readonly CountMode[];
  /** Rows that `'capped'` counts at most, from 1. Default: 10,000. */
  cap?: number;
}

/** Options of the count of a page's rows. */
export interface CountRequest {
  /**
   * Where it is set, the page has the kind of its `total` (`totalIs`). Default: a page by number has an exact total, and one by
   * cursor has none.
   */
  readonly count?: CountMode;
  /** Rows that `'capped'` counts at most, from 1. Default: 10,000. */
  readonly cap?: number;
}
