/** The checkouts of `npm run matrix`, in which some packages have another version, and programs from packages. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root, runProgram } from './step.mjs';

/** Git ignores it. Nothing outside of it is written. */
const FOLDER = path.join(root, '.data/matrix');

/** No test of an edge reads them. Biome would take a second configuration for a mistake. */
const LEFT_OUT = ['.git', '.data', 'coverage', 'bench', 'biome.json'];

/** The package has a chart of these. */
const RESULTS = 'bench/results';

/** @returns the program of a version of Node */
export async function installNode(version) {
  const modules = await install(`node-${version}`, [`node@${version}`]);
  return path.join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * Makes a copy of this checkout, compiled code included, with other versions of some packages.
 *
 * @param specs as npm understands them, such as `pg@8.11.0` or `express4@npm:express@4.21.0`
 * @returns its folder
 */
export async function checkOut(edge, specs) {
  const installed = await install(edge, specs);
  const folder = path.join(FOLDER, 'checkouts', fileName(edge));
  rmSync(folder, { recursive: true, force: true });
  cloneTree(root, folder, LEFT_OUT);
  cloneTree(path.join(root, RESULTS), path.join(folder, RESULTS));
  for (const name of specs.map(nameOf)) {
    // A package of the same version keeps the dependencies of the lock file.
    if (versionIn(path.dirname(installed), name) === versionIn(folder, name)) continue;
    const target = path.join(folder, 'node_modules', name);
    rmSync(target, { recursive: true, force: true });
    cloneTree(path.join(installed, name), target);
  }
  return folder;
}

/** The name that a package has in `node_modules`. */
export function nameOf(spec) {
  return spec.slice(0, spec.indexOf('@', 1));
}

/** The version of a package that the tests in a folder use. */
export function versionIn(folder, name) {
  return JSON.parse(readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/**
 * Installs packages in a project of their own, because npm would change others in the checkout, too. The dependencies of a
 * package that the others do not have at the top come inside of it.
 *
 * @returns its `node_modules`
 */
export async function install(name, specs) {
  const folder = path.join(FOLDER, 'packages', fileName(name));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // These packages get the program for this machine when they are installed.
  const manifest = { private: true, allowScripts: { node: true, bun: true, deno: true } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  // The edge goes beyond the peer ranges of other packages, too: routing-controllers requires class-validator 0.14.
  const apart = ['--install-strategy=nested', '--legacy-peer-deps'];
  await runProgram('npm', ['install', '--prefix', folder, ...apart, ...quiet, ...specs]);
  return path.join(folder, 'node_modules');
}

function fileName(name) {
  return name.replaceAll(/[^\w.-]+/g, '_');
}

/** Copies a folder. Packages are never written to, and large: they become other names of the same files. */
function cloneTree(from, to, leftOut = [], isPackage = /[\\/]node_modules[\\/]/.test(from)) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (leftOut.includes(entry.name)) continue;
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory()) cloneTree(source, target, [], isPackage || entry.name === 'node_modules');
    else if (isPackage) linkSync(source, target);
    else copyFileSync(source, target);
  }
}
