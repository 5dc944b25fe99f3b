/** The sample `shards`: a request of a tenant reaches the server of the tenant alone, and a server that is down fails no other tenant. */
// @runs fast
import 'reflect-metadata';
import { once } from 'node:events';
import { expect } from 'chai';
import { startApplication } from '../../../sample/shards/application.js';
import { type Shard, startShards } from '../../../sample/shards/servers.js';
import { CapturedLog } from '../../support/captured-log.js';

interface Answer {
  readonly status: number;
  readonly body: {
    readonly items: readonly {
      id: number;
      tenantId: number;
      title: string;
      lines?: { readonly items: object[] };
    }[];
    readonly id: number;
    readonly total?: number;
  } & Record<string, unknown>;
}

/** Each server logs its statements, and the plans that they had. */
const LOGGED = {
  log_statement: 'all',
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_verbose': 'on',
};

describe('the sample shards', function () {
  this.timeout(60_000);
  let cluster: Awaited<ReturnType<typeof startShards>>;

  before(async () => {
    cluster = await startShards(undefined, LOGGED);
  });
  after(() => cluster[Symbol.asyncDispose]());

  describe('by SQL of the library', () => describeSite(true, () => cluster));
  describe('by Sequelize', () => describeSite(false, () => cluster));
});

function describeSite(fastPath: boolean, started: () => Awaited<ReturnType<typeof startShards>>): void {
  let cluster: Awaited<ReturnType<typeof startShards>>;
  let site: Awaited<ReturnType<typeof startApplication>>;
  const logger = new CapturedLog();

  before(async () => {
    cluster = started();
    for (const { query } of cluster.shards) await query('TRUNCATE orders_here, order_lines_here');
    site = await startApplication(shard(0).url, 0, { fastPath, indexAdvice: false, logger });
  });
  after(async () => {
    const closed = once(site.server, 'close');
    site.server.close();
    await closed;
    await site.engine[Symbol.asyncDispose]();
  });

  const shard = (index: number): Shard => cluster.shards[index] as Shard;
  const send = async (
    tenant: number | 'all',
    method: string,
    path: string,
    sent?: object,
  ): Promise<Answer> => {
    const headers = { Tenant: String(tenant), 'Content-Type': 'application/json' };
    const response = await fetch(`${site.url}${path}`, {
      method,
      headers,
      body: sent ? JSON.stringify(sent) : null,
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : {} };
  };
  const create = async (tenant: number, title: string) => {
    const order = await send(tenant, 'POST', '/orders', { title });
    expect(order.status, JSON.stringify(order.body)).to.equal(201);
    return order.body.id;
  };
  /** Statements about tables of the sample that the far servers have logged meanwhile. */
  const reached = async (work: () => Promise<unknown>): Promise<boolean[]> => {
    const far = cluster.shards.slice(1);
    const before = await Promise.all(far.map((each) => each.log()));
    await work();
    const after = await Promise.all(far.map((each) => each.log()));
    return after.map((text, index) => /_here/.test(text.slice(before[index]?.length)));
  };

  it('starts without a warning', () => {
    expect(logger.lines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
  });

  it('reaches one server for each request of a tenant', async () => {
    const only: Readonly<Record<number, boolean[]>> = {
      1: [false, false],
      2: [true, false],
      3: [false, true],
    };
    for (const tenant of [1, 2, 3]) {
      let id = 0;
      let line = 0;
      const ok = async (method: string, path: string, sent?: object) => {
        const answer = await send(tenant, method, path, sent);
        expect(answer.status, `${method} ${path}`).to.be.within(200, 299);
        return answer.body;
      };
      const works: Readonly<Record<string, () => Promise<unknown>>> = {
        create: async () => {
          id = await create(tenant, 'bread');
        },
        line: async () => {
          line = (await ok('POST', '/lines', { orderId: id, text: 'flour' })).id;
        },
        read: () => ok('GET', `/orders/${id}`),
        list: () => ok('GET', '/orders?q=title==bread'),
        count: async () => expect((await ok('GET', '/orders?page=1')).total).to.equal(1),
        relation: async () =>
          expect((await ok('GET', '/orders?include=lines')).items[0]?.lines?.items).to.have.length(1),
        update: () => ok('PATCH', `/orders/${id}`, { title: 'rye' }),
        delete: () => ok('DELETE', `/lines/${line}`),
      };
      for (const [name, work] of Object.entries(works))
        expect([tenant, name, await reached(work)]).to.deep.equal([tenant, name, only[tenant]]);
      const { body } = await send(tenant, 'GET', '/orders?include=lines');
      expect(body.items.map((each) => each.title)).to.deep.equal(['rye']);
    }
  });

  /** Plans of the first server for statements about tables of the sample, as `EXPLAIN (VERBOSE)` writes them. */
  const plansOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    const before = (await shard(0).log()).length;
    await work();
    const [, ...plans] = (await shard(0).log()).slice(before).split(' plan:\n');
    return plans
      .map((text) => text.split(/^\d{4}-/m)[0] ?? '')
      .filter((text) => /_here|_far_|on public\.order/.test(text));
  };

  it('plans each statement of a tenant for one server', async () => {
    await create(2, 'another');
    const id = await create(2, 'planned');
    const line = await send(2, 'POST', '/lines', { orderId: id, text: 'flour' });
    const works: readonly [count: number, method: string, path: string, body?: object][] = [
      [1, 'GET', `/orders/${id}`],
      [1, 'GET', '/orders?q=title==planned'],
      // The page does not say how many there are.
      [2, 'GET', '/orders?size=1'],
      [2, 'GET', '/orders?include=lines'],
      [1, 'PATCH', `/orders/${id}`, { title: 'changed' }],
      [1, 'DELETE', `/lines/${line.body.id}`],
    ];
    for (const [count, method, path, body] of works) {
      const plans = await plansOf(() => send(2, method, path, body));
      const named = `${method} ${path}\n${plans.join('\n')}`;
      expect(plans.length, named).to.be.at.least(count);
      for (const plan of plans) {
        expect(new Set(plan.match(/(?<=on public\.\w+)_(?:here|far_\d)/g)), named).to.deep.equal(
          new Set(['_far_2']),
        );
        // Each Foreign Scan, Foreign Update and Foreign Delete has one.
        expect(plan.match(/Remote SQL/g), named).to.have.length(1);
      }
    }
  });

  it('keeps tenants of one server apart, and lists all for an operator', async () => {
    const own = await create(5, 'ours');
    for (const [method, body] of [['GET'], ['PATCH', { title: 'x' }], ['DELETE']] as const)
      expect((await send(2, method, `/orders/${own}`, body)).status).to.equal(404);
    expect((await send(2, 'POST', '/lines', { orderId: own, text: 'x', tenantId: 5 })).status).to.equal(422);
    expect((await send(2, 'POST', '/lines', { orderId: own, text: 'x' })).status).to.equal(409);
    const seen = (await send(2, 'GET', '/orders')).body.items.map(({ tenantId }) => tenantId);
    expect(new Set(seen)).to.deep.equal(new Set([2]));
    const all = (await send('all', 'GET', '/orders')).body.items;
    const stored = await Promise.all(cluster.shards.map(({ query }) => query('SELECT id FROM orders_here')));
    const ids = stored.flat().map((row) => (row as { id: number }).id);
    expect(all.map(({ id }) => id).sort((a, b) => a - b)).to.deep.equal(ids.sort((a, b) => a - b));
  });

  /** Rows of tenant 2, and of others under the same ids and under other ones: on the front, on the same server, and on another. */
  const fill = async (others: boolean): Promise<void> => {
    const rows = (tenant: number, title: string, ids: readonly number[]) =>
      ids
        .map(
          (id) =>
            `INSERT INTO orders_here VALUES (${tenant}, ${id}, '${title}'); ` +
            `INSERT INTO order_lines_here VALUES (${tenant}, ${id + 1}, ${id}, '${title}');`,
        )
        .join(' ');
    const strangers = [rows(1, '~front', [10, 30]), rows(5, '~same', [10, 40]), rows(3, '~other', [10, 50])];
    for (const [index, { query }] of cluster.shards.entries())
      await query(
        `TRUNCATE orders_here, order_lines_here; ${others ? strangers[index] : ''} ${index === 1 ? rows(2, 'own', [10, 20]) : ''}`,
      );
    await shard(0).query(`SELECT setval('orders_ids', 1000), setval('order_lines_ids', 1000)`);
  };
  const strangers = (): Promise<unknown> =>
    Promise.all(
      cluster.shards.map(({ query }) =>
        query(
          'SELECT o.*, l.* FROM orders_here o FULL JOIN order_lines_here l ON (l.tenant_id, l.order_id) = (o.tenant_id, o.id) ' +
            'WHERE COALESCE(o.tenant_id, l.tenant_id) <> 2 ORDER BY o.tenant_id, o.id, l.id',
        ),
      ),
    );
  /** Each request of tenant 2, with the bytes of its answer. */
  const answers = async (): Promise<string[]> => {
    const lists = [
      '?page=1',
      '?sort=-title',
      '?q=title=like=~*',
      '?include=lines',
      '?q=title==own&page=1&include=lines',
    ];
    const requests: [string, string, object?][] = lists.map((query) => ['GET', `/orders${query}`]);
    requests.push(['GET', '/lines?page=1'], ['POST', '/orders', { title: 'new' }]);
    for (const tenantId of [1, 3, 5]) requests.push(['POST', '/orders', { title: 'new', tenantId }]);
    // Requests for own orders come last, because they change what is there.
    for (const id of [30, 40, 50, 20, 10])
      requests.push(
        ['POST', '/lines', { orderId: id, text: 'new' }],
        ['GET', `/orders/${id}`],
        ['GET', `/lines/${id + 1}`],
        ['PATCH', `/orders/${id}`, { title: 'changed' }],
        ['PATCH', `/lines/${id + 1}`, { text: 'changed' }],
        ['PATCH', `/lines/${id + 1}`, { orderId: 40 }],
        ['DELETE', `/orders/${id}`],
        ['DELETE', `/lines/${id + 1}`],
      );
    const found: string[] = [];
    for (const [method, path, body] of requests) {
      const headers = { Tenant: '2', 'Content-Type': 'application/json', 'X-Request-Id': 'same' };
      const answer = await fetch(`${site.url}${path}`, {
        method,
        headers,
        body: body ? JSON.stringify(body) : null,
      });
      const { location, etag, link } = Object.fromEntries(answer.headers);
      found.push([method, path, answer.status, location, etag, link, await answer.text()].join(' '));
    }
    return found;
  };

  it('answers a tenant the same bytes with and without rows of others, and changes none of them', async () => {
    await fill(false);
    const alone = await answers();
    await fill(true);
    const before = await strangers();
    expect(JSON.stringify(before)).to.include('~front').and.include('~same').and.include('~other');
    expect(await answers()).to.deep.equal(alone);
    expect(await strangers()).to.deep.equal(before);
    // The requests reached rows at all.
    for (const start of [
      'GET /orders/10 200',
      'PATCH /orders/20 200',
      'GET /orders/40 404',
      'DELETE /lines/11 204',
    ])
      expect(
        alone.some((each) => each.startsWith(start)),
        start,
      ).to.equal(true);
    await fill(false);
  });

  it('fails the tenants of a server that is down, and serves them when it is back', async () => {
    await shard(2).stop();
    for (const tenant of [1, 2]) {
      const id = await create(tenant, 'meanwhile');
      expect((await send(tenant, 'GET', '/orders?include=lines')).status).to.equal(200);
      expect((await send(tenant, 'PATCH', `/orders/${id}`, { title: 'later' })).status).to.equal(200);
    }
    expect((await send(3, 'GET', '/orders')).status).to.equal(503);
    expect((await send(3, 'POST', '/orders', { title: 'lost' })).status).to.equal(503);
    expect((await send('all', 'GET', '/orders')).status).to.equal(503);
    await shard(2).start();
    await create(3, 'back');
    expect((await send(3, 'GET', '/orders')).body.items.map(({ title }) => title)).to.deep.equal(['back']);
  });
}
