/** A real server on a free port, and requests as bytes, for those that no HTTP client would send. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A listening server. */
export interface Listening extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  /** Number of TCP connections so far. */
  readonly connections: () => number;
  /** A connection to it, ready to be written to. */
  connect(): Promise<Socket>;
}

/** An answer, taken apart. Names of headers are in lower case. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Serves an application until it is disposed. */
export async function listen(app: RequestListener): Promise<Listening> {
  const server = createServer(app);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    connections: () => connections,
    async connect() {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

/** Reads until the server closes the connection. A reset after the answer is an end like any other. */
export async function readToEnd(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'close');
  return parseAnswer(Buffer.concat(chunks).toString('utf8'));
}

/** Sends a request as it is, and reads the answer. Its headers should end the connection. */
export async function exchange(
  target: Listening,
  ...parts: readonly (string | Buffer)[]
): Promise<RawAnswer> {
  const socket = await target.connect();
  for (const part of parts) socket.write(part);
  return readToEnd(socket);
}

/** The lines of a request head, with the empty line that ends it. */
export function requestHead(requestLine: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${requestLine} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, Math.max(end, 0)).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: end < 0 ? '' : text.slice(end + 4),
  };
}
