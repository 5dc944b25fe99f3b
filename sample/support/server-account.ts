/** The account PostgreSQL runs under: it refuses to run as root, which is what a container usually is. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';

/** How to start a program under the account. */
export interface ServerAccount {
  /** The account, when it is not the caller's own. */
  readonly user?: User;
  /** A program that switches to the account itself; without one, spawning with `user` is enough. */
  readonly launcher: readonly string[];
}

/** What to give to `spawn`. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: Partial<User>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The caller's own account, or `nobody` for root, who then owns `folder`.
 *
 * @param folder where the account has to write
 * @param program what it has to run
 */
export async function chooseServerAccount(folder: string, program: string): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { launcher: [] };
  const user = { uid: accountNumber('-u'), gid: accountNumber('-g') };
  await chown(folder, user.uid, user.gid);
  return { user, launcher: canUse(user, folder, program) ? [] : keepFileAccess(user) };
}

/** Gives a file or folder to the account. */
export async function giveTo({ user }: ServerAccount, path: string): Promise<void> {
  if (user) await chown(path, user.uid, user.gid);
}

/** The command line that runs a program under the account. */
export function commandFor(account: ServerAccount, program: string, args: readonly string[]): Command {
  const [file = program, ...rest] = [...account.launcher, program, ...args];
  return { file, args: rest, options: account.launcher.length > 0 ? {} : (account.user ?? {}) };
}

function accountNumber(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
}

function canUse(user: User, folder: string, program: string): boolean {
  return spawnSync('test', ['-w', folder, '-a', '-x', program], user).status === 0;
}

/**
 * Root's home and the folders of `mktemp -d` are closed to everybody else. Where the checkout is in one, the server is
 * given the one capability that it takes to get through, instead of a copy of its programs and data elsewhere.
 */
function keepFileAccess({ uid, gid }: User): readonly string[] {
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability];
}
