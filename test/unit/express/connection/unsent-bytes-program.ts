/** Sends long answers to clients of many kinds, and prints whether another one fits beside them, behind each step. */

import { once } from 'node:events';
import express, { type Response } from 'express';
import { admitRequests } from '../../../../src/express/connection/open-connection.js';
import { HEAP_LIMIT, hasRoom } from '../../../../src/util/memory-budget.js';
import { listen, requestHead } from '../../../support/listen.js';

/** More than half of the bytes that may be under way, and more than sockets hold. */
const BYTES = Buffer.alloc(HEAP_LIMIT * 0.3, 'x');
/** A write, whose answer is sent however long it is, because its effect is in the database. */
const REQUEST = requestHead('POST /');

/** @param parts two are more than may be under way */
function fits(parts = 1): boolean {
  return hasRoom(parts * BYTES.length);
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
  app.post('/', async (_request, response) => {
    if (isLate) await closed(response);
    response.end(BYTES);
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
