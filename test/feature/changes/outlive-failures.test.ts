/** Streams where a statement fails, the database does not answer, or very many wait: none of them is in the way of others. */
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { startDraining } from '../../../src/express/server/express-server.js';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  filterAllow: ['name'],
  scope: { tenant: ({ headers }) => Number(headers['x-tenant'] ?? 1) },
})
@Table({ tableName: 'shops', timestamps: false })
class Shop extends NumberedRow {
  @Column(DataType.INTEGER) declare tenant: number;
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ changes: true, filterAllow: { shop: ['name'] } })
@Table({ tableName: 'orders', timestamps: false })
class Order extends NumberedRow {
  @ForeignKey(() => Shop) @Column(DataType.INTEGER) declare shopId: number;
  @BelongsTo(() => Shop) declare shop?: Shop;
}

/** A resource of the same table. */
function alsoOrders(prefix: string): ModelClass {
  @Crud({ changes: true, prefix })
  @Table({ tableName: 'orders', timestamps: false, modelName: `Order${prefix.slice(1)}` })
  class AlsoOrder extends NumberedRow {
    @Column(DataType.INTEGER) declare shopId: number;
  }
  return AlsoOrder;
}

except(OF_FEEDS).describe('streams of changes', () => {
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Shop, Order, alsoOrders('/second'), alsoOrders('/third')],
    database: { url: database.url },
    bootstrap: { changes: { path: '/changes', tick: 100, maxStreams: 10, heartbeat: 1 }, indexAdvice: false },
  }));
  const other = forSuite(() => connectTo(database.url));
  const streams: IncomingMessage[] = [];
  const open = async (query: string, headers = {}, path = '/orders/changes'): Promise<OpenStream> => {
    const response = await requestStream(`${site.server.url}${path}?${query}`, headers);
    streams.push(response);
    expect(response.statusCode).to.equal(200);
    return new OpenStream(response).until(({ ids }) => ids.length > 0);
  };
  const idsOf = ({ events }: OpenStream) => events.map(({ id }) => Number(id));

  before(() => other.query("INSERT INTO shops (tenant, name) VALUES (1, 'a'), (2, 'a'), (1, 'b')"));

  afterEach(async () => {
    for (const response of streams.splice(0)) response.destroy();
    await delay(20);
  });

  it('with the same q are judged by the related rows that each request sees', async () => {
    const [one, two] = [await open('q=shop.name==a'), await open('q=shop.name==a', { 'X-Tenant': '2' })];
    const { rows } = await other.query(
      'INSERT INTO orders ("shopId") VALUES (1), (2), (1), (3) RETURNING id',
    );
    const [first, second, third] = rows.map(({ id }) => Number(id));
    await one.until(({ events }) => events.length > 1);
    await two.until(({ events }) => events.length > 0);
    await delay(300);
    expect([idsOf(one), idsOf(two)]).to.deep.equal([[first, third], [second]]);
    const { body } = await site.agent
      .get(`/orders/changes?q=shop.name==a&after=${one.ids[0]}`)
      .set('X-Tenant', '2');
    expect(body.errors?.[0].code).to.equal('changes.expired');
  });

  it('of several resources of one table have the event of each, in pages and behind each place', async () => {
    const query = 'resources=orders,second,third';
    const stream = await open(query, {}, '/changes');
    // More than a page.
    await other.query('INSERT INTO orders ("shopId") SELECT 1 FROM generate_series(1, 300)');
    await stream.until(({ events }) => events.length === 900);
    const told = ({ events }: OpenStream) => events.map(({ resource, id }) => `${resource} ${id}`);
    const all = told(stream);
    expect(new Set(all).size).to.equal(900);
    for (const index of [0, 1, 2, 250]) {
      const again = await open(`${query}&after=${stream.ids[index + 1]}`, {}, '/changes');
      const rest = all.slice(index + 1);
      await again.until((each) => rest.every((event) => told(each).includes(event)));
    }
  });

  it('go on while the condition of one fails, which reads again what it has missed', async () => {
    const failing = await open('q=shop.name==b');
    const whole = await open('');
    // The name of one shop cannot be read: all others can.
    await other.query(`
      ALTER TABLE shops RENAME TO stored_shops;
      CREATE TABLE broken (id int);
      INSERT INTO broken VALUES (3);
      CREATE FUNCTION name_of(shop stored_shops) RETURNS text LANGUAGE plpgsql STABLE AS $$
      BEGIN
        IF EXISTS (SELECT FROM broken AS b WHERE b.id = shop.id) THEN RAISE 'broken'; END IF;
        RETURN shop.name;
      END $$;
      CREATE VIEW shops AS SELECT id, tenant, name_of(s) AS name FROM stored_shops AS s`);
    // The first pages can be judged, and the last one cannot.
    await other.query('INSERT INTO orders ("shopId") SELECT 1 FROM generate_series(1, 600)');
    await other.query('INSERT INTO orders ("shopId") VALUES (3)');
    await whole.until(({ events }) => events.length === 601);
    await delay(300);
    expect(failing.events).to.deep.equal([]);
    await other.query('DELETE FROM broken');
    // Nothing else happens, and the stream is the same.
    await failing.until(({ events }) => events.length === 1, 10_000);
    expect(idsOf(failing)).to.deep.equal(idsOf(whole).slice(-1));
  }).timeout(20_000);

  it('are no more than may be, with the requests that wait', async () => {
    await delay(200);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => site.agent.get('/orders/changes?wait=1').then(({ status }) => status)),
    );
    expect(answers.filter((status) => status === 200)).to.have.length(10);
    expect(answers.filter((status) => status === 503)).to.have.length(15);
  });

  it('write something, and end as the server stops, while the database does not answer', async () => {
    const stream = await open('');
    await other.query('BEGIN; LOCK TABLE crud_ticks IN ACCESS EXCLUSIVE MODE');
    await stream.until(({ text }) => text.includes(': heartbeat'));
    startDraining(site.app);
    await stream.until(({ isEnded }) => isEnded, 1_000);
    expect(stream.response.complete).to.equal(true);
    await other.query('ROLLBACK');
  });
});
