/**
 * Measures two revisions of ours: one of git against the working tree. Processes of both are alive at once, and are loaded in
 * turn, in the order ABBA; only neighbors are compared. New pairs of processes do the same again.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { StartProblem } from '../sample/support/start-problem.js';
import { createTemporaryFolder } from '../test/support/temporary-folder.js';
import type { Contender } from './contenders.js';
import type { Workload } from './load/workloads.js';
import { ContenderProcess } from './measure/contender-process.js';
import { type Database, startServer } from './measure/database.js';
import { type Entrant, measure, type Row } from './measure/measure.js';
import { Sampler } from './measure/sample.js';
import type { Options } from './options.js';
import { ROOT } from './paths.js';
import { writeComparison } from './report/comparison.js';
import { describeMachine } from './report/machine.js';
import { say } from './say.js';
import type { Suite } from './suite.js';
import { writeResults } from './write-results.js';

const run = promisify(execFile);
/** Folders with the compiled contenders of ours. */
const FOLDERS = ['contenders', 'relations', 'writes', 'queries'].map((name) => `dist/bench/${name}`);

/** Slices of a workload that each process of a pair has. The first one warms up, and is not counted. */
const SLICES = 5;

/** Measures, and writes the results. @returns true where all rows count */
export async function runCompare(options: Options, command: readonly string[]): Promise<boolean> {
  const { schedule, suite } = options;
  const ours = oursOf(suite);
  const revision = resolveRevision(options.revision);
  const folder = await createTemporaryFolder('bench-revision');
  try {
    say(`Compiling ${revision}`);
    await build(revision, folder.path);
    const before = { ...ours, name: 'before', script: join(folder.path, relative(ROOT, ours.script)) };
    const others = [
      { ...ours, name: 'after' },
      { ...before, name: 'again' },
    ];
    say(`Creating ${suite.rows.toLocaleString('en')} rows`);
    // All processes use one database: both of a pair find the same rows in the same places.
    await using server = await startServer();
    const database = await server.create(suite.fill([ours]), suite.rows, suite.restoring);
    const pairs: Row[][] = [];
    for (let round = 0; round < schedule.rounds; round += 1) {
      for (const other of others) {
        say(`Pair ${round + 1} of ${schedule.rounds}: ${before.name} and ${other.name}`);
        pairs.push(await measurePair(options, database, round % 2 === 0 ? [before, other] : [other, before]));
      }
    }
    const machine = describeMachine(process.versions.node, await database.version(), command);
    const workloads = workloadsOf(options).map(({ name, title }) => ({ name, title }));
    const comparison = { machine: { ...machine, Before: revision }, schedule, workloads, pairs };
    const md = writeComparison(comparison);
    await writeResults('compare', { md, json: `${JSON.stringify(comparison, null, 2)}\n` });
    say(`\n${md}`);
    return pairs.flat().every(({ problem }) => problem === null);
  } finally {
    folder.remove();
  }
}

/** Starts new processes, warms them up, and measures one workload after the other. */
async function measurePair(
  options: Options,
  database: Database,
  contenders: readonly Contender[],
): Promise<Row[]> {
  const { schedule, suite } = options;
  const workloads = workloadsOf(options);
  const entrants: Entrant[] = [];
  // A slow machine is slow for both of two neighbors: no slice waits, and none is repeated.
  const bench = { sampler: new Sampler(null), checks: suite.checks, say: () => {} };
  const slice = { ...schedule, warmUp: 0 };
  try {
    for (const contender of contenders) {
      const process = await ContenderProcess.start(contender, { databaseUrl: database.url });
      entrants.push({ contender, process, database });
    }
    const rounds = Math.ceil(schedule.warmUp / schedule.seconds / workloads.length);
    await measure({ ...bench, schedule: { ...slice, rounds } }, entrants, workloads);
    const rows: Row[] = [];
    for (const each of workloads) {
      rows.push(...(await measure({ ...bench, schedule: { ...slice, rounds: SLICES } }, entrants, [each])));
    }
    return rows.map((row) => ({ ...row, samples: row.samples.slice(1) }));
  } finally {
    for (const { process } of entrants) await process[Symbol.asyncDispose]();
  }
}

function workloadsOf({ suite, work }: Options): Workload[] {
  return suite.workloads.filter(({ name }) => work.includes(name));
}

function oursOf({ contenders, ours }: Suite): Contender {
  return contenders.find(({ name }) => name === ours) as Contender;
}

function resolveRevision(revision: string): string {
  try {
    return git('rev-parse', '--short', '--verify', '--end-of-options', `${revision}^{commit}`).trim();
  } catch (cause) {
    throw new StartProblem(`git knows no revision '${revision}'.`, { cause });
  }
}

/** The library of the revision, with the packages and the contender of the working tree: only the library differs. */
async function build(revision: string, folder: string): Promise<void> {
  const archive = join(folder, 'source.tar');
  git('archive', `--output=${archive}`, revision, 'src', 'package.json', 'tsconfig.json');
  await run('tar', ['-xf', archive, '-C', folder]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const project = join(folder, 'tsconfig.library.json');
  await writeFile(project, JSON.stringify({ extends: './tsconfig.json', include: ['src'] }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', project]).catch((error: { stdout?: string }) => {
    throw new StartProblem(`${revision} does not compile with these packages:\n${error.stdout}`);
  });
  for (const each of FOLDERS) await cp(join(ROOT, each), join(folder, each), { recursive: true });
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
