import { expect } from 'chai';
import { Answers } from '../../../../src/express/routes/describe-action.js';
import { ConfigError } from '../../../../src/util/config-error.js';

describe('@Answers', () => {
  class City {}

  for (const [type, found] of [
    [undefined, 'undefined, which a class is as long as a circular import loads it'],
    ['City', 'City'],
    [[], 'an array of 0'],
    [[City, City], 'an array of 2'],
  ] as const) {
    it(`refuses ${found}`, () => {
      expect(() => Answers(type as never)).to.throw(
        ConfigError,
        `@Answers expects a class, or an array of one class; got ${found}.`,
      );
    });
  }
});
