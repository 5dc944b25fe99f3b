/** Answers that clients do not take: how many requests of a connection are executed, and for how long it is kept. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import express, { type Express, type Response } from 'express';
import { admitRequests, endSilent } from '../../../../src/express/connection/open-connection.js';
import { pendingBytes } from '../../../../src/request/node-internals.js';
import { type Listening, listen, requestHead } from '../../../support/listen.js';

/** Bytes of an answer. Sockets on one machine hold some megabytes. */
const LARGE = 250_000;
const REQUESTS = 64;

describe('a connection whose client takes no answers', () => {
  let app: Express;
  let target: Listening;
  let executed: number;
  const open: Response[] = [];
  beforeEach(async () => {
    executed = 0;
    open.length = 0;
    app = express();
    app.use((_request, response, next) => {
      executed += 1;
      open.push(response);
      next();
    });
    app.get('/large', (_request, response) => void response.json('x'.repeat(LARGE)));
    app.get('/late', (_request, response) => void setImmediate(() => response.json('x'.repeat(LARGE))));
    app.post('/large', (_request, response) => void response.status(201).send(Buffer.alloc(LARGE, 'x')));
    app.get('/huge', (_request, response) => void response.end(Buffer.alloc(20_000_000)));
    app.get('/small', (_request, response) => void response.json({}));
    app.get('/never', () => {});
    admitRequests(app);
    target = await listen(app);
  });
  afterEach(() => target[Symbol.asyncDispose]());

  async function pipeline(...lines: readonly string[]): Promise<Socket> {
    const client = await target.connect();
    client.on('error', () => {});
    client.write(lines.map((line) => requestHead(line)).join(''));
    return client;
  }

  /** Bytes that wait for clients. */
  const waiting = () =>
    open.reduce((sum, response) => sum + (response.writableFinished ? 0 : response.writableLength), 0);

  /** Nothing more is executed for some turns of the event loop. */
  async function untilAtRest(): Promise<void> {
    for (let before = -1; before !== executed; ) {
      before = executed;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  for (const line of ['GET /large', 'GET /late', 'POST /large']) {
    it(`executes no more than about a megabyte of answers has room: ${line}`, async () => {
      // An answer of this size is known.
      const first = await pipeline(line);
      await once(first, 'data');
      const client = await pipeline(...Array<string>(REQUESTS).fill(line));
      await untilAtRest();
      expect(executed).to.be.within(5, REQUESTS / 2);
      expect(waiting()).to.be.within(1, 1_600_000);
      let text = '';
      client.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      await untilAtRest();
      while (executed <= REQUESTS || waiting() > 0) await once(client, 'data');
      for (const each of [first, client]) each.destroy();
      expect(executed).to.equal(REQUESTS + 1);
      while (text.split('HTTP/1.1 ').length <= REQUESTS) await once(client, 'data');
    });
  }

  it('has no limit of time where the server has not answered', async () => {
    const client = await pipeline('GET /never', 'GET /large');
    await untilAtRest();
    endSilent(performance.now() + 61_000);
    expect(open.map(({ writableEnded, req }) => [writableEnded, req.socket.destroyed])).to.deep.equal([
      [false, false],
      [true, false],
    ]);
    client.destroy();
  });

  for (const large of ['GET /huge', 'GET /large']) {
    it(`is ended when it takes nothing for a minute, and not before: ${large}`, async () => {
      const client = await pipeline(...Array<string>(large === 'GET /huge' ? 1 : REQUESTS).fill(large));
      await untilAtRest();
      const { socket } = open[0]?.req ?? {};
      const now = performance.now();
      for (const later of [0, 50_000]) endSilent(now + later);
      expect(socket?.destroyed).to.equal(false);
      endSilent(now + 61_000);
      expect(socket?.destroyed).to.equal(true);
      client.destroy();
    });
  }

  it('is kept while it takes something now and then, and between requests', async () => {
    const client = await pipeline('GET /huge');
    await untilAtRest();
    const [response] = open as [Response];
    const { socket } = response.req;
    const now = performance.now();
    client.on('data', () => client.pause());
    for (let minute = 1; minute < 4; minute += 1) {
      for (
        const before = pendingBytes(socket);
        before === pendingBytes(socket);
        await new Promise(setImmediate)
      )
        client.resume();
      endSilent(now + minute * 61_000);
      expect(socket.destroyed).to.equal(false);
    }
    client.removeAllListeners('data').resume();
    await once(response, 'close');
    endSilent(now + 400_000);
    expect(socket.destroyed).to.equal(false);
    client.destroy();
  });

  it('adds no listener for each request to the connection', async () => {
    const client = await pipeline(...Array<string>(12).fill('GET /small'));
    await untilAtRest();
    const { socket } = open[0]?.req ?? {};
    expect(socket?.listenerCount('close')).to.be.below(5);
    client.destroy();
  });
});
