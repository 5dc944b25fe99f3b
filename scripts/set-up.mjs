/** Checks the version of Node and installs the packages when they are missing or older than the lock file. */
import { statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root, runProgram, StepFailed, step } from './step.mjs';

const OLDEST_NODE = [20, 19];

export async function setUp() {
  checkNode();
  if (isInstalled(root)) return;
  await step('Install packages', install);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new StepFailed(
    `Node ${OLDEST_NODE.join('.')} or later is needed, and this is ${process.versions.node}.`,
  );
}

/** Whether a package has what its lock file says: npm writes the first file when it has installed that. */
export function isInstalled(folder) {
  const installedAt = changedAt(path.join(folder, 'node_modules/.package-lock.json'));
  return installedAt !== undefined && installedAt >= (changedAt(path.join(folder, 'package-lock.json')) ?? 0);
}

/**
 * Not `npm ci`: chdb has a package for each platform, and a lock file made where the registry lacks those of others does
 * not name them, which `npm ci` refuses. What the lock file names is installed exactly as it says all the same.
 */
async function install() {
  await runProgram('npm', ['install', '--include=dev', '--no-audit', '--no-fund']);
}

function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
