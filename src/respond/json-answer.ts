/** An answer whose JSON text is ready: the same headers and bytes as `response.json()`, in one write. */
import { hash } from 'node:crypto';
import express, { type Response } from 'express';
import { headerName, setKnownHeader } from '../request/node-internals.js';

/** Express's own, before anybody's middleware puts another in its place. */
const { json: ownJson, send: ownSend } = express.response;

/** Settings of an application that change the text of `response.json()`. */
const JSON_SETTINGS = ['json spaces', 'json replacer', 'json escape'];

/** A text of fewer characters is copied into one piece with the headers, which is cheaper than a piece of its own. */
const SHORT = 2_000;
/** A longer one would be copied within V8's heap. */
const LONG = 256 * 1024;

/** Characters of the tag that `etag` computes from a SHA-1 in base64, without the padding. */
const ETAG_DIGITS = 27;

const CONTENT_TYPE = headerName('Content-Type');
const CONTENT_LENGTH = headerName('Content-Length');
const ETAG = headerName('ETag');

/** Headers that Express removes from an answer without a body. */
const BODY_HEADERS = ['Content-Type', 'Content-Length', 'Transfer-Encoding'];

/** True where Express's own `json` and `send` write the answer, and no setting of the application changes its JSON. */
export function writesPlainJson(response: Response): boolean {
  if (!hasOwnJson(response)) return false;
  const settings: Readonly<Record<string, unknown>> = response.app.settings;
  for (const name of JSON_SETTINGS) if (settings[name]) return false;
  return true;
}

/** True where nothing has taken the place of Express's own `json` and `send`. */
export function hasOwnJson({ json, send }: Response): boolean {
  return json === ownJson && send === ownSend;
}

/**
 * Throws where a value cannot be written as JSON, before anything is sent: for a ring, a BigInt, or a `toJSON` that throws.
 * Another `response.json` than Express's may write another text.
 */
export function checkJson(value: unknown, response: Response): void {
  if (response.json !== ownJson || isBytesOrStream(value)) return;
  JSON.stringify(value, jsonReplacer(response));
}

/** A function of the user's that takes part in writing JSON. */
export function jsonReplacer({ app }: Response): JsonReplacer | undefined {
  return app.get('json replacer');
}

type JsonReplacer = (name: string, value: unknown) => unknown;

/** True for values that are sent unchanged: bytes, streams and the answers of the fast path. */
export function isBytesOrStream(value: unknown): boolean {
  return (
    value instanceof Uint8Array ||
    typeof (value as { pipe?: unknown } | null | undefined)?.pipe === 'function'
  );
}

/**
 * An answer; an empty text is one without a body. routing-controllers sets its status, hands the response to a value with a `pipe` method, and does not go on to
 * other routes afterwards.
 */
export class JsonAnswer {
  /**
   * @param status null is the response's own
   * @param isTagged true where Express's tag of the bytes is set
   * @param next called when it is written
   */
  constructor(
    private readonly text: string,
    private readonly status: number | null,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly isTagged: boolean,
    private readonly next?: () => void,
  ) {}

  pipe(response: Response): void {
    this.#write(response);
    this.next?.();
  }

  #write(response: Response): void {
    if (this.status !== null) response.statusCode = this.status;
    const { 'Content-Type': type } = this.headers;
    const isOrdinary = this.text !== '' && type === undefined && isUsual(response);
    for (const name in this.headers) response.setHeader(name, this.headers[name] as string);
    if (this.text === '') {
      for (const name of BODY_HEADERS) if (type === undefined) response.removeHeader(name);
      response.end();
      return;
    }
    if (!isOrdinary) {
      if (!this.isTagged) leaveTagOut(response);
      // Express sends the less usual answers, with the same result.
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      response.send(this.text);
      return;
    }
    const { text } = this;
    const length = Buffer.byteLength(text);
    // ASCII is the same in both encodings, and one of them has nothing to encode.
    const isAscii = length === text.length;
    const body = length < (isAscii ? LONG : SHORT) ? text : Buffer.from(text);
    setKnownHeader(response, CONTENT_TYPE, 'application/json; charset=utf-8');
    setKnownHeader(response, CONTENT_LENGTH, length);
    if (this.isTagged && this.headers['ETag'] === undefined) setTag(response, body, length);
    response.end(body, isAscii ? 'latin1' : 'utf8');
  }
}

/** Keeps Express from making a tag of the bytes: the answer is the state of no resource. */
export function leaveTagOut(response: Response): void {
  const { writeHead } = response;
  response.writeHead = (...args: unknown[]) => {
    response.removeHeader('ETag');
    return Reflect.apply(writeHead, response, args);
  };
}

/** The tag that Express would set. Its own function for the default, weak ones makes a hash object for each answer. */
function setTag(response: Response, body: string | Buffer, length: number): void {
  const { app } = response;
  if (app.get('etag') === 'weak') {
    const digest = hash('sha1', body, 'base64').slice(0, ETAG_DIGITS);
    setKnownHeader(response, ETAG, `W/"${length.toString(16)}-${digest}"`);
    return;
  }
  const tag: string | undefined = app.get('etag fn')?.(body, 'utf8');
  if (tag) response.setHeader('ETag', tag);
}

/** True where a request always has an answer with a body, and the response has only headers of Express. */
function isUsual(response: Response): boolean {
  const { headers, method } = response.req;
  const isConditional = headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
  return !isConditional && method !== 'HEAD' && hasUsualHeaders(response);
}

/** True where Express's own code computes the headers of the body. */
function hasUsualHeaders(response: Response): boolean {
  // A function of the user's gets bytes.
  const hasOwnTag = typeof response.app.get('etag') === 'function';
  return (
    !hasOwnTag &&
    response.statusCode < 204 &&
    // In small letters, as Node keeps names: it converts others each time.
    !response.hasHeader('content-type') &&
    !response.hasHeader('etag')
  );
}
