/** A PostgreSQL server of a test's own, which can crash and come back at the same address. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import {
  dataFolder,
  type PostgresServer,
  startPostgresServer,
} from '../../sample/support/postgres-server.js';
import { isAlive, isGone, readPostmaster } from '../../sample/support/postmaster-file.js';
import { giveToServer } from '../../sample/support/server-account.js';
import { copyCluster, copyData } from './copied-cluster.js';
import { connectTo } from './postgres.js';
import { TcpProxy } from './tcp-proxy.js';
import { createDataFolder, type TemporaryFolder } from './temporary-folder.js';

type Settings = Readonly<Record<string, string>>;

/** Options of each start of the server. */
interface ServerOptions {
  readonly folder: TemporaryFolder;
  readonly password: string;
  readonly settings: Settings;
}

// A crash of the server, which is not one of the machine, loses nothing that was written without being synchronized.
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '60' };

/** Runs until it is disposed. */
export class OwnPostgres implements AsyncDisposable {
  readonly proxy: TcpProxy;
  readonly #options: ServerOptions;
  #server: PostgresServer | null;

  private constructor(options: ServerOptions, server: PostgresServer, proxy: TcpProxy) {
    this.#options = options;
    this.#server = server;
    this.proxy = proxy;
  }

  /** Starts an empty server. */
  static async create(label: string, settings: Settings = {}): Promise<OwnPostgres> {
    const folder = await createDataFolder(label);
    const password = await copyCluster(folder.path);
    return OwnPostgres.#open({ folder, password, settings: { ...SETTINGS, ...settings } });
  }

  /** Starts a hot standby that follows this server. Made without `pg_basebackup`, which not every installation has. */
  async createStandby(label: string, settings: Settings = {}): Promise<OwnPostgres> {
    const folder = await createDataFolder(label);
    const { hostname, port } = new URL(this.url('postgres'));
    await this.#backUp(dataFolder(folder.path));
    const connection = `host=${hostname} port=${port} user=postgres password=${this.#options.password}`;
    const all = { ...SETTINGS, ...settings, primary_conninfo: connection };
    return OwnPostgres.#open({ folder, password: this.#options.password, settings: all });
  }

  static async #open(options: ServerOptions): Promise<OwnPostgres> {
    const server = await run(options);
    return new OwnPostgres(options, server, await TcpProxy.before(server.url('postgres')));
  }

  /** The connection string of a database, by way of the proxy: the same after each start. */
  url(database: string): string {
    return this.proxy.url(`postgres://postgres:${this.#options.password}@127.0.0.1:1/${database}`);
  }

  /** Starts it again. */
  async start(): Promise<void> {
    this.#server = await run(this.#options);
    this.proxy.retarget(portOf(this.#server));
  }

  /** Ends it at once, without a message to its clients, as `pg_ctl stop -m immediate` does. */
  async crash(): Promise<void> {
    const postmaster = await this.#postmaster();
    process.kill(postmaster, 'SIGQUIT');
    if (!(await isGone(postmaster, 5_000))) throw new Error('The server does not end.');
    await this.stop();
  }

  /** Kills all its processes where they are. The next start recovers what was committed. */
  async kill(): Promise<void> {
    const { client, all } = await this.#halt();
    client.on('error', () => {});
    for (const pid of all) signal(pid, 'SIGKILL');
    if (!(await isGone(all[0], 5_000))) throw new Error('The server does not end.');
    await this.stop();
  }

  /** Stops all its processes where they are. @returns a function that lets them go on */
  async freeze(): Promise<() => void> {
    const { client, all } = await this.#halt();
    return () => {
      for (const pid of all) signal(pid, 'SIGCONT');
      void client.end();
    };
  }

  /** Stops all its processes: the postmaster is the first of them. The client was connected before. */
  async #halt(): Promise<{ readonly client: Client; readonly all: readonly [number, ...number[]] }> {
    const client = await connectTo(this.url('postgres'));
    const postmaster = await this.#postmaster();
    // First of all, so that it makes no more of them.
    process.kill(postmaster, 'SIGSTOP');
    const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
    const all = [postmaster, ...rows.map(({ pid }) => pid)] as const;
    for (const pid of all) signal(pid, 'SIGSTOP');
    return { client, all };
  }

  /** Stops the server in order: its sessions end with a message. */
  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    await this.stop();
    this.#options.folder.remove();
  }

  async #postmaster(): Promise<number> {
    const postmaster = await readPostmaster(dataFolder(this.#options.folder.path));
    if (!postmaster) throw new Error('The server does not run.');
    return postmaster.pid;
  }

  /** https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP */
  async #backUp(target: string): Promise<void> {
    await using client = await connectTo(this.url('postgres'));
    const { rows: server } = await client.query(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    const [start, stop] =
      server[0].version >= 150_000
        ? ["pg_backup_start('standby', true)", 'pg_backup_stop(false)']
        : ["pg_start_backup('standby', true, false)", 'pg_stop_backup(false)'];
    await client.query(`SELECT ${start}`);
    await copyData(dataFolder(this.#options.folder.path), target);
    await rm(join(target, 'postmaster.pid'));
    const { rows } = await client.query<{ labelfile: string }>(`SELECT labelfile FROM ${stop}`);
    await addFile(target, 'backup_label', rows[0]?.labelfile ?? '');
    await addFile(target, 'standby.signal', '');
  }
}

/** A process may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, name);
}

function run({ folder, password, settings }: ServerOptions): Promise<PostgresServer> {
  return startPostgresServer({ folder: folder.path, password, settings, exitSignal: 'SIGQUIT' });
}

function portOf(server: PostgresServer): number {
  return Number(new URL(server.url('postgres')).port);
}

/** The server's account owns it, like all of the data. */
async function addFile(folder: string, name: string, text: string): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, text);
  await giveToServer(file);
}
