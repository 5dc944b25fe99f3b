/** Rules of operations: `can` of `@Crud`, and `deny` of `bootstrap`. */
// @runs fast
import { expect } from 'chai';
import { IsString } from 'class-validator';
import express, { type Express, type RequestHandler } from 'express';
import { Body, ForbiddenError, HttpError, QueryParam } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  type AccessRule,
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  crudRouter,
  EVERYTHING,
  filter,
  type Id,
  InjectId,
  InjectRecord,
  type ListQuery,
  type ModelClass,
  type ReadQuery,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { passingController } from '../../support/passing-controllers.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const PATH = onPath<{ readonly fastPath?: boolean }>({ fast: {}, general: { fastPath: false } });

/** Results of a rule, by the header that selects it. */
const RULES: Readonly<Record<string, () => unknown>> = {
  yes: () => true,
  'yes later': async () => true,
  no: () => false,
  'no later': async () => false,
  nothing: () => undefined,
  null: () => null,
  truthy: () => 'yes',
  one: () => 1,
  'truthy later': async () => ({}),
  'a filter': () => filter`name==a`,
  everything: () => EVERYTHING,
  throws: () => {
    throw new Error('secret');
  },
  rejects: async () => {
    throw new Error('secret');
  },
  'throws null': () => {
    throw null;
  },
  'rejects with null': () => Promise.reject(null),
  'throws 403': () => {
    throw new ForbiddenError('Ask somebody else.');
  },
  'rejects with 404': () => Promise.reject(new HttpError(404, 'Nothing here.')),
};

const known = new WeakSet<object>();
const login: RequestHandler = (request, _response, next) => {
  known.add(request);
  next();
};

/** Asked behind the dependencies. */
const ruled: AccessRule = (request) => {
  if (!known.has(request)) throw new Error('Nobody has logged in.');
  return RULES[request.get('rule') ?? 'no']?.() as boolean;
};
const CAN = { list: ruled, read: ruled, create: ruled, update: ruled, delete: ruled } as const;

@Crud({ prefix: '/things', can: CAN, dependencies: [login] })
@Table({ tableName: 'guarded', timestamps: false })
class Guarded extends NamedRow {}

@Crud({ prefix: '/things', dependencies: [login] })
@Table({ tableName: 'open', timestamps: false })
class Open extends NamedRow {}

const calls: string[] = [];

const Overriding = passingController(crudController(Guarded), (method) => calls.push(method));

class Form {
  @IsString() declare name: string;
}

/** With parameters of the user's, some of which are read of the resource before the method. */
class Decorated extends Overriding {
  override list(query: ListQuery, context: CrudContext<Guarded>, @QueryParam('page') _page?: number) {
    return super.list(query, context);
  }
  override read(id: Id, query: ReadQuery, context: CrudContext<Guarded>, @InjectRecord() _thing?: Guarded) {
    return super.read(id, query, context);
  }
  override create(@Body() values: Form, context: CrudContext<Guarded>) {
    return super.create(values, context);
  }
  override update(id: Id, @Body() values: Form, context: CrudContext<Guarded>, @InjectId() _id?: number) {
    return super.update(id, values, context);
  }
  override remove(id: Id, context: CrudContext<Guarded>, @InjectId() _id?: number) {
    return super.remove(id, context);
  }
}

@Crud({ can: { list: true, read: true } })
@Table({ tableName: 'open', timestamps: false })
class Half extends NamedRow {}

@Crud({ endpoints: ['list', 'delete'] })
@Table({ tableName: 'open', timestamps: false })
class Few extends NamedRow {}

@Crud({ can: CAN })
@Table({ tableName: 'open', timestamps: false })
class Whole extends NamedRow {}

class WithOptions extends crudController(Open, { can: CAN }) {}

/** Every operation, with everything wrong with it that can be. */
const WRONG = [
  ['get', '/things?q=((&nosuch=1&page=0', undefined],
  ['head', '/things?q=((&nosuch=1&page=0', undefined],
  ['get', '/things/no-id?nosuch=1', undefined],
  ['head', '/things/no-id?nosuch=1', undefined],
  ['post', '/things?nosuch=1', 'application/json'],
  ['post', '/things', 'text/plain'],
  ['patch', '/things/no-id?nosuch=1', 'application/json'],
  ['patch', '/things/1', 'text/plain'],
  ['delete', '/things/no-id?nosuch=1', undefined],
] as const;

const TABLES: readonly ModelClass[] = [Guarded, Open, Half, Few, Whole] as ModelClass[];

type Site = ReturnType<typeof supertest>;

describe('an operation with a rule', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: TABLES,
    bootstrap: { models: [Guarded] as ModelClass[] },
    engine: { logging: sql.record },
  }));

  const built = async (options: BootstrapOptions) => (await buildApp(options)).agent;
  const models = [Guarded] as ModelClass[];
  const open = { models: [Open] as ModelClass[], controllers: [WithOptions] };
  const SITES: Readonly<Record<string, () => Site | Promise<Site>>> = {
    'of a generated controller': () => site.agent,
    'that is overridden': () => built({ models, controllers: [Overriding] }),
    'whose parameters are decorated': () => built({ models, controllers: [Decorated] }),
    'of crudController with options': () => built(open),
    'of crudRouter': () => routed(crudRouter(Guarded, PATH)),
    'of crudRouter with options': () => routed(crudRouter(Open, { ...PATH, can: CAN })),
  };

  async function routed(router: ReturnType<typeof crudRouter>): Promise<Site> {
    const app: Express = express();
    app.use('/things', router);
    const agent = supertest(app);
    // The first request of a router reads the catalogue.
    await agent.get('/things/1');
    return agent;
  }

  async function send(agent: Site, [method, path, type]: (typeof WRONG)[number], rule: string) {
    const asked = agent[method](path).set('rule', rule);
    const sent = type === undefined ? asked : asked.set('Content-Type', type).send('{"broken');
    const { result, statements } = await sql.during(() => sent);
    return { status: result.status, body: result.body, statements };
  }

  for (const [name, make] of Object.entries(SITES)) {
    describe(name, () => {
      let agent: Site;
      before(async () => {
        agent = await make();
      });

      it('[H3] is refused before anything of the request is looked at', async () => {
        calls.length = 0;
        for (const wrong of WRONG) {
          const [method] = wrong;
          const { status, body, statements } = await send(agent, wrong, 'no');
          expect(status, `${method} ${wrong[1]}`).to.equal(403);
          if (method !== 'head') expect(body.detail).to.match(/^This request may not \w+ (Guarded|Open)\.$/);
          expect(statements).to.deep.equal([]);
          expect((await send(agent, wrong, 'yes')).status, `${method} ${wrong[1]}`).to.be.oneOf([400, 415]);
        }
        expect(calls).to.deep.equal([]);
      });

      it('is done where the rule says so', async () => {
        for (const rule of ['yes', 'yes later']) {
          const as = (method: 'get' | 'post' | 'patch' | 'delete', path: string) =>
            agent[method](path).set('rule', rule);
          const created = await as('post', '/things').send({ name: 'a' });
          expect(created.status).to.equal(201);
          const path = `/things/${created.body.id}`;
          expect((await as('patch', path).send({ name: 'b' })).body.name).to.equal('b');
          expect((await as('get', path)).body.name).to.equal('b');
          expect((await as('get', '/things?sort=-id&size=1')).body.items[0].name).to.equal('b');
          expect((await as('delete', path)).status).to.equal(204);
        }
      });

      it('does not change what a path answers to other methods', async () => {
        expect((await agent.options('/things')).status).to.equal(204);
        expect((await agent.put('/things')).status).to.equal(405);
        expect((await agent.put('/things/1')).status).to.equal(405);
      });

      it('[H1] fails closed, whatever a rule answers or throws', async () => {
        const refused = ['no', 'no later', 'nothing', 'null', 'truthy', 'one', 'truthy later', 'none such'];
        const failing = ['a filter', 'everything', 'throws', 'rejects', 'throws null', 'rejects with null'];
        const answers: Readonly<Record<string, readonly [number, string]>> = {
          ...Object.fromEntries(refused.map((rule) => [rule, [403, 'This request may not read a thing.']])),
          ...Object.fromEntries(failing.map((rule) => [rule, [500, 'Internal Server Error']])),
          'throws 403': [403, 'Ask somebody else.'],
          'rejects with 404': [404, 'Nothing here.'],
        };
        for (const [rule, [status, detail]] of Object.entries(answers)) {
          const answer = await agent.get('/things/1').set('rule', rule);
          const told = { detail: answer.body.detail.replace(/Guarded|Open/, 'a thing') };
          expect([answer.status, told], rule).to.deep.equal([status, { detail }]);
        }
      });
    });
  }

  it('takes true and false', async () => {
    const app: Express = express();
    app.use('/things', crudRouter(Open, { ...PATH, can: { list: true, read: false } }));
    const agent = supertest(app);
    expect((await agent.get('/things')).status).to.equal(200);
    expect((await agent.get('/things/1')).status).to.equal(403);
    expect((await agent.post('/things').send({ name: 'x' })).status).to.equal(201);
  });

  it('may give rows where they are there already, and else names the mend', async () => {
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [Guarded] as ModelClass[], logger });
    for (const [method, operation, mend] of [
      ['get', 'list', 'use visible, which decides about rows'],
      ['post', 'create', 'a new record is not there yet'],
    ] as const) {
      expect((await agent[method]('/things').set('rule', 'a filter')).status).to.equal(500);
      expect(logger.text).to.include(`can.${operation} of Guarded gave a filter or EVERYTHING; ${mend}`);
    }
    expect((await agent.patch('/things/999').set('rule', 'everything').send({})).status).to.equal(404);
  });

  it('may have its rule in bootstrap, where the model names none', async () => {
    const can = { list: false, create: true, update: () => filter`name==mine`, delete: false };
    const models = [Half] as ModelClass[];
    const { agent } = await buildApp({ models, can, deny: true });
    expect((await agent.get('/halves')).status).to.equal(200);
    const { body } = await agent.post('/halves').send({ name: 'mine' });
    const change = (name: string) => agent.patch(`/halves/${body.id}`).send({ name });
    expect([(await change('yours')).status, (await change('mine')).status]).to.deep.equal([200, 403]);
    expect((await agent.delete(`/halves/${body.id}`)).status).to.equal(403);
    const wrong = { updat: 1, update: 'x', delete: null } as object;
    expect(await configProblems(() => buildApp({ models, can: wrong }))).to.deep.equal([
      "can names 'updat', which is no operation; use list, read, create, update, delete, deleted, history, aggregate, export, import, changes, links. Did you mean 'update'?",
      'can.update is "x"; use a function of the request, true or false.',
      'can.delete is null; use a function of the request, true or false.',
    ]);
  });

  it('[H1] has to be there for each operation of each resource where bootstrap denies', async () => {
    const advice = 'give each a function of the request, or true for everybody.';
    const models = [Half, Few, Whole] as ModelClass[];
    expect(await configProblems(() => buildApp({ models, deny: true }))).to.deep.equal([
      `Half: bootstrap has deny: true, and can has no rule for create, update, delete; ${advice}`,
      `Few: bootstrap has deny: true, and can has no rule for list, delete; ${advice}`,
    ]);
    await buildApp({ models: [Half, Few] as ModelClass[], deny: false });
    await buildApp({ models: [Whole] as ModelClass[], deny: true });
  });
});
