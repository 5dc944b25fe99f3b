/** `crudRouter`: one resource as a router, wherever the application wants it. */
import { expect } from 'chai';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { ConfigError, Crud, type CrudRouterOptions, crudRouter, Repository } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import {
  expectIssue,
  expectJson,
  expectNoMethod,
  expectNothing,
  expectProblem,
} from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ prefix: '/somewhere-else', pageSize: { default: 2 } })
@Table({ tableName: 'recipes', timestamps: false })
class Recipe extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
}

@Table({ tableName: 'spices', timestamps: false })
class Spice extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare name: string;
}

@Table({ tableName: 'unattached', timestamps: false })
class Unattached extends Model {}

const FIRST = { id: 1, title: 'Soup' };

describe('mounting a router', () => {
  const site = serveTestApp(() => ({ models: [Recipe, Spice], bootstrap: { models: [] } }));

  const serve = (prepare: (app: Express) => void) => {
    const app = express();
    prepare(app);
    return supertest(app);
  };
  const mounted = (path: string, options?: CrudRouterOptions<Recipe>) =>
    serve((app) => app.use(path, crudRouter(Recipe, options)));

  beforeEach(async () => {
    await emptyTables(site, 'recipes', 'spices');
    await Recipe.create({ title: 'Soup' });
  });

  it('serves the five routes under the path it is mounted at', async () => {
    const agent = mounted('/recipes');
    const page = { total: 1, page: 1, size: 2, pages: 1, has_next: false, has_prev: false };
    expectJson(await agent.get('/recipes'), 200, { items: [FIRST], ...page });
    expectJson(await agent.get('/recipes/1'), 200, FIRST);
    const created = await agent.post('/recipes').send({ title: 'Stew' });
    expectJson(created, 201, { id: 2, title: 'Stew' });
    expect(created.headers['location']).to.equal('/recipes/2');
    expectJson(await agent.patch('/recipes/2').send({ title: 'Goulash' }), 200, { id: 2, title: 'Goulash' });
    expectNothing(await agent.delete('/recipes/2'), 204);
    expect((await agent.get('/somewhere-else')).status).to.equal(404);
  });

  for (const [where, mount, at, path] of [
    ['at the root', () => mounted('/'), '/', '/'],
    ['deep down', () => mounted('/api/v1/recipes'), '/api/v1/recipes', '/api/v1/recipes/'],
    ['with a slash at its end', () => mounted('/recipes/'), '/recipes/', '/recipes/'],
    ['with a prefix', () => mounted('/api', { prefix: '/dishes' }), '/api/dishes', '/api/dishes/'],
    [
      'in an application in another',
      () => serve((app) => app.use('/in', express().use('/recipes', crudRouter(Recipe)))),
      '/in/recipes',
      '/in/recipes/',
    ],
  ] as const) {
    it(`gives addresses when it is mounted ${where}`, async () => {
      const agent = mount();
      const created = await agent.post(at).send({ title: 'Stew' });
      expect(created.headers['location']).to.equal(`${path}2`);
      expectJson(await agent.get(String(created.headers['location'])), 200, { id: 2, title: 'Stew' });
    });
  }

  it('answers errors in the form of every problem, without another handler', async () => {
    const agent = mounted('/recipes');
    expectProblem(await agent.get('/recipes/9'), 404, { detail: 'There is no Recipe with this id.' });
    const encoding = { detail: 'The path is not valid percent-encoded UTF-8.' };
    expectProblem(await agent.get('/recipes/%ff'), 400, encoding);
    const required = { pointer: '/title', code: 'isDefined', detail: 'title is required.' };
    expectIssue(await agent.post('/recipes').send({}), 422, required);
    const malformed = { pointer: '', code: 'malformed', detail: 'The body is not valid JSON.' };
    expectIssue(await agent.post('/recipes').type('json').send('{'), 400, malformed);
  });

  it('knows its methods', async () => {
    const agent = mounted('/recipes', { endpoints: ['list', 'read'] });
    for (const path of ['/recipes', '/recipes/1']) {
      expectNoMethod(await agent.delete(path), 'DELETE', 'GET, HEAD, OPTIONS');
      const options = await agent.options(path);
      expectNothing(options, 204);
      expect(options.headers['allow']).to.equal('GET, HEAD, OPTIONS');
    }
  });

  it('leaves deeper paths to what is mounted after it', async () => {
    const agent = serve((app) => {
      app.use('/recipes', crudRouter(Recipe));
      app.get('/recipes/:id/steps', ({ params }, response) => void response.json({ stepsOf: params['id'] }));
      app.use('/recipes/:id/spices', crudRouter(Spice));
      app.use((_request, response) => void response.status(404).json({ by: 'the application' }));
    });
    expectJson(await agent.get('/recipes/1/steps'), 200, { stepsOf: '1' });
    const spice = await agent.post('/recipes/1/spices').send({ name: 'salt' });
    expectJson(spice, 201, { name: 'salt' });
    expect(spice.headers['location']).to.equal('/recipes/1/spices/salt');
    expectJson(await agent.get('/recipes/1/spices/salt'), 200, { name: 'salt' });
    expectJson(await agent.get('/recipes/1/other'), 404, { by: 'the application' });
    expectJson(await agent.get('/recipes/1'), 200, FIRST);
  });

  it('yields to what is mounted before it', async () => {
    const agent = serve((app) => {
      app.get('/recipes/best', (_request, response) => void response.json({ best: true }));
      app.use('/recipes', crudRouter(Recipe));
    });
    expectJson(await agent.get('/recipes/best'), 200, { best: true });
  });

  it('does not take errors that are not its own', async () => {
    const own: ErrorRequestHandler = (error, _request, response, _next) => {
      response.status(599).json({ message: String(error.message) });
    };
    const agent = serve((app) => {
      app.use('/recipes', crudRouter(Recipe));
      app.get('/fails', () => {
        throw new Error('mine');
      });
      app.use(own);
    });
    expectJson(await agent.get('/fails'), 599, { message: 'mine' });
    expect((await agent.get('/recipes/9')).status).to.equal(404);
  });

  it('may be mounted twice, with other options', async () => {
    const agent = serve((app) => {
      app.use('/public', crudRouter(Recipe, { endpoints: ['read'] }));
      app.use('/admin', crudRouter(Recipe, { unknownQuery: 'ignore' }));
    });
    expectJson(await agent.get('/public/1'), 200, FIRST);
    expect((await agent.get('/public')).status).to.equal(404);
    expectJson(await agent.get('/admin/1?x=1'), 200, FIRST);
  });

  it('takes options of the application', async () => {
    const logger = new CapturedLog();
    const seen: string[] = [];
    const agent = mounted('/recipes', {
      bodyLimit: 20,
      logger,
      dependencies: [
        (request, _response, next) => {
          seen.push(request.method);
          next(request.query['fail'] ? new Error('hidden reason') : undefined);
        },
      ],
    });
    const tooLarge = { pointer: '', code: 'tooLarge', detail: 'The body is larger than 20 bytes.' };
    expectIssue(await agent.post('/recipes').send({ title: 'A very long title' }), 413, tooLarge);
    expectProblem(await agent.get('/recipes?fail=1'), 500, { detail: 'Internal Server Error' });
    expect(logger.lines).to.have.lengthOf(1);
    expect(seen).to.deep.equal(['POST', 'GET']);
  });

  it('takes a repository', async () => {
    class Recipes extends Repository<Recipe> {
      static override model = Recipe;

      override async get(id: number): Promise<Recipe> {
        return (await super.get(id)).set('title', 'Changed');
      }
    }
    for (const source of [Recipes, new Recipes()]) {
      const agent = serve((app) => app.use('/recipes', crudRouter(source)));
      expectJson(await agent.get('/recipes/1'), 200, { id: 1, title: 'Changed' });
    }
  });

  it('serves a model without @Crud', async () => {
    const agent = serve((app) => app.use('/spices', crudRouter(Spice)));
    expectJson(await agent.post('/spices').send({ name: 'salt' }), 201, { name: 'salt' });
  });

  it('refuses what is configured wrongly', () => {
    const wrong = { prefix: 'x y', endpoints: ['lst'], nothing: 1 } as unknown as CrudRouterOptions<Recipe>;
    expect(() => crudRouter(Recipe, wrong)).to.throw(ConfigError, /3 problems/);
    expect(() => crudRouter(Unattached)).to.throw(ConfigError, /Unattached is not attached/);
    const none = class Nothing {} as unknown as typeof Recipe;
    expect(() => crudRouter(none)).to.throw(ConfigError, /the class Nothing/);
    expect(() => crudRouter(Recipe, { bodyLimit: 'many' })).to.throw(ConfigError, /bodyLimit/);
  });
});
