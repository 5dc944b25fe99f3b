/** Many records in one request, each with its children; and whole sets of children. */
import { expect } from 'chai';
import { except } from '../../support/combination.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';

describeNested('many records that are written with their children', () => {
  const sql = new SqlLog();
  const { site, query } = serveOrders({ engine: { logging: sql.record } });
  const post = (body: object, search = '') =>
    site.agent.post(`/orders/many${search}`).set('tenant', '1').send(body);
  const patch = (body: object, search = '') =>
    site.agent.patch(`/orders${search}`).set('tenant', '1').send(body);
  const orderOf = (customer: string, ...positions: readonly number[]) => ({
    customer,
    lines: positions.map((position) => ({ productId: 1, position, discounts: [{ percent: position }] })),
  });
  const linesOf = (orderId: number) =>
    query<{ position: number }>(`SELECT position FROM lines WHERE "orderId" = ${orderId} ORDER BY position`);

  it('are answered each with those that it names', async () => {
    const { body, status } = await post([orderOf('Ann', 1, 2), { customer: 'Bob' }, orderOf('Eve', 3)]);
    expect(status).to.equal(201);
    expect(
      body.items.map((each: { lines?: { items: { position: number }[] } }) =>
        each.lines?.items.map(({ position }) => position),
      ),
    ).to.deep.equal([[1, 2], undefined, [3]]);
    expect(body.items[2].lines.items[0].discounts.items[0].percent).to.equal(3);
  });

  except({ general: 'Sequelize writes row by row' }).it(
    'take as many statements for ten as for one',
    async () => {
      await post([orderOf('Ann', 1)]);
      const one = await sql.during(() => post([orderOf('Ann', 1)]));
      const ten = await sql.during(() => post(Array.from({ length: 10 }, () => orderOf('Ann', 1, 2, 3))));
      expect(ten.result.status).to.equal(201);
      expect(ten.statements.length).to.equal(one.statements.length);
    },
  );

  it('are all undone by one child that is refused, which is named', async () => {
    const { body, status } = await post([orderOf('Ann', 1), orderOf('Bob', 2, 2)]);
    expect(status).to.equal(409);
    expect(body.errors[0].pointer).to.equal('/1/lines/1/orderId');
    expect(await query('SELECT id FROM orders')).to.deep.equal([]);
    const wrong = await post([orderOf('Ann', 1), { customer: 'Bob', lines: [{ position: 'x' }] }]);
    expect(wrong.body.errors.map((each: { pointer: string }) => each.pointer)).to.have.members([
      '/1/lines/0/productId',
      '/1/lines/0/position',
    ]);
  });

  it('fail alone where each is independent', async () => {
    const { body, status } = await post(
      [orderOf('Ann', 1), orderOf('Bob', 2, 2), orderOf('Eve', 3)],
      '?atomic=false',
    );
    expect(status).to.equal(207);
    expect(body.items.map((each: { status: number }) => each.status)).to.deep.equal([201, 409, 201]);
    expect(body.items[1].problem.errors[0].pointer).to.equal('/1/lines/1/orderId');
    expect(body.items[2].item.lines.items).to.have.lengthOf(1);
    expect(await query('SELECT customer FROM orders ORDER BY id')).to.deep.equal([
      { customer: 'Ann' },
      { customer: 'Eve' },
    ]);
  });

  it('leave nothing after a dry run', async () => {
    const { body, status } = await post([orderOf('Ann', 1)], '?dry_run=true');
    expect(status).to.equal(201);
    expect(body.items[0].lines.items).to.have.lengthOf(1);
    expect(await query('SELECT id FROM orders UNION ALL SELECT id FROM lines')).to.deep.equal([]);
  });

  it('count with their children', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => index);
    const { body, status } = await post(ten.map(() => orderOf('Ann', ...ten)));
    expect(status).to.equal(413);
    expect(body.detail).to.equal('The body has 210 records; at most 100 are accepted.');
  });

  it('change only children of their own', async () => {
    await post([orderOf('Ann', 1), orderOf('Bob', 2), orderOf('Eve', 3)]);
    const stolen = await patch([
      { id: 1, lines: { update: [{ id: 1, qty: 5 }] } },
      { id: 2, lines: { update: [{ id: 3, qty: 5 }] } },
    ]);
    expect(stolen.status).to.equal(404);
    expect(stolen.body.errors[0].pointer).to.equal('/1/lines/update/0');
    const { body, status } = await patch([
      { id: 2, lines: { delete: [2], create: [{ productId: 2, position: 9 }] } },
      { id: 1, customer: 'Zoe' },
      { id: 3, lines: { update: [{ id: 3, position: 4 }] } },
    ]);
    expect(status).to.equal(200);
    expect(
      body.items.map(({ id, version, customer }: { id: number; version: number; customer: string }) => [
        id,
        version,
        customer,
      ]),
    ).to.deep.equal([
      [2, 1, 'Bob'],
      [1, 1, 'Zoe'],
      [3, 1, 'Eve'],
    ]);
    expect(body.items[1]).to.not.have.property('lines');
    expect(await linesOf(2)).to.deep.equal([{ position: 9 }]);
    expect(await linesOf(3)).to.deep.equal([{ position: 4 }]);
  });

  it('are replaced with whole sets of children', async () => {
    await post([orderOf('Ann', 1, 2, 3), orderOf('Bob', 1)]);
    const put = (body: object) => site.agent.put('/orders/1').set('tenant', '1').send(body);
    const { body, status } = await put({
      customer: 'Ann',
      lines: [
        { id: 3, position: 1 },
        { productId: 2, position: 2 },
      ],
    });
    expect(status).to.equal(200);
    expect(body.version).to.equal(1);
    expect(
      body.lines.items.map(({ id, position }: { id: number; position: number }) => [id, position]),
    ).to.deep.equal([
      [3, 1],
      [5, 2],
    ]);
    expect(await linesOf(2)).to.have.lengthOf(1);
    const stolen = await put({ customer: 'Ann', lines: [{ id: 4, position: 7 }] });
    expect(stolen.status).to.equal(404);
    expect(stolen.body.errors[0].pointer).to.equal('/lines/0');
    expect((await put({ customer: 'Eve' })).status).to.equal(200);
    expect(await linesOf(1)).to.have.lengthOf(2);
    const none = await put({ customer: 'Eve', lines: [] });
    expect(none.body.lines.items).to.deep.equal([]);
    expect(await linesOf(1)).to.deep.equal([]);
    const unknown = await put({ customer: 'Eve', note: { text: 'x' } });
    expect(unknown.body.errors[0]).to.include({ pointer: '/note', code: 'unknownProperty' });
  });
});
