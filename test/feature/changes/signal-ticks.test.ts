// @runs fast
/** Two applications with Redis: one of them polls the database, and the other one hears of each tick. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { startRedis } from '../../support/redis-server.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

function bell(): ModelClass {
  @Crud({ changes: true, prefix: '/bells' })
  @Table({ tableName: 'bells', timestamps: false })
  class Bell extends NumberedRow {
    @Column(DataType.INTEGER) declare size: number;
  }
  return Bell;
}

except(OF_FEEDS).describe('feeds of several processes with Redis', () => {
  const database = forSuite(() => freshDatabase());
  const redis = forSuite(() => startRedis());
  const statements = [0, 0];
  const serve = (index: 0 | 1): TestApp =>
    serveTestApp(() => ({
      models: [bell()],
      database: { url: database.url },
      engine: {
        cache: redis.url,
        logging: () => {
          statements[index] = (statements[index] ?? 0) + 1;
        },
      },
      bootstrap: { changes: { tick: 100 } },
    }));
  const sites = [serve(0), serve(1)] as const;
  const other = forSuite(() => connectTo(database.url));

  const open = async ({ server }: TestApp) => {
    const stream = new OpenStream(await requestStream(`${server.url}/bells/changes`));
    return stream.until(({ ids }) => ids.length > 0);
  };
  const openBoth = () => Promise.all(sites.map(open));

  it('has one of them poll, and both get each event', async () => {
    const streams = await openBoth();
    await delay(1_500);
    statements.fill(0);
    await delay(1_500);
    const [least = 0, most = 0] = [...statements].sort((one, two) => one - two);
    expect([least, most >= 8], statements.join()).to.deep.equal([0, true]);
    const begun = performance.now();
    await other.query('INSERT INTO bells (size) VALUES (1)');
    await Promise.all(streams.map((each) => each.until(({ events }) => events.length === 1)));
    expect(performance.now() - begun).to.be.below(1_500);
    const poller = statements[0] === most ? 0 : 1;
    // A request makes the tick in the process that does not poll, and its streams have the event as well.
    await other.query('INSERT INTO bells (size) VALUES (2)');
    await sites[1 - poller]?.agent.get('/bells/changes').expect(200);
    await Promise.all(streams.map((each) => each.until(({ events }) => events.length === 2)));
    // The one that polls goes away, and the other one takes its place.
    streams[poller]?.response.destroy();
    await other.query('INSERT INTO bells (size) VALUES (3)');
    await streams[1 - poller]?.until(({ events }) => events.length === 3, 8_000);
    for (const { response } of streams) response.destroy();
  }).timeout(30_000);

  it('ends the streams of both where the database has gone back to an earlier tick', async () => {
    const streams = await openBoth();
    await other.query('INSERT INTO bells (size) VALUES (4)');
    await Promise.all(streams.map((each) => each.until(({ events }) => events.length === 1)));
    await delay(1_500);
    await other.query('TRUNCATE crud_ticks RESTART IDENTITY');
    await Promise.race(streams.map((each) => each.until(({ isEnded }) => isEnded)));
    // The client of the one that polls comes back, so that it goes on.
    const first = streams.findIndex(({ isEnded }) => isEnded);
    const again = await open(sites[first] as TestApp);
    await streams[1 - first]?.until(({ isEnded }) => isEnded, 8_000);
    again.response.destroy();
  }).timeout(30_000);
});
