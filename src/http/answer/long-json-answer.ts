/** An answer of many bytes, in pieces that nothing copies. They are counted until the client has taken them, or is gone. */
import type { Response } from 'express';
import type { JsonBytes } from '../../response/json-bytes.js';
import { ETAG_DIGITS, isUsual, JsonAnswer } from './json-answer.js';

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
    // The default is weak tags.
    if (!isUsual(response) || response.app.get('etag') !== 'weak') {
      new JsonAnswer(String(bytes), status, headers, true).pipe(response);
      return;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', bytes.length);
    response.setHeader('ETag', `W/"${bytes.length.toString(16)}-${bytes.digest().slice(0, ETAG_DIGITS)}"`);
    for (const name in headers) response.setHeader(name, headers[name] as string);
    countUnsent(response, bytes);
    for (const piece of bytes.pieces) response.write(piece);
    response.end();
  }
}

function countUnsent(response: Response, bytes: JsonBytes): void {
  const { socket } = response.req;
  if (socket.destroyed) return;
  const end = bytes.send();
  const over = () => {
    response.off('close', over);
    socket.off('close', over);
    end();
  };
  response.once('close', over);
  // An answer behind others on the connection does not hear of its end.
  socket.once('close', over);
}
