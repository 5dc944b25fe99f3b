/** Where the package lies: found by its package.json, because the compiled tests are in a folder of their own. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the package, wherever it was compiled to. */
export const PACKAGE_ROOT = findRoot(__dirname);

/** The folder with the compiled `src`, the one that the other compiled tests use. */
export const COMPILED_SOURCE = join(__dirname, '../../src');

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (dirname(folder) === folder) throw new Error(`No package.json above ${__dirname}`);
  return findRoot(dirname(folder));
}
