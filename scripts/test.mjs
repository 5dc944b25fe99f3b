/** `npm test`: every check of the project, the cheap ones first; the first failure ends it. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { programs, root, runScript, step } from './step.mjs';

const COVERAGE = 'coverage/tmp';
const ALL = 'dist/test/**/*.test.js';
const OVER_HTTP = 'dist/test/feature/**/*.test.js';
/** One connection per pool as well: whatever needs a second one for a request waits for ever there. */
const OTHER = { CRUD_TEST_EXPRESS: '4', CRUD_TEST_POOL: '1', CRUD_TEST_PATH: 'general' };

/** These choose path and pool themselves, below Express: the other run has them. */
const BELOW_HTTP = ['deal-reads', 'share-connections', 'wait-for-a-connection', 'write-together'].flatMap(
  (name) => ['--ignore', `dist/test/feature/${name}.test.js`],
);

export async function test() {
  const counts = { runs: 0, passed: 0, failed: 0 };
  try {
    await step('Format and lint', lint);
    await step('Compile', compile);
    remove(COVERAGE);
    await step(
      'Test on Express 5, and beside it on Express 4, with one connection, on the general path',
      () =>
        together([
          mocha(counts, [ALL]),
          mocha(counts, [OVER_HTTP, ...BELOW_HTTP], { env: OTHER, atEnd: true }),
        ]),
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

async function mocha(counts, files, { env = {}, ...options } = {}) {
  await runScript(programs.mocha, ['--reporter', 'scripts/counting-reporter.cjs', ...files], {
    ...options,
    env: { ...env, NODE_V8_COVERAGE: path.join(root, COVERAGE) },
    onMessage({ passed, failed }) {
      counts.runs += 1;
      counts.passed += passed;
      counts.failed += failed;
    },
  });
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
