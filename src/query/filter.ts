/** A filter as data: what `q` means after parsing and typing. Frozen. */
import type { CanonicalFilterOperator } from '../metadata/crud-options.js';

/** A filter: a comparison, or filters joined by `and` or `or`. */
export type Filter = Comparison | Junction;

/** Several filters, all or any of which must hold. */
export interface Junction {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Filter[];
}

/** An attribute compared with values of its column's type, each in the text form that the database reads. */
export interface Comparison {
  readonly kind: 'comparison';
  readonly attribute: string;
  readonly operator: CanonicalFilterOperator;
  readonly values: readonly string[];
}
