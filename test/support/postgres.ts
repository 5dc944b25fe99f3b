/** A real PostgreSQL for the tests: one server for the process, and a database for every test file that needs one. */
import { randomBytes } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';
import { startPostgresServer } from '../../sample/support/postgres-server.js';
import { copyCluster } from './copied-cluster.js';
import { createDataFolder } from './temporary-folder.js';

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
let connection: Promise<Client> | undefined;
const databases = new Set<string>();

/** Starts the server, or returns the one that runs; DATABASE_URL is used instead when it is set. */
export function startPostgres(): Promise<TestServer> {
  const { DATABASE_URL } = process.env;
  server ??= DATABASE_URL ? Promise.resolve({ url: DATABASE_URL, stop: disconnect }) : startOwnServer();
  return server;
}

/** The one connection of this process for the work around its tests: a new one costs more than most statements. */
export function administer(): Promise<Client> {
  connection ??= connect();
  return connection;
}

/** Creates a database with a name of its own. */
export async function freshDatabase(label = 'test'): Promise<TestDatabase & AsyncDisposable> {
  const { url: adminUrl } = await startPostgres();
  const client = await administer();
  const name = `${label}_${randomBytes(6).toString('hex')}`;
  await client.query(`CREATE DATABASE "${name}" ${await strategy(client)}`);
  databases.add(name);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const drop = async () => {
    await client.query(`DROP DATABASE "${name}" WITH (FORCE)`);
    databases.delete(name);
  };
  return { url: url.href, drop, [Symbol.asyncDispose]: drop };
}

/** The databases that this process has created: other runs may use the same server. */
export function ownDatabases(): readonly string[] {
  return [...databases];
}

/** Ends the connection before its server does, which would be an unhandled error. */
async function disconnect(): Promise<void> {
  await (await connection)?.end();
}

async function connect(): Promise<Client> {
  return connectTo((await startPostgres()).url);
}

/** Copied files cost half as much as their pages in the log. PostgreSQL before 15 always copies, and has no keyword for it. */
async function strategy(client: Client): Promise<string> {
  const { rows } = await client.query("SELECT current_setting('server_version_num')::int >= 150000 AS known");
  return rows[0].known ? 'STRATEGY FILE_COPY' : '';
}

async function startOwnServer(): Promise<TestServer> {
  const folder = await createDataFolder('postgres');
  const password = await copyCluster(folder.path);
  // The data is thrown away, so nothing needs to reach the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const options = { folder: folder.path, password, settings, exitSignal: 'SIGQUIT' } as const;
  const postgres = await startPostgresServer(options);
  return {
    url: postgres.url('postgres'),
    async stop() {
      await disconnect();
      await postgres.stop();
      folder.remove();
    },
  };
}

/** A connection of its own to a database. */
export async function connectTo(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Sends one statement, or several, on a connection of its own. @returns the rows of all */
export async function execute<R extends QueryResultRow>(url: string, statement: string): Promise<R[]> {
  await using client = await connectTo(url);
  return [await client.query<R>(statement)].flat().flatMap(({ rows }) => rows);
}
