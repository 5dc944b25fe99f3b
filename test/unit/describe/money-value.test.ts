import { expect } from 'chai';
import { decimalOfMoney, moneyText } from '../../../src/describe/money-value.js';

/** The sample as PostgreSQL writes it in a locale, then decimals with the text that is shown and the one that is written. */
const LOCALES: Readonly<
  Record<string, readonly [sample: string, ...(readonly [decimal: string, shown: string, written: string])[]]>
> = {
  C: ['$1,234,567.89', ['-0.05', '-$0.05', '-0.05'], ['1234567.00', '$1,234,567.00', '1234567.00']],
  de_DE: ['1.234.567,89 €', ['-1234.50', '-1.234,50 €', '-1234,50'], ['0.50', '0,50 €', '0,50']],
  de_CH: ['CHF 1’234’567.89', ['1234.50', 'CHF 1’234.50', '1234.50']],
  en_IN: ['₹ 12,34,567.89', ['1234567.00', '₹ 12,34,567.00', '1234567.00']],
  ja_JP: ['￥1,234,568', ['-1235', '-￥1,235', '-1235'], ['0', '￥0', '0']],
  ar_KW: ['KWD 1,234,567.890', ['1.235', 'KWD 1.235', '1.235'], ['1235.000', 'KWD 1,235.000', '1235.000']],
  'with parentheses': ['$1,234,567.89', ['-12.50', '($12.50)', '-12.50']],
};

describe('an amount of money', () => {
  for (const [locale, [sample, ...cases]] of Object.entries(LOCALES)) {
    it(`is a decimal in both directions: ${locale}`, () => {
      for (const [decimal, shown, written] of cases) {
        expect(decimalOfMoney(shown, sample)).to.equal(decimal);
        expect(moneyText(decimal, sample)).to.equal(written);
        // A hook may have the number of a parsed body.
        expect(decimalOfMoney(written, sample)).to.equal(decimal);
      }
    });
  }

  it('is none with more decimals than the currency has', () => {
    expect(moneyText('1.5', '￥1,234,568')).to.equal(undefined);
    expect(moneyText('1.2345', 'KWD 1,234,567.890')).to.equal(undefined);
    expect(moneyText('1.23000', '1.234.567,89 €')).to.equal('1,23');
    expect(moneyText('9223372036854775808', '￥1,234,568')).to.equal(undefined);
    expect(moneyText('-9223372036854775808', '￥1,234,568')).to.equal('-9223372036854775808');
  });

  it('is read and written in no format that is not known', () => {
    expect(decimalOfMoney('￥1,235', undefined)).to.equal('￥1,235');
    expect(['1.5', '-12.00', '12'].map((each) => moneyText(each, undefined))).to.deep.equal([
      undefined,
      '-12',
      '12',
    ]);
  });
});
