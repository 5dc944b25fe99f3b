/** `npm run mutation`: changes the source in thousands of places, one at a time, and checks that a test fails. */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { compile } from './compile.mjs';
import { installPackages } from './set-up.mjs';
import { programs, root, StepFailed } from './step.mjs';

const PACKAGE = path.join(root, 'test/mutation');
/** The folder of runs: git and Biome leave it out. */
const WORK = 'coverage/mutation';
const UNIT = 'dist/test/unit/**/!(*fuzz|*oracle).test.js';
const FEATURE = 'dist/test/feature';

/** Kinds of mutants that change decisions. Nearly every test finds the others, and tests over HTTP take long. */
const OF_DECISIONS = [
  'StringLiteral',
  'ObjectLiteral',
  'ArrayDeclaration',
  'ArrowFunction',
  'BlockStatement',
];

/**
 * Arguments are files and folders of src, with the unit tests; `--by=bulk,write-many` adds folders and files of `test/feature`.
 * Stryker chooses the tests that reach a mutant.
 */
export async function mutation(args) {
  const mutate = args.filter((arg) => !arg.startsWith('--'));
  const options = args.filter((arg) => arg.startsWith('--'));
  const by = options[0]?.startsWith('--by=') ? options[0].slice('--by='.length).split(',') : [];
  if (mutate.length === 0 || options.length > (by.length > 0 ? 1 : 0))
    throw new StepFailed(
      'Usage: npm run mutation -- <files of src> [--by=<folders and files of test/feature>]',
    );
  await compile();
  const spec = [UNIT, ...by.flatMap(feature)];
  await installPackages('Stryker', PACKAGE);
  await withPostgres(() => runStryker(mutate, spec));
}

/** The tests in a folder, or in the file of a name. */
function feature(name) {
  const found = readdirSync(path.join(root, FEATURE), { recursive: true }).filter(
    (file) => file.endsWith('.test.js') && file.split(path.sep).some((part) => part.split('.')[0] === name),
  );
  if (found.length > 0) return found.map((file) => path.posix.join(FEATURE, ...file.split(path.sep)));
  throw new StepFailed(`test/feature has no folder and no test ${name}.`);
}

async function runStryker(mutate, spec) {
  mkdirSync(path.join(root, WORK), { recursive: true });
  const name = mutate[0].replace(/[:.].*$/, '').replaceAll('/', '-');
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
    mutator: { excludedMutations: spec.length > 1 ? OF_DECISIONS : [] },
    incremental: true,
    incrementalFile: `${WORK}/${name}.json`,
    tempDirName: `${WORK}/sandbox`,
    reporters: ['progress-append-only', 'clear-text', 'json'],
    jsonReporter: { fileName: `${WORK}/${name}-last.json` },
    clearTextReporter: { logTests: false, allowColor: false, allowEmojis: false },
  }).runMutationTest();
}

/** Runs the tests beside a server that goes on between mutants. */
async function withPostgres(work) {
  const { startPostgres } = await import('../dist/test/support/postgres.js');
  const server = await startPostgres();
  process.env.DATABASE_URL = server.url;
  await work().finally(() => server.stop());
}
