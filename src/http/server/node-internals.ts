/** What the server uses of Node that is not documented: how a response says that bytes wait for their turn. */
import { IncomingMessage, ServerResponse } from 'node:http';
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

/** So many bytes more wait for their turn, or fewer. */
export function addPendingBytes(response: ServerResponse, bytes: number): void {
  (response as WeighedResponse)._onPendingData(bytes);
}
