/** Configurations that rule a sub-resource out, and code of the user's that takes part in one. */
import { once } from 'node:events';
import { expect } from 'chai';
import type { NextFunction, Request, Response } from 'express';
import {
  type Action,
  All,
  Get,
  Interceptor,
  type InterceptorInterface,
  Post,
  UseBefore,
} from 'routing-controllers';
import type { FindOptions } from 'sequelize';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  DeletedAt,
  ForeignKey,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  type BootstrapOptions,
  type Class,
  ConfigError,
  Crud,
  type CrudContext,
  type CrudOptions,
  crudController,
  crudRouter,
  type FindByKeyOptions,
  filter,
  type Id,
  type ListQuery,
  type ModelClass,
  NotFoundError,
  type ReadQuery,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

const INTEGER = DataType.INTEGER;

@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @HasMany(() => Book, 'shelfId') declare books?: Book[];
  @HasMany(() => Book, { foreignKey: 'shelfId' }) declare oldBooks?: Book[];
  @HasMany(() => Book, { foreignKey: 'shelfId' }) declare bücher?: Book[];
  @Column(DataType.DATE) declare builtAt: Date | null;

  @HasMany(() => Book, { foreignKey: 'boughtAt', sourceKey: 'builtAt', constraints: false })
  declare newBooks?: Book[];

  @HasOne(() => Book, { foreignKey: 'shelfId' }) declare first?: Model;
  @BelongsToMany(() => Shelf, { through: () => Beside, foreignKey: 'one', otherKey: 'other' })
  declare besides?: Shelf[];
}

@Table({ tableName: 'books', timestamps: false })
class Book extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @Column(INTEGER) declare year: number;
  @Column(DataType.DATE) declare boughtAt: Date | null;
  @ForeignKey(() => Shelf) @Column(INTEGER) declare shelfId: number;
  @BelongsTo(() => Shelf, 'shelfId') declare shelf?: Model;
}

@Table({ tableName: 'besides', timestamps: false })
class Beside extends Model {
  @PrimaryKey @Column(INTEGER) declare one: number;
  @PrimaryKey @Column(INTEGER) declare other: number;
}

/** A row is there as long as its end is the beginning of time, and not as long as it has none. */
@Table({ tableName: 'labels', createdAt: false, updatedAt: false, paranoid: true })
class Label extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @DeletedAt @Column({ type: DataType.DATE, defaultValue: new Date(0) }) declare ended: Date;
  @HasMany(() => Book, { foreignKey: 'shelfId', constraints: false }) declare books?: Book[];
}

/** A repository that does not find the second shelf. */
class ShelfRepository extends Repository<Shelf> {
  static override model = Shelf;
  override async get(id: Id, options?: FindByKeyOptions<Shelf>) {
    if (id === 2) throw new NotFoundError('This shelf is closed.');
    return super.get(id, options);
  }
}

const declare = (model: ModelClass, options: object = {}): void => Crud(options as CrudOptions)(model);
const ids = (answer: { readonly body: { readonly items: readonly { readonly id: number }[] } }) =>
  answer.body.items.map(({ id }) => id);

/** Overrides of a combination would be one more guard. */
const OVERRIDES = 'its overrides are guards';

except({ records: OVERRIDES, session: OVERRIDES }).describe('a sub-resource', () => {
  const site = serveTestApp(() => {
    const engine = { models: [Shelf, Book, Beside, Label] };
    return { models: [], engine, bootstrap: { logger: new CapturedLog() } };
  });
  useEmptyRegistry();

  before(async () => {
    await Shelf.bulkCreate([{ id: 1 }, { id: 2 }] as never);
    await Book.bulkCreate(
      [1, 2, 3, 4, 5, 6].map((id) => ({ id, year: 2000 - id, shelfId: 1 + (id % 2) })) as never,
    );
  });

  const build = (options: BootstrapOptions = {}) =>
    buildApp({ models: [Shelf, Book], logger: new CapturedLog(), ...options });

  /** Books under their shelves, with the usual options. */
  function serveBooks(options: BootstrapOptions = {}) {
    declare(Shelf, { subresources: ['books'] });
    declare(Book);
    return build(options);
  }

  /** Problems of the configuration with these options of both models. */
  async function problems(
    shelf: object,
    book: object = {},
    options: BootstrapOptions = {},
  ): Promise<readonly string[]> {
    declare(Shelf, shelf);
    declare(Book, book);
    return configProblems(() => build(options));
  }

  for (const [subresources, problem] of [
    [['boks'], "subresources.boks is no relation of Shelf. Did you mean 'books'?"],
    [['first'], 'subresources.first leads to one record at most, which has no list; include it.'],
    [
      ['newBooks'],
      'subresources.newBooks is found by Shelf.builtAt, a date, of which records keep milliseconds alone',
    ],
    [['books', 'books'], 'subresources.books is named twice; name it once.'],
    [['bücher'], 'subresources.bücher has a name that no path can have'],
    [{ books: { wehre: 'all' } }, "subresources.books has no option 'wehre'. Did you mean 'where'?"],
    [{ books: { where: 1 } }, "subresources.books has where: 1; use 'all'"],
    [{ books: 1 }, 'subresources.books is 1; use true'],
    ['books', 'subresources is "books"; use a list of relations'],
  ] as const) {
    it(`is refused as ${JSON.stringify(subresources)}`, async () => {
      const [first, ...others] = await problems({ subresources });
      expect(first).to.include(problem);
      expect(others).to.deep.equal([]);
    });
  }

  it('is refused where its rows are not served, or have no list', async () => {
    declare(Shelf, { subresources: ['books'] });
    expect(await configProblems(() => build({ models: [Shelf] }))).to.deep.equal([
      'Shelf: subresources.books leads to Book, which is not served; add it to the models of bootstrap. A crudRouter serves one ' +
        'model; give it subresources: [].',
    ]);
    expect(() => crudRouter(Shelf)).to.throw(ConfigError);
    crudRouter(Shelf, { subresources: [] });
  });

  it('is refused where an endpoint is left out that it stands on', async () => {
    const [first, second] = await problems(
      { subresources: { books: { where: 'all' } }, endpoints: ['list'] },
      { endpoints: ['read'] },
    );
    expect(first).to.include("leads to Book, whose endpoints have no list; add 'list' to them.");
    expect(second).to.include("is below records that no route reads; add 'read' to the endpoints of Shelf.");
  });

  it('is refused where code guards the rows that it cannot ask', async () => {
    class BookController extends crudController(Book) {
      override list(query: ListQuery, context: CrudContext<Book>) {
        return super.list(query, context);
      }
    }
    const dependencies = [(_request: Request, _response: Response, next: NextFunction) => next()];
    const [problem] = await problems(
      { subresources: ['books'] },
      { dependencies },
      { controllers: [BookController] },
    );
    expect(problem).to.include(
      'may hide, because it has dependencies, BookController overrides list; give it',
    );
  });

  it('is refused where code guards the record above', async () => {
    class ShelfController extends crudController(Shelf) {
      @UseBefore((_request: Request, _response: Response, next: NextFunction) => next())
      override read(id: Id, query: ReadQuery, context: CrudContext<Shelf>) {
        return super.read(id, query, context);
      }
    }
    const [problem] = await problems({ subresources: ['books'] }, {}, { controllers: [ShelfController] });
    expect(problem).to.include(
      'because ShelfController overrides read, and ShelfController.read has decorators',
    );
  });

  for (const path of ['/:shelf/books', '/:id/Books', '/:id/:part', '/:id/*rest']) {
    it(`is refused where a route of the user takes its path, too: ${path}`, async () => {
      class ShelfController extends crudController(Shelf) {
        @All(path)
        any() {
          return [];
        }
      }
      const [problem] = await problems({ subresources: ['books'] }, {}, { controllers: [ShelfController] });
      expect(problem).to.include("'any' and 'subresources.books' both answer GET /shelves/:id/books");
    });
  }

  it('stands beside routes of the user that take other paths', async () => {
    class ShelfController extends crudController(Shelf) {
      @Get('/first/:part')
      first() {
        return { first: true };
      }

      @Get('/:id/:part/:more')
      more() {
        return { more: true };
      }

      @Post('/:id/books')
      add() {
        return { added: true };
      }
    }
    const { agent } = await serveBooks({ controllers: [ShelfController] });
    expect((await agent.get('/shelves/first/books').expect(200)).body).to.deep.equal({ first: true });
    expect((await agent.get('/shelves/1/books/2').expect(200)).body).to.deep.equal({ more: true });
    expect((await agent.post('/shelves/1/books').expect(200)).body).to.deep.equal({ added: true });
    expect(ids(await agent.get('/shelves/1/books').expect(200))).to.deep.equal([2, 4, 6]);
    await agent.put('/shelves/1/books').expect(405).expect('Allow', 'POST, GET, HEAD, OPTIONS');
  });

  it('shows what its own condition lets through, past what guards the rows elsewhere', async () => {
    class BookController extends crudController(Book) {
      override async list(): Promise<never> {
        throw new NotFoundError('There are no books.');
      }
    }
    const where = (request: Request) => filter`year<${Number(request.get('x-before'))}`;
    declare(Shelf, { subresources: { books: { where } } });
    declare(Book, { pagination: 'cursor', pageSize: { default: 1 } });
    const { agent } = await build({ controllers: [BookController] });
    await agent.get('/books').expect(404);
    const early = await agent.get('/shelves/1/books').set('x-before', '1998').expect(200);
    expect(ids(early)).to.deep.equal([4]);
    const after = `/shelves/1/books?after=${early.body.next_cursor}`;
    expect(ids(await agent.get(after).set('x-before', '1998').expect(200))).to.deep.equal([6]);
    await agent.get(after).set('x-before', '1999').expect(400);
  });

  for (const [before, idType] of [
    ['', undefined],
    ['s', (raw: string) => Number(raw.replace('s', ''))],
  ] as const) {
    it(`runs what runs before every route of the record, and finds it as its repository does: ${before}1`, async () => {
      @UseBefore((request: Request, response: Response, next: NextFunction) =>
        request.get('x-key') ? next() : response.status(401).json({ detail: 'No key.' }),
      )
      class ShelfController extends crudController(ShelfRepository) {}
      declare(Shelf, { subresources: ['books'], ...(idType ? { idType } : {}) });
      declare(Book);
      const { agent } = await build({ controllers: [ShelfController as unknown as Class] });
      const books = (id: string) => agent.get(`/shelves/${id}/books`).set('x-key', '1');
      await agent.get(`/shelves/${before}1/books`).expect(401);
      expect(ids(await books(`${before}1`).expect(200))).to.deep.equal([2, 4, 6]);
      const closed = await books(`${before}2`).expect(404);
      expect(closed.body).to.deep.equal({ detail: 'This shelf is closed.' });
      await books('x').expect(400);
    });
  }

  it('gives its page to interceptors as values', async () => {
    @Interceptor()
    class Count implements InterceptorInterface {
      intercept(_action: Action, content: { readonly items: readonly object[] }): object {
        return { count: content.items.length, first: content.items[0] };
      }
    }
    const { agent } = await serveBooks({ routing: { interceptors: [Count] } });
    const { body } = await agent.get('/shelves/1/books').expect(200);
    expect(body).to.deep.equal({ count: 3, first: { id: 2, year: 1998, boughtAt: null, shelfId: 1 } });
  });

  it('writes nothing where a hook of either model does', async () => {
    const { agent } = await serveBooks();
    for (const model of [Book, Shelf as unknown as typeof Book]) {
      const write = () => Book.update({ year: 1 }, { where: { id: 4 } });
      await withHook(model, 'beforeFind', write, () => agent.get('/shelves/1/books').expect(500));
    }
    expect(await Book.count({ where: { year: 1 } })).to.equal(0);
  });

  it('is within what hooks add to queries of either model', async () => {
    const { agent, crud } = await serveBooks();
    const reasons = () =>
      crud.routes.find(({ path }) => path === '/shelves/:id/books')?.generalPathReasons ?? [];
    const adding = (where: object) => (options: FindOptions) => {
      options.where = { ...options.where, ...where };
    };
    await withHook(Book, 'beforeFind', adding({ year: 1996 }), async () => {
      expect(reasons()).to.include('Book: the model has a hook beforeFind');
      expect(ids(await agent.get('/shelves/1/books').expect(200))).to.deep.equal([4]);
    });
    await withHook(Shelf, 'beforeFind', adding({ id: 0 }), async () => {
      expect(reasons()).to.include('Shelf: the model has a hook beforeFind');
      await agent.get('/shelves/1/books').expect(404);
    });
    await agent.get('/shelves/1/books').expect(200);
  });

  it('is within a scope that either model is given later', async () => {
    const { agent } = await serveBooks();
    Book.addScope('defaultScope', { where: { year: 1996 } }, { override: true });
    expect(ids(await agent.get('/shelves/1/books').expect(200))).to.deep.equal([4]);
    Book.addScope('defaultScope', {}, { override: true });
    Shelf.addScope('defaultScope', { where: { builtAt: new Date(0) } }, { override: true });
    await agent.get('/shelves/1/books').expect(404);
    Shelf.addScope('defaultScope', {}, { override: true });
    await agent.get('/shelves/1/books').expect(200);
  });

  it('finds the record above as Sequelize counts it as deleted', async () => {
    declare(Label, { subresources: ['books'] });
    declare(Book);
    await Label.bulkCreate([{ id: 1 }, { id: 2, ended: new Date(1) }] as never);
    const { agent } = await buildApp({ models: [Label, Book], logger: new CapturedLog() });
    expect(ids(await agent.get('/labels/1/books').expect(200))).to.deep.equal([2, 4, 6]);
    await agent.get('/labels/2/books').expect(404);
  });

  it('runs in the unit of work that code around it began, and leaves nothing under way', async () => {
    declare(Shelf, { subresources: ['books'] });
    declare(Book, { pagination: 'cursor', pageSize: { default: 2 } });
    const ended: Promise<unknown>[] = [];
    const { agent } = await buildApp({ models: [Shelf, Book], logger: new CapturedLog() }, (app) => {
      app.use((_request, response, next) => {
        const session = unitOfWork(async () => {
          next();
          await once(response, 'close');
        });
        ended.push(session);
      });
    });
    const first = await agent.get('/shelves/1/books').expect(200);
    expect(ids(first)).to.deep.equal([2, 4]);
    const cursor = first.body.next_cursor;
    expect(ids(await agent.get(`/shelves/1/books?after=${cursor}`).expect(200))).to.deep.equal([6]);
    await agent.get('/shelves/9/books').expect(404);
    await agent.get('/shelves/9/books?q=x').expect(400);
    expect(await Promise.allSettled(ended)).to.deep.equal(
      ended.map(() => ({ status: 'fulfilled', value: undefined })),
    );
  });

  it('asks for an index, and is silent where it is there', async () => {
    declare(Shelf, { subresources: ['books'] });
    declare(Book, { defaultSort: '-year' });
    const advice = async () => {
      const logger = new CapturedLog();
      await build({ logger });
      const lines = logger.lines.flatMap(({ message }) => message.split('\n  '));
      return lines.filter((line) => line.includes('(subresources)'));
    };
    const index = 'ON "books" ("shelfId", "year" DESC, "id" DESC);';
    expect(await advice()).to.deep.equal([
      `Shelf: no index serves the relation 'books' (subresources); CREATE INDEX ${index}`,
    ]);
    await site.engine.sequelize.query(`CREATE INDEX books_of_shelf ${index}`);
    try {
      expect(await advice()).to.deep.equal([]);
    } finally {
      await site.engine.sequelize.query('DROP INDEX books_of_shelf');
    }
  });
});
