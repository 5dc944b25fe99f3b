/** The files of `src`, read once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { PACKAGE_ROOT } from '../support/package-root.js';

/** Sources by their path in `src`, with slashes: `respond/json-answer.ts`. */
export type SourceTree = ReadonlyMap<string, string>;

/** Reads every TypeScript file and every module of a folder of the package, without installed packages. */
export function readSourceTree(folder = 'src'): SourceTree {
  const root = join(PACKAGE_ROOT, folder);
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|m[jt]s)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !relative(root, file).split(sep).includes('node_modules'))
    .sort();
  return new Map(
    files.map((file) => [relative(root, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  );
}
