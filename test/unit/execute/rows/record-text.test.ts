import { expect } from 'chai';
import fc from 'fast-check';
import { parseRecord } from '../../../../src/execute/rows/record-text.js';

/** As `record_out` of PostgreSQL writes it. */
function writeRecord(values: readonly (string | null)[]): string {
  const written = values.map((value) => {
    if (value === null) return '';
    return value === '' || /["\\(),\s]/.test(value) ? `"${value.replace(/["\\]/g, '$&$&')}"` : value;
  });
  return `(${written.join()})`;
}

describe('the text of a row', () => {
  it('has its values, NULL and empty texts apart', () => {
    expect(parseRecord('(1,,"","a ""b"" \\\\",t)')).to.deep.equal(['1', null, '', 'a "b" \\', 't']);
    expect(parseRecord('()')).to.deep.equal([null]);
    expect(parseRecord('(,)')).to.deep.equal([null, null]);
  });

  it('gives back whatever PostgreSQL has written', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[",\\()\s a]*$/));
    const values = fc.array(fc.option(text), { minLength: 1 });
    fc.assert(
      fc.property(values, (row) => {
        expect(parseRecord(writeRecord(row))).to.deep.equal(row);
      }),
    );
  });

  it('is of no other form', () => {
    for (const text of ['(a', '("a)', '(a"b)', '("a"b)', '(a\\)'])
      expect(() => parseRecord(text), text).to.throw('a form that PostgreSQL does not write');
  });
});
