/** The project of a setup: an empty folder with the files that docs/setups.md shows, and the commands to type there. */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root } from './step.mjs';

const SETUPS = path.join(root, 'test/setups');
/** The folder with the files of all setups. */
const PROGRAM = 'program';
const COMMANDS = 'commands.sh';
const TESTS = 'src/notes.test.ts';
const PACKAGE = 'crud-controllers';

/**
 * Copies the program, and the files of a setup over it.
 *
 * @param folder an empty one
 * @param run the setup whose `tests` it has, `versions` of packages that replace those of the commands, and a file of the setup
 *   that it is `without`
 * @returns the commands, with the tarball in the place of this package, and whether the last one runs tests
 */
export function createSetup(folder, tarball, { setup, tests, versions = {}, without }) {
  cpSync(path.join(SETUPS, PROGRAM), folder, { recursive: true });
  if (tests) cpSync(path.join(SETUPS, tests, TESTS), path.join(folder, TESTS));
  const files = path.join(SETUPS, setup);
  cpSync(files, folder, { recursive: true, filter: (file) => path.relative(files, file) !== without });
  rmSync(path.join(folder, COMMANDS));
  const own = commandsOf(setup);
  // One with another package manager installs all by itself.
  const commands = own.some(installsPackage) ? own : [...commandsOf(PROGRAM), ...own];
  return {
    commands: commands.map((command) => command.split(' ').map(replaced).join(' ')),
    isTest: existsSync(path.join(folder, TESTS)),
  };

  function replaced(word) {
    if (word === PACKAGE) return tarball;
    const [name] = /^@?[^@]+/.exec(word) ?? [];
    return Object.hasOwn(versions, name) ? `${name}@${versions[name]}` : word;
  }
}

/** The versions of what a project has for its development, without types; the ranges where no package is in a folder. */
export function toolsOf(folder) {
  const { devDependencies = {} } = readJson(folder, 'package.json');
  return Object.keys(devDependencies)
    .filter((name) => !name.startsWith('@types/'))
    .map((name) => `${name} ${versionOf(folder, name) ?? devDependencies[name]}`);
}

function versionOf(folder, name) {
  const file = path.join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? readJson(file).version : undefined;
}

function commandsOf(setup) {
  return readFileSync(path.join(SETUPS, setup, COMMANDS), 'utf8')
    .trim()
    .split('\n');
}

function installsPackage(command) {
  return command.split(' ').includes(PACKAGE);
}

function readJson(...file) {
  return JSON.parse(readFileSync(path.join(...file), 'utf8'));
}
