/** PUT by keys whose parts are no texts in bodies: the path gives them, in the form of a body. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ id: ['on', 'price', 'at', 'day'], endpoints: ['read', 'replace'] })
@Table({ tableName: 'quotes', timestamps: false })
class Quote extends Model {
  @PrimaryKey @Column(DataType.BOOLEAN) declare on: boolean;
  @PrimaryKey @Column(DataType.DECIMAL(8, 2)) declare price: string;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @PrimaryKey @Column(DataType.DATEONLY) declare day: string;
  @Column(DataType.TEXT) declare note: string | null;
}

describe('PUT by a key of a boolean, a decimal and times', () => {
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    await execute(
      database.url,
      'CREATE TABLE quotes ("on" boolean, price numeric(8, 2), at timestamp, day date, note text, PRIMARY KEY ("on", price, at, day))',
    );
    return { models: [Quote], database };
  });

  it('creates and replaces a row', async () => {
    const path = '/quotes/true,1.50,2026-01-31T08:00:00.123,2026-02-01';
    const row = { on: true, price: '1.50', at: '2026-01-31T08:00:00.123', day: '2026-02-01' };
    for (const [status, note] of [
      [201, 'first'],
      [200, 'second'],
    ] as const) {
      const answer = await site.agent.put(path).send({ note });
      expect([answer.status, answer.body]).to.deep.equal([status, { ...row, note }]);
    }
    expect((await site.agent.put(path).send({ ...row, on: false })).body.errors[0].pointer).to.equal('/on');
    expect((await site.agent.get(path)).body).to.deep.equal({ ...row, note: 'second' });
  });
});
