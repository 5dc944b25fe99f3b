/**
 * `npm run setups`: the program of docs/setups.md in an empty project for each compiler, test runner and package manager that the
 * guide names, with the packed package installed. A failure does not end it. What came of each run is on that page. Arguments
 * choose runs: `npm run setups -- vitest pnpm`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { compile } from './compile.mjs';
import { updateTable } from './result-table.mjs';
import { tryRun } from './setup-run.mjs';
import { StepFailed, step } from './step.mjs';

const TABLE = {
  page: 'docs/setups.md',
  command: 'setups',
  head: ['Run', 'Versions', 'Result', 'Date'],
  rule: ['---', '---', '---', '---'],
};

/**
 * `setup` is the folder in test/setups, by default of the same name, and `tests` the one whose tests it has. `versions` replace those of its commands. `tools` are packages
 * whose programs the commands need. A run that `isRefused` leaves a file of the setup out, and ends with the advice for compilers.
 */
const RUNS = {
  'tsc-commonjs': {},
  'tsc-commonjs-typescript-6': { setup: 'tsc-commonjs', versions: { typescript: '6' } },
  'tsc-commonjs-typescript-5.9': { setup: 'tsc-commonjs', versions: { typescript: '5.9' } },
  'tsc-esm': {},
  'tsc-esm-typescript-6': { setup: 'tsc-esm', versions: { typescript: '6' } },
  'tsc-esm-typescript-5.9': { setup: 'tsc-esm', versions: { typescript: '5.9' } },
  swc: {},
  'swc-node': {},
  tsx: {},
  'tsx-without-types': { setup: 'tsx', without: 'src/note-controller.ts', isRefused: true },
  vitest: { tools: ['node@24'] },
  'vitest-4': { setup: 'vitest', versions: { vitest: '4' } },
  'vitest-swc': { tests: 'vitest' },
  'jest-swc': {},
  'ts-jest': { tests: 'jest-swc' },
  pnpm: { tools: ['pnpm'] },
  // The package `yarn` is Yarn 1.
  yarn: { tools: ['yarn@npm:@yarnpkg/cli-dist@4'] },
  workspaces: {},
  bun: { tools: ['bun'] },
  deno: { tools: ['deno'] },
  esbuild: {},
  rolldown: {},
  ncc: {},
  'bun-bundle': { tools: ['bun'] },
  webpack: {},
};

export async function setups(names) {
  const unknown = names.find((name) => !Object.hasOwn(RUNS, name));
  if (unknown)
    throw new StepFailed(`There is no setup ${unknown}. They are: ${Object.keys(RUNS).join(', ')}.`);
  await step('Compile', compile);
  const results = await inTemporaryFolder(async (folder, tarball) => {
    const finished = [];
    for (const name of names.length > 0 ? names : Object.keys(RUNS)) {
      const project = path.join(folder, name);
      mkdirSync(project);
      const run = { setup: name, ...RUNS[name] };
      const result = await step(name, () => tryRun(run, project, tarball));
      const row = [name, result.versions, result.text, new Date().toISOString().slice(0, 10)];
      finished.push({ ...result, row });
      updateTable(TABLE, row);
      // All of them together would be gigabytes.
      rmSync(project, { recursive: true, force: true });
    }
    return finished;
  });
  for (const { row } of results) process.stdout.write(`\n${row.join('  ')}`);
  process.stdout.write('\n');
  if (results.some(({ isRight }) => !isRight)) throw new StepFailed('');
}

/** Runs the work beside the packed package, and a PostgreSQL for programs that request databases. */
async function inTemporaryFolder(work) {
  const { createTemporaryFolder } = await import('../dist/test/support/temporary-folder.js');
  const { pack } = await import('../dist/test/package/packed-package.js');
  const { startPostgres } = await import('../dist/test/support/postgres.js');
  // So that all ends that began.
  process.once('SIGINT', () => process.exit(130));
  const folder = await createTemporaryFolder('setups');
  const server = await startPostgres();
  try {
    return await work(folder.path, (await pack(folder.path)).path);
  } finally {
    await server.stop();
    folder.remove();
  }
}
