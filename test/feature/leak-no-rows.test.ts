/** Each leak that was found in comparable libraries, by name: a scope holds on all of these ways, whoever runs the SQL. */
import { expect } from 'chai';
import express, { type Request } from 'express';
import { Get, HttpError, Post } from 'routing-controllers';
import { QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  bootstrap,
  Crud,
  type CrudContext,
  crudController,
  crudRouter,
  EVERYTHING,
  type Id,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
  type ListQuery,
  type ModelClass,
  type ReadSession,
  type Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../src/index.js';
import { CapturedLog } from '../support/captured-log.js';
import { listen } from '../support/listen.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { ask, TwoPaths, type WholeRequest } from '../support/two-paths.js';

/** What a rule may do instead of naming a tenant, and what the answer is then. */
const FAILURES: Readonly<Record<string, readonly [rule: () => unknown, status: number]>> = {
  'gives undefined': [() => undefined, 403],
  'gives null': [() => null, 403],
  'gives a promise of undefined': [async () => undefined, 403],
  'gives an array with null in it': [() => ['A', null], 403],
  'gives an object': [() => ({ ne: 'A' }), 500],
  'gives a function': [() => () => 'A', 500],
  'gives EVERYTHING as one of several': [() => ['A', EVERYTHING], 500],
  'gives a number that is none': [() => Number('A'), 500],
  'gives a number that may be another one': [() => 2 ** 53, 500],
  'gives an array in an array': [() => [['A']], 500],
  'reads a principal that is not there': [() => (undefined as unknown as Request).url, 500],
  'throws an HttpError': [() => fail(new HttpError(401, 'Sign in.')), 401],
  'rejects with an HttpError': [async () => fail(new HttpError(401, 'Sign in.')), 401],
  'rejects with an error': [async () => fail(new Error('~secret')), 500],
  'throws undefined': [() => fail(undefined), 500],
  'rejects with nothing': [() => Promise.reject(), 500],
};

function fail(error: unknown): never {
  throw error;
}

const tenantOf = (request: Request): never => {
  const [rule] = FAILURES[request.get('rule') ?? ''] ?? [() => request.get('tenant')];
  const answer = rule();
  if (answer === 'everything') return EVERYTHING as never;
  return (typeof answer === 'string' && answer.includes(',') ? answer.split(',') : answer) as never;
};

abstract class Owned extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false, field: 'tenant_id' })
  declare tenant: string;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare title: string;
}

const LISTS = { filterAllow: ['title', 'tenant', 'id'], sortAllow: ['title', 'tenant', 'id'] } as never;
const TABLE = {
  tableName: 'tasks',
  timestamps: true,
  paranoid: true,
  createdAt: false,
  updatedAt: false,
} as const;

@Crud({ ...(LISTS as object), scope: { tenant: tenantOf } })
@Table(TABLE)
class Task extends Owned {}

@Crud({ ...(LISTS as object), prefix: '/walks', pagination: 'cursor', scope: { tenant: tenantOf } })
@Table(TABLE)
class Walk extends Owned {}

/** Has a scope of its own, and no routes. */
@Crud({ scope: { title: (request) => request.get('title') } })
@Table({ tableName: 'unserved', timestamps: false })
class Unserved extends Owned {}

/** Has the scope of `bootstrap`, and no options of its own. */
@Table({ tableName: 'undeclared', timestamps: false })
class Undeclared extends Owned {}

class TaskController extends crudController(Task) {
  override async list(query: ListQuery, context: CrudContext<Task>) {
    const page = await super.list(query, context);
    return { ...page, items: page.items };
  }
  override update(id: Id, values: UpdateValues<Task>, context: CrudContext<Task>) {
    return super.update(id, { ...values, title: `${values.title}!` }, context);
  }

  @Get('/of/others')
  async others(
    @InjectRepository(Unserved) unserved: Repository,
    @InjectRepository(Undeclared) rest: Repository,
  ) {
    const titles = async (rows: Repository) => (await rows.list()).map((row) => (row as Owned).title);
    return { unserved: await titles(unserved), undeclared: await titles(rest) };
  }

  @Get('/of/all')
  async all(@InjectRepository(Task) tasks: Repository<Task>) {
    return [(await tasks.list()).length, (await tasks.unscoped().list()).length];
  }

  @Get('/of/session')
  async session(@InjectSession() session: ReadSession, @InjectRepository(Task) tasks: Repository<Task>) {
    const joined = tasks.with(session);
    const { total } = await session.repository(Task).page({ page: 1, size: 1 });
    const [one, other] = [await joined.one({ title: 'a1' }), await joined.find(2)];
    return [total, (await joined.list()).length, one.id, other];
  }

  @Post('/of/unit')
  async unit(@InjectUnitOfWork() unit: UnitOfWork) {
    const tasks = unit.repository(Task);
    await tasks.create({ title: 'new' } as never);
    const seen = await tasks.list({ where: { title: ['new', 'b1'] } });
    const { total } = await unit.savepoint(() => tasks.page({ page: 1, size: 1 }));
    return { seen: seen.map(({ tenant }) => tenant), total, other: await tasks.find(2) };
  }
}

const WAITING = 'SELECT 1 FROM pg_locks WHERE NOT granted';

const MODELS = [Task, Walk, Unserved, Undeclared] as ModelClass[];
const SERVED = [Task, Walk] as ModelClass[];

describe('a leak', () => {
  let paths: TwoPaths;
  const log = new CapturedLog();

  before(async () => {
    paths = await TwoPaths.start({
      models: MODELS,
      minPool: 2,
      bootstrap: { models: SERVED, controllers: [TaskController], scope: { tenant: tenantOf }, logger: log },
    });
  });

  beforeEach(undo);

  after(async () => paths[Symbol.asyncDispose]());

  async function undo(): Promise<void> {
    for (const model of [Task, Unserved, Undeclared]) {
      await model.destroy({ truncate: true, restartIdentity: true, force: true });
      await (model as typeof Task).bulkCreate(
        ['a1', 'b1', 'a2', 'b2', 'a3', 'b3'].map((title) => ({
          title,
          tenant: title[0] === 'a' ? 'A' : 'B',
        })),
      );
    }
  }

  async function same(path: string, tenant = 'A', more: Partial<WholeRequest> = {}) {
    const answer = await paths.same({ path, headers: { tenant }, ...more }, undo);
    return { ...answer, json: answer.body === '' ? null : JSON.parse(answer.body) };
  }

  const titles = (answer: { json: { items: { title: string }[] } }) =>
    answer.json.items.map(({ title }) => title);

  it('is not made by an OR in q', async () => {
    for (const q of [
      'title==a1,title==b1',
      'title==b1,id=gt=0',
      '(tenant==B),(tenant==A)',
      'tenant!=X,id==2',
    ]) {
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
    for (const body of [
      { title: 'x', tenant: 'B' },
      { title: 'x', tenant: 'A' },
      { title: 'x', tenant: null },
    ]) {
      const created = await same('/tasks', 'A', { method: 'POST', body });
      const changed = await same('/tasks/1', 'A', { method: 'PATCH', body });
      for (const { status, json } of [created, changed]) {
        expect([status, json.errors[0].code]).to.deep.equal([422, 'readOnly']);
      }
    }
    expect(
      (await same('/tasks', 'A,B', { method: 'POST', body: { title: 'x', tenant: 'C' } })).status,
    ).to.equal(422);
    expect((await same('/tasks', 'A,B', { method: 'POST', body: { title: 'x' } })).status).to.equal(422);
  });

  it('is not made by totals, pages past the end and HEAD', async () => {
    expect((await same('/tasks?size=1')).json.total).to.equal(3);
    expect((await same('/tasks?page=9')).json.total).to.equal(3);
    const { headers, status } = await same('/tasks/2', 'A', { method: 'HEAD' });
    expect(status).to.equal(404);
    expect((await same('/tasks/99', 'A', { method: 'HEAD' })).headers).to.deep.equal(headers);
    expect((await same('/tasks', 'A', { method: 'HEAD' })).headers).to.deep.equal(
      (await same('/tasks')).headers,
    );
  });

  it('is not made by the cursor of another tenant', async () => {
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
    const missing = await same('/tasks/99', 'A', { method: 'PATCH', body: { title: 'x' } });
    expect(await same('/tasks/2', 'A', { method: 'PATCH', body: { title: 'x' } })).to.deep.equal(missing);
    expect((await same('/tasks/1', 'A', { method: 'PATCH', body: { title: 'x' } })).json.title).to.equal(
      'x!',
    );
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

  it('is not made by a read session, and by a repository that joins another one', async () => {
    expect((await same('/tasks/of/session')).json).to.deep.equal([3, 3, 1, null]);
  });

  it('is said aloud by unscoped()', async () => {
    expect((await same('/tasks/of/all')).json).to.deep.equal([3, 6]);
  });

  it('is not made by what Sequelize takes for a parameter in the text of a tenant', async () => {
    const tenants = ['$x', '$$x', '$1', "'$1", 'a$$', '\\$x', "\\'"];
    const rows = await Task.bulkCreate(tenants.map((tenant) => ({ tenant, title: tenant })));
    for (const { id, tenant } of rows) {
      await paths.withHooks(async () => {
        for (const other of tenants.filter((each) => each !== tenant)) {
          const headers = { tenant: other };
          expect(
            (await ask(paths.general, { method: 'DELETE', path: `/tasks/${id}`, headers })).status,
          ).to.equal(404);
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
        const answer = ask(target, {
          method,
          path: '/tasks/1',
          headers: { tenant: 'A' },
          ...(body ? { body } : {}),
        });
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
    await bootstrap(second, {
      models: SERVED,
      routePrefix: '/two',
      scope: { title: () => 'b2' },
      logger: log,
    });
    await using other = await listen(second);
    const seen = async (path: string, tenant: string) =>
      JSON.parse((await ask(other, { path, headers: { tenant } })).body);
    expect((await seen('/two/tasks', 'A')).items).to.deep.equal([]);
    expect(titles({ json: await seen('/two/walks', 'B') })).to.deep.equal(['b2']);
    expect(titles(await same('/tasks', 'B'))).to.deep.equal(['b1', 'b2', 'b3']);
  });
});

describe('sixteen tenants at the same time', () => {
  const TENANTS = Array.from({ length: 16 }, (_, index) => `T${index}`);
  let site: TestApp;

  before(async () => {
    site = await startTestApp({
      models: SERVED,
      bootstrap: { fastPath: true, logger: new CapturedLog() },
      engine: { groupCommit: true, pool: { max: 2 } },
    });
  });

  after(async () => site[Symbol.asyncDispose]());

  it('share connections and batches, and see and change their own rows', async () => {
    await using listening = await listen(site.app);
    const send = (tenant: string, method: string, path: string, body?: object) =>
      ask(listening, { method, path, headers: { tenant }, ...(body ? { body } : {}) });
    const ids = new Map<string, number[]>();
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        TENANTS.map(async (tenant) => {
          const created = await send(tenant, 'POST', '/tasks', { title: `of ${tenant}` });
          const row = JSON.parse(created.body);
          expect(row.tenant).to.equal(tenant);
          ids.set(tenant, [...(ids.get(tenant) ?? []), row.id]);
        }),
      );
      await Promise.all(
        TENANTS.map(async (tenant, index) => {
          const other = ids.get(TENANTS[(index + 1) % 16] as string)?.[0];
          const own = ids.get(tenant)?.[0];
          const answers = await Promise.all([
            send(tenant, 'GET', '/tasks'),
            send(tenant, 'GET', '/walks?size=100'),
            send(tenant, 'GET', `/tasks/${own}`),
            send(tenant, 'GET', `/tasks/${other}`),
            send(tenant, 'PATCH', `/tasks/${own}`, { title: `${round} of ${tenant}` }),
            send(tenant, 'PATCH', `/tasks/${other}`, { title: `by ${tenant}` }),
            send(tenant, 'DELETE', `/tasks/${other}`),
          ]);
          expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 404, 200, 404, 404]);
          const lists = answers.slice(0, 2).map(({ body }) => JSON.parse(body).items as Task[]);
          for (const items of lists) {
            expect(items.map(({ id }) => id)).to.deep.equal(ids.get(tenant));
            expect(new Set(items.map((item) => item.tenant))).to.deep.equal(new Set([tenant]));
          }
        }),
      );
    }
    expect(await Task.count({ where: { title: TENANTS.map((tenant) => `by ${tenant}`) } })).to.equal(0);
  });
});
