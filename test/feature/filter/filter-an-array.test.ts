/** `q` on arrays: which rows have some elements, or all of them, by either runner, behind relations and in rules. */
// @runs fast
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { describeModel } from '../../../src/describe/describe-model.js';
import { columnsOf, compilePredicate } from '../../../src/execute/sql/predicate-sql.js';
import { boundText, renderSql } from '../../../src/execute/sql/sql-fragment.js';
import {
  type Comparison,
  Crud,
  crudController,
  EVERYTHING,
  type FilterTemplate,
  filter,
  InjectRepository,
  type ModelClass,
  type Repository,
} from '../../../src/index.js';
import { KeyedRow, TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

/** Returns the filter of the rule. */
let rule: () => unknown = () => EVERYTHING;

@Crud({ visible: () => rule() as FilterTemplate, filterAllow: ['title', 'tags', 'sizes', 'grid'] as never })
@Table({ tableName: 'books', timestamps: false })
class Book extends TitledRow {
  @Column({ type: DataType.ARRAY(DataType.STRING(20)), field: 'the tags' })
  declare tags: string[] | null;

  @Column(DataType.ARRAY(DataType.INTEGER)) declare sizes: (number | null)[] | null;
  @Column(DataType.ARRAY(DataType.ARRAY(DataType.INTEGER))) declare grid: number[][] | null;
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number | null;
  @BelongsTo(() => Shelf, 'shelfId') declare shelf?: object | null;
}

@Crud({
  pagination: 'cursor',
  filterAllow: { books: { tags: ['=contains='], sizes: true } } as never,
  include: { books: UNGUARDED },
})
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @HasMany(() => Book, 'shelfId') declare books?: Book[];
}

class ShelfController extends crudController(Shelf) {
  @Get('/loaded')
  async loaded(@InjectRepository(Shelf) shelves: Repository<Shelf>) {
    const found = await shelves.list({ include: ['books'] });
    return found.map((shelf) => (shelves.related(shelf, 'books') as Book[]).map(({ title }) => title));
  }
}

const BOOKS: readonly (Partial<Book> & { readonly title: string })[] = [
  { title: 'none', shelfId: 1 },
  { title: 'empty', tags: [], sizes: [], shelfId: 1 },
  { title: 'new', tags: ['new'], sizes: [1], shelfId: 1 },
  { title: 'old', tags: ['old', 'new'], sizes: [1, 2, 2], shelfId: 2 },
  { title: 'odd', tags: ['a,b', '"', "'", '\\', '{}', 'NULL', ''], sizes: [null], shelfId: 2 },
  { title: 'far', tags: ['ä\u{1f642}', 'a b'], sizes: [-1, null, 3], grid: [[1], [2]], shelfId: 3 },
];

describe('filtering by the elements of an array', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Shelf, Book] as ModelClass[],
      bootstrap: { logger: new CapturedLog(), controllers: [ShelfController] },
    }),
  );

  before(async () => {
    await Shelf.bulkCreate([{ id: 1 }, { id: 2 }, { id: 3 }]);
    await Book.bulkCreate([...BOOKS] as never[]);
  });

  beforeEach(() => {
    rule = () => EVERYTHING;
  });

  const get = (path: string, q: string) => paths.same({ path: `/${path}?${new URLSearchParams({ q })}` });

  async function found(q: string): Promise<string[]> {
    const { status, body } = await get('books', q);
    expect(status, body).to.equal(200);
    const { items, total } = JSON.parse(body);
    expect(total).to.equal(items.length);
    return items.map(({ title }: Book) => title);
  }

  for (const [q, titles] of [
    ['tags=contains=(new,old)', ['old']],
    ['tags=contains=(new,new)', ['new', 'old']],
    ['tags=overlaps=(old,"a b",other)', ['old', 'far']],
    ['tags=isempty=true', ['empty']],
    ['tags=isempty=false', ['new', 'old', 'odd', 'far']],
    ['tags=isnull=true,tags=isempty=true', ['none', 'empty']],
    ['sizes=overlaps=(2,3)', ['old', 'far']],
    ['grid=isnull=false', ['far']],
  ] as const) {
    it(`finds ${titles.length} by ${q}`, async () => expect(await found(q)).to.deep.equal(titles));
  }

  it('takes each element for itself, whatever characters it has', async () => {
    for (const { title, tags } of BOOKS) {
      for (const tag of (tags ?? []).filter((each) => each !== 'new')) {
        const quoted = `"${tag.replace(/["\\]/g, '\\$&')}"`;
        expect(await found(`tags=contains=(${quoted})`), tag).to.deep.equal([title]);
        expect(await found(`tags=overlaps=(${quoted},other)`), tag).to.deep.equal([title]);
      }
    }
    for (const other of ['a', 'b', 'null', '{"new"}', 'new,old', '%', '*']) {
      expect(await found(`tags=overlaps="${other.replaceAll('"', '\\"')}"`), other).to.deep.equal([]);
    }
  });

  const LONG = '123456789012345678901';
  const ALL = 'Use =contains=, =overlaps=, =isempty=, =isnull=.';
  for (const [q, code, position, detail] of [
    ['tags==new', 'q.operator-not-allowed', 4, `'==' is not available for 'tags' (array). ${ALL}`],
    [
      'grid=contains=1',
      'q.operator-not-allowed',
      4,
      "'=contains=' is not available for 'grid' (array). Use =isnull=.",
    ],
    [
      'tags=contain=a',
      'q.unknown-operator',
      4,
      `Unknown operator '=contain='. Did you mean '=contains='? ${ALL}`,
    ],
    ['sizes=contains=(1,x)', 'q.type', 18, "'x' is not an integer (field 'sizes')."],
    ['sizes=overlaps=(1,2147483648)', 'q.range', 18, "'2147483648' is outside the range of 'sizes'."],
    [`tags=contains=${LONG}`, 'q.range', 14, `'${LONG}' is outside the range of 'tags'.`],
    ['tags=contains=()', 'q.syntax', 15, "Unexpected ')' at position 15; expected a value."],
    ['tags=isempty=maybe', 'q.type', 13, "'maybe' is not true or false (field 'tags')."],
  ] as const) {
    it(`refuses ${q}`, async () => {
      const { status, body } = await get('books', q);
      const { allowed, ...issue } = JSON.parse(body).errors[0];
      expect([status, issue]).to.deep.equal([400, { parameter: 'q', code, detail, position }]);
      expect(allowed?.length).to.equal(detail.split('Use ')[1]?.split(', ').length);
    });
  }

  it('refuses a list that is too long', async () => {
    const { status, body } = await get('books', `tags=overlaps=(${Array(101).fill('a')})`);
    const detail = 'At most 100 values are allowed in a list.';
    expect([status, JSON.parse(body)]).to.deep.equal([
      400,
      { detail, errors: [{ parameter: 'q', code: 'q.list-too-long', detail, position: 14 }] },
    ]);
  });

  it('is a condition on related rows, too', async () => {
    for (const [q, ids] of [
      ['books=any=(tags=contains=new)', [1, 2]],
      ['books=any=(tags=contains=(new,old);sizes=overlaps=(2,9))', [2]],
      ['books=none=(tags=contains=new)', [3]],
      ['books=any=(sizes=isempty=true)', [1]],
    ] as const) {
      const { status, body } = await get('shelves', q);
      expect(status, body).to.equal(200);
      const found = JSON.parse(body).items.map(({ id }: Shelf) => id);
      expect(found, q).to.deep.equal(ids);
    }
    const { body } = await get('shelves', 'books=any=(tags=overlaps=(a))');
    expect(JSON.parse(body).errors[0]).to.include({ code: 'q.operator-not-allowed', position: 15 });
  });

  it('is a condition on included rows', async () => {
    const path = '/shelves?include=books&books.q=tags=contains=new&books.fields=title';
    const { body } = await paths.same({ path });
    const titles = JSON.parse(body).items.map(({ books }: { books: { items: Book[] } }) =>
      books.items.map(({ title }) => title),
    );
    expect(titles).to.deep.equal([['new'], ['old'], []]);
  });

  it('is a condition of what is visible, where an empty list is no row', async () => {
    const seen = (condition: () => unknown): Promise<string[]> => {
      rule = condition;
      return found('');
    };
    expect(await seen(() => filter`tags=contains=${['new', 'old']}`)).to.deep.equal(['old']);
    const either = filter`tags=overlaps=${['a,b', 'new']},sizes=contains=${3}`;
    expect(await seen(() => either)).to.deep.equal(['new', 'old', 'odd', 'far']);
    expect(await seen(() => filter`tags=contains=(${'"'},${"'"})`)).to.deep.equal(['odd']);
    expect(await seen(() => filter`sizes=isempty=${true}`)).to.deep.equal(['empty']);
    expect(await seen(() => filter`tags=overlaps=${[]}`)).to.deep.equal([]);
    expect(await seen(() => filter`tags=contains=${[]}`)).to.deep.equal([]);
    expect(await seen(() => filter`tags=contains=${[]},title==none`)).to.deep.equal(['none']);
    rule = () => filter`tags=contains=${undefined}`;
    expect((await get('books', '')).status).to.equal(403);
    rule = () => filter`sizes=contains=${2 ** 53}`;
    expect((await get('books', '')).status).to.equal(500);
  });

  it('holds for what Sequelize loads along', async () => {
    const loaded = async (condition: () => unknown): Promise<unknown> => {
      rule = condition;
      const { status, body } = await paths.same({ path: '/shelves/loaded' });
      expect(status, body).to.equal(200);
      return JSON.parse(body).flat();
    };
    expect(await loaded(() => filter`tags=contains=${['new']}`)).to.deep.equal(['new', 'old']);
    expect(await loaded(() => filter`tags=overlaps=${['a b', '"']}`)).to.deep.equal(['odd', 'far']);
    expect(await loaded(() => filter`sizes=isempty=true`)).to.deep.equal(['empty']);
    expect(await loaded(() => filter`sizes=isempty=false;tags=contains=${['old']}`)).to.deep.equal(['old']);
  });

  /** The plan of a condition where an index costs nothing. */
  async function planOf(operator: Comparison['operator'], ...values: readonly string[]): Promise<string> {
    const { sequelize } = paths.site.engine;
    const condition = compilePredicate(
      { kind: 'comparison', attribute: 'sizes', operator, values },
      columnsOf(describeModel(Book as unknown as ModelClass), 'books'),
    );
    const text = renderSql(condition, (value) => sequelize.escape(boundText(value)));
    return sequelize.transaction(async (transaction) => {
      await sequelize.query('SET LOCAL enable_seqscan = off', { transaction });
      const [rows] = await sequelize.query(`EXPLAIN SELECT 1 FROM books WHERE ${text}`, { transaction });
      return JSON.stringify(rows);
    });
  }

  it('is served by a GIN index, and asks the same with the extension intarray', async () => {
    const { sequelize } = paths.site.engine;
    await sequelize.query('CREATE INDEX elements ON books USING gin (sizes)');
    for (const extension of ['btree_gin', 'intarray']) {
      await sequelize.query(`CREATE EXTENSION ${extension}`);
      for (const plan of [
        planOf('=contains=', '1', '2'),
        planOf('=overlaps=', '1', '2'),
        planOf('=isempty=', 'true'),
      ])
        expect(await plan).to.match(/Bitmap Index Scan on elements/);
      // Its own operators fail where an element is NULL.
      expect(await found('sizes=overlaps=(1,3)')).to.deep.equal(['new', 'old', 'far']);
      expect(await found('sizes=contains=3')).to.deep.equal(['far']);
    }
  });
});
