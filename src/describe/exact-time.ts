/**
 * Days and moments that JavaScript and PostgreSQL write in different ways. ECMAScript has expanded years (`-000043`, `+012026`),
 * where PostgreSQL has `0044 … BC` and `12026`. A `Date` has milliseconds, where PostgreSQL has microseconds.
 */

/** A moment with the microseconds that a `Date` has no room for. Only elements of arrays are such: an answer has all digits of them. */
export class PreciseDate extends Date {
  /** From 0 to 999, beside the milliseconds. */
  readonly microseconds: number;

  constructor(milliseconds: number | Date, microseconds = 0) {
    super(milliseconds);
    this.microseconds = microseconds;
  }

  override toISOString(): string {
    const text = super.toISOString();
    return this.microseconds === 0
      ? text
      : `${text.slice(0, -1)}${String(this.microseconds).padStart(3, '0')}Z`;
  }
}

/** A moment beyond those of a `Date`: an invalid one with a text. PostgreSQL has them to the end of the year 294276. */
export class FarDate extends PreciseDate {
  /** As answers have it; undefined for a copy. */
  readonly text: string | undefined;

  constructor(milliseconds: number, text?: string) {
    super(milliseconds);
    this.text = text;
  }

  override toISOString(): string {
    return (Number.isNaN(this.getTime()) ? this.text : undefined) ?? super.toISOString();
  }

  override toJSON(): string {
    return isMoment(this) ? this.toISOString() : super.toJSON();
  }
}

/** The last year of a moment in PostgreSQL. */
export const LAST_YEAR_OF_MOMENTS = 294_276;
/** Years of the calendar come again after 400; as many years before a far moment, there is a `Date`. */
const NEARER = 40_000;

/** The moment of a text with an expanded year and an offset where no `Date` is that far; undefined for any other text. */
export function farDate(text: string): FarDate | undefined {
  const [, year = '', rest = ''] = /^\+(\d{6})(-.*)$/.exec(text) ?? [];
  const [, fraction = ''] = /\.(\d+)/.exec(rest) ?? [];
  const near = new Date(`+${Number(year) - NEARER}${rest}`);
  if (Number.isNaN(near.getTime())) return undefined;
  const last = near.getUTCFullYear() + NEARER;
  const shown = preciseDate(near.getTime(), fraction).toISOString();
  return last > LAST_YEAR_OF_MOMENTS
    ? undefined
    : new FarDate(Number.NaN, shown.replace(/^\+\d+/, `+${last}`));
}

/** True for a moment that PostgreSQL can hold, also one beyond those of a `Date`. */
export function isMoment(value: unknown): value is Date {
  if (!(value instanceof Date)) return false;
  if (!Number.isNaN(value.getTime())) return true;
  return (value instanceof FarDate || value instanceof LocalDate) && value.text !== undefined;
}

/** The text of a moment as answers have it: of a column without a zone, its clock. */
export function wireMoment(value: Date): string {
  return (value instanceof LocalDate ? value.current : undefined) ?? value.toISOString();
}

const padded = (length: number, digits: number, before: string, after: string): readonly string[] =>
  Array.from({ length }, (_, number) => `${before}${String(number).padStart(digits, '0')}${after}`);

/** Parts of `2026-01-31T08:00:00.123Z`. */
const YEARS = padded(10_000, 4, '', '-');
const MONTHS = padded(13, 2, '', '-').slice(1);
const DAYS = padded(32, 2, '', 'T');
const MONTH_DAYS = MONTHS.map((month) => DAYS.map((day) => `${month}${day}`));
const HOURS = padded(24, 2, '', ':');
const MINUTES = HOURS.map((hour) => padded(60, 2, hour, ':'));
const SECONDS = padded(60, 2, '', '.');
const MILLISECONDS = padded(1_000, 3, '', 'Z');

/** The same as `toISOString`, which takes four times as long. */
export function isoText(moment: Date): string {
  const year = YEARS[moment.getUTCFullYear()];
  if (year === undefined || moment.toISOString !== toISOString) return moment.toISOString();
  return (
    year +
    MONTH_DAYS[moment.getUTCMonth()]?.[moment.getUTCDate()] +
    MINUTES[moment.getUTCHours()]?.[moment.getUTCMinutes()] +
    SECONDS[moment.getUTCSeconds()] +
    MILLISECONDS[moment.getUTCMilliseconds()]
  );
}

const { toISOString } = Date.prototype;

/** Characters of `2026-01-31 08:00:00+00`. */
const WHOLE_SECONDS = 22;

/**
 * The moment of a text in UTC with a year of four digits, as PostgreSQL writes it, in milliseconds; undefined for any other text.
 * The regular expressions of the driver take three times as long.
 */
export function momentInUtc(text: string): Date | undefined {
  if (text.length < WHOLE_SECONDS || text[10] !== ' ' || text.startsWith('00') || !text.endsWith('+00'))
    return undefined;
  const number = (at: number): number => (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
  const fraction = text.length > WHOLE_SECONDS ? Number(text.slice(20, -3).padEnd(3, '0').slice(0, 3)) : 0;
  const year = number(0) * 100 + number(2);
  return new Date(Date.UTC(year, number(5) - 1, number(8), number(11), number(14), number(17), fraction));
}

/** The same as PostgreSQL reads it. */
export function momentText(value: Date): string {
  return toDatabaseYear(wireMoment(value));
}

/** A moment with as many digits of its seconds as it has; a plain `Date` where these are milliseconds. */
export function preciseDate(milliseconds: number, fraction: string): Date {
  const microseconds = Number(fraction.padEnd(6, '0').slice(3, 6));
  return microseconds === 0 ? new Date(milliseconds) : new PreciseDate(milliseconds, microseconds);
}

/** PostgreSQL's texts for a day or a moment before or after all others, and the numbers that records hold. */
const INFINITE: ReadonlyMap<unknown, number> = new Map([
  ['infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
]);

/** The number for an infinite day or moment; undefined for any other text. */
export function infiniteOf(text: unknown): number | undefined {
  return INFINITE.get(text);
}

/** The text of an infinite day or moment; undefined for any other value. */
export function infinityText(value: unknown): string | undefined {
  if (value === Number.POSITIVE_INFINITY) return 'infinity';
  return value === Number.NEGATIVE_INFINITY ? '-infinity' : undefined;
}

const EXPANDED = /^([+-]?)(\d{4,})(-.*)$/s;
const YEAR_OF_DATABASE = /^(\d+)(-.*?)( BC)?$/s;

/** A text with a year as ECMAScript writes it -> the text that PostgreSQL reads. */
export function toDatabaseYear(text: string): string {
  // A year of four digits is the same in both.
  if (text[4] === '-' && !text.startsWith('0000')) return text;
  const [, sign, digits = '', rest = ''] = EXPANDED.exec(text) ?? [];
  if (sign === undefined) return text;
  const year = Number(`${sign}${digits}`);
  // The year 0 is 1 BC.
  if (year <= 0) return `${String(1 - year).padStart(4, '0')}${rest} BC`;
  return sign === '' ? text : `${String(year).padStart(4, '0')}${rest}`;
}

/** The text of a day as PostgreSQL writes it -> with a year as ECMAScript writes it. */
export function toExpandedYear(text: string): string {
  const [, digits = '', rest = '', era] = YEAR_OF_DATABASE.exec(text) ?? [];
  if (digits.length <= 4 && era === undefined) return text;
  const year = era === undefined ? Number(digits) : 1 - Number(digits);
  if (year >= 0 && year <= 9999) return `${String(year).padStart(4, '0')}${rest}`;
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}${rest}`;
}

/** The text of a moment as PostgreSQL writes it -> with the year and the offset of ECMAScript. */
export function wireText(text: string): string {
  return toExpandedYear(text)
    .replace(' ', 'T')
    .replace(/[+-]\d\d$/, '$&:00');
}

const OFFSET = /(?:Z|([+-])\d\d:\d\d(?::(\d\d))?)$/;

/** The moment of a text with an offset, of PostgreSQL's or of a body's, with all digits; undefined for any other text. */
function exactMoment(text: string): Date | undefined {
  const wire = wireText(text);
  const [offset, sign = '', seconds] = OFFSET.exec(wire) ?? [];
  if (offset === undefined) return undefined;
  // Offsets before the time of zones have seconds, which JavaScript cannot read.
  const near = Date.parse(seconds === undefined ? wire : wire.slice(0, -':00'.length));
  if (Number.isNaN(near)) return farDate(wire);
  return preciseDate(near - Number(`${sign}${seconds ?? 0}`) * 1_000, /\.(\d+)/.exec(wire)?.[1] ?? '');
}

/** The moment of a text: of a column without a zone, that of its clock in the zone. Undefined for an infinite one, and for any other text. */
export function momentOf(text: string, zone: string | undefined): Date | undefined {
  return zone === undefined ? exactMoment(text) : localDate(text, zone);
}

/**
 * Value of a column without a zone: the text of a clock, with all digits. As a `Date` it is the moment at which that
 * clock shows it in the zone of Sequelize's option `timezone`, in which Sequelize writes.
 */
export class LocalDate extends Date {
  /** As answers have it; undefined for a copy. */
  readonly text: string | undefined;
  readonly #time: number;

  constructor(milliseconds: number, text?: string) {
    super(milliseconds);
    this.#time = this.getTime();
    this.text = text;
  }

  /** The text, unless the moment was changed since. */
  get current(): string | undefined {
    return Object.is(this.getTime(), this.#time) ? this.text : undefined;
  }
}

const LOCAL = /^([+-]?\d{4,})-(\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?( BC)?$/;

/** The clock of a text that a body or PostgreSQL has; undefined for any other text. */
export function localDate(text: string, zone: string): LocalDate | undefined {
  const [, year, day, time, fraction = '', era = ''] = LOCAL.exec(text) ?? [];
  if (year === undefined) return undefined;
  const digits = fraction
    .slice(0, 6)
    .padEnd(3, '0')
    .replace(/^(\d{3}\d*?)0+$/, '$1');
  const wire = `${toExpandedYear(`${year}-${day}${era}`)}T${time}.${digits}`;
  const clock = Date.parse(`${wire}Z`);
  return new LocalDate(clock - offsetOf(zone, clock - offsetOf(zone, clock)), wire);
}

/** Text of the clock of a zone at a moment, in the form of answers. */
export function localText(moment: Date, zone: string): string {
  const own = moment instanceof LocalDate ? moment.current : undefined;
  if (own !== undefined) return own;
  const time = moment.getTime();
  return new Date(time + offsetOf(zone, time)).toISOString().slice(0, -1);
}

const FIXED = /^([+-])(\d\d):?(\d\d)$/;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds that the clocks of a zone are ahead of UTC. */
function offsetOf(zone: string, time: number): number {
  if (Number.isNaN(time) || zone === '+00:00') return 0;
  const [, sign, hours, minutes] = FIXED.exec(zone) ?? [];
  if (sign !== undefined) return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, format);
  const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  // `GMT` alone is UTC. Old offsets have seconds.
  const [, before, hour = 0, minute = 0, second = 0] = /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(name) ?? [];
  return (before === '-' ? -1 : 1) * ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
}
