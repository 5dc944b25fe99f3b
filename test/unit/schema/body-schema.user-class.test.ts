import { expect } from 'chai';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import { DataTypes } from 'sequelize';
import { defineModel } from '../../support/offline-models.js';
import { bodyIssues, parseCreate, UNSAFE_KEY } from '../../support/parse-bodies.js';

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
    class Item {
      @IsString() name = '';
      @Min(1) amount = 1;
    }
    class Order {
      @IsString() title = '';
      @IsOptional() @IsInt() views?: number;
      @ValidateNested({ each: true }) @Type(() => Item) details: Item[] = [];
      @Expose() price?: string;
      @Exclude() @IsString() tags = 'none';
    }
    const options = { createSchema: Order, updateSchema: Order };

    it('lets its @IsOptional allow null', async () => {
      expect(await parseCreate(Article, { title: 'a', views: null }, options)).to.deep.equal({
        title: 'a',
        views: null,
        details: [],
      });
    });

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
        // What code of the user's makes of a value is not known at the start.
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

    it('refuses keys that would change a prototype in it too', async () => {
      const parsing = parseCreate(
        Article,
        JSON.parse('{"title":"a","details":[{"constructor":"x"}]}'),
        options,
      );
      expect(await bodyIssues(parsing)).to.deep.equal([
        { pointer: '/details', code: 'isStorableJson', detail: `details ${UNSAFE_KEY}` },
      ]);
    });
  });
});
