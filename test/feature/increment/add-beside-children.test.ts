/** Amounts in a change that writes children, too: of the record, and none of a child. */
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud({ increment: ['boxes'], nested: { items: true } })
@Table({ tableName: 'crates', createdAt: false, updatedAt: false, version: true })
class Crate extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare boxes: number;
  @HasMany(() => Piece, 'crateId') declare items?: Piece[];
}

@Crud({ increment: ['count'] })
@Table({ tableName: 'pieces', timestamps: false })
class Piece extends NumberedRow {
  @ForeignKey(() => Crate) @Column({ type: DataType.INTEGER, allowNull: false }) declare crateId: number;
  @BelongsTo(() => Crate, 'crateId') declare crate?: Crate;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare count: number;
}

const OVERRIDDEN = 'its overrides would be passed by, so that no child of them is nested';

except({ session: OVERRIDDEN, records: OVERRIDDEN }).describe('adding beside children', () => {
  const paths = forSuite(() =>
    TwoPaths.start({ models: [Crate, Piece] as ModelClass[], bootstrap: { logger: new CapturedLog() } }),
  );

  beforeEach(reset);

  async function reset(): Promise<void> {
    await Piece.destroy({ where: {} });
    await Crate.destroy({ where: {} });
    await Crate.create({ id: 1, boxes: 5 });
    await Piece.create({ id: 1, crateId: 1, count: 2 });
  }

  const change = (body: object) => paths.same({ method: 'PATCH', path: '/crates/1', body }, reset);

  it('adds to the record, and changes a child', async () => {
    const { status, body } = await change({
      boxes: { $inc: 3 },
      items: { update: [{ id: 1, count: 7 }] },
    });
    expect(status, body).to.equal(200);
    expect(JSON.parse(body)).to.deep.include({ boxes: 8, version: 1 });
    expect(JSON.parse(body).items.items).to.deep.equal([{ id: 1, crateId: 1, count: 7 }]);
  });

  it('tells of both mistakes, and refuses an amount of a child', async () => {
    const { status, body } = await change({
      boxes: { $inc: 'x' },
      items: { update: [{ id: 1, count: { $inc: 1 } }] },
    });
    expect([
      status,
      JSON.parse(body)
        .errors.map(({ pointer }: { pointer: string }) => pointer)
        .sort(),
    ]).to.deep.equal([422, ['/boxes/$inc', '/items/update/0/count']]);
  });

  it('writes no child where the sum is refused', async () => {
    const { status } = await change({
      boxes: { $inc: 2_147_483_647 },
      items: { update: [{ id: 1, count: 7 }] },
    });
    expect(status).to.equal(422);
    expect((await Piece.findByPk(1))?.count).to.equal(2);
  });
});
