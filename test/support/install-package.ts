/** Programs that the tests need, installed where that is possible: as root on Debian. */
import { execFileSync, spawnSync } from 'node:child_process';

/** Whether a program is on the PATH. */
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
    execFileSync('apt-get', ['update', '-q'], { env, stdio: 'pipe' });
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', name], { env, stdio: 'pipe' });
  } catch (cause) {
    throw new Error(`apt-get could not install ${name}.`, { cause });
  }
}
