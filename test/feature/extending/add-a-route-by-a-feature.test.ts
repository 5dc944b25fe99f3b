/** A feature that adds a route: it is mounted, guarded, listed and described as generated ones are, and other features work on it. */
import { expect } from 'chai';
import express from 'express';
import { Get, UseBefore } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { buildApplication } from '../../../src/bootstrap.js';
import { FEATURES } from '../../../src/features/features.js';
import type { ActingFeature } from '../../../src/handle/around.js';
import {
  Crud,
  type CrudApplication,
  type CrudContext,
  crudController,
  InjectListQuery,
  type ListQuery,
  Repository,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';
import { exportLines } from './features/export-lines.js';
import { newest } from './features/newest.js';

@Crud({ filterAllow: ['name'] })
@Table({ tableName: 'moons', timestamps: false })
class Moon extends NamedRow {}

class GuardedMoons extends crudController(Moon) {
  @UseBefore((_request: unknown, response: express.Response) => void response.status(418).end())
  override list(query: ListQuery, context: CrudContext<Moon>) {
    return super.list(query, context);
  }
}

class OwnMoons extends crudController(Moon) {
  @Get('/named')
  named(@InjectListQuery() query: ListQuery) {
    return new Repository(Moon).page({ ...query, kind: 'offset', page: 1, size: 2 } as never);
  }
}

/** Work around reads, which leaves a header. */
const marked = (): ActingFeature => ({
  around: (_resource, route) => async () => ({
    async run(next) {
      const draft = await next();
      return draft && { ...draft, headers: { ...draft.headers, 'X-Around': route.endpoint } };
    },
  }),
});

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

describe('a feature that adds a route', () => {
  const site = serveTestApp(() => ({ models: [Moon], bootstrap: { models: [] } }));

  before(async () => {
    await emptyTables(site, 'moons');
    await Moon.bulkCreate(['Io', 'Titan', 'Rhea'].map((name) => ({ name })));
  });

  function build(fastPath: boolean, ...controllers: (new () => object)[]) {
    const { application, router } = buildApplication(
      { models: [Moon], controllers, fastPath, indexAdvice: false, logger: QUIET },
      [...FEATURES, newest, exportLines, marked],
    );
    return { application, agent: supertest(express().use(router)) };
  }

  for (const fastPath of [true, false]) {
    describe(fastPath ? 'on the fast path' : 'on the general path', () => {
      let application: CrudApplication;
      let agent: ReturnType<typeof supertest>;

      before(() => {
        ({ application, agent } = build(fastPath));
      });

      it('is reached before a route of another id', async () => {
        const { body, status, headers } = await agent.get('/moons/newest?size=2');
        expect(status).to.equal(200);
        expect(body.items.map(({ name }: Moon) => name)).to.deep.equal(['Rhea', 'Titan']);
        expect(headers['x-around']).to.equal('list');
      });

      it('takes the inputs of its operation, and refuses others', async () => {
        const { body } = await agent.get('/moons/newest?q=name!=Titan&fields=name');
        expect(body.items).to.deep.equal([{ name: 'Rhea' }, { name: 'Io' }]);
        expect((await agent.get('/moons/newest?limit=1')).status).to.equal(400);
        expect((await agent.post('/moons/newest').send({})).status).to.equal(405);
      });

      it('has other forms of its answer', async () => {
        const { text, headers } = await agent
          .get('/moons/newest?fields=name')
          .set('Accept', 'application/x-ndjson')
          .buffer();
        expect(headers['content-type']).to.equal('application/x-ndjson; charset=utf-8');
        expect(text.split('\n')[0]).to.equal('{"name":"Rhea"}');
      });

      it('stands in the route table and in the document', () => {
        const route = application.routes.find(({ path }) => path === '/moons/newest');
        expect(route).to.deep.include({ method: 'GET', resource: 'Moon', operation: 'list' });
        expect(route?.generalPathReasons).to.deep.equal(fastPath ? [] : ['fastPath is false']);
        const described = application.openapi().paths['/moons/newest']?.get;
        expect(described?.summary).to.equal('List the newest moons');
        expect(described?.responses[200])
          .to.have.property('content')
          .that.has.all.keys('application/json', 'application/x-ndjson');
      });

      it('has the guards of the method that it names', async () => {
        const guarded = build(fastPath, GuardedMoons);
        expect((await guarded.agent.get('/moons/newest')).status).to.equal(418);
      });

      it('leaves other forms to the lists of routes of the user, too', async () => {
        const own = build(fastPath, OwnMoons);
        expect((await own.agent.get('/moons/named')).body.items).to.have.length(2);
        const { headers } = await own.agent.get('/moons/named').set('Accept', 'application/x-ndjson');
        expect(headers['content-type']).to.equal('application/x-ndjson; charset=utf-8');
      });
    });
  }
});
