/** A transaction that begins when it is first needed, and ends once. */
import { type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import type { Logger } from '../plan/logger.js';
import { describeFault } from './database-fault.js';
import { defaultLogger } from './default-logger.js';
import { EngineSequelize } from './engine-sequelize.js';
import { refuseWrites } from './refuse-writes.js';
import { runInSession, type SessionScope } from './session.js';

/**
 * What a session is for. `write`: a unit of work. `read`: several reads of one snapshot. `get`: single reads, each on
 * its own; only what is not a read gets a transaction, and is refused in it.
 */
export type SessionMode = 'write' | 'read' | 'get';

/** Internals of Sequelize's transactions that are not in its types. */
interface KillableTransaction {
  /** Sequelize marks a connection that was lost, or on which a query was given up. */
  readonly connection?: { readonly _invalid?: boolean };
  forceCleanup(): Promise<void>;
}

/** Options of a session: those of its transaction, and where errors go that nobody can be told of. */
export interface DatabaseSessionOptions extends TransactionOptions {
  readonly logger?: Logger;
}

/** A session of one Sequelize instance. */
export class DatabaseSession implements SessionScope {
  readonly sequelize: Sequelize;
  readonly #mode: SessionMode;
  readonly #options: TransactionOptions;
  readonly #logger: Logger;
  readonly #callbacks: (() => unknown)[] = [];
  #begun: Promise<Transaction> | null = null;
  #isEnded = false;

  constructor(
    sequelize: Sequelize,
    mode: SessionMode,
    { logger = defaultLogger, ...options }: DatabaseSessionOptions = {},
  ) {
    this.sequelize = sequelize;
    this.#mode = mode;
    this.#options = options;
    this.#logger = logger;
  }

  get isReadOnly(): boolean {
    return this.#mode !== 'write' && !this.#isEnded;
  }

  /** Whether work for this mode can still become part of the session. */
  canJoin(mode: SessionMode): boolean {
    return this.#mode === mode && !this.#isEnded;
  }

  async transactionFor(query: 'select' | 'other'): Promise<Transaction | null> {
    // What outlives its session, such as work that nobody awaited, goes on without one.
    if (this.#isEnded) return null;
    // Once there is a transaction reads are part of it: it may hold the only connection of the pool.
    const isAlone = this.#mode === 'get' && query === 'select' && this.#begun === null;
    return isAlone && !this.#isUnguarded ? null : this.begin();
  }

  /** The transaction; begun at the first call. */
  begin(): Promise<Transaction> {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  /** Runs work in the session, and ends it: commits when the work returns, rolls back when it throws. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await runInSession(this, work);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollback(error);
      throw error;
    }
  }

  /** Runs a callback after a commit that succeeded. */
  afterCommit(callback: () => unknown): void {
    this.#callbacks.push(callback);
  }

  /** Runs work, and forgets what it wanted to do after the commit when it throws. */
  async withCallbacks<T>(work: () => Promise<T>): Promise<T> {
    const count = this.#callbacks.length;
    try {
      return await work();
    } catch (error) {
      this.#callbacks.length = count;
      throw error;
    }
  }

  /** Commits what has begun. When that fails nothing is committed, as far as anybody can know. */
  async commit(): Promise<void> {
    if (!this.#take()) return;
    await (await this.#begun)?.commit();
    // Not Sequelize's own list, which is worked off when the commit has failed too.
    for (const callback of this.#callbacks.splice(0)) await notify(callback, this.#logger);
  }

  /** Rolls back what has begun. Never throws: whoever rolls back has a better error to tell. */
  async rollback(cause?: unknown): Promise<void> {
    if (!this.#take()) return;
    const transaction = await this.#begun?.catch(() => null);
    if (!transaction) return;
    try {
      // On a connection that no longer answers ROLLBACK would wait as long again as the query before it.
      const killable = transaction as unknown as KillableTransaction;
      if (killable.connection?._invalid || saysConnectionLost(cause)) await killable.forceCleanup();
      else await transaction.rollback();
    } catch {
      // Sequelize has closed the connection, and with it the transaction has ended.
    }
  }

  /** True for the first one who ends a session that has begun. */
  #take(): boolean {
    const isFirst = !this.#isEnded;
    this.#isEnded = true;
    return isFirst && this.#begun !== null;
  }

  async #begin(): Promise<Transaction> {
    const readOnly = this.#mode !== 'write';
    const transaction = await this.sequelize.transaction({ ...this.#options, readOnly });
    // An engine's instance does so itself, where its connections do not.
    if (readOnly && !(this.sequelize instanceof EngineSequelize))
      await refuseWrites(this.sequelize, transaction);
    return transaction;
  }

  /** Whether what says that it is a SELECT could write on an engine's connection for reads. */
  get #isUnguarded(): boolean {
    return this.sequelize instanceof EngineSequelize && !this.sequelize.readsRefuseWrites;
  }
}

function saysConnectionLost(cause: unknown): boolean {
  return describeFault(cause)?.kind === 'unavailable';
}

async function notify(callback: () => unknown, logger: Logger): Promise<void> {
  try {
    await callback();
  } catch (error) {
    const reason = error instanceof Error ? error.stack : `a thrown ${typeof error}`;
    logger.error('A callback after a commit failed', { error: reason });
  }
}

/** One snapshot for all reads, so that a page and its count agree. It cannot fail to serialize, as it writes nothing. */
export const SNAPSHOT: TransactionOptions = Object.freeze({
  isolationLevel: Transaction.ISOLATION_LEVELS.REPEATABLE_READ,
});
