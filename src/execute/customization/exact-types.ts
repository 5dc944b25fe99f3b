/**
 * Makes Sequelize write and compare values that its own types would change: days and moments outside the years that it writes,
 * microseconds in arrays, and arrays with NULL or with arrays in them. Sequelize writes all other values by itself.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DataType } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { type ColumnType, comparedType, introspectColumnType } from '../../describe/column-type.js';
import { introspectAttributes } from '../../describe/describe-model.js';
import { infiniteOf, LocalDate, PreciseDate } from '../../describe/exact-time.js';
import { durationOf } from '../../describe/interval-value.js';
import { decimalOfMoney } from '../../describe/money-value.js';
import { boundOfText, parseRange, rangesOf, rangeText, valueOfBound } from '../../describe/range-value.js';
import { changeComparison, changeTypes, type WritingType } from '../../describe/sequelize-internals.js';
import { isNonFinite } from '../../schema/wire-value.js';
import { pointText } from '../../util/point-text.js';
import { encodeParameter } from '../sql/encode-parameter.js';

/** Models may share a type, and be served by several applications. */
const changed = new WeakSet<object>();

/** Changes how the attributes of a model are written. */
export function writeExactly(model: ModelClass): void {
  // Another instance that takes the model makes its attributes anew.
  const attributes = model.getAttributes();
  if (changed.has(attributes)) return;
  changed.add(attributes);
  changeTypes(model, (type) => {
    const column = introspectColumnType(type as object as DataType);
    if (changed.has(type) || !['date', 'dateonly', 'float', 'array', 'range'].includes(column.kind)) return;
    changed.add(type);
    adaptType(type, column);
  });
  for (const { name, type } of introspectAttributes(model).values()) {
    if (typeof attributes[name]?.type !== 'string' || !NAMED.includes(comparedType(type).kind)) continue;
    changeComparison(
      model,
      name,
      (value, original) => !isDeepStrictEqual(sameForm(type, value), sameForm(type, original)),
    );
  }
}

/** Types that a model names by a text, and of which a body has a value in another form than a record that was read. */
const NAMED: readonly ColumnType['kind'][] = ['range', 'multirange', 'interval', 'money', 'named'];

function sameForm(type: ColumnType, value: unknown): unknown {
  if (type.kind === 'array' && Array.isArray(value)) return value.map((each) => sameForm(type.element, each));
  if (type.kind === 'interval') return durationOf(value) ?? value;
  if (type.kind === 'named') return pointText(value) ?? value;
  if (type.kind === 'range') return encodeParameter(type, value) ?? value;
  if (typeof value !== 'string') return value;
  if (type.kind === 'money') return decimalOfMoney(value, type.sample);
  if (type.kind !== 'multirange') return value;
  return rangesOf(value)
    .map((each) => rangeText(parseRange(each, (text) => boundOfText(type.bound, text))))
    .join();
}

function adaptType(type: WritingType, column: ColumnType): void {
  const stringify = type.stringify.bind(type);
  const bindParam = type.bindParam.bind(type);
  const { _sanitize: sanitize } = type;
  const ownText = (value: unknown) => (isOdd(column, value) ? encodeParameter(column, value) : undefined);
  type.stringify = (value, options) => {
    const text = ownText(value) ?? undefined;
    if (text === undefined) return stringify(value, options);
    return type.escape === false ? options.escape(text) : text;
  };
  type.bindParam = (value, options) => {
    const text = ownText(value) ?? undefined;
    return text === undefined ? bindParam(value, options) : options.bindParam(text);
  };
  if (column.kind === 'dateonly' && sanitize) {
    type._sanitize = (value, options) =>
      isOdd(column, value) && infiniteOf(value) === undefined ? value : sanitize.call(type, value, options);
  }
  if (column.kind === 'dateonly') {
    type._isChanged = (value, original) => dayText(value) !== dayText(original);
  }
  const { _isChanged: isChanged } = type;
  if (column.kind === 'date' && isChanged) {
    type._isChanged = (value, original) =>
      value instanceof Date && original instanceof Date
        ? encodeParameter(column, value) !== encodeParameter(column, original)
        : isChanged.call(type, value, original);
  }
  if (column.kind === 'float') {
    type._isChanged = (value, original) => !isSameFloat(numberOf(value), numberOf(original));
  }
  if (hasOwnTexts(comparedType(column)) && (column.kind === 'array' || column.kind === 'range')) {
    type._isChanged = (value, original) =>
      !isDeepStrictEqual(value, original) &&
      (encodeParameter(column, value) ?? value) !== encodeParameter(column, original);
  }
}

/** True for types of which a body may have a value in another form than a record that was read. */
function hasOwnTexts(type: ColumnType): boolean {
  return ['date', 'dateonly', 'float', 'range'].includes(type.kind);
}

/** A body has NaN and infinities as texts. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && isNonFinite(value) ? Number(value) : value;
}

function isSameFloat(value: unknown, original: unknown): boolean {
  return value === original || (Number.isNaN(value) && Number.isNaN(original));
}

function dayText(value: unknown): unknown {
  return encodeParameter({ kind: 'dateonly' }, value) ?? value;
}

/** A day in a year that has no four digits, or before the year 1, as a body or PostgreSQL writes it. */
const ODD_DAY = /^(?:0000-|[+-]|\d{5,}-)|BC$/;

/** True where Sequelize would write another value than this one. */
function isOdd(type: ColumnType, value: unknown): boolean {
  switch (type.kind) {
    case 'date': {
      if (!(value instanceof Date)) return infiniteOf(value) !== undefined;
      const year = value.getUTCFullYear();
      // Sequelize writes in the zone of its own option.
      return value instanceof PreciseDate || value instanceof LocalDate || year < 2 || year > 9998;
    }
    case 'range':
      return Array.isArray(value) && value.some((each) => isOdd(type.bound, valueOfBound(each)));
    case 'dateonly':
      return typeof value === 'string' && (ODD_DAY.test(value) || infiniteOf(value) !== undefined);
    case 'array':
      return (
        Array.isArray(value) &&
        value.some((each) => each === null || Array.isArray(each) || isOdd(type.element, each))
      );
    default:
      return false;
  }
}
