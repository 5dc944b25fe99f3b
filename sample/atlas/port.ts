/** The port that the atlas listens on. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartProblem } from '../support/start-problem.js';

const DEFAULT_PORT = 3000;

/** The port of the environment variable PORT. */
export function choosePort(): number {
  const { PORT = String(DEFAULT_PORT) } = process.env;
  const port = Number(PORT);
  if (/^\d+$/.test(PORT) && port < 65_536) return port;
  throw new StartProblem(`PORT is '${PORT}'. Set it to a number from 0 to 65535.`);
}

/**
 * Checks that the port is free, before a database is started.
 *
 * @throws StartProblem when it is taken
 */
export async function checkPort(port: number): Promise<void> {
  const server = createServer().listen(port);
  await once(server, 'listening').catch((error: unknown) => {
    throw explain(error, port);
  });
  server.close();
  await once(server, 'close');
}

function explain(error: unknown, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const another = `Choose another one: PORT=${port + 1} npm start`;
  if (code === 'EADDRINUSE') return new StartProblem(`Port ${port} is taken. ${another}`);
  if (code === 'EACCES') return new StartProblem(`Port ${port} needs more rights than you have. ${another}`);
  return error;
}
