import { expect } from 'chai';
import { Expose, Transform } from 'class-transformer';
import { IsString, ValidateNested } from 'class-validator';
import { DataTypes } from 'sequelize';
import { defineModel } from '../../support/offline-models.js';
import { bodyIssues, parseCreate } from '../../support/parse-bodies.js';

const Article = defineModel('Article', {
  title: { type: DataTypes.STRING(20), allowNull: false },
  views: DataTypes.INTEGER,
  price: DataTypes.DECIMAL(5, 2),
  publishedAt: DataTypes.DATE,
  tags: DataTypes.ARRAY(DataTypes.STRING(5)),
  details: DataTypes.JSONB,
});

describe('parseBody', () => {
  describe('with a class of the user', () => {
    it('takes one that has @Expose() only, and checks nothing', async () => {
      class Anything {
        @Expose() title?: unknown;
        @Expose() details?: unknown;
      }
      const body = { title: 5, details: { a: 1 } };
      expect(await parseCreate(Article, body, { createSchema: Anything })).to.deep.equal(body);
      expect(await bodyIssues(parseCreate(Article, { views: 5 }, { createSchema: Anything }))).to.deep.equal([
        { pointer: '/views', code: 'readOnly', detail: 'views cannot be set.' },
      ]);
    });

    it('points to the property of a nested value without rules', async () => {
      class Loose {
        // The result of the user's transformation is not known at the start.
        @Transform(({ value }) => value) @ValidateNested() details = {};
      }
      expect(
        await bodyIssues(parseCreate(Article, { details: { a: 1 } }, { createSchema: Loose })),
      ).to.deep.equal([
        {
          pointer: '/details',
          code: 'unknownValue',
          detail: 'an unknown value was passed to the validate function.',
        },
      ]);
    });

    it('leaves out what it does not declare, also from its own defaults', async () => {
      class Draft {
        @IsString() title = '';
        internal = 'kept to itself';
      }
      expect(await parseCreate(Article, { title: 'a' }, { createSchema: Draft })).to.deep.equal({
        title: 'a',
      });
    });
  });
});
