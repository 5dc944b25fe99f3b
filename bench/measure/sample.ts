/** One measurement of one process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadWith } from '../load/wrk.js';
import type { ContenderProcess } from './contender-process.js';
import type { Database } from './database.js';
import type { SpeedGauge } from './speed-gauge.js';

/** Figures of a measurement. Latencies are in milliseconds, processor times in microseconds for each request. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly node: number;
  readonly postgres: number | null;
}

/** The requests of a measurement, and the process that gets them. */
export interface Volley {
  readonly process: ContenderProcess;
  /** The database of the process. */
  readonly database: Database;
  /** True where the table is restored afterwards. */
  readonly writes: boolean;
  /** Written by `writeRequests`. */
  readonly requests: string;
  readonly connections: number;
  readonly seconds: number;
  /** Seconds of load that are not measured. */
  readonly warmUp: number;
}

/** Milliseconds in which a process at rest does nothing that can be measured. */
const REST = 50;
/** Microseconds; /proc has no smaller unit. */
const LEAST_TIME = 10_000;
/** Milliseconds that a measurement waits at most for a machine that is slower than usual. */
const PATIENCE = 5_000;
/** Attempts at a measurement, at most, where the machine is slow before or after it. */
const ATTEMPTS = 4;
/** Factor of the duration where no request finished: some contenders count a million rows for each client. */
const LONGER = 10;

/** Makes measurements on one machine. */
export class Sampler {
  readonly #gauge: SpeedGauge | null;
  #counted = 0;
  #slow = 0;
  #repeated = 0;

  /** @param gauge null to take each measurement once, whatever the machine does */
  constructor(gauge: SpeedGauge | null) {
    this.#gauge = gauge;
  }

  /** A text about the steadiness of the machine, for the report. */
  get steadiness(): string {
    if (!this.#gauge) {
      return `not watched; each of the ${this.#counted} measurements was made once, beside other work. Only processor times say something`;
    }
    return `${this.#repeated} measurements were made again because a processor was slower than usual; of the ${this.#counted} that count it was at ${this.#slow}`;
  }

  /** Loads, and reads the clocks before and after. @returns a text where requests failed. Afterwards everything is at rest. */
  async take(volley: Volley): Promise<Sample | string> {
    const { process, database, writes } = volley;
    for (let attempt = 1; ; attempt += 1) {
      await this.#warmUp(volley);
      const isSteady = (await this.#gauge?.untilSteady(PATIENCE)) ?? true;
      const sample = await this.#measure(volley);
      await untilAtRest(process, database);
      if (writes) await database.restore();
      const wasSteady = ((await this.#gauge?.isSteady()) ?? true) && isSteady;
      if (wasSteady || attempt === ATTEMPTS || typeof sample === 'string') {
        this.#counted += 1;
        if (!wasSteady) this.#slow += 1;
        return sample;
      }
      this.#repeated += 1;
    }
  }

  /** While others were measured, pools have closed connections, and the first time the code is not compiled yet. */
  async #warmUp({ process, database, warmUp, ...load }: Volley): Promise<void> {
    if (warmUp === 0) return;
    await loadWith({ ...load, port: process.port, seconds: warmUp, isWarmUp: true });
    await untilAtRest(process, database);
  }

  async #measure(volley: Volley, isLonger = false): Promise<Sample | string> {
    const { process, database, requests, connections } = volley;
    const seconds = isLonger ? volley.seconds * LONGER : volley.seconds;
    const nodeBefore = process.processorTime();
    const postgresBefore = database.processorTime();
    const result = await loadWith({ port: process.port, connections, requests, seconds, isWarmUp: false });
    const node = process.processorTime() - nodeBefore;
    const postgresAfter = database.processorTime();
    const { requests: count, microseconds, p50, p90, p99, refused, broken } = result;
    if (count === 0)
      return isLonger ? `no request finished within ${seconds} s` : this.#measure(volley, true);
    if (refused > 0 || broken > 0) {
      return `${refused} answers above 399 and ${broken} broken connections among ${count} requests`;
    }
    const isLocal = postgresBefore !== null && postgresAfter !== null;
    return {
      rate: count / (microseconds / 1e6),
      p50: p50 / 1_000,
      p90: p90 / 1_000,
      p99: p99 / 1_000,
      node: node / count,
      postgres: isLocal ? (postgresAfter - postgresBefore) / count : null,
    };
  }
}

/** Waits for work that the load left unfinished, so that the next measurement does not pay for it. */
async function untilAtRest(process: ContenderProcess, database: Database): Promise<void> {
  for (let used = LEAST_TIME + 1; used > LEAST_TIME; ) {
    await database.untilQuiet();
    const before = process.processorTime();
    await sleep(REST);
    used = process.processorTime() - before;
  }
}
