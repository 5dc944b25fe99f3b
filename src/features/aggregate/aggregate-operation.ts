/** Groups of rows, as one value: a compiler turns it into SQL, and nothing of SQL is in it. */
import type { Predicate } from '../../request/query/predicate.js';

/** A value that rows are grouped by. */
export interface GroupTerm {
  /** As requests name it. */
  readonly name: string;
  readonly attribute: string;
}

/** One column of the order of groups. */
export interface GroupOrder {
  /** Name of a group. */
  readonly name: string;
  readonly descending: boolean;
}

/** Groups of the rows that a predicate finds, and what is computed of each. */
export interface AggregateOperation {
  readonly kind: 'aggregate';
  /** On the rows, before they are grouped; null is every row. */
  readonly where: Predicate | null;
  readonly group: readonly GroupTerm[];
  /** A total order of the groups. */
  readonly order: readonly GroupOrder[];
  readonly window: { readonly page: number; readonly size: number };
}
