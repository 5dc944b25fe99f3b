/** A real PostgreSQL for the tests: one server for the process, and a database for every test file that asks. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startPostgresServer } from '../../sample/support/postgres-server.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** The server of this process. */
export interface TestServer {
  /** Connects to a database that always exists, as a user who may create others. */
  readonly url: string;
  stop(): Promise<void>;
}

/** An empty database. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

let server: Promise<TestServer> | undefined;
const databases = new Set<string>();

/** Starts the server, or gives the one that runs; DATABASE_URL is used instead when it is set. */
export function startPostgres(): Promise<TestServer> {
  const { DATABASE_URL } = process.env;
  server ??= DATABASE_URL ? Promise.resolve({ url: DATABASE_URL, stop: async () => {} }) : startOwnServer();
  return server;
}

/** Creates a database with a name that nobody else has. */
export async function freshDatabase(label = 'test'): Promise<TestDatabase> {
  const { url: adminUrl } = await startPostgres();
  const name = `${label}_${randomBytes(6).toString('hex')}`;
  await execute(adminUrl, `CREATE DATABASE "${name}"`);
  databases.add(name);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await execute(adminUrl, `DROP DATABASE "${name}" WITH (FORCE)`);
      databases.delete(name);
    },
  };
}

/** The databases of this process: other runs may use the same server. */
export function ownDatabases(adminUrl: string): readonly string[] {
  return [new URL(adminUrl).pathname.slice(1), ...databases];
}

async function startOwnServer(): Promise<TestServer> {
  const folder = await createTemporaryFolder('postgres');
  const password = randomBytes(18).toString('base64url');
  // The data is thrown away, so nothing needs to reach the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const options = { folder: folder.path, password, settings, exitSignal: 'SIGQUIT' } as const;
  const postgres = await startPostgresServer(options);
  return {
    url: postgres.url('postgres'),
    async stop() {
      await postgres.stop();
      folder.remove();
    },
  };
}

/** Sends one statement, or several, on a connection of its own. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
