/** Runs the scaling curves: what a request costs as something grows. */
import { join } from 'node:path';
import { createTemporaryFolder } from '../../test/support/temporary-folder.js';
import { fillStatements, ROWS } from '../load/article.js';
import { writeRequests } from '../load/wrk.js';
import { ContenderProcess } from '../measure/contender-process.js';
import { type Database, type Server, startServer } from '../measure/database.js';
import { type Sample, Sampler } from '../measure/sample.js';
import { SpeedGauge } from '../measure/speed-gauge.js';
import type { Options } from '../options.js';
import { describeMachine } from '../report/machine.js';
import { say } from '../say.js';
import { writeResults } from '../write-results.js';
import { CURVES, type Curve, type Place, type Series } from './curves.js';
import { createWideTable, indexOrders } from './prepare-tables.js';
import { drawCurves } from './scaling-chart.js';
import { writeScalingReport } from './scaling-report.js';

/** A step of a series, and its figures. */
export interface Point {
  readonly series: string;
  readonly step: number;
  readonly samples: readonly Sample[];
  readonly problem: string | null;
  /** The costs of starts, where they are measured: each of a process of its own. */
  readonly starts: readonly Bootstrap[];
}

/** The answer of `GET /bootstrap` of the scaled contender: milliseconds, those of the document, and bytes of the heap before that. */
export interface Bootstrap {
  readonly milliseconds: number;
  readonly heap: number;
  readonly document: number;
}

/** A curve, and its points. */
export interface MeasuredCurve {
  readonly curve: Omit<Curve, 'series'>;
  readonly points: readonly Point[];
}

/** Measures, and writes the results. @returns true where all points count */
export async function runScaling(options: Options, command: readonly string[]): Promise<boolean> {
  await using server = await startServer();
  const databases = await createTables(server);
  await using gauge = options.isOnce ? null : await SpeedGauge.start();
  const sampler = new Sampler(gauge);
  const curves: MeasuredCurve[] = [];
  for (const curve of CURVES) {
    say(`\n${curve.title}`);
    curves.push(await new CurveRun(sampler, databases, options, curve).measure());
  }
  const version = await (databases.get(ROWS) as Database).version();
  const machine = {
    ...describeMachine(process.versions.node, version, command),
    Steadiness: sampler.steadiness,
  };
  const run = { curves, machine, schedule: options.schedule, isPartial: options.isPartial };
  const name = options.isPartial ? 'partial-scaling' : 'scaling';
  await writeResults(name, {
    md: writeScalingReport(run, `${name}.svg`),
    svg: drawCurves(run),
    json: `${JSON.stringify(run, null, 2)}\n`,
  });
  return curves.every(({ points }) => points.every(({ problem }) => problem === null));
}

/** A database for each number of rows. */
async function createTables(server: Server): Promise<ReadonlyMap<number, Database>> {
  const databases = new Map<number, Database>();
  const sizes = stepsOf('table-size');
  for (const rows of sizes) {
    say(`Creating ${rows.toLocaleString('en')} rows`);
    databases.set(rows, await server.create(fillStatements(rows), rows));
  }
  const main = databases.get(ROWS) as Database;
  await indexOrders(main);
  for (const columns of stepsOf('columns')) await createWideTable(main, columns);
  return databases;
}

function stepsOf(name: string): readonly number[] {
  return CURVES.find((curve) => curve.name === name)?.steps ?? [];
}

/** A point while it is measured. */
interface Shot {
  readonly series: Series;
  readonly step: number;
  readonly process: ContenderProcess;
  readonly database: Database;
  readonly requests: string;
  readonly connections: number;
  readonly samples: Sample[];
  readonly starts: readonly Bootstrap[];
  problem: string | null;
}

/** All steps of all series of one curve, in turn. */
class CurveRun {
  readonly #sampler: Sampler;
  readonly #databases: ReadonlyMap<number, Database>;
  readonly #options: Options;
  readonly #curve: Curve;
  readonly #processes = new Map<string, ContenderProcess>();

  constructor(sampler: Sampler, databases: ReadonlyMap<number, Database>, options: Options, curve: Curve) {
    this.#sampler = sampler;
    this.#databases = databases;
    this.#options = options;
    this.#curve = curve;
  }

  async measure(): Promise<MeasuredCurve> {
    const folder = await createTemporaryFolder('bench-requests');
    try {
      const shots = await this.#prepare(folder.path);
      await this.#shoot(shots);
      const { series: _series, ...curve } = this.#curve;
      return { curve, points: shots.map(toPoint) };
    } finally {
      for (const process of this.#processes.values()) await process[Symbol.asyncDispose]();
      folder.remove();
    }
  }

  async #prepare(folder: string): Promise<Shot[]> {
    const shots: Shot[] = [];
    for (const series of this.#curve.series) {
      for (const step of this.#curve.steps) {
        const place = series.place(step);
        const database = this.#databases.get(place.rows) as Database;
        const process = await this.#start(place, database);
        const requests = join(folder, `${shots.length}.txt`);
        const calls = await series.calls(step, process.ask);
        await writeRequests(requests, calls);
        const connections = series.connections?.(step) ?? this.#options.schedule.connections;
        const starts = await this.#measureStarts(place, database);
        shots.push({
          series,
          step,
          process,
          database,
          requests,
          connections,
          samples: [],
          starts,
          problem: null,
        });
      }
    }
    return shots;
  }

  async #start(place: Place, database: Database): Promise<ContenderProcess> {
    const { contender, rows, variables } = place;
    const key = JSON.stringify([contender.name, rows, variables]);
    const running = this.#processes.get(key);
    if (running) return running;
    const started = await startProcess(place, database);
    this.#processes.set(key, started);
    return started;
  }

  /** One start for each round. */
  async #measureStarts(place: Place, database: Database): Promise<Bootstrap[]> {
    const starts: Bootstrap[] = [];
    const { rounds } = this.#options.schedule;
    while (this.#curve.start !== undefined && starts.length < rounds) {
      await using process = await startProcess(place, database);
      const { body } = await process.ask({ method: 'GET', path: '/bootstrap' });
      starts.push(body as Bootstrap);
    }
    return starts;
  }

  /** Measures all in turn, in the reverse order every second time. */
  async #shoot(shots: readonly Shot[]): Promise<void> {
    const { rounds } = this.#options.schedule;
    for (let round = 0; round < rounds; round += 1) {
      for (const shot of round % 2 === 0 ? shots : [...shots].reverse()) {
        const sample = await this.#take(shot);
        if (sample) shot.samples.push(sample);
      }
    }
    for (const { series, step, samples, problem } of shots) {
      const figures = samples.map(({ rate }) => rate.toFixed(0).padStart(7)).join('');
      say(`  ${series.title.padEnd(30)}${step.toLocaleString('en').padStart(10)}${problem ?? figures}`);
    }
  }

  async #take(shot: Shot): Promise<Sample | null> {
    if (shot.problem) return null;
    // The number of connections may be the shot's own.
    const sample = await this.#sampler.take({ ...this.#options.schedule, ...shot, writes: false });
    if (typeof sample !== 'string') return sample;
    shot.problem = sample;
    return null;
  }
}

function startProcess({ contender, variables }: Place, database: Database): Promise<ContenderProcess> {
  return ContenderProcess.start(contender, {
    databaseUrl: database.url,
    variables,
    // Memory is measured without garbage.
    flags: contender.name === 'scaled' ? ['--expose-gc'] : [],
  });
}

function toPoint({ series, step, samples, problem, starts }: Shot): Point {
  return { series: series.title, step, samples, problem, starts };
}
