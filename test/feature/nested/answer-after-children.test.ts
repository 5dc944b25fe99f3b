/** Records that the writes of their children change: by a trigger of a child's table, or by a hook of a child. */
import { expect } from 'chai';
import type { Transaction } from 'sequelize';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow, TitledRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const { INTEGER } = DataType;
const required = { type: INTEGER, allowNull: false } as const;
const counted = { ...required, defaultValue: 0 } as const;
const endpoints = ['read', 'list', 'create', 'update', 'replace', 'createMany', 'updateMany'] as const;

@Crud({ endpoints, nested: { lines: { replace: true }, 'lines.parts': true, notes: true } } as CrudOptions)
@Table({ tableName: 'orders', timestamps: false, version: true })
class Order extends TitledRow {
  @Column(counted) declare total: number;
  @HasMany(() => Line) declare lines: Line[];
  @HasMany(() => Note) declare notes: Note[];
}

@Crud()
@Table({ tableName: 'lines', timestamps: false })
class Line extends NumberedRow {
  @ForeignKey(() => Order) @Column(required) declare orderId: number;
  @Column(required) declare qty: number;
  @HasMany(() => Part) declare parts: Part[];
}

@Crud()
@Table({ tableName: 'parts', timestamps: false })
class Part extends NumberedRow {
  @ForeignKey(() => Line) @Column(required) declare lineId: number;
}

@Crud()
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @ForeignKey(() => Order) @Column(required) declare orderId: number;
}

/** Its tag is the transaction of the row. */
@Crud({ endpoints, etag: 'xmin', nested: { cups: true } } as CrudOptions)
@Table({ tableName: 'boxes', timestamps: false })
class Box extends TitledRow {
  @Column(counted) declare total: number;
  @HasMany(() => Cup) declare cups: Cup[];
}

@Crud()
@Table({ tableName: 'cups', timestamps: false })
class Cup extends NumberedRow {
  @ForeignKey(() => Box) @Column(required) declare boxId: number;
}

describeNested('records that writes of their children change', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Order, Line, Part, Note, Box, Cup],
    bootstrap: { indexAdvice: false },
    engine: { logging: sql.record },
  }));
  const run = async (text: string) => (await site.engine.sequelize.query(text))[0];
  beforeEach(() => emptyTables(site, 'parts', 'lines', 'notes', 'orders', 'cups', 'boxes'));

  const lines = (...all: readonly number[]) => all.map((qty) => ({ qty }));

  /** Each request, answered as a GET right afterwards, with a tag that the next change is made with. */
  function answersAsItIs(): void {
    const follow = async (
      answer: { status: number; body: Record<string, unknown>; headers: Record<string, string> },
      status: number,
      expected: object,
    ) => {
      expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
      expect(answer.body).to.include(expected);
      const read = await site.agent.get(`/orders/${answer.body['id']}`);
      const { lines: _, ...alone } = answer.body;
      expect(alone).to.deep.equal(read.body);
      const change = site.agent
        .patch(`/orders/${answer.body['id']}`)
        .set('If-Match', String(answer.headers['etag']));
      expect((await change.send({ title: 'again' })).status).to.equal(200);
    };

    it('are answered as they are afterwards', async () => {
      const created = await site.agent.post('/orders').send({ title: 'a', lines: lines(2, 3) });
      await follow(created, 201, { total: 5 });
      const { id } = created.body;
      const [line] = created.body.lines.items;
      const patched = { lines: { create: lines(4), update: [{ id: line.id, qty: 1 }] } };
      await follow(await site.agent.patch(`/orders/${id}`).send(patched), 200, { total: 8 });
      const put = { title: 'b', lines: lines(7) };
      await follow(await site.agent.put(`/orders/${id}`).send(put), 200, { total: 7, title: 'b' });
    });

    it('are answered so where none of the children that change them is written', async () => {
      const { body, status } = await site.agent.post('/orders').send({ title: 'b', notes: [{}] });
      expect(status).to.equal(201);
      expect(body).to.include({ total: 0, version: 0 });
    });

    it('are answered so by arrays', async () => {
      const { body, status } = await site.agent
        .post('/orders/many')
        .send([{ title: 'a', lines: lines(2, 3) }, { title: 'b' }, { title: 'c', lines: lines(4) }]);
      expect(status, JSON.stringify(body)).to.equal(201);
      const totals = (items: readonly { title: string; total: number; lines?: { items: object[] } }[]) =>
        items.map(({ title, total, lines: own }) => [title, total, own?.items.length]);
      expect(totals(body.items)).to.deep.equal([
        ['a', 5, 2],
        ['b', 0, undefined],
        ['c', 4, 1],
      ]);
      const [first, , third] = body.items;
      const changed = await site.agent.patch('/orders').send([
        { id: third.id, lines: { create: lines(1) } },
        { id: first.id, lines: { delete: [first.lines.items[0].id] } },
      ]);
      expect(changed.status).to.equal(200);
      expect(totals(changed.body.items)).to.deep.equal([
        ['c', 5, 2],
        ['a', 3, 1],
      ]);
    });
  }

  const ADD_UP = `
    UPDATE orders SET version = version + 1, total = (SELECT coalesce(sum(qty), 0) FROM lines WHERE "orderId" = orders.id)
    WHERE id = $1`;
  const TRIGGER = `
    CREATE FUNCTION add_up() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ${ADD_UP.replace('$1', `coalesce(NEW."orderId", OLD."orderId")`)};
      RETURN NULL;
    END $$;
    CREATE TRIGGER add_up AFTER INSERT OR UPDATE OR DELETE ON lines FOR EACH ROW EXECUTE FUNCTION add_up()`;

  describe('by a trigger', () => {
    before(() => run(TRIGGER));
    after(() => run('DROP FUNCTION add_up CASCADE'));
    answersAsItIs();
  });

  describe('by a hook', () => {
    let hooks: Disposable[];
    before(() => {
      const addUp = ({ orderId }: Line, { transaction }: { transaction: Transaction }) =>
        site.engine.sequelize.query(ADD_UP, { bind: [orderId], transaction });
      hooks = (['afterCreate', 'afterUpdate', 'afterDestroy'] as const).map((name) =>
        addedHook(Line, name, addUp),
      );
    });
    after(() => {
      for (const hook of hooks) hook[Symbol.dispose]();
    });
    answersAsItIs();
  });

  describe('by a trigger, with the transaction as tag', () => {
    const COUNT = `
      CREATE FUNCTION count_cups() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE boxes SET total = total + 1 WHERE id = NEW."boxId"; RETURN NULL; END $$;
      CREATE TRIGGER count_cups AFTER INSERT ON cups FOR EACH ROW EXECUTE FUNCTION count_cups()`;
    before(() => run(COUNT));
    after(() => run('DROP FUNCTION count_cups CASCADE'));

    it('are answered as they are afterwards', async () => {
      const { body, status, headers } = await site.agent.post('/boxes').send({ title: 'a', cups: [{}, {}] });
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body.total).to.equal(2);
      // Records of Sequelize have no transaction.
      if (String(headers['etag']).startsWith('W/')) return;
      const change = site.agent.patch(`/boxes/${body.id}`).set('If-Match', String(headers['etag']));
      expect((await change.send({ title: 'b' })).status).to.equal(200);
    });
  });

  // At the end: facts of tables are kept for a while, and the triggers come before the first request.
  describe('and others', () => {
    except({ general: 'Sequelize writes row by row' }).it('are not read again', async () => {
      const send = () => site.agent.post('/orders').send({ title: 'a', notes: [{}, {}] });
      await send();
      const { statements, result } = await sql.during(send);
      expect(result.status).to.equal(201);
      expect(result.body).to.include({ total: 0, version: 0 });
      expect(statements.filter((text) => text.includes('FROM "orders" AS "Order"'))).to.deep.equal([]);
    });
  });
});
