import { expect } from 'chai';
import { cutName } from '../../../src/describe/describe-model.js';
import { objectName } from '../../../src/errors/refused-attributes.js';

describe('a name of PostgreSQL', () => {
  it('has 63 bytes at most, and whole characters', () => {
    expect(cutName('a'.repeat(63))).to.equal('a'.repeat(63));
    expect(cutName('a'.repeat(64))).to.equal('a'.repeat(63));
    expect(cutName('é'.repeat(32))).to.equal('é'.repeat(31));
    expect(cutName(`${'a'.repeat(60)}😀`)).to.equal('a'.repeat(60));
    expect(cutName('')).to.equal('');
  });

  it('is made of a table and columns, of which the longer one is cut first', () => {
    expect(objectName('t', 'c', 'key')).to.equal('t_c_key');
    expect(objectName('t', null, 'pkey')).to.equal('t_pkey');
    expect(objectName('t'.repeat(70), 'c', 'key')).to.equal(`${'t'.repeat(57)}_c_key`);
    expect(objectName('t'.repeat(70), 'c'.repeat(70), 'key')).to.equal(
      `${'t'.repeat(29)}_${'c'.repeat(29)}_key`,
    );
    expect(objectName('t'.repeat(70), null, 'pkey')).to.equal(`${'t'.repeat(58)}_pkey`);
  });
});
