/** Runs contenders against each other. */
import { ContenderProcess } from './measure/contender-process.js';
import { type Database, SETTINGS, startServer } from './measure/database.js';
import { type Entrant, measure } from './measure/measure.js';
import { Sampler } from './measure/sample.js';
import { SpeedGauge } from './measure/speed-gauge.js';
import type { Options } from './options.js';
import { type PlacedContender, placeContenders } from './platforms.js';
import { drawChart } from './report/chart.js';
import { describeMachine, packageVersions } from './report/machine.js';
import { type Run, writeReport } from './report/report.js';
import { say } from './say.js';
import { ARTICLES } from './suite.js';
import { writeResults } from './write-results.js';

/** Measures, and writes the results. @returns true where all rows count */
export async function runContenders(options: Options, command: readonly string[]): Promise<boolean> {
  const { suite } = options;
  const contenders = suite.contenders.filter(({ name }) => options.only.includes(name));
  const has = (name: string): boolean => contenders.some((contender) => contender.name === name);
  const base = has(suite.limit) ? suite.limit : (contenders[0]?.name ?? suite.limit);
  const ours = has(suite.ours) ? suite.ours : (contenders.at(-1)?.name ?? suite.ours);
  const placed = await placeContenders(contenders, options.platforms);
  const run = await runAll(options, command, placed, { base, ours });
  const md = writeReport(run);
  if (options.as) await writeResults(options.as, { md });
  else {
    const name = options.isPartial ? 'partial' : suite.results;
    const isWithChart = suite === ARTICLES;
    await writeResults(name, isWithChart ? { md, svg: drawChart(run), json: toJson(run) } : { md });
  }
  return run.rows.every(({ problem }) => problem === null);
}

/** Measures the contenders, each in a process of its own, on one database, or on one for each version of PostgreSQL. */
export async function runAll(
  options: Options,
  command: readonly string[],
  contenders: readonly PlacedContender[],
  { base, ours }: { readonly base: string; readonly ours: string },
): Promise<Run> {
  const { rows, fill, restoring } = options.suite;
  const databases = new Map<string | undefined, Database>();
  const started: AsyncDisposable[] = [];
  const entrants: Entrant[] = [];
  try {
    for (const version of new Set(contenders.map(({ postgres }) => postgres))) {
      say(`Creating ${rows.toLocaleString('en')} rows`);
      const server = await startServer(version);
      started.push(server);
      databases.set(version, await server.create(fill(contenders), rows, restoring));
    }
    for (const contender of contenders) {
      say(`Starting ${contender.title}`);
      const database = databases.get(contender.postgres) as Database;
      const process = await ContenderProcess.start(contender, { databaseUrl: database.url });
      started.push(process);
      entrants.push({ contender, process, database });
    }
    await using gauge = options.isOnce ? null : await SpeedGauge.start();
    const sampler = new Sampler(gauge);
    const measured = await measureAll(options, sampler, entrants);
    const described = await describe(command, [...databases.values()], contenders);
    const machine = { ...described.machine, Steadiness: sampler.steadiness };
    return { ...measured, ...described, machine, base, ours };
  } finally {
    // The processes that use a database end before it.
    for (const each of started.reverse()) await each[Symbol.asyncDispose]();
  }
}

async function measureAll(options: Options, sampler: Sampler, entrants: readonly Entrant[]) {
  const { schedule, suite } = options;
  const isPartial = options.isOnce || (options.isPartial && !options.as);
  const workloads = suite.workloads.filter(({ name }) => options.work.includes(name));
  const rows = await measure({ sampler, schedule, checks: suite.checks, say }, entrants, workloads);
  const processes = Object.fromEntries(
    entrants.map(({ contender, process }) => [
      contender.name,
      { memory: process.peakMemory(), startTime: process.startTime },
    ]),
  );
  return { workloads, rows, schedule, isPartial, processes };
}

async function describe(
  command: readonly string[],
  databases: readonly Database[],
  contenders: readonly PlacedContender[],
) {
  const postgres = await Promise.all(databases.map((database) => database.version()));
  const nodes = new Set(contenders.map(({ node }) => node?.version ?? process.versions.node));
  return {
    contenders,
    machine: describeMachine([...nodes].join(', '), postgres.join(', '), command),
    packages: packageVersions(contenders),
    settings: process.env['BENCH_DATABASE_URL'] ? {} : SETTINGS,
  };
}

/** The samples of a run as JSON, without medians. */
export function toJson({ contenders, workloads, ...run }: Run): string {
  const named = {
    ...run,
    contenders: contenders.map(({ name, title, group }) => ({ name, title, group })),
    workloads: workloads.map(({ name, title }) => ({ name, title })),
  };
  return `${JSON.stringify(named, null, 2)}\n`;
}
