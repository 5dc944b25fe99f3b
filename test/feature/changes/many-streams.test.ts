// @runs fast
/** A thousand streams: their limit, their memory, the statements of an idle process, and clients that take nothing. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { statementChannel } from '../../../src/diagnostics/channels.js';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { itWhole, wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use. */
function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const STREAMS = wholeOr(200, 1_000);
/** Milliseconds: both sides of all streams are in one process, on a machine that may be busy. */
const PATIENCE = 20_000;

@Crud({ changes: true, scope: { room: ({ headers }) => Number(headers['x-room'] ?? 1) } })
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.INTEGER) declare room: number;
}

/** Requests beside which others no longer have a turn of their own. */
const CROWD = 70;

except(OF_FEEDS).describe('many streams of changes', () => {
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Parcel],
    database: { url: database.url },
    bootstrap: { changes: { maxStreams: STREAMS }, indexAdvice: false },
    prepare: (app) => app.get('/probe', (_request, response) => void response.json(isArriving)),
  }));
  /** True while the server has read a request and has not gone on. */
  let isArriving = false;
  const other = forSuite(() => connectTo(database.url));
  const streams: IncomingMessage[] = [];
  const request = async (headers = {}): Promise<IncomingMessage> => {
    const response = await requestStream(`${site.server.url}/parcels/changes`, headers);
    streams.push(response);
    return response;
  };
  /** Texts of the statements in a time, without those that begin and end a transaction: reads by Sequelize have them. */
  const statementsIn = async (milliseconds: number): Promise<string[]> => {
    const texts: string[] = [];
    const note = (message: unknown) => void texts.push((message as { summary: string }).summary);
    statementChannel.start.subscribe(note);
    await delay(milliseconds);
    statementChannel.start.unsubscribe(note);
    return texts.filter((text) => !/^(BEGIN|START|COMMIT)/.test(text));
  };
  /** Inserts as many rows as have an event each, and waits for their tick: with those of the next turn there would be one event, a reset. */
  const insertIntoTick = async (room: number): Promise<void> => {
    await other.query('INSERT INTO parcels (room) SELECT $1 FROM generate_series(1, 9000)', [room]);
    const seen = `SELECT pg_visible_in_snapshot(c.xid, t.snap) AS "isSeen" FROM (SELECT xid FROM crud_changes ORDER BY id DESC LIMIT 1) AS c,
      (SELECT snap FROM crud_ticks ORDER BY n DESC LIMIT 1) AS t`;
    while ((await other.query(seen)).rows[0]?.isSeen !== true) await delay(20);
  };

  afterEach(async () => {
    for (const response of streams.splice(0)) response.destroy();
    await delay(100);
  });

  it('wait at the price of one statement each tick, and get each event', async () => {
    const opened: OpenStream[] = [];
    while (opened.length < STREAMS) {
      const some = await Promise.all(Array.from({ length: 50 }, () => request()));
      opened.push(...some.map((response) => new OpenStream(response)));
    }
    expect((await request()).statusCode).to.equal(503);
    const idle = await statementsIn(2_000);
    // One each 250 ms, and no tick.
    expect(idle.length).to.be.within(4, 9);
    expect(new Set(idle).size).to.equal(1);
    const { rows: before } = await other.query('SELECT count(*) FROM crud_ticks');
    await delay(600);
    const { rows: after } = await other.query('SELECT count(*) FROM crud_ticks');
    expect(after).to.deep.equal(before);
    const counting = statementsIn(1_000);
    await other.query('INSERT INTO parcels (room) VALUES (1), (2), (1)');
    await Promise.all(opened.map((each) => each.until(({ events }) => events.length > 0, PATIENCE)));
    expect(opened.every(({ events }) => events.length === 2)).to.equal(true);
    // All have the same condition, which is judged once.
    expect((await counting).length).to.be.at.most(14);
  }).timeout(60_000);

  for (const [kind, follow] of [
    ['streams', () => request()],
    ['long polls', async () => get(`${site.server.url}/parcels/changes?wait=10`, { agent: false })],
  ] as const) {
    it(`leaves requests of others in their own turn: ${kind}`, async () => {
      const { server, url } = site.server;
      server.prependListener('request', () => {
        isArriving = true;
      });
      server.on('request', () => {
        isArriving = false;
      });
      using agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
        [Symbol.dispose]: () => agent.destroy(),
      });
      const isAtOnce = async (): Promise<boolean> => {
        const [answer] = (await once(get(`${url}/probe`, { agent }), 'response')) as [IncomingMessage];
        return (await answer.toArray()).join('') === 'true';
      };
      const following = await Promise.all(Array.from({ length: CROWD }, () => follow()));
      for (const each of following) each.on('error', () => {});
      try {
        // They read before they wait.
        for (const end = performance.now() + 5_000; !(await isAtOnce()); await delay(20))
          expect(performance.now()).to.be.below(end);
      } finally {
        for (const each of following) each.destroy();
      }
    }).timeout(15_000);
  }

  it('sends nothing where nobody follows', async () => {
    await delay(600);
    expect(await statementsIn(1_000)).to.deep.equal([]);
  });

  it('judge a hundred different conditions, and no more', async () => {
    const opened = await Promise.all(
      Array.from(
        { length: 100 },
        async (_, room) => new OpenStream(await request({ 'X-Room': String(room) })),
      ),
    );
    const refused = await request({ 'X-Room': '100' });
    expect(refused.statusCode).to.equal(503);
    await other.query('INSERT INTO parcels (room) SELECT n FROM generate_series(0, 99) AS n');
    await Promise.all(opened.map((each) => each.until(({ events }) => events.length > 0, PATIENCE)));
    expect(opened.every(({ events }) => events.length === 1)).to.equal(true);
    expect(new Set(opened.map(({ events: [event] }) => event?.id)).size).to.equal(100);
  }).timeout(30_000);

  it('keeps nothing for a client that reads slowly, which misses nothing', async () => {
    const response = await request({ 'X-Room': '5' });
    const stream = new OpenStream(response);
    response.pause();
    await delay(300);
    const turns = wholeOr(3, 20);
    const before = memoryInUse();
    for (let turn = 0; turn < turns; turn += 1) {
      await insertIntoTick(5);
      // A client that takes nothing for ten seconds is cut off, and a busy machine may need longer for all turns.
      const taken = once(response, 'data');
      response.resume();
      await taken;
      response.pause();
    }
    expect(memoryInUse() - before).to.be.below(20_000_000);
    response.resume();
    await stream.until(({ events }) => events.length >= turns * 9_000, 400_000);
    const ids = stream.events.map(({ id }) => Number(id));
    expect(ids).to.deep.equal([...new Set(ids)].sort((one, two) => one - two));
    expect(ids).to.have.length(turns * 9_000);
  }).timeout(500_000);

  itWhole('cut off a client that takes nothing for ten seconds', async () => {
    const response = await request({ 'X-Room': '6' });
    response.pause();
    await delay(300);
    // More than the buffers of both sides have room for.
    for (let turn = 0; turn < 8; turn += 1) await insertIntoTick(6);
    // A process without streams sends no statement.
    while ((await statementsIn(600)).length > 0);
    const stream = await new OpenStream(response).until(({ isEnded }) => isEnded, 30_000);
    expect(stream.response.complete).to.equal(false);
  });
});
