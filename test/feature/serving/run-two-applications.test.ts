/** Several applications in one process, over the same models: they are independent, and none leaves anything behind. */
// @runs fast

import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import express from 'express';
import {
  type Action,
  Authorized,
  Get,
  getMetadataArgsStorage,
  Header,
  Interceptor,
  type InterceptorInterface,
  JsonController,
  Middleware,
} from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  type BootstrapOptions,
  bootstrap,
  Crud,
  type CrudContext,
  crudController,
  crudRouter,
  type Id,
  type ReadQuery,
} from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'rooms', timestamps: false })
class Room extends NamedRow {
  @Exclude() @Column({ type: DataType.STRING(20), defaultValue: 'hidden' }) declare code: string;
}

@Crud()
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {}

class RoomView {
  @Expose() declare name: string;
}

@Interceptor()
class Wrap implements InterceptorInterface {
  intercept(_action: Action, content: unknown): unknown {
    return { wrapped: content };
  }
}

@Middleware({ type: 'before' })
class Stamp {
  use(_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void): void {
    response.setHeader('X-Stamp', 'yes');
    next();
  }
}

class StrictRooms extends crudController(Room, {
  prefix: '/rooms',
  readSchema: RoomView,
  endpoints: ['read', 'list'],
}) {
  @Authorized('guard')
  @Header('X-Strict', 'yes')
  override read(id: Id, query: ReadQuery, context: CrudContext<Room>): Promise<Room> {
    return super.read(id, query, context);
  }

  @Get('/strict')
  strict(): object {
    return { strict: true };
  }
}

class LooseRooms extends crudController(Room, { unknownQuery: 'ignore', pageSize: { default: 1 } }) {
  override async read(id: Id, query: ReadQuery, context: CrudContext<Room>): Promise<Room> {
    const room = await super.read(id, query, context);
    return room.set('name', `${room.name}!`);
  }

  @Get('/loose')
  loose(): object {
    return { loose: true };
  }
}

@JsonController('/extras')
class ExtrasController {
  @Get('/')
  extras(): object {
    return { extras: true };
  }
}

describe('running two applications', () => {
  const strictLog = new CapturedLog();
  const looseLog = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Room, Guest] }));
  let strict: BuiltApp;
  let loose: BuiltApp;

  before(async () => {
    // Both at once, so that nothing that one does on its way is over before the other begins.
    [strict, loose] = await Promise.all([
      buildApp({
        models: [Room],
        controllers: [StrictRooms],
        logger: strictLog,
        bodyLimit: 10,
        routing: {
          authorizationChecker: ({ request }, roles) => roles.includes(request.headers['role']),
          interceptors: [Wrap],
          middlewares: [Stamp],
        },
      }),
      buildApp({
        models: [Room, Guest],
        controllers: [LooseRooms, ExtrasController],
        logger: looseLog,
        routePrefix: '/api',
      }),
    ]);
  });

  beforeEach(async () => {
    await emptyTables(site, 'rooms', 'guests');
    await Room.create({ name: 'One' });
  });

  it('serves the generated routes where there is no subclass', async () => {
    expectJson(await site.agent.get('/rooms/1'), 200, { id: 1, name: 'One' });
    expect((await site.agent.get('/rooms/strict')).status).to.equal(400);
    expect((await site.agent.get('/rooms/loose')).status).to.equal(400);
    expect((await site.agent.get('/extras')).status).to.equal(404);
  });

  it('serves each subclass with its own options and checks', async () => {
    expectProblem(await strict.agent.get('/rooms/1'), 403, {
      detail: 'Access is denied for request on GET /rooms/1',
    });
    const allowed = await strict.agent.get('/rooms/1').set('Role', 'guard');
    expectJson(allowed, 200, { wrapped: { name: 'One' } });
    expect(allowed.headers).to.include({ 'x-strict': 'yes', 'x-stamp': 'yes' });
    expect((await strict.agent.post('/rooms').send({ name: 'Two' })).status).to.equal(405);

    const free = await loose.agent.get('/api/rooms/1?anything=1');
    expectJson(free, 200, { id: 1, name: 'One!' });
    expect(free.headers).to.not.have.any.keys('x-strict', 'x-stamp');
    expect((await loose.agent.post('/api/rooms').send({ name: 'A longer name' })).status).to.equal(201);
    expect((await loose.agent.get('/api/rooms')).body).to.include({ size: 1, total: 2 });
  });

  it('keeps routes, models, prefixes and hand-written controllers apart', async () => {
    expectJson(await strict.agent.get('/rooms/strict'), 200, { wrapped: { strict: true } });
    expectJson(await loose.agent.get('/api/rooms/loose'), 200, { loose: true });
    expectJson(await loose.agent.get('/api/extras'), 200, { extras: true });
    for (const [{ agent }, path] of [
      [strict, '/rooms/loose'],
      [loose, '/api/rooms/strict'],
    ] as const) {
      expect((await agent.get(path).set('Role', 'guard')).status, path).to.equal(400);
    }
    for (const [{ agent }, path] of [
      [strict, '/guests'],
      [strict, '/extras'],
      [strict, '/api/rooms'],
      [loose, '/rooms'],
      [loose, '/extras'],
      [site, '/api/rooms'],
    ] as const) {
      expect((await agent.get(path)).status, path).to.equal(404);
    }
  });

  it('lists the routes of each', () => {
    const paths = (app: { crud: BuiltApp['crud'] }) =>
      app.crud.routes.map(({ method, path }) => `${method} ${path}`);
    expect(paths(strict)).to.deep.equal(['GET /rooms/strict', 'GET /rooms', 'GET /rooms/:id']);
    expect(paths(loose)).to.have.lengthOf(11);
    expect(paths(site)).to.have.lengthOf(10);
  });

  it('logs to the logger of each', async () => {
    class Failing extends crudController(Room) {
      override read(): Promise<Room> {
        throw new Error('broken');
      }
    }
    const own = new CapturedLog();
    const { agent } = await buildApp({ models: [Room], controllers: [Failing], logger: own });
    expect((await agent.get('/rooms/1')).status).to.equal(500);
    expect([own.lines.length, strictLog.lines.length, looseLog.lines.length]).to.deep.equal([1, 0, 0]);
  });

  it('goes on as it was after another application could not be built', async () => {
    class Broken extends crudController(Room, { prefix: '/rooms' }) {
      @Authorized()
      @Get('/:number')
      twin(): object {
        return {};
      }
    }
    expect(await configProblems(() => buildApp({ models: [Room], controllers: [Broken] }))).to.not.be.empty;
    expectJson(await site.agent.get('/rooms/1'), 200, { id: 1, name: 'One' });
    expectJson(await loose.agent.get('/api/rooms/1'), 200, { id: 1, name: 'One!' });
  });

  it('serves one application under two prefixes of one Express application', async () => {
    const app = express();
    await bootstrap(app, { models: [Room], routePrefix: '/v1' });
    await bootstrap(app, { models: [Room], controllers: [LooseRooms], routePrefix: '/v2' });
    const agent = supertest(app);
    expectJson(await agent.get('/v1/rooms/1'), 200, { id: 1, name: 'One' });
    expectJson(await agent.get('/v2/rooms/1'), 200, { id: 1, name: 'One!' });
  });

  it('has a document for each prefix, and warns of one that another one hides', async () => {
    const app = express();
    const logger = new CapturedLog();
    const models = [Room];
    const mount = (options: BootstrapOptions) => bootstrap(app, { models, logger, ...options });
    await mount({ routePrefix: '/v1' });
    await mount({ routePrefix: '/v2', docs: { path: '/v2/docs' } });
    await mount({ routePrefix: '/v3', docs: false });
    const hiddenLines = () => logger.lines.flatMap(({ message }) => (/docs/.test(message) ? message : []));
    expect(hiddenLines()).to.deep.equal([]);
    for (const [path, prefix] of [
      ['/openapi.json', '/v1'],
      ['/v2/openapi.json', '/v2'],
    ] as const) {
      const { paths } = (await supertest(app).get(path)).body;
      expect(Object.keys(paths)).to.include(`${prefix}/rooms`).and.not.include('/v3/rooms');
    }
    const hidden = (prefix: string) =>
      'The application answers GET /openapi.json already, so that the documentation of this call of bootstrap is hidden; give it a ' +
      `place of its own, such as docs: { path: '${prefix}/docs' }, or leave it out with docs: false.`;
    await mount({ routePrefix: '/v4' });
    // The page has a place of its own, and its document has none.
    await mount({ routePrefix: '/v5', docs: { path: '/pages' } });
    expect(hiddenLines()).to.deep.equal([hidden('/v4'), hidden('/v5')]);
  });

  it('mounts the routes before it returns its promise', async () => {
    const app = express();
    const pending = bootstrap(app, { models: [Room] });
    app.use((_request, response) => {
      response.status(404).json({ by: 'the application' });
    });
    expectJson(await supertest(app).get('/rooms/1'), 200, { id: 1, name: 'One' });
    await pending;
  });

  describe('ten times', () => {
    /** Number of entries in the storage of routing-controllers, by kind. */
    const storageSizes = () =>
      Object.entries(getMetadataArgsStorage()).map(([kind, entries]) => [kind, entries.length]);

    it('[I3] leaves the storage of routing-controllers as it was', async () => {
      const before = storageSizes();
      for (let count = 0; count < 10; count += 1) {
        await buildApp({
          models: [Room, Guest],
          controllers: [count % 2 === 0 ? StrictRooms : LooseRooms, ExtrasController],
          routing: { interceptors: [Wrap], middlewares: [Stamp], authorizationChecker: () => true },
        });
        crudRouter(Guest);
      }
      await buildApp({ models: [Room], routePrefix: 'wrong' }).catch(() => {});
      expect(storageSizes()).to.deep.equal(before);
    });
  });
});
