/** Values of parameters of the user's routes: converted from texts, or checked in JSON. */
import type { ParamMetadata } from 'routing-controllers';
import { quote } from '../../request/query/query-string.js';
import { DECLARED } from '../../schema/body-values.js';
import type { RequestIssue } from '../../schema/request-issue.js';

/** Type of a single value. */
export interface ValueType {
  /** The value of a text; undefined where it has none. */
  read(text: string): unknown;
  /** Code of a text without a value. */
  readonly code: string;
  /** The values there are, to the client that has sent a text without one. */
  accepts(text: string): string;
  /** The value of one in JSON; undefined where it is of another type. */
  take(value: unknown): unknown;
  /** Code and words of one in JSON. */
  readonly name: string;
  readonly text: string;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['', true],
  ['false', false],
  ['0', false],
]);

function finite(text: string): number | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && !isRounded(text) ? value : undefined;
}

/** True for an integer that has become another one, which may be the id of another record. */
function isRounded(text: string): boolean {
  const value = Number(text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !/^[^x]*[.e]/i.test(text);
}

const { MIN_SAFE_INTEGER, MAX_SAFE_INTEGER } = Number;

function acceptedNumbers(text: string): string {
  return isRounded(text) ? `an integer from ${MIN_SAFE_INTEGER} to ${MAX_SAFE_INTEGER}` : 'a number';
}

function moment(value: unknown): Date | undefined {
  const date = typeof value === 'string' ? new Date(value) : value;
  return date instanceof Date && !Number.isNaN(date.getTime()) ? date : undefined;
}

function declared(type: unknown): Pick<ValueType, 'take' | 'name' | 'text'> {
  const { name = '', text = '', holds = () => true } = DECLARED.get(type) ?? {};
  return { name, text, take: (value) => (holds(value) ? value : undefined) };
}

/** By the names that routing-controllers has for them. */
const TYPES: ReadonlyMap<string, ValueType> = new Map<string, ValueType>([
  ['number', { ...declared(Number), read: finite, code: 'range', accepts: acceptedNumbers }],
  ['string', { ...declared(String), read: (text) => text, code: '', accepts: () => '' }],
  [
    'boolean',
    {
      ...declared(Boolean),
      read: (text) => BOOLEANS.get(text),
      code: 'boolean',
      accepts: () => 'true and false',
    },
  ],
  [
    'date',
    {
      read: moment,
      code: 'date',
      accepts: () => 'a date such as 2026-01-31, or a date and time',
      take: moment,
      name: 'isDateTime',
      text: 'must be a date and time such as "2026-01-31T08:00:00.000Z"',
    },
  ],
]);

/** A list of more items is an object with the keys 0, 1, … to Express 5, where its query parser is `extended`. */
const LONGEST_LIST = 20;

/** A value of a query string, with such an object as the list that was sent. */
export function sentValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  const isList = keys.length > LONGEST_LIST && keys.every((key, index) => key === String(index));
  return isList ? Object.values(value) : value;
}

/** All values of a query string. */
export function sentValues(query: object): object {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, sentValue(value)]));
}

const CONSTRUCTORS: ReadonlySet<unknown> = new Set([Number, String, Boolean, Date]);

/** The type of a parameter's values; null where they are no single ones. */
export function valueType({ targetType, targetName }: ParamMetadata): ValueType | null {
  const isKnown = typeof targetType === 'string' || CONSTRUCTORS.has(targetType);
  return (isKnown && TYPES.get(targetName)) || null;
}

const NAMES: Readonly<Partial<Record<ParamMetadata['type'], string>>> = {
  header: 'Header',
  cookie: 'Cookie',
};

/** Issue of a text that has no value of the type. The value of a header or a cookie may be a secret. */
export function wrongText(
  { type, name }: ParamMetadata,
  { code, accepts }: ValueType,
  text: string,
): RequestIssue {
  // Parsed as the id of a generated route.
  if (type === 'param') {
    return {
      parameter: name,
      code: 'id',
      detail: `${quote(text)} is not a valid ${name}; it must be ${accepts(text)}.`,
    };
  }
  const source = NAMES[type];
  const detail = source
    ? `${source} '${name}' accepts ${accepts(text)}.`
    : `Parameter '${name}' is ${quote(text)}; it accepts ${accepts(text)}.`;
  return { parameter: name, code, detail };
}

/** Issue of a parameter that is required and absent. */
export function absentParameter({ type, name }: ParamMetadata): RequestIssue {
  return {
    parameter: name,
    code: 'required',
    detail: `${NAMES[type] ?? 'Parameter'} '${name}' is required.`,
  };
}
