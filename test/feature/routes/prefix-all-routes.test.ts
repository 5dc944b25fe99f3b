/** `routePrefix`: every path of an application under one of its own. */
import { expect } from 'chai';
import { Get, JsonController } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { bootstrap, Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNoMethod, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'blog_posts', timestamps: false })
class BlogPost extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
}

class PostController extends crudController(BlogPost) {
  @Get('/latest')
  latest(): object {
    return { latest: true };
  }
}

@JsonController('/status')
class StatusController {
  @Get('/')
  status(): object {
    return { ok: true };
  }
}

describe('prefixing all routes', () => {
  const site = serveTestApp(() => ({
    models: [BlogPost],
    bootstrap: { routePrefix: '/api/v1', controllers: [PostController, StatusController] },
  }));

  beforeEach(() => emptyTables(site, 'blog_posts'));

  it('serves generated, added and hand-written routes under the prefix', async () => {
    const created = await site.agent.post('/api/v1/blog-posts').send({ title: 'Hello' });
    expectJson(created, 201, { id: 1, title: 'Hello' });
    expect(created.headers['location']).to.equal('/api/v1/blog-posts/1');
    expectJson(await site.agent.get('/api/v1/blog-posts/1'), 200, { id: 1, title: 'Hello' });
    expectJson(await site.agent.get('/api/v1/blog-posts/latest'), 200, { latest: true });
    expectJson(await site.agent.get('/api/v1/status'), 200, { ok: true });
  });

  it('closes the paths under the prefix', async () => {
    const options = await site.agent.options('/api/v1/blog-posts');
    expectNothing(options, 204);
    expect(options.headers['allow']).to.equal('GET, HEAD, POST, OPTIONS');
    expectNoMethod(await site.agent.put('/api/v1/blog-posts/1'), 'PUT', 'GET, HEAD, PATCH, DELETE, OPTIONS');
  });

  it('answers unknown paths under the prefix with a problem, unless notFound is false', async () => {
    const unknown = { detail: 'There is no such path.' };
    for (const path of ['/api/v1/blog-post', '/API/v1/blog-posts/1/2', '/api/v1']) {
      expectProblem(await site.agent.get(path), 404, unknown);
    }
    const { agent } = await buildApp({ models: [BlogPost], routePrefix: '/api', notFound: false });
    expect((await agent.get('/api/nowhere')).type).to.equal('text/html');
  });

  it('closes the prefix of each of two calls, and nothing else', async () => {
    const { app, agent } = await buildApp({ models: [], routePrefix: '/one' });
    await bootstrap(app, { models: [], routePrefix: '/two', health: false, docs: false });
    for (const path of ['/one/x', '/two/x']) {
      expectProblem(await agent.get(path), 404, { detail: 'There is no such path.' });
    }
    expect((await agent.get('/three')).type).to.equal('text/html');
  });

  it('serves nothing outside the prefix', async () => {
    for (const path of '/blog-posts /blog-posts/latest /status /api/blog-posts /api/v1blog-posts'.split(
      ' ',
    )) {
      expect((await site.agent.get(path)).status, path).to.equal(404);
    }
  });

  it('lists the routes with the prefix', () =>
    expect(site.crud.routes.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'GET /api/v1/blog-posts/latest',
      'GET /api/v1/blog-posts',
      'POST /api/v1/blog-posts',
      'GET /api/v1/blog-posts/:id',
      'PATCH /api/v1/blog-posts/:id',
      'DELETE /api/v1/blog-posts/:id',
    ]));

  it('drops a slash at its end', async () => {
    const { agent, crud } = await buildApp({ models: [BlogPost], routePrefix: '/api/' });
    expect((await agent.get('/api/blog-posts')).status).to.equal(200);
    expect(crud.routes[0]?.path).to.equal('/api/blog-posts');
  });

  for (const routePrefix of ['api', '/a b', '/:tenant', '/a*', '//', '/a//b', '/a?b', 'http://a.example']) {
    it(`refuses the prefix ${routePrefix}`, async () => {
      const [problem] = await configProblems(() => buildApp({ models: [BlogPost], routePrefix }));
      expect(problem).to.contain(routePrefix);
    });
  }
});
