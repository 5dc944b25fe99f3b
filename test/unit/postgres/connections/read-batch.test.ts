/** What reads are told that share a connection, in whatever order executions end and fail. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConnectionQueue } from '../../../../src/postgres/connections/connection-queue.js';
import { markBroken, type PooledClient } from '../../../../src/postgres/connections/pooled-client.js';
import { Reads } from '../../../../src/postgres/connections/read-batch.js';
import {
  type Batch,
  BatchAbortedError,
  type Execution,
  type TextResult,
} from '../../../../src/postgres/protocol/batch.js';
import { PreparedStatement } from '../../../../src/postgres/protocol/prepared-statement.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { MemoryPool } from '../../../support/memory-pool.js';

/** What PostgreSQL says of one execution; the others of its batch are left out. */
const ERRORS = {
  refuse: { code: '22012', severity: 'ERROR' },
  cancel: { code: '57014', severity: 'ERROR' },
  lock: { code: '55P03', severity: 'ERROR' },
  change: { code: '0A000', severity: 'ERROR', routine: 'RevalidateCachedQuery' },
  end: { code: '57P01', severity: 'FATAL' },
} as const;
/** What the driver says of all of them. */
const LOSSES = { lose: 'Connection terminated unexpectedly', timeOut: 'Query read timeout' } as const;
type Failure = keyof typeof ERRORS | keyof typeof LOSSES;

type Step =
  | { readonly kind: 'add'; readonly statement: number; readonly isShared: boolean }
  | { readonly kind: Failure | 'answer'; readonly choice: number }
  | { readonly kind: 'refuseConnections' };

interface Read {
  readonly id: string;
  readonly table: string;
  /** What was said of its executions. */
  readonly said: unknown[];
  /** What it was told, each time. */
  readonly told: unknown[];
}

class Simulation {
  readonly #clock: FakeClock;
  readonly #pool: MemoryPool;
  readonly #reader: Reads;
  readonly #size: number;
  readonly #reads: Read[] = [];
  readonly #underway = new Map<PooledClient, Batch>();
  readonly #statements: readonly PreparedStatement[];
  readonly #problems: unknown[] = [];
  #isRefusing = false;

  constructor(clock: FakeClock, size: number, servers: number) {
    this.#clock = clock;
    this.#size = size;
    // Of one it is not known what it costs, of the others it is, and one is slow.
    this.#statements = [null, 0.01, 1, 30].map((cost, index) => {
      const statement = new PreparedStatement(`SELECT ${index}`, `s${index}`);
      if (cost !== null) statement.measure(cost);
      return statement;
    });
    this.#pool = new MemoryPool(size, 1_000, async () => {
      if (this.#isRefusing) throw new Error('too many connections');
      // Nothing else of it is used.
      return { connectionParameters: { lock_timeout: 2_000 } } as PooledClient;
    });
    const execute = (client: PooledClient, batch: Batch) => this.#note(() => this.#send(client, batch));
    this.#reader = new Reads(
      new ConnectionQueue(this.#pool),
      { canPipeline: true, execute },
      { connections: size, servers },
      (text) => new PreparedStatement(text),
    );
  }

  /** Takes steps in one turn of the event loop, and lets time pass. */
  async run(steps: readonly Step[], pause: number): Promise<void> {
    for (const step of steps) this.#do(step);
    await nextTurn();
    // Reads are sent at the end of a turn.
    await nextTurn();
    if (pause > 0) await this.#clock.advance(pause);
    for (const problem of this.#problems) throw problem;
  }

  async finish(): Promise<void> {
    this.#isRefusing = false;
    for (let round = 0; this.#reads.some(({ told }) => told.length === 0); round += 1) {
      expect(round).to.be.below(1_000);
      await this.run([{ kind: 'answer', choice: 0 }], 300);
    }
    while (this.#underway.size > 0) await this.run([{ kind: 'answer', choice: 0 }], 0);
    for (const read of this.#reads) this.#expectOutcome(read);
    expect(this.#pool.pool.using).to.equal(0);
    await this.#pool.pool.destroyAllNow();
  }

  /** An error that is thrown in a timer is not thrown to the test. */
  #note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#problems.push(error);
    }
  }

  #do(step: Step): void {
    if (step.kind === 'add') this.#add(step.statement, step.isShared);
    else if (step.kind === 'refuseConnections') this.#isRefusing = !this.#isRefusing;
    else {
      const clients = [...this.#underway.keys()];
      const client = clients[step.choice % clients.length];
      if (client) this.#end(client, step.kind, step.choice);
    }
  }

  #add(choice: number, isShared: boolean): void {
    const number = choice % this.#statements.length;
    const read: Read = { id: `${this.#reads.length}`, table: `t${number}`, said: [], told: [] };
    this.#reads.push(read);
    const pending = {
      statement: this.#statements[number] as PreparedStatement,
      values: [read.id],
      table: read.table,
      settings: null,
      answer: (error: Error | null, result?: TextResult) => void read.told.push(error ?? result),
      fail: (error: unknown) => void read.told.push(error),
    };
    if (isShared) this.#reader.share(pending);
    else this.#reader.add(pending);
  }

  #send(client: PooledClient, batch: Batch): void {
    expect(this.#underway.has(client), 'given to two').to.equal(false);
    expect(batch.before, 'limits').to.have.lengthOf(1);
    const tables = batch.executions.map(({ values }) => this.#readOf(values).table);
    expect(new Set(tables).size, 'tables of a batch').to.equal(1);
    for (const { values } of batch.executions) expect(this.#readOf(values).told).to.deep.equal([]);
    this.#underway.set(client, batch);
    const slow = [...this.#underway.values()].filter(({ statement }) => statement.isSlow);
    if (this.#size > 1) expect(slow.length, 'slow ones').to.be.below(this.#size);
  }

  #end(client: PooledClient, kind: Failure | 'answer', choice: number): void {
    const batch = this.#underway.get(client) as Batch;
    this.#underway.delete(client);
    if (kind === 'answer') this.#answer(batch);
    else if (kind in LOSSES) {
      this.#pool.broken.add(client);
      this.#failWhole(client, batch, new Error(LOSSES[kind as keyof typeof LOSSES]));
    } else {
      const fields = ERRORS[kind as keyof typeof ERRORS];
      if (kind === 'end') this.#pool.broken.add(client);
      this.#failOne(client, batch, choice, Object.assign(new Error(kind), fields));
    }
  }

  #answer({ executions, end }: Batch): void {
    end(null);
    for (const execution of executions) {
      const result: TextResult = { rows: [[...execution.values]], count: 1, parsers: [] };
      this.#readOf(execution.values).said.push(result);
      execution.settle(null, result);
    }
  }

  /** As the executor tells it: an error of PostgreSQL's is that of one execution. */
  #failOne(client: PooledClient, { executions, end }: Batch, choice: number, error: Error): void {
    const failed = choice % executions.length;
    markBroken(client, error);
    end(error);
    executions.forEach((execution, index) => {
      if (index === failed) this.#readOf(execution.values).said.push(error);
      execution.settle(index === failed ? error : new BatchAbortedError());
    });
  }

  #failWhole(client: PooledClient, { executions, end }: Batch, error: Error): void {
    markBroken(client, error);
    end(error);
    for (const execution of executions) {
      this.#readOf(execution.values).said.push(error);
      execution.settle(error);
    }
  }

  #expectOutcome({ id, said, told }: Read): void {
    expect(told, `what ${id} is told`).to.have.lengthOf(1);
    const [outcome] = told;
    const isRefused = outcome instanceof Error && /too many connections|Timeout/.test(`${outcome}`);
    if (!isRefused) expect(said, 'of others').to.include(outcome);
    if (!(outcome instanceof Error)) expect((outcome as TextResult).rows).to.deep.equal([[id]]);
  }

  #readOf([id]: Execution['values']): Read {
    return this.#reads[Number(id)] as Read;
  }
}

const choice = fc.nat(1_000);
const failures = [...Object.keys(ERRORS), ...Object.keys(LOSSES)] as Failure[];
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('add'), statement: fc.nat(3), isShared: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('answer'), choice }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...failures), choice }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuseConnections') }) },
);
const journeyArbitrary = fc.record({
  size: fc.integer({ min: 1, max: 4 }),
  servers: fc.integer({ min: 1, max: 2 }),
  // Those of one turn of the event loop may go together.
  turns: fc.array(
    fc.record({
      steps: fc.array(stepArbitrary, { minLength: 1, maxLength: 6 }),
      pause: fc.oneof(fc.constant(0), fc.nat(300)),
    }),
    { maxLength: 30, size: 'max' },
  ),
});

describe('reads that share a connection', () => {
  it('are each told once what one of their own executions gave', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async ({ size, servers, turns }) => {
      using clock = new FakeClock();
      const simulation = new Simulation(clock, size, servers);
      for (const { steps, pause } of turns) await simulation.run(steps, pause);
      await simulation.finish();
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
