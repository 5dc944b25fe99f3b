import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'postgres-array';
import { arrayLiteral } from '../../../../src/execute/sql/encode-parameter.js';

describe('arrayLiteral', () => {
  it('can be read back, whatever is in it', () => {
    const values = fc.array(fc.option(fc.string({ unit: 'binary' })));
    fc.assert(
      fc.property(values, (members) => {
        expect(parse(arrayLiteral(members))).to.deep.equal(members);
      }),
    );
  });
});
