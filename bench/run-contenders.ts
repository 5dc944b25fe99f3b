/** Runs contenders against each other. */
import type { Contender } from './contenders.js';
import { ContenderProcess } from './measure/contender-process.js';
import { type Database, SETTINGS, startServer } from './measure/database.js';
import { type Entrant, measure } from './measure/measure.js';
import { Sampler } from './measure/sample.js';
import { SpeedGauge } from './measure/speed-gauge.js';
import type { Options } from './options.js';
import { drawChart } from './report/chart.js';
import { describeMachine, packageVersions } from './report/machine.js';
import { type Run, writeReport } from './report/report.js';
import { say } from './say.js';
import { writeResults } from './write-results.js';

/** Measures, and writes the results; answers with whether all rows count. */
export async function runContenders(options: Options, command: readonly string[]): Promise<boolean> {
  const { suite } = options;
  const contenders = suite.contenders.filter(({ name }) => options.only.includes(name));
  const has = (name: string): boolean => contenders.some((contender) => contender.name === name);
  const base = has(suite.limit) ? suite.limit : (contenders[0]?.name ?? suite.limit);
  const ours = has(suite.ours) ? suite.ours : (contenders.at(-1)?.name ?? suite.ours);
  const run = await runAll(options, command, contenders, { base, ours });
  const name = options.isPartial ? 'partial' : suite.results;
  await writeResults(name, { md: writeReport(run), svg: drawChart(run), json: toJson(run) });
  return run.rows.every(({ problem }) => problem === null);
}

/** Measures the contenders, each in a process of its own, on one database. */
export async function runAll(
  options: Options,
  command: readonly string[],
  contenders: readonly Contender[],
  { base, ours }: { readonly base: string; readonly ours: string },
): Promise<Run> {
  const { rows, fill } = options.suite;
  say(`Creating ${rows.toLocaleString('en')} rows`);
  await using server = await startServer();
  const database = await server.create(fill(contenders), rows);
  const entrants: Entrant[] = [];
  try {
    for (const contender of contenders) {
      say(`Starting ${contender.title}`);
      const process = await ContenderProcess.start(contender, { databaseUrl: database.url });
      entrants.push({ contender, process });
    }
    await using gauge = await SpeedGauge.start();
    const sampler = new Sampler(server, gauge);
    const measured = await measureAll(options, sampler, database, entrants);
    const described = await describe(command, database, contenders);
    const machine = { ...described.machine, Steadiness: sampler.steadiness };
    return { ...measured, ...described, machine, base, ours };
  } finally {
    for (const { process } of entrants) await process[Symbol.asyncDispose]();
  }
}

async function measureAll(
  options: Options,
  sampler: Sampler,
  database: Database,
  entrants: readonly Entrant[],
) {
  const { schedule, isPartial, suite } = options;
  const workloads = suite.workloads.filter(({ name }) => options.work.includes(name));
  const rows = await measure({ sampler, database, schedule, checks: suite.checks, say }, entrants, workloads);
  const processes = Object.fromEntries(
    entrants.map(({ contender, process }) => [
      contender.name,
      { memory: process.peakMemory(), startTime: process.startTime },
    ]),
  );
  return { workloads, rows, schedule, isPartial, processes };
}

async function describe(command: readonly string[], database: Database, contenders: readonly Contender[]) {
  return {
    contenders,
    machine: describeMachine(await database.version(), command),
    packages: packageVersions(contenders),
    settings: process.env['BENCH_DATABASE_URL'] ? {} : SETTINGS,
  };
}

/** For machines: the samples, not what they come to. */
export function toJson({ contenders, workloads, ...run }: Run): string {
  const named = {
    ...run,
    contenders: contenders.map(({ name, title, group }) => ({ name, title, group })),
    workloads: workloads.map(({ name, title }) => ({ name, title })),
  };
  return `${JSON.stringify(named, null, 2)}\n`;
}
