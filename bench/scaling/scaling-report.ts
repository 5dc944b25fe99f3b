/** The report of the scaling curves: a table for each. */
import type { Schedule } from '../measure/measure.js';
import type { Sample } from '../measure/sample.js';
import type { Circumstances } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { type Spread, spreadOf, writeMicroseconds, writeSpread } from '../report/statistics.js';
import type { Bootstrap, MeasuredCurve, Point } from './run-scaling.js';

/** Everything that a run has found out. */
export interface ScalingRun {
  readonly curves: readonly MeasuredCurve[];
  readonly machine: Circumstances;
  readonly schedule: Schedule;
  readonly isPartial: boolean;
}

const NOTHING = '–';

/** Writes it. */
export function writeScalingReport(
  { curves, machine, schedule, isPartial }: ScalingRun,
  chart: string,
): string {
  const { rounds, seconds, connections } = schedule;
  return `${[
    '# What a request costs as things grow',
    ...(isPartial ? ['**A short run. Nothing to quote.**'] : []),
    `Processor time in microseconds for each request, of Node and of PostgreSQL; latencies in milliseconds. Medians of ${rounds} rounds of ${seconds} s in turn, and of ${rounds} starts, in parentheses the lowest and the highest one; ${connections} connections where nothing else is said. How it is measured is in [README.md](../README.md).`,
    `![What a request costs as things grow](${chart})`,
    definitions(machine),
    ...curves.flatMap(({ curve, points }) => [
      `## ${curve.title}`,
      table(
        [curve.unit, 'Node µs', 'PostgreSQL µs', 'p50 ms', 'p99 ms', 'requests/s'],
        points.map((point) => [label(point), ...figures(point)]),
      ),
      ...bootstrapTable(curve.start, points),
    ]),
  ].join('\n\n')}\n`;
}

function label({ series, step }: Point): string {
  return `${series}: ${step.toLocaleString('en')}`;
}

function figures({ samples, problem }: Point): string[] {
  if (problem) return [problem, NOTHING, NOTHING, NOTHING, NOTHING];
  const cell = (figure: keyof Sample, write: (spread: Spread) => string): string => {
    const values = samples.map((sample) => sample[figure]).filter((value) => value !== null);
    return values.length > 0 ? write(spreadOf(values)) : NOTHING;
  };
  return [
    cell('node', writeMicroseconds),
    cell('postgres', writeMicroseconds),
    cell('p50', (spread) => writeSpread(spread, 1)),
    cell('p99', (spread) => writeSpread(spread, 1)),
    cell('rate', (spread) => writeSpread(spread, 0)),
  ];
}

function bootstrapTable(title: string | undefined, points: readonly Point[]): string[] {
  if (title === undefined) return [];
  const lines = points.flatMap(({ step, starts }) => {
    if (starts.length === 0) return [];
    const cell = (figure: keyof Bootstrap, digits: number, unit = 1): string =>
      writeSpread(spreadOf(starts.map((start) => start[figure] / unit)), digits);
    return [
      [step.toLocaleString('en'), cell('milliseconds', 0), cell('document', 0), cell('heap', 1, 2 ** 20)],
    ];
  });
  return [table([title, '`bootstrap`, ms', 'document, ms', 'heap of it all, MB'], lines)];
}
