/** Operators of each kind of column, by the table of operators. */
import {
  type CanonicalFilterOperator,
  FILTER_OPERATORS,
  type OperatorRow,
  operatorRow,
} from '../declare/filter-operators.js';
import { namedForm } from '../declare/named-types.js';
import {
  type ColumnKind,
  type ColumnType,
  comparedType,
  isRangeType,
  NARROW_NUMBERS,
  NUMBERS,
} from '../describe/column-type.js';
import type { ColumnFacts } from '../describe/table-facts.js';
import { isTextBase } from '../describe/type-difference.js';

const ORDERED: readonly OperatorRow['on'][] = ['all', 'equal', 'ordered'];
const EQUAL: readonly OperatorRow['on'][] = ['all', 'equal'];
const ALL: readonly OperatorRow['on'][] = ['all'];

/** Empty: the column cannot be filtered at all. */
const GROUPS_OF_KIND: Readonly<Record<ColumnKind, readonly OperatorRow['on'][]>> = {
  string: [...ORDERED, 'text'],
  integer: ORDERED,
  bigint: ORDERED,
  decimal: ORDERED,
  float: ORDERED,
  date: ORDERED,
  dateonly: ORDERED,
  time: ORDERED,
  boolean: EQUAL,
  uuid: EQUAL,
  enum: EQUAL,
  json: ALL,
  /** Operators of arrays whose elements cannot be compared, such as other arrays. */
  array: ALL,
  blob: ALL,
  range: EQUAL,
  multirange: EQUAL,
  network: [...ORDERED, 'network'],
  interval: ORDERED,
  money: ORDERED,
  bit: EQUAL,
  hstore: ALL,
  virtual: [],
  /** Replaced by the entry of the type in `GROUPS_OF_NAMED`. */
  named: ALL,
  other: ALL,
};

const GROUPS_OF_NAMED = { null: ALL, equal: EQUAL, ordered: ORDERED } as const;

function groupsOf(type: ColumnType): readonly OperatorRow['on'][] {
  return type.kind === 'named' ? GROUPS_OF_NAMED[namedForm(type.name).compared] : GROUPS_OF_KIND[type.kind];
}

const ARRAY: readonly OperatorRow['on'][] = ['all', 'array'];

/** The operators a column of this type has, in the order of the documentation. */
export function operatorsOf(type: ColumnType): readonly CanonicalFilterOperator[] {
  const groups = type.kind === 'array' && isComparable(type.element) ? ARRAY : groupsOf(type);
  return FILTER_OPERATORS.filter((operator) => {
    const { on, ofRange } = operatorRow(operator);
    return groups.includes(on) || (ofRange !== undefined && isRangeType(type));
  });
}

/** Mark of the filters of ranges, and nothing for all others. */
export function rangeMark(type: ColumnType): { readonly ofRange?: true } {
  return isRangeType(type) ? { ofRange: true } : {};
}

/**
 * Operators that PostgreSQL has for the column, with any declared type.
 *
 * @param found the column; undefined where the catalogue was not read
 */
export function operatorsOfColumn(
  operators: readonly CanonicalFilterOperator[],
  type: ColumnType,
  found: Pick<ColumnFacts, 'baseType' | 'isOrdered' | 'isDeterministic'> | undefined,
): readonly CanonicalFilterOperator[] {
  const { kind } = type;
  if (!found) return operators;
  const { baseType: base } = found;
  const isOrdered = found.isOrdered && base.endsWith('[]') === (kind === 'array');
  const isMoment = kind !== 'date' || base.startsWith('timestamp') || base === 'date';
  const isRange = isRangeType(type);
  return operators.filter((operator) => {
    const { on, ofRange } = operatorRow(operator);
    if (on === 'all') return true;
    if (!isOrdered || !isMoment) return false;
    if (isRange && ofRange) return base.endsWith('range');
    if (on === 'network') return base === 'inet' || base === 'cidr';
    return on !== 'text' || (isTextBase(base) && found.isDeterministic);
  });
}

/** The type that values have to be of as well, because PostgreSQL reads them as those of the column; undefined where that is all the same. */
export function narrowerType(type: ColumnType, base: string | undefined): ColumnType | undefined {
  if (!NUMBERS.includes(comparedType(type).kind)) return undefined;
  return NARROW_NUMBERS.get(base?.replace(/(?:\[\])+$/, ''));
}

/** A text as its column has it: with its length, which may be another one than the model says, or one of the labels of an enum. */
export function comparedText(
  type: ColumnType,
  found: Pick<ColumnFacts, 'type' | 'baseType' | 'labels'> | undefined,
): ColumnType {
  if (type.kind === 'string' && found?.labels) return { kind: 'enum', values: found.labels };
  // PostgreSQL cuts texts that are compared with these.
  if (type.kind === 'string' && (found?.baseType === 'name' || found?.baseType === '"char"'))
    return { kind: 'named', name: found.baseType };
  if (type.kind !== 'string' || !found || !isTextBase(found.baseType.replace(/(?:\[\])+$/, ''))) return type;
  const [, length] = /^character[a-z ]*\((\d+)\)/.exec(found.type) ?? [];
  return { ...type, maxLength: length === undefined ? null : Number(length) };
}

/** True where a value is equal to another one, or not. Then rows have a meaningful order by the column, too. */
export function isComparable(type: ColumnType): boolean {
  return groupsOf(type).includes('equal');
}

/** The operators of a relation itself. Those with a condition in the place of a value are part of the syntax of `q`. */
export function relationOperators(isOne: boolean): readonly string[] {
  return isOne ? TO_ONE : TO_MANY;
}

const TO_ONE: readonly string[] = ['=isnull='];
const TO_MANY: readonly string[] = ['=any=', '=none=', '=isempty='];
