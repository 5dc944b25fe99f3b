/** One page of rows, as a repository returns it. */

/** Which page to read. */
export interface PageRequest {
  /** From 1. */
  readonly page: number;
  /** Rows per page. */
  readonly size: number;
}

/** A page by number, with the exact number of all rows. */
export interface Page<T> {
  readonly items: T[];
  readonly total: number;
  readonly page: number;
  readonly size: number;
}
