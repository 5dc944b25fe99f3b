/** `npm test`: every check of the project, the cheap ones first; the first failure ends it. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { shortCombinations } from './combinations.mjs';
import { BELOW_HTTP, EXPRESS_4, mocha, noCounts, OVER_HTTP } from './mocha.mjs';
import { programs, root, runScript, step } from './step.mjs';

const COVERAGE = 'coverage/tmp';
const COVERED = { NODE_V8_COVERAGE: path.join(root, COVERAGE) };
const ALL = 'dist/test/**/*.test.js';
/** Processes of their own, which choose Express and path themselves. They wait most of the time. */
const IN_PROCESSES = 'dist/test/process/**/*.test.js';

export async function test() {
  const counts = noCounts();
  try {
    await step('Format and lint', lint);
    await step('Compile', compile);
    remove(COVERAGE);
    await step(
      'Test on Express 5, and beside it on Express 4, with one connection, on the general path; then in other combinations and processes',
      () =>
        together([mocha(counts, [ALL, '--ignore', IN_PROCESSES], { env: COVERED }), testOtherwise(counts)]),
    );
    await step('Coverage', () => runScript(programs.c8, ['report', '--temp-directory', COVERAGE]));
  } finally {
    if (counts.runs > 0) process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`);
  }
}

/** Biome does not see for itself that nobody will look at its colors. */
async function lint() {
  await runScript(programs.biome, ['ci', '.', ...(process.stdout.isTTY ? [] : ['--colors=off'])]);
}

/** From scratch: the compiled tests of a file that was renamed or removed must not run. */
async function compile() {
  remove('dist');
  await runScript(programs.tsc);
}

/** What takes as long as the first run, and beside it costs no time. */
async function testOtherwise(counts) {
  const env = { ...COVERED, ...EXPRESS_4, CRUD_TEST_PATH: 'general' };
  await mocha(counts, [OVER_HTTP, ...BELOW_HTTP], { env, atEnd: true });
  await shortCombinations(counts);
  await mocha(counts, [IN_PROCESSES], { env: COVERED, atEnd: true });
}

/** Two runs wait for different things most of the time. The first that fails is told when both have ended. */
async function together(runs) {
  const ends = await Promise.allSettled(runs);
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

function remove(folder) {
  rmSync(path.join(root, folder), { recursive: true, force: true });
}
