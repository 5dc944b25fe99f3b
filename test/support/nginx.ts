/** A real nginx for the tests, in front of an application. */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../sample/support/free-port.js';
import { installPackage, isThere } from './install-package.js';
import { Program } from './program.js';
import { createTemporaryFolder } from './temporary-folder.js';

const PROGRAM = 'nginx';

/** A running nginx. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts one.
 *
 * @param directives of its location beside `proxy_pass`
 */
export async function startNginx(target: string, directives: readonly string[]): Promise<Nginx> {
  if (!isThere(PROGRAM)) {
    installPackage('nginx-light');
    // The package brings a service.
    spawnSync('systemctl', ['disable', '--now', PROGRAM], { stdio: 'ignore' });
  }
  const folder = await createTemporaryFolder(PROGRAM);
  const port = await findFreePort();
  const file = join(folder.path, 'nginx.conf');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder.path}/${name};`,
  );
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder.path}/nginx.pid; error_log stderr;
    events {}
    http {
      access_log off; ${paths.join(' ')}
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${target}; ${directives.map((each) => `${each};`).join(' ')} }
      }
    }`,
  );
  const program = new Program(['-c', file, '-p', folder.path, '-e', 'stderr'], { command: PROGRAM });
  while (!(await isOpen(port))) {
    if (program.hasEnded) throw new Error(`nginx has ended: ${program.output}`);
    await sleep(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder.remove();
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
