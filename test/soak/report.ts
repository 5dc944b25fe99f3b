/** The report of a run, in Markdown. */
import { cpus, totalmem } from 'node:os';
import { definitions, table } from '../../bench/report/markdown.js';
import { type Figure, growthOf } from './memory.js';
import type { Options } from './options.js';
import { CLIENTS, type SoakResult } from './soak.js';
import type { FaultSpan } from './witness.js';

/** Problems that are shown; a broken promise breaks thousands of times. */
const SHOWN = 30;

/** Writes it. */
export function soakReport(result: SoakResult, { seed }: Options, revision: string): string {
  const { requests, seconds, acknowledged, logLines, faults, statuses, problems } = result;
  const failed = faults.reduce((sum, { failures }) => sum + failures, 0);
  const circumstances = {
    Date: new Date().toISOString().slice(0, 10),
    Machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    Node: process.versions.node,
    Revision: revision,
    Seed: `${seed}, ${seed % 2 === 1 ? 'with' : 'without'} group commit`,
    Duration: `${Math.round(seconds)} s`,
    Load: `${CLIENTS} clients, 4 for each connection; ${Math.round(requests / seconds)} requests a second`,
  };
  const figures = {
    Requests: `${requests}`,
    'Acknowledged writes': `${acknowledged}, each of them there once`,
    'Requests that failed with 503 or 504': `${failed}, in ${logLines} lines of the log`,
    Faults: `${faults.length}`,
    'Longest recovery': `${Math.round(Math.max(...faults.map(({ recovery }) => recovery)))} ms`,
  };
  return [
    '# The soak',
    'Mixed load on an application while everything around it fails. What is promised and how it is checked is in [test/README.md](../../test/README.md#the-soak).',
    definitions(circumstances),
    problems.length === 0
      ? 'Every promise was kept.'
      : `**${problems.length} promises were broken:**\n\n${list(problems)}`,
    definitions(figures),
    '## Faults',
    'Recovery is the time from the end of a fault to the last request that failed; 0 where none did.',
    faultTable(faults),
    '## Memory',
    'Of the process, after a garbage collection, in MB: the line through all measures after the first third.',
    memoryTable(result),
    '## Answers',
    table(
      ['status', 'answers'],
      [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => [`${status}`, `${count}`]),
    ),
    '',
  ].join('\n\n');
}

/** Problems that differ in numbers only, as one line with their count. */
export function list(problems: readonly string[]): string {
  const kinds = new Map<string, { readonly first: string; count: number }>();
  for (const problem of problems) {
    const key = problem.replace(/\d+/g, '#');
    const kind = kinds.get(key) ?? { first: problem, count: 0 };
    kind.count += 1;
    kinds.set(key, kind);
  }
  return [...kinds.values()]
    .slice(0, SHOWN)
    .map(({ first, count }) => `- ${count > 1 ? `${count} times: ` : ''}${first}`)
    .join('\n');
}

function faultTable(faults: readonly FaultSpan[]): string {
  const names = [...new Set(faults.map(({ name }) => name))].sort();
  const lines = names.map((name) => {
    const all = faults.filter((fault) => fault.name === name);
    const sorted = all.map(({ recovery }) => Math.round(recovery)).sort((a, b) => a - b);
    const failures = all.reduce((sum, fault) => sum + fault.failures, 0);
    const median = sorted[Math.floor(sorted.length / 2)];
    return [name, `${all.length}`, `${failures}`, `${median} ms`, `${sorted.at(-1)} ms`];
  });
  return table(['fault', 'times', 'requests failed', 'median recovery', 'longest recovery'], lines);
}

function memoryTable({ samples }: SoakResult): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const figures: readonly Figure[] = ['heap', 'external', 'rss'];
  return table(
    ['', 'from', 'to', 'highest'],
    figures.map((figure) => {
      const { from, to } = growthOf(samples, figure);
      return [figure, from, to, Math.max(...samples.map((sample) => sample[figure]))].map((value) =>
        typeof value === 'number' ? megabytes(value) : value,
      );
    }),
  );
}
