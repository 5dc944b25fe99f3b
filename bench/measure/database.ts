/** The PostgreSQL of a run: one of its own with everything in memory, or that of BENCH_DATABASE_URL. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { dataFolder, startPostgresServer } from '../../sample/support/postgres-server.js';
import { readPostmaster } from '../../sample/support/postmaster-file.js';
import { StartProblem } from '../../sample/support/start-problem.js';
import { Authority } from '../../test/support/certificates.js';
import { createTemporaryFolder } from '../../test/support/temporary-folder.js';
import { processorTimeOfFamily } from './processor-time.js';
import { providePostgres } from './runtimes.js';

/** A server to measure on. Disposing it stops it, and deletes what it held. */
export interface Server extends AsyncDisposable {
  /**
   * Creates a database, and fills it.
   *
   * @param rows of the table that is written to
   * @param restoring statements that restore it where added rows are not the only change
   */
  create(statements: readonly string[], rows: number, restoring?: readonly string[]): Promise<Database>;
}

/** Microseconds, of all processes of a server; null where they are not of this machine. */
type Clock = () => number | null;

/** The settings that differ from PostgreSQL's own; the report names them. */
export const SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '1GB',
  max_connections: '500',
  // The disk is not measured.
  synchronous_commit: 'off',
  fsync: 'off',
  // Nothing may happen in the background while somebody is measured.
  autovacuum: 'off',
  checkpoint_timeout: '1h',
  max_wal_size: '16GB',
};

/** Milliseconds that statements may go on after the load. */
const QUIET_DEADLINE = 120_000;

/**
 * Starts it.
 *
 * @param version the major one. Default: that of the development packages
 */
export async function startServer(version?: string): Promise<Server> {
  const { BENCH_DATABASE_URL } = process.env;
  return BENCH_DATABASE_URL ? useServer(BENCH_DATABASE_URL) : startOwnServer(version);
}

async function startOwnServer(version: string | undefined): Promise<Server> {
  const folder = await createTemporaryFolder('bench');
  const password = randomBytes(18).toString('base64url');
  const authority = await Authority.create();
  const { cert, key } = await authority.sign('bench', ['IP:127.0.0.1']);
  const server = await startPostgresServer({
    folder: folder.path,
    password,
    // TLS is only used by clients that request it.
    settings: { ...SETTINGS, ssl: 'on', ssl_cert_file: cert, ssl_key_file: key },
    exitSignal: 'SIGQUIT',
    ...(version ? { binaries: await providePostgres(version) } : {}),
  });
  const { pid } = (await readPostmaster(dataFolder(folder.path))) ?? {};
  return serverOf(
    server.url('postgres'),
    () => (pid ? processorTimeOfFamily(pid) : null),
    async () => {
      await server.stop();
      folder.remove();
      authority.remove();
    },
  );
}

function useServer(url: string): Server {
  return serverOf(
    url,
    () => null,
    async () => {},
  );
}

function serverOf(url: string, processorTime: Clock, stop: () => Promise<void>): Server {
  const databases: Database[] = [];
  return {
    async create(statements, rows, restoring = []) {
      const database = await createDatabase(url, processorTime, statements, rows, restoring);
      databases.push(database);
      return database;
    },
    async [Symbol.asyncDispose]() {
      for (const database of databases) await database.drop();
      await stop();
    },
  };
}

async function createDatabase(
  adminUrl: string,
  clock: Clock,
  statements: readonly string[],
  rows: number,
  restoring: readonly string[],
): Promise<Database> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  const admin = await connect(adminUrl);
  await admin.query(`CREATE DATABASE ${name}`).finally(() => admin.end());
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const client = await connect(url.href);
  for (const statement of statements) await client.query(statement);
  return new Database(url.href, name, client, adminUrl, clock, rows, restoring);
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  try {
    await client.connect();
  } catch (cause) {
    const { host } = new URL(connectionString);
    throw new StartProblem(`PostgreSQL at ${host} cannot be used: ${(cause as Error).message}.`, { cause });
  }
  return client;
}

/** A database; what is written to it is the table `articles`. */
export class Database {
  readonly url: string;
  readonly rows: number;
  /** Microseconds, of all processes of the server; null where they are not of this machine. */
  readonly processorTime: Clock;
  readonly #name: string;
  readonly #client: Client;
  readonly #adminUrl: string;
  readonly #restoring: readonly string[];

  constructor(
    url: string,
    name: string,
    client: Client,
    adminUrl: string,
    clock: Clock,
    rows: number,
    restoring: readonly string[],
  ) {
    this.url = url;
    this.rows = rows;
    this.processorTime = clock;
    this.#name = name;
    this.#client = client;
    this.#adminUrl = adminUrl;
    this.#restoring = restoring;
  }

  async query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#client.query(text, values);
    return rows as Row[];
  }

  /** The version of the server. */
  async version(): Promise<string> {
    const [row] = await this.query<{ server_version: string }>('SHOW server_version');
    return row?.server_version ?? '';
  }

  /** Deletes added rows, and vacuums what updates left behind. */
  async restore(): Promise<void> {
    await this.query('DELETE FROM articles WHERE id > $1', [this.rows]);
    for (const statement of this.#restoring) await this.query(statement);
    await this.query('VACUUM articles');
  }

  /** Waits until no connection executes a statement. */
  async untilQuiet(): Promise<void> {
    const deadline = Date.now() + QUIET_DEADLINE;
    const text =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()";
    for (let quiet = 0; quiet < 2; ) {
      if (Date.now() > deadline) throw new Error('PostgreSQL is still busy two minutes after the load.');
      quiet = (await this.query(text)).length === 0 ? quiet + 1 : 0;
      await sleep(30);
    }
  }

  async drop(): Promise<void> {
    await this.#client.end();
    const admin = await connect(this.#adminUrl);
    await admin.query(`DROP DATABASE ${this.#name} WITH (FORCE)`).finally(() => admin.end());
  }
}
