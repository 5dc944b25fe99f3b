/** Undocumented parts of Node that the server uses: counts of bytes that wait, and the queue of connections. */
import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { missingFrom, withFields } from '../../util/missing-internal.js';

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

/** A server, as far as the system has a queue of connections for it. */
interface QueueingServer {
  readonly _handle?: { listen?(backlog: number): number } | null;
}

/**
 * Has the system accept no connections beside those that wait already, but for one: it leaves others without an answer. They
 * are refused, or accepted elsewhere, when they are tried again. Nothing happens where Node has no such handle.
 */
export function narrowQueue(server: Server): void {
  (server as unknown as QueueingServer)._handle?.listen?.(0);
}
