/** Folders outside the repository that are gone when the process is, whatever ends it short of SIGKILL. */
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './at-exit.js';

/** An empty folder of the test's own. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
  /** Deletes it with all that is in it. */
  remove(): void;
}

/** Linux keeps files there in memory. Containers often have 64 MB of it. */
const IN_MEMORY = '/dev/shm';
/** Bytes that have to be free there: two servers run at the same time, and none takes a quarter of that. */
const ENOUGH = 4 * 1024 ** 3;

/** Creates it; the label is part of its name. */
export function createTemporaryFolder(label: string): Promise<TemporaryFolder> {
  return createIn(tmpdir(), label);
}

/** Creates one for the data of a server, in memory where there is enough: a disk takes 25 times as long for a new database. */
export async function createDataFolder(label: string): Promise<TemporaryFolder> {
  const free = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return createIn(free > ENOUGH ? IN_MEMORY : tmpdir(), label);
}

async function createIn(parent: string, label: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, `crud-controllers-${label}-`));
  // Servers that run in it have an account of their own, which reads no more than it is given.
  await chmod(path, 0o711);
  const remove = () => {
    stay();
    // A server that is stopping may still be writing.
    rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  };
  const stay = atExit(remove);
  return { path, remove, [Symbol.asyncDispose]: async () => remove() };
}
