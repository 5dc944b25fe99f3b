/** Several clients that change the lines of one order at the same time, and code that sees each child. */
import { expect } from 'chai';
import { Line, Order } from '../../models/orders.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { behind } from '../../support/until-locked.js';
import { withHook } from '../../support/with-hook.js';

const CLIENTS = 16;

describeNested('nested writes of one order at once', () => {
  const { site, query } = serveOrders({ minPool: 4 });
  const patch = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    site.agent
      .patch('/orders/1')
      .set({ tenant: '1', ...headers })
      .send(body);
  const places = Array.from({ length: CLIENTS }, (_, index) => index);

  beforeEach(async () => {
    await query(`INSERT INTO orders ("tenantId", customer, version) VALUES (1, 'Ann', 0)`);
    const rows = places.map((place) => `(1, 1, 1, ${place}, 0, 0)`).join();
    await query(
      `INSERT INTO lines ("tenantId", "orderId", "productId", position, qty, version) VALUES ${rows}`,
    );
  });

  it('lose no line, and see no deadlock', async () => {
    const answers = await Promise.all(
      places.map((place) => {
        // Each names rows of the others, in an order of its own.
        const ids = places.map((other) => 1 + ((place * 5 + other * 3) % CLIENTS));
        return patch({
          lines: {
            create: [{ productId: 2, position: 100 + place }],
            update: ids.slice(0, 8).map((id) => ({ id, qty: place + 1 })),
          },
        });
      }),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(places.map(() => 200));
    const [order] = await query<{ version: number }>('SELECT version FROM orders');
    expect(order?.version).to.equal(CLIENTS);
    const [lines] = await query<{ count: number }>('SELECT count(*)::int AS count FROM lines');
    expect(lines?.count).to.equal(2 * CLIENTS);
  });

  it('have all values of lines that another transaction has changed meanwhile', async () => {
    const update = [
      { id: 1, qty: 0 },
      { id: 2, qty: 5 },
    ];
    const change = 'UPDATE lines SET qty = 4';
    const { status, body } = await behind(site.engine.sequelize, change, () => patch({ lines: { update } }));
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await query('SELECT id, qty FROM lines WHERE id < 3 ORDER BY id')).to.deep.equal(update);
  });

  it('have all values of a line and a note that another transaction has changed meanwhile', async () => {
    await query(`INSERT INTO notes ("orderId", text) VALUES (1, 'new')`);
    const change = `UPDATE lines SET qty = 4; UPDATE notes SET text = 'theirs'`;
    const body = { lines: { update: [{ id: 1, qty: 0 }] }, note: { update: { id: 1, text: 'ours' } } };
    const { status, text } = await behind(site.engine.sequelize, change, () => patch(body));
    expect(status, text).to.equal(200);
    const stored = 'SELECT qty, text FROM lines, notes WHERE lines.id = 1';
    expect(await query(stored)).to.deep.equal([{ qty: 0, text: 'ours' }]);
  });

  it('let one of those with the same tag win', async () => {
    const { headers } = await site.agent.get('/orders/1').set('tenant', '1');
    const tag = { 'If-Match': String(headers['etag']) };
    const answers = await Promise.all(
      places.map((place) => patch({ lines: { update: [{ id: 1, qty: place + 1 }] } }, tag)),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      200,
      ...Array.from({ length: CLIENTS - 1 }, () => 412),
    ]);
  });

  it('run the hooks of each child', async () => {
    const seen: string[] = [];
    const note = (name: string) => (record: Line) => void seen.push(`${name} ${record.position}`);
    await withHook(Line, 'beforeCreate', note('create'), () =>
      withHook(Line, 'beforeUpdate', note('update'), async () => {
        const { status, body } = await patch({
          lines: {
            create: [
              { productId: 1, position: 50 },
              { productId: 1, position: 51 },
            ],
            update: [{ id: 1, qty: 9 }],
          },
        });
        expect(status, JSON.stringify(body)).to.equal(200);
      }),
    );
    expect(seen).to.deep.equal(['update 0', 'create 50', 'create 51']);
  });

  it('write nothing where a hook of a child throws', async () => {
    const fail = () => {
      throw new RangeError('This line is closed.');
    };
    const { status } = await withHook(Line, 'beforeCreate', fail, () =>
      patch({ customer: 'Zoe', lines: { delete: [1], create: [{ productId: 1, position: 50 }] } }),
    );
    expect(status).to.equal(500);
    expect(await Order.findByPk(1).then((order) => order?.customer)).to.equal('Ann');
    expect(await Line.count()).to.equal(CLIENTS);
  });
});
