/** Ranges: arrays of two bounds, or of none, as Sequelize has them and answers show them. */
import { infinityText, isMoment, momentText, toDatabaseYear } from './exact-time.js';

/** One end of a range; null is none. */
interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

/** A bound as it is, or as an object that also has whether the range holds it. */
function isBoundObject(bound: unknown): bound is Partial<Bound> {
  return typeof bound === 'object' && bound !== null && Object.getPrototypeOf(bound) === Object.prototype;
}

/** A bound with another value. */
export function mapBound(bound: unknown, map: (value: unknown) => unknown): unknown {
  return isBoundObject(bound) ? { ...bound, value: map(bound.value) } : map(bound);
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
  // Sequelize's default.
  const [hasLower, hasUpper] = bounds.map((each, place) =>
    isBoundObject(each) && each.inclusive !== undefined ? each.inclusive : place === 0,
  );
  return `${hasLower ? '[' : '('}${lower},${upper}${hasUpper ? ']' : ')'}`;
}

function boundText(value: unknown): string | undefined {
  if (value === null) return '';
  const text =
    (isMoment(value) ? momentText(value) : infinityText(value)) ??
    (typeof value === 'string' ? toDatabaseYear(value) : undefined);
  if (text !== undefined) return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
}
