/** Programs that the tests need, installed where that is possible: as root on Debian. */
import { execFileSync, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOCK = join(tmpdir(), 'crud-controllers-apt-get.lock');

/** True where a program is on the PATH. */
export function isThere(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

/**
 * Installs a package with apt-get, where there is one and this is root. Its service, if it has one, is not started.
 *
 * @throws Error when apt-get fails
 */
export function installPackage(name: string): void {
  if (process.getuid?.() !== 0 || !isThere('apt-get')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    // Two runs of the tests may come at the same time, and apt-get does not wait for another one.
    const aptGet = (...args: string[]) =>
      execFileSync('flock', [LOCK, 'apt-get', ...args], { env, stdio: 'pipe' });
    aptGet('update', '-q');
    aptGet('install', '-y', '-q', '--no-install-recommends', name);
  } catch (cause) {
    throw new Error(`apt-get could not install ${name}.`, { cause });
  }
}
