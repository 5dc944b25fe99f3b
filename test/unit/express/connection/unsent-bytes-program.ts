/** Sends long answers to clients of many kinds, and prints whether another one fits beside them, behind each step. */
import { once } from 'node:events';
import express, { type Response } from 'express';
import { admitRequests } from '../../../../src/express/connection/admit-requests.js';
import { RefusedRequestError } from '../../../../src/operation/refused-request-error.js';
import { HEAP_LIMIT } from '../../../../src/postgres/protocol/heap-limit.js';
import { JsonBytes } from '../../../../src/respond/json-bytes.js';
import { LongJsonAnswer } from '../../../../src/respond/long-json-answer.js';
import { listen, requestHead } from '../../../support/listen.js';

/** More than half of what may be under way, and more than sockets hold. */
const TEXT = 'x'.repeat(HEAP_LIMIT * 0.3);
const REQUEST = requestHead('GET /');

function make(parts = 1): JsonBytes {
  const bytes = new JsonBytes();
  for (let part = 0; part < parts; part += 1) bytes.add(TEXT);
  return bytes;
}

/** @param parts two are more than may be under way */
function fits(parts = 1): boolean {
  try {
    make(parts);
    return true;
  } catch (error) {
    if (error instanceof RefusedRequestError && error.status === 503) return false;
    throw error;
  }
}

/** The connection of a response has ended, in whatever way. */
function closed({ req: { socket } }: Response): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function run(): Promise<Record<string, boolean>> {
  const found: Record<string, boolean> = {};
  const app = express();
  admitRequests(app);
  let isLate = false;
  /** Made before any of them is sent. */
  let ready: JsonBytes[] = [];
  app.get('/', async (_request, response) => {
    const bytes = ready.pop() ?? make();
    if (isLate) await closed(response);
    new LongJsonAnswer(bytes, 200, {}).pipe(response);
    app.emit('answered', response);
  });
  await using target = await listen(app);
  const ask = async (requests: string) => {
    const client = await target.connect();
    client.write(requests);
    if (isLate) client.destroy();
    const [response] = (await once(app, 'answered')) as [Response];
    return { client, response };
  };

  found['beside nothing, however long'] = fits(2);
  const slow = await ask(REQUEST);
  found['beside one that a client does not take'] = fits();
  slow.client.destroy();
  await closed(slow.response);
  found['when that client has gone'] = fits();

  const fast = await ask(REQUEST);
  found['beside the next one'] = fits();
  fast.client.resume();
  await once(fast.response, 'close');
  found['when it has been taken'] = fits();
  fast.client.destroy();

  ready = [make(), make()];
  const both = await ask(REQUEST.repeat(2));
  found['beside two on one connection'] = fits();
  both.client.destroy();
  await closed(both.response);
  found['when their client has gone'] = fits();

  isLate = true;
  await ask(REQUEST);
  found['behind one for a client that has gone before'] = fits();

  isLate = false;
  const last = await ask(REQUEST);
  found['beside the last one'] = fits();
  last.client.destroy();
  return found;
}

void run().then((found) => process.stdout.write(JSON.stringify(found)));
