/** The route of a request: the first that matches, in the order of their declaration, however many there are. */
// @runs fast
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { All, Get, JsonController, Param, Post, Put } from 'routing-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BootstrapOptions, Crud, crudController, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { expectJson, expectNoMethod, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ prefix: '/a', idType: 'string' })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

@Crud({ prefix: '/a/B' })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends NumberedRow {}

@Crud({ prefix: '/a/c' })
@Table({ tableName: 'crates', timestamps: false })
class Crate extends NumberedRow {}

/** The answer of the method `name`. */
const by = (name: string, more: object = {}): object => ({ by: name, ...more });

@JsonController('/hall')
class HallController {
  @Get('/door')
  @Get('/window')
  part(): object {
    return by('hall');
  }

  @Get('/:id')
  item(@Param('id') id: string): object {
    return by('hall item', { id });
  }
}

@JsonController()
class PatternController {
  @Get(/^\/(hall|yard)\/door$/)
  @All(/^\/hall\/window$/)
  part(): object {
    return by('pattern');
  }
}

@JsonController('/:place')
class PlaceController {
  @Get('/door')
  @Post('/window')
  @Put('/B')
  part(@Param('place') place: string): object {
    return by('place', { place });
  }
}

@JsonController('/yard')
class YardController {
  @Get('/door')
  @Get('/gate')
  part(): object {
    return by('yard');
  }
}

@JsonController('/a')
class UnderController {
  @Post('/b/:id/label')
  label(@Param('id') id: string): object {
    return by('under', { id });
  }

  @Put('/c/')
  replace(): object {
    return by('under');
  }
}

/** A route of the application's own, behind all others. */
const lastly: RequestHandler = (request, response) => {
  response.status(404).json({ by: 'the application', path: request.path, base: request.baseUrl });
};

const EMPTY = { items: [], total: 0, page: 1, size: 20, pages: 0, has_next: false, has_prev: false };

describe('finding a route', () => {
  serveTestApp(() => ({ models: [Shelf, Box, Crate], bootstrap: { models: [] } }));

  const build = async (options: BootstrapOptions): Promise<BuiltApp['agent']> => {
    const { app, agent } = await buildApp(options);
    app.use(lastly);
    return agent;
  };

  before(() => Shelf.bulkCreate([{ id: 'B' }, { id: 'top' }]));

  describe('among resources whose prefixes begin alike', () => {
    it('finds the one declared first', async () => {
      const deepFirst = await build({ models: [Box, Crate, Shelf] });
      expectJson(await deepFirst.get('/a/B'), 200, EMPTY);
      expectJson(await deepFirst.get('/a/c'), 200, EMPTY);
      const shallowFirst = await build({ models: [Shelf, Box, Crate] });
      expectJson(await shallowFirst.get('/a/B'), 200, { id: 'B' });
      expectProblem(await shallowFirst.get('/a/c'), 404, { detail: 'There is no Shelf with this id.' });
    });

    it('keeps their items and methods apart', async () => {
      const agent = await build({ models: [Box, Crate, Shelf] });
      expectJson(await agent.get('/a/top'), 200, { id: 'top' });
      expectProblem(await agent.get('/a/b/1'), 404, { detail: 'There is no Box with this id.' });
      expectProblem(await agent.get('/a/c/1'), 404, { detail: 'There is no Crate with this id.' });
      const refused = await agent.put('/a/c/1');
      expectNoMethod(refused, 'PUT', 'GET, HEAD, PATCH, DELETE, OPTIONS');
    });

    it('takes capitals, and a slash at the end, for the same path, and nothing else', async () => {
      const agent = await build({ models: [Box, Crate, Shelf] });
      for (const path of ['/a/b', '/A/B/', '/A/b?page=1']) expectJson(await agent.get(path), 200, EMPTY);
      for (const path of ['/%61/b', '//a/b', '/a//b', '/a./b', '/ab', '/a/b/1/2', '/']) {
        expectJson(await agent.get(path), 404, { by: 'the application', path, base: '' });
      }
    });

    it('leaves a request to the application where the route of its path and method does', async () => {
      const skip: RequestHandler = (_request, _response, next) => next('route');
      class Crates extends crudController(Crate, { dependencies: [skip] }) {}
      const agent = await build({ models: [], controllers: [Crates] });
      expectJson(await agent.get('/a/c/1'), 404, { by: 'the application', path: '/a/c/1', base: '' });
      expect((await agent.put('/a/c/1')).status).to.equal(405);
    });
  });

  describe('among hand-written controllers', () => {
    const HALL = [HallController, PatternController, PlaceController, YardController];
    const cases: [readonly (new () => object)[], 'get' | 'post' | 'options', string, object][] = [
      [HALL, 'get', '/hall/door', by('hall')],
      [HALL, 'get', '/yard/door', by('pattern')],
      [HALL, 'get', '/shed/door', by('place', { place: 'shed' })],
      [HALL, 'get', '/yard/gate', by('yard')],
      [HALL, 'post', '/hall/window', by('pattern')],
      [HALL, 'options', '/hall/window', by('pattern')],
      [HALL.toReversed(), 'get', '/hall/door', by('place', { place: 'hall' })],
      [HALL.toReversed(), 'get', '/yard/door', by('yard')],
      [HALL.toReversed(), 'post', '/hall/window', by('place', { place: 'hall' })],
      [HALL.toReversed(), 'get', '/hall/window', by('pattern')],
      [HALL.toReversed(), 'get', '/hall/chair', by('hall item', { id: 'chair' })],
      [[PatternController, HallController], 'get', '/hall/door', by('pattern')],
    ];
    for (const [controllers, method, path, body] of cases) {
      const names = controllers.map(({ name }) => name.replace('Controller', '')).join(', ');

      it(`finds the first of ${names} that answers ${method.toUpperCase()} ${path}`, async () => {
        const agent = await build({ models: [Shelf], controllers: [...controllers] });
        expectJson(await agent[method](path), 200, body);
      });
    }

    it('tells the methods of a path of theirs, as Express does', async () => {
      const agent = await build({ models: [Shelf], controllers: [HallController, YardController] });
      const { status, headers } = await agent.options('/yard/gate');
      expect(status).to.equal(200);
      expect(headers['allow']?.split(/, ?/)).to.have.members(['GET', 'HEAD']);
    });

    it('refuses a method of a path of a resource only when none of them takes it', async () => {
      const controllers = [PatternController, UnderController, PlaceController];
      const agent = await build({ models: [Box, Crate, Shelf], controllers });
      expectJson(await agent.post('/a/b/7/label'), 200, by('under', { id: '7' }));
      expectJson(await agent.put('/a/c'), 200, by('under'));
      expectJson(await agent.put('/a/b'), 200, by('place', { place: 'a' }));
      expectNoMethod(await agent.put('/a'), 'PUT', 'GET, HEAD, POST, OPTIONS');
      expectNothing(await agent.options('/a/c'), 204);
    });
  });
});

const MANY = 60;

function manyModels(): ModelClass[] {
  return Array.from({ length: MANY }, (_, nth) => {
    @Crud()
    @Table({ modelName: `Part${nth}`, tableName: `parts_${nth}`, timestamps: false })
    class Part extends Model {
      @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
      @Column({ type: DataType.STRING(20), allowNull: false }) declare label: string;
    }
    return Part;
  });
}

describe('finding a route of many models', () => {
  const site = serveTestApp(() => ({ models }));

  const models = manyModels();

  it('[I3] finds every model, and no other', async function () {
    this.timeout(60_000);
    for (let nth = 0; nth < MANY; nth += 1) {
      const path = `/part${nth}s`;
      const label = `of ${nth}`;
      const created = await site.agent.post(path).send({ label });
      expectJson(created, 201, { id: 1, label });
      expect(created.headers['location']).to.equal(`${path}/1`);
      expectJson(await site.agent.get(`${path}/1`), 200, { id: 1, label });
      expectNothing(await site.agent.delete(`${path}/1`), 204);
      expectNothing(await site.agent.options(`${path}/1`), 204);
      expect((await site.agent.put(path)).status).to.equal(405);
    }
    expect((await site.agent.get(`/part${MANY}s`)).status).to.equal(404);
  });
});
