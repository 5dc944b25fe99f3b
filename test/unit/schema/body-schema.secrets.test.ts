import { expect } from 'chai';
import { IsIn, IsOptional, Max, MaxLength, ValidateBy } from 'class-validator';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { attach, defineModel } from '../../support/offline-models.js';
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
  describe('[C3] of values that must not come back', () => {
    const template = { message: '$value is not right' };
    class Login {
      @IsOptional() @MaxLength(3, template) title?: string;
      @IsOptional() @Max(3, template) views?: number;
      @IsOptional() @IsIn(['x'], { ...template, each: true }) tags?: string[];
      @IsOptional()
      @ValidateBy(
        { name: 'own', validator: { validate: () => false } },
        { message: ({ value }) => `wrong: ${JSON.stringify(value)}` },
      )
      details?: unknown;
    }

    for (const [body, code] of [
      [{ title: 'hunter22' }, 'maxLength'],
      [{ title: 'secret$&secret' }, 'maxLength'],
      [{ views: 4711 }, 'max'],
      [{ details: { password: 'hunter22' } }, 'own'],
      [{ details: ['hunter22'] }, 'own'],
      [{ details: 471147114711 }, 'own'],
    ] as const) {
      it(`keeps ${JSON.stringify(body)} to itself`, async () => {
        const [property = ''] = Object.keys(body);
        expect(await bodyIssues(parseCreate(Article, body, { createSchema: Login }))).to.deep.equal([
          { pointer: `/${property}`, code, detail: `${property} is not valid.` },
        ]);
      });
    }

    it('keeps to itself a value that a decorator of the same name as a column rule quotes', async () => {
      @Table({ timestamps: false })
      class Note extends Model {
        @MaxLength(3, template) @Column(DataType.STRING(5)) declare text: string;
      }
      attach(Note);
      expect(await bodyIssues(parseCreate(Note, { text: 'hunter22' }))).to.deep.equal([
        { pointer: '/text', code: 'maxLength', detail: 'text is not valid.' },
      ]);
    });
  });
});
