/** The JSON that the fastest contenders put together. */
import { expect } from 'chai';
import fc from 'fast-check';
import { quote } from '../../bench/contenders/support/quote.js';

describe('texts of the hand-written contenders', () => {
  it('are those of JSON.stringify', () => {
    // Halves of surrogate pairs are left out: PostgreSQL has no such texts.
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => quote(text) === JSON.stringify(text)));
    for (const text of ['', '"', '\\', '\n', '\u0000', '\u001f', ' ', '\u007f', '\u2028', 'é😀']) {
      expect(quote(text)).to.equal(JSON.stringify(text));
    }
  });

  it('are null where there is none', () => {
    expect(quote(null)).to.equal('null');
  });
});
