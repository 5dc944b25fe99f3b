/** The report of a comparison of two revisions, from figures that are given. */
import { expect } from 'chai';
import type { Row } from '../../bench/measure/measure.js';
import { writeComparison } from '../../bench/report/comparison.js';

const row = (contender: string, rates: readonly number[], problem: string | null = null): Row => ({
  contender,
  workload: 'read',
  samples: rates.map((rate) => ({ rate, p50: 1, p90: 2, p99: 3, node: 1e6 / rate, postgres: null })),
  problem,
});

/** Rows of pairs of processes; each process has two slices. */
const pairsOf = (other: 'after' | 'again', ratios: readonly number[]): Row[][] =>
  ratios.map((ratio, index) => {
    const rates = [1_000, 400 + index];
    const pair = [
      row('before', rates),
      row(
        other,
        rates.map((rate) => rate * ratio),
      ),
    ];
    // Each second pair has the other order.
    return index % 2 === 0 ? pair : pair.reverse();
  });

const report = (change: readonly Row[][], itself: readonly number[]): string =>
  writeComparison({
    machine: {},
    schedule: { rounds: itself.length, seconds: 1, warmUp: 6, connections: 64 },
    workloads: [{ name: 'read', title: 'Read by id' }],
    pairs: [...change, ...pairsOf('again', itself)],
  });

const lineOf = (text: string, heading: string): string =>
  text
    .slice(text.indexOf(`## ${heading}`))
    .split('\n')
    .find((line) => line.startsWith('| Read by id')) ?? '';

const ALIKE = [0.99, 1.01, 1, 0.98, 1.02, 1, 0.97, 1.03, 1];
const FASTER = [1.2, 1.21, 1.22, 1.19, 1.18, 1.2, 1.1, 1.3, 1.2];

describe('report of a comparison', () => {
  it('shows the median, the interval and the quartiles of pairs of processes, and its own error', () => {
    const text = report(pairsOf('after', FASTER), ALIKE);
    expect(lineOf(text, 'Requests')).to.equal(
      '| Read by id | 1.200 | 1.180–1.220 | 1.190–1.210 | 1.000 (0.980–1.020) | 2.0 % | 20.0 % more | 702 | 843 |',
    );
    expect(lineOf(text, 'Processor time of Node')).to.contain('| 16.7 % less |');
  });

  it('sees no difference where the interval includes 1', () => {
    expect(lineOf(report(pairsOf('after', ALIKE), ALIKE), 'Requests')).to.contain('| no difference seen |');
  });

  it('sees none within its own error, however narrow the interval is', () => {
    const little = FASTER.map(() => 1.01);
    expect(lineOf(report(pairsOf('after', little), ALIKE), 'Requests')).to.contain(
      '| 1.010 | 1.010–1.010 | 1.010–1.010 | 1.000 (0.980–1.020) | 2.0 % | no difference seen |',
    );
  });

  it('says nothing of less than six pairs', () => {
    expect(lineOf(report(pairsOf('after', FASTER.slice(0, 5)), ALIKE), 'Requests')).to.contain(
      '| too few pairs |',
    );
  });

  it('has no figures of PostgreSQL on another machine', () => {
    expect(lineOf(report(pairsOf('after', FASTER), ALIKE), 'Processor time of PostgreSQL')).to.match(
      /^\| Read by id( \| –){8} \|$/,
    );
  });

  it('leaves out pairs with a problem, and names it', () => {
    const problem = '3 answers above 399 and 0 broken connections among 100 requests';
    const broken = [row('before', [1_000]), row('after', [9_000], problem)];
    const text = report([...pairsOf('after', FASTER), broken], ALIKE);
    expect(text).to.contain(`**Does not count:** after, read: ${problem}`);
    expect(lineOf(text, 'Requests')).to.contain('| 1.200 | 1.180–1.220 |');
  });
});
