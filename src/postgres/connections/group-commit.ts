/**
 * Group commit, which is opt-in. Writes of one statement that wait for a connection are sent together on the next one, as several
 * executions and one Sync. That is one transaction and one commit for PostgreSQL, and one system call on either side. Each
 * write is answered when it is committed, as it would be alone. The first statement limits the others: a transaction in which a write
 * waits `LOCK_TIMEOUT` for a lock or takes `WRITE_TIMEOUT` is rolled back. Then each of its writes is executed again by itself,
 * with the timeouts of the connection. The same happens when one of them fails, because the others are not the cause.
 */
import { type Batch, BatchAbortedError, type TextResult } from '../protocol/batch.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import { PreparedStatement } from '../protocol/prepared-statement.js';
import type { PooledClient } from '../session/connection-internals.js';
import type { ConnectionQueue, QueueEntry, Waiter } from './connection-queue.js';
import { GrowingWindow } from './shared-connections.js';
import type { PendingStatement } from './statement-target.js';

/** Milliseconds. */
const LOCK_TIMEOUT = 20;
/** Milliseconds that each write may take. PostgreSQL's clock begins anew with each execution. */
const WRITE_TIMEOUT = 100;
const LIMIT_TEXT = `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}ms', true), set_config('statement_timeout', '${WRITE_TIMEOUT}ms', true)`;
/** Sets limits for its transaction; a longer wait for a lock ends with 55P03, a longer execution with 57014. */
const LIMIT_TIMES = { statement: new PreparedStatement(LIMIT_TEXT), values: [] };
/** Share of the driver's own query timeout for all of them: behind it the outcome of the commit is unknown. */
const PATIENCE_SHARE = 0.5;
/** Writes of one transaction at most: their rows are locked until the last of them is done. More gain nothing. */
const MAX_SIZE = 8;
/** Milliseconds that they may take together: by the time of the fastest of the statement before, and then in fact. */
const MAX_TIME = 100;

/** Executes a statement by itself, on a connection that then leaves. */
export type ExecuteAlone = (queue: ConnectionQueue, client: PooledClient, pending: PendingStatement) => void;

/** The writes of one statement. */
export class GroupCommit {
  readonly #queue: ConnectionQueue;
  readonly #executor: StatementExecutor;
  readonly #executeAlone: ExecuteAlone;
  /** Waiting writes, in the order of the queue. */
  readonly #waiting: WaitingWrite[] = [];
  readonly #window = new GrowingWindow(MAX_SIZE);

  constructor(queue: ConnectionQueue, executor: StatementExecutor, executeAlone: ExecuteAlone) {
    this.#queue = queue;
    this.#executor = executor;
    this.#executeAlone = executeAlone;
  }

  /**
   * Executes a write when there is a connection, together with those behind it.
   *
   * @param key of the row that is written; null for a new one
   */
  add(pending: PendingStatement, key: string | null): void {
    const write: WaitingWrite = {
      pending,
      key,
      entry: null,
      isTaken: false,
      isGone: () => write.isTaken,
      use: (client) =>
        this.#send(client, write.isTaken ? [write] : this.#take(write, this.#sizeFor(pending, client))),
      fail: (error) => {
        if (!write.isTaken) this.#take(write, 1);
        pending.fail(error);
      },
    };
    this.#waiting.push(write);
    write.entry = this.#queue.join(write);
  }

  /** Takes a write out of the queue, which mostly is the first, and those behind it. */
  #take(write: WaitingWrite, size: number): WaitingWrite[] {
    const taken = this.#waiting.splice(this.#waiting.indexOf(write), size);
    for (const each of taken) each.isTaken = true;
    return taken;
  }

  /** A statement is executed alone as long as its time has not been measured. */
  #sizeFor({ statement }: PendingStatement, client: PooledClient): number {
    const queryTimeout =
      client.queryTimeout || client.connectionParameters?.query_timeout || Number.POSITIVE_INFINITY;
    const inTime = (queryTimeout * PATIENCE_SHARE) / WRITE_TIMEOUT;
    return Math.max(1, Math.floor(Math.min(this.#window.size, MAX_TIME / statement.cost, inTime)));
  }

  #send(client: PooledClient, writes: readonly WaitingWrite[]): void {
    const [{ pending }] = writes as readonly [WaitingWrite];
    try {
      if (writes.length > 1) this.#executor.execute(client, this.#batchOf(client, pending.statement, writes));
      else {
        this.#window.grow();
        this.#executeAlone(this.#queue, client, pending);
      }
    } catch (error) {
      for (const write of writes) write.pending.fail(error);
      throw error;
    }
  }

  #batchOf(client: PooledClient, statement: PreparedStatement, writes: readonly WaitingWrite[]): Batch {
    const started = performance.now();
    let duration = 0;
    let isUndone = false;
    let failure: Error | null = null;
    const undone: UndoneWrite[] = [];
    const settle = (write: WaitingWrite, error: Error | null, result?: TextResult): void => {
      if (!isUndone) write.pending.answer(failure ?? error, result);
      else if (undone.push({ write, error }) === writes.length) this.#executeAgain(client, undone, duration);
    };
    const end = (error: Error | null): void => {
      duration = performance.now() - started;
      if (error === null) statement.measure(duration / writes.length);
      if (error || duration > MAX_TIME) this.#window.shrink();
      else this.#window.grow();
      failure = error;
      isUndone = error !== null && isRolledBack(error);
      if (!isUndone) this.#queue.leave(client);
    };
    const executions = inOneOrder(writes).map((write) => ({
      values: write.pending.values,
      context: write.pending.context,
      trace: write.pending.trace,
      settle: (error: Error | null, result?: TextResult) => settle(write, error, result),
    }));
    return { before: [LIMIT_TIMES], statement, executions, end };
  }

  /**
   * Executes each undone write again, alone, before the writes in the queue. A write that an administrator cancelled is not executed again: its
   * code is that of a timeout, and the time of the timeout has not passed.
   */
  #executeAgain(client: PooledClient, undone: readonly UndoneWrite[], duration: number): void {
    const isCancelled = ({ error }: UndoneWrite) =>
      error !== null && 'code' in error && error.code === '57014' && duration < WRITE_TIMEOUT;
    const isLeftOut = ({ error }: UndoneWrite) => error instanceof BatchAbortedError;
    const failed = undone.filter((each) => !isLeftOut(each) && !isCancelled(each));
    // Writes that may fail again, or wait for a lock, come last: no other write is behind them.
    const again = [...undone.filter(isLeftOut), ...failed];
    this.#queue.requeueFirst(
      client,
      again.map(({ write }) => write.entry as QueueEntry),
    );
    for (const { write, error } of undone.filter(isCancelled)) write.pending.answer(error);
  }
}

interface WaitingWrite extends Waiter {
  readonly pending: PendingStatement;
  readonly key: string | null;
  /** Entry in the queue. */
  entry: QueueEntry | null;
  /** True once the write has had a connection, with others or alone. */
  isTaken: boolean;
}

/** A write of a transaction that was rolled back. */
interface UndoneWrite {
  readonly write: WaitingWrite;
  readonly error: Error | null;
}

/** Rows that are there already in the order of their keys, so that no two transactions wait for each other. */
function inOneOrder(writes: readonly WaitingWrite[]): readonly WaitingWrite[] {
  if (writes[0]?.key === null) return writes;
  return [...writes].sort(({ key: one }, { key: other }) =>
    one === other ? 0 : `${one}` < `${other}` ? -1 : 1,
  );
}

/** Classes of errors that say of a statement that it is refused, or has come into the way of another one. */
const REFUSALS = /^(?:0A|21|22|23|26|2F|40|42|44|55|57014|P0)/;

/** Classes of errors by which a connection, a server or a pooler ends, or the outcome of a commit is unknown. */
const ENDS = /^(?:08|40003|57P|58)/;

/**
 * True where a transaction has changed nothing. The outcome of a commit is unknown when the connection ends, or when an
 * error is in the log of commits. (Appendix A of PostgreSQL's manual. The severity may be in another language.)
 */
function isRolledBack(error: Error): boolean {
  const { severity, code = '' } = error as { readonly severity?: string; readonly code?: string };
  if (severity === undefined || severity === 'FATAL' || ENDS.test(code)) return false;
  return severity === 'ERROR' || REFUSALS.test(code);
}
