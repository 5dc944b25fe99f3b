/** Each leak that was found in comparable libraries, by name: a scope holds on all of these ways, on both paths. */
// @runs fast
import { expect } from 'chai';
import express from 'express';
import { QueryTypes } from 'sequelize';
import { bootstrap, crudRouter, EVERYTHING } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { listen } from '../../support/listen.js';
import {
  FAILURES,
  MODELS,
  OwnTasks,
  SERVED,
  Task,
  TaskController,
  tenantOf,
  Undeclared,
  Unserved,
} from '../../support/tenant-tasks.js';
import { ask, TwoPaths, type WholeRequest } from '../../support/two-paths.js';

const ROWS = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'].map((title) => ({
  title,
  tenant: title[0] === 'a' ? 'A' : 'B',
}));
const WAITING = 'SELECT 1 FROM pg_locks WHERE NOT granted';

describe('a leak', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: MODELS,
      minPool: 2,
      bootstrap: { models: SERVED, controllers: [TaskController], scope: { tenant: tenantOf }, logger: log },
    }),
  );
  const log = new CapturedLog();

  before(async () => {
    for (const model of [Unserved, Undeclared]) await (model as typeof Task).bulkCreate(ROWS);
  });

  beforeEach(undo);

  async function undo(): Promise<void> {
    await Task.destroy({ truncate: true, restartIdentity: true, force: true });
    await Task.bulkCreate(ROWS);
  }

  async function same(path: string, tenant = 'A', more: Partial<WholeRequest> = {}) {
    const answer = await paths.same({ path, headers: { tenant }, ...more }, more.method ? undo : undefined);
    return { ...answer, json: answer.body === '' ? null : JSON.parse(answer.body) };
  }

  const titles = (answer: { json: { items: { title: string }[] } }) =>
    answer.json.items.map(({ title }) => title);

  it('[H2] is not made by an OR in q', async () => {
    for (const q of 'title==a1,title==b1 title==b1,id=gt=0 (tenant==B),(tenant==A) tenant!=X,id==2'.split(
      ' ',
    )) {
      const answer = await same(`/tasks?q=${encodeURIComponent(q)}`);
      expect(titles(answer).join(), q).to.match(/^(a\d,?)+$/);
      expect(answer.json.total, q).to.equal(titles(answer).length);
    }
  });

  it('is not made by a tenant in q, sort, fields or the query string', async () => {
    expect(titles(await same('/tasks?q=tenant==B'))).to.deep.equal([]);
    expect(titles(await same('/tasks?sort=-tenant&fields=title'))).to.deep.equal(['a3', 'a2', 'a1']);
    expect((await same('/tasks?tenant=B')).status).to.equal(400);
  });

  it('is not made by a tenant in a body', async () => {
    for (const tenant of ['B', 'A', null]) {
      const body = { title: 'x', tenant };
      const created = await same('/tasks', 'A', { method: 'POST', body });
      const changed = await same('/tasks/1', 'A', { method: 'PATCH', body });
      for (const { status, json } of [created, changed]) {
        expect([status, json.errors[0].code]).to.deep.equal([422, 'readOnly']);
      }
    }
    for (const more of [{ tenant: 'C' }, {}]) {
      const { status } = await same('/tasks', 'A,B', { method: 'POST', body: { title: 'x', ...more } });
      expect(status).to.equal(422);
    }
  });

  it('is not made by totals, pages past the end and HEAD', async () => {
    expect((await same('/tasks?size=1')).json.total).to.equal(3);
    expect((await same('/tasks?page=9')).json.total).to.equal(3);
    const { headers, status } = await same('/tasks/2', 'A', { method: 'HEAD' });
    expect(status).to.equal(404);
    expect((await same('/tasks/99', 'A', { method: 'HEAD' })).headers).to.deep.equal(headers);
    const list = await same('/tasks');
    expect((await same('/tasks', 'A', { method: 'HEAD' })).headers).to.deep.equal(list.headers);
  });

  it('[D18] is not made by the cursor of another tenant', async () => {
    const first = (await same('/walks?size=1', 'B')).json;
    const own = (await same('/walks?size=1', 'A')).json;
    for (const place of [`after=${first.next_cursor}`, `before=${first.next_cursor}`]) {
      const { status, json } = await same(`/walks?size=1&${place}`, 'A');
      expect([status, json.errors[0].code]).to.deep.equal([400, 'cursor.mismatch']);
    }
    for (const tenant of ['A,B', 'everything'])
      expect((await same(`/walks?size=1&after=${own.next_cursor}`, tenant)).status).to.equal(400);
    expect(titles(await same(`/walks?size=1&after=${own.next_cursor}`, 'A'))).to.deep.equal(['a2']);
  });

  for (const [name, [, status]] of Object.entries(FAILURES)) {
    it(`is not made by a rule that ${name}`, async () => {
      for (const [method, path, body] of [
        ['GET', '/tasks'],
        ['GET', '/walks'],
        ['GET', '/tasks/1'],
        ['HEAD', '/tasks/1'],
        ['POST', '/tasks', { title: 'x' }],
        ['POST', '/tasks', 'no object'],
        ['PATCH', '/tasks/1', { title: 'x' }],
        ['DELETE', '/tasks/1'],
        ['GET', '/tasks/of/all'],
      ] as const) {
        const answer = await paths.same({ method, path, headers: { rule: name }, ...(body ? { body } : {}) });
        expect(answer.status, `${method} ${path}`).to.equal(status);
        expect(answer.body).to.not.match(/secret|a1|items/);
      }
      expect(await Task.count({ where: { title: ['a1', 'x'] } })).to.equal(1);
    });
  }

  it('is not made by super', async () => {
    expect(titles(await same('/tasks'))).to.deep.equal(['a1', 'a2', 'a3']);
    const change = { method: 'PATCH', body: { title: 'x' } };
    const missing = await same('/tasks/99', 'A', change);
    expect(await same('/tasks/2', 'A', change)).to.deep.equal(missing);
    expect((await same('/tasks/1', 'A', change)).json.title).to.equal('x!');
  });

  it('is not made by a unit of work, its savepoints and its repositories', async () => {
    const { json } = await same('/tasks/of/unit', 'A', { method: 'POST' });
    expect(json).to.deep.equal({ seen: ['A'], total: 4, other: null });
  });

  it('is not made by an injected repository of a model that has its own scope, or that of bootstrap', async () => {
    const headers = { tenant: 'A', title: 'b1' };
    const { body } = await paths.same({ path: '/tasks/of/others', headers });
    expect(JSON.parse(body)).to.deep.equal({ unserved: [], undeclared: ['a1', 'a2', 'a3'] });
    expect((await same('/tasks/of/others')).status).to.equal(403);
    expect((await paths.same({ path: '/tasks/of/others', headers: { title: 'b1' } })).status).to.equal(403);
  });

  it('is not made by a read session, and by a repository that joins another one', async () =>
    expect((await same('/tasks/of/session')).json).to.deep.equal([3, 3, 1, null]));

  it('is not made by a repository of the application, whose rules are asked once for each request', async () => {
    let rules = 0;
    const { app } = await buildApp({
      models: [Task],
      controllers: [OwnTasks],
      logger: log,
      scope: {
        title: () => {
          rules += 1;
          return EVERYTHING;
        },
      },
    });
    await using listening = await listen(app);
    for (const [method, path, expected, body] of [
      ['GET', '/tasks', 200],
      ['GET', '/tasks/1', 200],
      ['GET', '/tasks/2', 404],
      ['GET', '/tasks/of/both', 200],
      ['PATCH', '/tasks/1', 200, {}],
      ['PATCH', '/tasks/2', 404, {}],
      ['DELETE', '/tasks/2', 404],
      ['DELETE', '/tasks/1', 204],
      ['POST', '/tasks', 201, { title: 'x' }],
    ] as const) {
      rules = 0;
      const answer = await ask(listening, { method, path, headers: { tenant: 'A' }, ...(body && { body }) });
      expect([answer.status, rules], `${method} ${path}`).to.deep.equal([expected, 1]);
      if (path === '/tasks/of/both') expect(JSON.parse(answer.body)).to.deep.equal({ tasks: 3 + 6 });
    }
    expect(await Task.count({ where: { tenant: 'B' } })).to.equal(3);
  });

  it('is said aloud by unscoped()', async () =>
    expect((await same('/tasks/of/all')).json).to.deep.equal([3, 6]));

  it('is not made by what Sequelize takes for a parameter in the text of a tenant', async () => {
    const tenants = ['$x', '$$x', '$1', "'$1", 'a$$', '\\$x', "\\'"];
    const rows = await Task.bulkCreate(tenants.map((tenant) => ({ tenant, title: tenant })));
    for (const { id, tenant } of rows) {
      await paths.withHooks(async () => {
        for (const other of tenants.filter((each) => each !== tenant)) {
          const headers = { tenant: other };
          const end = { method: 'DELETE', path: `/tasks/${id}`, headers };
          expect((await ask(paths.general, end)).status).to.equal(404);
          const change = { method: 'PATCH', path: `/tasks/${id}`, body: { title: 'x' }, headers };
          expect((await ask(paths.general, change)).status).to.equal(404);
        }
        const change = { method: 'PATCH', path: `/tasks/${id}`, body: { title: 'x' }, headers: { tenant } };
        expect((await ask(paths.general, change)).status, tenant).to.equal(200);
        const end = { method: 'DELETE', path: `/tasks/${id}`, headers: { tenant } };
        expect((await ask(paths.general, end)).status, tenant).to.equal(204);
      });
    }
  });

  it('is not made by a row that leaves the tenant between its reading and its change', async () => {
    const { sequelize } = paths.site.engine;
    for (const target of [paths.fast, paths.general]) {
      for (const [method, body] of [['PATCH', { title: 'x' }], ['DELETE']] as const) {
        await undo();
        const transaction = await sequelize.transaction();
        await Task.update({ tenant: 'B' }, { where: { id: 1 }, transaction });
        const request = { method, path: '/tasks/1', headers: { tenant: 'A' }, ...(body && { body }) };
        const answer = ask(target, request);
        while ((await sequelize.query(WAITING, { type: QueryTypes.SELECT, transaction })).length === 0);
        await transaction.commit();
        expect((await answer).status).to.equal(404);
        const row = await Task.findByPk(1);
        expect([row?.title, row?.tenant]).to.deep.equal(['a1', 'B']);
      }
    }
  });

  it('is not made by crudRouter, or by another application with other rules for the same model', async () => {
    const app = express();
    app.use('/own', crudRouter(Task, { logger: log }));
    app.use('/other', crudRouter(Task, { scope: { title: () => 'b2' }, logger: log }));
    app.use('/seen', crudRouter(Task, { scope: {}, logger: log }));
    await using listening = await listen(app);
    const list = async (path: string) => {
      const { status, body } = await ask(listening, { path, headers: { tenant: 'A' } });
      return status === 200 ? JSON.parse(body).items.map(({ title }: Task) => title) : status;
    };
    expect(await list('/own')).to.deep.equal(['a1', 'a2', 'a3']);
    expect(await list('/other')).to.deep.equal(['b2']);
    expect(await list('/seen')).to.have.length(6);
    expect(titles(await same('/tasks'))).to.deep.equal(['a1', 'a2', 'a3']);
    expect((await ask(listening, { path: '/own' })).status).to.equal(403);
    const second = express();
    const scope = { title: () => 'b2' };
    await bootstrap(second, { models: SERVED, routePrefix: '/two', scope, logger: log });
    await using other = await listen(second);
    const seen = async (path: string, tenant: string) =>
      JSON.parse((await ask(other, { path, headers: { tenant } })).body);
    expect((await seen('/two/tasks', 'A')).items).to.deep.equal([]);
    expect(titles({ json: await seen('/two/walks', 'B') })).to.deep.equal(['b2']);
    expect(titles(await same('/tasks', 'B'))).to.deep.equal(['b1', 'b2', 'b3']);
  });
});
