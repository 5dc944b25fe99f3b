import { inspect } from 'node:util';
import { expect } from 'chai';
import { ConfigError } from '../../../src/util/config-error.js';

describe('ConfigError', () => {
  it('is printed once, with the lines of the code that called what threw it', () => {
    const printed = inspect(new ConfigError(['Article: wrong.', 'Tag: wrong too.']));
    expect(printed.split('\n').slice(0, 3)).to.deep.equal([
      'ConfigError: 2 problems:',
      '  - Article: wrong.',
      '  - Tag: wrong too.',
    ]);
    expect(printed.split('Tag').length).to.equal(2);
    expect(printed).to.include(__filename).and.not.include('node_modules');
  });
});
