/** Serves an application on a port, until it is told to stop. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartProblem } from '../support/start-problem.js';

/** A server that listens. Disposing it lets the requests that run finish. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
}

const DEFAULT_PORT = 3000;
const CLOSE_DEADLINE = 5_000;

/** The port of the environment variable PORT. */
export function choosePort(): number {
  const { PORT = String(DEFAULT_PORT) } = process.env;
  const port = Number(PORT);
  if (/^\d+$/.test(PORT) && port < 65_536) return port;
  throw new StartProblem(`PORT is '${PORT}'. Set it to a number from 0 to 65535.`);
}

/**
 * Finds out early whether the port can be had.
 *
 * @throws StartProblem when it is taken
 */
export async function checkPort(port: number): Promise<void> {
  await using _ = await listen(() => {}, port);
}

/**
 * Listens on the port; 0 takes any free one.
 *
 * @throws StartProblem when it is taken
 */
export async function listen(handler: RequestListener, port: number): Promise<Listening> {
  const server = createServer(handler).listen(port);
  await once(server, 'listening').catch((error: unknown) => {
    throw explain(error, port);
  });
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://localhost:${actual}`, [Symbol.asyncDispose]: () => close(server) };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A client that keeps a connection busy must not keep the process.
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_DEADLINE);
  await closed;
  clearTimeout(timer);
}

function explain(error: unknown, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const another = `Choose another one: PORT=${port + 1} npm start`;
  if (code === 'EADDRINUSE') return new StartProblem(`Port ${port} is taken. ${another}`);
  if (code === 'EACCES') return new StartProblem(`Port ${port} needs more rights than you have. ${another}`);
  return error;
}
