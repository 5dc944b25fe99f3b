/** Runs one program of the project as a step that either succeeds or ends the command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Programs of installed packages, as scripts: they run on every platform, which `.bin` does not. */
export const programs = {
  biome: installed('@biomejs/biome/bin/biome'),
  c8: installed('c8/bin/c8.js'),
  mocha: installed('mocha/bin/mocha.js'),
  tsc: installed('typescript/bin/tsc'),
};

/** Ends the command with an exit code; a message is only needed where the step has not printed one. */
export class StepFailed extends Error {
  /** @param isInterrupted true where a signal ends the whole command */
  constructor(message, exitCode = 1, isInterrupted = false) {
    super(message);
    this.exitCode = exitCode;
    this.isInterrupted = isInterrupted;
  }
}

/** Prints the name of the step, runs it, and prints how long it took. */
export async function step(name, work) {
  const started = performance.now();
  process.stdout.write(`\n== ${name}\n`);
  const result = await work();
  process.stdout.write(`== ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  return result;
}

/** Runs a Node script, ours or a package's. The options are `node`, the program that runs it, and those of `runProgram`. */
export async function runScript(script, args = [], { node = process.execPath, ...options } = {}) {
  await runProgram(node, [script, ...args], options);
}

/**
 * Runs a program. It gets the signals, each once, and decides what becomes of them.
 *
 * @param options `folder` is its working folder, the root folder by default. `env` is added to the environment. `onMessage` receives
 * its messages to the parent. With `atEnd` its output is printed when it has ended, because others print meanwhile
 */
export async function runProgram(file, args, { folder = root, env = {}, onMessage, atEnd = false } = {}) {
  const output = atEnd ? 'pipe' : 'inherit';
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['inherit', output, output, ...(onMessage ? ['ipc'] : [])],
    // On Windows npm is a shell script.
    shell: process.platform === 'win32' && file === 'npm',
  });
  if (onMessage) child.on('message', onMessage);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const { code, signal, isInterrupted } = await untilExit(child);
  process.stdout.write(Buffer.concat(printed));
  if (code !== 0) throw new StepFailed('', code ?? 128 + os.constants.signals[signal], isInterrupted);
}

async function untilExit(child) {
  let isInterrupted = false;
  const passOn = (signal) => {
    isInterrupted = true;
    // A terminal sends Ctrl-C to every program that runs in it, and a second one would end the child at once.
    if (signal === 'SIGINT' && process.stdin.isTTY) return;
    child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  // Unlike 'exit', 'close' comes after the last message.
  const [code, signal] = await once(child, 'close');
  for (const name of signals) process.removeListener(name, passOn);
  return { code, signal, isInterrupted };
}

function installed(file) {
  return path.join(root, 'node_modules', file);
}
