/** The package as npm would publish it, and a project that has it installed. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { run } from './run.js';

/** The part of a package.json that the tests read. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A packed package. */
export interface Tarball {
  readonly path: string;
  /** Its files, sorted. */
  readonly files: readonly string[];
}

/** The package.json of this package. */
export async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
}

/** The peers without which the package does not work. */
export function requiredPeers({ peerDependencies, peerDependenciesMeta }: Manifest): string[] {
  return Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
}

let packed: Promise<Tarball> | undefined;

/** The built package, packed once for all tests of the process. */
export function pack(): Promise<Tarball> {
  packed ??= packAgain();
  return packed;
}

async function packAgain(): Promise<Tarball> {
  const { path: folder } = await createTemporaryFolder('packed');
  const built = await packFolder(PACKAGE_ROOT, folder);
  await run('tar', ['-xzf', built.path, '-C', folder], folder);
  const unpacked = join(folder, 'package');
  await run(
    'node',
    [join(PACKAGE_ROOT, 'scripts/pack-modules.mjs'), join(unpacked, 'dist/src')],
    PACKAGE_ROOT,
  );
  return packFolder(unpacked, folder);
}

/** Packs without scripts, which would build again, under the feet of the tests. */
async function packFolder(from: string, to: string): Promise<Tarball> {
  const { output } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', `--pack-destination=${to}`],
    from,
  );
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }];
  return { path: join(to, filename), files: files.map(({ path }) => path).sort() };
}

/**
 * Makes a folder a project with the package unpacked in its `node_modules`. Beside it are only the packages of an
 * installation: its dependencies, the peers that it needs, and the types of Node.
 */
export async function createProject(folder: string, tarball: Tarball): Promise<void> {
  await install(folder, tarball, [...requiredPeers(await readManifest()), '@types/node']);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
}

/** Unpacks the package into the `node_modules` of a folder. Beside it are its dependencies and others, which are those of this one. */
export async function install(folder: string, tarball: Tarball, others: readonly string[]): Promise<void> {
  const { name, dependencies } = await readManifest();
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, name), { recursive: true });
  await run('tar', ['-xzf', tarball.path, '-C', join(modules, name), '--strip-components=1'], folder);
  for (const other of new Set([...Object.keys(dependencies), ...others])) {
    mkdirSync(dirname(join(modules, other)), { recursive: true });
    symlinkSync(join(PACKAGE_ROOT, 'node_modules', other), join(modules, other), 'junction');
  }
}
