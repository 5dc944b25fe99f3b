/** The PostgreSQL of DATABASE_URL, or one that is gone at the end. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer } from './postgres-server.js';

/** A database; one of its own is stopped when it is disposed. */
export interface SampleDatabase extends AsyncDisposable {
  readonly url: string;
}

/** @param name of the folder that its own server has its data in */
export async function openDatabase(name: string): Promise<SampleDatabase> {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL) return { url: DATABASE_URL, [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), `crud-controllers-${name}-`));
  // The account of the server has to enter it.
  await chmod(folder, 0o711);
  const password = randomBytes(18).toString('base64url');
  const server = await startPostgresServer({ folder, password, exitSignal: 'SIGINT' });
  return {
    url: server.url('postgres'),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
