/**
 * Days and moments that JavaScript and PostgreSQL write in different ways: ECMAScript has expanded years (`-000043`, `+012026`),
 * where PostgreSQL has `0044 … BC` and `12026`; and a `Date` has milliseconds, where PostgreSQL has microseconds.
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

/** A moment with as many digits of its seconds as it has; a plain `Date` where these are milliseconds. */
export function preciseDate(milliseconds: number, fraction: string): Date {
  const microseconds = Number(fraction.padEnd(6, '0').slice(3, 6));
  return microseconds === 0 ? new Date(milliseconds) : new PreciseDate(milliseconds, microseconds);
}

/** What PostgreSQL calls a day or a moment before or after all others, and what Sequelize has records hold for it. */
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
