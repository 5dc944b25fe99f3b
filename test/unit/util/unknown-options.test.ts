import { expect } from 'chai';
import { unknownOptions } from '../../../src/util/option-problems.js';

describe('unknownOptions', () => {
  const names = ['port', 'host'];

  it('says nothing about options that there are', () => {
    expect(unknownOptions('serve', { host: undefined, port: 1 }, names)).to.deep.equal([]);
  });

  it('names each other one, the nearest there is, and all there are', () => {
    expect(unknownOptions('serve', { prot: 1, toString: 1 }, names)).to.deep.equal([
      "serve has no option 'prot'. Did you mean 'port'? The options are port, host.",
      "serve has no option 'toString'. The options are port, host.",
    ]);
  });
});
