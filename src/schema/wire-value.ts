/** Form of the values of a body, by column type: strict, without guessing, and independent of the machine's zone. */
import { UUID } from '../compile/compile-id.js';
import type { ColumnType } from '../describe/column-type.js';
import {
  FarDate,
  farDate,
  infiniteOf,
  isMoment,
  LAST_YEAR_OF_MOMENTS,
  localDate,
  localText,
  preciseDate,
  toDatabaseYear,
} from '../describe/exact-time.js';
import { moneyText } from '../describe/money-value.js';
import { boundsOf, rangeText, valueOfBound } from '../describe/range-value.js';
import { compareExact, exactNumber } from '../util/exact-number.js';
import { hstoreText } from '../util/hstore-text.js';

/** A timestamp with an offset that PostgreSQL reads: less than 16 hours. */
const TIMESTAMP =
  /^(\d{4}|[+-]\d{6})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|[+-](?:0\d|1[0-5]):[0-5]\d)$/;
const LOCAL = /^(\d{4}|[+-]\d{6})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?$/;
const DATE_ONLY = /^(\d{4}|[+-]\d{6,7})-(\d{2})-(\d{2})$/;
const TIME = /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|24:00(?::00(?:\.0{1,6})?)?)$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A sign, a zero, a point and as many digits as PostgreSQL lets a column declare; without a limit, work has none. */
const DECIMAL_LENGTH = 1003;
const BIGINT_LENGTH = 20;
const BIGINT_MINIMUM = -(2n ** 63n);
const BIGINT_MAXIMUM = 2n ** 63n - 1n;

/** The forms as patterns of JSON Schema. Rules that they cannot hold, such as the last digit of a 64-bit range, are checked. */
export const WIRE_PATTERNS = Object.freeze({
  bigint: '^-?(?:0|[1-9][0-9]{0,18})$',
  timestamp: timestampPattern('[0-9]{1,3}0*'),
  preciseTimestamp: timestampPattern('[0-9]{1,6}0*'),
  day: '^(?:(?:[0-9]{4}|[+-][0-9]{6,7})-[0-9]{2}-[0-9]{2}|-?infinity)$',
  local: timestampPattern('[0-9]{1,6}0*', ''),
  nonFinite: '^(?:NaN|-?Infinity)$',
  segment: '^(?:[^.]|\\.[^.]|\\.\\.[\\s\\S])',
  base64: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$',
});

function timestampPattern(fraction: string, offset = '(?:[Zz]|[+-](?:0[0-9]|1[0-5]):[0-5][0-9])'): string {
  const day = '(?:[0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}';
  return `^(?:${day}[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.${fraction})?${offset}|-?infinity)$`;
}

/** The times of day of a column as a pattern of JSON Schema. @param digits of the second; undefined is all */
export function timePattern(digits: number | undefined): string {
  const fraction = digits === undefined ? '[0-9]{1,6}' : `[0-9]{0,${digits}}0*`;
  return `^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.${fraction})?)?|24:00(?::00(?:\\.0{1,6})?)?)$`;
}

/** The decimal numbers of a column as a pattern of JSON Schema. */
export function decimalPattern(precision: number | null, scale: number | null): string {
  const wholeDigits = precision === null ? null : precision - (scale ?? 0);
  const number = `-?${wholePattern(wholeDigits, scale ?? 0)}${fractionPattern(precision === null ? null : (scale ?? 0))}`;
  // A column with a precision holds no infinity.
  return `^(?:${number}|${precision === null ? 'NaN|-?Infinity' : 'NaN'})$`;
}

function wholePattern(digits: number | null, scale: number): string {
  if (digits === null) return '(?:0|[1-9][0-9]*)';
  if (digits <= 0) return '0';
  // A negative scale rounds to tens, hundreds and so on.
  return scale < 0
    ? `(?:0|[1-9][0-9]{0,${digits + scale - 1}}0{${-scale}})`
    : `(?:0|[1-9][0-9]{0,${digits - 1}})`;
}

function fractionPattern(digits: number | null): string {
  if (digits === null) return '(?:\\.[0-9]+)?';
  return digits > 0 ? `(?:\\.[0-9]{1,${digits}}0*)?` : '(?:\\.0+)?';
}

/** The first year of PostgreSQL, 4713 BC, and its last one for days. */
const FIRST_YEAR = -4712;
const LAST_YEAR = 5_874_897;
/** Years of the calendar come again after as many. */
const CYCLE = 400;

function isCalendarDay(year: string, month: string, day: string): boolean {
  const number = Number(year);
  // ECMAScript has one way to write the year 0, which is 1 BC.
  if (number < FIRST_YEAR || number > LAST_YEAR || /^-0+$/.test(year)) return false;
  const date = new Date(0);
  date.setUTCFullYear(number % CYCLE, Number(month) - 1, Number(day));
  // JavaScript rolls 30 February over to March; a day that rolled does not exist.
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

const MILLISECONDS = /^(?:\d{1,3}0*)?$/;
const MICROSECONDS = /^(?:\d{1,6}0*)?$/;

/**
 * The fraction of the seconds of an RFC 3339 date-time with an offset, or undefined for anything else.
 *
 * @param digits the fractions that there may be
 * @param form that of another date-time
 */
function timestampFraction(value: string, digits: RegExp, form = TIMESTAMP): string | undefined {
  const match = form.exec(value);
  if (!match) return undefined;
  const [, year = '', month = '', day = '', hour, minute, second, fraction = ''] = match;
  const isClock =
    Number(year) <= LAST_YEAR_OF_MOMENTS && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  return isClock && isCalendarDay(year, month, day) && digits.test(fraction) ? fraction : undefined;
}

/**
 * RFC 3339 date-time with an offset and at most milliseconds, as the answers have it: more digits could not be returned. Undefined for anything else.
 */
export function parseTimestamp(value: string): Date | undefined {
  return timestampFraction(value, MILLISECONDS) === undefined ? undefined : instantOf(value);
}

/** The same with up to the microseconds that PostgreSQL holds. */
function parsePrecise(value: string): Date | undefined {
  const fraction = timestampFraction(value, MICROSECONDS);
  const instant = fraction === undefined ? undefined : instantOf(value);
  return instant instanceof FarDate ? instant : instant && preciseDate(instant.getTime(), fraction as string);
}

/** The same without an offset: a local time in no zone. */
function parseLocal(value: string, zone: string): Date | undefined {
  const isExact = timestampFraction(value, MICROSECONDS, LOCAL) !== undefined;
  const local = isExact ? localDate(value, zone) : undefined;
  return isMoment(local) ? local : undefined;
}

/** A moment as text that PostgreSQL reads; of a column without a zone without an offset. */
export function parseMoment(value: string, zone: string | undefined): string | undefined {
  if (infiniteOf(value) !== undefined) return value;
  if (zone === undefined)
    return /\.\d{7}/.test(value) ? undefined : parsePrecise(value) && toDatabaseYear(value.toUpperCase());
  const local = parseLocal(value, zone);
  return local && toDatabaseYear(localText(local, zone));
}

/** An offset can carry it beyond the years that PostgreSQL can hold. */
function instantOf(value: string): Date | undefined {
  const instant = new Date(value.toUpperCase());
  if (Number.isNaN(instant.getTime())) return farDate(value.toUpperCase());
  return instant.getUTCFullYear() >= FIRST_YEAR ? instant : undefined;
}

/**
 * `YYYY-MM-DD`, a day that exists, also with an expanded year, or an infinite one, as text that PostgreSQL reads. Undefined for anything
 * else.
 */
export function parseDay(value: string): string | undefined {
  if (infiniteOf(value) !== undefined) return value;
  const [, year, month = '', day = ''] = DATE_ONLY.exec(value) ?? [];
  return year !== undefined && isCalendarDay(year, month, day) ? toDatabaseYear(value) : undefined;
}

/** `24:00`, `HH:MM`, `HH:MM:SS` or `HH:MM:SS.ffffff`. @param digits of the second, without zeros at the end */
export function isTimeOfDay(value: string, digits = 6): boolean {
  if (!TIME.test(value)) return false;
  return digits === 6 || (value.split('.')[1] ?? '').replace(/0+$/, '').length <= digits;
}

/** Canonical 8-4-4-4-12 form, in either case. */
export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** A decimal integer within int8. */
export function isBigint(value: string): boolean {
  if (value.length > BIGINT_LENGTH || !INTEGER.test(value)) return false;
  const number = BigInt(value);
  return number >= BIGINT_MINIMUM && number <= BIGINT_MAXIMUM;
}

/** The texts of floats and decimals that are no numbers of JSON. */
const NON_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** True for the text of a float that JSON has no number for. */
export function isNonFinite(value: string): boolean {
  return NON_FINITE.has(value);
}

/** A decimal number, without exponent, that fits the column exactly: nothing is rounded. A column with a precision holds no infinity. */
export function isDecimal(value: string, precision: number | null, scale: number | null): boolean {
  if (NON_FINITE.has(value)) return precision === null || value === 'NaN';
  if (value.length > DECIMAL_LENGTH || !DECIMAL.test(value)) return false;
  const [whole = '', fraction = ''] = value.replace('-', '').split('.');
  const digits = fraction.replace(/0+$/, '');
  if (scale !== null && digits.length > Math.max(scale, 0)) return false;
  if (precision === null) return true;
  const wholeDigits = whole === '0' ? 0 : whole.length;
  const places = precision - (scale ?? 0);
  // A negative scale has zeros before the point, and one above the precision has them behind it.
  if (scale !== null && scale < 0 && wholeDigits > 0 && !whole.endsWith('0'.repeat(-scale))) return false;
  if (places < 0)
    return wholeDigits === 0 && (digits === '' || (/^0*/.exec(digits)?.[0].length as number) >= -places);
  return wholeDigits <= places;
}

/**
 * The bytes of standard base64 with padding, in its canonical form (RFC 4648, sections 3.5 and 4): an answer returns
 * the same text. Undefined for anything else. No regular expression, which would overflow the stack on millions of characters.
 */
export function parseBase64(value: string): Buffer | undefined {
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value ? bytes : undefined;
}

/** Text that PostgreSQL can hold: no NUL, and no half of a surrogate pair. */
export function isStorableText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed();
}

/** An id or a part of one, by the type of its column; undefined for a text that is none. Moments have microseconds. */
export function parseIdText(type: ColumnType, text: string): unknown {
  switch (type.kind) {
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined;
    case 'decimal':
      return isDecimal(text, null, null) ? text : undefined;
    case 'dateonly':
      return parseDay(text) === undefined ? undefined : text;
    case 'time':
      return isTimeOfDay(text) ? text : undefined;
    case 'date':
      if (infiniteOf(text) !== undefined) return text;
      return type.zone === undefined ? parsePrecise(text) : parseLocal(text, type.zone);
    default:
      return undefined;
  }
}

/** Leaves room for the rest of an address, behind proxies too. */
export const SEGMENT_LENGTH = 4000;

/** True for a storable text that can be a segment of a path. Clients resolve `.` and `..` (RFC 3986, 5.2.4). */
export function isAddressable(value: string): boolean {
  if (/^\.{0,2}$/.test(value) || value.length > SEGMENT_LENGTH) return false;
  // Half a character cannot be encoded; another rule refuses it.
  return !value.isWellFormed() || encodeURIComponent(value).length <= SEGMENT_LENGTH;
}

/**
 * A value of a body as the model holds it: dates as `Date`, binary data as `Buffer`, UUIDs in lower case. NaN and infinities stay texts: a number that is one was made by mistake. A value that breaks the column's rules is returned as
 * it came, for the rules to refuse.
 */
export function parseColumnValue(type: ColumnType, value: unknown): unknown {
  if (type.kind === 'array' && Array.isArray(value)) {
    return value.map((element) => parseElement(type.element, element));
  }
  if (value === null || value === undefined) return value;
  if (type.kind === 'range' || type.kind === 'multirange') return parseRanges(type, value) ?? NO_VALUE;
  if (type.kind === 'hstore') return parsePairs(value) ?? NO_VALUE;
  if (typeof value !== 'string') return value;
  switch (type.kind) {
    case 'date':
      if (type.zone !== undefined) return parseLocal(value, type.zone) ?? value;
      return (type.isPrecise ? parsePrecise(value) : parseTimestamp(value)) ?? value;
    case 'blob':
      return parseBase64(value) ?? value;
    case 'uuid':
      return value.toLowerCase();
    case 'money':
      return moneyText(value, type.sample) ?? NO_VALUE;
    default:
      return value;
  }
}

/** The same of a value that a class of the user's has made, which may have the arrays of Sequelize in the place of ranges. */
export function parseOwnValue(type: ColumnType, value: unknown): unknown {
  if (type.kind !== 'range' || !Array.isArray(value) || ![0, 2].includes(value.length))
    return parseColumnValue(type, value);
  const bounds = value.map((each: unknown) => ({
    value: parseColumnValue(type.bound, valueOfBound(each) ?? null),
  }));
  return holdsBounds(type.bound, bounds) ? value : NO_VALUE;
}

/** The object of a body -> the text that PostgreSQL reads; undefined for anything else. */
function parsePairs(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const text = hstoreText(value);
  return text !== undefined && isStorableText(text) ? text : undefined;
}

/** A value that breaks the rules of every type: the records of some have values that are wrong in a body. */
const NO_VALUE = Number.NaN;

type RangeType = Extract<ColumnType, { readonly kind: 'range' | 'multirange' }>;

/** The objects of a body -> bounds, or the text that PostgreSQL reads; undefined for anything else. */
function parseRanges(type: RangeType, value: unknown): unknown {
  const parse = (each: unknown) => {
    const bounds = boundsOf(each, (inner) => parseColumnValue(type.bound, inner));
    return bounds && holdsBounds(type.bound, bounds) ? bounds : undefined;
  };
  if (type.kind === 'range') {
    const bounds = parse(value);
    return bounds && type.isText ? rangeText(bounds) : bounds;
  }
  const texts = Array.isArray(value)
    ? value.map((each) => rangeText(parse(each) ?? [undefined]))
    : [undefined];
  return texts.includes(undefined) ? undefined : `{${texts.join(',')}}`;
}

function holdsBounds(type: ColumnType, bounds: readonly { readonly value: unknown }[]): boolean {
  const values = bounds.flatMap(({ value }) => (value === null ? [] : [value]));
  return (
    values.every((value) => isBound(type, value)) &&
    !(values.length === 2 && isReversed(values[0], values[1]))
  );
}

/** True for a value that a bound of the type may have, as records hold it. */
function isBound(type: ColumnType, value: unknown): boolean {
  switch (type.kind) {
    case 'integer':
      return Number.isInteger(value) && Number(value) >= type.minimum && Number(value) <= type.maximum;
    case 'bigint':
      return typeof value === 'string' && isBigint(value);
    case 'decimal':
      return typeof value === 'string' && isDecimal(value, type.precision, type.scale);
    case 'dateonly':
      return typeof value === 'string' && parseDay(value) !== undefined;
    default:
      return isMoment(value) || infiniteOf(value) !== undefined;
  }
}

/** True where the first bound is surely behind the second one. PostgreSQL compares years and numbers that have an odd form. */
export function isReversed(lower: unknown, upper: unknown): boolean {
  if (lower instanceof Date && upper instanceof Date) return lower.getTime() > upper.getTime();
  const [first, second] = [String(lower), String(upper)];
  const ranks = [rankOf(first), rankOf(second)] as const;
  if (ranks[0] !== ranks[1]) return ranks[0] > ranks[1];
  if (/^\d{4}-/.test(first) && /^\d{4}-/.test(second)) return first > second;
  const [number, other] = [exactNumber(first), exactNumber(second)];
  return number !== undefined && other !== undefined && compareExact(number, other) > 0;
}

/** PostgreSQL has NaN behind all other numbers. */
function rankOf(bound: string): number {
  if (bound === 'NaN') return 2;
  if (/^infinity$/i.test(bound)) return 1;
  return /^-infinity$/i.test(bound) ? -1 : 0;
}

/** An array may hold arrays; one JSON value may be one. */
function parseElement(element: ColumnType, value: unknown): unknown {
  return Array.isArray(value) && isNestable(element)
    ? value.map((each) => parseElement(element, each))
    : parseColumnValue(element, value);
}

/** True where an array in the place of an element is a dimension, and no value of the element's own type. */
export function isNestable({ kind }: ColumnType): boolean {
  return !['array', 'json', 'range', 'multirange', 'hstore', 'other', 'virtual'].includes(kind);
}
