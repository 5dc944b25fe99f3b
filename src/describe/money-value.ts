/** Amounts of money: PostgreSQL writes and reads them in the format of a locale, and answers and bodies have decimals. */

/** An amount whose text shows the format: the sign before the decimals, and the number of them. */
export const MONEY_SAMPLE = '1234567.89';

/** The digits of the sample. Without decimals it is rounded up. */
const SAMPLE = /^\D*1\D*2\D*3\D*4\D*5\D*6\D*[78](?:(\D+)(\d+))?\D*$/;

/** @param sample the text of `MONEY_SAMPLE` in the database; undefined as long as it was not read */
function formatOf(sample = MONEY_SAMPLE): { readonly point: string; readonly decimals: number } {
  const [, point = '.', fraction = ''] = SAMPLE.exec(sample) ?? [];
  return { point, decimals: fraction.length };
}

/** A decimal number -> the text that PostgreSQL reads as the same amount; undefined where no amount is exactly that. */
export function moneyText(decimal: string, sample: string | undefined): string | undefined {
  const { point, decimals } = formatOf(sample);
  const [, whole, fraction = ''] = /^(-?(?:0|[1-9]\d{0,18}))(?:\.(\d{1,20}))?$/.exec(decimal) ?? [];
  const digits = fraction.replace(/0+$/, '').padEnd(decimals, '0');
  if (whole === undefined || digits.length > decimals) return undefined;
  const units = BigInt(`${whole}${digits}`);
  if (BigInt.asIntN(64, units) !== units) return undefined;
  // Whole amounts are written alike in all formats. A role that may not read the catalogue has no other ones.
  if (sample === undefined) return /^0*$/.test(digits) ? whole : undefined;
  return decimals === 0 ? whole : `${whole}${point}${digits}`;
}

/** The text of an amount, which has all decimals of the format -> a decimal number. A text stays where it has no digits, and where the format is unknown. */
export function decimalOfMoney(text: string, sample: string | undefined): string {
  const { decimals } = formatOf(sample);
  const digits = text.replaceAll(/\D/g, '').padStart(decimals + 1, '0');
  if (sample === undefined || !/\d/.test(text)) return text;
  const whole = digits.slice(0, digits.length - decimals).replace(/^0+(?=\d)/, '');
  const sign = /[-(\u2212]/.test(text) && /[1-9]/.test(digits) ? '-' : '';
  return `${sign}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ''}`;
}

/** The number of decimals that an amount has. */
export function moneyDecimals(sample: string | undefined): number {
  return formatOf(sample).decimals;
}
