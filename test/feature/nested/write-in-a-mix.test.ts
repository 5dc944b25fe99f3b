/** Clients that write orders, their lines and discounts at once, each by another route and in an order of its own: none sees a deadlock. */
import { expect } from 'chai';
import type { Response } from 'supertest';
import { except } from '../../support/combination.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { wholeOr } from '../../support/short.js';
import { untilLocked } from '../../support/until-locked.js';

const CLIENTS = 16;
/** Lines with an odd id are of order 1, and the others of order 2. */
const LINES = 24;

type Send = (place: number, round: number) => PromiseLike<Response>;

describeNested('writes of the same orders by all routes at once', function () {
  this.timeout(60_000);
  const { site, query } = serveOrders({
    minPool: 8,
    // On a busy machine clients wait for each other longer than usual.
    engine: { dialectOptions: { lock_timeout: 30_000, statement_timeout: 30_000 } },
  });
  const send = (method: 'post' | 'patch', path: string, body: object) =>
    site.agent[method](path).set('tenant', '1').send(body);
  /** Each time another choice in another order. */
  const some = (ids: readonly number[], from: number) =>
    ids.slice(0, 6).map((_, index) => ids[(from * 5 + index * 7) % ids.length] as number);
  const all = Array.from({ length: LINES }, (_, index) => index + 1);
  const odd = all.filter((id) => id % 2 === 1);
  const even = all.filter((id) => id % 2 === 0);
  let lastPosition = 0;
  const line = () => {
    lastPosition += 1;
    return { productId: 2, position: lastPosition };
  };

  const update = (ids: readonly number[], qty: number) => ({ update: ids.map((id) => ({ id, qty })) });
  const ROUTES: readonly Send[] = [
    (place) => send('patch', '/orders/1', { lines: update(some(odd, place), place) }),
    (place, round) => send('patch', '/lines', update(some(all, place + round), place).update),
    (place) =>
      send('patch', '/orders', [
        { id: 2, customer: 'Zoe', lines: update(some(even, place), place) },
        { id: 1, lines: { ...update(some(odd, place), place), create: [line()] } },
      ]),
    () => send('post', '/lines', { orderId: 1, ...line() }),
    (place) =>
      send('patch', '/orders/2', {
        lines: {
          create: [{ ...line(), discounts: [{ percent: 1 }] }],
          update: some(even, place).map((id) => ({
            id,
            discounts: { update: [{ id, percent: place }], create: [{ percent: 2 }] },
          })),
        },
      }),
    (place) =>
      send(
        'patch',
        '/discounts',
        some(all, place).map((id) => ({ id, percent: place })),
      ),
    (place, round) =>
      send(
        'patch',
        '/orders',
        [3, 1, 2].map((id) => ({ id, customer: `${place} ${round}` })),
      ),
    () =>
      send(
        'post',
        '/lines',
        [1, 2].map((orderId) => ({ orderId, ...line() })),
      ),
    (place) => send('patch', `/lines/${1 + place}`, { qty: place }),
  ];

  beforeEach(async () => {
    lastPosition = 1000;
    await query(
      `INSERT INTO orders ("tenantId", customer, version) SELECT 1, 'Ann', 0 FROM generate_series(1, 3)`,
    );
    await query(
      `INSERT INTO lines ("tenantId", "orderId", "productId", position, qty, version)
      SELECT 1, 2 - n % 2, 1, n, 0, 0 FROM generate_series(1, ${LINES}) n`,
    );
    await query(`INSERT INTO discounts ("lineId", percent) SELECT n, 0 FROM generate_series(1, ${LINES}) n`);
  });

  it('succeed, and lose no line', async () => {
    const failed: object[] = [];
    let created = 0;
    const client = async (_: unknown, place: number) => {
      for (let round = 0; round < wholeOr(5, 9); round += 1) {
        const index = (place + round) % ROUTES.length;
        const answer = await (ROUTES[index] as Send)(place, round);
        const isRefused = answer.status > 201;
        if (isRefused) failed.push({ index, status: answer.status, body: answer.body });
        if (!isRefused) created += [0, 0, 1, 1, 1, 0, 0, 2, 0][index] as number;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(failed).to.deep.equal([]);
    const [lines] = await query<{ count: number }>('SELECT count(*)::int AS count FROM lines');
    expect(lines?.count).to.equal(LINES + created);
  });

  // Each names a line with a high id before one with a low id.
  const CHANGES: Readonly<Record<string, () => PromiseLike<Response>>> = {
    'change both': () => send('patch', '/orders/1', { lines: update([23, 1], 5) }),
    'delete one and change the other': () =>
      send('patch', '/orders/1', { lines: { ...update([1], 5), delete: [23] } }),
    'delete both': () => send('patch', '/orders/1', { lines: { delete: [23, 1] } }),
    'change those of two orders': () =>
      send('patch', '/orders', [
        { id: 2, lines: update([24], 5) },
        { id: 1, lines: update([1], 5) },
      ]),
    'change discounts of two orders': () =>
      send('patch', '/orders', [
        { id: 2, lines: { update: [{ id: 2, discounts: { update: [{ id: 24, percent: 5 }] } }] } },
        { id: 1, lines: { update: [{ id: 3, discounts: { update: [{ id: 1, percent: 5 }] } }] } },
      ]),
  };
  for (const [title, change] of Object.entries(CHANGES))
    it(`${title}, while another transaction locks them in the order of their ids`, async () => {
      await query(
        'UPDATE discounts SET "lineId" = CASE id WHEN 24 THEN 2 ELSE 3 END WHERE id IN (1, 23, 24)',
      );
      const { sequelize } = site.engine;
      const table = title.includes('discounts') ? 'discounts' : 'lines';
      const lock = (id: number) =>
        sequelize.query(`SELECT FROM ${table} WHERE id IN (${id}, ${id + 1}) FOR UPDATE`, { transaction });
      const transaction = await sequelize.transaction();
      await lock(1);
      const answer = Promise.resolve(change());
      await untilLocked(sequelize);
      await lock(23);
      await transaction.commit();
      const { status, body } = await answer;
      expect(status, JSON.stringify(body)).to.equal(200);
    });

  /** Another transaction inserts in the opposite order, and is rolled back once PostgreSQL has ended the request. */
  async function throughDeadlock(request: () => PromiseLike<Response>): Promise<Response> {
    const { sequelize } = site.engine;
    const transaction = await sequelize.transaction();
    const insert = (place: number) =>
      sequelize.query(
        `SET LOCAL deadlock_timeout = '1min'; INSERT INTO lines ("tenantId", "orderId", "productId", position, version) VALUES (1, 1, 1, ${place}, 0)`,
        { transaction },
      );
    await insert(500);
    const answer = Promise.resolve(request());
    await untilLocked(sequelize);
    await insert(501);
    await transaction.rollback();
    return answer;
  }
  const OPPOSITE = [501, 500].map((place) => ({ productId: 1, position: place }));

  it('are made again where a deadlock ends them', async () => {
    const { status, body } = await throughDeadlock(() =>
      send('patch', '/orders/1', { lines: { create: OPPOSITE } }),
    );
    expect(status, JSON.stringify(body)).to.equal(200);
  });

  except({ general: 'records that Sequelize writes in turn are written once, and a deadlock is 409' }).it(
    'are made again where it ends one statement for many',
    async () => {
      const items = OPPOSITE.map((each) => ({ orderId: 1, ...each }));
      const { status, body } = await throughDeadlock(() => send('post', '/lines', items));
      expect(status, JSON.stringify(body)).to.equal(201);
    },
  );
});
