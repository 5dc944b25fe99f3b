/** Comparison operators of each kind of column. */
import {
  type CanonicalFilterOperator,
  FILTER_OPERATOR_ALIASES,
  FILTER_OPERATORS,
  type FilterOperator,
} from '../declare/crud-options.js';
import type { ColumnKind, ColumnType } from '../describe/column-type.js';

const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='] as const;
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='] as const;
const PATTERN = ['=like=', '=notlike=', '=ilike=', '=inotlike='] as const;
const ELEMENTS = ['=contains=', '=overlaps='] as const;
const ARRAY = [...ELEMENTS, '=isempty=', '=isnull='] as const;

/** Operators that compare the elements of an array with a list. */
export const ELEMENT_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set(ELEMENTS);
/** Operators that take any number of values. */
export const LIST_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set(['=in=', '=out=', ...ELEMENTS]);
/** Operators that take true or false. */
export const TRUTH_OPERATORS: ReadonlySet<CanonicalFilterOperator> = new Set(['=isempty=', '=isnull=']);

/** Empty: the column cannot be filtered at all. */
const OPERATORS_BY_KIND: Readonly<Record<ColumnKind, readonly CanonicalFilterOperator[]>> = {
  string: [...EQUALITY, ...ORDER, ...PATTERN],
  integer: [...EQUALITY, ...ORDER],
  bigint: [...EQUALITY, ...ORDER],
  decimal: [...EQUALITY, ...ORDER],
  float: [...EQUALITY, ...ORDER],
  date: [...EQUALITY, ...ORDER],
  dateonly: [...EQUALITY, ...ORDER],
  time: [...EQUALITY, ...ORDER],
  boolean: EQUALITY,
  uuid: EQUALITY,
  enum: EQUALITY,
  json: ['=isnull='],
  /** Of what cannot be compared, such as other arrays. */
  array: ['=isnull='],
  blob: ['=isnull='],
  virtual: [],
  other: ['=isnull='],
};

/** The operators a column of this type has, in the order of the documentation. */
export function operatorsOf(type: ColumnType): readonly CanonicalFilterOperator[] {
  return type.kind === 'array' && isComparable(type.element) ? ARRAY : OPERATORS_BY_KIND[type.kind];
}

/** True where a value is equal to another one, or not. Then rows have a meaningful order by the column, too. */
export function isComparable(type: ColumnType): boolean {
  return operatorsOf(type).includes('==');
}

/** The canonical name of an operator, or undefined when there is no such operator. */
export function canonicalOperator(operator: string): CanonicalFilterOperator | undefined {
  if (Object.hasOwn(FILTER_OPERATOR_ALIASES, operator)) {
    return FILTER_OPERATOR_ALIASES[operator as keyof typeof FILTER_OPERATOR_ALIASES];
  }
  return FILTER_OPERATORS.find((known) => known === operator);
}

/** Every spelling of every operator, for messages. */
export function operatorSpellings(): readonly FilterOperator[] {
  return [...FILTER_OPERATORS, ...(Object.keys(FILTER_OPERATOR_ALIASES) as FilterOperator[])];
}

/** The operators of a relation itself. Those with a condition in the place of a value are part of the syntax of `q`. */
export function relationOperators(isOne: boolean): readonly string[] {
  return isOne ? TO_ONE : TO_MANY;
}

const TO_ONE: readonly string[] = ['=isnull='];
const TO_MANY: readonly string[] = ['=any=', '=none=', '=isempty='];
