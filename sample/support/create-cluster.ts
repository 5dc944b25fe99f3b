/** Creates the data folder of a PostgreSQL server with `initdb`. */
import { execFile } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './postgres-binaries.js';
import { giveToServer, serverAccount } from './server-account.js';

const run = promisify(execFile);

// The collation is PostgreSQL's own, so that names sort alike whatever this machine has installed. Before 17 it has none.
const BUILTIN = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
const OF_MACHINE = ['--locale=C.UTF-8'];
const BUILTIN_SINCE = 17;

/**
 * Creates `dataDir` when there is none, with a user `postgres` who has the password.
 *
 * It works under another name until it is done, so that one that was killed leaves nothing half made.
 *
 * @param dataDir in a folder that the account of the server can reach
 */
export async function createCluster(
  dataDir: string,
  password: string,
  { initdb }: PostgresBinaries,
): Promise<void> {
  if (await exists(dataDir)) return;
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  await giveToServer(draft);
  await writeFile(passwordFile, password, { mode: 0o600 });
  await giveToServer(passwordFile);
  const superuser = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const collation = (await majorVersion(initdb)) >= BUILTIN_SINCE ? BUILTIN : OF_MACHINE;
  const locale = ['--encoding=UTF8', ...collation];
  const args = [`--pgdata=${draft}`, ...superuser, ...locale];
  await run(initdb, args, { ...serverAccount() }).finally(() => rm(passwordFile));
  await rename(draft, dataDir);
}

async function majorVersion(initdb: string): Promise<number> {
  const { stdout } = await run(initdb, ['--version']);
  return Number(/\d+/.exec(stdout)?.[0]);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
