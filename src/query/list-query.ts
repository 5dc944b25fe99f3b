/** What a list request asks for, parsed and checked against the plan. */

/** One page by number. */
export interface ListQuery {
  /** From 1. */
  readonly page: number;
  /** Rows per page, within the resource's maximum. */
  readonly size: number;
}
