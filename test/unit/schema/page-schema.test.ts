import { expect } from 'chai';
import { plainToInstance } from 'class-transformer';
import { IsInt, validate } from 'class-validator';
import { DataTypes } from 'sequelize';
import type { SchemaClass } from '../../../src/schema/class-properties.js';
import { readSchema } from '../../../src/schema/model-schemas.js';
import { cursorPageSchema, pageSchema } from '../../../src/schema/page-schema.js';
import { defineModel } from '../../support/offline-models.js';

const ArticleRead = readSchema(
  defineModel('Article', { title: { type: DataTypes.STRING, allowNull: false } }),
);
const ITEM = { id: 1, title: 'a' };
const PAGE = { items: [ITEM], total: 1, page: 1, size: 20, pages: 1, has_next: false, has_prev: false };
const CURSOR_PAGE = { items: [ITEM], next_cursor: 'x', prev_cursor: null, has_next: true, has_prev: false };

async function wrongProperties(schema: SchemaClass, values: object): Promise<string[]> {
  const errors = await validate(plainToInstance(schema, values));
  return errors.map(({ property }) => property);
}

for (const { make, name, page, last, wrong } of [
  {
    make: pageSchema,
    name: 'Page',
    page: PAGE,
    last: { ...PAGE, items: [], total: 0, pages: 0 },
    wrong: { items: {}, total: -1, page: 0, size: 0, pages: 0.5, has_next: 'no', has_prev: 0 },
  },
  {
    make: cursorPageSchema,
    name: 'CursorPage',
    page: CURSOR_PAGE,
    last: { ...CURSOR_PAGE, next_cursor: null, prev_cursor: 'y' },
    wrong: { items: [{}], next_cursor: 1, prev_cursor: {}, has_next: null, has_prev: 'no' },
  },
]) {
  describe(make.name, () => {
    it('is one class for each record, named after it without its Read', () => {
      class ArticleView {
        @IsInt() id = 1;
      }
      expect([ArticleRead, ArticleView].map((record) => make(record).name)).to.deep.equal([
        `Article${name}`,
        `ArticleView${name}`,
      ]);
      expect(make(ArticleRead)).to.equal(make(ArticleRead));
    });

    it('takes its envelope, whose items are records, and nothing else', async () => {
      for (const right of [page, last])
        expect(await wrongProperties(make(ArticleRead), right)).to.deep.equal([]);
      const { items } = plainToInstance(make(ArticleRead), page) as { items?: object[] };
      expect(items?.[0]).to.be.instanceOf(ArticleRead);
      for (const none of [wrong, {}])
        expect(await wrongProperties(make(ArticleRead), none)).to.have.members(
          Object.keys(page).filter((key) => none === wrong || !key.endsWith('_cursor')),
        );
      expect(await wrongProperties(make(ArticleRead), { ...page, items: [{ id: 1 }] })).to.deep.equal([
        'items',
      ]);
    });
  });
}

describe('the envelopes of lists with count', () => {
  const total = { total: null, total_is: 'none' };

  it('are classes of their own by the same name', () => {
    for (const make of [pageSchema, cursorPageSchema]) {
      const schema = make(ArticleRead, { count: true });
      expect(make(ArticleRead, { count: true })).to.equal(schema);
      expect(make(ArticleRead, { count: false }))
        .to.equal(make(ArticleRead))
        .and.not.to.equal(schema);
      expect(schema.name).to.equal(make(ArticleRead).name);
    }
  });

  it('take a total that is not known, and refuse anything else', async () => {
    for (const [schema, page, names] of [
      [pageSchema(ArticleRead, { count: true }), { ...PAGE, pages: null }, ['total', 'total_is', 'pages']],
      [cursorPageSchema(ArticleRead, { count: true }), CURSOR_PAGE, ['total', 'total_is']],
    ] as const) {
      expect(await wrongProperties(schema, { ...page, ...total })).to.deep.equal([]);
      expect(await wrongProperties(schema, { ...page, total: 3, total_is: 'at_least' })).to.deep.equal([]);
      const wrong = { total: -1, total_is: 'some', pages: 0.5 };
      expect(await wrongProperties(schema, { ...page, ...wrong })).to.have.members(names);
      expect(await wrongProperties(schema, page)).to.deep.equal(['total_is']);
    }
    expect(await wrongProperties(pageSchema(ArticleRead), { ...PAGE, ...total })).to.deep.equal(['total']);
  });
});
