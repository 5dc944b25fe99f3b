/** The soak: mixed load on an application while everything around it fails, and the promises that hold all the same. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type Dice, dice } from '../support/dice.js';
import { ApplicationProcess } from './application-process.js';
import { type BackEnds, startBackEnds } from './back-ends.js';
import { SoakClient } from './client.js';
import { FAULTS, type Fault } from './faults.js';
import { ACCOUNTS, Ledger } from './ledger.js';
import { logProblems } from './log-check.js';
import { memoryProblems, type Sample } from './memory.js';
import { TABLES } from './models.js';
import { beRefused, read } from './reads.js';
import { type FaultSpan, Witness } from './witness.js';
import { write } from './writes.js';

/** Options of a run. */
export interface SoakOptions {
  readonly seed: number;
  /** Whole rounds of all faults are made until they are over. */
  readonly seconds: number;
  /** Milliseconds from the beginning of a request to that of the next one of the same client, at least. */
  readonly pace: number;
  /** The most milliseconds that a fault lasts, beside its least time. */
  readonly longest: number;
  /** Prints a line for each fault. */
  readonly say: (line: string) => void;
}

/** Results of a run. */
export interface SoakResult {
  readonly seconds: number;
  readonly requests: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly acknowledged: number;
  readonly faults: readonly FaultSpan[];
  readonly samples: readonly Sample[];
  readonly logLines: number;
  /** Empty where every promise was kept. */
  readonly problems: readonly string[];
}

/** Connections of each of the two pools. */
const POOL_SIZE = 8;
/** Four times as many as connections. */
export const CLIENTS = 4 * 2 * POOL_SIZE;
/** Milliseconds. */
const NEVER_CALM = 10_000;
const REST = 3_000;
const TURN = 10;

/** Starts all that it needs, and runs it. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  await using backEnds = await startBackEnds();
  const { postgres, redis, clickhouse } = backEnds;
  await using application = await ApplicationProcess.start({
    databaseUrl: postgres.url('postgres'),
    cacheUrl: redis.href,
    clickhouseUrl: clickhouse.href,
    poolSize: POOL_SIZE,
    groupCommit: options.seed % 2 === 1,
  });
  // Awaited here: the servers that it needs are stopped when this function ends.
  return await new Soak(options, backEnds, application).run();
}

/** One run. */
class Soak {
  readonly #options: SoakOptions;
  readonly #backEnds: BackEnds;
  readonly #application: ApplicationProcess;
  readonly #witness = new Witness();
  readonly #ledger = new Ledger();
  readonly #samples: Sample[] = [];
  readonly #dice: Dice;
  #isOver = false;

  constructor(options: SoakOptions, backEnds: BackEnds, application: ApplicationProcess) {
    this.#options = options;
    this.#backEnds = backEnds;
    this.#application = application;
    this.#dice = dice(options.seed);
  }

  async run(): Promise<SoakResult> {
    await this.#onDatabase(createAccounts);
    const began = performance.now();
    const load = this.#load();
    try {
      await this.#breakAll(began + this.#options.seconds * 1_000);
    } finally {
      this.#isOver = true;
      await load;
    }
    const seconds = (performance.now() - began) / 1_000;
    const { requests, statuses, faults } = this.#witness;
    const { acknowledged } = this.#ledger;
    const problems = await this.#findProblems();
    const logLines = this.#application.log.length;
    return { seconds, requests, statuses, acknowledged, faults, samples: this.#samples, logLines, problems };
  }

  /** All clients, until it is over. */
  async #load(): Promise<void> {
    const run = {
      port: this.#application.port,
      ledger: this.#ledger,
      witness: this.#witness,
      tags: new Map<string, string>(),
    };
    const { seed, pace } = this.#options;
    const work = async (_: unknown, index: number): Promise<void> => {
      using client = new SoakClient(run, seed * CLIENTS, index + 1);
      while (!this.#isOver) {
        // All clients wait for the same moments, so that they come at the same time.
        if (pace > 0) await sleep(pace - (performance.now() % pace));
        const share = client.dice.roll(10);
        await (share < 7 ? read : share < 9 ? write : beRefused)(client);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, work));
  }

  /** Rounds of all faults, each time in another order. */
  async #breakAll(deadline: number): Promise<void> {
    await this.#untilCalm('The beginning');
    do {
      const round = [...FAULTS];
      while (round.length > 0) {
        const [fault] = round.splice(this.#dice.roll(round.length), 1);
        if (fault) await this.#break(fault);
      }
    } while (performance.now() < deadline);
  }

  async #break(fault: Fault): Promise<void> {
    const lasts = (fault.least ?? 0) + this.#dice.roll(this.#options.longest);
    const span = this.#witness.beginFault(fault.name, fault.hits);
    const end = await fault.begin(this.#backEnds, this.#dice);
    await sleep(lasts);
    await end();
    this.#witness.endFault(span);
    await this.#untilCalm(fault.name);
    // A failure later than that has no excuse for a while.
    await sleep(this.#dice.roll(this.#options.longest));
    this.#samples.push({ at: performance.now(), ...(await this.#application.measure()) });
    const [lasted, recovery] = [span.ended - span.began, span.recovery].map(Math.round);
    this.#options.say(
      `${fault.name}: ${lasted} ms, ${span.failures} requests failed, the last one ${recovery} ms after its end`,
    );
  }

  /** Waits until as many requests in a row have succeeded as there are clients. The witness decides which of them may fail. */
  async #untilCalm(what: string): Promise<void> {
    const deadline = performance.now() + NEVER_CALM;
    while (!this.#witness.isCalm(CLIENTS)) {
      if (performance.now() > deadline)
        throw new Error(`${what} is over, and requests still fail: ${this.#told()}`);
      await sleep(TURN);
    }
  }

  #told(): string {
    return [
      ...this.#witness.problems.slice(-5),
      ...this.#application.log.slice(-5).map(({ text }) => text),
    ].join('\n');
  }

  /** After the end of the load. */
  async #findProblems(): Promise<string[]> {
    const resting = await this.#restProblems();
    await this.#onDatabase((client) => this.#ledger.compare(client));
    const code = await this.#application.stop();
    return [
      ...this.#witness.problems,
      ...this.#ledger.problems,
      ...resting,
      ...logProblems(this.#application.log),
      ...memoryProblems(this.#samples),
      ...(code === 0 ? [] : [`The application has ended with ${code}`]),
    ];
  }

  /** Problems of the pools at rest: no connection is in use, waited for, or in a transaction. */
  async #restProblems(): Promise<string[]> {
    const deadline = performance.now() + REST;
    for (;;) {
      const { pools } = await this.#application.measure();
      const busy = pools.filter(({ using, waiting }) => using + waiting > 0);
      const open = await this.#onDatabase(countOpenTransactions);
      if (busy.length === 0 && open === 0) return [];
      if (performance.now() > deadline)
        return [`${open} transactions are open, and in use: ${JSON.stringify(pools)}`];
    }
  }

  async #onDatabase<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.#backEnds.postgres.url('postgres') });
    client.on('error', () => {});
    await client.connect();
    return work(client).finally(() => client.end());
  }
}

async function createAccounts(client: Client): Promise<void> {
  for (const table of TABLES) {
    await client.query(
      `INSERT INTO ${table} (text, version) SELECT 'account', 0 FROM generate_series(1, ${ACCOUNTS})`,
    );
  }
}

async function countOpenTransactions(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')",
  );
  return rowCount ?? 0;
}
