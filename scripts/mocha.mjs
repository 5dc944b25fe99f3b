/** Runs test files with Mocha. */
import path from 'node:path';
import { programs, root, runScript } from './step.mjs';

/** The tests over HTTP. */
export const OVER_HTTP = 'dist/test/feature/**/*.test.js';

/** Tests over HTTP with a tag such as `// @runs once`. They are compiled first. */
export async function tagged(tag) {
  const { testsTagged } = await import('../dist/test/support/run-tags.js');
  return testsTagged(tag);
}

/** Options of Mocha that leave files out. */
export function without(files) {
  return files.flatMap((file) => ['--ignore', file]);
}

/** The environment of tests on Express 4. A request that needs a second connection waits for ever there. */
export const EXPRESS_4 = { CRUD_TEST_EXPRESS: '4', CRUD_TEST_POOL: '1' };

/** Counts before the first run. */
export function noCounts() {
  return { runs: 0, passed: 0, failed: 0, skipped: 0, failures: [], costs: new Map() };
}

/** Runs files and adds to the counts. The options are those of `runScript`; another folder has a Mocha of its own. */
export async function mocha(counts, files, options = {}) {
  const program = path.resolve(options.folder ?? root, path.relative(root, programs.mocha));
  await runScript(program, ['--reporter', 'scripts/counting-reporter.cjs', ...files], {
    ...options,
    onMessage({ passed, failed, skipped, failures, costs }) {
      counts.runs += 1;
      counts.passed += passed;
      counts.failed += failed;
      counts.skipped += skipped;
      counts.failures.push(...failures);
      for (const [file, cost] of Object.entries(costs))
        counts.costs.set(file, (counts.costs.get(file) ?? 0) + cost);
    },
  });
}

/** Again at the end: two runs print tens of thousands of lines, and a log is read from its last. */
export function printFailures(counts) {
  for (const failure of counts.failures) process.stdout.write(`\nFAILED: ${failure}\n`);
}

/** Prints the ten files of all runs that take most processor time, with that of their databases and other processes. */
export function printCosts({ costs }) {
  const most = [...costs].sort(([, one], [, other]) => other - one).slice(0, 10);
  process.stdout.write('\nMost processor time, in seconds:\n');
  for (const [file, cost] of most) process.stdout.write(`${cost.toFixed(1).padStart(6)}  ${file}\n`);
}
