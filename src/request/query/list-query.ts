/** Parsed request of a list or a read, checked against the plan. Frozen. */
import type { IncludePlan, SortTerm } from '../../compile/resource-plan.js';
import type { CountMode, CountRequest } from '../../declare/count-options.js';
import type { Keyset } from './cursor-codec.js';
import type { Filter } from './predicate.js';

/** Soft-deleted records in a list: them only, or them among the others. */
export const DELETED = ['only', 'with'] as const;

/** Value of `DELETED`. */
export type Deleted = (typeof DELETED)[number];

/** Choice of soft-deleted rows. */
export interface SoftDeleteChoice {
  /**
   * Soft-deleted rows: them only, or them among the others; in a request where the rule `can.deleted` has allowed it. Rows that are
   * loaded along are none. Default: none of them.
   */
  readonly deleted?: Deleted | undefined;
}

/** Criteria of lists of both kinds; `count` and `cap` only where the option `count` is set. */
export interface ListCriteria extends CountRequest, SoftDeleteChoice {
  /** Rows per page, within the resource's maximum. */
  readonly size: number;
  readonly filter: Filter | null;
  /** A total order: the primary key is part of it. */
  readonly sort: readonly SortTerm[];
  /** The properties to answer with, of those that the request may read; null is all there are. */
  readonly fields: readonly string[] | null;
  /** The relations to answer along with each record. Default: none. */
  readonly include?: readonly Inclusion[];
}

/** A list request that is paged by number. */
export interface OffsetListQuery extends ListCriteria {
  readonly kind: 'offset';
  /** From 1. */
  readonly page: number;
}

/** A list request that is paged by cursor. At most one of `after` and `before` is set. */
export interface CursorListQuery extends ListCriteria {
  readonly kind: 'cursor';
  /** The page follows this place. */
  readonly after: Keyset | null;
  /** The page precedes this place. */
  readonly before: Keyset | null;
}

/** A list request, paged by number or by cursor as the resource's `pagination` says. */
export type ListQuery = OffsetListQuery | CursorListQuery;

/** The query of `GET /{id}`. */
export interface ReadQuery extends SoftDeleteChoice {
  /** The properties to answer with, of those that the request may read; null is all there are. */
  readonly fields: readonly string[] | null;
  /** The relations to answer along with the record. Default: none. */
  readonly include?: readonly Inclusion[];
}

/** A relation that is answered along with each record. */
export interface Inclusion {
  readonly plan: IncludePlan;
  /** The properties of its records, of those that the request may read; null is all there are. */
  readonly fields: readonly string[] | null;
  /** Rows of each parent; 1 where it has one at most. */
  readonly size: number;
  /** A total order. */
  readonly sort: readonly SortTerm[];
  readonly filter: Filter | null;
  /** Mode of counting the rows of each parent; undefined where the relation has no `count`. */
  readonly count?: CountMode | undefined;
  /** Relations that are included in its records. */
  readonly include: readonly Inclusion[];
}
