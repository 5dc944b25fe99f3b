/** Closes a server without cutting off an answer, unless it takes too long. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectionsOf } from './create-express-server.js';

/**
 * Accepts no connection any more, ends the idle ones, and the others after what is under way on them.
 *
 * @param timeout milliseconds after which what is left is cut off
 * @returns whether no answer was cut off
 */
export async function closeServer(server: Server, timeout: number): Promise<boolean> {
  const connections = connectionsOf(server);
  const closed = once(server, 'close');
  // HTTP's own method would also end the connections that it takes for idle, and it is wrong about some.
  TcpServer.prototype.close.call(server);
  connections.announceEnd();
  connections.endIdle();
  const timer = new AbortController();
  const late = delay(timeout, false, { signal: timer.signal }).catch(() => false);
  const wasClean = await Promise.race([closed.then(() => true), late]);
  timer.abort();
  const wasSent = connections.cut();
  await closed;
  return wasClean || wasSent;
}
