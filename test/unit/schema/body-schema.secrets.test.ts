import { expect } from 'chai';
import { IsIn, IsOptional, Max, MaxLength, ValidateBy } from 'class-validator';
import { DataTypes } from 'sequelize';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { attach, defineModel } from '../../support/offline-models.js';
import { bodyIssues, parseCreate, parseUpdate } from '../../support/parse-bodies.js';

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

    it('still says what is wrong where the message does not quote', async () => {
      class Polite {
        @MaxLength(3) title = '';
      }
      expect(
        await bodyIssues(parseCreate(Article, { title: 'hunter22' }, { createSchema: Polite })),
      ).to.deep.equal([
        {
          pointer: '/title',
          code: 'maxLength',
          detail: 'title must be shorter than or equal to 3 characters.',
        },
      ]);
    });

    it('still gives the examples of the columns, even where one of them was sent', async () => {
      const issues = await bodyIssues(parseUpdate(Article, { price: 12.5, publishedAt: '2026-01-31' }));
      expect(issues.map(({ detail }) => detail)).to.deep.equal([
        'price must be a string holding a decimal number with at most 3 digits before the point and 2 after it, ' +
          'such as "12.5" (JSON numbers would be rounded).',
        'publishedAt must be an RFC 3339 date and time with an offset and at most milliseconds, ' +
          'such as "2026-01-31T08:00:00.000Z".',
      ]);
    });

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
