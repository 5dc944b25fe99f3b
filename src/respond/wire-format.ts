/** Values of a record -> JSON values, by column type. */
import { parse } from 'postgres-array';
import { type ColumnType, innermostType, mayBeArray } from '../describe/column-type.js';
import {
  infiniteOf,
  infinityText,
  isMoment,
  isoText,
  localText,
  momentOf,
  momentText,
  toExpandedYear,
  wireMoment,
} from '../describe/exact-time.js';
import { durationOf } from '../describe/interval-value.js';
import { decimalOfMoney } from '../describe/money-value.js';
import { boundOfText, isRange, rangesOf, rangeText, wireRange } from '../describe/range-value.js';
import { hstoreObject } from '../util/hstore-text.js';
import { pointText } from '../util/point-text.js';

/** Turns one value into one that JSON has; null and undefined stay. */
export type WireFormat = (value: unknown) => unknown;

const asIs: WireFormat = (value) => value;
/** BIGINT and DECIMAL: a JSON number would be rounded by most readers. */
const asString: WireFormat = (value) => (typeof value === 'string' ? value : String(value));

/** A moment as a text, with an expanded year where RFC 3339 has none. The driver reads `infinity` as a number. */
function asTimestamp(value: unknown): unknown {
  if (value instanceof Date) return isMoment(value) ? isoText(value) : null;
  return typeof value === 'number' ? (infinityText(value) ?? null) : value;
}

function asDay(value: unknown): unknown {
  return typeof value === 'string' ? toExpandedYear(value) : (infinityText(value) ?? value);
}

function asBase64(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** JSON has no NaN and no infinities: they are texts, as those of DECIMAL are. */
function asNumber(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function asNull(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** Texts for values that the driver parses to objects: PostgreSQL reads them only from a text. */
function asText(value: unknown): unknown {
  if (isRange(value)) return rangeText(value);
  if (Array.isArray(value)) return value.map(asText);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Date) return isMoment(value) ? momentText(value) : null;
  return asNumber(asDeclaredText(value));
}

/** The same of an attribute that declares a text. */
function asDeclaredText(value: unknown): unknown {
  if (typeof value !== 'object') return value;
  if (isRange(value)) return rangeText(value);
  return pointText(value) ?? durationOf(value) ?? value;
}

function asRange(bound: ColumnType): WireFormat {
  const toWire: WireFormat = (value) => (value === null ? null : asBound(bound, value));
  return (value) => wireRange(value, toWire, (text) => asBound(bound, boundOfText(bound, text)));
}

function asBound({ kind }: ColumnType, value: unknown): unknown {
  if (kind === 'bigint' || kind === 'decimal') return asString(value);
  if (!(value instanceof Date)) return asDay(value);
  return isMoment(value) ? wireMoment(value) : null;
}

/** The format of a value that the user's own code has made: its type decides, not the column's. */
export const ownFormat: WireFormat = (value) => {
  if (value instanceof Date) return asTimestamp(value);
  return typeof value === 'bigint' ? String(value) : asNull(asBase64(value));
};

function presentOnly(format: WireFormat): WireFormat {
  return (value) => (value === null || value === undefined ? value : format(value));
}

/** An array as PostgreSQL writes it, also with bounds of its own. */
const ARRAY_TEXT = /^(?:[[\]\d:-]+=)?\{.*\}$/s;

/** The parser of arrays that the driver leaves as texts, such as those of domains and of types of extensions. */
function arrayParser(element: ColumnType): (text: string) => unknown {
  const read = (text: string) => elementOf(element, text);
  if (element.kind !== 'named' || element.name !== 'box') return (text) => parse(text, read);
  // Boxes have commas in them, and semicolons between them.
  return (text) =>
    parse(text.replaceAll(',', '|').replaceAll(';', ','), (member) => member.replaceAll('|', ','));
}

/** An element as the driver would parse it. */
function elementOf(type: ColumnType, text: string): unknown {
  switch (type.kind) {
    case 'integer':
    case 'float':
      return Number(text);
    case 'boolean':
      return text === 't';
    case 'json':
      return JSON.parse(text);
    case 'blob':
      return Buffer.from(text.slice(2), 'hex');
    case 'date':
      return infiniteOf(text) === undefined ? momentOf(text, type.zone) : text;
    default:
      return text;
  }
}

/** The wire format of a column type. */
export function wireFormat(type: ColumnType): WireFormat {
  switch (type.kind) {
    case 'string':
      return asDeclaredText;
    case 'bigint':
    case 'decimal':
      return presentOnly(asString);
    case 'float':
      return asNumber;
    case 'date':
      return presentOnly((value) =>
        type.zone !== undefined && isMoment(value) ? localText(value, type.zone) : asTimestamp(value),
      );
    case 'dateonly':
      return asDay;
    case 'uuid':
      return presentOnly((value) => String(value).toLowerCase());
    case 'blob':
      return presentOnly(asBase64);
    case 'array': {
      const element = wireFormat(type.element);
      const isNested = type.element.kind !== 'array' && !mayBeArray(type.element);
      const parseText = arrayParser(innermostType(type));
      // A column of arrays may hold arrays of arrays, whatever its type says. One JSON value may be an array.
      const format: WireFormat = (value) =>
        Array.isArray(value)
          ? value.map((each) => (Array.isArray(each) && isNested ? format(each) : element(each)))
          : typeof value === 'string' && ARRAY_TEXT.test(value)
            ? format(parseText(value))
            : value;
      return format;
    }
    case 'range':
      return asRange(type.bound);
    case 'multirange': {
      const format = asRange(type.bound);
      return (value) => (typeof value === 'string' ? rangesOf(value).map(format) : value);
    }
    case 'interval':
      return (value) => durationOf(value) ?? value;
    case 'money':
      return (value) => (typeof value === 'string' ? decimalOfMoney(value, type.sample) : value);
    case 'hstore':
      return (value) => (typeof value === 'string' ? (hstoreObject(value) ?? value) : value);
    case 'named':
    case 'other':
      return asText;
    default:
      return asIs;
  }
}
