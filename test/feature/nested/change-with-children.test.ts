/** `PATCH` of a record with changes of its children. */
import { expect } from 'chai';
import { except } from '../../support/combination.js';
import { expectIssue, expectProblem, tagOf } from '../../support/expect-answer.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';

describeNested('a record that is changed with its children', () => {
  const sql = new SqlLog();
  const { site, query } = serveOrders({ engine: { logging: sql.record } });
  const patch = (id: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
    site.agent
      .patch(`/orders/${id}`)
      .set({ tenant: '1', ...headers })
      .send(body);
  const linesOf = (id: number) =>
    query<{ id: number; position: number; qty: number; version: number }>(
      `SELECT id, position, qty, version FROM lines WHERE "orderId" = ${id} ORDER BY id`,
    );
  const versionOf = async (id: number) =>
    (await query<{ version: number }>(`SELECT version FROM orders WHERE id = ${id}`))[0]?.version;

  /** Order 1 has the lines 1 to 3, order 2 the line 4, and order 3 of another tenant the line 5. */
  beforeEach(async () => {
    await query(
      `INSERT INTO orders ("tenantId", customer, version) VALUES (1, 'Ann', 0), (1, 'Bob', 0), (2, 'Eve', 0)`,
    );
    await query(`INSERT INTO lines ("tenantId", "orderId", "productId", position, qty, version) VALUES
      (1, 1, 1, 1, 1, 0), (1, 1, 2, 2, 2, 0), (1, 1, 3, 3, 3, 0), (1, 2, 1, 1, 4, 0), (2, 3, 9, 1, 5, 0)`);
  });

  it('takes each verb alone, and all together', async () => {
    const created = await patch(1, { lines: { create: [{ productId: 1, position: 4 }] } });
    expect(created.status).to.equal(200);
    expect(created.body.lines.items.map((each: { id: number }) => each.id)).to.deep.equal([1, 2, 3, 6]);
    const updated = await patch(1, {
      lines: {
        update: [
          { id: 3, qty: 30 },
          { id: '1', qty: 10 },
        ],
      },
    });
    expect(updated.body.lines.items.map((each: { qty: number }) => each.qty)).to.deep.equal([10, 2, 30, 1]);
    const removed = await patch(1, { lines: { delete: ['2', { id: 6 }] } });
    expect(removed.body.lines.items.map((each: { id: number }) => each.id)).to.deep.equal([1, 3]);
    const all = await patch(1, {
      customer: 'Zoe',
      lines: { create: [{ productId: 2, position: 1 }], update: [{ id: 3, position: 2 }], delete: [1] },
    });
    expect(all.body).to.deep.include({ customer: 'Zoe', version: 4 });
    expect(
      all.body.lines.items.map(({ id, position }: { id: number; position: number }) => [id, position]),
    ).to.deep.equal([
      [7, 1],
      [3, 2],
    ]);
  });

  it('does nothing for what is not named', async () => {
    const { body, status } = await patch(1, { lines: {} });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ version: 0 });
    expect(body.lines.items).to.have.lengthOf(3);
    const empty = await patch(1, { lines: { create: [], update: [], delete: [] } });
    expect(empty.body.version).to.equal(0);
  });

  it('changes those that differ once, beside others that have the values already', async () => {
    const before = await linesOf(1);
    for (const lines of [
      {
        update: [
          { id: 1, qty: 10 },
          { id: 2, qty: 2 },
        ],
        delete: [3],
      },
      { update: [{ id: 2, qty: 2 }] },
    ]) {
      const { status, body } = await patch(1, { lines });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(await linesOf(1)).to.deep.equal([{ ...before[0], qty: 10, version: 1 }, before[1]]);
    }
    const { status } = await patch(1, { lines: { update: [{ id: 1, qty: 11 }] } });
    expect(status).to.equal(200);
    expect(await linesOf(1)).to.deep.equal([{ ...before[0], qty: 11, version: 2 }, before[1]]);
  });

  it('changes nothing where one of them is that of another parent, deleted before, or of a place that is taken', async () => {
    const before = await linesOf(1);
    const wrong = [
      {
        update: [
          { id: 1, qty: 10 },
          { id: 4, qty: 40 },
        ],
        delete: [3],
      },
      { update: [{ id: 4, qty: 40 }] },
      {
        update: [
          { id: 1, qty: 10 },
          { id: 2, qty: 20 },
        ],
        delete: [4],
      },
      {
        update: [
          { id: 1, qty: 10 },
          { id: 77, qty: 1 },
        ],
        delete: [3],
      },
    ];
    for (const lines of wrong) {
      const { status } = await patch(1, { lines });
      expect(status, JSON.stringify(lines)).to.equal(404);
    }
    const taken = await patch(1, {
      lines: {
        update: [
          { id: 1, qty: 10 },
          { id: 2, position: 1 },
        ],
        delete: [3],
      },
    });
    expect(taken.status).to.equal(409);
    expect(await linesOf(1)).to.deep.equal(before);
    expect(await linesOf(2)).to.have.lengthOf(1);
    expect(await versionOf(1)).to.equal(0);
  });

  it('refuses a list, which says nothing of the others', async () => {
    const detail =
      'A list of lines does not say what becomes of the others; send an object with create, update and delete, each a list.';
    expectIssue(await patch(1, { lines: [{ id: 1 }] }), 422, {
      pointer: '/lines',
      code: 'nested.array',
      detail,
    });
    const none = await patch(1, { lines: null });
    expectIssue(none, 422, {
      pointer: '/lines',
      code: 'isObject',
      detail: 'lines must be an object with create, update and delete.',
    });
  });

  it('tells what is wrong on all levels at once', async () => {
    const response = await patch(1, {
      colour: 'red',
      lines: {
        create: [{ position: 'x' }],
        update: [
          { qty: 1 },
          { id: 1, orderId: 2, discounts: { create: [{}], remove: [], update: {} } },
          { id: 1 },
          { id: 'x' },
          { id: 2, version: -1 },
        ],
        delete: [1, { id: 2, qty: 3 }, true, 'x'],
      },
    });
    expect(response.status).to.equal(422);
    expect(
      response.body.errors.map((each: { pointer: string; code: string }) => `${each.pointer} ${each.code}`),
    ).to.have.members([
      '/colour unknownProperty',
      '/lines/create/0/productId isDefined',
      '/lines/create/0/position isInt',
      '/lines/update/0/id isDefined',
      '/lines/update/1/orderId readOnly',
      '/lines/update/1/discounts/remove unknownProperty',
      '/lines/update/1/discounts/create/0/percent isDefined',
      '/lines/update/1/discounts/update isArray',
      '/lines/update/2/id repeated',
      '/lines/update/3/id id',
      '/lines/update/4/version isInt',
      '/lines/delete/0 repeated',
      '/lines/delete/1/qty unknownProperty',
      '/lines/delete/1/id repeated',
      '/lines/delete/2 id',
      '/lines/delete/3 id',
    ]);
  });

  for (const verb of ['update', 'delete'] as const) {
    it(`answers alike to the ${verb} of a child of another parent, of another tenant and of nobody`, async () => {
      const answers = [];
      for (const id of [4, 5, 77, 3_000_000_000]) {
        const item = verb === 'update' ? { id, qty: 9 } : { id };
        const { body, status } = await patch(1, {
          customer: 'Zoe',
          lines: { [verb]: [verb === 'update' ? { id: 1, qty: 9 } : 1, item] },
        });
        answers.push(JSON.stringify({ body, status }));
      }
      expect(new Set(answers)).to.deep.equal(
        new Set([
          JSON.stringify({
            body: {
              detail: 'There is no Line with this id.',
              errors: [
                { pointer: `/lines/${verb}/1`, code: 'notFound', detail: 'There is no Line with this id.' },
              ],
            },
            status: 404,
          }),
        ]),
      );
      expect(await linesOf(1)).to.have.lengthOf(3);
      expect(await versionOf(1)).to.equal(0);
    });
  }

  it('does not take the child of one line for that of another', async () => {
    await query('INSERT INTO discounts ("lineId", percent) VALUES (1, 5), (2, 6)');
    const change = (line: number, id: number) =>
      patch(1, {
        lines: {
          update: [
            { id: line, discounts: { update: [{ id, percent: 50 }] } },
            { id: 3, discounts: { create: [{ percent: 1 }] } },
          ],
        },
      });
    expect((await change(1, 2)).body.errors[0].pointer).to.equal('/lines/update/0/discounts/update/0');
    const { body, status } = await change(1, 1);
    expect(status).to.equal(200);
    expect(body.lines.items[0].discounts.items).to.deep.equal([{ id: 1, lineId: 1, percent: 50 }]);
    expect(body.lines.items[0].version).to.equal(1);
  });

  it('raises the version of each parent once', async () => {
    const { body, headers } = await patch(1, {
      lines: {
        update: [
          { id: 1, qty: 7 },
          { id: 2, qty: 2 },
        ],
        delete: [3],
      },
    });
    expect(body.version).to.equal(1);
    expect(tagOf({ headers })).to.equal('"1"');
    expect((await linesOf(1)).map(({ version }) => version)).to.deep.equal([1, 0]);
    expect(await versionOf(2)).to.equal(0);
  });

  it('is guarded by the tag of the parent', async () => {
    const { headers } = await site.agent.get('/orders/1');
    const tag = { 'If-Match': String(headers['etag']) };
    expect((await patch(1, { lines: { update: [{ id: 1, qty: 7 }] } }, tag)).status).to.equal(200);
    const late = await patch(1, { lines: { update: [{ id: 1, qty: 8 }] } }, tag);
    expect(late.status).to.equal(412);
    expect((await linesOf(1))[0]?.qty).to.equal(7);
  });

  it('is guarded by the versions of children', async () => {
    expect((await patch(1, { lines: { update: [{ id: 1, version: 0, qty: 7 }] } })).status).to.equal(200);
    for (const lines of [
      {
        update: [
          { id: 2, qty: 9 },
          { id: 1, version: 0, qty: 8 },
        ],
      },
      { delete: [2, { id: 1, version: 0 }] },
    ]) {
      const { body, status, headers } = await patch(1, { lines });
      const [verb] = Object.keys(lines);
      expect(status).to.equal(412);
      expect(body.errors).to.deep.equal([
        {
          pointer: `/lines/${verb}/1`,
          code: 'changed',
          detail: 'The Line has been changed since; read it again, and repeat the change.',
        },
      ]);
      expect(headers).to.not.have.property('etag');
    }
    expect((await patch(1, { lines: { delete: [{ id: 1, version: 1 }] } })).status).to.equal(200);
    expect(await linesOf(1)).to.have.lengthOf(2);
  });

  it('meets the rules of the children', async () => {
    for (const [verb, items] of [
      ['create', [{ productId: 1, position: 9 }]],
      ['update', [{ id: 1, qty: 9 }]],
      ['delete', [1]],
    ] as const) {
      const response = await patch(1, { customer: 'Zoe', lines: { [verb]: items } }, { without: verb });
      expectProblem(response, 403, { detail: `This request may not ${verb} Line.` });
    }
    expect(await versionOf(1)).to.equal(0);
    const unnamed = await patch(1, { lines: { update: [] } }, { without: 'update' });
    expect(unnamed.status).to.equal(200);
  });

  it('is 404 for a parent that the request does not see', async () => {
    const hidden = await patch(3, { lines: { create: [{ productId: 1, position: 9 }] } });
    const never = await patch(77, { lines: { create: [{ productId: 1, position: 9 }] } });
    expect(hidden.status).to.equal(404);
    expect(hidden.body).to.deep.equal(never.body);
  });

  it('names the child whose place is taken', async () => {
    const swapped = await patch(1, {
      lines: {
        update: [
          { id: 1, position: 2 },
          { id: 2, position: 1 },
        ],
      },
    });
    expect(swapped.status).to.equal(409);
    expect(swapped.body.errors[0].pointer).to.match(/^\/lines\/update\/0\//);
    expect((await linesOf(1)).map(({ position }) => position)).to.deep.equal([1, 2, 3]);
  });

  except({ general: 'Sequelize changes row by row' }).it(
    'swaps places where the constraint can wait',
    async () => {
      await query('ALTER TABLE lines ADD CONSTRAINT places UNIQUE ("orderId", position) DEFERRABLE');
      await query('DROP INDEX lines_order_id_position');
      try {
        const swapped = await patch(1, {
          lines: {
            update: [
              { id: 1, position: 2 },
              { id: 2, position: 1 },
            ],
          },
        });
        expect(swapped.status).to.equal(200);
        expect((await linesOf(1)).map(({ position }) => position)).to.deep.equal([2, 1, 3]);
      } finally {
        await query('DELETE FROM lines');
        await query('ALTER TABLE lines DROP CONSTRAINT places');
        await query('CREATE UNIQUE INDEX lines_order_id_position ON lines ("orderId", position)');
      }
    },
  );

  it('marks children that are soft-deleted, and does not find them again', async () => {
    await query(`INSERT INTO notes ("orderId", text) VALUES (1, 'x')`);
    const removed = await patch(1, { note: { delete: 1 } });
    expect(removed.body.note).to.equal(null);
    const [note] = await query<{ deletedAt: Date | null }>('SELECT "deletedAt" FROM notes');
    expect(note?.deletedAt).to.be.an.instanceOf(Date);
    const late = await patch(1, { note: { update: { id: 1, text: 'y' } } });
    expect(late.status).to.equal(404);
    expect(late.body.errors[0].pointer).to.equal('/note/update');
  });

  except({ general: 'Sequelize writes row by row' }).it('takes one statement for each verb', async () => {
    const bodyOf = (qty: number, removed: number) => ({
      lines: {
        create: [{ productId: 2, position: 100 + qty }],
        update: [{ id: 1, qty }],
        delete: [removed],
      },
    });
    await patch(1, bodyOf(10, 2));
    const { statements, result } = await sql.during(() => patch(1, bodyOf(11, 3)));
    expect(result.status).to.equal(200);
    const written = statements.filter((each) => /INSERT|UPDATE|DELETE/.test(each));
    expect(written, written.join('\n')).to.have.lengthOf(4);
  });

  except({ general: 'Sequelize writes row by row' }).it(
    'takes as many statements for 30 children as for one',
    async () => {
      await patch(2, {
        lines: {
          create: Array.from({ length: 60 }, (_, index) => ({ productId: 1, position: 100 + index })),
        },
      });
      const ids = (await linesOf(2)).map(({ id }) => id);
      const bodyOf = (from: number, count: number, place: number) => ({
        lines: {
          create: Array.from({ length: count }, (_, index) => ({ productId: 2, position: place + index })),
          update: ids
            .slice(from, from + count)
            .map((id) => ({ id, qty: id, discounts: { create: [{ percent: 3 }] } })),
          delete: ids.slice(from + count, from + 2 * count),
        },
      });
      const one = await sql.during(() => patch(2, bodyOf(0, 1, 1000)));
      expect(one.result.status).to.equal(200);
      const many = await sql.during(() => patch(2, bodyOf(2, 29, 2000)));
      expect(many.result.status).to.equal(200);
      expect(many.statements.map((each) => each.slice(0, 40))).to.deep.equal(
        one.statements.map((each) => each.slice(0, 40)),
      );
      const writes = many.statements.slice(
        0,
        many.statements.findLastIndex((each) => each.startsWith('WITH')),
      );
      expect(writes.filter((each) => each.startsWith('SAVEPOINT'))).to.deep.equal(['SAVEPOINT write']);
    },
  );
});
