/**
 * Folders that the account of a server can reach. Root's home and the folders of `mktemp -d` are closed to every account but
 * root. A server that runs from such a folder gets its programs and its data in a folder outside of it.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, type Stats, statSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type ServerAccount, serverAccount } from './server-account.js';
import { StartProblem } from './start-problem.js';

const run = promisify(execFile);

/** Only root may write to the first. Programs in the second do not run where it is mounted so. */
const PARENTS = ['/var/lib', '/var/tmp'];
const NAME = 'crud-controllers';
/** Ending of a file beside each place, with the path that the place is for. */
const OWNER = '.path';
/** Every account may enter it, and only root may list it. */
const OPEN = 0o711;

/**
 * Creates a folder that a server writes to. A closed one becomes a link to a folder outside.
 *
 * @returns the path for the server
 */
export async function openFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const real = await realpath(folder);
  const account = serverAccount();
  const closed = account && closedPart(account, real);
  if (!closed) return real;
  const place = await placeOf(real, account);
  // The place is of an earlier folder of the same path.
  await removePlace(place);
  await createPlace(place, real);
  await run('cp', ['-Rp', `${real}/.`, place]);
  await chmod(place, OPEN);
  // At nearly no moment does another process find neither, and take the place for an orphan.
  const old = `${real}.closed`;
  await rename(real, old);
  await symlink(place, real);
  await rm(old, { recursive: true });
  tell(account, closed, place);
  return place;
}

/**
 * Copies the folder of a package whose programs a server runs, where the folder is closed.
 *
 * @param program a path in the folder
 * @returns the path for the server
 */
export async function openPackage(folder: string, program: string): Promise<string> {
  const account = serverAccount();
  const closed = account && closedPart(account, join(folder, program));
  if (!closed) return folder;
  const place = await placeOf(folder, account);
  if (!(await hasSamePackage(folder, place))) {
    // The copy is of another version.
    await removePlace(place);
    const draft = `${place}-${randomBytes(6).toString('hex')}`;
    await createPlace(draft, folder);
    // Links to the same files are made sooner. On another disk there can be none.
    await run('cp', ['-Rl', `${folder}/.`, draft]).catch(() => run('cp', ['-R', `${folder}/.`, draft]));
    await run('chmod', ['-R', 'a+rX', draft]);
    await writeFile(`${place}${OWNER}`, folder);
    // Two processes may come at the same time. The first one is right for both.
    await rename(draft, place).catch(() => {});
    await removePlace(draft);
  }
  tell(account, closed, place);
  return place;
}

/**
 * The part of a path that the account may not enter or execute, by its mode; null where there is none. A trial would not do:
 * the programs of PostgreSQL check with `access`, whose answer is not that of `open` on some kernels.
 */
function closedPart(account: ServerAccount, path: string): string | null {
  const parent = dirname(path);
  const above = parent === path ? null : closedPart(account, parent);
  if (above) return above;
  const stats = statSync(path);
  const needed = stats.isDirectory() ? 0o1 : 0o5;
  return (bitsFor(account, stats) & needed) === needed ? null : path;
}

function bitsFor(account: ServerAccount, { mode, uid, gid }: Stats): number {
  if (uid === account.uid) return mode >> 6;
  return gid === account.gid ? mode >> 3 : mode;
}

/** The place of a path, always the same. */
async function placeOf(path: string, account: ServerAccount): Promise<string> {
  const home = await createHome(account);
  await removeOrphans(home);
  return join(home, createHash('sha256').update(path).digest('hex').slice(0, 16));
}

async function createHome(account: ServerAccount): Promise<string> {
  for (const parent of PARENTS) {
    const home = join(parent, NAME);
    await mkdir(home, { mode: 0o755 }).catch(() => {});
    const stats = await lstat(home).catch(() => null);
    // Where every account may write, another one may have put its programs there.
    const isOurs = stats?.isDirectory() && stats.uid === 0 && (stats.mode & 0o022) === 0;
    if (isOurs && !closedPart(account, home)) return home;
  }
  throw new StartProblem(
    `PostgreSQL does not run as root, and its account cannot use a folder in ${PARENTS.join(' or ')}. ` +
      'Set DATABASE_URL to a server of your own.',
  );
}

/** Removes the places of what is no longer there, such as a checkout that was deleted. */
export async function removeOrphans(home: string): Promise<void> {
  for (const file of await readdir(home)) {
    if (!file.endsWith(OWNER)) continue;
    const owner = await readFile(join(home, file), 'utf8').catch(() => null);
    if (owner !== null && !existsSync(owner)) await removePlace(join(home, basename(file, OWNER)));
  }
}

/** The file comes first and goes last, so that nothing stays of a process that was killed. */
async function createPlace(place: string, owner: string): Promise<void> {
  await writeFile(`${place}${OWNER}`, owner);
  await mkdir(place);
}

async function removePlace(place: string): Promise<void> {
  await rm(place, { recursive: true, force: true });
  await rm(`${place}${OWNER}`, { force: true });
}

async function hasSamePackage(folder: string, copy: string): Promise<boolean> {
  const [own, copied] = await Promise.all(
    [folder, copy].map((each) => readFile(join(each, 'package.json'), 'utf8').catch(() => null)),
  );
  return own === copied;
}

let isTold = false;

function tell({ uid }: ServerAccount, closed: string, place: string): void {
  if (isTold) return;
  isTold = true;
  process.stderr.write(
    `PostgreSQL runs as user ${uid}, who cannot use ${closed}: its programs and data are in ${dirname(place)}.\n`,
  );
}
