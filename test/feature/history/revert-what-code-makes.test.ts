/** Reverts of attributes whose values code of the model makes: the record gets a stored value again, or the answer names it. */
// @runs fast
import { expect } from 'chai';
import { Exclude, Transform } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS: CrudOptions = {
  can: { history: true },
  history: true,
  endpoints: ['read', 'create', 'update', 'history', 'revert'],
};

@Crud({ ...OPTIONS, history: { renamed: { headline: 'title' } } } as CrudOptions)
@Table({ tableName: 'offers', timestamps: false })
class Offer extends NumberedRow {
  // Cents in the table, and euros in a body.
  @Transform(({ value }) => value / 100, { toPlainOnly: true })
  @Transform(({ value }) => Math.round(value * 100), { toClassOnly: true })
  @Column(DataType.INTEGER)
  declare price: number;

  @Transform(({ value }) => String(value).trim(), { toClassOnly: true })
  @Column(DataType.TEXT)
  declare title: string;

  @Exclude({ toClassOnly: true })
  @Column({ type: DataType.TEXT, defaultValue: 'draft' })
  declare status: string;
  @Column(DataType.DATE(6)) declare since: Date | null;
}

@Crud(OPTIONS)
@Table({ tableName: 'accounts', timestamps: false })
class Account extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;

  @Column({
    type: DataType.TEXT,
    set(this: Account, value: string) {
      this.setDataValue('pin', `#${value}`);
    },
  })
  declare pin: string;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('a revert of what code makes', () => {
  const site = serveTestApp(() => ({ models: [Offer, Account], bootstrap: { indexAdvice: false } }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const first = async (table: string): Promise<string> => {
    const [rows] = await sql(`SELECT id FROM crud_changes WHERE source = '${table}' ORDER BY id LIMIT 1`);
    return String((rows as { id: string }[])[0]?.id);
  };
  const stored = async (table: string) => (await sql(`SELECT * FROM ${table}`))[0][0];
  const revert = async (table: string) => {
    const { status, body } = await site.agent.post(`/${table}/1/revert`).send({ to: await first(table) });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };

  beforeEach(() => emptyTables(site, 'offers', 'accounts', 'crud_changes'));

  it('names a value that a @Transform would make another one of', async () => {
    await site.agent.post('/offers').send({ price: 5, title: 'a' });
    await site.agent.patch('/offers/1').send({ price: 6, title: 'b' });
    const { price, title, skipped } = await revert('offers');
    expect({ price, title, skipped }).to.deep.equal({ price: 6, title: 'a', skipped: ['price'] });
    expect(await stored('offers')).to.include({ price: 600, title: 'a' });
  });

  it('names a value that no body may have', async () => {
    await site.agent.post('/offers').send({ price: 5, title: 'a' });
    await sql(`UPDATE offers SET status = 'published', title = 'b'`);
    const { status, title, skipped } = await revert('offers');
    expect({ status, title, skipped }).to.deep.equal({
      status: 'published',
      title: 'a',
      skipped: ['status'],
    });
  });

  it('names a moment with microseconds', async () => {
    await sql(`INSERT INTO offers (price, title, since) VALUES (500, 'a', '2026-01-31 08:00:00.123456+00')`);
    await sql(`UPDATE offers SET since = '2026-01-31 08:00:00.123+00', title = 'b'`);
    const { title, skipped } = await revert('offers');
    expect({ title, skipped }).to.deep.equal({ title: 'a', skipped: ['since'] });
  });

  it('names no column that was renamed', async () => {
    await site.agent.post('/offers').send({ price: 5, title: 'a' });
    await sql(`UPDATE crud_changes SET new = new - 'title' || '{"headline": "old"}'`);
    const { title, skipped } = await revert('offers');
    expect({ title, skipped }).to.deep.equal({ title: 'old', skipped: [] });
  });

  it('names a value of an attribute with a setter', async () => {
    await site.agent.post('/accounts').send({ name: 'a', pin: '1' });
    await site.agent.patch('/accounts/1').send({ name: 'b', pin: '2' });
    const { name, pin, skipped } = await revert('accounts');
    expect({ name, pin, skipped }).to.deep.equal({ name: 'a', pin: '#2', skipped: ['pin'] });
  });
});
