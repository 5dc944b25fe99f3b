/** The answer of a record that is created with its children: the rows of the write, where a read would find the same. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { forgetTriggers } from '../../../src/postgres/session/table-triggers.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested, serveOrders } from '../../support/nested-orders.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const LINES = [
  { productId: 2, position: 2, discounts: [{ percent: 5 }, { percent: 10 }] },
  { productId: 1, position: 1, cost: 7 },
];

/** Statements that only read rows. */
function readsIn(statements: readonly string[]): readonly string[] {
  return statements.filter((each) => each.startsWith('SELECT'));
}

describeNested('the children in the answer of a new record', () => {
  const sql = new SqlLog();
  const { site, query } = serveOrders({ engine: { logging: sql.record } });
  const send = (headers: Readonly<Record<string, string>> = {}) =>
    site.agent
      .post('/orders')
      .set({ tenant: '1', ...headers })
      .send({ customer: 'Ann', lines: LINES });
  const post = async (headers?: Readonly<Record<string, string>>) => {
    const { result, statements } = await sql.during(() => send(headers));
    expect(result.status, JSON.stringify(result.body)).to.equal(201);
    return { body: result.body, reads: readsIn(statements) };
  };
  const shownAs = async (headers: Readonly<Record<string, string>> = { tenant: '1' }) => {
    const { body } = await site.agent.get('/lines').set(headers);
    return body.items as readonly Readonly<Record<string, unknown>>[];
  };
  const withoutDiscounts = (lines: readonly Readonly<Record<string, unknown>>[]) =>
    lines.map(({ discounts: _, ...line }) => line);

  afterEach(async () => {
    await query('DROP FUNCTION IF EXISTS added() CASCADE');
    forgetTriggers(site.engine.sequelize);
  });

  except({ general: 'Sequelize writes row by row' }).it('need no read, of any depth', async () => {
    const { body, reads } = await post();
    expect(reads).to.deep.equal([]);
    expect(withoutDiscounts(body.lines.items)).to.deep.equal(await shownAs());
    expect(
      body.lines.items.map(
        (line: { readonly discounts: { readonly items: readonly object[] } }) => line.discounts.items.length,
      ),
    ).to.deep.equal([0, 2]);
  });

  except({ general: 'Sequelize writes row by row' }).it('need no read for many new records', async () => {
    const others = [
      { customer: 'Ben', lines: [{ productId: 3, position: 1 }] },
      { customer: 'Cid', lines: [] },
      { customer: 'Dan' },
    ];
    const work = () =>
      site.agent
        .post('/orders/many')
        .set({ tenant: '1' })
        .send([{ customer: 'Ann', lines: LINES }, ...others]);
    const { result, statements } = await sql.during(work);
    expect(result.status, JSON.stringify(result.body)).to.equal(201);
    const products = result.body.items.map(
      ({ lines }: { readonly lines?: { readonly items: readonly { readonly productId: number }[] } }) =>
        lines?.items.map(({ productId }) => productId),
    );
    expect(products).to.deep.equal([[1, 2], [3], [], undefined]);
    expect(readsIn(statements)).to.deep.equal([]);
  });

  it('have no attribute that the request may not read', async () => {
    const { body } = await post({ without: 'cost' });
    expect(body.lines.items[0]).not.to.have.property('cost');
    expect(withoutDiscounts(body.lines.items)).to.deep.equal(await shownAs({ tenant: '1', without: 'cost' }));
  });

  it('are left out where the request may not list them', async () => {
    const { body } = await post({ without: 'list' });
    expect(body).not.to.have.property('lines');
  });

  for (const [table, change] of [
    ['lines', `UPDATE lines SET qty = 77 WHERE position = 1`],
    [
      'orders',
      `INSERT INTO lines ("tenantId", "orderId", "productId", position, version) VALUES (1, NEW.id, 3, 9, 0)`,
    ],
    ['discounts', `UPDATE lines SET qty = 77 WHERE id = NEW."lineId"`],
  ] as const)
    it(`have what a trigger of ${table} does behind the write`, async () => {
      await query(`
        CREATE FUNCTION added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${change}; RETURN NULL; END $$;
        CREATE TRIGGER added AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION added()`);
      forgetTriggers(site.engine.sequelize);
      const { body } = await post();
      const shown = await shownAs();
      expect(withoutDiscounts(body.lines.items)).to.deep.equal(shown);
      expect(shown.some(({ qty, position }) => qty === 77 || position === 9)).to.equal(true);
    });
});

@Crud({ nested: { parts: true } })
@Table({ tableName: 'loose_kits', timestamps: false })
class Kit extends NumberedRow {
  @HasMany(() => Part, { constraints: false }) declare parts: Part[];
}

@Crud()
@Table({ tableName: 'loose_parts', timestamps: false, indexes: [{ fields: ['kitId'] }] })
class Part extends NumberedRow {
  @ForeignKey(() => Kit)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare kitId: number;
}

describeNested('a new record of a table without a foreign key', () => {
  const site = serveTestApp(() => ({ models: [Kit, Part], bootstrap: { indexAdvice: false } }));
  beforeEach(() => emptyTables(site, 'loose_parts', 'loose_kits'));

  it('is answered with the rows that had its key before', async () => {
    await site.engine.sequelize.query('INSERT INTO loose_parts ("kitId") VALUES (1)');
    const { body, status } = await site.agent.post('/kits').send({ parts: [{}, {}] });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.parts.items.map(({ id }: { readonly id: number }) => id)).to.deep.equal([1, 2, 3]);
  });
});
