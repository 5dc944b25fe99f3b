/** Results of writes that went together, however their transactions end. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConnectionQueue } from '../../../../src/postgres/connections/connection-queue.js';
import { type ExecuteAlone, GroupCommit } from '../../../../src/postgres/connections/group-commit.js';
import {
  type Batch,
  BatchAbortedError,
  type Execution,
  type TextResult,
} from '../../../../src/postgres/protocol/batch.js';
import { PreparedStatement } from '../../../../src/postgres/protocol/prepared-statement.js';
import type { PooledClient } from '../../../../src/postgres/session/connection-internals.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { MemoryPool } from '../../../support/memory-pool.js';
import { wholeOr } from '../../../support/short.js';

/** Errors of PostgreSQL and the driver in the place of a commit, with their meaning. */
const FAILURES = {
  refused: { code: '23505', severity: 'ERROR' },
  translated: { code: '23505', severity: 'FEHLER' },
  locked: { code: '55P03', severity: 'ERROR' },
  serialization: { code: '40001', severity: 'ERROR' },
  cancelled: { code: '57014', severity: 'ERROR' },
  unknownCommit: { code: '40003', severity: 'ERROR' },
  ended: { code: '57P01', severity: 'FATAL' },
  endedInTranslation: { code: '57P01', severity: 'FATALE' },
  lost: { code: 'ECONNRESET' },
  timedOut: {},
} as const;
type Failure = keyof typeof FAILURES;
const UNKNOWN: readonly Failure[] = ['unknownCommit', 'ended', 'endedInTranslation', 'lost', 'timedOut'];
/** After as many milliseconds PostgreSQL itself cancels a write of a batch. */
const WRITE_TIMEOUT = 100;

type Step =
  | { readonly kind: 'add'; readonly key: string }
  | { readonly kind: 'commit'; readonly choice: number }
  | {
      readonly kind: 'fail';
      readonly choice: number;
      readonly failure: Failure;
      readonly isCommitted: boolean;
    }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'refuseConnections' | 'closePool' };

/** An execution of one write, and its result. */
interface Attempt {
  readonly isAlone: boolean;
  failure: Failure | null;
  said: unknown;
}

interface Write {
  readonly id: string;
  readonly attempts: Attempt[];
  /** Its results, which should be one. */
  readonly told: unknown[];
  /** Number of times that it is in the database. */
  commits: number;
}

/** A batch that was sent. */
interface Sent {
  readonly client: PooledClient;
  readonly batch: Batch;
  readonly at: number;
}

class Simulation {
  readonly #clock: FakeClock;
  readonly #pool: MemoryPool;
  readonly #group: GroupCommit;
  readonly #writes: Write[] = [];
  readonly #sent: Sent[] = [];
  readonly #statement = new PreparedStatement('INSERT', 'insert');
  readonly #queryTimeout: number;
  #isRefusing = false;

  constructor(clock: FakeClock, size: number, queryTimeout: number) {
    this.#clock = clock;
    this.#queryTimeout = queryTimeout;
    this.#pool = new MemoryPool(size, 1_000, async () => {
      if (this.#isRefusing) throw new Error('too many connections');
      // The queue reads no other member.
      return { queryTimeout } as PooledClient;
    });
    const execute = (client: PooledClient, batch: Batch) => this.#send(client, batch);
    // Executes at once, as a runner does.
    const executeAlone: ExecuteAlone = (queue, client, { statement, values, answer }) => {
      const started = clock.now;
      const end: Batch['end'] = (error) => {
        if (!error) statement.measure(clock.now - started);
        queue.leave(client);
      };
      execute(client, { before: [], statement, executions: [{ values, settle: answer }], end });
    };
    const executor = { canPipeline: true, execute };
    this.#group = new GroupCommit(new ConnectionQueue(this.#pool), executor, executeAlone);
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'add') this.#add(step.key);
    else if (step.kind === 'commit') this.#commit(this.#take(step.choice));
    else if (step.kind === 'fail') this.#fail(this.#take(step.choice), step);
    else if (step.kind === 'wait') await this.#clock.advance(step.milliseconds);
    else if (step.kind === 'closePool') this.#pool.bypassesQueue = !this.#pool.bypassesQueue;
    else this.#isRefusing = !this.#isRefusing;
    await nextTurn();
  }

  async finish(): Promise<void> {
    while (this.#sent.length > 0) await this.run({ kind: 'commit', choice: 0 });
    await this.#clock.advance(10_000);
    expect(this.#sent, 'under way').to.deep.equal([]);
    for (const write of this.#writes) expectOutcome(write);
    expect(this.#pool.pool.using, 'connections in use').to.equal(0);
  }

  #add(key: string): void {
    // A closing pool has its own line for each write.
    if (this.#pool.bypassesQueue) return;
    const write: Write = { id: `${this.#writes.length}`, attempts: [], told: [], commits: 0 };
    this.#writes.push(write);
    const answer: Execution['settle'] = (error, result) => void write.told.push(error ?? result);
    const fail = (error: unknown) => void write.told.push(error);
    const asked = { statement: this.#statement, values: [write.id, key], share: null, settings: null };
    this.#group.add({ ...asked, answer, fail }, key);
  }

  #send(client: PooledClient, batch: Batch): void {
    const { executions, before } = batch;
    const isAlone = executions.length === 1;
    expect(executions.length).to.be.within(1, 8);
    expect(before.length === 0, 'limits of time').to.equal(isAlone);
    if (!isAlone && this.#queryTimeout > 0)
      expect(executions.length * WRITE_TIMEOUT).to.be.at.most(this.#queryTimeout / 2);
    const keys = executions.map(({ values }) => values[1]);
    expect(keys, 'locks in one order').to.deep.equal([...keys].sort());
    for (const { values } of executions) {
      const { attempts, told } = this.#writeOf(values);
      expect(told, 'told before').to.deep.equal([]);
      expect(attempts.map(({ failure }) => failure)).not.to.include('cancelled');
      expect(attempts.length, 'executed again').to.equal(isAlone && attempts[0]?.isAlone === false ? 1 : 0);
      attempts.push({ isAlone, failure: null, said: null });
    }
    expect(this.#sent.map((sent) => sent.client)).not.to.include(client);
    this.#sent.push({ client, batch, at: this.#clock.now });
  }

  #take(choice: number): Sent | undefined {
    return this.#sent.splice(choice % Math.max(1, this.#sent.length), 1)[0];
  }

  #commit(sent: Sent | undefined): void {
    if (!sent) return;
    const { executions, end } = sent.batch;
    end(null);
    for (const { values, settle } of executions) {
      const write = this.#writeOf(values);
      write.commits += 1;
      const result: TextResult = { rows: [[write.id]], count: 1, parsers: [] };
      this.#lastOf(write).said = result;
      settle(null, result);
    }
  }

  /** As the executor reports it: an error of PostgreSQL's is that of one execution. */
  #fail(sent: Sent | undefined, { choice, failure, isCommitted }: Step & { kind: 'fail' }): void {
    if (!sent) return;
    const { executions, end } = sent.batch;
    const message = failure === 'timedOut' ? 'Query read timeout' : failure;
    const error = Object.assign(new Error(message), FAILURES[failure]);
    const isUnknown = UNKNOWN.includes(failure);
    if (isUnknown) this.#pool.broken.add(sent.client);
    const isByTimeout = failure === 'cancelled' && this.#clock.now - sent.at >= WRITE_TIMEOUT;
    const failed = choice % executions.length;
    const isOfOne = 'severity' in error;
    end(error);
    executions.forEach(({ values, settle }, index) => {
      const write = this.#writeOf(values);
      if (isUnknown && isCommitted) write.commits += 1;
      const last = this.#lastOf(write);
      const isOwn = !isOfOne || index === failed;
      // To those who were with it, one that is cancelled is one that fails.
      last.failure = isByTimeout || (!isOwn && !isUnknown) ? 'refused' : failure;
      last.said = error;
      settle(isOwn ? error : new BatchAbortedError());
    });
  }

  #writeOf([id]: Execution['values']): Write {
    return this.#writes[Number(id)] as Write;
  }

  #lastOf({ attempts }: Write): Attempt {
    return attempts.at(-1) as Attempt;
  }
}

function expectOutcome({ attempts, told, commits, id }: Write): void {
  const last = attempts.at(-1);
  expect(told, `what ${id} is told`).to.have.lengthOf(1);
  const isUnknown = attempts.some(({ failure }) => failure !== null && UNKNOWN.includes(failure));
  const isCommitted = !(told[0] instanceof Error);
  if (isUnknown) expect(commits).to.be.at.most(1);
  else expect(commits).to.equal(isCommitted ? 1 : 0);
  if (told[0] instanceof Error && told[0].message === 'too many connections') return;
  expect(told[0]).to.equal(last?.said);
  // A write that was rolled back with others is executed by itself, unless it was the cancelled one.
  const isFinal = last?.isAlone || last?.failure === null || last?.failure === 'cancelled' || isUnknown;
  expect(isFinal, 'executed by itself').to.equal(true);
}

const choice = fc.nat(1_000);
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('add'), key: fc.constantFrom(...'abcd') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('commit'), choice }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('fail'),
      choice,
      failure: fc.constantFrom(...(Object.keys(FAILURES) as Failure[])),
      isCommitted: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), milliseconds: fc.nat(150) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('refuseConnections', 'closePool') }) },
);
const journeyArbitrary = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  queryTimeout: fc.constantFrom(0, 500, 6_000),
  steps: fc.array(stepArbitrary, { maxLength: 80, size: 'max' }),
});

describe('writes that go together', () => {
  it('are each told their own outcome, and none is executed again whose commit may have come', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async ({ size, queryTimeout, steps }) => {
      using clock = new FakeClock();
      const simulation = new Simulation(clock, size, queryTimeout);
      for (const step of steps) await simulation.run(step);
      await simulation.finish();
    });
    await fc.assert(property, { numRuns: wholeOr(150, 500) });
  });
});
