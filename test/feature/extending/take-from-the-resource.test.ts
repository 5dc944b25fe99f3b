/** Routes of the user's own that take the id, the record (by another key, too), the context and the list query of their resource, and return its pages. */
// @runs fast

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsInt } from 'class-validator';
import type { Response } from 'express';
import {
  type Action,
  Authorized,
  Body,
  Delete,
  Get,
  HttpError,
  JsonController,
  OnNull,
  OnUndefined,
  Param,
  Post,
  QueryParam,
  QueryParams,
  Req,
  Res,
  UseInterceptor,
} from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { Column, DataType, DefaultScope, ForeignKey, HasMany, Sequelize, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  type CursorListQuery,
  crudController,
  currentEngine,
  type Id,
  InjectContext,
  InjectId,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
  type ListQuery,
  type ModelClass,
  type OffsetListQuery,
  type OffsetPage,
  type ReadSession,
  Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { ApiContract } from '../../support/api-contract.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { TwoPaths, type WholeAnswer, type WholeRequest } from '../../support/two-paths.js';
import { withHook } from '../../support/with-hook.js';

@Crud({ filterAllow: ['name', 'population'], sortAllow: ['name', 'population'] })
@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare population: number;
  @Exclude() @Column({ type: DataType.TEXT, defaultValue: 'hidden' }) declare secret: string;
}

@Crud({
  scope: { tenantId: (request) => Number(request.get('tenant') ?? Number.NaN) || undefined },
  can: { list: () => false },
  endpoints: ['list', 'read', 'update'],
  pagination: 'cursor',
  filterAllow: ['title', 'townId'],
  sortAllow: ['title', 'id'],
})
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare townId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

@Crud()
@DefaultScope(() => ({ include: [House] }))
@Table({ tableName: 'streets', timestamps: false })
class Street extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @HasMany(() => House) declare houses?: House[];
}

@Table({ tableName: 'houses', timestamps: false })
class House extends NumberedRow {
  @ForeignKey(() => Street) @Column(DataType.INTEGER) declare streetId: number;
}

/** Streets and houses on an instance that no engine owns. */
async function ownDatabase(): Promise<AsyncDisposable> {
  const database = await freshDatabase();
  const sequelize = new Sequelize(database.url, { logging: false, models: [Street, House] });
  await sequelize.sync();
  return {
    async [Symbol.asyncDispose]() {
      await sequelize.close();
      await database.drop();
    },
  };
}

class Count {
  @IsInt() declare count: number;
}

/** Code of the user's, which a test sets: routes answer with its result. */
let pageOf: (query: OffsetListQuery, towns: Repository<Town>) => unknown;
let cursorPageOf: (query: CursorListQuery, tasks: Repository<Task>) => unknown;

class TownController extends crudController(Town) {
  @Get('/:id/number')
  @Get('/:id/figure')
  number(@InjectId() id: number, @QueryParam('unit') unit: string): object {
    return { id, type: typeof id, unit };
  }

  @Get('/:id/name')
  @Get('/:id/first-name')
  name(@InjectRecord() { name }: Town): object {
    return { name };
  }

  @Get('/:id/twin')
  twin(@InjectRecord() town: Town): object {
    return { town };
  }

  @Get('/:id/session')
  async inSession(
    @InjectRecord() town: Town,
    @InjectSession() session: ReadSession,
    @InjectRepository(Town) towns: Repository<Town>,
  ): Promise<object> {
    return { towns: [town, await session.repository(Town).get(town.id), (await towns.list()).length] };
  }

  @Post('/:id/growth')
  async grow(@InjectRecord() town: Town, @Body() { count }: Count): Promise<Town> {
    const { population } = town;
    await town.update({ population: population + count });
    if (count === 13) throw new HttpError(409, 'An unlucky number.');
    return town;
  }

  @Post('/:id/transactions')
  async transactions(
    @InjectRecord() town: Town,
    @InjectUnitOfWork() uow: UnitOfWork,
    @InjectRepository(Town) towns: Repository<Town>,
  ): Promise<object> {
    const [row] = await currentEngine().sequelize.query<{ isLocked: boolean }>(
      `SELECT (SELECT xmax::text FROM towns WHERE id = ${town.id}) = pg_current_xact_id()::xid::text AS "isLocked"`,
      { type: QueryTypes.SELECT },
    );
    await towns.update(town.id, { name: 'changed' });
    const { name } = await uow.repository(Town).get(town.id);
    return { name, isLocked: row?.isLocked };
  }

  @Get('/pages')
  pages(@InjectListQuery() query: OffsetListQuery, @InjectRepository(Town) towns: Repository<Town>) {
    return pageOf(query, towns);
  }

  @Get('/above')
  above(
    @InjectListQuery() query: OffsetListQuery,
    @QueryParam('limits', { type: Number, isArray: true }) limits: number[],
    @InjectRepository(Town) towns: Repository<Town>,
  ) {
    const filter = {
      kind: 'comparison',
      attribute: 'population',
      operator: '=gt=',
      values: [String(Math.max(...(limits ?? [0])))],
    } as const;
    return towns.page({ ...query, filter });
  }

  @Get('/super')
  throughList(@InjectListQuery() query: ListQuery, @Req() request: never, @Res() response: never) {
    return super.list(query, { request, response, repository: new Repository(Town) });
  }

  @Get('/seen')
  @UseInterceptor((_action: Action, { items, ...page }: OffsetPage<object>) => ({ ...page, seen: items }))
  seen(@InjectListQuery() { fields: _fields, ...query }: OffsetListQuery) {
    // The records have more attributes than `fields` names.
    return new Repository(Town).page(query);
  }

  @Get('/sent')
  sent(@InjectListQuery() { size }: OffsetListQuery, @Res() response: Response) {
    response.json({ size });
  }

  @Get('/later')
  later(@InjectListQuery() { size }: OffsetListQuery, @Res() response: Response) {
    setImmediate(() => response.json({ size }));
    return response;
  }

  @Get('/null')
  @OnNull(410)
  null(@InjectListQuery() _query: OffsetListQuery) {
    return null;
  }

  @Get('/undefined')
  @OnUndefined(202)
  undefined(@InjectListQuery() _query: OffsetListQuery) {}

  @Get('/first')
  first(@InjectRepository(Town) towns: Repository<Town>) {
    return towns.page({ page: 1, size: 2 });
  }

  @Get('/cursors')
  cursors(@InjectRepository(Town) towns: Repository<Town>) {
    return towns.cursorPage({ size: 2 });
  }

  @Post('/search')
  async search(@InjectListQuery() query: OffsetListQuery, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Town).update(1, { name: 'found' });
    return uow.repository(Town).page(query);
  }
}

class TaskController extends crudController(Task) {
  @Get('/mine')
  mine(@InjectListQuery() query: CursorListQuery, @InjectRepository(Task) tasks: Repository<Task>) {
    return tasks.cursorPage(query);
  }

  @Get('/in/:townId')
  inTown(
    @Param('townId') townId: number,
    @InjectListQuery() query: CursorListQuery,
    @InjectRepository(Task) tasks: Repository<Task>,
  ) {
    return tasks.cursorPage({ ...query, where: { townId } });
  }

  @Get('/pages')
  pages(@InjectListQuery() query: CursorListQuery, @InjectRepository(Task) tasks: Repository<Task>) {
    return cursorPageOf(query, tasks);
  }

  @Get('/about')
  about(): object {
    return { of: 'tasks' };
  }

  @Get('/:id/title')
  title(@InjectRecord() { title }: Task): object {
    return { title };
  }

  @Post('/:id/end')
  async end(@InjectRecord() task: Task, @Body() _body: Count): Promise<Task> {
    return task.update({ title: `${task.title} ended` });
  }

  @Authorized()
  @Delete('/:id/guarded')
  guarded(@InjectId() id: number): object {
    return { id };
  }

  override async update(
    id: Id,
    values: UpdateValues<Task>,
    context: CrudContext<Task>,
    @InjectRecord() before?: Task,
    @InjectId() same?: number,
  ): Promise<Task> {
    return super.update(id, { title: `${before?.title}, ${values.title} ${same === id}` }, context);
  }
}

describe('a route that takes from its resource', () => {
  const logger = new CapturedLog();
  const database = forSuite(() => freshDatabase());
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Town, Task] as ModelClass[],
      database: { url: database.url },
      engine: { pool: { max: 2, acquire: 10_000 } },
      bootstrap: {
        controllers: [TownController, TaskController],
        logger,
        routing: { authorizationChecker: ({ request }) => request.get('tenant') !== undefined },
      },
    }),
  );
  let isChanged = true;

  beforeEach(async () => {
    logger.clear();
    if (isChanged) await undo();
  });

  async function undo(): Promise<void> {
    isChanged = false;
    await Town.destroy({ truncate: true, restartIdentity: true });
    await Task.destroy({ truncate: true, restartIdentity: true });
    const names = ['Ulm', 'Bonn', 'Kiel', 'Jena', 'Hof'];
    await Town.bulkCreate(names.map((name, index) => ({ name, population: 10 * index })));
    const titles = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    await Task.bulkCreate(
      titles.map((title, index) => ({
        title,
        tenantId: 1 + (index % 2),
        townId: 1 + (index % 4 > 1 ? 1 : 0),
      })),
    );
  }

  async function same(path: string, more: Partial<WholeRequest> = {}): Promise<WholeAnswer> {
    const answer = await paths.same({ path, ...more }, more.method ? undo : undefined);
    isChanged ||= more.method !== undefined;
    return answer;
  }
  const json = async (path: string, more: Partial<WholeRequest> = {}) => {
    const { status, body } = await same(path, more);
    return { status, body: body === '' ? null : JSON.parse(body) };
  };
  const of = (tenant: number) => ({ headers: { tenant: String(tenant) } });

  describe('its id', () => {
    it('gets it as the resource parses ids', async () => {
      for (const path of ['/towns/3/number?unit=m', '/towns/3/figure?unit=m']) {
        const { body } = await json(path);
        expect(body).to.deep.equal({ id: 3, type: 'number', unit: 'm' });
      }
      expect((await json('/towns/99/number')).status).to.equal(200);
      expect((await json('/towns/3/number?unit=m&other=1')).status).to.equal(400);
    });

    it('refuses what the generated routes refuse, with the same answer', async () => {
      for (const id of ['x', '1.5', '0x1', '-0', '99999999999'])
        expect(await same(`/towns/${id}/number`), id).to.deep.equal(await same(`/towns/${id}`));
    });
  });

  describe('its record', () => {
    it('gets the row of the id, on each of several paths, through the read schema and in the session of the request', async () => {
      for (const path of ['/towns/2/name', '/towns/2/first-name'])
        expect(await json(path)).to.deep.equal({ status: 200, body: { name: 'Bonn' } });
      expect((await same('/towns/2/name', { method: 'HEAD' })).status).to.equal(200);
      const ulm = { id: 1, name: 'Ulm', population: 0 };
      expect((await json('/towns/1/twin')).body).to.deep.equal({ town: ulm });
      expect((await json('/towns/1/session')).body).to.deep.equal({ towns: [ulm, ulm, 5] });
    });

    it('answers a missing one as the generated read does', async () => {
      for (const id of ['99', 'x', '99999999999'])
        expect(await same(`/towns/${id}/name`), id).to.deep.equal(await same(`/towns/${id}`));
      const { body } = await same('/towns/99');
      const write = { method: 'POST', body: { count: 1 } };
      expect((await same('/towns/99/growth', write)).body).to.equal(body);
    });

    it('is read in a GET by what cannot write', async () => {
      const statement = "UPDATE towns SET name = 'written'";
      const write = () => currentEngine().sequelize.query(statement);
      const { status } = await withHook(Town, 'beforeFind', write, () => json('/towns/1/name'));
      expect(status).to.equal(500);
      expect(await Town.count({ where: { name: 'written' } })).to.equal(0);
    });

    it('does not wait in a GET for who has locked it', async () => {
      await currentEngine().sequelize.transaction(async (transaction) => {
        await Town.findByPk(1, { transaction, lock: true });
        expect((await json('/towns/1/name')).status).to.equal(200);
      });
    });

    const grow = (port: number, path = 'towns/1/growth') =>
      fetch(`http://127.0.0.1:${port}/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', tenant: '1' },
        body: '{"count":1}',
      });

    it('locks it for what a write does with it', async () => {
      for (const { port } of [paths.fast, paths.general]) {
        await undo();
        isChanged = true;
        const answers = await Promise.all(Array.from({ length: 12 }, () => grow(port)));
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
        expect((await Town.findByPk(1))?.population).to.equal(12);
      }
    });

    it('does not wait for a row that refers to it and is not committed', async () => {
      await undo();
      isChanged = true;
      await using other = await connectTo(database.url);
      // The lock of an insert with a foreign key.
      await other.query('BEGIN; SELECT FROM towns, tasks WHERE towns.id = 1 AND tasks.id = 1 FOR KEY SHARE');
      for (const { port } of [paths.fast, paths.general])
        for (const path of ['towns/1/growth', 'tasks/1/end'])
          expect((await grow(port, path)).status, path).to.equal(200);
    });

    it('begins the unit of work that all writes of the route are part of', async () => {
      expect(await json('/towns/1/transactions', { method: 'POST' })).to.deep.equal({
        status: 200,
        body: { name: 'changed', isLocked: true },
      });
      expect((await Town.findByPk(1))?.name).to.equal('changed');
    });

    it('undoes what a route has written that throws, and gives the lock back where another parameter is wrong', async () => {
      const grown = (count: unknown) => json('/towns/1/growth', { method: 'POST', body: { count } });
      expect((await grown(13)).status).to.equal(409);
      expect((await grown('many')).status).to.equal(422);
      expect((await grown(2)).body.population).to.equal(2);
    });

    it("finds what a repository of the user's finds", async () => {
      class SmallTowns extends Repository<Town> {
        static override model = Town;
        override async get(id: Id): Promise<Town> {
          return this.one({ id: Number(id), population: 0 });
        }
      }
      class SmallTownController extends crudController(SmallTowns) {
        @Get('/:id/name') name(@InjectRecord() { name }: Town): object {
          return { name };
        }
        @Post('/:id/name') rename(@InjectRecord() { name }: Town): object {
          return { name };
        }
      }
      const { agent } = await buildApp({ models: [Town], controllers: [SmallTownController], logger });
      for (const method of ['get', 'post'] as const) {
        expect((await agent[method]('/towns/1/name')).body).to.deep.equal({ name: 'Ulm' });
        expect((await agent[method]('/towns/2/name')).status).to.equal(404);
      }
    });
  });

  describe('its list query', () => {
    const queries = [
      '',
      '?size=2',
      '?size=2&page=2&sort=-name',
      '?q=population>=20;name=out=(Hof)&fields=name',
      '?page=9',
      '?size=0',
      '?sort=secret',
      '?q=nothing==1&fields=secret',
      '?other=1',
      '?size=1&size=2',
      '?q=%ff',
    ];
    for (const query of queries) {
      it(`answers '${query}' as the generated list does`, async () => {
        pageOf = (each, towns) => towns.page(each);
        const expected = await same(`/towns${query}`);
        for (const route of ['pages', 'super'])
          expect(await same(`/towns/${route}${query}`), route).to.deep.equal(expected);
      });
    }

    it('has the parameters of the route beside it', async () => {
      const { body } = await json('/towns/above?limits=5&limits=20&sort=-name&fields=name');
      expect(body).to.deep.include({ items: [{ name: 'Jena' }, { name: 'Hof' }], total: 2, has_next: false });
      expect((await json('/towns/above?limit=5')).body.detail).to.equal(
        "This route has no parameter 'limit'. Did you mean 'limits'? It accepts page, size, sort, q, fields, limits.",
      );
    });

    it('may change the items of its page', async () => {
      pageOf = async (query, towns) => {
        const page = await towns.page(query);
        return { ...page, items: page.items.map(({ id, name }) => ({ id, name: name.toUpperCase() })) };
      };
      const { body } = await json('/towns/pages?size=2&fields=name');
      expect(body).to.deep.equal({
        items: [{ name: 'ULM' }, { name: 'BONN' }],
        total: 5,
        page: 1,
        size: 2,
        pages: 3,
        has_next: true,
        has_prev: false,
      });
    });

    it('has interceptors see the envelope, and leaves answers that are written, or of nothing', async () => {
      const { body } = await json('/towns/seen?size=1&fields=name');
      expect(body).to.deep.include({ seen: [{ name: 'Ulm' }], total: 5, has_next: true });
      for (const path of ['/towns/sent', '/towns/later'])
        expect((await json(`${path}?size=7`)).body).to.deep.equal({ size: 7 });
      expect(await same('/towns/null')).to.deep.include({ status: 410 });
      expect(await same('/towns/undefined')).to.deep.include({ status: 202 });
    });

    it('pages what its unit of work has written', async () => {
      const { status, body } = await json('/towns/search?size=1&q=name==found', { method: 'POST' });
      expect(status).to.equal(200);
      expect(body.items).to.deep.equal([{ id: 1, name: 'found', population: 0 }]);
    });

    const foreignPage = (page: number) => new Repository(Task).page({ page, size: 1 });
    const numbered = { items: [], total: 0, page: 1, size: 20 };
    const place = { values: ['1'], direction: 'after' };
    const walked = { items: [], next: null, prev: null };
    const backwards = ({ size, after }: CursorListQuery, tasks: Repository<Task>) =>
      tasks.cursorPage({ size, after, sort: [{ attribute: 'title', descending: true }] });

    for (const [path, problem, ...pages] of [
      [
        '/towns/pages?size=2',
        'Town: pages has @InjectListQuery(), so it must return what page or cursorPage of a repository gives.',
        async (query: OffsetListQuery, towns: Repository<Town>) => (await towns.page(query)).items,
      ],
      [
        '/towns/pages',
        'Town: pages has @InjectListQuery(), and returned a page of another model.',
        () => foreignPage(1),
        () => foreignPage(50),
        async () => ({ ...(await foreignPage(1)) }),
      ],
      [
        '/towns/pages',
        'so it must return a page by number.',
        ...[walked, ...['total', 'page', 'size'].map((name) => ({ ...numbered, [name]: undefined }))],
      ],
      [
        '/tasks/pages',
        'so it must return a page by cursor.',
        ...[numbered, { items: [], next: null }, { items: [], prev: null }],
      ],
      [
        '/tasks/pages',
        'and returned places that no repository gave.',
        ...[
          { ...walked, next: place },
          { ...walked, prev: place },
        ],
      ],
      [
        '/tasks/pages?size=1',
        'Task: pages has @InjectListQuery(), and returned a page in another order.',
        backwards,
        async (...given: Parameters<typeof backwards>) => ({ ...(await backwards(...given)) }),
      ],
      [
        '/towns/cursors',
        'Town: cursors returned a page by cursor, and has no @InjectListQuery(), so that nothing could read its cursors.',
        () => null,
      ],
    ] as const)
      it(`fails at ${path}: ${problem}`, async () => {
        for (const page of pages) {
          logger.clear();
          pageOf = cursorPageOf = typeof page === 'function' ? (page as () => unknown) : () => page;
          expect((await json(path, of(1))).status).to.equal(500);
          expect(JSON.stringify(logger.lines)).to.contain(problem);
        }
      });

    it('may be a plain page of its kind, in another order of pages by number, and of a scope of the model', async () => {
      pageOf = () => numbered;
      expect((await json('/towns/pages')).body).to.deep.include({ items: [], total: 0 });
      pageOf = () => ({ ...numbered, total: null, totalIs: 'none', hasNext: false });
      expect((await json('/towns/pages')).body).to.deep.include({ items: [], total: null });
      cursorPageOf = () => walked;
      expect((await json('/tasks/pages', of(1))).body).to.deep.include({ items: [], next_cursor: null });
      pageOf = (query) => {
        const sort = [{ attribute: 'name', descending: true }];
        return new Repository(Town.unscoped() as typeof Town).page({ ...query, sort });
      };
      const { body } = await json('/towns/pages?size=2&fields=name');
      expect(body.items).to.deep.equal([{ name: 'Ulm' }, { name: 'Kiel' }]);
      expect((await json('/towns/first')).body).to.deep.equal((await json('/towns?size=2')).body);
    });

    it('walks all pages by its cursors, there and back', async () => {
      for (const path of ['/tasks/mine?sort=-title&size=3', '/tasks/in/1?sort=-title&size=1']) {
        const first = await json(path, of(1));
        const titles = path.includes('mine') ? ['g', 'e', 'c', 'a'] : ['e', 'a'];
        const { next_cursor: next } = first.body;
        const second = await json(`${path}&after=${next}`, of(1));
        expect([...first.body.items, ...second.body.items].map(({ title }) => title)).to.deep.equal(titles);
        expect(second.body).to.include({ has_next: false, has_prev: true });
        const back = await json(`${path}&before=${second.body.prev_cursor}`, of(1));
        expect(back.body.items).to.deep.equal(first.body.items);
      }
    });

    it('refuses cursors of another list', async () => {
      const { body } = await json('/tasks/mine?sort=-title&size=1', of(1));
      const after = `after=${body.next_cursor}`;
      expect((await json(`/tasks/mine?sort=-title&${after}`, of(1))).status).to.equal(200);
      expect((await json(`/tasks/mine?sort=-title&${after}`, of(2))).status).to.equal(400);
      expect((await json(`/tasks/mine?sort=title&${after}`, of(1))).status).to.equal(400);
      expect((await json(`/tasks/mine?sort=-title&q=title==c&${after}`, of(1))).status).to.equal(400);
    });
  });

  describe('within the access of the request', () => {
    it('has no record of others', async () => {
      expect((await json('/tasks/1/title', of(1))).body).to.deep.equal({ title: 'a' });
      const missing = await same('/tasks/99/title', of(2));
      expect(missing).to.deep.equal(await same('/tasks/99', of(2)));
      expect(await same('/tasks/1/title', of(2))).to.deep.equal(missing);
      const end = { ...of(2), method: 'POST', body: { count: 1 } };
      expect(await same('/tasks/1/end', end)).to.deep.equal(missing);
      expect((await json('/tasks/2/end', end)).body).to.include({ title: 'b ended' });
      expect((await Task.findByPk(1))?.title).to.equal('a');
    });

    it('lists no row of others, whatever the generated list may do, and is not refused where it takes nothing', async () => {
      const { body } = await json('/tasks/mine', of(2));
      expect(body.items.map(({ title }: Task) => title)).to.deep.equal(['b', 'd', 'f', 'h']);
      expect((await json('/tasks', of(2))).status).to.equal(403);
      expect((await json('/tasks/about')).body).to.deep.equal({ of: 'tasks' });
    });

    it('is written as the application writes JSON', async () => {
      const { agent } = await buildApp(
        {
          models: [Town, Task],
          controllers: [TownController, TaskController],
          logger,
          routing: { authorizationChecker: () => true },
        },
        (app) => app.set('json replacer', (name: string, value: unknown) => (name === 'title' ? '*' : value)),
      );
      const { body } = await agent.get('/tasks/mine').set('Tenant', '2');
      expect(body.items.map(({ title }: Task) => title)).to.deep.equal(['*', '*', '*', '*']);
    });

    it('is refused before its query, id and body are read', async () => {
      expect((await json('/tasks/mine?nothing=1')).status).to.equal(403);
      expect((await json('/tasks/x/title')).status).to.equal(403);
      for (const body of ['no object', { count: 'x' }])
        expect((await json('/tasks/1/end', { method: 'POST', body })).status).to.equal(403);
      expect((await json('/tasks/x/end', { ...of(1), method: 'POST', body: 'no object' })).status).to.equal(
        400,
      );
    });

    it('asks the rules after @Authorized()', async () => {
      expect((await json('/tasks/x/guarded', { method: 'DELETE' })).status).to.equal(401);
      expect((await json('/tasks/x/guarded', { ...of(1), method: 'DELETE' })).status).to.equal(400);
      expect((await json('/tasks/1/guarded', { ...of(1), method: 'DELETE' })).body).to.deep.equal({ id: 1 });
    });
  });

  it('asks the rules after @Authorized() of the class', async () => {
    await using _database = await ownDatabase();
    @Authorized()
    class ClosedController extends crudController(Street) {
      @Post('/:id/number')
      number(@InjectId() id: number): object {
        return { id };
      }
    }
    const { agent } = await buildApp({
      models: [Street],
      controllers: [ClosedController],
      logger,
      routing: { authorizationChecker: ({ request }) => request.get('tenant') !== undefined },
    });
    expect((await agent.post('/streets/x/number')).status).to.equal(401);
    expect((await agent.post('/streets/x/number').set('Tenant', '1')).status).to.equal(400);
    expect((await agent.post('/streets/7/number').set('Tenant', '1')).body).to.deep.equal({ id: 7 });
  });

  it('locks a record with what its scope joins, on a Sequelize instance of the application', async () => {
    await using _database = await ownDatabase();
    class StreetController extends crudController(Street) {
      @Post('/:id/name')
      async rename(
        @InjectRecord() street: Street,
        @InjectUnitOfWork() { transaction }: UnitOfWork,
        @InjectRepository(Street) streets: Repository<Street>,
      ): Promise<object> {
        await street.update({ name: `${street.name}!` }, { transaction });
        await streets.update(street.id, { name: `${street.name}?` });
        return { name: street.name, houses: street.houses?.length };
      }
    }
    const { agent } = await buildApp({ models: [Street], controllers: [StreetController], logger });
    await Street.create({ name: 'Elm' });
    await House.bulkCreate([{ streetId: 1 }, { streetId: 1 }]);
    const answers = await Promise.all([1, 2, 3].map(() => agent.post('/streets/1/name')));
    expect(answers.map(({ body }) => body.houses)).to.deep.equal([2, 2, 2]);
    expect((await Street.findByPk(1))?.name).to.equal('Elm!?!?!?');
    expect((await agent.post('/streets/2/name')).status).to.equal(404);
  });

  it('may stand in the place of a generated one', async () => {
    const change = { method: 'PATCH', body: { title: 'z' } };
    expect((await json('/tasks/1', { ...change, ...of(1) })).body).to.include({ title: 'a, z true' });
    expect((await json('/tasks/1', { ...change, ...of(2) })).status).to.equal(404);
    expect((await json('/tasks/1', change)).status).to.equal(403);
  });

  it('asks no rule of an operation that the resource does not have, whatever the method is called', async () => {
    const rules = { can: { create: () => false }, endpoints: ['read'] } as const;
    class Towns extends crudController(Town, rules) {
      @Post('/:id/replace')
      override async replace(@InjectId() id: Id): Promise<Town> {
        return { id } as Town;
      }
    }
    const { agent } = await buildApp({ models: [Town], controllers: [Towns], logger });
    expect((await agent.post('/towns/3/replace')).body).to.deep.equal({ id: 3 });
    expect((await agent.post('/towns/x/replace')).status).to.equal(400);
  });

  it('is refused at the start where it could take nothing', async () => {
    @JsonController('/plain')
    class PlainController {
      @Get('/:id') read(@InjectRecord() town: Town) {
        return town;
      }
    }
    class WrongController extends crudController(Town) {
      @Get('/named/:townId') named(@InjectId() id: number) {
        return { id };
      }
      @Get(/\/matched/) matched(@InjectRecord() town: Town) {
        return town;
      }
      @Get('/both') both(@InjectListQuery() query: ListQuery, @QueryParams() all: Count) {
        return { query, all };
      }
      override async list(query: ListQuery, context: CrudContext<Town>, @InjectId() _id?: number) {
        return super.list(query, context);
      }
      override async read(
        id: Id,
        query: ListQuery,
        context: CrudContext,
        @InjectListQuery() _list?: ListQuery,
      ) {
        return super.read(id, query, context);
      }
      @Post('/:id/change')
      override async update(
        id: Id,
        values: UpdateValues<Town>,
        context: CrudContext<Town>,
        @InjectListQuery() _list?: ListQuery,
      ) {
        return super.update(id, values, context);
      }
      override async restore(id: Id, context: CrudContext<Town>, @InjectListQuery() _list?: ListQuery) {
        return super.restore(id, context);
      }
    }
    const noId = (method: string, decorator: string, path: string) =>
      `WrongController.${method} has ${decorator}, but its path '${path}' has no ':id'; name the parameter of the path so, or take @Param().`;
    const controllers = [WrongController, PlainController];
    expect(await configProblems(() => buildApp({ models: [Town], controllers }))).to.deep.equal([
      noId('named', '@InjectId()', '/named/:townId'),
      noId('matched', '@InjectRecord()', '/\\/matched/'),
      'WrongController.both has @InjectListQuery(), and @QueryParams(), which would refuse the parameters of the list; name single ones with @QueryParam().',
      noId('list', '@InjectId()', '/'),
      ...['read', 'update', 'restore'].map(
        (method) =>
          `WrongController.${method} has @InjectListQuery(), but a generated method reads its query string itself; move it to a route of your own.`,
      ),
      'PlainController.read has @InjectRecord(), but the controller has no resource; extend crudController(Model) in it, or take @Param() and @InjectRepository(Model).',
    ]);
  });
});

@Crud({ scope: { tenantId: (request) => request.get('tenant') } })
@Table({
  tableName: 'pages',
  updatedAt: false,
  paranoid: true,
  indexes: [{ unique: true, fields: ['code'] }],
})
class Sheet extends NumberedRow {
  @Column({ type: DataType.STRING(8), allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.INTEGER) declare code: number | null;
  @Column(DataType.INTEGER) declare tenantId: number;
  @Column({ type: DataType.STRING, unique: 'pair' }) declare left: string | null;
  @Column({ type: DataType.STRING, unique: 'pair' }) declare right: string | null;
  @Column({ type: DataType.JSONB, unique: true }) declare data: object | null;
}

class Sheets extends crudController(Sheet) {
  @Get('/by-slug/:slug')
  bySlug(@InjectRecord({ by: 'slug' }) sheet: Sheet): Sheet {
    return sheet;
  }

  @Get('/by-code/:code/of/:id')
  async both(
    @InjectRecord({ by: 'code' }) { code }: Sheet,
    @InjectRecord() { slug }: Sheet,
  ): Promise<object> {
    return { code, slug };
  }

  @Post('/by-slug/:slug/renaming')
  rename(@InjectRecord({ by: 'slug' }) sheet: Sheet): Promise<Sheet> {
    return sheet.update({ slug: 'renamed' });
  }

  @Get('/of/all')
  async count(@InjectContext() { request, repository }: CrudContext<Sheet>): Promise<object> {
    return { tenant: request.get('tenant'), count: await repository.count() };
  }

  @Post('/of/nothing')
  nothing(@InjectContext() _context: CrudContext): void {}

  @Post('/of/gone')
  @OnUndefined(410)
  gone(): void {}
}

describe('a route of a resource', () => {
  const log = new CapturedLog();
  const defaults = { undefinedResultCode: 204 };
  const options = (routing: BootstrapOptions['routing'] = {}) => ({
    models: [Sheet] as ModelClass[],
    bootstrap: { controllers: [Sheets], routing, logger: log },
  });
  const paths = forSuite(() => TwoPaths.start(options({ defaults })));

  beforeEach(async () => {
    await Sheet.destroy({ truncate: true, restartIdentity: true, force: true });
    const rows = [
      { slug: 'one', code: 2, tenantId: 1 },
      { slug: '1', code: 1, tenantId: 1 },
      { slug: 'theirs', code: 3, tenantId: 2 },
      { slug: 'deleted', code: 4, tenantId: 1, deletedAt: new Date() },
    ];
    await Sheet.bulkCreate(rows as never);
  });

  async function same(path: string, more: Partial<WholeRequest> = {}, undo = async () => {}) {
    const { status, body } = await paths.same({ path, headers: { tenant: '1' }, ...more }, undo);
    return [status, body && JSON.parse(body)];
  }

  it('has the record of a unique attribute, and none of others, deleted ones or another kind', async () => {
    for (const [slug, id] of Object.entries({ one: 1, 1: 2 })) {
      const [status, body] = await same(`/sheets/by-slug/${slug}`);
      expect([status, body.id, body.slug]).to.deep.equal([200, id, slug]);
    }
    expect(await same('/sheets/by-code/1/of/1')).to.deep.equal([200, { code: 1, slug: 'one' }]);
    for (const slug of ['theirs', 'deleted', 'missing', 'longerThanTheColumn', '%E2%98%83'])
      expect(await same(`/sheets/by-slug/${slug}`)).to.deep.equal([
        404,
        { detail: 'There is no Sheet with this slug.' },
      ]);
    const [status, { errors }] = await same('/sheets/by-code/x/of/1');
    expect([status, errors[0].parameter]).to.deep.equal([400, 'code']);
    expect((await same('/sheets/by-code/99999999999/of/1'))[0]).to.equal(404);
  });

  it('locks the record of a write, and changes no other', async () => {
    const undo = () => Sheet.update({ slug: 'one' }, { where: { id: 1 } }).then(() => {});
    const renamed = await same('/sheets/by-slug/one/renaming', { method: 'POST' }, undo);
    expect([renamed[0], renamed[1].slug]).to.deep.equal([200, 'renamed']);
    expect((await same('/sheets/by-slug/theirs/renaming', { method: 'POST' }))[0]).to.equal(404);
    const { status } = await paths.same({ path: '/sheets/by-slug/1/renaming', method: 'POST' });
    expect(status).to.equal(403);
    const slugs = (await Sheet.findAll({ paranoid: false, order: ['id'] })).map(({ slug }) => slug);
    expect(slugs).to.deep.equal(['renamed', '1', 'theirs', 'deleted']);
  });

  it('has the context of overrides, within the access of its request', async () => {
    expect(await same('/sheets/of/all')).to.deep.equal([200, { tenant: '1', count: 2 }]);
    const { status } = await paths.same({ path: '/sheets/of/all' });
    expect(status).to.equal(403);
  });

  it('answers 204 to nothing where the application says so, and else 404 with a line in the log', async () => {
    expect(await same('/sheets/of/nothing', { method: 'POST' })).to.deep.equal([204, '']);
    expect((await same('/sheets/of/gone', { method: 'POST' }))[0]).to.equal(410);
    expect(log.text).to.not.contain('Sheets.');
    const { agent, crud } = await buildApp({ models: [Sheet], ...options().bootstrap });
    const answer = await agent.post('/sheets/of/nothing').set('tenant', '1');
    expect(answer.status).to.equal(404);
    expect(log.text).to.match(
      /POST \/sheets\/of\/nothing is answered with 404, as Sheets\.nothing (or an interceptor )?returned nothing/,
    );
    const responsesOf = (application: typeof crud) =>
      application.openapi().paths['/sheets/of/nothing']?.post?.responses;
    expect(responsesOf(paths.site.crud)).to.include.keys('204', '404');
    expect(responsesOf(crud)).to.not.have.property('204');
  });

  it('is described with the parameter of its key', async () => {
    const contract = new ApiContract(paths.site.crud.openapi());
    const operation = contract.operations.get('bySlugSheet')?.operation;
    expect(operation?.parameters).to.deep.equal([
      {
        name: 'slug',
        in: 'path',
        required: true,
        description: 'The slug.',
        schema: { type: 'string', minLength: 1, maxLength: 8 },
      },
    ]);
    contract.check('bySlugSheet', await paths.site.agent.get('/sheets/by-slug/one').set('tenant', '1'));
    contract.check('bySlugSheet', await paths.site.agent.get('/sheets/by-slug/x').set('tenant', '1'));
  });

  it('is refused at the start where it could find several records, or none', async () => {
    const problemsOf = (by: string, path: string) => {
      class Wrong extends crudController(Sheet) {
        @Get(path) wrong(@InjectRecord({ by }) _sheet: Sheet) {
          throw new HttpError(500);
        }
      }
      return configProblems(() => buildApp({ models: [Sheet], controllers: [Wrong] }));
    };
    for (const [by, path, problem] of [
      ['slug', '/s/:id', "Wrong.wrong has @InjectRecord({ by }), but its path '/s/:id' has no ':slug'"],
      [
        'slgu',
        '/s/:slgu',
        "@InjectRecord({ by: 'slgu' }) of Wrong names no attribute of Sheet. Did you mean 'slug'?",
      ],
      [
        'tenantId',
        '/s/:tenantId',
        "@InjectRecord({ by: 'tenantId' }) of Wrong names an attribute that is not unique",
      ],
      ['left', '/s/:left', "@InjectRecord({ by: 'left' }) of Wrong names an attribute that is not unique"],
      [
        'data',
        '/s/:data',
        "@InjectRecord({ by: 'data' }) of Wrong: Sheet: the attribute 'data' is of type json",
      ],
    ] as const)
      expect((await problemsOf(by, path)).join()).to.contain(problem);
    expect(() => InjectRecord({ key: 'slug' } as object)).to.throw(
      "@InjectRecord has no option 'key'. The options are by.",
    );
    @JsonController('/plain')
    class Plain {
      @Get('/') plain(@InjectContext() _context: CrudContext) {}
    }
    const problems = await configProblems(() => buildApp({ models: [Sheet], controllers: [Plain] }));
    expect(problems.join()).to.contain(
      'Plain.plain has @InjectContext(), but the controller has no resource',
    );
  });
});
