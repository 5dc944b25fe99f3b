import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { bodySchema } from '../../../src/schema/body-schema.js';
import { defineModel, planOf } from '../../support/offline-models.js';
import { bodyIssues, parseBodyText, parseCreate, UNSAFE_KEY } from '../../support/parse-bodies.js';

const Article = defineModel(
  'Article',
  {
    title: { type: DataTypes.STRING(20), allowNull: false },
    views: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
    price: DataTypes.DECIMAL(5, 2),
    publishedAt: DataTypes.DATE,
    tags: DataTypes.ARRAY(DataTypes.STRING(5)),
    details: DataTypes.JSONB,
  },
  { timestamps: true, version: true },
);
const create = bodySchema(planOf(Article), 'create');

describe('parseBody', () => {
  it('says so where a body has no properties at all', async () => {
    const Counter = defineModel('Counter');
    expect(await parseCreate(Counter, {})).to.deep.equal({});
    expect(await bodyIssues(parseCreate(Counter, { x: 1 }))).to.deep.equal([
      { pointer: '/x', code: 'unknownProperty', detail: 'There is no such property. The body has none.' },
    ]);
  });

  it('of keys that would change a prototype, inside values does not call such a value missing as well', async () => {
    const issues = await bodyIssues(parseBodyText(create, '{"title":{"constructor":1},"views":"x"}'));
    expect(issues).to.deep.equal([
      { pointer: '/title', code: 'isStorableJson', detail: `title ${UNSAFE_KEY}` },
      { pointer: '/views', code: 'isInt', detail: 'views must be an integer.' },
    ]);
  });
});
