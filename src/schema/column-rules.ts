/** Rules of a column's type for a value in a body: pure, with the names that class-validator has for its own. */

import { namedForm } from '../declare/named-types.js';
import type { ColumnType } from '../describe/column-type.js';
import { infiniteOf, isMoment } from '../describe/exact-time.js';
import { DURATION, isDuration } from '../describe/interval-value.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { moneyDecimals } from '../describe/money-value.js';
import { NETWORK_FORMS } from '../describe/network-value.js';
import { ENDS } from '../describe/range-value.js';
import { counted } from '../util/with-article.js';
import {
  type ColumnRule,
  formRule,
  integerRules,
  isText,
  ofNumbers,
  ofTexts,
  rule,
  stringRules,
} from './column-rule.js';
import { bothSchemas, type JsonSchema, orNull } from './json-schema.js';
import { holdsJsonNumbers, isStorableJson } from './json-value.js';
import {
  decimalPattern,
  isAddressable,
  isBigint,
  isDecimal,
  isNestable,
  isNonFinite,
  isStorableText,
  isTimeOfDay,
  isUuid,
  parseBase64,
  parseDay,
  parseTimestamp,
  SEGMENT_LENGTH,
  timePattern,
  WIRE_PATTERNS,
} from './wire-value.js';

/** The rule of JSON values; the unsafe keys are refused in values of every type. */
export const STORABLE_JSON = rule(
  'isStorableJson',
  'must not hold NUL characters, lone surrogates, or keys named __proto__, constructor or prototype',
  isStorableJson,
);

/** The rule of numbers in JSON values. */
export const JSON_NUMBERS = rule(
  'isJsonNumber',
  'must hold only numbers that are 0 or from 1e-40 to 1e40 in size; send another one as a string',
  holdsJsonNumbers,
);

const JSON_RULES = Object.freeze([STORABLE_JSON, JSON_NUMBERS]);

/** Ranges are parsed and checked in one: records have them in another form. */
function rangeRules(bound: ColumnType): readonly ColumnRule[] {
  const side = orNull(
    columnRules(bound).reduce<JsonSchema>((all, { schema }) => bothSchemas(all, schema), {}),
  );
  const properties = {
    lower: side,
    upper: side,
    bounds: { type: 'string', enum: ENDS },
    empty: { const: true },
  } as const;
  const [{ text } = { text: '' }] = columnRules(bound);
  return [
    rule(
      'isRange',
      `must be a range such as {"lower":…,"upper":…,"bounds":"[)"}, with the lower bound first, null for none, or {"empty":true}; a bound ${text}`,
      (value) => (Array.isArray(value) ? [0, 2].includes(value.length) : typeof value === 'string'),
      { type: 'object', properties, additionalProperties: false },
    ),
  ];
}

function multirangeRules(bound: ColumnType): readonly ColumnRule[] {
  const [{ text, schema } = { text: '', schema: {} }] = rangeRules(bound);
  return [
    rule(
      'isMultirange',
      `must be an array of ranges, of which each ${text}`,
      (value) => typeof value === 'string',
      { type: 'array', items: schema },
    ),
  ];
}

function moneyRules(sample: string | undefined): readonly ColumnRule[] {
  const decimals = moneyDecimals(sample);
  const fraction = decimals === 0 ? '' : `(?:\\.[0-9]{1,${decimals}}0*)?`;
  const text = `must be a string holding an amount with at most ${decimals} decimals, such as "12.5", within 64 bits`;
  return formRule('isMoney', text, () => true, { pattern: `^-?(?:0|[1-9][0-9]{0,18})${fraction}$` });
}

function bitRules(length: number | null, isVarying: boolean): readonly ColumnRule[] {
  const fits = (value: string): boolean =>
    /^[01]*$/.test(value) &&
    (length === null || (isVarying ? value.length <= length : value.length === length));
  return formRule('isBits', `must be a string of ${bitsText(length, isVarying)}`, fits, {
    pattern: `^[01]${length === null ? '*' : `{${isVarying ? '0,' : ''}${length}}`}$`,
    examples: ['0'.repeat(Math.min(length ?? 1, 64))],
  });
}

const HSTORE = rule('isHstore', 'must be an object whose members are strings or null', isText, {
  type: 'object',
  additionalProperties: { type: ['string', 'null'] },
});

/** The digits of a column, as the end of a sentence. */
export function bitsText(length: number | null, isVarying: boolean): string {
  return `${length === null ? 'any number of' : `${isVarying ? 'at most' : 'exactly'} ${length}`} digits 0 and 1`;
}

/** Every JSON number fits into a double. */
function floatSchema(maximum: number): JsonSchema {
  if (maximum === Number.MAX_VALUE) return { format: 'double' };
  return { format: 'float', minimum: -maximum, maximum };
}

function decimalText(precision: number | null, scale: number | null): string {
  const limits =
    precision === null
      ? ''
      : ` with at most ${precision - (scale ?? 0)} digits before the point and ${scale ?? 0} after it`;
  return `must be a string holding a decimal number${limits}, such as "12.5" (JSON numbers would be rounded)`;
}

function timeText(digits: number | undefined): string {
  const limit = digits === undefined ? '' : ` with at most ${counted(digits, 'digit')} behind the point,`;
  return `must be a time of day${limit} such as "08:00:00"`;
}

/** JSON Schema describes arrays of one dimension only: one for each dimension would hide the usual form. */
const IS_RECTANGULAR = rule(
  'isRectangular',
  'must hold no arrays, or arrays of which all have as many values, one at least',
  (value) => !Array.isArray(value) || depthOf(value) !== undefined,
);

/** Elements may be null. */
function arrayRules(element: ColumnType): readonly ColumnRule[] {
  const elementRules = columnRules(element);
  const isNested = isNestable(element);
  return [
    rule('isArray', 'must be an array', Array.isArray, { type: 'array', items: {} }),
    ...(isNested ? [IS_RECTANGULAR] : []),
    ...elementRules.map((inner) =>
      rule(
        `${inner.name}Each`,
        `must hold only values of which each ${inner.text}`,
        (value) => !Array.isArray(value) || holdsEach(value, inner.check, isNested),
        { items: orNull(inner.schema) },
        ...inner.constraints,
      ),
    ),
  ];
}

function holdsEach(values: readonly unknown[], check: ColumnRule['check'], isNested: boolean): boolean {
  return values.every(
    (value) =>
      value === null || (isNested && Array.isArray(value) ? holdsEach(value, check, isNested) : check(value)),
  );
}

/** Dimensions of an array in PostgreSQL, at most. */
const MAX_DEPTH = 6;

/** The lengths of the dimensions of an array, as a text; undefined where PostgreSQL has none that is such. */
function depthOf(values: readonly unknown[], depth = 1): string | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (!values.some(Array.isArray)) return String(values.length);
  const shapes = new Set(
    values.map((value) => (Array.isArray(value) && value.length > 0 ? depthOf(value, depth + 1) : undefined)),
  );
  const [shape] = shapes;
  return shapes.size === 1 && shape !== undefined ? `${values.length},${shape}` : undefined;
}

/** PostgreSQL would drop the offset, so that another clock is stored than is sent. */
const LOCAL_RULES = Object.freeze([
  rule(
    'isDateTime',
    'must be a date and time without an offset and with at most microseconds, such as "2026-01-31T08:00:00.000"',
    (value) => isMoment(value) || infiniteOf(value) !== undefined,
    { type: 'string', pattern: WIRE_PATTERNS.local },
  ),
]);

/** The rules of a column type, most basic first. */
export function columnRules(type: ColumnType): readonly ColumnRule[] {
  switch (type.kind) {
    case 'string':
      return stringRules(type.maxLength);
    case 'integer':
      return integerRules(type.minimum, type.maximum);
    case 'float': {
      const fits = ofNumbers((value) => Math.abs(value) <= type.maximum);
      return [
        rule(
          'isNumber',
          'must be a number',
          (value) => Number.isFinite(value) || (typeof value === 'string' && isNonFinite(value)),
          { type: ['number', 'string'], pattern: WIRE_PATTERNS.nonFinite },
        ),
        rule('max', 'is beyond the range of the column', fits, floatSchema(type.maximum)),
      ];
    }
    case 'boolean': {
      const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
      return [rule('isBoolean', 'must be true or false', isBoolean, { type: 'boolean' })];
    }
    case 'bigint':
      return formRule(
        'isBigint',
        'must be a string holding an integer of at most 64 bits, such as "42" (JSON numbers would be rounded)',
        isBigint,
        { pattern: WIRE_PATTERNS.bigint },
      );
    case 'decimal': {
      const { precision, scale } = type;
      // A class of the user's may be older than the catalogue.
      const text = () => decimalText(type.precision, type.scale);
      const fits = (value: string): boolean => isDecimal(value, type.precision, type.scale);
      const schema = { pattern: decimalPattern(precision, scale) };
      return formRule('isDecimal', text, fits, schema, { precision, scale });
    }
    case 'date': {
      if (type.zone !== undefined) return LOCAL_RULES;
      const digits = type.isPrecise ? 'microseconds' : 'milliseconds';
      const pattern = type.isPrecise ? WIRE_PATTERNS.preciseTimestamp : WIRE_PATTERNS.timestamp;
      return [
        rule(
          'isDateTime',
          `must be an RFC 3339 date and time with an offset and at most ${digits}, such as "2026-01-31T08:00:00.000Z"`,
          isDateTime,
          { type: 'string', format: 'date-time', pattern },
        ),
      ];
    }
    case 'dateonly': {
      const isDay = (value: string): boolean => parseDay(value) !== undefined;
      const schema = { format: 'date', pattern: WIRE_PATTERNS.day };
      return formRule('isDate', 'must be a date such as "2026-01-31"', isDay, schema);
    }
    case 'time':
      return formRule(
        'isTime',
        () => timeText(type.digits),
        (value) => isTimeOfDay(value, type.digits),
        { pattern: timePattern(type.digits) },
      );
    case 'uuid':
      return formRule('isUuid', 'must be a UUID', isUuid, { format: 'uuid' });
    case 'enum': {
      const { values } = type;
      const isOne = (value: string): boolean => values.includes(value);
      return formRule('isIn', `must be one of ${values.join(', ')}`, isOne, { enum: values }, values);
    }
    case 'array':
      return arrayRules(type.element);
    case 'blob': {
      const text = 'must be a string of base64 (RFC 4648, section 4) with padding, such as "aGVsbG8="';
      const isBytes = (value: unknown): boolean =>
        Buffer.isBuffer(value) || (typeof value === 'string' && parseBase64(value) !== undefined);
      const pattern = WIRE_PATTERNS.base64;
      return [rule('isBase64', text, isBytes, { type: 'string', contentEncoding: 'base64', pattern })];
    }
    case 'range':
      return rangeRules(type.bound);
    case 'multirange':
      return multirangeRules(type.bound);
    case 'network': {
      const { noun, example, pattern, holds } = NETWORK_FORMS[type.form];
      const schema = { ...(pattern !== undefined && { pattern }), examples: [example] };
      return formRule('isNetwork', `must be ${noun}`, holds, schema);
    }
    case 'interval':
      return formRule(
        'isDuration',
        'must be an ISO 8601 duration that the column can hold, with at most microseconds, such as "P1Y2M3DT4H5M6.7S"',
        isDuration,
        { format: 'duration', pattern: DURATION, examples: ['P1DT2H'] },
      );
    case 'money':
      return moneyRules(type.sample);
    case 'bit':
      return bitRules(type.length, type.isVarying);
    case 'named': {
      const { holds = () => true, noun = 'a text', examples } = namedForm(type.name);
      const isOne = (value: string): boolean => isStorableText(value) && holds(value);
      return formRule('isTypeText', `must be ${noun}`, isOne, examples ? { examples } : {});
    }
    case 'hstore':
      return [HSTORE];
    case 'other':
    case 'json':
    case 'virtual':
      return JSON_RULES;
  }
}

/** The rule of texts that records are addressed by. */
export const ADDRESSABLE = rule(
  'isAddressable',
  `must be able to stand in a path: it cannot be empty, '.' or '..', or have over ${SEGMENT_LENGTH} characters when percent-encoded`,
  ofTexts(isAddressable),
  { minLength: 1, pattern: WIRE_PATTERNS.segment },
);

type RuledAttribute = Pick<AttributeInfo, 'role' | 'type' | 'isAddress' | 'isPart'>;

/** True where an attribute addresses a record, and any text could be its value. */
export function isTextKey({ role, type, isAddress }: RuledAttribute): boolean {
  return (isAddress || role === 'primaryKey') && type.kind === 'string';
}

/** The rules of an attribute in a body, most basic first. */
export function attributeRules(attribute: RuledAttribute): readonly ColumnRule[] {
  const rules = columnRules(attribute.type);
  // A part may be empty or a dot: a comma is beside it.
  return isTextKey(attribute) && !attribute.isPart ? [...rules, ADDRESSABLE] : rules;
}

/** True where a value breaks none of the rules of a column type. */
export function holdsColumnRules(type: ColumnType, value: unknown): boolean {
  return columnRules(type).every(({ check }) => check(value));
}

function isDateTime(value: unknown): boolean {
  if (typeof value !== 'string') return isMoment(value);
  return infiniteOf(value) !== undefined || parseTimestamp(value) !== undefined;
}
