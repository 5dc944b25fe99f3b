/** The curves: the things that grow, their steps, and the requests of each step. */
import { CONTENDERS, type Contender, LIMIT, OURS } from '../contenders.js';
import { ROWS, randomId } from '../load/article.js';
import type { Ask, Call } from '../load/call.js';
import { createRandom } from '../load/random.js';
import { walkTo } from '../load/walk.js';
import { handWritten, ours as oursWire, type Wire } from '../load/wires.js';

/** A chart: something that grows in steps. */
export interface Curve {
  readonly name: string;
  readonly title: string;
  /** The unit of the steps. */
  readonly unit: string;
  readonly series: readonly Series[];
  readonly steps: readonly number[];
  /** True where the distances of steps are proportional to their values: a cost per unit is then a straight line. */
  readonly isProportional: boolean;
  /** The name of what grows, where the start is measured, too. */
  readonly start?: string;
}

/** A line of the chart. */
export interface Series {
  readonly title: string;
  /** The process of a step. */
  place(step: number): Place;
  /** The requests of a step, for the process that runs. */
  calls(step: number, ask: Ask): Promise<readonly Call[]>;
  /** Clients at once; the schedule's number where there is none. */
  connections?(step: number): number;
}

/** A process: equal ones are shared among the steps. */
export interface Place {
  readonly contender: Contender<Wire>;
  readonly rows: number;
  readonly variables: Readonly<Record<string, string>>;
}

const ours = contender(OURS);
const limit = contender(LIMIT);
const scaled: Contender<Wire> = {
  ...ours,
  name: 'scaled',
  script: ours.script.replace(/ours\.js$/, 'scaled.js'),
};
const PAGE = 20;
const DEPTHS = [0, 10_000, 100_000, 500_000, 990_000];
const VARIETY = 5_000;

export const CURVES: readonly Curve[] = [
  {
    name: 'page-size',
    title: 'Page size',
    unit: 'records in the page',
    steps: [1, 20, 100, 250, 500, 1_000],
    isProportional: true,
    series: bothOf(async (wire, step) => [wire.list(step)]),
  },
  {
    name: 'columns',
    title: 'Columns',
    unit: 'columns beside the id, page of 20',
    steps: [5, 10, 20, 50, 100, 300],
    isProportional: true,
    start: 'columns beside the id',
    series: [
      {
        title: ours.title,
        // These tables are in the database of the largest.
        place: (step) => ({ contender: scaled, rows: ROWS, variables: { BENCH_COLUMNS: String(step) } }),
        calls: async () => [oursWire.list(PAGE)],
      },
    ],
  },
  {
    name: 'models',
    title: 'Models',
    unit: 'models in the application, read by id of the last one',
    steps: [1, 50, 400, 1_000],
    isProportional: true,
    start: 'models',
    series: [
      {
        title: ours.title,
        place: (step) => ({ contender: scaled, rows: ROWS, variables: { BENCH_MODELS: String(step) } }),
        calls: async (step) => reads({ ...oursWire, read: (id) => readOfLast(id, step) }, ROWS),
      },
    ],
  },
  {
    name: 'depth',
    title: 'Depth',
    unit: 'records before the page of 20',
    steps: DEPTHS,
    isProportional: false,
    series: [
      sortedBy('id', 'by primary key'),
      sortedBy('-price', 'descending, ties'),
      sortedBy('author', 'ties and NULLs'),
    ],
  },
  {
    name: 'table-size',
    title: 'Rows of the table',
    unit: 'rows, read by id',
    steps: [10_000, 100_000, ROWS],
    isProportional: false,
    series: [ours, limit].map((contender) => ({
      title: contender.title,
      place: (step) => ({ contender, rows: step, variables: {} }),
      calls: async (step) => reads(contender.wire, step),
    })),
  },
  {
    name: 'connections',
    title: 'Concurrent connections',
    unit: 'clients at once, read by id',
    steps: [1, 10, 64, 250, 1_000],
    isProportional: false,
    series: [ours, limit].map((contender) => ({
      title: contender.title,
      place: () => ({ contender, rows: ROWS, variables: {} }),
      calls: async () => reads(contender.wire, ROWS),
      connections: (step) => step,
    })),
  },
];

function bothOf(calls: (wire: Wire, step: number) => Promise<readonly Call[]>): Series[] {
  return [ours, limit].map((contender) => ({
    title: contender.title,
    place: () => ({ contender, rows: ROWS, variables: {} }),
    calls: (step) => calls(contender === limit ? handWritten : oursWire, step),
  }));
}

function sortedBy(sort: string, title: string): Series {
  return {
    title,
    place: () => ({ contender: scaled, rows: ROWS, variables: { BENCH_MODELS: '1' } }),
    calls: async (step, ask) => {
      const list = `/articles?sort=${sort}`;
      const cursor = await walkTo(step, list, ask);
      return [{ method: 'GET', path: `${list}&size=${PAGE}${cursor && `&after=${cursor}`}` }];
    },
  };
}

function readOfLast(id: number, models: number): Call {
  return { method: 'GET', path: `/articles${models === 1 ? '' : `-${models - 1}`}/${id}` };
}

function reads(wire: Wire, rows: number): Call[] {
  const random = createRandom(1);
  return Array.from({ length: VARIETY }, () => wire.read(randomId(random, rows)));
}

function contender(name: string): Contender<Wire> {
  return CONTENDERS.find((each) => each.name === name) as Contender<Wire>;
}
