/** Checks the version of Node and installs the packages when they are missing or older than the lock file. */
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root, runProgram, StepFailed, step } from './step.mjs';

const OLDEST_NODE = [20, 19];

export async function setUp() {
  checkNode();
  await installPackages('packages', root);
}

/** Installs what the lock file of a folder says, unless it is there. The name is for the step that is printed. */
export async function installPackages(name, folder) {
  if (isInstalled(folder)) return;
  await step(`Install ${name}`, async () => {
    // npm would empty a linked folder, which other checkouts may use. This removes the link alone.
    rmSync(path.join(folder, 'node_modules'), { recursive: true, force: true });
    await runProgram('npm', ['ci', '--prefix', folder, '--include=dev', '--no-audit', '--no-fund']);
  });
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new StepFailed(
    `Node ${OLDEST_NODE.join('.')} or later is needed, and this is ${process.versions.node}.`,
  );
}

/** True where the packages of the lock file are installed: npm writes the first file at the end of an installation. */
function isInstalled(folder) {
  const installedAt = changedAt(path.join(folder, 'node_modules/.package-lock.json'));
  return installedAt !== undefined && installedAt >= (changedAt(path.join(folder, 'package-lock.json')) ?? 0);
}

function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
