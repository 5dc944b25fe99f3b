/** The sample's database: on a PostgreSQL of its own that keeps its data between starts, or the one of DATABASE_URL. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Client } from 'pg';
import { dataFolder, startPostgresServer } from '../support/postgres-server.js';
import { StartProblem } from '../support/start-problem.js';
import { clearLeftover } from './clear-leftover.js';
import { takeLock } from './lock.js';

/** A database that can be connected to. Disposing it stops what was started for it. */
export interface AtlasDatabase extends AsyncDisposable {
  readonly url: string;
}

const NAME = 'atlas';

/** Opens the database, creating it at the first start. */
export async function openDatabase(): Promise<AtlasDatabase> {
  const { DATABASE_URL, ATLAS_DATA_DIR = '.data/atlas' } = process.env;
  return DATABASE_URL
    ? { url: DATABASE_URL, [Symbol.asyncDispose]: async () => {} }
    : openOwnDatabase(resolve(ATLAS_DATA_DIR));
}

async function openOwnDatabase(folder: string): Promise<AtlasDatabase> {
  const password = await readOrCreatePassword(folder);
  await clearLeftover(dataFolder(folder), password);
  const server = await startPostgresServer({ folder, password, exitSignal: 'SIGINT' });
  const lock = await takeLock(server.url('postgres'));
  if (!lock) throw new StartProblem(`Another atlas is starting on ${folder}.`);
  await createDatabase(lock);
  return {
    url: server.url(NAME),
    async [Symbol.asyncDispose]() {
      await lock.end();
      await server.stop();
    },
  };
}

/** Everybody on this machine can reach the port, and the password's owner can do what the server's account can. */
async function readOrCreatePassword(folder: string): Promise<string> {
  const file = join(folder, 'password');
  await mkdir(folder, { recursive: true });
  await writeFile(file, randomBytes(18).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(
    ignoreExisting,
  );
  return readFile(file, 'utf8');
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function createDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [NAME]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`);
}
