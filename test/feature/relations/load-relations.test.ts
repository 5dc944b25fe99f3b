/** Repositories load relations, and relations that an override has loaded are in the answer of its request. */
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import {
  ConfigError,
  Crud,
  type CrudContext,
  crudController,
  filter,
  type Id,
  InjectListQuery,
  InjectRepository,
  InjectSession,
  type ListQuery,
  type OffsetListQuery,
  type Page,
  type ReadQuery,
  type ReadSession,
  RelationNotLoaded,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { UNGUARDED } from '../../support/combination.js';
import { relatedStatements, SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

@Crud({
  include: {
    shelf: UNGUARDED,
    pages: { ...UNGUARDED, size: { default: 2, max: 5 } },
    'pages.book': { where: 'all' },
  },
} as object)
@Table({ tableName: 'books', timestamps: false })
class Book extends NumberedRow {
  @Column(DataType.TEXT) declare title: string;
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number | null;
  @BelongsTo(() => Shelf, 'shelfId') declare shelf?: Loaded<Shelf> | null;
  @HasMany(() => Leaf, { foreignKey: 'bookId' }) declare pages?: Leaf[];
  @HasMany(() => Loan, 'bookId') declare loans?: Loan[];
}

@Crud()
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @Column(DataType.TEXT) declare room: string;
}

@Crud({ visible: () => filter`isSecret==false`, filterAllow: ['number'], sortAllow: ['number'] } as object)
@Table({ tableName: 'leaves', timestamps: false })
class Leaf extends NumberedRow {
  @Column(DataType.INTEGER) declare number: number;
  @Column(DataType.TEXT) declare text: string;
  @Column({ type: DataType.BOOLEAN, defaultValue: false }) declare isSecret: boolean;
  @ForeignKey(() => Book) @Column(DataType.INTEGER) declare bookId: number;
  @BelongsTo(() => Book, 'bookId') declare book?: Loaded<Book>;
}

@Table({ tableName: 'loans', timestamps: false })
class Loan extends NumberedRow {
  @ForeignKey(() => Book) @Column(DataType.INTEGER) declare bookId: number;
}

/** The change that the methods of the controller make to the records that they have read. */
let change: (books: Book[], context: CrudContext<Book>) => object[] | Promise<object[]> = (books) => books;

class BookController extends crudController<Book, object>(Book) {
  override async list(query: ListQuery, context: CrudContext<Book>): Promise<Page<object>> {
    const page = (await super.list(query, context)) as Page<Book>;
    return { ...page, items: await change(page.items, context) };
  }

  override async read(id: Id, query: ReadQuery, context: CrudContext<Book>): Promise<object> {
    const book = (await super.read(id, query, context)) as Book;
    const [changed] = await change([book], context);
    return changed as object;
  }

  @Get('/shelved')
  shelved(@InjectListQuery() query: OffsetListQuery, @InjectRepository(Book) books: Repository<Book>) {
    return books.page({ ...query, where: { shelfId: 1 } });
  }
}

describe('loading relations with a repository', () => {
  const sql = new SqlLog();
  const models = [Book, Shelf, Leaf];
  const site = serveTestApp(() => {
    const bootstrap = { logger: new CapturedLog(), models, controllers: [BookController] };
    return {
      models,
      bootstrap,
      engine: { logging: sql.record, models: [...models, Loan] },
    };
  });

  before(async () => {
    await Shelf.bulkCreate([{ id: 1, room: 'blue' }] as never);
    await Book.bulkCreate([
      { title: 'A', shelfId: 1 },
      { title: 'B', shelfId: 1 },
      { title: 'C', shelfId: null },
    ] as never);
    await Leaf.bulkCreate([
      { bookId: 1, number: 1, text: 'one' },
      { bookId: 1, number: 2, text: 'two' },
      { bookId: 1, number: 3, text: 'three' },
      { bookId: 2, number: 1, text: 'hidden', isSecret: true },
    ] as never);
    await Loan.bulkCreate([{ bookId: 2 }] as never);
  });
  afterEach(() => {
    change = (books) => books;
  });

  const get = async (query: string): Promise<string> =>
    (await site.agent.get(`/books?${query}`).expect(200)).text;

  describe('by name', () => {
    const books = () => new Repository(Book);

    it('gives records their relations, as Sequelize does', async () => {
      const book = await books().get(1, { include: ['shelf', 'pages.book', 'loans'] });
      expect(book.shelf?.room).to.equal('blue');
      expect(
        books()
          .related(book, 'pages')
          ?.map(({ number }) => number),
      ).to.deep.equal([1, 2, 3]);
      expect(book.pages?.[0]).to.be.instanceOf(Leaf);
      expect(book.pages?.[0]?.book?.title).to.equal('A');
      expect(book.loans).to.deep.equal([]);
      const plain = JSON.parse(JSON.stringify(await books().get(2, { include: ['shelf', 'loans'] })));
      expect(plain).to.deep.equal({
        id: 2,
        title: 'B',
        shelfId: 1,
        shelf: { id: 1, room: 'blue' },
        loans: [{ id: 1, bookId: 2 }],
      });
      const { shelf } = (await books().get(1, { include: ['shelf'] })).get({ plain: true });
      expect(shelf).to.deep.equal({ id: 1, room: 'blue' });
      expect(shelf).not.to.be.instanceOf(Shelf);
      await book.update({ title: 'A2' });
      await book.update({ title: 'A' });
      await book.reload();
      expect(() => books().related(book, 'pages')).to.throw(RelationNotLoaded);
    });

    it('counts the rows of each record, also those of a condition', async () => {
      const { items } = await books().page({ page: 1, size: 20 });
      expect(await books().countRelated(items, 'pages')).to.deep.equal([3, 1, 0]);
      expect(await books().countRelated(items, 'pages', filter`number>1`)).to.deep.equal([2, 0, 0]);
      expect(await books().countRelated(items.toReversed(), 'shelf')).to.deep.equal([0, 1, 1]);
      expect(await books().countRelated([], 'pages')).to.deep.equal([]);
      expect(await caughtError(() => books().countRelated(items, 'pages.book')))
        .to.be.instanceOf(ConfigError)
        .with.property('message')
        .that.includes("'pages.book' is no relation of Book.");
    });

    it('takes a size, an order, a condition and attributes for each', async () => {
      const { items } = await books().page({
        page: 1,
        size: 2,
        include: {
          pages: {
            size: 2,
            sort: [{ attribute: 'number', descending: true }],
            filter: filter`number>=2`,
            fields: ['number'],
          },
          loans: true,
        },
      });
      const [first, second] = items;
      expect(first?.pages?.map((leaf) => leaf.get('number'))).to.deep.equal([3, 2]);
      expect(first?.pages?.[0]?.get('text')).to.equal(undefined);
      expect(second?.loans).to.have.length(1);
      const one = await books().get(1, { fields: ['title'], include: { pages: { size: 1 } } });
      expect([one.title, one.pages?.length]).to.deep.equal(['A', 1]);
    });

    it('reads them in the transaction of a unit of work, whoever reads them', async () => {
      const look = () =>
        unitOfWork(async (uow) => {
          await uow.repository(Leaf).create({ bookId: 3, number: 1, text: 'new', isSecret: false });
          const { pages = [] } = await uow.repository(Book).get(3, { include: ['pages'] });
          throw new Error(pages.map(({ text }) => text).join());
        });
      expect(await caughtError(look)).to.have.property('message', 'new');
      const hooked = () =>
        withHook(
          Leaf,
          'afterFind',
          () => {},
          () => caughtError(look),
        );
      expect(await hooked()).to.have.property('message', 'new');
    });

    it('refuses what it does not know', async () => {
      for (const include of [['shelff'], { pages: { size: 1.5 } }, { pages: { size: '1' as never } }]) {
        const error = await caughtError(() => books().page({ page: 1, size: 1, include }));
        expect(error, JSON.stringify(include)).to.be.instanceOf(ConfigError);
      }
      for (const [include, problem] of [
        [{ pages: { where: { number: 1 } } }, "include.pages has no option 'where'."],
        [{ pages: false }, 'include.pages is false; use true, or an object such as { size: 3 }.'],
        [{ pages: { fields: ['numbr'] } }, "include.pages.fields has 'numbr', which is no column of Leaf."],
        [{ pages: { filter: 'number==1' } }, 'include.pages.filter is "number==1"; use filter`…`'],
        [{ shelf: { size: 0 } }, 'include.shelf.size is about a relation to one record; remove it.'],
        [{ 'pages.book': { size: 1 } }, 'include.book.size is about a relation to one record; remove it.'],
      ] as const) {
        const error = await caughtError(() => books().get(1, { include: include as never }));
        expect(error).to.be.instanceOf(ConfigError).with.property('message').that.includes(problem);
      }
    });

    it('loads nothing where a value of a condition is missing', async () => {
      const load = (number?: number) =>
        books().get(1, { include: { pages: { filter: filter`number==${number}` } } });
      expect((await load(2)).pages).to.have.length(1);
      expect(await caughtError(() => load()))
        .to.be.instanceOf(TypeError)
        .with.property('message', 'include.pages.filter has a value that is null or undefined: number==…');
      const wrong = () => books().get(1, { include: { pages: { filter: filter`numbr==1` } } });
      expect(await caughtError(wrong))
        .to.have.property('message')
        .that.equals(
          "include.pages.filter gave the filter 'numbr==1', which is wrong: Cannot filter by 'numbr'. Did you mean 'number'? " +
            'Filterable: id, number, text, isSecret, bookId.',
        );
    });

    it('stays within the access of the request, unless that is left', async () => {
      const seen: number[][] = [];
      change = async (found, { repository }) => {
        for (const one of [repository, repository.unscoped()]) {
          const { items } = await one.page({ page: 1, size: 5, include: ['pages'] });
          seen.push(items.map(({ pages }) => (pages as Leaf[]).length));
        }
        return found;
      };
      await get('fields=id');
      expect(seen).to.deep.equal([
        [3, 0, 0],
        [3, 1, 0],
      ]);
    });
  });

  describe('for its request', () => {
    const QUERY = 'fields=id&include=shelf,pages.book&pages.fields=number&pages.book.fields=title';

    it('answers with what an override has looked into, without reading it again', async () => {
      const untouched = await get(QUERY);
      const { statements } = await sql.duringRequest(async () => {
        change = (found) => {
          for (const { pages = [] } of found) for (const { book } of pages) void book?.title;
          return found;
        };
        expect(await get(QUERY)).to.equal(untouched);
      });
      expect(relatedStatements(statements)).to.have.length(3);
      expect(JSON.parse(untouched).items[0]).to.deep.equal({
        id: 1,
        shelf: { id: 1, room: 'blue' },
        pages: {
          items: [
            { number: 1, book: { title: 'A' } },
            { number: 2, book: { title: 'A' } },
          ],
          has_next: true,
        },
      });
      const one = await site.agent.get(`/books/1?${QUERY}`).expect(200);
      expect(one.body).to.deep.equal(JSON.parse(untouched).items[0]);
    });

    it('answers with what an override has made of related records', async () => {
      change = (found) => {
        for (const book of found) {
          for (const leaf of book.pages ?? []) leaf.text = '***';
          book.pages = book.pages?.filter(({ number }) => number === 2) ?? [];
        }
        return found;
      };
      const { items } = JSON.parse(await get('fields=id&include=pages&pages.fields=number,text'));
      expect(items[0].pages).to.deep.equal({ items: [{ number: 2, text: '***' }], has_next: true });
    });

    it('reads the relations of plain objects, of changed keys, and of records that were loaded otherwise', async () => {
      const untouched = await get(QUERY);
      change = (found) => found.map((book) => ({ ...book.get(), pages: 'mine' }));
      expect(await get(QUERY)).to.equal(untouched);
      change = async (_found, { repository }) =>
        (await repository.page({ page: 1, size: 20, include: ['pages', 'loans', 'shelf'] })).items;
      expect(await get(QUERY)).to.equal(untouched);
      change = (found) => {
        for (const book of found) book.shelfId = null;
        return found;
      };
      const { items } = JSON.parse(await get('fields=id&include=shelf'));
      expect(items.map((each: { shelf: unknown }) => each.shelf)).to.deep.equal([null, null, null]);
      change = ([first, ...others]) => [{ ...(first as Book).get() }, ...others];
      expect(await get(QUERY)).to.equal(untouched);
    });

    it('gives each record its own relations, where those of some are loaded and those of others are read', async () => {
      const leaf = await Leaf.create({ bookId: 3, number: 9, text: 'nine' });
      try {
        const untouched = await get(QUERY);
        expect(untouched.split('"shelf":'), 'once for each record').to.have.length(4);
        for (const plain of [0, 2]) {
          change = (found) => found.map((book, index) => (index === plain ? { ...book.get() } : book));
          expect(await get(QUERY)).to.equal(untouched);
        }
      } finally {
        await leaf.destroy();
      }
    });

    it('shows no more of a record that is read again: neither what is hidden, nor past the limit', async () => {
      const untouched = await get('fields=id&include=pages,shelf');
      change = async (found) => {
        for (const book of found) await book.reload();
        return found;
      };
      await Leaf.update({ isSecret: true }, { where: { number: 1 } });
      try {
        const { items } = JSON.parse(await get('fields=id&include=pages,shelf&pages.size=1'));
        expect(items[0].pages.items.map(({ number }: Leaf) => number)).to.deep.equal([2]);
        expect(items[0].pages.has_next).to.equal(true);
        expect(items[1].pages).to.deep.equal({ items: [], has_next: false });
      } finally {
        await Leaf.update({ isSecret: false }, { where: { bookId: 1 } });
      }
      expect(await get('fields=id&include=pages,shelf')).to.equal(untouched);
    });

    it('shows nothing that was loaded without the access of the request', async () => {
      change = async (_found, { repository }) =>
        (await repository.unscoped().page({ page: 1, size: 20, include: ['pages'] })).items;
      expect(JSON.parse(await get('fields=id&include=pages')).items[1].pages.items).to.deep.equal([]);
    });

    it('answers a page of an added route with the relations of its query', async () => {
      const { body } = await site.agent.get(`/books/shelved?${QUERY}`).expect(200);
      expect(body.items).to.deep.equal(JSON.parse(await get(QUERY)).items.slice(0, 2));
      expect(body.total).to.equal(2);
      const { body: problem } = await site.agent.get('/books/shelved?include=pagess').expect(400);
      expect(problem.errors[0].code).to.equal('include.unknown');
    });

    it('reads relations in the session of the request, which sees nothing that others write meanwhile', async () => {
      const writeLate = () =>
        site.engine.sequelize.query(`INSERT INTO leaves (number, text, "bookId") VALUES (9, 'late', 3)`, {
          transaction: null,
        });
      // Its relations are left to the answer.
      const pageOf = (query: ListQuery, session: ReadSession) => {
        const { include: _, ...rest } = query as OffsetListQuery;
        return session.repository(Book).page(rest);
      };
      class Books extends crudController<Book, object>(Book) {
        override async list(
          query: ListQuery,
          _context: CrudContext<Book>,
          @InjectSession() session?: ReadSession,
        ) {
          const page = await pageOf(query, session as ReadSession);
          await writeLate();
          return page as Page<object>;
        }

        @Get('/seen')
        async seen(@InjectListQuery() query: OffsetListQuery, @InjectSession() session: ReadSession) {
          const page = await pageOf(query, session);
          await writeLate();
          return page;
        }
      }
      const { agent } = await buildApp({ models: [Shelf, Leaf], controllers: [Books] });
      try {
        for (const path of ['/books', '/books/seen']) {
          for (const relations of ['pages', 'shelf,pages']) {
            await Leaf.destroy({ where: { text: 'late' } });
            const { body, text } = await agent.get(`${path}?include=${relations}`).expect(200);
            expect(text.split('"pages":{'), 'once for each record').to.have.length(4);
            expect(body.items[2].pages, path).to.deep.equal({ items: [], has_next: false });
            expect(await Leaf.count({ where: { text: 'late' } })).to.equal(1);
          }
        }
      } finally {
        await Leaf.destroy({ where: { text: 'late' } });
      }
    });
  });
});
