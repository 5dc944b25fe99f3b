import { inspect } from 'node:util';
import { expect } from 'chai';
import { ConfigError, throwProblems } from '../../../src/util/config-error.js';
import { caughtError } from '../../support/caught-error.js';

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

describe('throwProblems', () => {
  it('throws a frozen copy of all problems', async () => {
    const problems = ['Article: wrong.', 'Tag: wrong too.'];
    const error = await caughtError(() => throwProblems(problems));
    problems.push('later');
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as ConfigError).problems).to.deep.equal(['Article: wrong.', 'Tag: wrong too.']);
    expect((error as ConfigError).problems).to.satisfy(Object.isFrozen);
  });
});
