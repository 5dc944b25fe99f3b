/** Texts of all lengths and alphabets arrive as they were stored, on both paths. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { TwoPaths } from '../support/two-paths.js';

@Crud({ prefix: '/pages', pagination: 'cursor' })
@Table({ tableName: 'pages', timestamps: false })
class Page extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @Column(DataType.TEXT)
  declare head: string;

  @Column(DataType.TEXT)
  declare body: string | null;

  @Column(DataType.TEXT)
  declare tail: string;
}

const TEXTS: readonly (string | null)[] = [
  '',
  null,
  'plain',
  '"quoted" \\ \n\t\u0001',
  'naïve café',
  '日本語',
  '\u{1f600}\u{1f469}\u200d\u{1f680}',
  '\u0080\u00ff\u2028\ufeff',
  'x'.repeat(127),
  'x'.repeat(128),
  'é'.repeat(64),
  'x'.repeat(255),
  'x'.repeat(256),
  `${'x'.repeat(40_000)}é`,
  'ж'.repeat(20_000),
];

describe('texts', () => {
  let both: TwoPaths;
  const pages = TEXTS.map((body, id) => ({ id, head: `${body ?? ''}!`, body, tail: `é${id}` }));

  before(async () => {
    both = await TwoPaths.start({ models: [Page] });
    await Page.bulkCreate(pages);
  });

  after(() => both[Symbol.asyncDispose]());

  it('are listed as they were stored', async () => {
    const { body } = await both.same({ path: `/pages?size=${pages.length}` });
    expect(JSON.parse(body).items).to.deep.equal(pages);
  });

  it('are read as they were stored, many at once', async () => {
    const answers = await Promise.all(pages.map(({ id }) => both.same({ path: `/pages/${id}` })));
    expect(answers.map(({ body }) => JSON.parse(body))).to.deep.equal(pages);
  });

  it('are written as they were sent', async () => {
    for (const { id, head, body, tail } of pages) {
      const created = await both.same(
        { method: 'POST', path: '/pages', body: { id: id + 1_000, head, body, tail } },
        () => Page.destroy({ where: { id: id + 1_000 } }),
      );
      await Page.destroy({ where: { id: id + 1_000 } });
      expect(JSON.parse(created.body)).to.deep.equal({ id: id + 1_000, head, body, tail });
    }
  });
});
