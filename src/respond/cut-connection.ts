/** The end of an answer of which a part has been sent, and the rest never will be. */
import type { Response } from 'express';

/**
 * Cuts the connection of an answer. Without chunks and a length (HTTP/1.0, as some proxies speak it) an answer ends with its connection, and only a reset
 * differs from the usual end.
 */
export function cutConnection(response: Response): void {
  const { socket, headersSent, chunkedEncoding } = response;
  const isBounded = chunkedEncoding || response.hasHeader('Content-Length');
  // An answer without a socket waits for others on its connection.
  if (socket && headersSent && !isBounded && response.req.httpVersionMajor === 1) {
    try {
      socket.resetAndDestroy();
      return;
    } catch {
      // TLS has no reset, and its clients expect a notice before the end.
    }
  }
  response.destroy();
}
