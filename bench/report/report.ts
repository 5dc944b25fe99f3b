/** The report of a run: tables in Markdown. */
import { CONTENDERS } from '../contenders.js';
import type { Workload } from '../load/workloads.js';
import { type Row, type Schedule, SELDOM } from '../measure/measure.js';
import type { PlacedContender } from '../platforms.js';
import type { Circumstances } from './machine.js';
import { definitions, table } from './markdown.js';
import { type Spread, writeMicroseconds, writeRatio, writeSpread } from './statistics.js';
import { type Figure, Summary } from './summary.js';

/** Everything that a run has found out. */
export interface Run {
  readonly contenders: readonly PlacedContender[];
  readonly workloads: readonly Workload[];
  readonly rows: readonly Row[];
  readonly schedule: Schedule;
  /** The contender that all are compared with. */
  readonly base: string;
  /** The one that is compared with all. */
  readonly ours: string;
  /** Costs of the process of each contender, by name: bytes at most, and milliseconds to the first answer. */
  readonly processes: Readonly<Record<string, { readonly memory: number; readonly startTime: number }>>;
  readonly machine: Circumstances;
  readonly packages: Circumstances;
  readonly settings: Circumstances;
  readonly isPartial: boolean;
}

const NOTHING = '–';

/** Writes it. */
export function writeReport(run: Run): string {
  const { schedule, base, ours } = run;
  const { rounds, seconds, warmUp, connections } = schedule;
  return `${[
    '# Benchmark',
    ...(run.isPartial ? ['**A part of the benchmark, or a short one. Nothing to quote.**'] : []),
    `${connections} connections${describeOthers(run)}, ${rounds} rounds of ${seconds} s in turn, each after ${warmUp} s to warm up; one round for those who answer less than ${SELDOM} requests in it. Medians, in parentheses the lowest and the highest round; a ratio is the median of the ratios that the rounds have. How it is measured is in [README.md](../README.md). Only ratios mean anything elsewhere.`,
    definitions(run.machine),
    ...problems(run),
    `## Requests per second, as a ratio to ${title(run, base)}`,
    ratioTable(run, (summary, contender, workload) =>
      summary.ratioSpread(contender, beside(run, contender, base), workload, 'rate'),
    ),
    `## How many times as fast ${title(run, ours)} is`,
    ratioTable(run, (summary, contender, workload) =>
      summary.ratioSpread(beside(run, contender, ours), contender, workload, 'rate'),
    ),
    ...depth(run),
    ...besides(run),
    ...extensions(run),
    '## Requests per second',
    spreadTable(run, 0, (summary, ...row) => summary.spread(...row, 'rate')),
    '## Latency: median, in milliseconds',
    figureTable(run, 'p50', 1),
    '## Latency: 90th percentile, in milliseconds, and how many times the median that is',
    crowdTable(run),
    '## Latency: 99th percentile, in milliseconds',
    spreadTable(run, 1, (summary, ...row) => summary.spread(...row, 'p99')),
    `## Latency: 99th percentile, as a ratio to ${title(run, base)}`,
    ratioTable(run, (summary, contender, workload) =>
      summary.ratioSpread(contender, beside(run, contender, base), workload, 'p99'),
    ),
    '## Processor time of Node, in microseconds for each request',
    tableOf(run, (summary, ...row) => summary.spread(...row, 'node'), writeMicroseconds),
    '## Processor time of PostgreSQL, in microseconds for each request',
    tableOf(run, (summary, ...row) => summary.spread(...row, 'postgres'), writeMicroseconds),
    `## Processor time of PostgreSQL, as a ratio to ${title(run, base)}`,
    ratioTable(run, (summary, contender, workload) =>
      summary.ratioSpread(contender, beside(run, contender, base), workload, 'postgres'),
    ),
    '## Process',
    processTable(run),
    '## Versions',
    definitions(run.packages),
    settingsOf(run),
  ].join('\n\n')}\n`;
}

/** Names the workloads with fewer connections. */
function describeOthers({ workloads, schedule }: Run): string {
  const fewer = workloads.filter(
    ({ connections = schedule.connections }) => connections < schedule.connections,
  );
  if (fewer.length === 0) return '';
  return ` (${fewer.map(({ title, connections }) => `${connections} under "${title}"`).join(', ')})`;
}

function settingsOf({ settings }: Run): string {
  const texts = Object.entries(settings).map(([name, value]) => `\`${name}=${value}\``);
  return texts.length > 0
    ? `PostgreSQL's settings: ${texts.join(', ')}.`
    : "PostgreSQL's settings are those of the server of BENCH_DATABASE_URL.";
}

/** Rows that do not count. */
function problems({ rows, contenders, workloads }: Run): string[] {
  const uncounted = rows.filter(({ problem }) => problem !== null);
  if (uncounted.length === 0) return ['Every answer was checked against the database; no request failed.'];
  const lines = uncounted.map(({ contender, workload, problem }) => {
    const who = contenders.find(({ name }) => name === contender)?.title;
    return `- ${who}, ${workloads.find(({ name }) => name === workload)?.title}: ${problem}`;
  });
  return ['**These do not count:**', lines.join('\n')];
}

/** The cost of a deep page, for contenders that page by cursor. */
function depth(run: Run): string[] {
  const names = run.workloads.map(({ name }) => name);
  if (!names.includes('deep20') || !names.includes('list20')) return [];
  const summary = new Summary(run.rows);
  const lines = run.contenders.map(({ name, title }) => {
    const ratio = summary.workloadSpread(name, 'list20', 'deep20');
    return [title, ratio === null ? NOTHING : writeRatio(ratio)];
  });
  return ['## What the deep page costs, as a ratio to the first one', table(['', 'ratio'], lines)];
}

/** Workloads that are compared with another one, such as a hundred records in a request with one record. */
function besides(run: Run): string[] {
  const titles = new Map(run.workloads.map(({ name, title }) => [name, title]));
  const compared = run.workloads.filter(({ beside }) => beside !== undefined && titles.has(beside));
  if (compared.length === 0) return [];
  const pairs = compared.map((each) => ({
    ...each,
    title: `${each.title} : ${titles.get(each.beside ?? '')}`,
  }));
  const pairTable = (figure: Figure): string =>
    ratioTable({ ...run, workloads: pairs }, (summary, contender, name) => {
      const recordsOf = (own: string) => run.workloads.find((each) => each.name === own)?.records ?? 1;
      const { beside = '' } = compared.find((each) => each.name === name) ?? {};
      // A figure of time is the better the smaller it is.
      const [one, other] = figure === 'rate' ? [name, beside] : [beside, name];
      const ratio = summary.workloadSpread(contender, one, other, figure);
      return ratio && multiply(ratio, recordsOf(name) / recordsOf(beside));
    });
  return [
    '## Records per second, as a ratio to another workload',
    pairTable('rate'),
    '## Records for the same processor time of Node, likewise',
    pairTable('node'),
    '## Records for the same processor time of PostgreSQL, likewise',
    pairTable('postgres'),
    ...recordRates(run),
  ];
}

function recordRates(run: Run): string[] {
  const workloads = run.workloads.filter(({ records }) => records !== undefined);
  if (workloads.length === 0) return [];
  const look: Look<number> = (summary, contender, name) => {
    const rate = summary.median(contender, name, 'rate');
    return rate && rate * (workloads.find((each) => each.name === name)?.records ?? 1);
  };
  return ['## Records per second', tableOf({ ...run, workloads }, look, (rate) => rate.toFixed(0))];
}

/** The cost of a user's code in a route, beside the same route without it. */
function extensions(run: Run): string[] {
  const contenders = run.contenders.filter(({ group }) => group === 'extension');
  const isPlain = run.contenders.some(({ name, group }) => name === run.ours && group === 'ours');
  if (contenders.length === 0 || !isPlain) return [];
  const extended = { ...run, contenders };
  return [
    '## What extensions cost',
    `Each is compared with ${title(run, run.ours)} in the same round. 1.00 costs nothing. 0.50 is half as many requests, or twice the processor time.`,
    '### Requests per second, as a ratio',
    ratioTable(extended, (summary, contender, workload) =>
      summary.ratioSpread(contender, beside(run, contender, run.ours), workload, 'rate'),
    ),
    '### Processor time of Node: the ratio, microseconds for each request, and how many more that is',
    costTable(extended, 'node'),
    '### Processor time of PostgreSQL: likewise',
    costTable(extended, 'postgres'),
  ];
}

function costTable(run: Run, figure: Figure): string {
  const look: Look<string> = (summary, contender, workload) => {
    const ours = beside(run, contender, run.ours);
    const ratio = summary.ratioSpread(ours, contender, workload, figure);
    const own = summary.median(contender, workload, figure);
    const more = summary.differenceSpread(contender, ours, workload, figure);
    if (!ratio || !more || own === null) return null;
    return `${writeRatio(ratio)} · ${own.toFixed(0)} µs · ${signed(more.median)} µs`;
  };
  return tableOf(run, look, (cell) => cell);
}

function signed(figure: number): string {
  return `${figure < 0 ? '−' : '+'}${Math.abs(figure).toFixed(0)}`;
}

/** Finds the value of a cell; null for an empty one. */
type Look<T> = (summary: Summary, contender: string, workload: string) => T | null;

function ratioTable(run: Run, look: Look<Spread>): string {
  return tableOf(run, look, writeRatio);
}

function figureTable(run: Run, figure: Figure, digits: number): string {
  return tableOf(
    run,
    (summary, ...row) => summary.median(...row, figure),
    (median) => median.toFixed(digits),
  );
}

/** With many clients, the ratio shows how much longer some wait than others. */
function crowdTable(run: Run): string {
  const look: Look<string> = (summary, ...row) => {
    const p50 = summary.median(...row, 'p50');
    const p90 = summary.median(...row, 'p90');
    return p50 === null || p90 === null ? null : `${p90.toFixed(1)} · ${(p90 / p50).toFixed(1)}`;
  };
  return tableOf(run, look, (cell) => cell);
}

function spreadTable(run: Run, digits: number, look: Look<Spread>): string {
  return tableOf(run, look, (spread) => writeSpread(spread, digits));
}

function multiply({ median, lowest, highest }: Spread, factor: number): Spread {
  return { median: median * factor, lowest: lowest * factor, highest: highest * factor };
}

function tableOf<T>(run: Run, look: Look<T>, write: (found: T) => string): string {
  const summary = new Summary(run.rows);
  const head = ['', ...run.workloads.map((workload) => workload.title)];
  const lines = run.contenders.map(({ name, title }) => [
    title,
    ...run.workloads.map((workload) => {
      const found = look(summary, name, workload.name);
      return found === null ? NOTHING : write(found);
    }),
  ]);
  return table(head, lines);
}

function processTable({ contenders, processes }: Run): string {
  const lines = contenders.map(({ name, title }) => {
    const { memory = Number.NaN, startTime = Number.NaN } = processes[name] ?? {};
    return [title, (memory / 2 ** 20).toFixed(0), startTime.toFixed(0)];
  });
  return table(['', 'resident memory at most, MB', 'start to first answer, ms'], lines);
}

function title({ contenders }: Run, name: string): string {
  const found = contenders.find((contender) => contender.name === name);
  if (found) return found.title;
  const placed = CONTENDERS.find((contender) => contender.name === name)?.title ?? name;
  return `${placed} on the same platform`;
}

/** The contender of a name on the platform of another one. */
function beside({ contenders }: Run, other: string, name: string): string {
  return `${name}${contenders.find((contender) => contender.name === other)?.platform ?? ''}`;
}
