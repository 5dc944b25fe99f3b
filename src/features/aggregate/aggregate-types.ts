/** Types of columns that PostgreSQL can group and measure, and the types of groups and measures. */
import { isOrdered } from '../../compile/every-attribute.js';
import { isComparable } from '../../compile/filter-operators.js';
import { type Measure, TIME_UNITS, type TimeUnit } from '../../declare/aggregate-options.js';
import { type ColumnKind, type ColumnType, NUMBERS } from '../../describe/column-type.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { isTextBase } from '../../describe/type-difference.js';

const SORTED: readonly ColumnKind[] = [...NUMBERS, 'date', 'dateonly', 'time', 'string', 'enum', 'interval'];
const TIMES: readonly ColumnKind[] = ['date', 'dateonly'];

/** Kinds of columns for each measure; null is every kind that has equality. */
const KINDS: Readonly<Record<Measure, readonly ColumnKind[] | null>> = {
  sum: NUMBERS,
  avg: NUMBERS,
  min: SORTED,
  max: SORTED,
  countDistinct: null,
};

const NUMBER_BASES = ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision'];
const TIME_BASES = /^(?:date|interval|time)/;

/** Why an attribute has no such measure, as the end of a sentence; undefined where it has. */
export function measureProblem(measure: Measure, { type }: AttributeInfo): string | undefined {
  const kinds = KINDS[measure];
  if (!kinds) return groupProblem({ type });
  return kinds.includes(type.kind) ? undefined : `which has no ${measure}; it is for ${kinds.join(', ')}.`;
}

/** Why rows cannot be grouped by an attribute, as the end of a sentence; undefined where they can. */
export function groupProblem({ type }: Pick<AttributeInfo, 'type'>): string | undefined {
  return isComparable(type) ? undefined : 'whose values cannot be compared.';
}

/** The spans that the values of an attribute belong to; none where it is no time. */
export function unitsOf({ type }: AttributeInfo): readonly TimeUnit[] {
  if (!TIMES.includes(type.kind)) return [];
  return type.kind === 'date' ? TIME_UNITS : TIME_UNITS.filter((unit) => unit !== 'hour');
}

/** True where the column, as the catalogue has it, can be measured: a model may declare another type. */
export function hasMeasure(measure: Measure, { found }: AttributeInfo): boolean {
  if (!found) return true;
  const { baseType: base, labels } = found;
  const isNumber = NUMBER_BASES.includes(base);
  if (measure === 'countDistinct') return isOrdered({ found });
  if (measure === 'sum' || measure === 'avg') return isNumber;
  return isNumber || isTextBase(base) || TIME_BASES.test(base) || Boolean(labels);
}

/** The same for groups. */
export function canGroup(unit: TimeUnit | null, { found }: AttributeInfo): boolean {
  if (!found) return true;
  return unit === null ? isOrdered({ found }) : /^(?:date|timestamp)/.test(found.baseType);
}

/** True for the moments of an attribute, which belong to other days in other zones. */
export function isMoment({ type }: Pick<AttributeInfo, 'type'>): boolean {
  return type.kind === 'date' && type.zone === undefined;
}

const EXACT: ColumnType = Object.freeze({ kind: 'decimal', precision: null, scale: null });
const DOUBLE: ColumnType = Object.freeze({ kind: 'float', maximum: Number.MAX_VALUE });
/** Type of a number of rows. */
export const NUMBER_OF_ROWS: ColumnType = Object.freeze({ kind: 'bigint' });

/** The type of a measure. Sums of integers may be longer than any integer. */
export function measureType(measure: Measure, type: ColumnType): ColumnType {
  if (measure === 'countDistinct') return NUMBER_OF_ROWS;
  if (measure === 'min' || measure === 'max') return type;
  return type.kind === 'float' ? DOUBLE : EXACT;
}

/** The type of a group. A day and all longer spans begin on a date. */
export function groupType(unit: TimeUnit | null, type: ColumnType): ColumnType {
  return unit === null || unit === 'hour' ? type : { kind: 'dateonly' };
}
