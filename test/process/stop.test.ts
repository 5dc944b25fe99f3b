/** A process that is told to stop: what becomes of its requests, its connections and its engine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from 'pg';
import { caughtError } from '../support/caught-error.js';
import { freshDatabase } from '../support/postgres.js';
import { itWhole, wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';

/** Milliseconds within which a process has ended that waits for nothing: far below the deadlines of `serve`. */
const SOON = 10_000;
/** The lines of a process that had nothing under way. */
const STOPPED =
  /^.*\nlistening \d+\n\{"level":"info","time":"[^"]+","message":"Stopping at SIG(?:TERM|INT)","requests":0,.*\}\nnothing is left\n$/;
/** What the fixture prints last when it ends because nothing is left to do, and not because it is forced to. */
const BY_ITSELF = 'nothing is left\n';

describe('a process that is told to stop', () => {
  it('finishes a request that takes three seconds, and says that the connection ends', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const answer = fixture.get('/wait/3000');
    await fixture.untilPrinted('working');
    const start = performance.now();
    fixture.signal();
    expect(await answer).to.deep.equal({ status: 200, connection: 'close', body: '{"waited":"3000"}' });
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(0);
    expect(took).to.be.below(3_000 + SOON);
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
  });

  for (const name of wholeOr(['SIGTERM'] as const, ['SIGTERM', 'SIGINT'] as const)) {
    it(`ends with 0, at once, at ${name}, and says only that it stops`, async () => {
      await using fixture = await FixtureProcess.start();
      const start = performance.now();
      fixture.signal(name);
      const { code, took } = await fixture.untilEnded(start);
      expect(code).to.equal(0);
      expect(took).to.be.below(SOON);
      expect(fixture.output).to.match(STOPPED);
    });
  }

  it('is not ready any more, but alive and accepting, during drainDelay', async () => {
    await using fixture = await FixtureProcess.start({ drainDelay: 2_000 });
    const before = await fixture.get('/health/ready');
    const start = performance.now();
    fixture.signal();
    let ready = before;
    while (ready.status === 200) ready = await fixture.get('/health/ready');
    expect(ready).to.include({ status: 503, body: '{"status":"unhealthy","checks":[]}' });
    expect(await fixture.get('/health/live')).to.include({ status: 200, body: '{"status":"alive"}' });
    expect(await fixture.get('/wait/0')).to.include({ status: 200, body: '{"waited":"0"}' });
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(0);
    expect(took).to.be.within(1_990, 2_000 + SOON);
  });

  it('sends clients elsewhere during drainDelay: every answer says that its connection ends', async () => {
    await using fixture = await FixtureProcess.start({ drainDelay: 2_000 });
    fixture.keepConnections();
    const before = await fixture.get('/pid');
    const underWay = fixture.get('/wait/500');
    await fixture.untilPrinted('working');
    fixture.signal();
    while ((await fixture.get('/health/ready')).status === 200);
    const answers = [await fixture.get('/pid'), await fixture.get('/health/live'), await underWay];
    expect(before.connection).to.equal('keep-alive');
    expect(answers.map(({ connection }) => connection)).to.deep.equal(['close', 'close', 'close']);
    expect(await fixture.untilEnded()).to.include({ code: 0 });
  });

  itWhole('accepts no connection after drainDelay, while it still works', async () => {
    await using fixture = await FixtureProcess.start({ drainDelay: 200 });
    const answer = fixture.get('/held');
    await fixture.untilPrinted('working');
    const start = performance.now();
    fixture.signal();
    while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
    expect(performance.now() - start).to.be.above(190);
    expect(fixture.hasEnded).to.equal(false);
    fixture.release();
    expect(await answer).to.include({ status: 200, connection: 'close' });
    expect(await fixture.untilEnded()).to.include({ code: 0 });
  });

  itWhole('drains for five seconds in Kubernetes, unless told otherwise', async () => {
    await using fixture = await FixtureProcess.start({}, { KUBERNETES_SERVICE_HOST: '10.0.0.1' });
    fixture.signal();
    await sleep(1_000);
    expect(await fixture.get('/health/ready')).to.include({ status: 503 });
  });

  const openings: readonly (readonly [string, string])[] = [
    ['a connection on which nothing was ever sent', ''],
    ['a request of which half was sent', 'GET /wait/0 HTTP/1.1\r\nHost: local'],
    [
      'a connection that was upgraded',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n',
    ],
    ['a request whose body does not come', 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'],
  ];
  for (const [what, bytes] of openings.slice(0, wholeOr(2, Number.POSITIVE_INFINITY))) {
    it(`waits for ${what} until shutdownTimeout, and ends with 1`, async () => {
      await using fixture = await FixtureProcess.start({ shutdownTimeout: 300 });
      const socket = await fixture.connect();
      socket.write(bytes);
      // The process has accepted the connection when it has answered on a later one.
      await fixture.get('/pid');
      const start = performance.now();
      fixture.signal();
      const { code, took } = await fixture.untilEnded(start);
      socket.destroy();
      expect(code).to.equal(1);
      expect(took).to.be.within(290, 300 + SOON);
      expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
    });
  }

  it('cuts off a request that takes longer than shutdownTimeout, and ends with 1', async () => {
    await using fixture = await FixtureProcess.start({ shutdownTimeout: 300 });
    const answer = caughtError(() => fixture.get('/wait/60000'));
    await fixture.untilPrinted('working');
    const start = performance.now();
    fixture.signal();
    expect(await answer).to.include({ code: 'ECONNRESET' });
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(1);
    expect(took).to.be.within(290, 300 + SOON);
  });

  for (const [first, second] of [
    ['SIGTERM', 'SIGINT'] as const,
    ...wholeOr([], [['SIGTERM', 'SIGTERM'] as const, ['SIGINT', 'SIGINT'] as const]),
  ]) {
    it(`ends at once with 1 at ${second} while it drains after ${first}`, async () => {
      await using fixture = await FixtureProcess.start({ drainDelay: 60_000, second: {} });
      fixture.signal(first);
      while ((await fixture.get('/health/ready')).status === 200);
      const start = performance.now();
      fixture.signal(second);
      const { code, took } = await fixture.untilEnded(start);
      expect(code).to.equal(1);
      expect(took).to.be.below(SOON);
    });
  }

  it('ends at once with 1 at a second signal while a request finishes', async () => {
    await using fixture = await FixtureProcess.start();
    const answer = caughtError(() => fixture.get('/wait/60000'));
    await fixture.untilPrinted('working');
    fixture.signal();
    while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
    const start = performance.now();
    fixture.signal();
    const { code, took } = await fixture.untilEnded(start);
    expect(await answer).to.include({ code: 'ECONNRESET' });
    expect(code).to.equal(1);
    expect(took).to.be.below(SOON);
  });

  it('ends as it has stopped, at a signal that comes after everything', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'disposes', neverIdle: true });
    fixture.signal();
    await fixture.untilPrinted('disposed');
    await sleep(200);
    fixture.signal();
    expect(await fixture.untilEnded()).to.include({ code: 0 });
  });

  describe('and serves on two ports', () => {
    it('finishes what is under way on either before anything that they share is gone', async () => {
      const database = await freshDatabase();
      await using fixture = await FixtureProcess.start({ databaseUrl: database.url, second: {} });
      const answer = fixture.post(fixture.second('/notes/2500'));
      await fixture.untilPrinted('working');
      fixture.signal();
      expect(await answer).to.include({ status: 201 });
      expect(await fixture.untilEnded()).to.include({ code: 0 });
      const rows = await query(database.url, 'SELECT text FROM notes');
      await database.drop();
      expect(rows).to.deep.equal([{ text: 'kept' }]);
      expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
    });

    it('disposes the lifespan of one when the other has stopped as well', async () => {
      await using fixture = await FixtureProcess.start({ lifespan: 'disposes', second: {} });
      const answer = fixture.get(fixture.second('/held'));
      await fixture.untilPrinted('working');
      fixture.signal();
      while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
      const during = fixture.output;
      fixture.release();
      expect(await answer).to.include({ status: 200 });
      expect(await fixture.untilEnded()).to.include({ code: 0 });
      expect(during).to.not.include('disposed');
      expect(fixture.words).to.match(/working\ndisposed\nnothing is left\n$/);
    });

    it('stops the one that begins to listen after the signal', async () => {
      await using fixture = await FixtureProcess.start({ late: true });
      const answer = fixture.get('/wait/1500');
      await fixture.untilPrinted('working');
      fixture.signal();
      while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
      fixture.release();
      await fixture.untilPrinted('listening late');
      expect(await answer).to.include({ status: 200 });
      expect(await fixture.untilEnded()).to.include({ code: 0 });
    });

    itWhole('ends with 1 when the lifespan of one of them fails', async () => {
      await using fixture = await FixtureProcess.start({ lifespan: 'fails', second: {} });
      fixture.signal();
      expect(await fixture.untilEnded()).to.include({ code: 1 });
    });

    it('ends with 1 when either had to cut off a request, whichever stops last', async () => {
      await using fixture = await FixtureProcess.start({ second: { shutdownTimeout: 100 } });
      const cut = caughtError(() => fixture.get(fixture.second('/wait/60000')));
      await fixture.untilPrinted('working');
      const answer = fixture.get('/wait/1000');
      await fixture.untilPrinted('working\nworking');
      fixture.signal();
      expect(await cut).to.include({ code: 'ECONNRESET' });
      expect(await answer).to.include({ status: 200 });
      expect(await fixture.untilEnded()).to.include({ code: 1 });
    });
  });

  it('does not wait for clients that keep their connections', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const answers = await Promise.all([fixture.get('/pid'), fixture.get('/pid')]);
    const start = performance.now();
    fixture.signal();
    const { code, took } = await fixture.untilEnded(start);
    expect(answers.map(({ connection }) => connection)).to.deep.equal(['keep-alive', 'keep-alive']);
    expect(code).to.equal(0);
    expect(took).to.be.below(SOON);
  });

  itWhole('does not wait for a kept connection whose answer had begun before', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const answer = fixture.get('/stream/300');
    await fixture.untilPrinted('working');
    const start = performance.now();
    fixture.signal();
    expect(await answer).to.include({ status: 200, body: 'first,last' });
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(0);
    expect(took).to.be.below(300 + SOON);
  });

  it('sends an answer to its end that a slow client is still reading', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const bytes = 30_000_000;
    const response = await fixture.open(`/large/${bytes}`);
    await fixture.untilPrinted('working');
    fixture.signal();
    // Nothing was read so far, and the process is to have gone as far as it can.
    await sleep(300);
    let received = 0;
    for await (const chunk of response) received += chunk.length;
    expect(received).to.equal(bytes);
    expect(await fixture.untilEnded()).to.include({ code: 0 });
  });

  it('commits a transaction that has begun', async () => {
    const database = await freshDatabase();
    await using fixture = await FixtureProcess.start({ databaseUrl: database.url });
    const answer = fixture.post('/notes/500');
    await fixture.untilPrinted('working');
    fixture.signal();
    expect(await answer).to.include({ status: 201, connection: 'close' });
    expect(await fixture.untilEnded()).to.include({ code: 0 });
    const rows = await query(database.url, 'SELECT text FROM notes');
    await database.drop();
    expect(rows).to.deep.equal([{ text: 'kept' }]);
  });

  it('rolls back a transaction that takes longer than shutdownTimeout, and ends with 1', async () => {
    const database = await freshDatabase();
    await using fixture = await FixtureProcess.start({ databaseUrl: database.url, shutdownTimeout: 100 });
    const answer = caughtError(() => fixture.post('/notes/60000'));
    await fixture.untilPrinted('working');
    const start = performance.now();
    fixture.signal();
    expect(await answer).to.include({ code: 'ECONNRESET' });
    const { code, took } = await fixture.untilEnded(start);
    const rows = await query(database.url, 'SELECT text FROM notes');
    await database.drop();
    expect(rows).to.deep.equal([]);
    expect(code).to.equal(1);
    expect(took).to.be.below(SOON);
  });

  itWhole('disposes an engine that was there before, and then ends by itself', async () => {
    const database = await freshDatabase();
    await using fixture = await FixtureProcess.start({ databaseUrl: database.url });
    const sessions =
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    await fixture.post('/notes/0');
    const before = await query(database.url, sessions);
    fixture.signal();
    const { code } = await fixture.untilEnded();
    await database.drop();
    expect(before).to.have.length.above(0);
    expect(code).to.equal(0);
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
  });

  it('disposes what its lifespan gave', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'disposes' });
    const answer = fixture.get('/wait/300');
    await fixture.untilPrinted('working');
    fixture.signal();
    await answer;
    expect(await fixture.untilEnded()).to.include({ code: 0 });
    expect(fixture.words).to.match(/^listening \d+\nworking\ndisposed\nnothing is left\n$/);
  });

  it('ends with 1 when that fails', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'fails' });
    fixture.signal();
    expect(await fixture.untilEnded()).to.include({ code: 1 });
    expect(fixture.output).to.include('Disposing failed').and.to.include('On purpose');
  });

  itWhole("tells that to the application's logger, where it has one", async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'fails', ownLogger: true });
    fixture.signal();
    await fixture.untilEnded();
    expect(fixture.output).to.match(/\ndisposed\nown logger: Disposing failed\nnothing is left\n$/);
  });

  it('disposes the engine, and ends with 1, when that hangs', async () => {
    const database = await freshDatabase();
    await using fixture = await FixtureProcess.start({
      databaseUrl: database.url,
      lifespan: 'hangs',
      shutdownTimeout: 300,
    });
    await fixture.post('/notes/0');
    const start = performance.now();
    fixture.signal();
    const { code, took } = await fixture.untilEnded(start);
    await database.drop();
    expect(code).to.equal(1);
    expect(took).to.be.below(SOON);
    expect(fixture.output).to.include('Disposing took too long');
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
  });

  itWhole('lets what its lifespan gave take the rest of shutdownTimeout', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'hangs', shutdownTimeout: 3_000 });
    const start = performance.now();
    fixture.signal();
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(1);
    expect(took).to.be.within(2_900, 3_000 + SOON);
  });

  it('ends even if something else would keep it', async () => {
    await using fixture = await FixtureProcess.start({ neverIdle: true });
    const start = performance.now();
    fixture.signal();
    const { code, took } = await fixture.untilEnded(start);
    expect(code).to.equal(0);
    expect(took).to.be.below(SOON);
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(false);
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql).finally(() => client.end());
  return rows;
}
