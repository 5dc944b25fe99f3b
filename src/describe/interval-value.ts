/** Intervals: ISO 8601 durations in answers, bodies and filters, and the texts and objects that PostgreSQL and its driver have. */
import { infiniteOf } from './exact-time.js';

/** An interval as PostgreSQL stores it: three numbers that are no multiples of one another. */
interface Parts {
  readonly months: bigint;
  readonly days: bigint;
  readonly microseconds: bigint;
}

const ISO =
  /^P(?!$)(?:(-?\d{1,9})Y)?(?:(-?\d{1,10})M)?(?:(-?\d{1,9})W)?(?:(-?\d{1,10})D)?(?:T(?!$)(?:(-?\d{1,10})H)?(?:(-?\d{1,12})M)?(?:(-?)(\d{1,13})(?:\.(\d{1,6}))?S)?)?$/;
/** An interval as PostgreSQL writes it with `IntervalStyle` postgres. */
const POSTGRES =
  /^(?:([+-]?\d+) years? ?)?(?:([+-]?\d+) mons? ?)?()(?:([+-]?\d+) days? ?)?(?:([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?$/;

/** The form of a duration as a pattern of JSON Schema. */
export const DURATION =
  '^(?:P(?=[-0-9]|T[-0-9])(?:-?[0-9]+Y)?(?:-?[0-9]+M)?(?:-?[0-9]+W)?(?:-?[0-9]+D)?(?:T(?:-?[0-9]+H)?(?:-?[0-9]+M)?(?:-?[0-9]+(?:\\.[0-9]{1,6})?S)?)?|-?infinity)$';

function fits(value: bigint, bits: 32 | 64): boolean {
  return BigInt.asIntN(bits, value) === value;
}

/** @param whole years, months, weeks, days, hours and minutes */
function partsFrom(whole: readonly bigint[], microseconds: bigint): Parts {
  const [years = 0n, months = 0n, weeks = 0n, days = 0n, hours = 0n, minutes = 0n] = whole;
  return {
    months: years * 12n + months,
    days: weeks * 7n + days,
    microseconds: (hours * 3600n + minutes * 60n) * 1_000_000n + microseconds,
  };
}

function microsecondsOf(seconds: string, fraction = ''): bigint {
  return BigInt(`${seconds}${fraction.padEnd(6, '0')}`);
}

function isoParts(text: string): Parts | undefined {
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [sign = '', seconds = '0', fraction] = match.slice(7);
  const whole = match.slice(1, 7).map((each) => BigInt(each ?? 0));
  const parts = partsFrom(whole, microsecondsOf(`${sign}${seconds}`, fraction));
  return fits(parts.months, 32) && fits(parts.days, 32) && fits(parts.microseconds, 64) ? parts : undefined;
}

function postgresParts(text: string): Parts | undefined {
  const match = text === '' ? null : POSTGRES.exec(text);
  if (!match) return undefined;
  const [sign = '', hours = '0', minutes = '0', seconds = '0', fraction] = match.slice(5);
  const date = match.slice(1, 5).map((each) => BigInt(each || 0));
  const clock = [hours, minutes].map((each) => BigInt(`${sign}${each}`));
  return partsFrom([...date, ...clock], microsecondsOf(`${sign}${seconds}`, fraction));
}

/** Interval as the driver parses it, without the parts that are zero. */
type DriverInterval = Partial<Record<(typeof WHOLE)[number] | 'seconds' | 'milliseconds', number>> & {
  toPostgres(): string;
};

const WHOLE = ['years', 'months', 'weeks', 'days', 'hours', 'minutes'] as const;

function isDriverInterval(value: unknown): value is DriverInterval {
  return typeof (value as Partial<DriverInterval> | null | undefined)?.toPostgres === 'function';
}

function driverParts(interval: DriverInterval): Parts {
  const whole = WHOLE.map((unit) => BigInt(Math.trunc(interval[unit] ?? 0)));
  // Fewer than sixty seconds, so that no digit of the sum is lost.
  const seconds = Math.round((interval.seconds ?? 0) * 1_000_000 + (interval.milliseconds ?? 0) * 1_000);
  return partsFrom(whole, BigInt(seconds));
}

function partsOf(value: unknown): Parts | undefined {
  if (typeof value === 'string') return isoParts(value) ?? postgresParts(value);
  return isDriverInterval(value) ? driverParts(value) : undefined;
}

/** True for an ISO 8601 duration that PostgreSQL holds exactly, and for an infinite one. Each part may be negative. */
export function isDuration(text: string): boolean {
  return isoParts(text) !== undefined || infiniteOf(text) !== undefined;
}

/** An interval as a duration, such as `P1Y2DT3.5S`, with the same parts; undefined for other values. */
export function durationOf(value: unknown): string | undefined {
  const parts = partsOf(value);
  if (parts === undefined) return undefined;
  const { months, days, microseconds } = parts;
  const minutes = microseconds / 60_000_000n;
  const date = part(months / 12n, 'Y') + part(months % 12n, 'M') + part(days, 'D');
  const time = part(minutes / 60n, 'H') + part(minutes % 60n, 'M') + secondsText(microseconds % 60_000_000n);
  return date === '' && time === '' ? 'PT0S' : `P${date}${time && `T${time}`}`;
}

function part(value: bigint, unit: string): string {
  return value === 0n ? '' : `${value}${unit}`;
}

function secondsText(microseconds: bigint): string {
  if (microseconds === 0n) return '';
  const digits = String(microseconds < 0n ? -microseconds : microseconds).padStart(7, '0');
  const fraction = digits.slice(-6).replace(/0+$/, '');
  return `${microseconds < 0n ? '-' : ''}${digits.slice(0, -6)}${fraction && `.${fraction}`}S`;
}
