import { expect } from 'chai';
import { defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const Article = defineModel('Article');

describe('the option prefix', () => {
  for (const [model, expected] of [
    ['City', '/cities'],
    ['BlogPost', '/blog-posts'],
    ['Person', '/people'],
    ['Sheep', '/sheep'],
    ['user_profile', '/user-profiles'],
    ['User Profile', '/user-profiles'],
    ['HTTPRequest', '/http-requests'],
    ['OAuth2Token', '/o-auth2-tokens'],
  ] as const) {
    it(`is ${expected} by default for ${model}`, () =>
      expect(planOf(defineModel(model)).prefix).to.equal(expected));
  }

  for (const [given, expected] of [
    ['/articles', '/articles'],
    ['/articles/', '/articles'],
    ['/v1/Articles_2.0~a', '/v1/Articles_2.0~a'],
    ['/', ''],
    ['', ''],
  ] as const) {
    it(`makes '${expected}' of '${given}'`, () =>
      expect(planOf(Article, { prefix: given }).prefix).to.equal(expected));
  }

  const NOT_PLAIN = 'articles // /a//b /:id /a?b /a#b /a* /a%20b /café /a(b) https://example.com/a'.split(
    ' ',
  );
  for (const prefix of [...NOT_PLAIN, '/a b', '/a\n']) {
    it(`refuses ${JSON.stringify(prefix)}`, () =>
      expect(problemsOf(Article, { prefix })).to.deep.equal([
        `Article: prefix ${JSON.stringify(prefix)} is not a plain path; ` +
          "use '/segments' of letters, digits, '-', '.', '_' and '~'.",
      ]));
  }

  it('refuses what is no text', () =>
    expect(problemsOf(Article, { prefix: 5n })).to.deep.equal([
      "Article: prefix 5n is not a plain path; use '/segments' of letters, digits, '-', '.', '_' and '~'.",
    ]));

  it('refuses the default too, where the name of the model does not make a plain path', () =>
    expect(problemsOf(defineModel('Café'))).to.deep.equal([
      'Café: prefix "/cafés" is not a plain path; ' +
        "use '/segments' of letters, digits, '-', '.', '_' and '~'.",
    ]));
});
