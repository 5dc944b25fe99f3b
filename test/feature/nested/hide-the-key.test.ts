/** Children of a record whose key by which they are found is hidden from some requests. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  nested: { items: true },
  fields: { code: { read: (request: Request) => request.get('code') !== 'hidden' } },
} as object)
@Table({ tableName: 'shops', timestamps: false })
class Shop extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @HasMany(() => Item, { sourceKey: 'code', foreignKey: 'shopCode' }) declare items: Item[];
}

@Crud()
@Table({ tableName: 'items', timestamps: false, indexes: [{ fields: ['shopCode'] }] })
class Item extends NumberedRow {
  @ForeignKey(() => Shop) @Column({ type: DataType.TEXT, allowNull: false }) declare shopCode: string;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

describeNested('children behind a key that a request may not read', () => {
  const site = serveTestApp(() => ({ models: [Shop, Item] as unknown as ModelClass[] }));

  it('are written, and neither they nor the key are answered', async () => {
    const created = await site.agent
      .post('/shops')
      .set('code', 'hidden')
      .send({ code: 'a', items: [{ name: 'pen' }] });
    expect([created.status, created.body]).to.deep.equal([201, { id: 1 }]);
    const changed = await site.agent
      .patch('/shops/1')
      .set('code', 'hidden')
      .send({ items: { create: [{ name: 'cup' }] } });
    expect([changed.status, changed.body]).to.deep.equal([200, { id: 1 }]);
    const seen = await site.agent.patch('/shops/1').send({ items: { update: [{ id: 1, name: 'ink' }] } });
    expect(seen.body.items.items.map(({ name }: { name: string }) => name)).to.deep.equal(['ink', 'cup']);
  });
});
