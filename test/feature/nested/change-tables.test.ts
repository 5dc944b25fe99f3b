/** Nested writes on connections whose statements were prepared before the tables of the children changed. */
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ nested: { parts: true } })
@Table({ tableName: 'kits', timestamps: false, version: true })
class Kit extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @HasMany(() => Part) declare parts: Part[];
}

@Crud()
@Table({ tableName: 'parts', timestamps: false, indexes: [{ fields: ['kitId'] }] })
class Part extends NumberedRow {
  @ForeignKey(() => Kit)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare kitId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare qty: number;
}

describeNested('nested writes of tables that change', () => {
  const site = serveTestApp(() => ({ models: [Kit, Part], bootstrap: { indexAdvice: false } }));
  const query = async <T extends object>(text: string): Promise<readonly T[]> => {
    const [rows] = await site.engine.sequelize.query(text);
    return rows as T[];
  };
  const post = (...all: readonly number[]) =>
    site.agent.post('/kits').send({ name: 'kit', parts: all.map((qty) => ({ qty })) });

  /** Creates a kit, and changes it, as often as PostgreSQL needs to plan a statement for all values. */
  async function work(): Promise<void> {
    for (let round = 0; round < 7; round += 1) {
      const created = await post(1, 2, 3);
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      const parts = created.body.parts.items as readonly { readonly id: number; readonly qty: unknown }[];
      expect(parts.map(({ qty }) => Number(qty))).to.deep.equal([1, 2, 3]);
      const [first, second] = parts.map(({ id }) => id);
      const { status, body } = await site.agent.patch(`/kits/${created.body.id}`).send({
        parts: { create: [{ qty: 4 }], update: [{ id: first, qty: 9 }], delete: [second] },
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.parts.items.map(({ qty }: { readonly qty: unknown }) => Number(qty))).to.deep.equal([
        9, 3, 4,
      ]);
    }
  }

  beforeEach(async () => {
    await emptyTables(site, 'parts', 'kits');
    await work();
  });

  it('go on where a column has another type', async () => {
    await query('ALTER TABLE parts ALTER qty TYPE bigint');
    await work();
    await query('ALTER TABLE parts ALTER qty TYPE integer');
    await work();
  });

  it('go on where a column was added', async () => {
    await query('ALTER TABLE parts ADD colour text');
    await work();
  });

  it('go on where the table was made anew', async () => {
    await Part.sync({ force: true });
    await work();
  });

  it('go on where nothing is prepared any more', async () => {
    const session = await site.engine.sequelize.transaction();
    await site.engine.sequelize.query('DEALLOCATE ALL', { transaction: session });
    await session.commit();
    await work();
  });

  it('are whole while the table changes', async () => {
    const [before] = await query<{ count: number }>('SELECT count(*)::int AS count FROM parts');
    let count = 0;
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const { status, body } = await post(1, 2, 3);
        expect(status, JSON.stringify(body)).to.equal(201);
        count += 1;
      }
    };
    const change = async () => {
      for (const type of ['bigint', 'integer', 'bigint', 'integer'])
        await query(`ALTER TABLE parts ALTER qty TYPE ${type}`);
      isOver = true;
    };
    await Promise.all([change(), client(), client(), client(), client()]);
    const [after] = await query<{ count: number }>('SELECT count(*)::int AS count FROM parts');
    expect((after?.count ?? 0) - (before?.count ?? 0)).to.equal(3 * count);
  });
});
