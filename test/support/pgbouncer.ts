/** A real PgBouncer for the tests, in transaction mode: each transaction of a client may get another connection to the server. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '../../sample/support/free-port.js';
import { openFolder } from '../../sample/support/open-folder.js';
import { giveToServer, serverAccount } from '../../sample/support/server-account.js';
import { installPackage, isThere } from './install-package.js';
import { Program } from './program.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** A running PgBouncer. */
export interface PgBouncer extends AsyncDisposable {
  /** The address of the database, by way of PgBouncer. */
  readonly url: string;
}

const PROGRAM = 'pgbouncer';
const READY = 'process up';

/**
 * Starts one in front of a database.
 *
 * @param settings of its own, by their names in `pgbouncer.ini`
 */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  provide();
  const folder = await createTemporaryFolder(PROGRAM);
  const port = await findFreePort();
  const file = join(await openFolder(folder.path), 'pgbouncer.ini');
  await writeFile(file, configuration(databaseUrl, { listen_port: port, ...settings }), { mode: 0o600 });
  await giveToServer(file);
  const program = new Program([file], { command: PROGRAM, detached: true, ...serverAccount() });
  await program.untilPrinted(READY);
  const { username, password, pathname } = new URL(databaseUrl);
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder.remove();
    },
  };
}

/** It logs in to the server as the user of the address, whatever user a client names. */
function configuration(databaseUrl: string, settings: Readonly<Record<string, string | number>>): string {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const server = [
    `host=${hostname}`,
    `port=${port || 5432}`,
    `user='${decodeURIComponent(username)}'`,
    `password='${decodeURIComponent(password)}'`,
  ];
  const all = {
    listen_addr: '127.0.0.1',
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  return ['[databases]', `* = ${server.join(' ')}`, '[pgbouncer]', ...lines, ''].join('\n');
}

/** Makes sure that there is a `pgbouncer`. */
function provide(): void {
  if (isThere(PROGRAM)) return;
  installPackage(PROGRAM);
  // The package brings a service. Where there is no service manager this fails, and nothing runs that had to be stopped.
  spawnSync('systemctl', ['disable', '--now', PROGRAM], { stdio: 'ignore' });
  if (isThere(PROGRAM)) return;
  throw new Error(
    'The tests need PgBouncer. Install it (Debian: sudo apt-get install pgbouncer; macOS: brew install pgbouncer), ' +
      'and have it on the PATH, which on Debian is /usr/sbin.',
  );
}
