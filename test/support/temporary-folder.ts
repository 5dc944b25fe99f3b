/** A folder outside the repository that is gone when the process is, whatever ends it short of SIGKILL. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder of the test's own. */
export interface TemporaryFolder {
  readonly path: string;
  /** Deletes it with all that is in it. */
  remove(): void;
}

/** Creates it; the label is part of its name. */
export async function createTemporaryFolder(label: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `crud-controllers-${label}-`));
  const remove = () => {
    process.removeListener('exit', remove);
    // A server that was told to stop may still be writing.
    rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once('exit', remove);
  return { path, remove };
}
