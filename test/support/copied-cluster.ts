/** The data of a server of the tests: a copy of the files that `initdb` has made once, because `initdb` takes as long as a test file. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCluster } from '../../sample/support/create-cluster.js';
import { openFolder } from '../../sample/support/open-folder.js';
import { findPostgresBinaries } from '../../sample/support/postgres-binaries.js';
import { dataFolder } from '../../sample/support/postgres-server.js';
import { PACKAGE_ROOT } from './package-root.js';
import { createTemporaryFolder } from './temporary-folder.js';

const run = promisify(execFile);
const MAKER = join(__dirname, '../../sample/support/create-cluster.js');

/** Copies the data to the place that the server of a folder reads, and returns the password of `postgres`. */
export async function copyCluster(folder: string): Promise<string> {
  const original = await provide();
  await copyData(dataFolder(original), dataFolder(folder));
  return readFile(passwordFile(original), 'utf8');
}

/** Copies data to a folder that is not there. Its owner stays, as `fs.cp` would not have it; on Windows it has none of its own. */
export async function copyData(from: string, to: string): Promise<void> {
  if (process.platform === 'win32') await cp(from, to, { recursive: true });
  else await run('cp', ['-Rp', from, to]);
}

/** One for each version of PostgreSQL, way to make it, and account that may read it. */
async function provide(): Promise<string> {
  const binaries = await findPostgresBinaries();
  const { stdout: version } = await run(binaries.initdb, ['--version']);
  const key = createHash('sha256')
    .update(`${process.getuid?.()} ${version}`)
    .update(await readFile(MAKER));
  const original = join(PACKAGE_ROOT, '.data', `tests-${key.digest('hex').slice(0, 12)}`);
  if (await exists(original)) return original;
  const password = randomBytes(18).toString('base64url');
  const draft = `${original}-${password}`;
  await mkdir(draft, { recursive: true });
  // The account of the server may not reach this checkout.
  const made = await createTemporaryFolder('cluster');
  await createCluster(dataFolder(await openFolder(made.path)), password, binaries);
  await copyData(dataFolder(made.path), dataFolder(draft));
  made.remove();
  await writeFile(passwordFile(draft), password, { mode: 0o600 });
  // Two processes may come at the same time. The first one is right for both.
  await rename(draft, original).catch(() => rm(draft, { recursive: true }));
  return original;
}

function passwordFile(folder: string): string {
  return join(folder, 'password');
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
