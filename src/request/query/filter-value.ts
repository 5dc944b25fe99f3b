/** Values of a filter: of the type of the column they are compared with, strict and in one form only, or patterns. */

import { namedForm } from '../../declare/named-types.js';
import { type ColumnType, fitsLength } from '../../describe/column-type.js';
import { isDuration } from '../../describe/interval-value.js';
import { moneyText } from '../../describe/money-value.js';
import { NETWORK_FORMS } from '../../describe/network-value.js';
import { rangesOf } from '../../describe/range-value.js';
import { bitsText, holdsColumnRules } from '../../schema/column-rules.js';
import {
  isBigint,
  isDecimal,
  isNonFinite,
  isReversed,
  isTimeOfDay,
  isUuid,
  parseColumnValue,
  parseDay,
  parseMoment,
} from '../../schema/wire-value.js';
import { FILTER_LIMITS, FilterError, type Lexeme } from './filter-syntax.js';
import { quote } from './query-string.js';

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Digits of a decimal, on both sides of the point. */
const DECIMAL_DIGITS = 38;
const SINGLE_PRECISION_MAXIMUM = 3.4028234663852886e38;

/**
 * A value as the text that PostgreSQL reads for the column's type.
 *
 * @param attribute named in messages
 * @throws FilterError `q.type` for a value of another type, `q.range` for one that the column cannot hold
 */
export function parseFilterValue(type: ColumnType, value: Lexeme, attribute: string): string {
  const { text } = value;
  const wrongType = (expected: string): never => {
    const detail = `${quote(text)} is not ${expected} (field '${attribute}').${hint(value, attribute)}`;
    throw new FilterError('q.type', value.position, detail);
  };
  const outOfRange = (): never => {
    const detail = `${quote(text)} is outside the range of '${attribute}'.`;
    throw new FilterError('q.range', value.position, detail);
  };
  switch (type.kind) {
    case 'string':
      return type.maxLength === null || fitsLength(text, type.maxLength) ? text : outOfRange();
    case 'enum':
      return type.values.includes(text) ? text : wrongType(`one of ${type.values.join(', ')}`);
    case 'integer':
      if (!INTEGER.test(text)) return wrongType('an integer');
      return Number(text) >= type.minimum && Number(text) <= type.maximum ? text : outOfRange();
    case 'bigint':
      if (!INTEGER.test(text)) return wrongType('an integer');
      return isBigint(text) ? text : outOfRange();
    case 'decimal':
      if (!isDecimal(text, null, null)) return wrongType('a decimal number');
      return text.replace(/[-.]/g, '').length <= DECIMAL_DIGITS ? text : outOfRange();
    case 'float':
      if (isNonFinite(text) && !type.isOfJson) return text;
      if (!JSON_NUMBER.test(text)) return wrongType('a number');
      return isInFloatRange(text, type.maximum) ? text : outOfRange();
    case 'boolean':
      return text === 'true' || text === 'false' ? text : wrongType('true or false');
    case 'date':
      return (
        parseMoment(text, type.zone) ??
        wrongType(
          type.zone === undefined
            ? 'an RFC 3339 date and time with an offset, such as 2026-01-31T08:00:00Z'
            : 'a date and time without an offset, such as 2026-01-31T08:00:00',
        )
      );
    case 'dateonly':
      return parseDay(text) ?? wrongType('a date such as 2026-01-31');
    case 'time':
      return isTimeOfDay(text) ? text : wrongType('a time of day such as 08:00:00');
    case 'uuid':
      return isUuid(text) ? text.toLowerCase() : wrongType('a UUID');
    case 'network': {
      const { noun, holds } = NETWORK_FORMS[type.form];
      return holds(text) ? text : wrongType(noun);
    }
    case 'named': {
      const { holds = () => true, noun = 'a text' } = namedForm(type.name);
      return holds(text) ? text : wrongType(noun);
    }
    case 'interval':
      return isDuration(text)
        ? text
        : wrongType('an ISO 8601 duration that the column can hold, such as P1DT2H');
    case 'money':
      if (!isDecimal(text, null, null)) return wrongType('a decimal number');
      return moneyText(text, type.sample) ?? outOfRange();
    case 'bit':
      return holdsColumnRules(type, text)
        ? text
        : wrongType(`a text of ${bitsText(type.length, type.isVarying)}`);
    case 'range':
      return (
        parseRange(type.bound, value, attribute) ?? wrongType(`a range such as ${exampleRange(type.bound)}`)
      );
    case 'multirange':
      return (
        parseMultirange(type.bound, value, attribute) ??
        wrongType(`a range such as ${exampleRange(type.bound)}, or several of them in braces`)
      );
    default:
      // The plan allows no comparison of values for the other kinds.
      throw new TypeError(`A ${type.kind} column has no filter values.`);
  }
}

const RANGE = /^([[(])([^,]*),([^,]*)([\])])$/;

/** A range as PostgreSQL writes it, with bounds in their own forms; undefined for anything else. */
function parseRange(bound: ColumnType, { text, position }: Lexeme, attribute: string): string | undefined {
  if (text === 'empty') return text;
  const [, opening, lower = '', upper = '', closing] = RANGE.exec(text) ?? [];
  if (opening === undefined) return undefined;
  const parse = (each: string) =>
    each === '' ? '' : `"${parseFilterValue(bound, { text: each, position }, attribute)}"`;
  const range = `${opening}${parse(lower)},${closedBy(bound, parse(upper), closing)}`;
  const model = (each: string) => (each === '' ? null : parseColumnValue(bound, each));
  const isWhole = lower !== '' && upper !== '';
  if (!isWhole || !isReversed(model(lower), model(upper))) return range;
  const detail = `The lower bound of ${quote(text)} is greater than the upper one.`;
  throw new FilterError('q.range', position, detail);
}

/** One range, or several in braces. */
function parseMultirange(bound: ColumnType, value: Lexeme, attribute: string): string | undefined {
  const { text, position } = value;
  const inside = /^\{(.*)\}$/.exec(text)?.[1];
  const texts = inside === undefined ? [text] : rangesOf(inside);
  if (inside !== undefined && texts.join(',') !== inside) return undefined;
  const ranges = texts.map((each) => parseRange(bound, { text: each, position }, attribute));
  return ranges.includes(undefined) ? undefined : `{${ranges.join(',')}}`;
}

/** A value of a range, or another range: of a value alone, the range that has nothing else. */
export function parseRangePart(type: ColumnType, value: Lexeme, attribute: string): string {
  if ((type.kind !== 'range' && type.kind !== 'multirange') || /^(?:empty$|[[({])/.test(value.text))
    return parseFilterValue(type, value, attribute);
  const bound = parseFilterValue(type.bound, value, attribute);
  const range = `["${bound}",${closedBy(type.bound, `"${bound}"`, ']')}`;
  return type.kind === 'range' ? range : `{${range}}`;
}

/** The largest values of the types whose ranges PostgreSQL keeps without their upper bound. */
const LARGEST: Partial<Record<ColumnType['kind'], string>> = {
  integer: '"2147483647"',
  bigint: '"9223372036854775807"',
  dateonly: '"5874897-12-31"',
};

/** The end of a range. It has no bound behind the largest value: PostgreSQL would compute the value after it, and fails with 22003. */
function closedBy({ kind }: ColumnType, upper: string, closing = ')'): string {
  return closing === ']' && LARGEST[kind] === upper ? ')' : `${upper}${closing}`;
}

/** A range of a type of bounds, as an example. */
export function exampleRange(bound: ColumnType): string {
  if (bound.kind === 'dateonly') return '[2026-01-01,2026-02-01)';
  if (bound.kind !== 'date') return '[1,10)';
  const zone = bound.zone === undefined ? 'Z' : '';
  return `[2026-01-01T00:00:00${zone},2026-02-01T00:00:00${zone})`;
}

/** Neither too large for the column, nor so small that PostgreSQL refuses it as an underflow. */
function isInFloatRange(text: string, maximum: number): boolean {
  const number = Number(text);
  if (Math.abs(number) > maximum) return false;
  const stored = maximum === SINGLE_PRECISION_MAXIMUM ? Math.fround(number) : number;
  return stored !== 0 || !/[1-9]/.test(text.split(/[eE]/)[0] ?? '');
}

/** Hint for a frequent mistake. */
function hint({ text }: Lexeme, attribute: string): string {
  if (text === 'null') return ` Use ${attribute}=isnull=true.`;
  // A plus in a query string is a space; the offset of a timestamp loses it.
  if (/^\d{4}-\d\d-\d\dT.* \d\d:\d\d$/.test(text)) return " Write the '+' of the offset as %2B.";
  return '';
}

/**
 * A pattern of `=like=` and its relatives -> the text of SQL's LIKE with a backslash as its escape character. `*` is any
 * run of characters. `\*` is a star and `\\` a backslash;
 * `%` and `_` mean themselves.
 *
 * @throws FilterError
 */
export function compilePattern({ text, position }: Lexeme): string {
  if (text.length > FILTER_LIMITS.patternLength) {
    const detail = `A pattern has at most ${FILTER_LIMITS.patternLength} characters (found ${text.length}).`;
    throw new FilterError('q.range', position, detail);
  }
  const pattern = text.replace(/\\(.?)|[*%_]/gsu, (match, escaped: string | undefined) => {
    if (match === '*') return '%';
    if (escaped === undefined || escaped === '\\') return `\\${match.at(-1)}`;
    if (escaped === '*') return '*';
    const detail = `'${match}' is not a valid escape in a pattern; use \\* or \\\\.`;
    throw new FilterError('q.bad-escape', position, detail);
  });
  const wildcards = text.replace(/\\./gsu, '').split('*').length - 1;
  if (wildcards > FILTER_LIMITS.patternWildcards) {
    const detail = `A pattern has at most ${FILTER_LIMITS.patternWildcards} wildcards (found ${wildcards}).`;
    throw new FilterError('q.too-complex', position, detail);
  }
  if (/^\*+$/.test(text)) {
    const detail = 'A pattern of wildcards alone matches every text; use =isnull=false.';
    throw new FilterError('q.bad-escape', position, detail);
  }
  return pattern;
}
