/** `npm test`: every check of the project, the cheap ones first; the first failure ends it. `--whole` shortens no test, and counts coverage. */
import { rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { compile, NO_COLLECTION } from './compile.mjs';
import {
  EXPRESS_4,
  mocha,
  noCounts,
  OVER_HTTP,
  printCosts,
  printFailures,
  tagged,
  without,
} from './mocha.mjs';
import { programs, root, runScript, StepFailed, step } from './step.mjs';

const COVERAGE = 'coverage/tmp';
/** Tests that wait most of the time: for processes, installations and faults. Tests of processes choose Express and path themselves. */
const WAITING = ['process/[m-z]*', 'process/[a-l]*', 'package/*', '{browser,fault}/*', 'soak/*'].map(
  (files) => `dist/test/${files}.test.js`,
);
const ALL = 'dist/test/**/*.test.js';
/** Parts of the tests over HTTP, so that no run goes on when all others have ended. The other files are one more part. */
const PARTS = ['[e-k]', 's', '[l-rt-z]'].map((initial) => `dist/test/feature/${initial}*/**/*.test.js`);
/** The part of those on the general path that runs by itself. */
const GENERAL = 'dist/test/feature/[m-z]*/**/*.test.js';
/** A test that starts a process for each program of the guide. */
const GUIDE = 'dist/test/feature/*.test.js';
/** `npm run admin -- --test`, which installs packages of its own. */
const APART = 'dist/test/admin/**/*.test.js';

export async function test(args) {
  const unknown = args.find((arg) => arg !== '--whole');
  if (unknown) throw new StepFailed(`npm test has no option ${unknown}. Usage: npm test [-- --whole]`);
  const isShort = args.length === 0;
  if (isShort) process.env.CRUD_TEST_SHORT = '1';
  // Tests start the compiler as well.
  Object.assign(process.env, NO_COLLECTION);
  const counts = noCounts();
  try {
    await step('Format and lint', lint);
    await step('Compile', compileAnew);
    if (isShort) await startQuickly();
    remove(COVERAGE);
    await step(
      'Test on Express 5, and beside it on Express 4, with one connection, on the general path, and all else',
      async () => severalAtATime(await runsOf(counts, isShort)),
    );
    if (!isShort)
      await step('Coverage', () => runScript(programs.c8, ['report', '--temp-directory', COVERAGE]));
  } finally {
    if (counts.runs > 0) printCosts(counts);
    printFailures(counts);
    if (counts.runs > 0) process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed\n`);
  }
}

/** Biome does not notice by itself that its colors are not shown. */
async function lint() {
  await runScript(programs.biome, ['ci', '.', ...(process.stdout.isTTY ? [] : ['--colors=off'])]);
}

/** Compiles from scratch: the compiled tests of a file that was renamed or removed must not run. */
async function compileAnew() {
  remove('dist');
  await compile();
}

/** Has all processes from now on take what several hundred of them load from a pack, which the first one writes. */
async function startQuickly() {
  const required = path.join(root, 'scripts/quick-start.cjs');
  process.env.CRUD_TEST_PACK = path.join(root, 'dist/modules.pack');
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require=${JSON.stringify(required)}`;
  await runScript('dist/test/support/packed-modules.js');
}

/**
 * The longest runs come first, so that all parallel runs end at about the same time. Runs that wait come beside
 * runs that compute. The soak comes last, because it measures the end of faults.
 */
async function runsOf(counts, isShort) {
  const [once, fast] = [await tagged('once'), isShort ? await tagged('fast') : []];
  // Counting takes a tenth longer.
  const covered = isShort ? {} : { NODE_V8_COVERAGE: path.join(root, COVERAGE) };
  const general = { ...EXPRESS_4, CRUD_TEST_PATH: 'general' };
  const run =
    (files, ignored = [], env = {}) =>
    (atEnd) =>
      mocha(counts, [...files, ...without(ignored)], { env: { ...covered, ...env }, atEnd });
  const [stops, processes, packages, faults, soak] = WAITING;
  const [longest, ...parts] = PARTS;
  const runs = [
    run([longest]),
    run([stops]),
    run([OVER_HTTP], [...PARTS, GUIDE]),
    run([GENERAL], [...once, ...fast], general),
    ...parts.map((part) => run([part])),
    run([packages, GUIDE]),
    run([OVER_HTTP], [GENERAL, ...once, ...fast], general),
    run([processes]),
    run([faults]),
    run([ALL], [OVER_HTTP, ...WAITING, APART]),
    run([soak]),
  ];
  // The first one shows what it does meanwhile.
  return runs.map((start, at) => () => start(at > 0));
}

/**
 * Runs wait for processes and databases a part of the time, so that two more than there are cores keep these busy. The first
 * failure is thrown when all have ended.
 */
async function severalAtATime(runs) {
  const waiting = [...runs];
  const takeTurns = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) await run();
  };
  const turns = Array.from({ length: os.availableParallelism() + 2 }, takeTurns);
  const ends = await Promise.allSettled(turns);
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

function remove(folder) {
  rmSync(path.join(root, folder), { recursive: true, force: true });
}
