/** Clients that take nothing of their answers: their connections are ended, so that what waits for them is not kept from others. */
import type { Socket } from 'node:net';
import { pendingBytes } from '../../request/node-internals.js';

/** Milliseconds in which a client has to take something. */
const PATIENCE = 60_000;
/** Milliseconds between two looks. */
const STEP = 5_000;

/** The last change of what waits for a client. */
interface Progress {
  bytes: number;
  at: number;
}

const waiting = new Map<Socket, Progress>();
let timer: NodeJS.Timeout | undefined;

/** It is the client's turn. The time begins again with all that it takes. */
export function expectProgress(socket: Socket): void {
  if (waiting.has(socket)) return;
  waiting.set(socket, { bytes: pendingBytes(socket), at: performance.now() });
  timer ??= setInterval(() => endSilent(performance.now()), STEP).unref();
}

/** The client has taken all, or it is the server's turn. */
export function expectNothing(socket: Socket): void {
  waiting.delete(socket);
}

/** Ends the connections of those that have taken nothing for too long. */
export function endSilent(now: number): void {
  for (const [socket, progress] of waiting) {
    const bytes = pendingBytes(socket);
    if (bytes !== progress.bytes) waiting.set(socket, { bytes, at: now });
    else if (now - progress.at >= PATIENCE) socket.destroy();
  }
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
