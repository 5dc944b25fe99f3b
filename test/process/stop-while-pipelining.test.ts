/** Clients that pipeline reads and writes without a pause, while a signal stops their process. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { execute, freshDatabase, type TestDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { FixtureProcess } from './fixture-process.js';
import { format, type PipelinedRequest, PipeliningClient } from './pipelining-client.js';

const CLIENTS = 6;
const DEPTH = 16;
/** More than are under way on one connection at once. */
const LARGE_DEPTH = 150;

describe('a process that is told to stop while clients pipeline', () => {
  const settings = [
    ['5', 0],
    ['4', 200],
  ] as const;
  for (const [express, drainDelay] of settings.slice(0, wholeOr(1, 2))) {
    it(`is replaced without losing or doubling a write: Express ${express}, a drainDelay of ${drainDelay} ms`, async () => {
      const database = await databaseOfNotes();
      const options = { databaseUrl: database.url, tables: ['notes'], drainDelay };
      const environment = { CRUD_TEST_EXPRESS: express };
      await using old = await FixtureProcess.start(options, environment);
      // Before the clients, who would take the processor from it.
      await using next = await FixtureProcess.start(options, environment);
      const clients = await startClients(old.port);
      await Promise.all(clients.map((client) => client.untilAnswered(40)));
      const codes = [await stop(old, clients)];
      const stored = await storedTexts(database.url);
      // Each executed request has an answer, so the client may send the others again.
      const repeated = await Promise.all(clients.map((client) => sendAgain(client.unanswered, next.port)));
      codes.push(await stop(next, repeated));
      const all = await storedTexts(database.url);
      await database.drop();

      const sent = clients.flatMap((client) => client.sent);
      expect(stored).to.deep.equal(textsOf(sent.filter(({ answer }) => answer?.status === 201)));
      expect(all).to.deep.equal(textsOf(sent));
      for (const client of [...clients, ...repeated]) {
        expect(
          client.sent.filter(({ answer }) => answer && ![200, 201].includes(answer.status)),
        ).to.deep.equal([]);
        expectOrderlyEnd(client);
      }
      expect(codes).to.deep.equal([0, 0]);
    });
  }

  for (const [what, behind, stored] of [
    ['what is behind a slow request', get('/pid'), []],
    ['a write that waits behind a slow request', post('before'), ['before']],
  ] as const) {
    it(`answers ${what}, in order, and executes nothing that comes later`, async () => {
      const database = await databaseOfNotes();
      await using fixture = await FixtureProcess.start({ databaseUrl: database.url, tables: ['notes'] });
      const requests = [get('/held'), { ...behind }, get('/pid'), post('after')];
      const client = await PipeliningClient.start(fixture.port, 3, () => requests.shift() ?? get('/pid'));
      await fixture.untilPrinted('working');
      // The answers of reads behind the slow one are ready soon, and their headers keep the connection open.
      await delay(100);
      fixture.signal();
      while ((await fixture.tryToConnect()) !== 'ECONNREFUSED');
      client.sendNext();
      fixture.release();
      await client.untilClosed();
      const code = await fixture.untilEnded();
      const texts = await storedTexts(database.url);
      await database.drop();
      const statuses = client.sent.slice(0, 4).map(({ answer }) => answer?.status);
      expect(statuses).to.deep.equal([200, stored.length > 0 ? 201 : 200, 200, undefined]);
      expect(client.answered).to.equal(3);
      expectOrderlyEnd(client);
      expect({ stored: texts, code }).to.deep.equal({ stored, code: 0 });
    });
  }

  it('does not wait long for a client that keeps its side of the connection open', async () => {
    await using fixture = await FixtureProcess.start({ shutdownTimeout: 1_000 });
    const socket = connect({ port: fixture.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write(format(get('/wait/100')));
    await fixture.untilPrinted('working');
    fixture.signal();
    const answer = await text(socket);
    const code = await fixture.untilEnded();
    socket.destroy();
    expect(answer).to.match(/^HTTP\/1.1 200 OK\r\n.*\r\nConnection: close\r\n.*\{"waited":"100"\}$/s);
    expect(code).to.equal(0);
  });

  it('has forgotten the requests of a client that went away without their answers', async () => {
    await using fixture = await FixtureProcess.start();
    const socket = await fixture.connect();
    socket.write([get('/wait/100'), get('/pid'), get('/pid')].map(format).join(''));
    await fixture.untilPrinted('working');
    socket.destroy();
    fixture.keepConnections();
    await fixture.get('/wait/200');
    expect(await fixture.end()).to.equal(0);
  });
});

function get(path: string): PipelinedRequest {
  return { method: 'GET', path };
}

function post(text: string): PipelinedRequest {
  return { method: 'POST', path: '/notes', body: JSON.stringify({ text }) };
}

/** Every second request is a write, of a text that no other one has. */
function startClients(port: number): Promise<PipeliningClient[]> {
  return Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => {
      let count = 0;
      return PipeliningClient.start(port, index % 2 === 0 ? DEPTH : LARGE_DEPTH, () => {
        count += 1;
        return count % 2 === 0 ? get('/notes?size=1') : post(`${index}-${count}`);
      });
    }),
  );
}

/** Whole answers without a gap; only the last one has the header that ends the connection. */
function expectOrderlyEnd({ sent, answered, rest, error }: PipeliningClient): void {
  expect({ rest, error }).to.deep.equal({ rest: '', error: undefined });
  const connections = sent.slice(0, answered).map(({ answer }) => answer?.connection);
  expect(connections.slice(0, -1)).to.not.include('close');
}

/** Stops a process by a signal, waits until its clients and the process have ended, and returns its exit code. */
async function stop(fixture: FixtureProcess, clients: readonly PipeliningClient[]): Promise<number | null> {
  fixture.signal();
  await Promise.all(clients.map((client) => client.untilClosed()));
  return fixture.untilEnded();
}

/** Sends requests to another process, and then reads until that one stops too. */
async function sendAgain(requests: readonly PipelinedRequest[], port: number): Promise<PipeliningClient> {
  const rest = requests.map((request) => ({ ...request }));
  const client = await PipeliningClient.start(port, DEPTH, () => rest.shift() ?? get('/pid'));
  await client.untilAnswered(requests.length);
  return client;
}

function textsOf(requests: readonly PipelinedRequest[]): string[] {
  return requests.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(body).text])).sort();
}

async function databaseOfNotes(): Promise<TestDatabase> {
  const database = await freshDatabase();
  await execute(database.url, 'CREATE TABLE notes (id serial PRIMARY KEY, text text NOT NULL)');
  return database;
}

async function storedTexts(url: string): Promise<string[]> {
  const rows = await execute<{ text: string }>(url, 'SELECT text FROM notes');
  return rows.map(({ text }) => text).sort();
}
