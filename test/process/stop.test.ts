/** A process that a signal stops: the end of its requests, its connections and its engine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { caughtError } from '../support/caught-error.js';
import { execute, freshDatabase } from '../support/postgres.js';
import { itWhole, wholeOr } from '../support/short.js';
import type { FixtureOptions } from './fixture.js';
import { FixtureProcess } from './fixture-process.js';

/** Milliseconds within which a process has ended that waits for nothing: far below the deadlines of `serve`. */
const SOON = 10_000;
/** The lines of a process that had nothing under way. */
const STOPPED =
  /^.*\nlistening \d+\n\{"level":"info","time":"[^"]+","message":"Stopping at SIG(?:TERM|INT)","requests":0,.*\}\nnothing is left\n$/;
/** The last line of the fixture when it ends because nothing is left to do, and not because it is forced to. */
const BY_ITSELF = 'nothing is left\n';
const CUT_OFF = { code: 'ECONNRESET' };
const KEPT = [{ text: 'kept' }];

type Signal = 'SIGTERM' | 'SIGINT';

describe('a process that is told to stop', () => {
  /** Stops it by a signal: it ends with a code after so many milliseconds at least, and soon after that. */
  async function expectStop(fixture: FixtureProcess, code: number, least = 0, signal?: Signal) {
    const stopped = await fixture.stop(signal);
    expect(stopped.code).to.equal(code);
    expect(stopped.took).to.be.within(least - 10, least + SOON);
  }

  /** A fixture over a database of notes, and its rows at the end. */
  async function withNotes(options: FixtureOptions, work: (fixture: FixtureProcess) => Promise<void>) {
    await using database = await freshDatabase();
    await using fixture = await FixtureProcess.start({ ...options, databaseUrl: database.url });
    await work(fixture);
    return await execute(database.url, 'SELECT text FROM notes');
  }

  async function untilDraining(fixture: FixtureProcess): Promise<void> {
    while ((await fixture.get('/health/ready')).status === 200);
  }

  async function untilRefused(fixture: FixtureProcess): Promise<void> {
    while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
  }

  it('finishes a request that takes three seconds, and says that the connection ends', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const { answer } = await fixture.begin('/wait/3000');
    await expectStop(fixture, 0);
    expect(await answer).to.deep.equal({ status: 200, connection: 'close', body: '{"waited":"3000"}' });
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
  });

  for (const name of wholeOr(['SIGTERM'] as const, ['SIGTERM', 'SIGINT'] as const)) {
    it(`ends with 0, at once, at ${name}, and says only that it stops`, async () => {
      await using fixture = await FixtureProcess.start();
      await expectStop(fixture, 0, 0, name);
      expect(fixture.output).to.match(STOPPED);
    });
  }

  it('is not ready any more, but alive and accepting, during drainDelay, and every answer says that its connection ends', async () => {
    await using fixture = await FixtureProcess.start({ drainDelay: 2_000 });
    fixture.keepConnections();
    const before = await fixture.get('/pid');
    const { answer } = await fixture.begin('/wait/500');
    const stopped = expectStop(fixture, 0, 2_000);
    await untilDraining(fixture);
    const ready = await fixture.get('/health/ready');
    const live = await fixture.get('/health/live');
    const later = await fixture.get('/wait/0');
    expect(ready).to.include({ status: 503, body: '{"status":"unhealthy","checks":[]}' });
    expect(live).to.include({ status: 200, body: '{"status":"alive"}' });
    expect(later).to.include({ status: 200, body: '{"waited":"0"}' });
    expect(before.connection).to.equal('keep-alive');
    const ends = [ready, live, later, await answer].map(({ connection }) => connection);
    expect(ends).to.deep.equal(['close', 'close', 'close', 'close']);
    await stopped;
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
  for (const [what, bytes] of openings.slice(0, wholeOr(1, Number.POSITIVE_INFINITY))) {
    it(`waits for ${what} until shutdownTimeout, and ends with 1`, async () => {
      await using fixture = await FixtureProcess.start({ shutdownTimeout: 300 });
      const socket = await fixture.connect();
      socket.write(bytes);
      // The process has accepted the connection when it has answered on a later one.
      await fixture.get('/pid');
      await expectStop(fixture, 1, 300);
      socket.destroy();
      expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
    });
  }

  for (const [first, second] of [
    ['SIGTERM', 'SIGINT'] as const,
    ...wholeOr([], [['SIGTERM', 'SIGTERM'] as const, ['SIGINT', 'SIGINT'] as const]),
  ]) {
    it(`ends at once with 1 at ${second} while it drains after ${first}`, async () => {
      await using fixture = await FixtureProcess.start({ drainDelay: 60_000, second: {} });
      fixture.signal(first);
      await untilDraining(fixture);
      await expectStop(fixture, 1, 0, second);
    });
  }

  it('ends at once with 1 at a second signal while a request finishes', async () => {
    await using fixture = await FixtureProcess.start();
    const { answer } = await fixture.begin('/wait/60000');
    fixture.signal();
    await untilRefused(fixture);
    await expectStop(fixture, 1);
    expect(await caughtError(() => answer)).to.include(CUT_OFF);
  });

  it('ends as it has stopped, at a signal that comes after everything', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'disposes', neverIdle: true });
    fixture.signal();
    await fixture.untilPrinted('disposed');
    await sleep(200);
    expect(await fixture.end()).to.equal(0);
  });

  describe('and serves on two ports', () => {
    it('finishes and commits what is under way on either before anything that they share is gone', async () => {
      const rows = await withNotes({ second: {} }, async (fixture) => {
        const { answer } = await fixture.begin(fixture.second('/notes/2500'), 'POST');
        expect(await fixture.end()).to.equal(0);
        expect(await answer).to.include({ status: 201, connection: 'close' });
        expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
      });
      expect(rows).to.deep.equal(KEPT);
    });

    it('disposes the lifespan of one when the other has stopped as well', async () => {
      await using fixture = await FixtureProcess.start({ lifespan: 'disposes', second: {} });
      const { answer } = await fixture.begin(fixture.second('/held'));
      fixture.signal();
      await untilRefused(fixture);
      const during = fixture.output;
      fixture.release();
      expect(await answer).to.include({ status: 200 });
      expect(await fixture.untilEnded()).to.equal(0);
      expect(during).to.not.include('disposed');
      expect(fixture.words).to.match(/working\ndisposed\nnothing is left\n$/);
    });

    it('stops the one that begins to listen after the signal', async () => {
      await using fixture = await FixtureProcess.start({ late: true });
      const { answer } = await fixture.begin('/wait/1500');
      fixture.signal();
      await untilRefused(fixture);
      fixture.release();
      await fixture.untilPrinted('listening late');
      expect(await answer).to.include({ status: 200 });
      expect(await fixture.untilEnded()).to.equal(0);
    });

    it('ends with 1 when either had to cut off a request, whichever stops last', async () => {
      await using fixture = await FixtureProcess.start({ second: { shutdownTimeout: 100 } });
      const { answer: cut } = await fixture.begin(fixture.second('/wait/60000'));
      const answer = fixture.get('/wait/1000');
      await fixture.untilPrinted('working\nworking');
      expect(await fixture.end()).to.equal(1);
      expect(await caughtError(() => cut)).to.include(CUT_OFF);
      expect(await answer).to.include({ status: 200 });
    });
  });

  it('does not wait for clients that keep their connections', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const answers = await Promise.all([fixture.get('/pid'), fixture.get('/pid')]);
    expect(answers.map(({ connection }) => connection)).to.deep.equal(['keep-alive', 'keep-alive']);
    await expectStop(fixture, 0);
  });

  itWhole('does not wait for a kept connection whose answer had begun before', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const { answer } = await fixture.begin('/stream/300');
    await expectStop(fixture, 0);
    expect(await answer).to.include({ status: 200, body: 'first,last' });
  });

  it('sends an answer to its end that a slow client is still reading', async () => {
    await using fixture = await FixtureProcess.start();
    fixture.keepConnections();
    const bytes = 30_000_000;
    const response = await fixture.open(`/large/${bytes}`);
    await fixture.untilPrinted('working');
    fixture.signal();
    // The client has read nothing so far, and the process gets time to send as much as it can.
    await sleep(300);
    let received = 0;
    for await (const chunk of response) received += chunk.length;
    expect(received).to.equal(bytes);
    expect(await fixture.untilEnded()).to.equal(0);
  });

  it('cuts off a request that takes longer than shutdownTimeout, rolls its transaction back, and ends with 1', async () => {
    const rows = await withNotes({ shutdownTimeout: 300 }, async (fixture) => {
      const { answer } = await fixture.begin('/notes/60000', 'POST');
      await expectStop(fixture, 1, 300);
      expect(await caughtError(() => answer)).to.include(CUT_OFF);
    });
    expect(rows).to.deep.equal([]);
  });

  itWhole('disposes an engine that was there before, and then ends by itself', () =>
    withNotes({}, async (fixture) => {
      await fixture.post('/notes/0');
      expect(await fixture.end()).to.equal(0);
      expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
    }).then((rows) => expect(rows).to.deep.equal(KEPT)),
  );

  it('disposes what its lifespan gave', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'disposes' });
    const { answer } = await fixture.begin('/wait/300');
    expect(await fixture.end()).to.equal(0);
    expect(await answer).to.include({ status: 200 });
    expect(fixture.words).to.match(/^listening \d+\nworking\ndisposed\nnothing is left\n$/);
  });

  it('ends with 1 when that fails', async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'fails' });
    expect(await fixture.end()).to.equal(1);
    expect(fixture.output).to.include('Disposing failed').and.to.include('On purpose');
  });

  itWhole("tells that to the application's logger, where it has one", async () => {
    await using fixture = await FixtureProcess.start({ lifespan: 'fails', ownLogger: true });
    await fixture.end();
    expect(fixture.output).to.match(/\ndisposed\nown logger: Disposing failed\nnothing is left\n$/);
  });

  it('disposes the engine, and ends with 1 after shutdownTimeout, when that hangs', () =>
    withNotes({ lifespan: 'hangs', shutdownTimeout: 300 }, async (fixture) => {
      await fixture.post('/notes/0');
      await expectStop(fixture, 1, 300);
      expect(fixture.output).to.include('Disposing took too long');
      expect(fixture.output.endsWith(BY_ITSELF)).to.equal(true);
    }).then((rows) => expect(rows).to.deep.equal(KEPT)));

  it('ends even if something else would keep it', async () => {
    await using fixture = await FixtureProcess.start({ neverIdle: true });
    await expectStop(fixture, 0);
    expect(fixture.output.endsWith(BY_ITSELF)).to.equal(false);
  });
});
