/**
 * A connection that several reads share: those of one turn of the event loop are sent together, without waiting for the
 * answers to those before them, which saves both sides most of their system calls. It is one of the pool's and goes back
 * there as soon as nothing is under way.
 */
import { isQueryTimeout } from '../../errors/database-fault.js';
import { type Batch, BatchAbortedError, type Execution, type TextResult } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import type { ConnectionSource } from './connection-source.js';
import type { PendingStatement } from './pending-statement.js';
import { markBroken, type PooledClient } from './pooled-client.js';
import type { RepeatBudget } from './repeat-budget.js';
import type { TableShare } from './table-share.js';

/** After as many milliseconds without any answer all reads but the one that is slow are asked again elsewhere. */
const PATIENCE = 20;
/** Milliseconds that a batch may take. Nobody is answered before all of it is done. */
const BATCH_TIME = 0.25;
/** Reads of a batch. */
const BATCH_SIZE = 16;

/** Milliseconds after which it takes another connection where there are several servers, each of which is to have its turn. */
const TENURE = 500;

/** Executes a read on a connection of its own, unless it has been answered meanwhile. */
export type RetryElsewhere = (read: PipelinedRead) => void;

/** A driver's errors have no severity. In some languages another word stands for FATAL, but not another code. */
function isConnectionLost(error: Error): boolean {
  const { severity, code = '' } = error as Error & { readonly severity?: string; readonly code?: string };
  if (severity === undefined) return !isQueryTimeout(error);
  return severity === 'FATAL' || /^(?:08|57P)/.test(code);
}

/** A read that shares a connection. */
export class PipelinedRead implements Execution {
  readonly pending: PendingStatement;
  readonly values: Execution['values'];
  readonly context: Execution['context'];
  readonly trace: Execution['trace'];
  readonly #retryElsewhere: RetryElsewhere;
  readonly #budget: RepeatBudget;
  #isAskedAgain = false;
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
    this.#isUnderway = false;
    if (error && this.#isAskedAgain) return;
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
    if (this.#isUnderway) this.#isAskedAgain = false;
    return this.#isUnderway;
  }

  /** Executes it elsewhere, where it is executed a second time; false when too many have been lately. */
  repeat(): boolean {
    const isRepeated = !this.#isAskedAgain && this.#budget.spend();
    if (isRepeated) this.move();
    return isRepeated;
  }

  /** Executes it elsewhere instead of here. */
  move(): void {
    if (this.#isAskedAgain) return;
    this.#isAskedAgain = true;
    this.#retryElsewhere(this);
  }
}

/** State of a statement that has waited in the queue, and the ways to execute it again. */
export interface Queued {
  /** Number of statements before it on its connection. */
  readonly behind?: number;
  /** Takes the connection of a read that is to begin again, because its table is locked. */
  readonly requeue?: ((client: PooledClient) => void) | undefined;
  /** One that is under way on a shared connection, too. */
  readonly read?: PipelinedRead | undefined;
}

/** Where a reader gets its connections. */
export type ReadSource = Pick<ConnectionSource, 'acquire' | 'release' | 'readServers' | 'isReadWaiting'>;

/** One connection at a time, shared. */
export class PipelinedReader {
  readonly #source: ReadSource;
  readonly #executor: StatementExecutor;
  /** Not sent yet. */
  readonly #collected: PipelinedRead[] = [];
  /** In the order in which PostgreSQL answers them. */
  readonly #underway: (readonly PipelinedRead[])[] = [];
  #load = 0;
  #client: PooledClient | null = null;
  #isOpening = false;
  /** True where the connection is released when all statements sent on it are answered. */
  #isClosing = false;
  #isSlow = false;
  #watch: NodeJS.Timeout | undefined;
  #lastAnswer = 0;
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

  /** True where the reader has a connection, or opens one. */
  get isInUse(): boolean {
    return this.#client !== null || this.#isOpening;
  }

  /** True where the reader takes reads: not behind one that is slow. */
  get isOpen(): boolean {
    return !this.#isSlow;
  }

  /**
   * Takes a read. Where others wait for a connection they get this one, and what comes now goes with the next one: on connections
   * of their own, reads would take more of them, so that others would always wait.
   */
  add(read: PipelinedRead): void {
    this.#load += 1;
    this.#collected.push(read);
    if (this.#client) {
      if (this.#source.isReadWaiting) this.#isClosing = true;
      if (!this.#isClosing && this.#collected.length === 1) this.#sendSoon();
    } else if (!this.#isOpening) void this.#open();
  }

  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      this.#client = await this.#source.acquire('read');
      this.#client.pipeline = true;
      this.#lastAnswer = performance.now();
      if (this.#source.readServers > 1) this.#closesAt = this.#lastAnswer + TENURE;
      this.#watch ??= this.#checkIn(PATIENCE);
      this.#sendSoon();
    } catch (error) {
      this.#load = 0;
      for (const read of this.#collected.splice(0)) read.pending.fail(error);
    } finally {
      this.#isOpening = false;
    }
  }

  /** With all that come in this turn of the event loop. */
  #sendSoon(): void {
    setImmediate(() => {
      if (!this.#client) return;
      const client = this.#client;
      const batches = inBatches(this.#collected.splice(0));
      // One system call for all of them.
      const stream = batches.length > 1 ? client.connection?.stream : undefined;
      stream?.cork();
      try {
        for (const batch of batches) this.#send(client, batch);
      } finally {
        stream?.uncork();
      }
    });
  }

  #send(client: PooledClient, reads: readonly PipelinedRead[]): void {
    const [{ pending }] = reads as readonly [PipelinedRead];
    const { statement, settings } = pending;
    this.#underway.push(reads);
    for (const read of reads) read.begin();
    const end: Batch['end'] = (error) => {
      if (error) markBroken(client, error);
      this.#answered(client, statement, reads);
    };
    this.#executor.execute(client, {
      before: settings ? [settings] : [],
      statement,
      executions: reads,
      end,
    });
  }

  /** The answers come in the order of the batches, so each tells how long its own took. */
  #answered(client: PooledClient, statement: PreparedStatement, reads: readonly PipelinedRead[]): void {
    const now = performance.now();
    statement.measure((now - this.#lastAnswer) / reads.length);
    this.#lastAnswer = now;
    this.#underway.splice(this.#underway.indexOf(reads), 1);
    this.#load -= reads.length;
    if (now > this.#closesAt) this.#isClosing = true;
    if (this.#load === 0 || (this.#isClosing && this.#underway.length === 0)) this.#close(client);
  }

  #close(client: PooledClient): void {
    client.pipeline = false;
    this.#client = null;
    this.#isClosing = false;
    this.#isSlow = false;
    this.#source.release(client);
    this.#held?.free();
    this.#held = null;
    if (this.#collected.length > 0) void this.#open();
  }

  /** It goes on when the lane closes: most are open for less time than it costs to start a timer and to stop it. */
  #checkIn(milliseconds: number): NodeJS.Timeout {
    // Behind whatever the event loop has not come to yet: an answer may be there and not have been read.
    return setTimeout(() => setImmediate(() => this.#check()), milliseconds).unref();
  }

  #check(): void {
    this.#watch = undefined;
    if (!this.#client) return;
    const silence = performance.now() - this.#lastAnswer;
    if (silence >= PATIENCE) this.#giveUp(this.#client);
    else this.#watch = this.#checkIn(PATIENCE - silence);
  }

  /**
   * Nobody has to wait for a slow read but who asked for it. It is known where it was sent alone; else all of its batch
   * are asked again, as far as the budget goes. What was sent is answered, too, and the first answer counts.
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
function inBatches(reads: readonly PipelinedRead[]): readonly PipelinedRead[][] {
  const open = new Map<unknown, PipelinedRead[]>();
  const batches: PipelinedRead[][] = [];
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
