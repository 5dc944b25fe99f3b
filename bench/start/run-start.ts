/** Measures starts: from the first line of a program to the answers of ten resources, by phases. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../sample/support/free-port.js';
import { fillStatements } from '../load/article.js';
import { startServer } from '../measure/database.js';
import type { Options } from '../options.js';
import { describeMachine } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { spreadOf, writeSpread } from '../report/statistics.js';
import { say } from '../say.js';
import { indexOrders } from '../scaling/prepare-tables.js';
import { writeResults } from '../write-results.js';
import { MODELS, PHASES, type Phase, type Span, type Start } from './phases.js';

const ROWS = 100;

/** Phases that are work of this library. The frameworks are loaded before, and the connections are opened between. */
const OWN: readonly Phase[] = ['library', 'models', 'mount', 'first answer'];

/** Programs, by their names in the report. `packed` has the library as it is published. */
const PROGRAMS = {
  ours: 'packed/dist/bench/start/ours.js',
  'ours, a file for each module': 'bench/start/ours.js',
  'by hand': 'bench/start/by-hand.js',
} as const;

/** The folder of the compiled files, and that of the repository. */
const COMPILED = join(__dirname, '../..');
const ROOT = join(COMPILED, '..');

/** Measures, and writes the results. */
export async function runStart(options: Options, command: readonly string[]): Promise<boolean> {
  publishBeside();
  await using server = await startServer();
  const database = await server.create(fillStatements(ROWS), ROWS);
  await indexOrders(database);
  const programs = Object.entries(PROGRAMS).map(([name, script]) => ({
    name,
    script,
    starts: [] as Start[],
  }));
  for (let round = 0; round < options.schedule.rounds; round += 1)
    for (const { script, starts } of programs) starts.push(await startOnce(script, database.url));
  const rowOf = (title: string, cell: (starts: readonly Start[]) => string) => [
    title,
    ...programs.map(({ starts }) => cell(starts)),
  ];
  const rows = [
    ...PHASES.map((phase) => rowOf(phase, (starts) => timeOf(starts, [phase]))),
    rowOf(`**${OWN.join(', ')}**`, (starts) => timeOf(starts, OWN)),
    rowOf('memory', (starts) => `${writeSpread(spreadOf(starts.map(({ memory }) => memory / 1e6)), 0)} MB`),
  ];
  for (const row of rows) say(row.join('  '));
  const machine = describeMachine(process.versions.node, await database.version(), command);
  const md = `# Starts of ${MODELS} resources\n\n${definitions(machine)}\n\nMilliseconds by the clock and of the processor: medians of ${options.schedule.rounds} starts, in parentheses the lowest and the highest one.\n\n${table(
    ['phase', ...Object.keys(PROGRAMS)],
    rows,
  )}\n`;
  await writeResults(options.isPartial ? 'partial-start' : 'start', { md });
  return true;
}

function timeOf(starts: readonly Start[], phases: readonly Phase[]): string {
  const sum = (kind: keyof Span) => {
    const sums = starts.map(({ spans }) => phases.reduce((total, phase) => total + spans[phase][kind], 0));
    return writeSpread(spreadOf(sums), 0);
  };
  return `${sum('wall')} · ${sum('processor')}`;
}

/** Copies the compiled library and the programs, and packs the modules of the copy. */
function publishBeside(): void {
  const folder = join(COMPILED, 'packed');
  rmSync(folder, { recursive: true, force: true });
  for (const part of ['src', 'swagger-ui', 'bench/start', 'bench/contenders/support'])
    cpSync(join(COMPILED, part), join(folder, 'dist', part), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  execFileSync(process.execPath, [join(ROOT, 'scripts/pack-modules.mjs'), join(folder, 'dist/src')]);
}

/** Starts a process, and ends it when it has sent its figures. */
async function startOnce(script: string, databaseUrl: string): Promise<Start> {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    PORT: String(await findFreePort()),
    DATABASE_URL: databaseUrl,
  };
  const child = fork(join(COMPILED, script), { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code} before its figures.`);
  });
  const [start] = (await Promise.race([once(child, 'message'), ended])) as [Start];
  child.kill('SIGKILL');
  await ended.catch(() => {});
  return start;
}
