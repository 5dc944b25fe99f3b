/** Groups of rows, as one value: a compiler turns it into SQL, and nothing of SQL is in it. */
import type { SortTerm } from '../../compile/resource-plan.js';
import type { Measure, TimeUnit } from '../../declare/aggregate-options.js';
import type { Predicate } from '../../request/query/predicate.js';

/** A value that rows are grouped by. */
export interface GroupTerm {
  /** Name in requests: `countryCode`, `createdAt.month`. */
  readonly name: string;
  readonly attribute: string;
  /** Span of time that the value begins; null is the value as it is. */
  readonly unit: TimeUnit | null;
  /** The value of the record behind a relation to one, as far as the request sees it. Default: that of the attribute. */
  readonly key?: SortTerm;
}

/** A value that is computed of each group. */
export interface MeasureTerm {
  /** Name in conditions and orders: `sum.population`. */
  readonly name: string;
  readonly measure: Measure;
  readonly attribute: string;
}

/** Name of the number of rows, which every group has. */
export const COUNT = 'count';

/** A column of the order of groups. */
export interface GroupOrder {
  /** Name of a group, or of a measure. */
  readonly name: string;
  readonly descending: boolean;
}

/** Groups of the rows that a predicate finds, and the values that are computed of each. */
export interface AggregateOperation {
  /** On the rows, before they are grouped; null is every row. */
  readonly where: Predicate | null;
  readonly group: readonly GroupTerm[];
  readonly measures: readonly MeasureTerm[];
  /** On the measures, by their names; null is every group. */
  readonly having: Predicate | null;
  /** Groups that it lacks follow, ascending. */
  readonly order: readonly GroupOrder[];
  readonly window: { readonly page: number; readonly size: number };
  /** IANA name of the zone whose days moments belong to; null where no group is a span of moments. */
  readonly zone: string | null;
}
