/**
 * The rules of the types, once more: what JSON has of PostgreSQL's text of a value, and which operators a column has. The text is
 * written under `TimeZone=UTC` and `IntervalStyle=iso_8601`. Nothing here uses the library.
 */

import { parse } from 'postgres-array';
import type { Column } from './tables.js';

/** All that a type decides. */
export interface TypeRule {
  /** JSON of a text. */
  json(text: string): unknown;
  /** Operators: `=` for equality, `<` for orders, `~` for patterns, `[` for arrays, `r` for ranges, `w` for networks. `=isnull=` is for all. */
  readonly operators: string;
  /** True where a path can have the value. */
  readonly isId?: boolean;
}

const text = (value: string): unknown => value;
const special = (value: string): unknown => (Number.isFinite(Number(value)) ? Number(value) : value);
/** At least milliseconds, at most all digits. */
const clock = (value: string): string =>
  value.replace(' ', 'T').replace(/(?<=:\d\d)(\.\d+)?$/, (digits) => (digits || '.').padEnd(4, '0'));
const moment = (value: string): unknown =>
  /infinity/.test(value) ? value : `${clock(value.replace(/\+00$/, '')).slice(0, 23)}Z`;
const rule = (json: TypeRule['json'], operators: string, isId = false): TypeRule => ({
  json,
  operators,
  isId,
});
const OTHER: TypeRule = { json: text, operators: '' };

const RULES: Readonly<Record<string, TypeRule>> = {
  smallint: rule(Number, '=<', true),
  integer: rule(Number, '=<', true),
  bigint: rule(text, '=<', true),
  numeric: rule(text, '=<', true),
  real: rule(special, '=<'),
  'double precision': rule(special, '=<'),
  boolean: rule((value) => value === 'true' || value === 't', '=', true),
  text: rule(text, '=<~', true),
  citext: rule(text, '=<~', true),
  'character varying': rule(text, '=<~', true),
  character: rule((value) => value.trimEnd(), '=<~', true),
  date: rule(text, '=<', true),
  'time without time zone': rule(text, '=<', true),
  'timestamp with time zone': rule(moment, '=<', true),
  /** The same in arrays and ranges, where all digits are shown. */
  precise: rule(
    (value) =>
      `${clock(value.replace(/\+00$/, '')).replace(/\.\d{4,5}$/, (digits) => digits.padEnd(7, '0'))}Z`,
    '=<',
  ),
  'timestamp without time zone': rule(clock, '=<', true),
  uuid: rule(text, '=', true),
  json: rule(JSON.parse, ''),
  jsonb: rule(JSON.parse, ''),
  bytea: rule((value) => Buffer.from(value.slice(2), 'hex').toString('base64'), ''),
  // The cast to text writes the mask of a single host, which PostgreSQL leaves out elsewhere.
  inet: rule((value) => value.replace(/(?<=\..*)\/32$|(?<=:.*)\/128$/, ''), '=<w', true),
  cidr: rule(text, '=<w', true),
  macaddr: rule(text, '=<', true),
  macaddr8: rule(text, '=<', true),
  interval: rule(text, '=<'),
  money: rule((value) => value.replace(/[^-.\d]/g, ''), '=<'),
  bit: rule(text, '='),
  'bit varying': rule(text, '='),
};

/** Types of the bounds of ranges. */
const BOUNDS: Readonly<Record<string, string>> = {
  int4: 'integer',
  int8: 'bigint',
  num: 'numeric',
  date: 'date',
  ts: 'timestamp without time zone',
  tstz: 'precise',
};

/** A bound has quotes where it has blanks or commas. */
function rangeJson(value: string, base: string): unknown {
  const [, first = '', lower = '', upper = '', last = ''] = /^([[(])(.*),(.*)([\])])$/.exec(value) ?? [];
  if (first === '') return { empty: true };
  const bound = (part: string) =>
    part === '' ? null : (RULES[base] ?? OTHER).json(part.replaceAll('"', ''));
  return { lower: bound(lower), upper: bound(upper), bounds: `${first}${last}` };
}

/** The rule of a column. */
export function ruleOf(column: Column): TypeRule {
  const { base, element, labels } = column;
  if (element) {
    const base = element === 'timestamp with time zone' ? 'precise' : element;
    const inner = ruleOf({ ...column, base, type: element, element: null });
    const isPlain = inner.operators !== '' || labels;
    return {
      json: (value) => jsonOfArray(parse(value), inner),
      operators: isPlain ? '[' : '',
    };
  }
  if (labels) return rule(text, '=', true);
  const [, bounds = '', isMulti] = /^(.+?)(multi)?range$/.exec(base) ?? [];
  const of = BOUNDS[bounds];
  if (!of) return RULES[base] ?? OTHER;
  const ranges = (value: string) =>
    [...value.matchAll(/[[(].*?[\])]/g)].map(([range]) => rangeJson(range, of));
  return rule(isMulti ? ranges : (value) => rangeJson(value, of), '=r');
}

function jsonOfArray(elements: unknown, inner: TypeRule): unknown {
  if (Array.isArray(elements)) return elements.map((each) => jsonOfArray(each, inner));
  return elements === null ? null : inner.json(String(elements));
}

/** JSON of a column's text. */
export function jsonOf(column: Column, value: string | null): unknown {
  return value === null ? null : ruleOf(column).json(value);
}

/** The text of a value in a query and in a path: all its digits, where JSON shows fewer of them. */
export function queryText(column: Column, value: string): string {
  if (column.base === 'timestamp with time zone') return `${clock(value.replace(/\+00$/, ''))}Z`;
  if (!/range$/.test(column.base)) return String(jsonOf(column, value));
  // Quotes are around moments only, and not around other bounds.
  const bound = RULES[column.base.startsWith('tstz') ? 'precise' : 'timestamp without time zone'] ?? OTHER;
  return value.replace(/"([^"]+)"/g, (_, text: string) => `"${bound.json(text)}"`);
}

/** The id of a row in a path: one segment, its parts in order. */
export function idOf(columns: readonly Column[], values: readonly (string | null)[]): string {
  const parts = columns.map((column, at) => queryText(column, values[at] ?? ''));
  const [only = ''] = parts;
  if (parts.length === 1) return encodeURIComponent(only);
  const escaped = parts.map((part) => part.replace(/[~/,\\]/g, (sign) => `~${'~/,\\'.indexOf(sign)}`));
  return escaped.map(encodeURIComponent).join();
}
