/**
 * A real ClickHouse for the tests: its engine, from the package `chdb`, behind the part of its HTTP interface that clients
 * need; or the server of CLICKHOUSE_URL. The engine is a large library, loaded only when the first server is started.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Session } from 'chdb';
import { createTemporaryFolder } from './temporary-folder.js';

/** A running ClickHouse. */
export interface ClickHouseServer extends AsyncDisposable {
  /** With its credentials. */
  readonly url: string;
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** Codes of https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const AUTHENTICATION_FAILED = 516;
const UNKNOWN_EXCEPTION = 1002;

/** Starts a server with one user. A process can have one at a time. */
export async function startClickHouse(): Promise<ClickHouseServer> {
  const { CLICKHOUSE_URL } = process.env;
  if (CLICKHOUSE_URL) return { url: CLICKHOUSE_URL, [Symbol.asyncDispose]: async () => {} };
  const { Session, drainPending } = await import('chdb');
  const folder = await createTemporaryFolder('clickhouse');
  const session = new Session(folder.path);
  const credentials = { user: 'reporter', password: randomBytes(18).toString('base64url') };
  const server = createServer((request, response) => void answer(request, response, session, credentials));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${credentials.user}:${credentials.password}@127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      session.close();
      await drainPending();
      folder.remove();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  session: Session,
  credentials: Credentials,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  // As in the server itself, this needs no credentials.
  if (url.pathname === '/ping') return void response.end('Ok.\n');
  const { user, password } = credentialsOf(request);
  if (user !== credentials.user || password !== credentials.password) {
    const reason = 'Authentication failed: password is incorrect, or there is no user with such name.';
    return fail(response, AUTHENTICATION_FAILED, `${user}: ${reason} (AUTHENTICATION_FAILED)`);
  }
  const query = [url.searchParams.get('query') ?? '', await text(request)].filter(Boolean).join('\n');
  const format = url.searchParams.get('default_format') ?? 'TabSeparated';
  try {
    const result = await session.queryAsync(query, { format });
    response.setHeader('X-ClickHouse-Format', format);
    response.end(result.bytes());
  } catch (error) {
    const { clickhouseCode, message } = error as { clickhouseCode?: number; message: string };
    fail(response, clickhouseCode ?? UNKNOWN_EXCEPTION, message.replace(/^Code: \d+\. DB::Exception: /, ''));
  }
}

/** Credentials as the client sends them: https://clickhouse.com/docs/interfaces/http */
function credentialsOf({ headers: { authorization = '' } }: IncomingMessage): Credentials {
  const [user = '', ...password] = Buffer.from(authorization.slice(6), 'base64').toString().split(':');
  return { user, password: password.join(':') };
}

function fail(response: ServerResponse, code: number, message: string): void {
  response.statusCode = code === AUTHENTICATION_FAILED ? 403 : 500;
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`Code: ${code}. DB::Exception: ${message}\n`);
}
