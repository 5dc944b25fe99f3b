/**
 * Writes of one statement that wait for a connection go together on the next one: several executions and one Sync, which is
 * one transaction and one commit for PostgreSQL, and one system call on either side. Each is answered when it is committed,
 * as it would be alone. None waits for a lock behind another one's back: after `LOCK_TIMEOUT` the transaction is rolled
 * back, and all of it are executed again, each by itself. So they are when one of them fails, because the others have no
 * part in that.
 */
import type { Batch, Execution, TextResult, TextValues } from './batch.js';
import type { ConnectionLine, Customer } from './connection-line.js';
import { markBroken, type PooledClient } from './connection-source.js';
import type { StatementExecutor } from './driver-query.js';
import { PreparedStatement } from './prepared-statement.js';

/** Milliseconds. A transaction that takes longer was too large, too. */
const LOCK_TIMEOUT = 20;
/** For the transaction that it is part of; a longer wait for any lock ends with 55P03. */
const LIMIT_LOCKS = new PreparedStatement(
  `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}ms', true)`,
  'crud_lock_timeout',
);
/** Writes of one transaction at most: what they lock is locked until the last of them is done. More gain nothing. */
const MAX_SIZE = 8;
/** How much more may go together after each that went well. */
const GROWTH = 1 / 16;

/** A statement that is executed once. */
export interface Single {
  readonly statement: PreparedStatement;
  readonly values: TextValues;
  /** Takes what became of it, when the connection is free. */
  readonly answer: Execution['settle'];
  /** Takes why there is no connection. */
  readonly fail: (error: unknown) => void;
}

/** Executes a statement by itself, on a connection that then leaves. */
export type ExecuteAlone = (line: ConnectionLine, client: PooledClient, single: Single) => void;

/** The writes of one statement. */
export class WriteGroup {
  readonly #line: ConnectionLine;
  readonly #executor: StatementExecutor;
  readonly #executeAlone: ExecuteAlone;
  /** Those in line, in order. */
  readonly #waiting: WaitingWrite[] = [];
  /** How many go together, rounded down. It grows by addition and shrinks by division, as the window of TCP does (RFC 5681). */
  #size = MAX_SIZE;

  constructor(line: ConnectionLine, executor: StatementExecutor, executeAlone: ExecuteAlone) {
    this.#line = line;
    this.#executor = executor;
    this.#executeAlone = executeAlone;
  }

  /** Executes a write when there is a connection, together with those behind it. */
  add(single: Single): void {
    const write: WaitingWrite = {
      single,
      isTaken: false,
      isGone: () => write.isTaken,
      use: (client) => this.#send(client, this.#take(write)),
      fail: (error) => {
        // One that went with others has its connection, and waits for its answer.
        if (!write.isTaken) for (const { fail } of this.#take(write, 1)) fail(error);
      },
    };
    this.#waiting.push(write);
    this.#line.join(write);
  }

  /** Takes a write out of the line, which mostly is the first, and those behind it. */
  #take(write: WaitingWrite, size = this.#size): Single[] {
    const taken = this.#waiting.splice(this.#waiting.indexOf(write), Math.floor(size));
    for (const each of taken) each.isTaken = true;
    return taken.map(({ single }) => single);
  }

  #send(client: PooledClient, writes: readonly Single[]): void {
    const [first] = writes as readonly [Single];
    try {
      if (writes.length > 1) this.#executor.execute(client, this.#batchOf(client, first.statement, writes));
      else {
        this.#adapt(true);
        this.#executeAlone(this.#line, client, first);
      }
    } catch (error) {
      for (const { fail } of writes) fail(error);
      throw error;
    }
  }

  #batchOf(client: PooledClient, statement: PreparedStatement, writes: readonly Single[]): Batch {
    const started = performance.now();
    let failure: Error | null = null;
    const settle = (write: Single) => (error: Error | null, result?: TextResult) => {
      if (failure !== null && isRolledBack(failure) && !isCancelled(error)) this.#executeLater(write);
      else write.answer(failure, result);
    };
    // In the order of their keys, so that no two transactions wait for each other.
    const executions = [...writes]
      .sort(byFirstValue)
      .map((write) => ({ values: write.values, settle: settle(write) }));
    return {
      before: LIMIT_LOCKS,
      statement,
      executions,
      end: (error) => {
        markBroken(client, error);
        failure = error;
        this.#adapt(error === null && performance.now() - started < LOCK_TIMEOUT);
        this.#line.leave(client);
      },
    };
  }

  #executeLater(write: Single): void {
    const { fail } = write;
    this.#line.join({ use: (client) => this.#executeAlone(this.#line, client, write), fail });
  }

  /** Where writes fail or wait for each other, few go together. */
  #adapt(isWell: boolean): void {
    this.#size = isWell ? Math.min(MAX_SIZE, this.#size + GROWTH) : Math.max(1, this.#size / 2);
  }
}

/** One in line. */
interface WaitingWrite extends Customer {
  readonly single: Single;
  /** Whether it has gone with another one, or alone. */
  isTaken: boolean;
}

function byFirstValue(a: Single, b: Single): number {
  const [left = null] = a.values;
  const [right = null] = b.values;
  if (left === right) return 0;
  return left === null || (right !== null && left < right) ? -1 : 1;
}

/**
 * Whether nothing of a transaction has happened, which an error of PostgreSQL's says of the statement. Of a connection that
 * ends nobody knows what was committed. (Appendix A of its manual; the severity is in the language of the server.)
 */
function isRolledBack(error: Error): boolean {
  const { severity, code = '' } = error as { readonly severity?: string; readonly code?: string };
  return severity !== undefined && severity !== 'FATAL' && !/^(?:08|25P|57P)/.test(code);
}

/** Whether a statement took too long, or somebody wanted it to end; neither wants it to begin again. */
function isCancelled(error: Error | null): boolean {
  return (error as { readonly code?: string } | null)?.code === '57014';
}
