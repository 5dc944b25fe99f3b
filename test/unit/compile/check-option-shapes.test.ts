import { expect } from 'chai';
import { defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const Article = defineModel('Article');

describe('the shape of an option', () => {
  for (const [options, problem] of [
    [{ tags: 'Blog' }, 'tags is "Blog"; use a list of names.'],
    [{ tags: 5 }, 'tags is 5; use a list of names.'],
    [{ endpoints: 'list' }, 'endpoints is "list"; use a list of operations.'],
    [{ endpoints: { list: true } }, 'endpoints is { list: true }; use a list of operations.'],
    [
      { readOnly: 'title' },
      'readOnly is "title"; use true, or a list of attributes that only the table fills.',
    ],
    [{ pageSize: 50 }, 'pageSize is 50; use an object such as { default: 20, max: 100 }.'],
    [
      { filterAllow: 'title' },
      `filterAllow is "title"; use a list of attributes, an object of attributes and operators, or '*'.`,
    ],
    [
      { filterAllow: true },
      "filterAllow is true; use a list of attributes, an object of attributes and operators, or '*'.",
    ],
    [
      { sortAllow: 'title' },
      `sortAllow is "title"; use a list of attributes, an object of attributes and their orders, or '*'.`,
    ],
    [
      { dependencies: function guard() {} },
      'dependencies is [Function: guard]; use a list of Express handlers and middleware classes.',
    ],
  ] as const) {
    it(`is told, not thrown: ${problem}`, () =>
      expect(problemsOf(Article, options)).to.deep.equal([`Article: ${problem}`]));
  }

  it('is right for lists, sets and objects', () => {
    const options = { tags: [], endpoints: new Set(['list']), pageSize: {}, filterAllow: {}, sortAllow: [] };
    expect(planOf(Article, options)).to.deep.include({
      tags: [],
      endpoints: new Set(['list']),
      pageSize: { default: 20, max: 100 },
      filters: new Map(),
      sortable: [],
    });
  });
});
