/**
 * Reads of one statement that use a connection together: those of one turn of the event loop, and those that come while they wait
 * for one. They are several executions and one Sync, which saves both sides most of their system calls. To PostgreSQL they are
 * one transaction that reads one table: it holds no lock while it waits for one, so that it is part of no deadlock.
 */
import { isQueryTimeout } from '../../errors/database-fault.js';
import { type Batch, BatchAbortedError, type Execution, type Preceding } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import { isStale, type PreparedStatement } from '../protocol/prepared-statement.js';
import type { ConnectionQueue, QueueEntry, Waiter } from './connection-queue.js';
import { LOCK_TIMEOUT, LongReads } from './long-reads.js';
import type { PendingRead } from './pending-statement.js';
import { markBroken, type PooledClient } from './pooled-client.js';

/** Milliseconds that a batch may take, by the cost of its statement. None of it is answered before all of it is done. */
const BATCH_TIME = 2;
/** Reads of a batch, and rows that they may have. */
const BATCH_SIZE = 48;
const BATCH_ROWS = 1_600;
/** Milliseconds that a read may take that others wait for. Beyond it each is executed by itself. */
const READ_TIMEOUT = 100;
const LIMIT_LOCKS = `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}ms', true)`;
const LIMIT_TIMES = `${LIMIT_LOCKS}, set_config('statement_timeout', '${READ_TIMEOUT}ms', true)`;

/** Where the reads of one instance are executed. */
export class Reads {
  readonly queue: ConnectionQueue;
  readonly executor: StatementExecutor;
  readonly longReads: LongReads;
  /** For the transaction that they are part of. A longer wait for a lock ends with 55P03, a longer execution with 57014. */
  readonly limits: { readonly alone: Preceding; readonly shared: Preceding };
  /** Number of servers that answer reads, each of which is to get as many. */
  readonly servers: number;
  /** By statement and settings. */
  readonly #flows = new Map<unknown, ReadFlow>();

  /**
   * @param places connections for reads that there may be, and servers that they lead to
   * @param prepare makes a statement for them
   */
  constructor(
    queue: ConnectionQueue,
    executor: StatementExecutor,
    { connections, servers }: { readonly connections: number; readonly servers: number },
    prepare: (text: string) => PreparedStatement,
  ) {
    this.queue = queue;
    this.executor = executor;
    this.servers = servers;
    this.longReads = new LongReads(connections, () => queue.wake());
    this.limits = {
      alone: { statement: prepare(LIMIT_LOCKS), values: [] },
      shared: { statement: prepare(LIMIT_TIMES), values: [] },
    };
  }

  /** Executes a read on a connection of its own. */
  add(read: PendingRead): void {
    new ReadBatch(this, read).join();
  }

  /** Executes a read together with others of its statement. */
  share(read: PendingRead): void {
    const { statement, settings } = read;
    const kind = settings ? `${statement.name} ${settings.settings.key}` : statement;
    let flow = this.#flows.get(kind);
    if (flow === undefined) {
      flow = new ReadFlow(this, () => this.#flows.delete(kind));
      this.#flows.set(kind, flow);
    }
    flow.add(read);
  }
}

/** Reads of one statement with the same settings. As long as a batch of them is under way, those that come are collected. */
class ReadFlow {
  readonly #home: Reads;
  readonly #end: () => void;
  /** Takes more reads. */
  #open: ReadBatch | null = null;
  /** Batches that wait for a connection, or are under way. */
  #joined = 0;

  /** @param end is called when there are none left */
  constructor(home: Reads, end: () => void) {
    this.#home = home;
    this.#end = end;
  }

  add(read: PendingRead): void {
    const batch = this.#open;
    if (batch === null) {
      this.#open = new ReadBatch(this.#home, read, this);
      if (this.#mayJoin) setImmediate(() => this.#joinOpen());
    } else if (batch.add(read)) {
      this.#open = null;
      if (!batch.isJoined) this.#join(batch);
    }
  }

  /** A batch takes no more reads. */
  close(batch: ReadBatch): void {
    if (this.#open === batch) this.#open = null;
  }

  /** Ends a batch; the next one, if it is its turn. */
  leave(): ReadBatch | null {
    this.#joined -= 1;
    const next = this.#open;
    if (next?.isJoined === false) this.#joined += 1;
    else if (this.#joined === 0) this.#end();
    return next?.isJoined === false ? next : null;
  }

  /** True where a batch that is not full goes, too. */
  get #mayJoin(): boolean {
    return this.#joined < this.#home.servers;
  }

  #joinOpen(): void {
    if (this.#open?.isJoined === false && this.#mayJoin) this.#join(this.#open);
  }

  #join(batch: ReadBatch): void {
    this.#joined += 1;
    batch.join();
  }
}

/** One batch in the queue. */
class ReadBatch implements Waiter {
  readonly #home: Reads;
  readonly #reads: PendingRead[];
  /** Null for a read that shares no connection. */
  readonly #flow: ReadFlow | null;
  #entry: QueueEntry | null = null;
  /** When it was first sent. */
  #sentAt = 0;

  constructor(home: Reads, first: PendingRead, flow: ReadFlow | null = null) {
    this.#home = home;
    this.#reads = [first];
    this.#flow = flow;
  }

  get #first(): PendingRead {
    return this.#reads[0] as PendingRead;
  }

  /** Takes another read; true where it is full now. */
  add(read: PendingRead): boolean {
    const { cost, lastCount } = read.statement;
    return this.#reads.push(read) >= Math.min(BATCH_SIZE, BATCH_TIME / cost, BATCH_ROWS / lastCount);
  }

  get isJoined(): boolean {
    return this.#entry !== null;
  }

  /** @param from connection that is free now */
  join(from: PooledClient | null = null): void {
    const { queue } = this.#home;
    this.#entry = from ? queue.leaveAndJoin(from, this) : queue.join(this);
  }

  isHeldBack(): boolean {
    const { statement, table } = this.#first;
    return this.#home.longReads.isHeldBack(statement, table);
  }

  fail(error: unknown): void {
    this.#flow?.close(this);
    this.#flow?.leave()?.join();
    for (const read of this.#reads) read.fail(error);
  }

  use(client: PooledClient): void {
    this.#flow?.close(this);
    this.#send(client);
  }

  /** A statement that was prepared before its table changed has done nothing; on the same connection it is prepared anew. */
  #send(client: PooledClient, isAgain = false): void {
    const { queue, executor, longReads } = this.#home;
    const { statement, table } = this.#first;
    const begun = longReads.begin(statement, table);
    const started = performance.now();
    this.#sentAt ||= started;
    const restedBefore = restTime();
    let isDropped = false;
    const end: Batch['end'] = (error) => {
      const duration = performance.now() - started;
      if (this.#flow && isCancelled(error)) statement.measure(duration);
      // A busy process reads answers late, so it counts only what it has waited for.
      const rest = statement.isSlow ? duration : restTime() - restedBefore;
      if (error === null) statement.measure(rest / this.#reads.length);
      if (error) markBroken(client, error);
      const isPutBack = longReads.end(begun, table, error) && this.#mayWait(client);
      isDropped = isPutBack || (!isAgain && error !== null && isStale(error));
      if (isPutBack) queue.requeue(client, this.#entry as QueueEntry);
      else if (isDropped) this.#send(client, true);
      else this.#leave(client);
      if (begun.isSlow || begun.isTrial) queue.wake();
    };
    const executions = this.#reads.map((read): Execution => {
      const { values, context, trace } = read;
      const settle: Execution['settle'] = (error, result) => {
        if (isDropped) return;
        if (result) statement.lastCount = result.count;
        if (error && this.#flow && isOfOthers(error)) this.#home.add(alone(read));
        else read.answer(error, result);
      };
      return { values, context, trace, settle };
    });
    try {
      executor.execute(client, { before: this.#before, statement, executions, end });
    } catch (error) {
      longReads.end(begun, table, null);
      throw error;
    }
  }

  #leave(client: PooledClient): void {
    const next = this.#flow?.leave();
    const isKept = next && this.#home.servers === 1;
    if (isKept) next.join(client);
    else this.#home.queue.leave(client);
    if (!isKept) next?.join();
  }

  /** True where it may wait for a lock once more: as long as its connection would let it. */
  #mayWait({ connectionParameters }: PooledClient): boolean {
    const patience = Number(connectionParameters.lock_timeout || connectionParameters.statement_timeout);
    const isOver = performance.now() - this.#sentAt >= (patience || Number.POSITIVE_INFINITY);
    return !isOver && !this.#home.queue.bypassesQueue;
  }

  get #before(): readonly Preceding[] {
    const { limits, queue } = this.#home;
    const { settings } = this.#first;
    // Where a read has no other turn in the queue, it waits as long as its connection lets it.
    const before = queue.bypassesQueue ? [] : [this.#flow ? limits.shared : limits.alone];
    return settings ? [...before, settings] : before;
  }
}

/** True for an error that a read may not have by itself, or another time. */
function isOfOthers(error: Error): boolean {
  return isCancelled(error) || error instanceof BatchAbortedError || isConnectionLost(error);
}

function isCancelled(error: Error | null): boolean {
  return (error as { readonly code?: unknown } | null)?.code === '57014';
}

/** Milliseconds that the event loop has waited for anything so far. */
function restTime(): number {
  return performance.nodeTiming.idleTime;
}

/** The same read, planned for its values, as that may be why it takes long. */
function alone(read: PendingRead): PendingRead {
  return { ...read, statement: read.statement.planned };
}

/** A driver's errors have no severity. In some languages another word stands for FATAL, but not another code. */
function isConnectionLost(error: Error): boolean {
  const { severity, code = '' } = error as Error & { readonly severity?: string; readonly code?: string };
  if (severity === undefined) return !isQueryTimeout(error);
  return severity === 'FATAL' || /^(?:08|57P)/.test(code);
}
