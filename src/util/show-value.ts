/** A value of a configuration, as a message shows it. `JSON.stringify` throws for some, and shows `NaN` as null. */
import { inspect } from 'node:util';

const LONGEST = 80;

/** The value in a few words; it may be of any type, and as large as an application. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  const text = inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY, customInspect: false });
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
