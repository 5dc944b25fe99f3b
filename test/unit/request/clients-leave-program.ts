/** Opens connections, sends answers, leaves many unsent, sends more, and prints how many bytes of each have become old. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { connectionOf } from '../../../src/express/connection/open-connection.js';

/** The function of `--expose-gc`. */
declare function gc(options?: { type: 'minor' }): void;

/** Calls after which V8 compiles Node's `end` with its latest assumptions. */
const HOT = 20_000;
const MEASURED = 5_000;
/** Connections, and answers that are left unsent. */
const MANY = 200;

/** A connection whose client takes everything at once. */
const CONNECTION = new Duplex({
  read: () => undefined,
  write: (_chunk, _encoding, done) => done(),
  writev: (_chunks, done) => done(),
  decodeStrings: false,
}) as Socket;

function answer(isSent: boolean): ServerResponse {
  const request = new IncomingMessage(CONNECTION);
  const response = new ServerResponse(request);
  Object.assign(request, { res: response });
  // A listener that keeps the request, as a log of requests does.
  response.once('close', () => request);
  if (isSent) response.assignSocket(CONNECTION);
  response.end('{"id":1}');
  if (isSent) {
    response.detachSocket(CONNECTION);
    response.emit('close');
  }
  return response;
}

async function send(answers: number): Promise<void> {
  for (let sent = 0; sent < answers; sent += 1) {
    answer(true);
    if (sent % 32 === 0) await setImmediate();
  }
}

function oldBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  return space?.space_used_size ?? Number.NaN;
}

async function run(): Promise<number> {
  const open = Array.from({ length: MANY }, () => connectionOf(new Socket()));
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  await send(HOT);
  const unsent = Array.from({ length: MANY }, () => answer(false));
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  unsent.length = 0;
  open.length = 0;
  await send(HOT);
  gc();
  const before = oldBytes();
  await send(MEASURED);
  return (oldBytes() - before) / MEASURED;
}

void run().then((bytes) => process.stdout.write(String(bytes)));
