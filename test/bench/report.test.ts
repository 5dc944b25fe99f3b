/** The report and the charts of the benchmark, from figures that are given. */
import { expect } from 'chai';
import { CONTENDERS } from '../../bench/contenders.js';
import { WORKLOADS } from '../../bench/load/workloads.js';
import type { Row } from '../../bench/measure/measure.js';
import { placeContenders } from '../../bench/platforms.js';
import { drawChart } from '../../bench/report/chart.js';
import { type Run, writeReport } from '../../bench/report/report.js';

const row = (
  contender: string,
  rates: readonly number[],
  problem: string | null = null,
  latencies: readonly number[] = [],
): Row => ({
  contender,
  workload: 'read',
  samples: rates.map((rate, round) => ({
    rate,
    p50: 1.25,
    p90: 5,
    p99: latencies[round] ?? 9.5,
    node: 40,
    postgres: 20,
  })),
  problem,
});

const runOf = (rows: readonly Row[], names = ['node-http', 'ours', 'nest-crud']): Run => ({
  contenders: CONTENDERS.filter(({ name }) => names.includes(name)),
  workloads: WORKLOADS.filter(({ name }) => name === 'read'),
  rows,
  schedule: { rounds: 3, seconds: 3, warmUp: 2, connections: 64 },
  base: 'node-http',
  ours: 'ours',
  processes: { ours: { memory: 100 * 2 ** 20, startTime: 412.3 } },
  machine: { Node: '20.0.0', PostgreSQL: '18.4' },
  packages: { pg: '8.0.0' },
  settings: { fsync: 'off' },
  isPartial: false,
});

const measured = runOf([
  row('node-http', [1_000, 1_200, 1_100]),
  row('ours', [2_300, 2_200, 2_200]),
  row('nest-crud', [100], '3 answers above 399 and 0 broken connections among 100 requests'),
]);

/** The lines of a table, below the heading that ends so. */
const tableBelow = (report: string, heading: string): string[] =>
  (report.split('## ').find((section) => section.split('\n')[0]?.endsWith(heading)) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
    .slice(1);

describe('report of the benchmark', () => {
  const report = writeReport(measured);

  it('compares with the limit round by round', () => {
    const drifting = runOf([row('node-http', [1_000, 2_000, 900]), row('ours', [2_000, 2_200, 2_250])]);
    expect(tableBelow(writeReport(drifting), 'as a ratio to node:http + pg')[1]).to.equal(
      '| crud-controllers | 2.00 (1.10–2.50) |',
    );
  });

  it('compares latencies round by round, too', () => {
    const rates = [1_000, 1_000, 1_000];
    const slowed = runOf([
      row('node-http', rates, null, [10, 40, 20]),
      row('ours', rates, null, [9, 44, 16]),
    ]);
    expect(tableBelow(writeReport(slowed), '99th percentile, as a ratio to node:http + pg')[1]).to.equal(
      '| crud-controllers | 0.900 (0.800–1.100) |',
    );
  });

  it('leaves out who does not count', () => {
    expect(tableBelow(report, 'as a ratio to node:http + pg')).to.deep.equal([
      '| node:http + pg | 1.00 |',
      '| crud-controllers | 2.00 (1.83–2.30) |',
      '| NestJS + @dataui/crud + TypeORM | – |',
    ]);
  });

  it('compares with the limit of the same platform', async () => {
    const limits = CONTENDERS.filter(({ name }) => ['node-http', 'ours'].includes(name));
    const own = process.versions.node.split('.')[0] as string;
    const contenders = await placeContenders(limits, { node: [own], postgres: ['14', '18'], processes: [2] });
    const rows = contenders.map(({ name }, index) =>
      row(name, [[1_000], [1_500], [2_000], [2_400]][index] ?? []),
    );
    const text = writeReport({ ...runOf(rows), contenders });
    const platform = (postgres: number) =>
      `Node ${process.versions.node}, PostgreSQL ${postgres}, 2 processes`;
    expect(tableBelow(text, 'as a ratio to node:http + pg on the same platform')).to.deep.equal([
      `| node:http + pg, ${platform(14)} | 1.00 |`,
      `| crud-controllers, ${platform(14)} | 1.50 |`,
      `| node:http + pg, ${platform(18)} | 1.00 |`,
      `| crud-controllers, ${platform(18)} | 1.20 |`,
    ]);
  });

  it('shows the spread beside the median', () => {
    expect(tableBelow(report, 'Requests per second')).to.deep.equal([
      '| node:http + pg | 1100 (1000–1200) |',
      '| crud-controllers | 2200 (2200–2300) |',
      '| NestJS + @dataui/crud + TypeORM | – |',
    ]);
  });

  describe('on what extensions cost', () => {
    /** Microseconds of Node and of PostgreSQL in each round. */
    const timed = (contender: string, times: readonly (readonly [number, number | null])[]): Row => ({
      contender,
      workload: 'read',
      samples: times.map(([node, postgres]) => ({
        rate: 1e6 / node,
        p50: 1,
        p90: 1.5,
        p99: 2,
        node,
        postgres,
      })),
      problem: null,
    });
    const NODE =
      'Processor time of Node: the ratio, microseconds for each request, and how many more that is';
    const POSTGRES = 'Processor time of PostgreSQL: likewise';

    it('compares each with ours, round by round', () => {
      const run = runOf(
        [
          timed('ours', [
            [20, 30],
            [40, 60],
            [25, 30],
          ]),
          timed('ours-override', [
            [40, 40],
            [50, 60],
            [50, 40],
          ]),
          timed('ours-getter', [[25, 30]]),
        ],
        ['ours', 'ours-override', 'ours-getter'],
      );
      const report = writeReport(run);
      expect(tableBelow(report, 'Requests per second, as a ratio')).to.deep.equal([
        '| crud-controllers, override | 0.500 (0.500–0.800) |',
        '| crud-controllers, getter | 0.800 |',
      ]);
      expect(tableBelow(report, NODE)).to.deep.equal([
        '| crud-controllers, override | 0.500 (0.500–0.800) · 50 µs · +20 µs |',
        '| crud-controllers, getter | 0.800 · 25 µs · +5 µs |',
      ]);
      expect(tableBelow(report, POSTGRES)).to.deep.equal([
        '| crud-controllers, override | 0.750 (0.750–1.000) · 40 µs · +10 µs |',
        '| crud-controllers, getter | 1.00 · 30 µs · +0 µs |',
      ]);
    });

    it('leaves out the processor time of a server elsewhere', () => {
      const run = runOf(
        [timed('ours', [[20, null]]), timed('ours-override', [[40, null]])],
        ['ours', 'ours-override'],
      );
      expect(tableBelow(writeReport(run), POSTGRES)).to.deep.equal(['| crud-controllers, override | – |']);
    });
  });

  it('says which rows do not count, and why', () => {
    expect(report).to.include(
      '- NestJS + @dataui/crud + TypeORM, Read by id: 3 answers above 399 and 0 broken connections among 100 requests',
    );
    expect(report).to.not.include('no request failed');
  });
});

describe('charts of the benchmark', () => {
  it('draw the fastest first, and nobody who does not count', () => {
    const chart = drawChart(measured);
    expect(chart.indexOf('>crud-controllers<')).to.be.within(0, chart.lastIndexOf('>node:http + pg<'));
    expect(chart).to.include('× 2.00').and.to.not.include('NestJS');
  });
});
