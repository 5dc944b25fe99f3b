import { expect } from 'chai';
import { Answers } from '../../../../src/express/routes/answers.js';
import { ConfigError } from '../../../../src/util/config-error.js';

describe('@Answers', () => {
  class City {}

  for (const [type, found] of [
    [undefined, 'undefined, which a class is as long as a circular import loads it'],
    ['City', 'City'],
    [[], 'an array of 0'],
    [[City, City], 'an array of 2'],
  ] as const) {
    it(`refuses ${found}`, () =>
      expect(() => Answers(type as never)).to.throw(
        ConfigError,
        `@Answers expects a class, or an array of one class; got ${found}.`,
      ));
  }

  for (const [declared, details, problems] of [
    [
      { 20: City, 201: '', 409: [] },
      {},
      [
        "@Answers has the status '20'; use a number from 200 to 599.",
        '@Answers of 201 expects a text, a class, or an array of one class; got .',
        '@Answers of 409 expects a text, a class, or an array of one class; got an array of 0.',
      ],
    ],
    [
      { sumary: 'x', summary: 1 },
      {},
      [
        "@Answers of a route has no option 'sumary'. Did you mean 'summary'? The options are summary, description, tags, public.",
        '@Answers has the summary 1; use a text.',
      ],
    ],
    [
      City,
      { tags: [], public: 'no', description: '' },
      [
        '@Answers has the description ""; use a text.',
        "@Answers has the tags []; use a list such as ['Editing'].",
        '@Answers has the public "no"; use true or false.',
      ],
    ],
  ] as const) {
    it(`refuses ${problems[0]}`, () => {
      let thrown: unknown;
      try {
        Answers(declared as never, details as never);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).to.be.instanceOf(ConfigError).and.deep.include({ problems });
    });
  }
});
