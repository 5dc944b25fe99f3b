/** `npm run mutation`: changes the source in thousands of places, one at a time, and asks whether a test fails. */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { installPackages } from './set-up.mjs';
import { programs, root, StepFailed } from './step.mjs';

const PACKAGE = path.join(root, 'test/mutation');
/** Of runs: git and Biome leave it out. */
const WORK = 'coverage/mutation';

/**
 * The tests of each folder, of which Stryker chooses those that reach a mutant. The first that fails ends its run, so those come
 * first that find much in little time.
 */
const TESTS = {
  'src/request/query': unit('features/*', 'operation/*', 'request/query/!(*fuzz|*oracle)'),
  'src/operation': unit('operation/*', 'features/*', 'request/query/filter-by-relation', 'request/parse-*'),
  'src/respond': [
    ...unit('respond/*'),
    ...feature('throw-from-a-controller', 'log-a-failure', 'encode-a-path', 'be-refused-by-the-database'),
    ...feature('fail-while-answering', 'mount-behind-bootstrap'),
    ...feature('read-a-record', 'list-a-page', 'send-default-headers', 'match-a-tag', 'add-a-route'),
    ...feature('write-the-answer-yourself', 'answer-with-relations', 'override-a-method'),
  ],
  'src/request': [
    ...unit('request/*', 'access/*', 'features/read-rules'),
    ...feature('change-a-record', 'send-a-condition', 'inject', 'run-requests-in-a-unit', 'read-only-get'),
    ...feature('secure-rows', 'check-row-security', 'configure-a-subresource', 'walk-a-subresource'),
    ...feature('see-deleted-records', 'scope-a-list', 'refer-to-another-tenant', 'unit-of-work'),
    ...feature('commit-what-succeeded', 'go-away', 'change-many-rows', 'write-many'),
    ...feature('guard-included-rows', 'include-what-is-visible'),
  ],
  'src/handle': [
    ...unit('handle/*'),
    ...feature('change-many-rows', 'insert-many-rows', 'repeat-writes-of-many', 'write-many'),
    ...feature('read-a-record', 'change-a-record', 'send-a-condition', 'match-a-tag', 'replace-a-record'),
    ...feature('restore-and-purge', 'include-relations', 'count-related-rows', 'choose-fields', 'inject'),
    ...feature('shape-before-commit', 'override-a-method', 'configure-a-subresource', 'walk-a-subresource'),
    ...feature('add-a-route', 'take-from-the-resource', 'inject-into-a-list', 'answer-with-relations'),
    ...feature('idempotency-key', 'keep-a-row-under-a-key', 'commit-what-succeeded', 'read-only-get'),
    ...feature('run-requests-in-a-unit', 'unit-of-work', 'survive-a-throwing-controller', 'go-away'),
    ...feature('write-the-answer-yourself', 'secure-rows', 'include-through-hooks', 'general-path'),
  ],
  'src/express/routes': [
    ...feature('read-a-record', 'use-another-method', 'find-a-route', 'encode-a-path', 'choose-endpoints'),
    ...feature('mount-a-router', 'add-a-route', 'override-a-method', 'extend-a-route', 'prefix-all-routes'),
    ...feature('configure-a-subresource', 'inject', 'set-settings', 'depend-on-middleware', 'write-many'),
    ...feature('inject-into-a-controller', 'configure-routing-controllers', 'address-a-record'),
    ...feature('throw-from-a-controller', 'mount-behind-bootstrap', 'secure-rows'),
  ],
  'src/express/resources': [
    ...unit('express/resources/*', 'declare/*'),
    ...feature('misconfigure', 'mistype-a-parameter', 'add-a-route', 'override-a-method', 'extend-a-route'),
    ...feature('set-settings', 'inject-into-a-controller', 'take-from-the-resource', 'forget-a-controller'),
    ...feature('run-two-applications', 'configure-routing-controllers', 'own-a-model', 'mount-a-router'),
    ...feature('see-one-organisation', 'use-repositories-in-a-scope', 'idempotency-key'),
  ],
  'src/express/server': [...unit('express/server/*'), ...feature('serve', 'bring-your-own-server')],
};

/** What mutants of other kinds break is found by nearly every test; over HTTP each test has its price. */
const OF_DECISIONS = [
  'StringLiteral',
  'ObjectLiteral',
  'ArrayDeclaration',
  'ArrowFunction',
  'BlockStatement',
];

function unit(...names) {
  return names.map((name) => `dist/test/unit/${name}.test.js`);
}

function feature(...names) {
  return names.map((name) => `dist/test/feature/**/${name}.test.js`);
}

/**
 * Arguments are files and folders of one of those; `--unit` leaves out the tests over HTTP, and `--by=write-many,inject` takes these
 * of `test/feature` alone.
 */
export async function mutation(args) {
  const mutate = args.filter((arg) => !arg.startsWith('--'));
  const folders = Object.keys(TESTS).filter((folder) => mutate.some((file) => file.startsWith(folder)));
  const isKnown = (arg) => !arg.startsWith('--') || arg === '--unit' || arg.startsWith('--by=');
  const isTold = args.filter((arg) => arg.startsWith('--')).length <= 1 && args.every(isKnown);
  if (folders.length !== 1 || !isTold)
    throw new StepFailed(
      `Usage: npm run mutation -- <files in one of ${Object.keys(TESTS).join(', ')}> [--unit | --by=<tests>]`,
    );
  await compile();
  const spec = testsOf(folders[0], args);
  await installPackages('Stryker', PACKAGE);
  await withPostgres(() => runStryker(folders[0], mutate, spec));
}

function testsOf(folder, args) {
  const by = args.find((arg) => arg.startsWith('--by='));
  if (by) {
    const names = by.slice('--by='.length).split(',');
    const all = readdirSync(path.join(root, 'dist/test/feature'), { recursive: true }).map((file) =>
      path.basename(file, '.test.js'),
    );
    const missing = names.find((name) => !all.includes(name));
    if (missing)
      throw new StepFailed(
        `${by}: there is no ${missing}; tests are named as in a folder of test/feature, without .test.ts.`,
      );
    return feature(...names);
  }
  return args.includes('--unit') ? TESTS[folder].filter((file) => file.includes('/unit/')) : TESTS[folder];
}

async function runStryker(folder, mutate, spec) {
  mkdirSync(path.join(root, WORK), { recursive: true });
  const name = folder.replaceAll('/', '-');
  const entry = path.join(PACKAGE, 'node_modules/@stryker-mutator/core/dist/src/index.js');
  const { Stryker } = await import(pathToFileURL(entry).href);
  await new Stryker({
    mutate: mutate.map((file) => (file.includes('.ts') ? file : `${file}/**/*.ts`)),
    // Biome would take a second configuration, of a run that was interrupted, for a mistake.
    ignorePatterns: ['biome.json', 'bench/results', 'coverage', 'docs', '.git', 'dist/.tsbuildinfo'],
    buildCommand: `${process.execPath} ${programs.tsc} -p tsconfig.json --noCheck`,
    // TypeScript 7 has no API with which Stryker could read it; nothing in it has to change.
    tsconfigFile: 'none.json',
    testRunner: 'mocha',
    mochaOptions: {
      'no-config': true,
      'no-package': true,
      require: ['test/mutation/prepare.cjs'],
      spec,
    },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    // Applications of several tests at once would wait for each other.
    concurrency: 1,
    // Each start of an application leaves something in the lists of routing-controllers, which makes the next one slower.
    maxTestRunnerReuse: 50,
    // A mutant without end costs this and a new process. Hooks before a suite are not in the time that the factor is for.
    timeoutMS: 5_000,
    timeoutFactor: 2,
    mutator: { excludedMutations: folder === 'src/request/query' ? [] : OF_DECISIONS },
    incremental: true,
    incrementalFile: `${WORK}/${name}.json`,
    tempDirName: `${WORK}/sandbox`,
    reporters: ['progress-append-only', 'clear-text', 'json'],
    jsonReporter: { fileName: `${WORK}/${name}-last.json` },
    clearTextReporter: { logTests: false, allowColor: false, allowEmojis: false },
  }).runMutationTest();
}

/** Gives the tests a server that goes on between mutants. */
async function withPostgres(work) {
  const { startPostgres } = await import('../dist/test/support/postgres.js');
  const server = await startPostgres();
  process.env.DATABASE_URL = server.url;
  await work().finally(() => server.stop());
}
