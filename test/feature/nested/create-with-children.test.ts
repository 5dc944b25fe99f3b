/** `POST` of a record with its children. */
import { expect } from 'chai';
import { except } from '../../support/combination.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';

describeNested('a record that is created with its children', () => {
  const sql = new SqlLog();
  const { site, query } = serveOrders({ engine: { logging: sql.record } });
  const post = (body: object, tenant = '1', without = '') =>
    site.agent.post('/orders').set({ tenant, without }).send(body);
  const count = async () => {
    const [row] = await query<object>(
      'SELECT (SELECT count(*)::int FROM orders) AS orders, (SELECT count(*)::int FROM lines) AS lines, (SELECT count(*)::int FROM discounts) AS discounts',
    );
    return row;
  };
  const NOTHING = { orders: 0, lines: 0, discounts: 0 };

  it('is answered with them, in their order', async () => {
    const response = await post({
      customer: 'Ann',
      lines: [
        { productId: 2, position: 2, qty: 3, discounts: [{ percent: 5 }, { percent: 10 }] },
        { productId: 1, position: 1, cost: 7 },
      ],
      note: { text: 'urgent' },
    });
    const shared = { tenantId: 1, orderId: 1, version: 0 };
    expect(response.body).to.deep.equal({
      id: 1,
      tenantId: 1,
      customer: 'Ann',
      version: 0,
      lines: {
        items: [
          {
            id: 2,
            ...shared,
            productId: 1,
            position: 1,
            qty: 1,
            cost: 7,
            discounts: { items: [], has_next: false },
          },
          {
            id: 1,
            ...shared,
            productId: 2,
            position: 2,
            qty: 3,
            cost: null,
            discounts: {
              items: [
                { id: 1, lineId: 1, percent: 5 },
                { id: 2, lineId: 1, percent: 10 },
              ],
              has_next: false,
            },
          },
        ],
        has_next: false,
      },
      note: { id: 1, orderId: 1, text: 'urgent', deletedAt: null },
    });
    expect(response.status).to.equal(201);
    expect(response.headers['location']).to.equal('/orders/1');
  });

  it('is answered without relations that it does not name', async () => {
    const { body } = await post({ customer: 'Ann' });
    expect(body).to.have.all.keys('id', 'tenantId', 'customer', 'version');
    const none = await post({ customer: 'Ann', lines: [] });
    expect(none.body.lines).to.deep.equal({ items: [], has_next: false });
  });

  except({ general: 'Sequelize writes row by row' }).it(
    'takes as many statements for 100 children as for one',
    async () => {
      const bodyOf = (count: number) => ({
        customer: 'Ann',
        lines: Array.from({ length: count }, (_, position) => ({
          productId: 1 + (position % 3),
          position,
          discounts: [{ percent: 1 }],
        })),
      });
      await post(bodyOf(1));
      const one = await sql.during(() => post(bodyOf(1)));
      const many = await sql.during(() => post(bodyOf(100)));
      expect(many.result.body.lines.items).to.have.lengthOf(100);
      expect(many.statements.map((each) => each.slice(0, 60))).to.deep.equal(
        one.statements.map((each) => each.slice(0, 60)),
      );
      expect(many.statements.filter((each) => each.includes('INSERT'))).to.have.lengthOf(3);
    },
  );

  it('tells what is wrong on all levels at once', async () => {
    const response = await post({
      customer: 3,
      lines: [
        { productId: 1, position: 1, qty: 'x', discounts: [{ percent: 1 }, { percent: 'much' }] },
        { productId: 1, position: 2, orderId: 4, colour: 'red' },
        7,
      ],
      note: [{ text: 'x' }],
    });
    expect(response.status).to.equal(422);
    expect(
      response.body.errors.map((each: { pointer: string; code: string }) => [each.pointer, each.code]),
    ).to.have.deep.members([
      ['/customer', 'isString'],
      ['/lines/0/qty', 'isInt'],
      ['/lines/0/discounts/1/percent', 'isInt'],
      ['/lines/1/orderId', 'readOnly'],
      ['/lines/1/colour', 'unknownProperty'],
      ['/lines/2', 'isObject'],
      ['/note', 'isObject'],
    ]);
    expect(await count()).to.deep.equal(NOTHING);
  });

  for (const lines of [null, {}, 'x', { create: [] }]) {
    it(`refuses ${JSON.stringify(lines)} in the place of a list`, async () => {
      const response = await post({ customer: 'Ann', lines });
      expectIssue(response, 422, { pointer: '/lines', code: 'isArray', detail: 'lines must be an array.' });
    });
  }

  it('refuses more than the option allows', async () => {
    const lines = Array.from({ length: 101 }, (_, position) => ({ productId: 1, position }));
    const response = await post({ customer: 'Ann', lines });
    const detail = 'There are 101 lines of one record; at most 100 are accepted.';
    expectIssue(response, 422, { pointer: '/lines', code: 'tooMany', detail });
  });

  it('names the child that the database refuses, and writes nothing', async () => {
    const response = await post({
      customer: 'Ann',
      lines: [
        { productId: 1, position: 1 },
        { productId: 2, position: 1 },
      ],
    });
    expect(response.status).to.equal(409);
    expect(response.body.errors.map((each: { pointer: string }) => each.pointer)).to.deep.equal([
      '/lines/1/orderId',
      '/lines/1/position',
    ]);
    expect(await count()).to.deep.equal(NOTHING);
  });

  it('treats a row of another tenant as one that never was', async () => {
    const write = (productId: number) =>
      post({
        customer: 'Ann',
        lines: [
          { productId: 1, position: 1 },
          { productId, position: 2 },
        ],
      });
    const [other, never] = [await write(9), await write(77)];
    expect(other.body).to.deep.equal(never.body);
    expect(other.status).to.equal(409);
    expect(other.body.errors[0].pointer).to.equal('/lines/1/productId');
    expect(await count()).to.deep.equal(NOTHING);
  });

  it('meets the rules of the children', async () => {
    const body = { customer: 'Ann', lines: [{ productId: 1, position: 1, cost: 3 }] };
    expectProblem(await post(body, '1', 'create'), 403, { detail: 'This request may not create Line.' });
    expect(await count()).to.deep.equal(NOTHING);
    const hidden = await post(body, '1', 'cost');
    expect(hidden.status).to.equal(201);
    expect(hidden.body.lines.items[0]).to.not.have.property('cost');
    const unlisted = await post(body, '1', 'list');
    expect(unlisted.status).to.equal(201);
    expect(unlisted.body).to.not.have.property('lines');
    expect(await count()).to.deep.equal({ orders: 2, lines: 2, discounts: 0 });
  });

  it('keeps parent and child in one tenant', async () => {
    const line = { productId: 1, position: 1 };
    const both = { customer: 'Ann', tenantId: 1 };
    const missing = await post({ ...both, lines: [line] }, '1,2');
    expectIssue(missing, 422, {
      pointer: '/lines/0/tenantId',
      code: 'isDefined',
      detail: 'tenantId is required.',
    });
    const other = await post({ ...both, lines: [{ ...line, tenantId: 2 }] }, '1,2');
    const detail = 'A Line has the tenantId of its parent, and this request writes another one.';
    expectIssue(other, 422, { pointer: '/lines/0', code: 'scope', detail });
    const same = await post({ ...both, lines: [{ ...line, tenantId: 1 }] }, '1,2');
    expect(same.status).to.equal(201);
    expect(await count()).to.deep.equal({ orders: 1, lines: 1, discounts: 0 });
  });

  it('has a tag of its own bytes, which guards the next change', async () => {
    const { body, headers } = await post({ customer: 'Ann', lines: [{ productId: 1, position: 1 }] });
    const change = site.agent.patch(`/orders/${body.id}`).set('If-Match', String(headers['etag']));
    expect((await change.send({ customer: 'Bob' })).status).to.equal(200);
    const read = await site.agent.get(`/orders/${body.id}`);
    expect(headers['etag']).to.not.equal(read.headers['etag']);
  });
});
