/** An answer of many bytes, in pieces that nothing copies. */
import type { Response } from 'express';
import { BODY_HEADERS, ETAG_DIGITS, hasUsualHeaders, JsonAnswer } from './json-answer.js';
import type { JsonBytes } from './json-bytes.js';

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
    else {
      for (const piece of bytes.pieces) response.write(piece);
      response.end();
    }
  }
}

/** The tag that Express would set. */
function tagOf({ app }: Response, bytes: JsonBytes): string | null {
  const setting: unknown = app.get('etag');
  if (!setting) return null;
  return `${setting === 'strong' ? '' : 'W/'}"${bytes.length.toString(16)}-${bytes.digest().slice(0, ETAG_DIGITS)}"`;
}
