/** Results of reads that share a connection, in whatever order executions end, fail and stall. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConnectionQueue } from '../../../../src/postgres/connections/connection-queue.js';
import { Lane, RepeatBudget, SharedRead } from '../../../../src/postgres/connections/lanes.js';
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

/** Reads that may be executed twice, without those that are earned. */
const BURST = 100;
/** Milliseconds after which none but the slow read is on a shared connection, with room for a turn of the clock. */
const PATIENCE = 41;

/** Milliseconds that reads of a batch may take together. */
const BATCH_TIME = 0.25;

type Step =
  | { readonly kind: 'add'; readonly statement: number }
  | { readonly kind: 'answer' | 'refuse' | 'lose' | 'end' | 'timeOut'; readonly choice: number }
  | { readonly kind: 'refuseConnections' };

interface Read {
  readonly id: string;
  /** True where it shares a connection at first. */
  readonly isShared: boolean;
  /** Results of its executions. */
  readonly said: unknown[];
  /** Results of its executions without a shared connection. */
  readonly saidAlone: unknown[];
  executions: number;
  isRepeated: boolean;
  /** True where it was not executed, because another of its batch failed. */
  isLeftOut: boolean;
  /** Its result; the first counts. */
  told: unknown;
}

class Simulation {
  readonly #clock: FakeClock;
  readonly #pool: MemoryPool;
  readonly #queue: ConnectionQueue;
  readonly #lane: Lane;
  readonly #budget = new RepeatBudget();
  readonly #tokens: number;
  readonly #reads: Read[] = [];
  /** Batches under way on each connection, in the order of their answers. */
  readonly #underway = new Map<PooledClient, Batch[]>();
  readonly #statements: readonly PreparedStatement[];
  #isRefusing = false;
  /** Problems that were found. */
  readonly #problems: unknown[] = [];

  /** @param tokens number of reads that may be executed twice at first */
  constructor(clock: FakeClock, size: number, tokens: number, readServers: number) {
    this.#clock = clock;
    this.#tokens = tokens;
    for (let spent = tokens; spent < BURST; spent += 1) this.#budget.spend();
    // The cost of one statement is unknown, that of the others is measured.
    this.#statements = [null, 0.01, 0.1].map((cost, index) => {
      const statement = new PreparedStatement(`SELECT ${index}`, `s${index}`);
      if (cost !== null) statement.measure(cost);
      return statement;
    });
    const pool = new MemoryPool(size, 1_000, async () => {
      if (this.#isRefusing) throw new Error('too many connections');
      // The lane reads no other member.
      return { pipeline: false } as PooledClient;
    });
    this.#pool = pool;
    this.#queue = new ConnectionQueue(pool);
    const source = {
      readServers,
      get isReadWaiting() {
        return pool.waiting > 0;
      },
      acquire: () => pool.acquire(),
      release: (client: PooledClient) => pool.release(client),
    };
    const execute = (client: PooledClient, batch: Batch) => this.#note(() => this.#send(client, batch));
    this.#lane = new Lane(source, { canPipeline: true, execute });
  }

  /** Takes steps in one turn of the event loop, and lets time pass. */
  async run(steps: readonly Step[], pause: number): Promise<void> {
    for (const step of steps) this.#do(step);
    await nextTurn();
    // Reads are sent at the end of a turn.
    await nextTurn();
    if (pause > 0) await this.#wait(pause);
    for (const problem of this.#problems) throw problem;
  }

  async finish(): Promise<void> {
    while (this.#underway.size > 0) await this.run([{ kind: 'answer', choice: 0 }], 0);
    await this.run([], 10_000);
    expect(this.#underway.size, 'under way').to.equal(0);
    for (const read of this.#reads) this.#expectOutcome(read);
    const repeats = this.#reads.filter(({ executions, isLeftOut }) => executions > 1 && !isLeftOut).length;
    expect(repeats).to.be.at.most(this.#tokens + Math.ceil(this.#reads.length / 10));
    const { load, isInUse, isOpen } = this.#lane;
    expect([load, isInUse, isOpen, this.#pool.pool.using]).to.deep.equal([0, false, true, 0]);
  }

  /** Collects the error of a check: the test does not see one that is thrown in a timer. */
  #note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#problems.push(error);
    }
  }

  #do(step: Step): void {
    if (step.kind === 'add') this.#add(step.statement);
    else if (step.kind === 'refuseConnections') this.#isRefusing = !this.#isRefusing;
    else {
      const clients = [...this.#underway.keys()];
      const client = clients[step.choice % clients.length];
      if (client) this.#end(client, step.kind, step.choice);
    }
  }

  #add(choice: number): void {
    const read: Read = {
      id: `${this.#reads.length}`,
      isShared: this.#lane.isOpen,
      said: [],
      saidAlone: [],
      executions: 0,
      isRepeated: false,
      isLeftOut: false,
      told: undefined,
    };
    this.#reads.push(read);
    const tell = (outcome: unknown) => {
      read.told ??= outcome;
    };
    const asked = {
      statement: this.#statements[choice % this.#statements.length] as PreparedStatement,
      values: [read.id],
      share: null,
      settings: null,
    };
    const answer: Execution['settle'] = (error, result) => tell(error ?? result);
    const repeat = (pending: SharedRead) => {
      this.#note(() => expect(read.isRepeated, 'repeated before').to.equal(false));
      this.#note(() => expect(this.#isKnownAsSlow(pending), 'waits for itself').to.equal(false));
      read.isRepeated = true;
      this.#askAlone(pending);
    };
    const pending = new SharedRead({ ...asked, answer, fail: tell }, repeat, this.#budget);
    // Chooses the connection as a runner does.
    if (read.isShared) this.#lane.add(pending);
    else this.#askAlone(pending);
  }

  /** True where all others of its connection wait for it. */
  #isKnownAsSlow(read: SharedRead): boolean {
    return [...this.#underway.values()].some(
      ([first]) => first?.executions.length === 1 && first.executions.includes(read),
    );
  }

  /** Executes on a connection of its own, as a runner does. */
  #askAlone(read: SharedRead): void {
    const { statement, values, answer, fail } = read.pending;
    this.#queue.join({
      use: (client) => {
        this.#note(() => expect(client.pipeline, 'shared').to.equal(false));
        const end = () => this.#queue.leave(client);
        const executions = [{ values, settle: answer }];
        this.#note(() => this.#send(client, { before: [], statement, executions, end }));
      },
      fail,
      isGone: () => read.isAnswered,
    });
  }

  #send(client: PooledClient, batch: Batch): void {
    const { executions, statement } = batch;
    expect(executions.length).to.be.within(1, 16);
    // The last one begins before that time is over.
    if (executions.length > 1) expect((executions.length - 1) * statement.cost).to.be.below(BATCH_TIME);
    for (const { values } of executions) {
      const read = this.#readOf(values);
      expect(read.told, 'answered before').to.equal(undefined);
      read.executions += 1;
    }
    const alike = executions.filter((each) => !('statement' in each) || each.statement === statement);
    expect(alike, 'of one statement').to.have.lengthOf(executions.length);
    if (this.#pool.broken.has(client)) {
      process.nextTick(() => this.#failWhole(batch, new Error('Client has encountered a connection error')));
      return;
    }
    const underway = this.#underway.get(client) ?? [];
    if (underway.length > 0) expect(client.pipeline, 'sent behind others').to.equal(true);
    underway.push(batch);
    this.#underway.set(client, underway);
  }

  async #wait(milliseconds: number): Promise<void> {
    await this.#clock.advance(milliseconds);
    // A lane reads late answers in one more turn of the event loop.
    await nextTurn();
    if (milliseconds < PATIENCE || this.#tokens < BURST) return;
    // All reads but the slow one, if it is known, have an answer or are repeated.
    const stuck = this.#reads.filter(({ told, isRepeated }) => told === undefined && !isRepeated);
    const shared = [...this.#underway].filter(([client]) => client.pipeline).map(([, batches]) => batches);
    for (const batches of shared) {
      const slow = batches[0]?.executions.length === 1 ? batches[0].executions : [];
      const behind = batches.flatMap(({ executions }) => executions).filter((each) => !slow.includes(each));
      const ids = behind.map(({ values }) => values[0]);
      expect(stuck.filter(({ id }) => ids.includes(id))).to.deep.equal([]);
    }
  }

  #end(client: PooledClient, kind: Exclude<Step['kind'], 'add' | 'refuseConnections'>, choice: number): void {
    const batches = this.#underway.get(client) ?? [];
    const [first, ...behind] = batches as [Batch, ...Batch[]];
    batches.shift();
    const isOver = kind !== 'answer' && kind !== 'refuse';
    if (isOver) this.#pool.broken.add(client);
    if (isOver || batches.length === 0) this.#underway.delete(client);
    if (kind === 'answer') this.#answer(first);
    else if (kind === 'refuse') this.#failOne(first, choice, { code: '22012', severity: 'ERROR' });
    else if (kind === 'end') this.#failOne(first, choice, { code: '57P01', severity: 'FATAL' });
    else if (kind === 'timeOut') this.#failWhole(first, new Error('Query read timeout'));
    else this.#failWhole(first, new Error('Connection terminated unexpectedly'));
    if (isOver) for (const batch of behind) this.#failWhole(batch, new Error('Connection terminated'));
  }

  #answer({ executions, end }: Batch): void {
    end(null);
    for (const execution of executions) {
      const result: TextResult = { rows: [[...execution.values]], count: 1, parsers: [] };
      this.#say(execution, result);
      execution.settle(null, result);
    }
  }

  /** As the executor reports it: an error of PostgreSQL's is that of one execution. */
  #failOne({ executions, end }: Batch, choice: number, fields: object): void {
    const error = Object.assign(new Error('refused'), fields);
    const failed = choice % executions.length;
    end(error);
    executions.forEach((execution, index) => {
      if (index === failed) this.#say(execution, error);
      else this.#readOf(execution.values).isLeftOut = true;
      execution.settle(index === failed ? error : new BatchAbortedError());
    });
  }

  #failWhole({ executions, end }: Batch, error: Error): void {
    end(error);
    for (const execution of executions) {
      this.#say(execution, error);
      execution.settle(error);
    }
  }

  #say(execution: Execution, outcome: unknown): void {
    const { said, saidAlone } = this.#readOf(execution.values);
    said.push(outcome);
    if (!(execution instanceof SharedRead)) saidAlone.push(outcome);
  }

  #expectOutcome({ id, told, said, saidAlone, executions, isShared, isRepeated }: Read): void {
    expect(told, `what ${id} is told`).not.to.equal(undefined);
    expect(executions).to.be.at.most(2);
    if (executions > 1) expect(isRepeated).to.equal(true);
    const isRefused = told instanceof Error && told.message === 'too many connections';
    if (isRefused || isAcquireTimeout(told)) return;
    expect(said, 'what another one is told').to.include(told);
    if (isRepeated && told instanceof Error) expect(saidAlone, 'what goes wrong elsewhere').to.include(told);
    const isLost = told instanceof Error && told.message.startsWith('Connection terminated');
    if (isLost && isShared && this.#tokens === BURST) expect(isRepeated, 'lost').to.equal(true);
  }

  #readOf([id]: Execution['values']): Read {
    return this.#reads[Number(id)] as Read;
  }
}

function isAcquireTimeout(told: unknown): boolean {
  return told instanceof Error && told.name === 'SequelizeConnectionAcquireTimeoutError';
}

const choice = fc.nat(1_000);
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('add'), statement: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('answer'), choice }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('refuse', 'lose', 'end', 'timeOut'), choice }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuseConnections') }) },
);
const journeyArbitrary = fc.record({
  size: fc.integer({ min: 1, max: 4 }),
  tokens: fc.constantFrom(0, 2, BURST),
  readServers: fc.integer({ min: 1, max: 2 }),
  // Executions of one turn of the event loop may go together.
  turns: fc.array(
    fc.record({
      steps: fc.array(stepArbitrary, { minLength: 1, maxLength: 6 }),
      pause: fc.oneof(fc.constant(0), fc.nat(60)),
    }),
    { maxLength: 30, size: 'max' },
  ),
});

/** A lane on the one connection of a pool. */
function laneOfOne(fails: (id: unknown) => boolean = () => false) {
  const destroyed: unknown[] = [];
  const stream = { cork() {}, uncork() {}, destroy: () => destroyed.push(stream) };
  const pool = new MemoryPool(1, 1_000, async () => ({ pipeline: false, connection: { stream } }) as never);
  const sent: Batch[] = [];
  const repeated: unknown[] = [];
  const source = {
    readServers: 1,
    get isReadWaiting() {
      return pool.waiting > 0;
    },
    acquire: () => pool.acquire(),
    release: (client: PooledClient) => pool.release(client),
  };
  const execute = (_: PooledClient, batch: Batch): void => {
    sent.push(batch);
    if (fails(batch.executions[0]?.values[0])) throw new Error('not sent');
  };
  const lane = new Lane(source, { canPipeline: true, execute });
  const put = (id: string): void => {
    const asked = { values: [id], share: null, settings: null, answer: () => {}, fail: () => {} };
    const pending = { ...asked, statement: new PreparedStatement('SELECT 1', 's') };
    lane.add(new SharedRead(pending, () => repeated.push(id), new RepeatBudget()));
  };
  const add = async (...ids: string[]): Promise<void> => {
    for (const id of ids) put(id);
    await nextTurn();
    await nextTurn();
  };
  return { pool, lane, sent, repeated, add, destroyed };
}

describe('reads that share a connection', () => {
  it('are each told once what one of their own executions gave', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async ({ size, tokens, readServers, turns }) => {
      using clock = new FakeClock();
      const simulation = new Simulation(clock, size, tokens, readServers);
      for (const { steps, pause } of turns) await simulation.run(steps, pause);
      await simulation.finish();
    });
    await fc.assert(property, { numRuns: wholeOr(150, 500) });
  });

  it('leave their connection to others who wait for one, and go with the next one meanwhile', async () => {
    const { pool, lane, sent, add } = laneOfOne();
    await add('first');
    const other = pool.acquire();
    await add('second');
    await add('third');
    expect([lane.isOpen, sent.length]).to.deep.equal([true, 1]);
    sent[0]?.end(null);
    const client = await other;
    await nextTurn();
    expect([client.pipeline, sent.length]).to.deep.equal([false, 1]);
    pool.release(client);
    await nextTurn();
    await nextTurn();
    const ids = sent.map(({ executions }) => executions.map(({ values: [id] }) => id).join('+'));
    expect(ids).to.deep.equal(['first', 'second', 'third']);
    for (const { end } of sent.slice(1)) end(null);
    expect([lane.load, lane.isInUse, pool.pool.using]).to.deep.equal([0, false, 0]);
    // An idle connection has a timer.
    await pool.pool.destroyAllNow();
  });

  it('are executed elsewhere where the driver throws, with all that is under way beside them', async () => {
    const { pool, lane, sent, repeated, add, destroyed } = laneOfOne((id) => id === 'first');
    await add('first', 'second');
    expect([repeated, destroyed.length, lane.load]).to.deep.equal([['first'], 1, 1]);
    // The driver reports of all messages that it has taken that the connection is lost.
    const lost = new Error('Connection terminated unexpectedly');
    for (const { executions, end } of sent) {
      end(lost);
      for (const execution of executions) execution.settle(lost);
    }
    expect([repeated, destroyed.length, lane.load]).to.deep.equal([['first', 'second'], 1, 0]);
    expect([lane.isInUse, pool.pool.using]).to.deep.equal([false, 0]);
    await pool.pool.destroyAllNow();
  });

  it('are not executed again where it is the process that is late', async () => {
    using clock = new FakeClock();
    const { lane, sent, repeated, add } = laneOfOne();
    for (const id of ['first', 'second', 'third']) await add(id);
    await clock.advance(15);
    sent[0]?.end(null);
    // A long turn of the event loop, in which the others are answered.
    await clock.advance(20);
    for (const { end } of sent.slice(1)) end(null);
    await add('fourth');
    expect(repeated).to.deep.equal([]);
    expect(lane.load).to.equal(1);
    await clock.advance(41);
    await nextTurn();
    expect(lane.isOpen).to.equal(false);
    sent[3]?.end(null);
  });
});
