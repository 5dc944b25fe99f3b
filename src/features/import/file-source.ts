/** The bytes of the file in a request, as they arrive: decompressed, and each part of them in time. */
import type { Request } from 'express';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { keepReading } from '../../request/node-internals.js';
import { decompress, hasBody, isCutOff, isRead, missingBody, readError } from '../../request/read-body.js';
import { ClientGone } from '../../request/request-sessions.js';
import { tooLarge } from './file-text.js';

/** The file of a request. */
export interface FileSource extends AsyncIterable<Uint8Array> {
  /** Begins to count the time of a part anew. */
  renew(): void;
  /** Counts no time until `renew`: a part is here, and the server works on it. */
  hold(): void;
  /** Called once, when nothing reads on. Bytes that the client still sends are thrown away. */
  end(): void;
}

/**
 * Opens the file of a request.
 *
 * @throws BodyError 400 where there is none, 413 where it says that it is too large, 415 for another encoding
 */
export function openFile(request: Request, maxBytes: number): FileSource {
  if (!hasBody(request)) throw missingBody('send a file, such as one of CSV');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (isCutOff(request)) throw new ClientGone();
  if (isRead(request)) return { ...readAlready(request), renew() {}, hold() {}, end() {} };
  const { requestTimeout = 0 } = serverOf(request);
  if (requestTimeout > 0) keepReading(request);
  const stream = decompress(request, maxBytes);
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  /** Ends the wait for the next bytes. */
  let fail: (error: unknown) => void = () => {};
  const renew = () => {
    clearTimeout(timer);
    if (requestTimeout > 0)
      timer = setTimeout(() => {
        isLate = true;
        fail(tooLate(requestTimeout));
      }, requestTimeout).unref();
  };
  return {
    renew,
    hold: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      if (request.complete) return;
      request.unpipe();
      request.resume();
      if (requestTimeout > 0) {
        const cut = setTimeout(() => request.complete || request.destroy(), requestTimeout).unref();
        request.once('close', () => clearTimeout(cut));
      }
    },
    async *[Symbol.asyncIterator]() {
      renew();
      // Leaving the loop must not end the connection, on which the answer is sent.
      const pieces = stream.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
      for (;;) {
        // Each wait has a promise of its own: one for all of them would hold all bytes that have come.
        const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
          fail = reject;
          if (isLate) reject(tooLate(requestTimeout));
          else pieces.next().then(resolve, reject);
        }).catch((error) => Promise.reject(explain(error, request, maxBytes)));
        if (next.done) return;
        yield next.value;
      }
    },
  };
}

function explain(error: unknown, request: Request, maxBytes: number): unknown {
  if (error instanceof RefusedRequestError) return error;
  return request.readableAborted ? new ClientGone({ cause: error }) : readError(error, maxBytes);
}

/** Limits of the server of a request. An application may be called without one. */
function serverOf({ socket }: Request): { readonly requestTimeout?: number } {
  return (socket as { readonly server?: { readonly requestTimeout?: number } }).server ?? {};
}

/** A body that the application's own `express.text()` or `express.raw()` has read. */
function readAlready({ body }: Request): AsyncIterable<Uint8Array> {
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    throw new Error(
      'An earlier middleware has read the body of the request and left no text of it in request.body.',
    );
  const bytes = Buffer.from(body as string);
  return {
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}

function tooLate(requestTimeout: number): RefusedRequestError {
  return new RefusedRequestError(
    408,
    `The next rows did not arrive within ${requestTimeout} ms; send the file again.`,
  );
}
