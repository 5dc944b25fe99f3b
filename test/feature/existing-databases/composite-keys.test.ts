/** Tables whose rows several columns tell apart: what the start says of them, and keys of a tenant and a number. */
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, crudController, EVERYTHING } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** The rows of a tenant have their numbers. A scope of `=1` is one value, and that of `1` is a list. */
@Crud({
  id: ['id'],
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace'],
  defaultSort: 'tenantId,id',
  scope: {
    tenantId: (request) => {
      const tenants = request.get('x-tenant') ?? '1';
      if (tenants.startsWith('=')) return Number(tenants.slice(1));
      return tenants === 'all' ? EVERYTHING : tenants.split(',').map(Number);
    },
  },
})
@Table({ tableName: 'invoices', timestamps: false, version: true })
class Invoice extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true, field: 'tenant_id' }) declare tenantId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

@Table({ tableName: 'pairs', timestamps: false })
class Pair extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare a: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare b: number;
}

describe('the start of a model with a key of several columns', () => {
  const site = serveTestApp(() => ({ models: [Pair], bootstrap: { models: [] } }));

  async function start(constraint: string, options: CrudOptions<Pair>): Promise<string> {
    await site.engine.sequelize.query(
      `DROP TABLE pairs; CREATE TABLE pairs (a int NOT NULL, b int NOT NULL, ${constraint})`,
    );
    const logger = new CapturedLog();
    class Pairs extends crudController(Pair, options) {}
    const problems = await buildApp({ models: [], controllers: [Pairs], logger, indexAdvice: false }).then(
      () => '',
      (error: Error) => error.message,
    );
    return `${problems}${logger.text.replaceAll('\\"', '"')}`;
  }

  it('tells an order that is that of no index', async () => {
    expect(await start('PRIMARY KEY (b, a)', {})).to.include(
      `Pair: its id is a,b, and the index of the table "pairs" is over ("b", "a"), which serves pages in another order only; write id: ['b', 'a']`,
    );
    expect(await start('PRIMARY KEY (b, a)', { id: ['b', 'a'] })).to.not.include('its id is');
    expect(await start('PRIMARY KEY (a, b)', {})).to.not.include('its id is');
  });

  it('refuses a key that no index has exactly', async () => {
    const head = 'no unique index or constraint of the table "pairs" is over "a", "b" exactly';
    for (const constraint of ['UNIQUE (a)', 'CHECK (a > b)'])
      expect(await start(constraint, {}), constraint).to.include(head);
    // A part of the key needs a scope over the others.
    expect(await start('PRIMARY KEY (a, b)', { id: 'b' })).to.include(
      'no unique index of the table "pairs" is over "b" alone',
    );
    expect(await start('PRIMARY KEY (a, b)', { id: 'b', scope: { a: () => 1 } })).to.not.include(
      'no unique index',
    );
  });
});

except(OF_MANY).describe('a key of a tenant and a number', () => {
  const site = serveTestApp(() => ({ models: [Invoice] }));

  beforeEach(async () => {
    await emptyTables(site, 'invoices');
    await Invoice.bulkCreate([
      { tenantId: 1, id: 7, text: 'one' },
      { tenantId: 2, id: 7, text: 'two' },
      { tenantId: 2, id: 8, text: 'eight' },
    ]);
  });

  const rows = async () =>
    (await Invoice.findAll({ order: ['tenantId', 'id'] })).map(
      ({ tenantId, id, text }) => `${tenantId},${id}: ${text}`,
    );
  const send = (verb: 'get' | 'put' | 'patch' | 'delete', path: string, tenants: string, body?: object) =>
    site.agent[verb](path).set('x-tenant', tenants).send(body);

  it('leaves the tenant out of the path', async () => {
    const seven = { tenantId: 1, id: 7, text: 'one', version: 0 };
    expectJson(await send('get', '/invoices/7', '1'), 200, seven);
    expectJson(await send('patch', '/invoices/7', '1', { text: 'changed' }), 200, {
      ...seven,
      text: 'changed',
      version: 1,
    });
    const missing = await send('get', '/invoices/9', '1');
    for (const verb of ['get', 'patch', 'delete'] as const) {
      const answer = await send(verb, '/invoices/8', '1', verb === 'patch' ? { text: 'x' } : undefined);
      expectProblem(answer, 404, { detail: 'There is no Invoice with this id.' });
      expect(answer.text).to.equal(missing.text);
    }
    expectNothing(await send('delete', '/invoices/7', '1'), 204);
    expect(await rows()).to.deep.equal(['2,7: two', '2,8: eight']);
    const created = await site.agent
      .post('/invoices')
      .set('x-tenant', '1')
      .send({ tenantId: 1, id: 8, text: 'mine' });
    expectJson(created, 201, { tenantId: 1, id: 8, text: 'mine', version: 0 });
    expect(created.headers['location']).to.equal('/invoices/8');
  });

  it('replaces a row of the tenant, or creates it', async () => {
    const seven = { tenantId: 2, id: 7, text: 'x', version: 1 };
    expectJson(await send('put', '/invoices/7', '=2', { text: 'x' }), 200, seven);
    const created = await send('put', '/invoices/8', '=1', { text: 'y' });
    expectJson(created, 201, { tenantId: 1, id: 8, text: 'y', version: 0 });
    expect(created.headers['location']).to.equal('/invoices/8');
    const after = ['1,7: one', '1,8: y', '2,7: x', '2,8: eight'];
    expect(await rows()).to.deep.equal(after);
    await send('put', '/invoices/8', '=1', { tenantId: 2, text: 'z' }).expect(422);
    // No tenant is that of a new row.
    for (const tenants of ['1,2', 'all'])
      expect((await send('put', '/invoices/9', tenants, { text: 'z' })).status).to.equal(422);
    await send('put', '/invoices/7', 'all', { text: 'z' }).expect(409);
    expect(await rows()).to.deep.equal(after);
  });

  it('is 409 where a scope has two of a number, and nothing is written', async () => {
    const before = await rows();
    for (const tenants of ['1,2', 'all'])
      for (const verb of ['get', 'patch', 'delete'] as const) {
        const answer = await send(verb, '/invoices/7', tenants, verb === 'patch' ? { text: 'x' } : undefined);
        expect([answer.status, await rows()], `${verb} ${tenants}`).to.deep.equal([409, before]);
      }
    const eight = { tenantId: 2, id: 8, text: 'x', version: 1 };
    expectJson(await send('patch', '/invoices/8', 'all', { text: 'x' }), 200, eight);
  });
});
