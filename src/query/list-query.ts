/** What a list request asks for, parsed and checked against the plan. Frozen. */
import type { SortTerm } from '../plan/resource-plan.js';
import type { Filter } from './filter.js';
import type { Keyset } from './keyset.js';

/** A list request. Whether it is paged by number or by cursor is the resource's `pagination`. */
export interface ListQuery {
  readonly kind: 'offset' | 'cursor';
  /** From 1; a list that is paged by cursor has no other. */
  readonly page: number;
  /** Rows per page, within the resource's maximum. */
  readonly size: number;
  /** The page follows this place; null for a list that is paged by number, and for the first page. */
  readonly after: Keyset | null;
  /** The page precedes this place. At most one of `after` and `before` is given. */
  readonly before: Keyset | null;
  readonly filter: Filter | null;
  /** A total order: the primary key is part of it. */
  readonly sort: readonly SortTerm[];
  /** The properties to answer with; null is all. */
  readonly fields: readonly string[] | null;
}
