/** Headers that every answer of the API has: the id of its request, and defaults where the application has set none of its own. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerName, setKnownHeader } from './node-internals.js';

const REQUEST_ID = headerName('X-Request-Id');

/** Ids that may be written into logs and headers unchanged. */
const VALID = /^[A-Za-z0-9._-]{1,64}$/;

/** Prefix of the process in a request id, before a number. An id identifies a request, and is no secret. */
const PREFIX = randomBytes(9).toString('base64url');
let count = 0;

const ID = Symbol('request id');

/** A property, not a WeakMap: an entry for each request makes most work for the garbage collector. */
interface IdentifiedRequest extends IncomingMessage {
  [ID]?: string;
}

/**
 * The id of a request, by which its lines in the log and the client's own are found. It is a valid `X-Request-Id` of the request, or a
 * new id.
 */
export function requestId(request: IncomingMessage): string {
  const identified = request as IdentifiedRequest;
  identified[ID] ??= sentId(request) ?? `${PREFIX}-${(++count).toString(36)}`;
  return identified[ID];
}

/** Answers with the id. Where a middleware has done so before, its id is that of the request. */
export function sendRequestId(request: IncomingMessage, response: ServerResponse): void {
  if ((request as IdentifiedRequest)[ID] !== undefined && response.hasHeader(REQUEST_ID.kept)) return;
  const given = response.getHeader(REQUEST_ID.kept);
  if (typeof given === 'string' && VALID.test(given)) (request as IdentifiedRequest)[ID] = given;
  else setKnownHeader(response, REQUEST_ID, requestId(request));
}

/** Several headers are joined by commas, which no id has. */
function sentId({ headers }: IncomingMessage): string | undefined {
  const sent = headers[REQUEST_ID.kept];
  return typeof sent === 'string' && VALID.test(sent) ? sent : undefined;
}

/** An answer is JSON whatever a browser makes of its bytes, and its rows are for one client alone. */
export const DEFAULT_HEADERS = Object.freeze({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
});

/**
 * The headers of answers that scripts of other origins can read only where CORS allows it, for `exposedHeaders` of the package
 * `cors`.
 *
 * @example
 * ```ts
 * app.use(cors({ origin: 'https://app.example.org', exposedHeaders: [...EXPOSED_HEADERS] }));
 * ```
 */
export const EXPOSED_HEADERS: readonly string[] = Object.freeze([
  'ETag',
  'Location',
  'Retry-After',
  'Idempotent-Replayed',
  'Preference-Applied',
  'X-Request-Id',
  'Server-Timing',
  'Content-Disposition',
  'Crud-Total',
]);

const HEADERS = Object.entries(DEFAULT_HEADERS).map(([name, value]) => ({ name: headerName(name), value }));

/** Sets those that are missing; to be called when the application's own code has had its turn. */
export function setDefaultHeaders(response: ServerResponse): void {
  for (const { name, value } of HEADERS)
    if (!response.hasHeader(name.kept)) setKnownHeader(response, name, value);
}
