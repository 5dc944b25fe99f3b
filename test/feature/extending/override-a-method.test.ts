/** Subclasses of generated controllers: overrides need no decorators, and take those that they have. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import type { NextFunction, Request, Response } from 'express';
import {
  type Action,
  Authorized,
  BadRequestError,
  Body,
  CurrentUser,
  Get,
  Header,
  HeaderParam,
  HttpCode,
  OnUndefined,
  Param,
  QueryParam,
  Req,
  UseBefore,
  UseInterceptor,
} from 'routing-controllers';
import { type CreationAttributes, Op } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  type Id,
  type ListQuery,
  type OffsetListQuery,
  type Page,
  type ReadQuery,
  Repository,
} from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'songs', timestamps: false })
class Song extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
  @Column({ type: DataType.BIGINT, allowNull: false, defaultValue: 0 }) declare plays: string;
  @Exclude() @Column({ type: DataType.STRING(20), defaultValue: 'hidden' }) declare contract: string;
}

/** A model without `@Crud`. */
@Table({ tableName: 'labels', timestamps: false })
class Label extends NamedRow {}

type Values = Partial<CreationAttributes<Song>>;

const FIRST = { id: 1, title: 'First', plays: '0' };

describe('overriding a method', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Song, Label], bootstrap: { models: [Song], logger } }));

  /** An application with this controller in place of the generated one. */
  const serve = async (controller: abstract new () => object, user?: object) => {
    const { agent } = await buildApp({
      models: [Song],
      controllers: [controller as new () => object],
      logger,
      routing: {
        authorizationChecker: ({ request }: Action, roles: string[]) =>
          roles.every((role) => request.headers['role'] === role) && request.headers['role'] !== undefined,
        currentUserChecker: () => user,
      },
    });
    return agent;
  };

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'songs', 'labels');
    await Song.create({ title: 'First' });
  });

  describe('without decorators', () => {
    it('gets a parsed id, checked values and the context, and may call super', async () => {
      const calls: unknown[] = [];
      class Songs extends crudController(Song) {
        override list(query: ListQuery, context: CrudContext<Song>): Promise<Page<Song>> {
          calls.push(['list', { ...query }]);
          return super.list(query, context);
        }
        override read(id: Id, query: ReadQuery, context: CrudContext<Song>): Promise<Song> {
          calls.push(['read', id, { ...query }, context.request.method]);
          return super.read(id, query, context);
        }
        override create(values: CreationAttributes<Song>, context: CrudContext<Song>): Promise<Song> {
          calls.push(['create', values]);
          return super.create({ ...values, title: `${values.title}!` }, context);
        }
        override update(id: Id, values: Values, context: CrudContext<Song>): Promise<Song> {
          calls.push(['update', id, values, context.repository instanceof Repository]);
          context.response.setHeader('X-Changed', Object.keys(values).join());
          return super.update(id, values, context);
        }
        override async remove(id: Id, context: CrudContext<Song>): Promise<void> {
          calls.push(['remove', id]);
          await super.remove(id, context);
        }
      }
      const agent = await serve(Songs);
      expectJson(await agent.get('/songs?page=2&size=1'), 200, {
        items: [],
        total: 1,
        page: 2,
        size: 1,
        pages: 1,
        has_next: false,
        has_prev: true,
      });
      expectJson(await agent.get('/songs/1?fields=title,id'), 200, { id: 1, title: 'First' });
      const created = await agent.post('/songs').send({ title: 'New' });
      expectJson(created, 201, { id: 2, title: 'New!', plays: '0' });
      expect(created.headers['location']).to.equal('/songs/2');
      const updated = await agent.patch('/songs/2').send({ plays: '9007199254740993' });
      expectJson(updated, 200, { id: 2, title: 'New!', plays: '9007199254740993' });
      expect(updated.headers['x-changed']).to.equal('plays');
      expectNothing(await agent.delete('/songs/2'), 204);
      expect(calls).to.deep.equal([
        [
          'list',
          {
            kind: 'offset',
            page: 2,
            size: 1,
            filter: null,
            sort: [{ attribute: 'id', descending: false }],
            fields: null,
          },
        ],
        ['read', 1, { fields: ['id', 'title'] }, 'GET'],
        ['create', { title: 'New' }],
        ['update', 2, { plays: '9007199254740993' }, true],
        ['remove', 2],
      ]);
    });

    it('is only called with what is valid', async () => {
      class Songs extends crudController(Song) {
        override read(): Promise<Song> {
          throw new Error('called');
        }
        override create(): Promise<Song> {
          throw new Error('called');
        }
      }
      const agent = await serve(Songs);
      expect((await agent.get('/songs/x')).status).to.equal(400);
      expect((await agent.get('/songs/1?a=1')).status).to.equal(400);
      expect((await agent.post('/songs').send({})).status).to.equal(422);
      expect((await agent.post('/songs').type('text').send('x')).status).to.equal(415);
      expect(logger.lines).to.deep.equal([]);
    });
  });

  describe('that returns plain objects', () => {
    class Songs extends crudController<Song, object>(Song) {
      override async read(): Promise<object> {
        return { title: 'Plain', id: 5, plays: 12n, contract: 'secret', extra: true };
      }
      override async list(): Promise<Page<object>> {
        return { items: [{ title: 'Plain', contract: 'secret' }], total: 41, page: 3, size: 20 };
      }
      override async create(values: CreationAttributes<Song>): Promise<object> {
        return { ...values, id: 'a b' };
      }
      override async update(id: Id, values: object): Promise<object> {
        return { id, ...values, contract: 'secret' };
      }
    }

    it('completes the envelope of a list, and sends the attributes of the read schema, in their order and wire types', async () => {
      const agent = await serve(Songs);
      const { text } = await agent.get('/songs/1');
      expect(text).to.equal('{"id":5,"title":"Plain","plays":"12"}');
      expectJson(await agent.get('/songs'), 200, {
        ...{ items: [{ title: 'Plain' }], total: 41, page: 3, size: 20, pages: 3 },
        ...{ has_next: false, has_prev: true },
      });
    });

    it('hides of a record in the place of a number what it hides elsewhere', async () => {
      class Totals extends crudController<Song, object>(Song) {
        override async list(): Promise<Page<object>> {
          const total = Song.build({ title: 'Total', contract: 'secret' }) as unknown as number;
          return { items: [{ title: 'Plain' }], total, page: 1, size: 20 };
        }
      }
      const { status, text } = await (await serve(Totals)).get('/songs');
      expect(status).to.equal(200);
      expect(text).to.include('Total');
      expect(text).to.not.include('secret');
    });

    it('gives an address to what it created, and sends the result of an update', async () => {
      const agent = await serve(Songs);
      const created = await agent.post('/songs').send({ title: 'New' });
      expectJson(created, 201, { id: 'a b', title: 'New' });
      expect(created.headers['location']).to.equal('/songs/a%20b');
      expectJson(await agent.patch('/songs/1').send({ title: 'New' }), 200, { id: 1, title: 'New' });
    });
  });

  describe('that returns nothing', () => {
    class Songs extends crudController(Song) {
      override async list(): Promise<Page<Song>> {
        return undefined as unknown as Page<Song>;
      }
      override async read(id: Id): Promise<Song> {
        return (id === 1 ? null : undefined) as unknown as Song;
      }
      override async create(): Promise<Song> {
        return undefined as unknown as Song;
      }
      override async update(): Promise<Song> {
        return undefined as unknown as Song;
      }
      override async remove(): Promise<void> {}
    }

    it('is right for a delete, and else a record that is missing, which is logged once', async () => {
      const agent = await serve(Songs);
      const missing = { detail: 'There is no such Song.' };
      expectProblem(await agent.get('/songs/1'), 404, missing);
      expectProblem(await agent.get('/songs/2'), 404, missing);
      expectProblem(await agent.patch('/songs/1').send({ title: 'New' }), 404, missing);
      expectProblem(await agent.get('/songs/2'), 404, missing);
      expectNothing(await agent.delete('/songs/1'), 204);
      const told = ['GET /songs/:id', 'PATCH /songs/:id'];
      expect(logger.lines.map(({ message }) => message.split(' is answered with 404,')[0])).to.deep.equal(
        told,
      );
    });

    it('is a mistake of the override, where something must come back', async () => {
      const agent = await serve(Songs);
      expectProblem(await agent.get('/songs'), 500, { detail: 'Internal Server Error' });
      expectProblem(await agent.post('/songs').send({ title: 'New' }), 500, {
        detail: 'Internal Server Error',
      });
      expect(logger.text).to.contain('The list method of the Song controller must return a page');
      expect(logger.text).to.contain('The create method of the Song controller must return the record');
    });
  });

  describe('with decorators', () => {
    it('takes a status and headers', async () => {
      class Songs extends crudController(Song) {
        @HttpCode(202)
        @Header('X-Queue', 'slow')
        override create(values: CreationAttributes<Song>, context: CrudContext<Song>): Promise<Song> {
          return super.create(values, context);
        }
        @OnUndefined(202)
        override remove(id: Id, context: CrudContext<Song>): Promise<void> {
          return super.remove(id, context);
        }
      }
      const agent = await serve(Songs);
      const created = await agent.post('/songs').send({ title: 'New' });
      expectJson(created, 202, { id: 2, title: 'New', plays: '0' });
      expect(created.headers).to.include({ 'x-queue': 'slow', location: '/songs/2' });
      expect((await agent.delete('/songs/2')).status).to.equal(202);
    });

    it('asks whether it is allowed before it looks at the body', async () => {
      class Songs extends crudController(Song) {
        @Authorized('editor')
        override create(values: CreationAttributes<Song>, context: CrudContext<Song>): Promise<Song> {
          return super.create(values, context);
        }
      }
      const agent = await serve(Songs);
      expectProblem(await agent.post('/songs').type('json').send('{'), 403, {
        detail: 'Access is denied for request on POST /songs',
      });
      expect((await agent.post('/songs').set('Role', 'editor').send({ title: 'New' })).status).to.equal(201);
      expect((await agent.get('/songs')).status).to.equal(200);
    });

    it('asks on every route where the class says so', async () => {
      @Authorized()
      class Songs extends crudController(Song) {}
      const agent = await serve(Songs);
      for (const [method, path] of [
        ['get', '/songs'],
        ['head', '/songs'],
        ['get', '/songs/1'],
        ['post', '/songs'],
        ['patch', '/songs/1'],
        ['delete', '/songs/1'],
      ] as const) {
        expect((await agent[method](path)).status, `${method} ${path}`).to.equal(401);
        expect((await agent[method](path).set('Role', 'x')).status, `${method} ${path}`).to.not.equal(401);
      }
    });

    it('runs middlewares and interceptors', async () => {
      const seen: string[] = [];
      class Songs extends crudController(Song) {
        @UseBefore((_request: Request, response: Response, next: NextFunction) => {
          response.setHeader('X-Before', 'yes');
          seen.push('before');
          next();
        })
        @UseInterceptor((_action: Action, content: object) => ({ ...content, intercepted: true }))
        override read(id: Id, query: ReadQuery, context: CrudContext<Song>): Promise<Song> {
          seen.push('read');
          return super.read(id, query, context);
        }
      }
      const agent = await serve(Songs);
      const response = await agent.get('/songs/1');
      expectJson(response, 200, { ...FIRST, intercepted: true });
      expect(response.headers['x-before']).to.equal('yes');
      expect((await agent.get('/songs')).headers).to.not.have.property('x-before');
      expect(seen).to.deep.equal(['before', 'read']);
    });

    it('takes parameters of its own after, or in place of, those it would get', async () => {
      class Songs extends crudController(Song) {
        override async read(
          id: Id,
          query: ReadQuery,
          context: CrudContext<Song>,
          @HeaderParam('X-Shout') shout?: string,
          @CurrentUser() user?: { name: string },
        ): Promise<Song> {
          const song = await super.read(id, query, context);
          return song.set('title', `${song.title} ${shout} ${user?.name}`);
        }
        override async remove(@Param('id') id: string, @Req() request?: unknown): Promise<void> {
          throw new BadRequestError(`${typeof id} ${id} ${typeof request}`);
        }
      }
      const agent = await serve(Songs, { name: 'Ann' });
      expectJson(await agent.get('/songs/1').set('X-Shout', 'LOUD'), 200, {
        ...FIRST,
        title: 'First LOUD Ann',
      });
      expectProblem(await agent.delete('/songs/x1'), 400, { detail: 'string x1 object' });
    });

    it('leaves the query string and the body of a write to the parameters', async () => {
      class Songs extends crudController(Song) {
        override create(
          @Body({ validate: false }) values: Values & { name?: string },
          context: CrudContext<Song>,
          @QueryParam('copies') copies = 1,
        ): Promise<Song> {
          return super.create({ title: `${values.name} x${copies}` }, context);
        }
      }
      const agent = await serve(Songs);
      const answer = await agent.post('/songs?copies=3').send({ name: 'Echo' });
      expect([answer.status, answer.body.title]).to.deep.equal([201, 'Echo x3']);
      expect(answer.headers).to.include({ location: `/songs/${answer.body.id}` });
    });

    it('reads query parameters of its own beside those of the list, or those as well, checked and described', async () => {
      class Songs extends crudController(Song) {
        override list(
          query: OffsetListQuery,
          { repository, response }: CrudContext<Song>,
          @QueryParam('minPlays') minPlays?: number,
          @QueryParam('size') size?: number,
        ): Promise<Page<Song>> {
          response.set('X-Size', String(size));
          return repository.page({ ...query, where: { plays: { [Op.gte]: minPlays ?? 0 } } });
        }
        override async read(
          id: Id,
          query: ReadQuery,
          context: CrudContext<Song>,
          @QueryParam('loud', { required: true }) loud?: boolean,
        ): Promise<Song> {
          const song = await super.read(id, query, context);
          return loud ? song.set('title', song.title.toUpperCase()) : song;
        }
        override remove(id: Id, context: CrudContext<Song>, @QueryParam('reason') reason?: string) {
          if (!reason) throw new BadRequestError('Say why.');
          return super.remove(id, context);
        }
      }
      const { agent, crud } = await buildApp({ models: [Song], controllers: [Songs], logger });
      await Song.create({ title: 'Second', plays: '7' });
      const second = { id: 2, title: 'Second', plays: '7' };
      const found = await agent.get('/songs?minPlays=5&fields=title&size=1');
      expect([found.body.items, found.body.total]).to.deep.equal([[{ title: 'Second' }], 1]);
      expect([found.body.size, found.get('X-Size')]).to.deep.equal([1, '1']);
      expect((await agent.get('/songs')).body.total).to.equal(2);
      for (const [parameter, value, code, detail] of [
        ['minPlays', 'many', 'range', "Parameter 'minPlays' is 'many'; it accepts a number."],
        ['size', '0', 'range', "Parameter 'size' is '0'; it accepts an integer from 1 to 100."],
        [
          'minPlay',
          '5',
          'unknown',
          "This route has no parameter 'minPlay'. Did you mean 'minPlays'? It accepts page, size, sort, q, fields, minPlays.",
        ],
      ] as const)
        expectIssue(await agent.get(`/songs?${parameter}=${value}`), 400, { parameter, code, detail });
      expectJson(await agent.get('/songs/2?loud=true'), 200, { ...second, title: 'SECOND' });
      expect((await agent.get('/songs/2')).status).to.equal(400);
      expectProblem(await agent.delete('/songs/2'), 400, { detail: 'Say why.' });
      expectNothing(await agent.delete('/songs/2?reason=old'), 204);
      const { paths } = crud.openapi();
      for (const [path, method, name, required, type] of [
        ['/songs', 'get', 'minPlays', false, 'number'],
        ['/songs/{id}', 'get', 'loud', true, 'boolean'],
        ['/songs/{id}', 'delete', 'reason', false, 'string'],
      ] as const) {
        const described = { name, in: 'query', required, schema: { type } };
        expect(paths[path]?.[method]?.parameters).to.deep.include(described);
      }
    });

    it('keeps a route of its own for a generated method', async () => {
      class Songs extends crudController(Song) {
        @Get('/by-number/:id')
        override read(id: Id, query: ReadQuery, context: CrudContext<Song>): Promise<Song> {
          return super.read(id, query, context);
        }
      }
      const agent = await serve(Songs);
      expectJson(await agent.get('/songs/by-number/1'), 200, FIRST);
      expectProblem(await agent.get('/songs/1'), 405, {
        detail: 'This path does not have the method GET; it has PATCH, DELETE, OPTIONS.',
      });
    });
  });

  describe('twice, in a line of classes', () => {
    const step = (name: string) => (_request: Request, response: Response, next: NextFunction) => {
      response.append('X-Steps', name);
      next();
    };
    const pass = (name: string) => (_action: Action, content: { at: string; through?: string }) => ({
      ...content,
      through: content.through ? `${content.through}, ${name}` : name,
    });

    class Base extends crudController(Song) {
      @Header('X-Base', 'yes')
      override async read(id: Id, query: ReadQuery, context: CrudContext<Song>): Promise<Song> {
        const song = await super.read(id, query, context);
        return song.set('title', `${song.title} base`);
      }

      @Authorized('editor')
      override remove(id: Id, context: CrudContext<Song>): Promise<void> {
        return super.remove(id, context);
      }

      @Get('/count')
      async count(): Promise<object> {
        return { count: await Song.count() };
      }

      @Get('/greeting')
      greeting(@HeaderParam('X-Name') name?: string): object {
        return { from: 'base', name };
      }

      @Get('/old-place')
      @HttpCode(201)
      @UseBefore(step('base'))
      @UseInterceptor(pass('base'))
      place(): object {
        return { at: 'base' };
      }
    }

    class Derived extends Base {
      @Header('X-Derived', 'yes')
      override async read(id: Id, query: ReadQuery, context: CrudContext<Song>): Promise<Song> {
        const song = await super.read(id, query, context);
        return song.set('title', `${song.title} derived`);
      }

      override greeting(name?: string): object {
        return { from: 'derived', name };
      }

      @Get('/new-place')
      @HttpCode(202)
      @UseBefore(step('derived'))
      @UseInterceptor(pass('derived'))
      override place(): object {
        return { at: 'derived' };
      }
    }

    it('applies what each class says, what the farther one requires first, on the path of the nearer one', async () => {
      const agent = await serve(Derived);
      const response = await agent.get('/songs/1');
      expectJson(response, 200, { ...FIRST, title: 'First base derived' });
      expect(response.headers).to.include({ 'x-base': 'yes', 'x-derived': 'yes' });
      expect((await agent.delete('/songs/1')).status).to.equal(403);
      expectJson(await agent.get('/songs/count'), 200, { count: 1 });
      const greeting = await agent.get('/songs/greeting').set('X-Name', 'Ann');
      expectJson(greeting, 200, { from: 'derived', name: 'Ann' });
      const place = await agent.get('/songs/new-place');
      expectJson(place, 202, { at: 'derived', through: 'base, derived' });
      expect(place.headers['x-steps']).to.equal('base, derived');
      // No record has this id now.
      expect((await agent.get('/songs/old-place')).status).to.equal(400);
    });

    it('leaves the class in the middle as it was', async () => {
      const agent = await serve(Base);
      expectJson(await agent.get('/songs/old-place'), 201, { at: 'base', through: 'base' });
      const response = await agent.get('/songs/1');
      expectJson(response, 200, { ...FIRST, title: 'First base' });
      expect(response.headers).to.not.have.property('x-derived');
      expectJson(await agent.get('/songs/greeting').set('X-Name', 'Bob'), 200, { from: 'base', name: 'Bob' });
    });
  });

  it('of a model without @Crud serves the model with the options of the controller', async () => {
    class Labels extends crudController(Label, { prefix: '/record-labels', pageSize: { default: 1 } }) {
      override create(values: CreationAttributes<Label>, context: CrudContext<Label>): Promise<Label> {
        return super.create({ ...values, name: values.name.toUpperCase() }, context);
      }
    }
    const { agent, crud } = await buildApp({ models: [], controllers: [Labels] });
    expectJson(await agent.post('/record-labels').send({ name: 'abc' }), 201, { id: 1, name: 'ABC' });
    expect((await agent.get('/record-labels')).body.size).to.equal(1);
    expect(crud.routes).to.have.lengthOf(5);
    expect((await agent.get('/labels')).status).to.equal(404);
  });

  describe('over a repository of its own', () => {
    class LoudSongs extends Repository<Song> {
      static override model = Song;

      override async get(id: Id): Promise<Song> {
        const song = await super.get(id);
        return song.set('title', song.title.toUpperCase());
      }

      shortest(): Promise<Song[]> {
        return this.list({ limit: 1 });
      }
    }

    it('reads through the class or the instance, and gives it to the methods', async () => {
      for (const source of [LoudSongs, new LoudSongs()]) {
        class Songs extends crudController(source) {
          override async list(_query: ListQuery, { repository }: CrudContext<Song>): Promise<Page<Song>> {
            const items = await (repository as LoudSongs).shortest();
            return { items, total: 1, page: 1, size: 1 };
          }
        }
        const agent = await serve(Songs);
        expectJson(await agent.get('/songs/1'), 200, { ...FIRST, title: 'FIRST' });
        expect((await agent.get('/songs')).body.items).to.deep.equal([FIRST]);
      }
    });
  });

  it('with options of the controller puts them over those of @Crud', async () => {
    class Songs extends crudController(Song, { prefix: '/hits', unknownQuery: 'ignore' }) {}
    const agent = await serve(Songs);
    expectJson(await agent.get('/hits/1?utm_source=x'), 200, FIRST);
    expect((await agent.get('/songs/1')).status).to.equal(404);
  });
});
