/** A server that accepts every connection and never sends a byte, as one does whose process hangs. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A listening server that sends nothing. */
export interface SilentServer extends AsyncDisposable {
  readonly port: number;
  /** Number of connections accepted so far. */
  readonly accepted: () => number;
}

/** Listens on a free port until it is disposed. */
export async function startSilentServer(): Promise<SilentServer> {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    // Without reading, the end of a connection would not be seen.
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
