/** Resources with some of the operations only. */
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  type ListQuery,
  type Operation,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { onPath } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'reports', timestamps: false })
class Report extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
}

const REQUESTS: readonly (readonly [Operation, 'get' | 'post' | 'patch' | 'delete', string, object?])[] = [
  ['list', 'get', '/reports'],
  ['read', 'get', '/reports/1'],
  ['create', 'post', '/reports', { title: 'New' }],
  ['update', 'patch', '/reports/1', { title: 'Newer' }],
  ['delete', 'delete', '/reports/1'],
];

describe('choosing endpoints', () => {
  const site = serveTestApp(() => ({ models: [Report] }));

  const serve = (endpoints: Iterable<Operation>) => {
    class Reports extends crudController(Report, { endpoints }) {}
    return buildApp({ models: [Report], controllers: [Reports] });
  };

  beforeEach(async () => {
    await emptyTables(site, 'reports');
    await Report.create({ title: 'First' });
  });

  for (const [operation] of REQUESTS) {
    it(`[H5] serves ${operation} and nothing else`, async () => {
      const { agent, crud } = await serve([operation]);
      const served: string[] = [];
      for (const [other, method, path, body] of REQUESTS) {
        const { status } = await agent[method](path).send(body);
        if (status < 300) served.push(other);
        else expect(status, other).to.be.oneOf([404, 405]);
      }
      expect(served).to.deep.equal([operation]);
      expect(crud.routes.map((route) => route.operation)).to.deep.equal([operation]);
    });
  }

  it('[H5] has no path at all where there is no operation on it', async () => {
    const { agent } = await serve(['list', 'create']);
    for (const method of ['get', 'patch', 'delete', 'options'] as const) {
      const { status, headers } = await agent[method]('/reports/1');
      expect(status, method).to.equal(404);
      expect(headers, method).to.not.have.property('allow');
    }
  });

  it('takes any iterable', async () => {
    const { agent } = await serve(new Set<Operation>(['read']));
    expectJson(await agent.get('/reports/1'), 200, { id: 1, title: 'First' });
  });

  it('serves nothing where none is named', async () => {
    const { agent, crud } = await serve([]);
    expect(crud.routes).to.deep.equal([]);
    expect((await agent.get('/reports')).status).to.equal(404);
  });

  it('gives a method what it is always given, also by a route of its own alone', async () => {
    class Reports extends crudController(Report, { endpoints: ['read'] }) {
      @Get('/all')
      override list(query: ListQuery, context: CrudContext<Report>) {
        return super.list(query, context);
      }
    }
    const { agent } = await buildApp({ models: [Report], controllers: [Reports] });
    const { body } = await agent.get('/reports/all?size=1').expect(200);
    expect(body.items).to.deep.equal([{ id: 1, title: 'First' }]);
    expect((await agent.get('/reports')).status).to.equal(404);
  });

  it('lists the routes that there are', async () => {
    const { crud } = await serve(['list', 'read', 'create', 'update', 'delete']);
    const generalPathReasons = onPath({ fast: [], general: ['fastPath is false'] });
    const common = { resource: 'Report', joined: [], generalPathReasons };
    expect(crud.routes).to.deep.equal([
      { ...common, method: 'GET', path: '/reports', operation: 'list', handler: 'list' },
      { ...common, method: 'POST', path: '/reports', operation: 'create', handler: 'create' },
      { ...common, method: 'GET', path: '/reports/:id', operation: 'read', handler: 'read' },
      { ...common, method: 'PATCH', path: '/reports/:id', operation: 'update', handler: 'update' },
      { ...common, method: 'DELETE', path: '/reports/:id', operation: 'delete', handler: 'remove' },
    ]);
  });

  it('lists those for many records by their own names, with what each does not pass by now', async () => {
    class Reports extends crudController(Report, { endpoints: ['list', 'createMany', 'updateMany'] }) {
      @Get('/summary')
      summary() {
        return {};
      }
    }
    const { crud } = await buildApp({ models: [Report], controllers: [Reports] });
    Report.addHook('afterUpdate', 'audit', () => {});
    const routes = crud.routes.map(({ method, path, operation, handler, generalPathReasons }) => {
      const isHooked = generalPathReasons.includes('the model has a hook afterUpdate');
      return `${method} ${path} ${operation} ${handler}${isHooked ? ' hooked' : ''}`;
    });
    Report.removeHook('afterUpdate', 'audit');
    expect(routes).to.deep.equal([
      'GET /reports/summary null summary',
      'GET /reports list list',
      'POST /reports/many createMany bulk.createMany hooked',
      'POST /reports createMany bulk.createMany hooked',
      'PATCH /reports updateMany bulk.updateMany hooked',
    ]);
  });
});
