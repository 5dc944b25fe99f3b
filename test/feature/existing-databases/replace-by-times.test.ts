/** PUT by keys whose parts are no texts in bodies: they are read from the path, in the form of a body. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

/** Sequelize has a moment with milliseconds. */
@Crud({ id: ['price', 'at'], endpoints: ['list', 'read', 'update', 'replace', 'delete'] })
@Table({ tableName: 'ticks', timestamps: false })
class Tick extends Model {
  @PrimaryKey @Column(DataType.DECIMAL(8, 2)) declare price: string;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.TEXT) declare note: string | null;
}

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
    await execute(
      database.url,
      'CREATE TABLE ticks (price numeric(8, 2), at timestamptz, note text, PRIMARY KEY (price, at))',
    );
    return { models: [Quote, Tick], database };
  });

  it('creates and replaces a row', async () => {
    const path = '/quotes/true,1.50,2026-01-31T08:00:00.123456,2026-02-01';
    const row = { on: true, price: '1.50', at: '2026-01-31T08:00:00.123456', day: '2026-02-01' };
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

  it('creates, replaces, changes and removes a row by all digits of a moment with a zone', async () => {
    const path = '/ticks/1.50,2026-01-31T08:00:00.123456Z';
    // Its neighbour is of the same millisecond.
    const other = '/ticks/1.50,2026-01-31T08:00:00.123457Z';
    const row = { price: '1.50', at: '2026-01-31T08:00:00.123Z' };
    const { location } = (await site.agent.put(other).send({ note: 'other' })).headers;
    expect((await site.agent.get(location as string)).body).to.deep.equal({ ...row, note: 'other' });
    for (const [method, body, status] of [
      ['put', { note: 'first' }, 201],
      ['put', { note: 'second' }, 200],
      ['put', { ...row, note: 'third' }, 200],
      ['patch', { note: 'fourth' }, 200],
    ] as const) {
      const answer = await site.agent[method](path).send(body);
      expect([answer.status, answer.body]).to.deep.equal([status, { ...row, note: body.note }]);
    }
    const moved = await site.agent.put(path).send({ at: '2026-01-31T08:00:00.124Z', note: 'moved' });
    expect([moved.status, moved.body.errors[0].pointer]).to.deep.equal([422, '/at']);
    expect((await site.agent.delete(path)).status).to.equal(204);
    expect((await site.agent.get('/ticks')).body.items).to.deep.equal([{ ...row, note: 'other' }]);
  });
});
