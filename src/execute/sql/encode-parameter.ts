/** Values of a model -> the texts that PostgreSQL reads them from, by column type. */
import { type ColumnType, mayBeArray } from '../../describe/column-type.js';
import {
  infiniteOf,
  infinityText,
  isMoment,
  localText,
  momentText,
  toDatabaseYear,
} from '../../describe/exact-time.js';
import { rangeText } from '../../describe/range-value.js';

/**
 * The text of a value that a column of this type holds in JavaScript, or null for NULL. Undefined for what no column of
 * the type holds, such as Sequelize's `literal`.
 */
export function encodeParameter(type: ColumnType, value: unknown): string | null | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'json':
      return JSON.stringify(value);
    case 'array':
      return Array.isArray(value) ? arrayText(type.element, value) : undefined;
    case 'date':
      return instantText(value, type.zone);
    case 'dateonly':
      return infinityText(value) ?? (typeof value === 'string' ? toDatabaseYear(value) : scalarText(value));
    case 'other':
      return type.bound && Array.isArray(value) ? rangeText(value) : scalarText(value);
    case 'blob':
      return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : undefined;
    default:
      return scalarText(value);
  }
}

/** @param zone that of a column without one */
function instantText(value: unknown, zone: string | undefined): string | undefined {
  if (value instanceof Date) {
    if (!isMoment(value)) return undefined;
    return zone === undefined ? momentText(value) : toDatabaseYear(localText(value, zone));
  }
  return infinityText(value) ?? infinityText(infiniteOf(value));
}

function scalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}

function arrayText(element: ColumnType, values: readonly unknown[]): string | undefined {
  const isNested = element.kind === 'array' || (!mayBeArray(element) && values.some(Array.isArray));
  const texts: (string | null)[] = [];
  for (const value of values) {
    const text =
      isNested && element.kind !== 'array' && Array.isArray(value)
        ? arrayText(element, value)
        : encodeParameter(element, value);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return isNested ? `{${texts.map((text) => text ?? 'NULL').join(',')}}` : arrayLiteral(texts);
}

/** PostgreSQL's text form of an array; quoted members may hold anything (8.15.6 of its manual). */
export function arrayLiteral(values: readonly (string | null)[]): string {
  let members = '';
  for (const value of values) {
    // Most of them have nothing to escape, and looking is cheaper than replacing.
    const text = value !== null && ESCAPED.test(value) ? value.replaceAll(/[\\"]/g, '\\$&') : value;
    members += `${members && ','}${text === null ? 'NULL' : `"${text}"`}`;
  }
  return `{${members}}`;
}

const ESCAPED = /[\\"]/;
