/** A server of a command alone: it answers on a free port of this machine, as the application answers its clients. */
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  request,
} from 'node:http';
import { type AddressInfo, Server } from 'node:net';

/** Sends a request whose body the caller writes and ends. */
export type Send = (method: string, path: string, headers: OutgoingHttpHeaders) => ClientRequest;

/** Listens, and passes on a function that sends requests. Whatever happens, nothing listens behind it. */
export async function withServer<T>(app: RequestListener, use: (send: Send) => Promise<T>): Promise<T> {
  // A file on a pipe may take its time.
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, (request, response) => {
    closeBehindBody(request);
    app(request, response);
  });
  // The `listen` of HTTP servers of this process does nothing.
  const { listen }: { listen(port: number, host: string): unknown } = Server.prototype;
  Reflect.apply(listen, server, [0, '127.0.0.1']);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await use((method, path, headers) =>
      request({ host: '127.0.0.1', port, method, path, headers, agent: false }),
    );
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** A connection that closes while a file is on its way loses the answer, too: it closes behind the file. */
function closeBehindBody(request: IncomingMessage): void {
  const { socket } = request;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    if (request.complete) destroySoon.call(socket);
    else request.once('end', () => destroySoon.call(socket)).resume();
  };
}

/** The answer to a request, also where it came before all of the body was sent. */
export function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Behind the answer it says that the rest of the body found no reader.
    sent.on('error', reject);
  });
}
