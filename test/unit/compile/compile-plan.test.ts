import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { ConfigError } from '../../../src/util/config-error.js';
import { caughtError } from '../../support/caught-error.js';
import { decoratorReader, defineModel } from '../../support/offline-models.js';

const Article = defineModel('Article', { title: DataTypes.STRING });
const Comment = defineModel('Comment');
const Tag = defineModel('Tag');

type Declarations = readonly (readonly [ModelClass, object?])[];

function compile(...declarations: Declarations) {
  return compilePlan(
    declarations.map(([model, options = {}]) => ({ model, options: options as CrudOptions })),
    decoratorReader,
  );
}

async function problemsOf(...declarations: Declarations): Promise<readonly string[]> {
  const error = await caughtError(() => compile(...declarations));
  expect(error).to.be.instanceOf(ConfigError);
  return (error as ConfigError).problems;
}

describe('compilePlan', () => {
  it('throws the problems of all resources at once, in their order', async () => {
    const problems = await problemsOf(
      [Article, { prefix: 'x', sortAllow: ['titel'] }],
      [Comment],
      [Tag, { pagination: 'none' }],
    );
    expect(problems).to.deep.equal([
      "Article: prefix \"x\" is not a plain path; use '/segments' of letters, digits, '-', '.', '_' and '~'.",
      "Article: sortAllow names 'titel', which is not an attribute. Did you mean 'title'? " +
        'The attributes are id, title.',
      "Tag: pagination is \"none\"; use 'offset' or 'cursor'.",
    ]);
  });

  it('refuses two models on one path, which Express compares without regard to case', async () => {
    expect(
      await problemsOf([Article], [Comment, { prefix: '/Articles/' }], [Tag, { prefix: '/ARTICLES' }]),
    ).to.deep.equal([
      "Comment and Article are both on '/Articles'; give one of them another prefix.",
      "Tag and Article are both on '/ARTICLES'; give one of them another prefix.",
    ]);
  });

  it('refuses one model on the same path twice', async () => {
    expect(await problemsOf([Article], [Article])).to.deep.equal([
      "Article and Article are both on '/articles'; give one of them another prefix.",
    ]);
  });

  it('allows one model on two paths, and a path inside another', () => {
    const prefixes = compile([Article], [Article, { prefix: '/posts' }], [Tag, { prefix: '/articles/tags' }]);
    expect(prefixes.map(({ prefix }) => prefix)).to.deep.equal(['/articles', '/posts', '/articles/tags']);
  });
});
