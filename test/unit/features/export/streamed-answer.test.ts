/** Answers in pieces whose client takes nothing: how long they wait for it. */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { startDraining } from '../../../../src/express/server/express-server.js';
import { StreamedAnswer } from '../../../../src/features/export/streamed-answer.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { listen } from '../../../support/listen.js';

const PIECE = 'x'.repeat(256 * 1024);
/** Turns of the event loop in which nothing was written. */
const AT_REST = 50;

/** An answer without an end, whose client reads nothing. */
async function stalled(app: Express) {
  const clock = new FakeClock();
  let [pieces, end]: [number, unknown] = [0, null];
  app.get('/', async (_request, response) => {
    const answer = new StreamedAnswer(response, null);
    try {
      for (;;) {
        await answer.write(PIECE);
        pieces += 1;
      }
    } catch (error) {
      end = error;
    }
  });
  const server = await listen(app);
  const client = await server.connect();
  client.on('error', () => {});
  client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  for (let [before, turns] = [-1, 0]; turns < AT_REST || pieces === 0; turns += 1) {
    if (pieces !== before) turns = 0;
    before = pieces;
    await nextTurn();
  }
  return {
    clock,
    end: () => (end as Error | null)?.message ?? null,
    async [Symbol.asyncDispose]() {
      clock[Symbol.dispose]();
      client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('an answer in pieces whose client takes nothing', () => {
  it('is cut after a minute', async () => {
    await using answer = await stalled(express());
    await answer.clock.advance(59_000);
    expect(answer.end()).to.equal(null);
    await answer.clock.advance(2_000);
    expect(answer.end()).to.equal('The client has taken nothing for 60 seconds.');
  });

  it('is cut when the server is about to stop', async () => {
    const app = express();
    await using answer = await stalled(app);
    startDraining(app);
    await answer.clock.advance(1_000);
    expect(answer.end()).to.equal('The server is about to stop.');
  });

  it('leaves no timer behind for a client that had gone before', async () => {
    using clock = new FakeClock();
    const app = express();
    const failed = new Promise<unknown>((resolve) => {
      app.get('/', async (_request, response) => {
        client.destroy();
        await once(response, 'close');
        resolve(new StreamedAnswer(response, 60).write(PIECE).catch((error: Error) => error.message));
      });
    });
    await using server = await listen(app);
    const client = await server.connect();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await failed).to.equal('The client has gone.');
    expect(clock.timersOf('streamed-answer.js')).to.equal(0);
  });
});
