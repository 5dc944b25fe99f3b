/**
 * Headers whose names and values are known to be right. `setHeader` looks at each letter of both, in every answer anew, so they are put
 * where Node keeps the headers of a response, as `setHeader` does it.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A name that Node takes, and the same in small letters, by which it keeps a header. */
export interface HeaderName {
  readonly sent: string;
  readonly kept: string;
}

/** By name in small letters. */
type HeaderTable = Record<string, [sent: string, value: string | number] | undefined>;

type TabledResponse = ServerResponse & Record<symbol, HeaderTable | null | undefined>;

const { setHeader } = ServerResponse.prototype;

/** Where Node keeps the headers of a response. Null where this Node does it in another way: then it is asked each time. */
const TABLE = findTable();

/** The name of a header. */
export function headerName(sent: string): HeaderName {
  return Object.freeze({ sent, kept: sent.toLowerCase() });
}

/** Sets a header whose value has no letters that must not be in it. */
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
