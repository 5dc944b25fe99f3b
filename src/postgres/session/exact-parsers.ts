/**
 * Parsers of a connection for texts of which the driver's own would lose a part: microseconds of moments in arrays,
 * infinite intervals, and clocks without a zone, which it would read in the zone of the process. Parsers that the
 * user has set with `pg.types.setTypeParser` stay.
 */
import { localDate, preciseDate } from '../../describe/exact-time.js';
import type { TextParser } from '../protocol/prepared-statement.js';

/** A client of the driver. Another one than pg's may have no parsers of its own. */
export interface ParsingClient {
  getTypeParser?(oid: number, format: 'text'): TextParser;
  setTypeParser?(oid: number, format: 'text', parse: TextParser): void;
}

/** Types by their numbers, which are the same in every PostgreSQL (`pg_type.dat`). */
const OID = Object.freeze({ interval: 1186, intervals: 1187, moments: 1185, local: 1114, locals: 1115 });

/**
 * Gives the connection its parsers.
 *
 * @param zone the one that Sequelize writes in; the driver would read a clock without a zone in that of the process
 */
export function parseExactly(client: ParsingClient, zone: string): void {
  replaceParser(client, OID.local, '2026-01-31 08:00:00', localParser(zone));
  replaceParser(client, OID.locals, '{"2026-01-31 08:00:00"}', localsParser(zone));
  replaceParser(client, OID.moments, '{"2026-01-31 08:00:00+00"}', momentsParser);
  replaceParser(client, OID.interval, '1 day', intervalParser);
  replaceParser(client, OID.intervals, '{"1 day"}', intervalsParser);
}

/** @param sample a text of which only the driver's own parser makes an object that is no array of texts */
function replaceParser(
  client: ParsingClient,
  oid: number,
  sample: string,
  wrap: (parse: TextParser) => TextParser,
): void {
  const parse = client.getTypeParser?.(oid, 'text');
  if (parse && isOfDriver(parse, sample)) client.setTypeParser?.(oid, 'text', wrap(parse));
}

function isOfDriver(parse: TextParser, sample: string): boolean {
  try {
    const [value] = [parse(sample)].flat();
    return (
      value instanceof Date || typeof (value as { toPostgres?: unknown } | null)?.toPostgres === 'function'
    );
  } catch {
    return false;
  }
}

const MICROSECONDS = /\.\d{4,6}/;

const momentsParser = (parse: TextParser): TextParser => {
  return (text) =>
    MICROSECONDS.test(text) ? replaceElements(parse(text), text, preciseElement) : parse(text);
};

function preciseElement(value: unknown, text: string): unknown {
  const [, fraction] = /\.(\d+)/.exec(text) ?? [];
  return value instanceof Date && fraction !== undefined ? preciseDate(value.getTime(), fraction) : value;
}

const localParser = (zone: string) => {
  return (parse: TextParser): TextParser =>
    (text) =>
      localDate(text, zone) ?? parse(text);
};

const localsParser = (zone: string) => {
  return (parse: TextParser): TextParser =>
    (text) =>
      replaceElements(parse(text), text, (value, element) => localDate(element, zone) ?? value);
};

const intervalParser = (parse: TextParser): TextParser => {
  return (text) => (INFINITE.test(text) ? text : parse(text));
};

const intervalsParser = (parse: TextParser): TextParser => {
  return (text) =>
    replaceElements(parse(text), text, (value, element) => (INFINITE.test(element) ? element : value));
};

const INFINITE = /^-?infinity$/;

/** An element of an array without braces and bounds; none of these types has a quote or a brace in its texts. */
const ELEMENT = /"[^"]*"|[^{},"]+/g;

/** The array with other elements in it, each of which is made of the driver's one and of its text. */
function replaceElements(
  parsed: unknown,
  text: string,
  replace: (value: unknown, text: string) => unknown,
): unknown {
  const texts = text.slice(text.indexOf('{')).match(ELEMENT) ?? [];
  let place = 0;
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    const element = (texts[place] ?? '').replaceAll('"', '');
    place += 1;
    return replace(value, element);
  };
  return visit(parsed);
}
