import { expect } from 'chai';
import { bodyPointer, InvalidBodyError } from '../../../src/schema/request-issue.js';

describe('bodyPointer', () => {
  for (const [segments, expected] of [
    [[], ''],
    [['title'], '/title'],
    [['tags', 0, 'name'], '/tags/0/name'],
    [['a/b', 'c~d', '~1'], '/a~1b/c~0d/~01'],
    [[''], '/'],
  ] as const) {
    it(`writes ${JSON.stringify(segments)} as RFC 6901 says`, () => {
      expect(bodyPointer(...segments)).to.equal(expected);
    });
  }
});

describe('InvalidBodyError', () => {
  const title = { pointer: '/title', code: 'isDefined', detail: 'title is required.' };
  const views = { pointer: '/views', code: 'isInt', detail: 'views must be an integer.' };

  it('says its only problem', () => {
    expect(String(new InvalidBodyError([title]))).to.equal('InvalidBodyError: title is required.');
  });

  it('counts several problems and keeps them all', () => {
    const error = new InvalidBodyError([title, views]);
    expect([error.message, error.errors]).to.deep.equal(['The body has 2 problems.', [title, views]]);
  });
});
