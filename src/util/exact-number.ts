/** Numbers as texts hold them: compared and divided without rounding. */

/** A number of any size: `units` divided by ten to the power of `scale`. */
interface ExactNumber {
  readonly units: bigint;
  readonly scale: number;
}

const FORM = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** An exponent beyond it is no column's, and costs as many digits. */
const MOST_DIGITS = 2_000;

/** Parses a decimal number; undefined for any other text. A number of JavaScript's is the decimal that it is shown as. */
export function exactNumber(value: string | number | bigint): ExactNumber | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = FORM.exec(String(value)) ?? [];
  if (whole === '' || Math.abs(Number(exponent)) > MOST_DIGITS) return undefined;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(`${whole}${fraction}`) * 10n ** BigInt(Math.max(0, -scale));
  return { units: sign === '-' ? -digits : digits, scale: Math.max(0, scale) };
}

function aligned(first: ExactNumber, second: ExactNumber): readonly [bigint, bigint] {
  const scale = Math.max(first.scale, second.scale);
  const units = (each: ExactNumber): bigint => each.units * 10n ** BigInt(scale - each.scale);
  return [units(first), units(second)];
}

/** Less than zero, zero, or greater than zero, as the first is less than the second, or equal, or greater. */
export function compareExact(first: ExactNumber, second: ExactNumber): number {
  const [left, right] = aligned(first, second);
  return left < right ? -1 : Number(left > right);
}

/** True where the first number is a multiple of the second. */
export function isMultiple(first: ExactNumber, second: ExactNumber): boolean {
  const [left, right] = aligned(first, second);
  return right !== 0n && left % right === 0n;
}

/** Number of digits behind the point, without zeros at the end. */
export function fractionDigits({ units, scale }: ExactNumber): number {
  let digits = scale;
  for (let rest = units; digits > 0 && rest % 10n === 0n; rest /= 10n) digits -= 1;
  return digits;
}
