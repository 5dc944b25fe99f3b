/** Runs test files with Mocha. */
import path from 'node:path';
import { programs, root, runScript } from './step.mjs';

/** The tests over HTTP. */
export const OVER_HTTP = 'dist/test/feature/**/*.test.js';

const OF_OWN_KIND = [
  'check-a-cluster',
  'check-health',
  'connect-to-several-hosts',
  'cut-ranges',
  'deal-reads',
  'engine-lifespan',
  'leave-the-scope-out',
  'prepare-again',
  'query-in-turn',
  'share-connections',
  'wait-for-a-connection',
  'write-together',
];
/** These choose path and pool themselves, below Express, or prove that others can fail: one run has them. */
export const BELOW_HTTP = OF_OWN_KIND.map((name) => `dist/test/feature/**/${name}.test.js`);
/** Leaves these out. */
export const NOT_BELOW_HTTP = OF_OWN_KIND.flatMap(ignore);

/** Leaves out what a run on another path would do again: these compare both paths, choose them, or ask nothing of any. */
export const SAME_ON_EACH_PATH = [
  'advise-indexes',
  'check-row-security',
  'connect-an-engine',
  'describe-many',
  'equal-paths',
  'explain-pages',
  'extend-a-route',
  'filter-an-array',
  'filter-inside-json',
  'filter-what-is-visible',
  'health-leaks',
  'health-routes',
  'leak-no-rows',
  'misconfigure',
  'openapi-document',
  'openapi-property',
  'prepared-statements',
  'read-any-text',
  'read-replica',
  'restrict-any-fields',
  'scope-any-model',
  'see-nothing-of-others',
  'send-a-long-value',
  'serve-tenants',
  'write-what-a-filter-finds',
].flatMap(ignore);

/** Of what these reach on the general path, others reach nearly all there, and they themselves the rest on the fast path: `npm run combinations` runs them there, and `npm test` has no time for it. */
export const REACHED_BY_OTHERS = [
  'add-a-feature',
  'allow-operations',
  'answer-in-little-time',
  'attack-a-query',
  'behave-as-a-model',
  'bound-the-problems',
  'bound-what-is-included',
  'break-the-schema',
  'compare-filters',
  'cut-included-rows',
  'find-a-route',
  'find-any-route',
  'follow-a-location',
  'include-any-relations',
  'include-by-any-key',
  'include-by-key',
  'own-a-model',
  'page-by-long-values',
  'run-two-applications',
  'see-one-organisation',
  'send-a-body',
  'store-every-column-type',
  'survive-a-throwing-controller',
  'throw-from-a-controller',
  'use-a-pooler',
  'use-tls',
  'walk-every-page',
  'write-a-value',
  'write-many-at-random',
].flatMap(ignore);

/** What Express 4 is tested with. Whatever needs a second connection for a request waits for ever there. */
export const EXPRESS_4 = { CRUD_TEST_EXPRESS: '4', CRUD_TEST_POOL: '1' };

/** What runs have counted together. */
export function noCounts() {
  return { runs: 0, passed: 0, failed: 0, skipped: 0, failures: [] };
}

/** Runs files and adds to the counts. The options are those of `runScript`; another folder has a Mocha of its own. */
export async function mocha(counts, files, options = {}) {
  const program = path.resolve(options.folder ?? root, path.relative(root, programs.mocha));
  await runScript(program, ['--reporter', 'scripts/counting-reporter.cjs', ...files], {
    ...options,
    onMessage({ passed, failed, skipped, failures }) {
      counts.runs += 1;
      counts.passed += passed;
      counts.failed += failed;
      counts.skipped += skipped;
      counts.failures.push(...failures);
    },
  });
}

/** Again at the end: two runs print tens of thousands of lines, and a log is read from its last. */
export function printFailures(counts) {
  for (const failure of counts.failures) process.stdout.write(`\nFAILED: ${failure}\n`);
}

function ignore(name) {
  return ['--ignore', `dist/test/feature/**/${name}.test.js`];
}
