/**
 * Parsers of a connection for texts of which the driver's own parsers would lose a part. These are microseconds of moments in arrays
 * and ranges, moments and numbers of JSON beyond those of JavaScript, and infinite intervals and bounds. Times without a zone are
 * among them, because the driver would read them in the zone of the process. Texts of `char(n)` lose their padding. Parsers that the
 * user has set with `pg.types.setTypeParser` stay.
 */
import {
  farDate,
  infiniteOf,
  localDate,
  momentInUtc,
  preciseDate,
  wireText,
} from '../../describe/exact-time.js';
import { parseRange } from '../../describe/range-value.js';
import { isFarNumber, JSON_TOKEN } from '../../schema/json-value.js';
import type { TextParser } from '../protocol/prepared-statement.js';

/** A client of the driver. Another one than pg's may have no parsers of its own. */
export interface ParsingClient {
  getTypeParser?(oid: number, format: 'text'): TextParser;
  setTypeParser?(oid: number, format: 'text', parse: TextParser): void;
}

/** Types by their numbers, which are the same in every PostgreSQL (`pg_type.dat`). */
const TEXTS = 1009;
/** Arrays of macaddr8, bit, varbit and multiranges, which the driver leaves as texts. */
const UNPARSED = [775, 1561, 1563, 6150, 6151, 6152, 6153, 6155, 6157];

/** A type, of which only the driver's and Sequelize's own parsers make an object, or an infinite number, of the sample. */
interface ExactType {
  readonly oid: number;
  readonly array: number;
  readonly sample: string;
  /** @param parse the one of the driver */
  readonly value: (parse: TextParser) => TextParser;
  /** The parser of an element. Default: as that of a value. */
  readonly element?: (parse: TextParser) => TextParser;
}

/**
 * @param zone the one that Sequelize writes in; the driver would read a clock without a zone in that of the process
 * @param parseMoment the driver's parser of a moment
 */
function exactTypes(zone: string, parseMoment: TextParser): readonly ExactType[] {
  const local = (parse: TextParser): TextParser => {
    return (text) => localDate(text, zone) ?? parse(text);
  };
  const range = (toBound: TextParser) => (): TextParser => (text) => parseRange(text, toBound);
  const infinite: TextParser = (text) => infiniteOf(text) ?? text;
  const moment = '2026-01-31 08:00:00';
  return [
    { oid: 1114, array: 1115, sample: moment, value: local },
    { oid: 1184, array: 1185, sample: `${moment}+00`, value: farMoment, element: preciseMoment },
    { oid: 1186, array: 1187, sample: '1 day', value: infiniteInterval },
    { oid: 114, array: 199, sample: '1e400', value: farNumbers },
    { oid: 3802, array: 3807, sample: '1e400', value: farNumbers },
    { oid: 3908, array: 3909, sample: '(,)', value: range(local(infinite)) },
    { oid: 3910, array: 3911, sample: '(,)', value: range(preciseMoment(parseMoment)) },
    { oid: 3912, array: 3913, sample: '(,)', value: range(infinite) },
  ];
}

/** Sets the parsers of a connection. */
export function parseExactly(client: ParsingClient, zone: string): void {
  const parseTexts = client.getTypeParser?.(TEXTS, 'text');
  const parseMoment = client.getTypeParser?.(1184, 'text') ?? ((text) => text);
  for (const { oid, array, sample, value, element = value } of exactTypes(zone, parseMoment)) {
    const parse = client.getTypeParser?.(oid, 'text');
    const parseArray = client.getTypeParser?.(array, 'text');
    if (!parse || !isOfDriver(parse, sample)) continue;
    client.setTypeParser?.(oid, 'text', value(parse));
    if (!parseTexts || !parseArray || !isOfDriver(parseArray, `{"${sample}"}`)) continue;
    const parseElement = element(parse);
    client.setTypeParser?.(array, 'text', (text) => mapTexts(parseTexts(text), parseElement));
  }
  for (const oid of UNPARSED) {
    const parse = client.getTypeParser?.(oid, 'text');
    if (parseTexts && parse && isUnparsed(parse)) client.setTypeParser?.(oid, 'text', parseTexts);
  }
  for (const oid of [PADDED, PADDED_ARRAY]) {
    const parse = client.getTypeParser?.(oid, 'text');
    if (parse && [parse('{a}')].flat()[0] === (oid === PADDED ? '{a}' : 'a'))
      client.setTypeParser?.(oid, 'text', (text) => mapTexts(parse(text), withoutPadding));
  }
}

function isUnparsed(parse: TextParser): boolean {
  return parse('{a}') === '{a}';
}

/** `char(n)`: its texts have blanks at their end that no comparison counts. */
const PADDED = 1042;
const PADDED_ARRAY = 1014;

function withoutPadding(text: string): string {
  return text.replace(/ +$/, '');
}

function isOfDriver(parse: TextParser, sample: string): boolean {
  try {
    const [value] = [parse(sample)].flat();
    return value === Number.POSITIVE_INFINITY || (typeof value === 'object' && value !== null);
  } catch {
    return false;
  }
}

/** The elements of an array of any number of dimensions. */
function mapTexts(value: unknown, parse: TextParser): unknown {
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, parse));
  return typeof value === 'string' ? parse(value) : value;
}

const farMoment = (parse: TextParser): TextParser => {
  const fast = SAMPLES.every((text) => isDateAt(parse(text), momentInUtc(text))) ? momentInUtc : null;
  return (text) => {
    const value = fast?.(text) ?? parse(text);
    return isValid(value) ? value : (farDate(wireText(text.replace(/(\.\d{3})\d+/, '$1'))) ?? value);
  };
};

/** A parser of the user's may make another moment, or another object, of a text. */
const SAMPLES = ['2026-01-31 08:00:00+00', '2026-07-01 23:59:59.123456+00'];

function isDateAt(value: unknown, moment: Date | undefined): boolean {
  return (
    value instanceof Date &&
    Object.getPrototypeOf(value) === Date.prototype &&
    value.getTime() === moment?.getTime()
  );
}

const preciseMoment = (parse: TextParser): TextParser => {
  return (text) => {
    const value = parse(text);
    if (!isValid(value)) return farDate(wireText(text)) ?? value;
    const [, fraction] = /\.(\d+)/.exec(text) ?? [];
    return value instanceof Date && fraction !== undefined ? preciseDate(value.getTime(), fraction) : value;
  };
};

function isValid(value: unknown): boolean {
  return !(value instanceof Date) || !Number.isNaN(value.getTime());
}

const infiniteInterval = (parse: TextParser): TextParser => {
  return (text) => (/^-?infinity$/.test(text) ? text : parse(text));
};

/** Leaves numbers beyond a double as texts; else they would be null in an answer, or zero. */
const farNumbers = (parse: TextParser): TextParser => {
  return (text) =>
    parse(
      MAYBE_FAR.test(text)
        ? text.replace(JSON_TOKEN, (token) => (isFarNumber(token) ? `"${token}"` : token))
        : text,
    );
};

const MAYBE_FAR = /\d{309}|[eE]\+?\d{2}|[eE]-\d{3}/;
