/** The report of a comparison of two revisions. */
import type { Row, Schedule } from '../measure/measure.js';
import type { Circumstances } from './machine.js';
import { definitions, table } from './markdown.js';
import { intervalOf, medianOf, quantileOf } from './statistics.js';
import { type Figure, Summary } from './summary.js';

/** Everything that a comparison has found out. */
export interface Comparison {
  readonly machine: Circumstances;
  readonly schedule: Schedule;
  readonly workloads: readonly { readonly name: string; readonly title: string }[];
  /** Rows by pair of processes: of `before`, and of `after` or `again`. */
  readonly pairs: readonly (readonly Row[])[];
}

const FIGURES: Partial<Record<Figure, string>> = {
  rate: 'Requests per second',
  node: 'Processor time of Node, in microseconds for each request',
  postgres: 'Processor time of PostgreSQL, in microseconds for each request',
};
const HEAD = ['', 'ratio', '95 % interval', 'quartiles', 'to itself', 'own error', '', 'before', 'after'];

/** Writes it. */
export function writeComparison(comparison: Comparison): string {
  const { schedule, workloads, machine, pairs } = comparison;
  const problems = pairs.flat().filter(({ problem }) => problem);
  return `${[
    '# Comparison of two revisions',
    `Ratios of the working tree to the revision: ${schedule.rounds} pairs of processes, slices of ${schedule.seconds} s in turn. Each pair has the median of its neighboring slices, and all figures are of these medians. "To itself" is the revision beside itself; the end of its interval that is further from 1 is the error of the comparison. How it is measured is in [README.md](../README.md#two-revisions).`,
    definitions(machine),
    ...problems.map(
      ({ contender, workload, problem }) => `**Does not count:** ${contender}, ${workload}: ${problem}`,
    ),
    ...(Object.keys(FIGURES) as Figure[]).flatMap((figure) => [
      `## ${FIGURES[figure]}`,
      table(
        HEAD,
        workloads.map(({ name, title }) => [title, ...cellsOf(comparison, name, figure)]),
      ),
    ]),
  ].join('\n\n')}\n`;
}

function cellsOf({ pairs }: Comparison, workload: string, figure: Figure): string[] {
  const summaries = pairs.map((rows) => new Summary(rows));
  const ratiosOf = (name: string): number[] =>
    summaries.flatMap((each) => each.ratioSpread(name, 'before', workload, figure)?.median ?? []);
  const [ratios, itself] = [ratiosOf('after'), ratiosOf('again')];
  const error = Math.max(...(intervalOf(itself) ?? [Number.NaN]).map((end) => Math.abs(Math.log(end))));
  const quartiles = [0.25, 0.75].map((part) => quantileOf(ratios, part));
  const medians = ['before', 'after'].map((name) =>
    medianOf(summaries.flatMap((each) => each.median(name, workload, figure) ?? [])),
  );
  return [
    medianOf(ratios).toFixed(3),
    writeRange(intervalOf(ratios)),
    writeRange(quartiles),
    `${medianOf(itself).toFixed(3)} (${writeRange(intervalOf(itself))})`,
    Number.isNaN(error) ? '–' : `${(100 * Math.expm1(error)).toFixed(1)} %`,
    judge(ratios, error),
    ...medians.map((median) => median.toFixed(0)),
  ].map((cell) => (ratios.length > 0 ? cell : '–'));
}

function writeRange(ends: readonly number[] | null): string {
  return ends?.map((end) => end.toFixed(3)).join('–') ?? '–';
}

/** A difference is seen where the interval excludes 1, and the median is beyond the error. */
function judge(ratios: readonly number[], error: number): string {
  const [lowest, highest] = intervalOf(ratios) ?? [];
  if (!lowest || !highest || Number.isNaN(error)) return 'too few pairs';
  const median = medianOf(ratios);
  if ((lowest <= 1 && highest >= 1) || Math.abs(Math.log(median)) <= error) return 'no difference seen';
  return `${Math.abs(100 * (median - 1)).toFixed(1)} % ${median > 1 ? 'more' : 'less'}`;
}
