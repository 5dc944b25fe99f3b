/** An answer of many bytes, in pieces that nothing copies. They are counted until the client has taken them, or is gone. */
import type { Socket } from 'node:net';
import type { Response } from 'express';
import type { JsonBytes } from '../../response/json-bytes.js';
import { BODY_HEADERS, ETAG_DIGITS, hasUsualHeaders, JsonAnswer } from './json-answer.js';

/** Milliseconds that a client may take nothing in. What waits for it longer is kept from others. */
const PATIENCE = 60_000;

/** The same headers and bytes as those of a `JsonAnswer`, and handed to the response as one. */
export class LongJsonAnswer {
  /** @param status null is the response's own */
  constructor(
    private readonly bytes: JsonBytes,
    private readonly status: number | null,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  pipe(response: Response): void {
    const { bytes, status, headers } = this;
    if (status !== null) response.statusCode = status;
    if (!hasUsualHeaders(response)) {
      new JsonAnswer(String(bytes), status, headers, true).pipe(response);
      return;
    }
    for (const name in headers) response.setHeader(name, headers[name] as string);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', bytes.length);
    const tag = response.hasHeader('ETag') ? null : tagOf(response, bytes);
    if (tag) response.setHeader('ETag', tag);
    const { fresh, method } = response.req;
    if (fresh) {
      response.statusCode = 304;
      for (const name of BODY_HEADERS) response.removeHeader(name);
    }
    if (fresh || method === 'HEAD') response.end();
    else sendBytes(response, bytes);
  }
}

/** The tag that Express would set. */
function tagOf({ app }: Response, bytes: JsonBytes): string | null {
  const setting: unknown = app.get('etag');
  if (!setting) return null;
  return `${setting === 'strong' ? '' : 'W/'}"${bytes.length.toString(16)}-${bytes.digest().slice(0, ETAG_DIGITS)}"`;
}

function sendBytes(response: Response, bytes: JsonBytes): void {
  countUnsent(response, bytes);
  // Node ends the connection then, unless the application listens for it. Between answers other limits hold.
  response.setTimeout(PATIENCE);
  for (const piece of bytes.pieces) response.write(piece);
  response.end();
}

/** What ends with a connection: an answer behind others does not hear of its end. One listener for any number of answers. */
const untilClosed = new WeakMap<Socket, Set<() => void>>();

function countUnsent(response: Response, bytes: JsonBytes): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  const waiting = untilClosed.get(socket) ?? watch(socket);
  const end = bytes.send();
  waiting.add(end);
  response.once('close', () => {
    if (waiting.delete(end)) end();
  });
}

function watch(socket: Socket): Set<() => void> {
  const waiting = new Set<() => void>();
  untilClosed.set(socket, waiting);
  socket.once('close', () => {
    for (const end of waiting) end();
    waiting.clear();
  });
  return waiting;
}
