/** Conditions on the rows of one table. Those of a request have texts; those of an operation may have slots, too. */
import type { CanonicalFilterOperator, JsonType } from '../../declare/crud-options.js';
import type { RecordInfo } from '../../describe/model-info.js';

/**
 * Where the text of a parameter is found when the statement is executed: `id`, `scope.ownerId`. The compiler has slots of its
 * own: `bound.0`, `keyset.0`, `set.name`, `now`, `offset`.
 */
export interface Slot {
  readonly slot: string;
}

/** A value of a statement: the text that the database reads, which is bound, or where that text is found. */
export type Value = string | Slot;

/** The value that an attribute has in the row around a subquery. */
export interface OuterValue {
  readonly attribute: string;
}

/** A column of the row that no attribute has, by its own name. */
export interface BareColumn {
  readonly column: string;
}

/** A filter: a comparison, a condition on related rows, one in SQL, or filters joined by `and` or `or`. */
export type Filter<V extends Value = string> =
  | Comparison<V>
  | RelatedFilter<V>
  | WrittenFilter
  | FragmentFilter<V>
  | Junction<V>;

/** A filter whose values may be slots. */
export type Predicate = Filter<Value>;

/** The condition of a default scope on rows of a table named as its model, as Sequelize has written it. It has no value of a request. */
export interface WrittenFilter {
  readonly kind: 'written';
  readonly target: RecordInfo;
  readonly text: string;
}

/** A condition in SQL that a feature has written. */
export interface FragmentFilter<V extends Value = string> {
  readonly kind: 'sql';
  /** There is one text more than there are parts. No text is of a request. */
  readonly texts: readonly string[];
  /** Values, and columns of the row: by their attributes, and by their own names where no attribute has them. */
  readonly parts: readonly (V | OuterValue | BareColumn)[];
}

/** Several filters, all or any of which must hold. */
export interface Junction<V extends Value = string> {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Filter<V>[];
}

/** An attribute compared with values of its column's type, each in the text form that the database reads. */
export interface Comparison<V extends Value = string> {
  readonly kind: 'comparison';
  /** Where there is a `jsonType`, a path to a value inside of it: `details.size`. */
  readonly attribute: string;
  /** JSON type that the value has to have. Values of other types count as NULL. */
  readonly jsonType?: JsonType;
  /** True where an equality compares milliseconds of a moment, as answers show it: the value has no microseconds. */
  readonly toMilliseconds?: true;
  /** True where the column has ranges, for which an operator may be another one in SQL. */
  readonly ofRange?: true;
  readonly operator: CanonicalFilterOperator;
  /** Values of a list are bound, or one slot with the text of an array; that of `=isnull=` and `=isempty=` is bound. */
  readonly values: readonly V[];
}

/**
 * Condition that another table has a row that belongs to the row and meets a condition, or has none. The library
 * makes it of `q`, and it holds the access of the request to that table: pass it on as it is.
 *
 * @example repository.page({ filter: query.filter, page: 1, size: 20 })
 */
export interface RelatedFilter<V extends Value = string> {
  readonly kind: 'exists';
  /** True where there must be none. Default: false. */
  readonly isNegated?: boolean;
  readonly target: RecordInfo;
  /** The attribute of the target that has the value. */
  readonly key: string;
  /** The value, or the attribute of the row that has it. */
  readonly value: V | OuterValue;
  /** The same of the further attributes of a key of several. Default: none. */
  readonly more?: readonly { readonly key: string; readonly value: V | OuterValue }[];
  /** On the rows of the target; null is every row. */
  readonly where: Filter<V> | null;
}
