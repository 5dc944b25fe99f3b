/** A page of nearly a megabyte. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { startTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'scrolls', timestamps: false })
class Scroll extends NumberedRow {
  @Column(DataType.TEXT) declare text: string;
}

describe('sending a long page', () => {
  it('sends all of it as JSON, whoever reads its rows', async () => {
    await using site = await startTestApp({ models: [Scroll] });
    const text = 'x'.repeat(9_000);
    await Scroll.bulkCreate(Array.from({ length: 100 }, () => ({ text })) as never);
    const get = async () => {
      const { status, headers, body } = await site.agent.get('/scrolls?size=100');
      expect([status, headers['content-type']]).to.deep.equal([200, 'application/json; charset=utf-8']);
      expect(body.items).to.deep.equal(Array.from({ length: 100 }, (_, index) => ({ id: index + 1, text })));
    };
    await get();
    Scroll.addHook('afterFind', () => {});
    await get();
  });
});
