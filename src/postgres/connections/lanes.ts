/**
 * Lanes: connections that reads share. Reads of one turn of the event loop are sent together, before earlier ones are
 * answered, which saves both sides most of their system calls. A lane is a connection of the pool, and is returned
 * as soon as nothing is under way.
 */
import { isQueryTimeout } from '../../errors/database-fault.js';
import { type Batch, BatchAbortedError, type Execution, type TextResult } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import type { PooledClient } from '../session/connection-internals.js';
import type { TableShare } from '../session/read-shares.js';
import type { ConnectionSource } from './connection-source.js';
import type { PendingStatement } from './statement-target.js';

/** Lanes of one server. PostgreSQL answers the reads of a lane one after the other; the second lane is for times when it is slower than Node. */
const LANES = 2;
/**
 * Milliseconds of PostgreSQL's time that are under way on one lane before another is opened. As long as Node is the slower side, reads
 * that are sent together are cheaper. The time is that of the fastest answers, because answers that wait for Node are read one right
 * after the other.
 */
const LANE_TIME = 4;
/** After as many milliseconds without any answer all reads but the slow one are executed again elsewhere. */
const PATIENCE = 20;
/** Milliseconds that a batch may take. No read is answered before all of it is done. */
const BATCH_TIME = 0.25;
const BATCH_SIZE = 16;
/** Reads that are sent before the turn of the event loop ends: PostgreSQL executes them while Node takes more requests. */
const SENT_AT_ONCE = 64;
/** Milliseconds after which a lane takes another connection where there are several servers, each of which is to have its turn. */
const TENURE = 500;
/** Reads that may be repeated, as a part of all reads. */
const REPEATS = 0.1;
/** Repeats at once; more than usually share a connection that ends. */
const BURST = 100;

/** The lanes of one instance. */
export class Lanes {
  readonly #lanes: readonly Lane[];
  /** True where all lanes get as many reads, for each of the servers. */
  readonly #isDealing: boolean;
  #turn = 0;

  /** @param canShare true where there are any */
  constructor(source: ConnectionSource, executor: StatementExecutor, canShare: boolean) {
    const { maxReads, readServers } = source;
    // At least one connection is left for work that needs it alone.
    const count = canShare ? Math.min(Math.max(LANES, readServers), Math.max(1, maxReads - 1)) : 0;
    this.#isDealing = readServers > 1;
    this.#lanes = Array.from({ length: count }, () => new Lane(source, executor));
  }

  /** Number of lanes with a connection. */
  get inUse(): number {
    return this.#lanes.reduce((sum, { isInUse }) => sum + (isInUse ? 1 : 0), 0);
  }

  /**
   * The lane with the fewest reads. An unused lane is taken only when the used ones have enough reads. But where each is to a
   * server of its own, equal lanes are taken in turn.
   */
  laneFor({ cost }: PreparedStatement): Lane | undefined {
    const count = this.#lanes.length;
    if (this.#isDealing) this.#turn = (this.#turn + 1) % count;
    let best: Lane | undefined;
    for (let index = 0; index < count; index += 1) {
      const lane = this.#lanes[(index + this.#turn) % count] as Lane;
      if (!lane.isOpen || (best && lane.load >= best.load)) continue;
      const isEnough = best && !this.#isDealing && best.load * cost < LANE_TIME && lane.load === 0;
      if (!isEnough) best = lane;
    }
    return best;
  }
}

/**
 * Number of reads of one instance that may be executed once more. It is a small share of the executed reads (a token bucket), so that
 * a database that stalls does not get twice the load just then.
 */
export class RepeatBudget {
  #tokens = BURST;

  /** Counts a read. */
  earn(): void {
    if (this.#tokens < BURST) this.#tokens += REPEATS;
  }

  /** True where one more read may be repeated; the call counts it. */
  spend(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** Executes a read on a connection of its own, unless it has been answered meanwhile. */
export type RetryElsewhere = (read: SharedRead) => void;

/** A driver's errors have no severity. In some languages there is another word for FATAL, but no other code. */
function isConnectionLost(error: Error): boolean {
  const { severity, code = '' } = error as Error & { readonly severity?: string; readonly code?: string };
  if (severity === undefined) return !isQueryTimeout(error);
  return severity === 'FATAL' || /^(?:08|57P)/.test(code);
}

/** A read that shares a connection. */
export class SharedRead implements Execution {
  readonly pending: PendingStatement;
  readonly values: Execution['values'];
  readonly context: Execution['context'];
  readonly trace: Execution['trace'];
  readonly #retryElsewhere: RetryElsewhere;
  readonly #budget: RepeatBudget;
  #isRepeated = false;
  /** True while the read is under way here, so that an answer will come. */
  #isUnderway = false;
  #isAnswered = false;

  constructor(pending: PendingStatement, retryElsewhere: RetryElsewhere, budget: RepeatBudget) {
    budget.earn();
    this.#budget = budget;
    this.pending = pending;
    this.values = pending.values;
    this.context = pending.context;
    this.trace = pending.trace;
    this.#retryElsewhere = retryElsewhere;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Drops an error of this connection where the read is repeated on another one. */
  settle(error: Error | null, result?: TextResult): void {
    if (this.#isAnswered) return;
    this.#isUnderway = false;
    if (error && this.#isRepeated) return;
    if (error instanceof BatchAbortedError) this.move();
    else if (!error || !isConnectionLost(error) || !this.repeat()) {
      this.#isAnswered = true;
      this.pending.answer(error, result);
    }
  }

  /** It is sent. */
  begin(): void {
    this.#isUnderway = true;
  }

  /** Leaves the answer to the shared connection, where it is not answered elsewhere; false where none will come. */
  withdraw(): boolean {
    if (this.#isUnderway) this.#isRepeated = false;
    return this.#isUnderway;
  }

  /** Executes it elsewhere, where it is executed a second time; false when too many have been lately. */
  repeat(): boolean {
    const mayRepeat = !this.#isRepeated && this.#budget.spend();
    if (mayRepeat) this.move();
    return mayRepeat;
  }

  /** Executes it elsewhere instead of here. */
  move(): void {
    if (this.#isRepeated) return;
    this.#isRepeated = true;
    this.#retryElsewhere(this);
  }
}

type ReadSource = Pick<ConnectionSource, 'acquire' | 'release' | 'readServers' | 'isReadWaiting'>;

/** A lane: one connection at a time, which reads share. */
export class Lane {
  readonly #source: ReadSource;
  readonly #executor: StatementExecutor;
  /** Reads that are not sent yet. */
  readonly #collected: SharedRead[] = [];
  /** Batches that were sent, in the order of PostgreSQL's answers. */
  readonly #underway: (readonly SharedRead[])[] = [];
  #load = 0;
  #client: PooledClient | null = null;
  #isOpening = false;
  /** True where the connection is released when all statements sent on it are answered. */
  #isClosing = false;
  #isSlow = false;
  #watch: NodeJS.Timeout | undefined;
  /** Time of the last answer, or of the first batch after all was answered. */
  #silentSince = 0;
  /** The share of the table that its reads wait for. */
  #held: TableShare | null = null;
  #closesAt = Number.POSITIVE_INFINITY;

  constructor(source: ReadSource, executor: StatementExecutor) {
    this.#source = source;
    this.#executor = executor;
  }

  /** Number of reads that wait or are under way here. */
  get load(): number {
    return this.#load;
  }

  /** True where the lane has a connection, or opens one. */
  get isInUse(): boolean {
    return this.#client !== null || this.#isOpening;
  }

  /** True where the lane takes reads: not behind one that is slow. */
  get isOpen(): boolean {
    return !this.#isSlow;
  }

  /**
   * Takes a read. Where other work waits for a connection it gets this one, and new reads are sent on the next one. On connections
   * of their own, reads would take more of them, so that other work would always wait.
   */
  add(read: SharedRead): void {
    this.#load += 1;
    this.#collected.push(read);
    if (this.#client) {
      if (this.#source.isReadWaiting) this.#isClosing = true;
      if (this.#isClosing) return;
      if (this.#collected.length === 1) this.#sendSoon();
      else if (this.#collected.length === SENT_AT_ONCE) this.#sendCollected(this.#client);
    } else if (!this.#isOpening) void this.#open();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      this.#client = await this.#source.acquire('read');
      this.#client.pipeline = true;
      this.#silentSince = performance.now();
      if (this.#source.readServers > 1) this.#closesAt = this.#silentSince + TENURE;
      this.#watch ??= this.#checkIn(PATIENCE);
      this.#sendSoon();
    } catch (error) {
      this.#load = 0;
      for (const read of this.#collected.splice(0)) read.pending.fail(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** Sends the reads of this turn of the event loop together. */
  #sendSoon(): void {
    setImmediate(() => {
      if (this.#client) this.#sendCollected(this.#client);
    });
  }

  #sendCollected(client: PooledClient): void {
    const batches = inBatches(this.#collected.splice(0));
    if (this.#underway.length === 0) this.#silentSince = performance.now();
    // All of them now: the connection is not released between two of them, where the first one fails at once.
    this.#underway.push(...batches);
    // One system call for all of them.
    const stream = batches.length > 1 ? client.connection?.stream : undefined;
    stream?.cork();
    try {
      for (const batch of batches) this.#send(client, batch);
    } finally {
      stream?.uncork();
    }
  }

  #send(client: PooledClient, reads: readonly SharedRead[]): void {
    const [{ pending }] = reads as readonly [SharedRead];
    const { statement, settings } = pending;
    let isOver = false;
    const end: Batch['end'] = (error) => {
      if (isOver) return;
      isOver = true;
      this.#answered(client, statement, reads, error);
    };
    for (const read of reads) read.begin();
    try {
      this.#executor.execute(client, {
        before: settings ? [settings] : [],
        statement,
        executions: reads,
        end,
      });
    } catch (error) {
      // A part may have been sent, so the connection is lost to all reads that are under way there.
      client._invalid = true;
      client.connection?.stream.destroy();
      this.#isClosing = true;
      end(error as Error);
      for (const read of reads) read.settle(error as Error);
    }
  }

  /** The answers come in the order of the batches, so each shows the time of its own. */
  #answered(
    client: PooledClient,
    statement: PreparedStatement,
    reads: readonly SharedRead[],
    error: Error | null,
  ): void {
    const now = performance.now();
    if (error === null) statement.measure((now - this.#silentSince) / reads.length);
    this.#silentSince = now;
    this.#underway.splice(this.#underway.indexOf(reads), 1);
    this.#load -= reads.length;
    if (now > this.#closesAt) this.#isClosing = true;
    if (this.#load === 0 || (this.#isClosing && this.#underway.length === 0)) this.#close(client, error);
  }

  /** @param error with which its last reads have ended */
  #close(client: PooledClient, error: Error | null = null): void {
    client.pipeline = false;
    this.#client = null;
    this.#isClosing = false;
    this.#isSlow = false;
    this.#source.release(client);
    this.#held?.free(error);
    this.#held = null;
    if (this.#collected.length > 0) void this.#open();
  }

  /** It goes on when the lane closes: most are open for less time than it costs to start a timer and to stop it. */
  #checkIn(milliseconds: number): NodeJS.Timeout {
    // Later than the pending work of the event loop: an answer may have arrived and not have been read.
    return setTimeout(() => setImmediate(() => this.#check()), milliseconds).unref();
  }

  /** A process that is busy reads an answer late: one that came before the silence was noticed is read in the next turn. */
  #check(): void {
    this.#watch = undefined;
    const client = this.#client;
    if (!client) return;
    const since = this.#silentSince;
    const silence = performance.now() - since;
    if (silence < PATIENCE) this.#watch = this.#checkIn(PATIENCE - silence);
    else
      setImmediate(() => {
        if (this.#client !== client) return;
        if (this.#silentSince === since) this.#giveUp(client);
        else this.#watch ??= this.#checkIn(PATIENCE);
      });
  }

  /**
   * Executes the reads behind a slow read again on other connections. A batch of one read shows which read is slow. Of a larger batch all reads are
   * executed again, as far as the budget allows. The first attempt is answered, too, and the first answer counts.
   */
  #giveUp(client: PooledClient): void {
    this.#isClosing = true;
    this.#isSlow = true;
    const [slow, ...behind] = this.#underway;
    this.#held = slow?.[0]?.pending.share ?? null;
    this.#held?.hold();
    const { statement } = slow?.[0]?.pending ?? {};
    const isAlone = slow?.length === 1 && statement?.planned === statement;
    const stuck = isAlone ? behind : this.#underway;
    const unsent = this.#collected.splice(0);
    this.#load -= unsent.length;
    for (const read of unsent) read.move();
    for (const read of stuck.flat()) read.repeat();
    if (this.#load === 0) this.#close(client);
  }
}

/**
 * Reads of one statement go together: a transaction that reads one table holds no lock while it waits for one, so that it
 * is part of no deadlock. Its settings are those of all of them: reads with others, or without any, are no part of it.
 */
function inBatches(reads: readonly SharedRead[]): readonly SharedRead[][] {
  const open = new Map<unknown, SharedRead[]>();
  const batches: SharedRead[][] = [];
  for (const read of reads) {
    const { statement, settings } = read.pending;
    const kind = settings ? `${statement.name} ${settings.settings.key}` : statement;
    const batch = open.get(kind);
    if (batch && batch.length < Math.min(BATCH_SIZE, BATCH_TIME / statement.cost)) batch.push(read);
    else {
      const next = [read];
      open.set(kind, next);
      batches.push(next);
    }
  }
  return batches;
}
