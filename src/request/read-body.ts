/** The JSON body of a request. Nothing of a body that is refused is read further, and no message quotes it. */
import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request } from 'express';
import getRawBody from 'raw-body';
import { isStructured } from '../schema/json-value.js';
import { BodyError } from '../schema/request-issue.js';
import { type Maybe, then } from '../util/promises.js';

/** Limits of a body. */
export interface BodyLimits {
  /** Bytes, as they are sent and after decompression. Undefined for the default, which holds for no body that a parser of the application has read. */
  readonly limit: number | undefined;
  readonly mediaTypes: readonly string[];
  /** Properties because of which there are no more types. */
  readonly unmerged?: readonly string[];
}

/** Bytes of a body, where the application has no limit of its own. */
export const DEFAULT_LIMIT = 100 * 1024;

/** Nesting beyond this is refused: recursion over a deeper value could exhaust the stack. */
const MAX_DEPTH = 32;

const MEDIA_TYPE = /^\s*([^\s;]+)\s*(?:;(.*))?$/;
const CHARSET = /(?:^|;)\s*charset\s*=\s*"?([^\s;"]+)"?/i;

/**
 * Reads and parses the body, at once where it has come whole. A body that the application's own `express.json()` has parsed already is
 * taken as it is, within a limit that the application has set.
 *
 * @throws Error for a body that an earlier middleware has read and kept for itself
 * @throws BodyError 400 for a body that is not JSON in UTF-8 or whose client has gone, 413 for too much, 415 for another media type or encoding
 */
export function readBody(request: ReadRequest, limits: BodyLimits): Maybe<unknown> {
  if (!hasBody(request)) throw missingBody();
  if (isCutOff(request)) throw unreadableBody();
  checkMediaType(request, limits);
  const { limit = DEFAULT_LIMIT } = limits;
  if (isKept(request) && Number(request.headers['content-length']) > limit) throw tooLarge(limit);
  if (isRead(request)) {
    checkReadLength(request, limits.limit);
    return refuseDepth(takeReadBody(request));
  }
  return then(readText(request, limit), (text) => {
    request[TEXT] = text;
    return refuseDepth(parseJson(text));
  });
}

/** The error of a request without a body. */
export function missingBody(mend = 'send a JSON object'): BodyError {
  return new BodyError(400, 'missing', `The request has no body; ${mend}.`);
}

/** Returns a body. @throws BodyError 400 for one so deep that code that walks through it may have no stack */
export function refuseDepth(body: unknown): unknown {
  if (!isDeeper(body, MAX_DEPTH)) return body;
  throw new BodyError(400, 'tooDeep', `The body is nested more than ${MAX_DEPTH} levels deep.`);
}

const TEXT = Symbol('text of the body');

/** A property, as the resource of a request is. */
interface ReadRequest extends Request {
  [TEXT]?: string;
}

/** The text of a body that was read; of one that an earlier middleware has parsed, its JSON. Empty where there is none. */
export function sentBody(request: ReadRequest): string {
  const { body } = request;
  const text = request[TEXT] ?? (Buffer.isBuffer(body) ? body.toString() : body);
  return typeof text === 'string' ? text : (JSON.stringify(text) ?? '');
}

/** RFC 9112, 6.3: a request has a body when it says how long it is, or that it comes in chunks. */
export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * True where the client has gone before its body was read. A middleware may have left a placeholder in `request.body`, which is
 * not the body that was sent.
 */
export function isCutOff(request: Request): boolean {
  return !request.readable && request.readableAborted && hasBody(request);
}

/** Read from the stream: body-parser 1 marks a request that it has read, and body-parser 2 does not. */
export function isRead(request: Request): boolean {
  return request.readableDidRead || request.readableEnded || isKept(request);
}

/**
 * True where the body is in `request.body` as it was sent, although nothing has read the stream. `@codegenie/serverless-express` closes
 * the stream as soon as it has called the application.
 */
export function isKept(request: Request): boolean {
  // The body is read last: to others it is a getter, which parses it.
  if (request.readable || request.readableDidRead || request.readableEnded) return false;
  return !request.readableAborted && request.body !== undefined;
}

/**
 * Checks a body that a parser of the application has read: the length that was announced, and that of a text or of bytes. One that was
 * parsed has no other length.
 *
 * @throws BodyError 413
 */
export function checkReadLength(request: Request, limit: number | undefined): void {
  if (limit === undefined) return;
  const { headers, body } = request;
  const length = typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : 0;
  if (length > limit || Number(headers['content-length']) > limit) throw tooLarge(limit);
}

/** Takes the body that `express.json()` parsed, or that `express.text()` or `express.raw()` kept. */
function takeReadBody({ body }: Request): unknown {
  if (body === undefined) {
    throw new Error('An earlier middleware has read the body of the request and left no request.body.');
  }
  if (typeof body === 'string') return parseJson(body);
  return Buffer.isBuffer(body) ? parseJson(decode(body)) : body;
}

/** @throws BodyError 415 for another media type or charset */
export function checkMediaType(
  { headers }: Pick<Request, 'headers'>,
  { mediaTypes, unmerged = [] }: Omit<BodyLimits, 'limit'>,
): void {
  const contentType = headers['content-type'] ?? '';
  if (mediaTypes.includes(contentType)) return;
  const [, type = '', parameters = ''] = MEDIA_TYPE.exec(contentType) ?? [];
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!mediaTypes.includes(type.toLowerCase())) {
    const reason = unmerged.length > 0 ? `, because ${unmerged.join(', ')} cannot be merged` : '';
    throw new BodyError(415, 'mediaType', `The Content-Type must be ${mediaTypes.join(' or ')}${reason}.`);
  }
  if (charset !== 'utf-8' && charset !== 'utf8') {
    throw new BodyError(415, 'charset', 'The body must be in UTF-8 (RFC 8259, section 8.1).');
  }
}

function readText(request: Request, limit: number): Maybe<string> {
  const length = request.headers['content-length'];
  if (Number(length ?? 0) > limit) throw tooLarge(limit);
  const stream = decompress(request, limit);
  const arrived = stream === request ? takeArrived(request) : null;
  return arrived ? decode(arrived) : readStream(request, stream, limit);
}

async function readStream(request: Request, stream: Readable, limit: number): Promise<string> {
  const length = request.headers['content-length'];
  const isPlain = stream === request;
  const whole = { limit, ...(isPlain && length !== undefined ? { length } : {}) };
  try {
    return decode(await getRawBody(stream, whole));
  } catch (error) {
    throw readError(error, limit);
  } finally {
    // Bytes behind a compressed body are thrown away, as Node does for a body that nothing reads.
    if (!isPlain) request.unpipe().resume();
  }
}

/** A small body mostly comes with the head of its request: taking it is cheaper than waiting for its events. */
function takeArrived(request: Request): Buffer | null {
  const { headers, readableLength, readableEncoding } = request;
  const isWhole =
    readableLength === Number(headers['content-length']) && headers['transfer-encoding'] === undefined;
  if (!isWhole || readableEncoding !== null) return null;
  // By its length: since Node 26 `read` without one returns the first chunk alone.
  const bytes: Buffer | null = request.read(readableLength);
  // Other code may wait for the end of the request.
  request.resume();
  return bytes;
}

/** Mark that a parser may ignore at the beginning (RFC 8259, section 8.1). */
const BYTE_ORDER_MARK = '\ufeff';

function decode(bytes: Buffer): string {
  // `toString` would replace invalid bytes.
  if (!isUtf8(bytes)) throw new BodyError(400, 'encoding', 'The body is not valid UTF-8.');
  const text = bytes.toString();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The body as it was before it was compressed. The limit holds for the sent bytes, too: bytes may inflate to nothing without end. */
export function decompress(request: Request, limit: number): Readable {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const decompressor = DECOMPRESSORS.get(encoding)?.();
  if (!decompressor) {
    throw new BodyError(415, 'encoding', 'The Content-Encoding must be gzip, deflate, br or identity.');
  }
  // Readers have listeners of their own until the body has ended. Without this one, bytes behind it could end the process.
  decompressor.on('error', () => {});
  // An aborted request must end the reading of its decompressed form too.
  request.once('aborted', () => decompressor.destroy(new Error('request aborted')));
  let sent = 0;
  request.on('data', ({ length }: Buffer) => {
    sent += length;
    if (sent > limit) decompressor.destroy(tooLarge(limit));
  });
  return request.pipe(decompressor);
}

/** The error of a body that could not be read to its end. */
export function readError(error: unknown, limit: number): BodyError {
  if (error instanceof BodyError) return error;
  return (error as { type?: string }).type === 'entity.too.large' ? tooLarge(limit) : unreadableBody();
}

/** The error of a body that has not arrived whole. */
export function unreadableBody(): BodyError {
  return new BodyError(
    400,
    'unreadable',
    'The body could not be read; it is incomplete or not encoded as announced.',
  );
}

function tooLarge(limit: number): BodyError {
  return new BodyError(413, 'tooLarge', `The body is larger than ${limit} bytes.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's own message quotes the body.
    throw new BodyError(400, 'malformed', 'The body is not valid JSON.');
  }
}

/** Recursion no deeper than the limit, because the value may be as deep as an attacker likes. */
function isDeeper(value: unknown, levels: number): boolean {
  if (!isStructured(value)) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (isDeeper(member, levels - 1)) return true;
  return false;
}
