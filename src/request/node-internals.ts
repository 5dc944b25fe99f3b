/** Undocumented parts of Node's HTTP: its table of headers, bytes that wait, unsent answers, and the queue of connections. */
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { lazy } from '../util/memo.js';
import { missingFrom, withFields } from '../util/missing-internal.js';

/** A name that Node takes, and the same in small letters, by which it keeps a header. */
export interface HeaderName {
  readonly sent: string;
  readonly kept: string;
}

/** By name in small letters. */
type HeaderTable = Record<string, [sent: string, value: string | number] | undefined>;

type TabledResponse = ServerResponse & Record<symbol, HeaderTable | null | undefined>;

const { setHeader } = ServerResponse.prototype;

/** The symbol of the headers of a response. Null where this Node has another place for them: then `setHeader` is called. */
const TABLE = findTable();

/** The name of a header. */
export function headerName(sent: string): HeaderName {
  return Object.freeze({ sent, kept: sent.toLowerCase() });
}

/**
 * Sets a header whose name and value are valid. `setHeader` checks each letter of both, in every answer anew, so they are
 * written to the place of the headers in a response, as `setHeader` does it.
 */
export function setKnownHeader(
  response: ServerResponse,
  { sent, kept }: HeaderName,
  value: string | number,
): void {
  // A middleware's own `setHeader` receives each header.
  const isNodes = TABLE !== null && response.setHeader === setHeader && !response.headersSent;
  const table = isNodes ? (response as TabledResponse)[TABLE] : null;
  // Node makes the table for the first one.
  if (table) table[kept] = [sent, value];
  else response.setHeader(sent, value);
}

function findTable(): symbol | null {
  const response = new ServerResponse(new IncomingMessage(new Socket())) as TabledResponse;
  response.setHeader('X-Set', 'one');
  const symbol = Object.getOwnPropertySymbols(response).find(
    ({ description }) => description === 'kOutHeaders',
  );
  const table = symbol && response[symbol];
  if (!symbol || !Array.isArray(table?.['x-set'])) return null;
  table['x-put'] = ['X-Put', 2];
  response.writeHead(200);
  const { _header: head } = response as { _header?: unknown };
  const isSent = typeof head === 'string' && head.includes('\r\nX-Set: one\r\nX-Put: 2\r\n');
  return isSent && response.getHeader('X-Put') === 2 ? symbol : null;
}

interface WeighedResponse extends ServerResponse {
  /** Node stops reading a connection while these bytes are many, and goes on when they are few. */
  _onPendingData(bytes: number): void;
}

/** Throws where Node does not count the bytes of a response. */
export function checkResponses(): void {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  withFields(response, 'ServerResponse', '_onPendingData', missingFrom('Node', process.versions.node));
}

/** So many bytes more wait for their turn, or fewer. `serve` has checked that Node counts them. */
export function addPendingBytes(response: ServerResponse, bytes: number): void {
  (response as Partial<WeighedResponse>)._onPendingData?.(bytes);
}

/** A socket, as far as Node's own timeouts read it. That of TLS writes to another one. */
interface HandledSocket {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
  readonly _parent?: HandledSocket | null;
}

/** Bytes that the system has not taken from a socket; without Node's count, those of writes that have not ended. */
export function pendingBytes(socket: Socket): number {
  const { _handle: handle, _parent: parent } = socket as unknown as HandledSocket;
  return (parent?._handle ?? handle)?.writeQueueSize ?? socket.writableLength;
}

/** Responses without a connection, and the writes on each: together many more than clients leave unsent at once. */
const UNSENT_RESPONSES = 20;
const UNSENT_WRITES = 100;

/**
 * Keeps answers in the young generation of the garbage collector, once in a process. Node remembers each write that its connection
 * cannot take, `{ data, encoding, callback }`. When many clients leave at once, most of the first hundred outlive a collection,
 * and V8 allocates such objects in the old generation from then on. It does the same with their `callback`, which `end` binds for
 * every answer, sent or not. An old callback keeps its response and its request until the next full collection, in all requests
 * to come. Here unsent writes die young before, and V8 does not decide anew.
 */
export const keepAnswersYoung = lazy(() => {
  const request = new IncomingMessage(new Socket());
  for (let count = 0; count < UNSENT_RESPONSES; count += 1) {
    const response = new ServerResponse(request);
    for (let writes = 0; writes < UNSENT_WRITES; writes += 1) response.writeContinue();
  }
});

/** A server, as far as the system has a queue of connections for it. */
interface QueueingServer {
  readonly _handle?: { listen?(backlog: number): number } | null;
}

/**
 * Makes the system accept no connections beside the waiting ones, but for one. Other connections get no answer. They are
 * refused, or accepted elsewhere, when they are tried again. Nothing happens where Node has no such handle.
 */
export function narrowQueue(server: Server): void {
  (server as unknown as QueueingServer)._handle?.listen?.(0);
}

/** The parser of a connection, as far as it is in Node's list of requests that must arrive in time. */
interface TimedSocket {
  readonly parser?: { remove?(): void } | null;
}

/** Since Node 24 the method ends the reading of the body, too. */
const CAN_REMOVE = Number(process.versions.node.split('.')[0]) < 24;

/**
 * Takes a request out of the list of those whose whole body must arrive within `requestTimeout`, for code that limits the time of each part
 * of it. The next request of the connection is in the list again. Nothing happens where Node cannot do it: then the whole body has that time.
 */
export function keepReading({ socket }: IncomingMessage): void {
  if (CAN_REMOVE) (socket as unknown as TimedSocket).parser?.remove?.();
}
