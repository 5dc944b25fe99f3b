/** An answer whose JSON text is ready: the same headers and bytes as `response.json()`, in one write. */
import express, { type Response } from 'express';

/** Express's own, before anybody's middleware puts another in its place. */
const { json: ownJson, send: ownSend } = express.response;

/** Settings of an application that change what `response.json()` writes. */
const JSON_SETTINGS = ['json spaces', 'json replacer', 'json escape'];

/** A text of fewer characters is copied into one piece with the headers, which is cheaper than a piece of its own. */
const SHORT = 2_000;

/** Whether nothing of the user's stands between `response.json()` and the socket that would see a value. */
export function writesPlainJson(response: Response): boolean {
  if (response.json !== ownJson || response.send !== ownSend) return false;
  const { settings } = response.app as unknown as { settings: Readonly<Record<string, unknown>> };
  for (const name of JSON_SETTINGS) if (settings[name]) return false;
  return true;
}

/**
 * An answer. routing-controllers hands the response to what has a `pipe` method, and does not go on to other routes
 * afterwards.
 */
export class JsonAnswer {
  readonly #status: number;
  readonly #text: string;
  readonly #location: string | undefined;

  /** @param location the address of what was created */
  constructor(status: number, text: string, location?: string) {
    this.#status = status;
    this.#text = text;
    this.#location = location;
  }

  pipe(response: Response): void {
    response.statusCode = this.#status;
    if (this.#location !== undefined) response.setHeader('Location', this.#location);
    const { headers, method } = response.req;
    const isConditional =
      headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
    if (
      isConditional ||
      method === 'HEAD' ||
      response.hasHeader('Content-Type') ||
      response.hasHeader('ETag')
    ) {
      // What is less usual is Express's to do, which does it no differently.
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      response.send(this.#text);
      return;
    }
    const body = this.#text.length < SHORT ? this.#text : Buffer.from(this.#text);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    const etag: unknown = response.app.get('etag fn')?.(body, 'utf8');
    if (typeof etag === 'string' && etag !== '') response.setHeader('ETag', etag);
    response.end(body);
  }
}

/** An answer without a body. */
export class EmptyAnswer {
  pipe(response: Response): void {
    response.statusCode = 204;
    response.end();
  }
}
