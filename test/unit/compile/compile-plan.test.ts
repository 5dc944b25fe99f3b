import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { compilePlan } from '../../../src/compile/compile-plan.js';
import type { CrudOptions, ModelClass } from '../../../src/declare/crud-options.js';
import { decoratorReader, defineModel, problemsOfAll } from '../../support/offline-models.js';

const Article = defineModel('Article', { title: DataTypes.STRING });
const Comment = defineModel('Comment');
const Tag = defineModel('Tag');

type Declarations = readonly (readonly [ModelClass, object?])[];

const declared = (...declarations: Declarations) =>
  declarations.map(([model, options = {}]) => ({ model, options: options as CrudOptions }));
const problemsOf = (...declarations: Declarations) => problemsOfAll(declared(...declarations));

describe('compilePlan', () => {
  it('refuses two models on one path, which Express compares without regard to case', () =>
    expect(
      problemsOf([Article], [Comment, { prefix: '/Articles/' }], [Tag, { prefix: '/ARTICLES' }]),
    ).to.deep.equal([
      "Comment and Article are both on '/Articles'; give one of them another prefix.",
      "Tag and Article are both on '/ARTICLES'; give one of them another prefix.",
    ]));

  it('allows one model on two paths, and a path inside another', () => {
    const prefixes = compilePlan(
      declared([Article], [Article, { prefix: '/posts' }], [Tag, { prefix: '/articles/tags' }]),
      decoratorReader,
    );
    expect(prefixes.map(({ prefix }) => prefix)).to.deep.equal(['/articles', '/posts', '/articles/tags']);
  });
});
