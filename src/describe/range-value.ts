/** Ranges: arrays of two bounds, or of none, as Sequelize has them; objects in answers and bodies; and texts of PostgreSQL's. */
import type { ColumnType } from './column-type.js';
import { infinityText, isMoment, momentOf, momentText, toDatabaseYear } from './exact-time.js';

/** One end of a range; null is none. */
interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

/** True for a bound as an object, which also has `inclusive`; else the bound is the value itself. */
function isBoundObject(bound: unknown): bound is Partial<Bound> {
  return typeof bound === 'object' && bound !== null && Object.getPrototypeOf(bound) === Object.prototype;
}

/** The value of a bound. */
export function valueOfBound(bound: unknown): unknown {
  return isBoundObject(bound) ? bound.value : bound;
}

/** True for the bounds that are made of a text of PostgreSQL's. */
export function isRange(value: unknown): value is readonly Bound[] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((each) => isBoundObject(each) && 'inclusive' in each)
  );
}

/** A range as answers and bodies have it. */
export type WireRange =
  | { readonly empty: true }
  | { readonly lower: unknown; readonly upper: unknown; readonly bounds: (typeof ENDS)[number] };

/** The ends of a range: a square bracket belongs to it. */
export const ENDS = ['[)', '[]', '()', '(]'] as const;

/**
 * The bounds of a range, as Sequelize has them or as a text of PostgreSQL's -> the object of an answer. Anything else stays.
 *
 * @param toWire of a bound that is a value
 * @param textToWire of a bound that is a part of a text
 */
export function wireRange(
  range: unknown,
  toWire: (value: unknown) => unknown,
  textToWire: (text: string) => unknown,
): unknown {
  if (typeof range === 'string') {
    const isOwn = range === 'empty' || RANGE.test(range);
    return isOwn ? ofBounds(parseRange(range, textToWire)) : range;
  }
  if (!Array.isArray(range) || (range.length !== 0 && range.length !== 2)) return range;
  return ofBounds(
    range.map((each: unknown, place) => ({
      value: toWire(valueOfBound(each) ?? null),
      inclusive: isInclusive(each, place),
    })),
  );
}

function ofBounds([lower, upper]: readonly Bound[]): WireRange {
  if (!lower || !upper) return { empty: true };
  // No range has an end that it has no bound for.
  const opening = lower.value !== null && lower.inclusive ? '[' : '(';
  const closing = upper.value !== null && upper.inclusive ? ']' : ')';
  return { lower: lower.value, upper: upper.value, bounds: `${opening}${closing}` };
}

/** The object of a body -> bounds; undefined for anything else. @param parse a value of a bound that is not null */
export function boundsOf(range: unknown, parse: (value: unknown) => unknown): Bound[] | undefined {
  if (!isBoundObject(range)) return undefined;
  const { lower, upper, bounds = '[)', empty, ...others } = range as Record<string, unknown>;
  if (Object.keys(others).length > 0) return undefined;
  if (empty !== undefined) return empty === true && Object.keys(range).length === 1 ? [] : undefined;
  const isWhole = lower !== undefined && upper !== undefined && ENDS.some((each) => each === bounds);
  if (!isWhole) return undefined;
  return [lower, upper].map((value, place) => ({
    value: value === null ? null : parse(value),
    inclusive: String(bounds)[place] === '[]'[place],
  }));
}

/** The value that a record would have of a bound. */
export function boundOfText(bound: ColumnType, text: string): unknown {
  if (bound.kind === 'integer') return Number(text);
  return (bound.kind === 'date' ? momentOf(text, bound.zone) : undefined) ?? text;
}

/** The ranges of the text of a multirange. */
export function rangesOf(text: string): string[] {
  return text.match(/[[(][^\])]*[\])]/g) ?? [];
}

/** Text of PostgreSQL's own types of ranges, in whose bounds there is nothing to escape. */
const RANGE = /^([[(])"?([^",]*)"?,"?([^",]*)"?([\])])$/;

/** The text of a range -> its bounds; an empty one has none. */
export function parseRange(text: string, toValue: (text: string) => unknown): Bound[] {
  const [, opening, lower = '', upper = '', closing] = RANGE.exec(text) ?? [];
  if (opening === undefined) return [];
  const bound = (value: string, inclusive: boolean): Bound => ({
    value: value === '' ? null : toValue(value),
    inclusive,
  });
  return [bound(lower, opening === '['), bound(upper, closing === ']')];
}

/** The text that PostgreSQL reads for a range; undefined where a bound has none. */
export function rangeText(bounds: readonly unknown[]): string | undefined {
  if (bounds.length === 0) return 'empty';
  const [lower, upper] = bounds.map((each) => boundText(valueOfBound(each) ?? null));
  if (lower === undefined || upper === undefined) return undefined;
  const [hasLower, hasUpper] = bounds.map(isInclusive);
  return `${hasLower ? '[' : '('}${lower},${upper}${hasUpper ? ']' : ')'}`;
}

/** Sequelize's default is the lower bound alone. */
function isInclusive(bound: unknown, place: number): boolean {
  return isBoundObject(bound) && bound.inclusive !== undefined ? bound.inclusive : place === 0;
}

function boundText(value: unknown): string | undefined {
  if (value === null) return '';
  const text =
    (isMoment(value) ? momentText(value) : infinityText(value)) ??
    (typeof value === 'string' ? toDatabaseYear(value) : undefined);
  if (text !== undefined) return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
