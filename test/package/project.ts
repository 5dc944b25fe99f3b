/** A project with the packed package: the files of its command, and their `npm start`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../sample/support/free-port.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { createProject, install, type Manifest, pack } from './packed-package.js';
import { environment } from './run.js';

/** Puts the packed package into a folder. @returns the path of its command */
export async function installCommand(folder: string): Promise<string> {
  const tool = join(folder, 'tool');
  mkdirSync(tool);
  await createProject(tool, await pack());
  return join(tool, 'node_modules/crud-controllers/dist/src/command-line.js');
}

/** Puts the packages that a project names into it, as `npm install` would. */
export async function installProject(
  project: string,
  { dependencies, devDependencies }: Pick<Manifest, 'dependencies' | 'devDependencies'>,
): Promise<void> {
  const { 'crud-controllers': _, ...others } = { ...dependencies, ...devDependencies };
  await install(project, await pack(), Object.keys(others));
  const commands = join(project, 'node_modules/.bin');
  mkdirSync(commands);
  symlinkSync(join(PACKAGE_ROOT, 'node_modules/.bin/tsc'), join(commands, 'tsc'));
  const own = join(project, 'node_modules/crud-controllers/dist/src/command-line.js');
  chmodSync(own, 0o755);
  symlinkSync(own, join(commands, 'crud-controllers'));
}

/** A project under `npm start`. */
export interface ServedProject extends AsyncDisposable {
  readonly url: string;
  /** All that was printed until now. */
  printed(): string;
}

/** Runs `npm start` until it listens. */
export async function startProject(
  project: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<ServedProject> {
  const port = await findFreePort();
  // A group of its own, because npm starts a shell, and that the server.
  const npm = spawn('npm', ['start'], {
    cwd: project,
    env: { ...environment(), ...variables, PORT: String(port) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => void process.kill(-Number(npm.pid), 'SIGTERM');
  process.once('exit', end);
  const closed = once(npm, 'close');
  let printed = '';
  const isListening = new Promise<void>((resolve) => {
    for (const stream of [npm.stdout, npm.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.includes(`:${port}`)) resolve();
      });
    }
  });
  await Promise.race([isListening, closed]);
  if (npm.exitCode !== null) throw new Error(`npm start ended with ${npm.exitCode}:\n${printed}`);
  return {
    url: `http://localhost:${port}`,
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      end();
      await closed;
      process.removeListener('exit', end);
    },
  };
}
