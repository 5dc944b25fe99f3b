/** A transaction that begins when it is first needed, and ends once. */

import { AsyncResource } from 'node:async_hooks';
import { type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import { ambientTransaction } from '../../describe/sequelize-internals.js';
import {
  applySettings,
  currentSettings,
  EngineSequelize,
  type RequestSettings,
  runCallbacks,
  runInSession,
  type SessionScope,
} from '../../postgres/index.js';
import { defaultLogger, type Logger } from '../../util/logger.js';
import { type Maybe, survivable } from '../../util/promises.js';
import { lateWrite, otherSettings, RolledBackError, refuseFailure } from './session-errors.js';
import { SessionPart } from './session-part.js';
import {
  afterCommitOf,
  beginTransaction,
  commitTransaction,
  followCallbacks,
  ownCallbacks,
  rollbackTransaction,
} from './transaction-bounds.js';

/**
 * Purpose of a session. `write`: a unit of work. `read`: several reads of one snapshot. `get`: single reads, each on
 * its own; only statements other than reads get a transaction, and are refused in it.
 */
export type SessionMode = 'write' | 'read' | 'get';

/** Options of a session: those of its transaction, and a logger for errors that no caller gets. */
interface DatabaseSessionOptions extends TransactionOptions {
  readonly logger?: Logger;
  /** Settings of the request that the session is part of. Default: those of the running code. */
  readonly settings?: RequestSettings | null;
  /** Whose code runs in it, as a log names it. Default: a unit of work. */
  readonly owner?: () => string;
}

/** Runs work in a transaction of its own, which has the settings of the running code. */
export function inTransaction<T>(
  sequelize: Sequelize,
  mode: SessionMode,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const session = new DatabaseSession(sequelize, mode);
  return session.run(async () => work(await session.begin()));
}

interface Call {
  readonly promise: Promise<unknown>;
  /** Name of the call in a log. */
  readonly call: string;
}

/** Ends of a savepoint. */
export interface SavepointEnds {
  release(): unknown;
  undo(): Promise<unknown>;
}

/** A session of one Sequelize instance. */
export class DatabaseSession implements SessionScope {
  readonly sequelize: Sequelize;
  readonly #mode: SessionMode;
  readonly #options: TransactionOptions;
  readonly #logger: Logger;
  #settings: RequestSettings | null;
  readonly #owner: () => string;
  /** The transaction of `Sequelize.useCLS` that the session was made in: it ends after the session. */
  readonly #ambient: Transaction | null;
  /** Calls that are under way. */
  readonly #calls: Call[] = [];
  readonly #parts = new SessionPart();
  #callbacks: { readonly callback: () => unknown; readonly part: SessionPart }[] = [];
  /** Forgets callbacks of the transaction itself. Null where nothing was undoable yet. */
  #forgetOwn: ((part: SessionPart) => void) | null = null;
  #begun: Promise<Transaction> | null = null;
  #isEnded = false;
  #isCommitted = false;
  /** True where a rollback of the transaction loses work. */
  #isWork: boolean;
  /** Errors inside that must not be committed although they were caught. */
  #failures: { readonly cause: unknown; readonly part: SessionPart }[] = [];
  /** Why it was ended while its work still runs. */
  #abortion: Error | null = null;
  /** Error of a write that comes after the rollback of the writes that it belongs to. */
  #undone: Error | null = null;

  constructor(
    sequelize: Sequelize,
    mode: SessionMode,
    {
      logger = defaultLogger,
      settings = currentSettings(),
      owner = () => 'A unit of work',
      ...options
    }: DatabaseSessionOptions = {},
  ) {
    this.sequelize = sequelize;
    this.#mode = mode;
    this.#isWork = mode === 'write';
    this.#options = options;
    this.#logger = logger;
    this.#settings = settings;
    this.#owner = owner;
    this.#ambient = ambientTransaction(sequelize);
  }

  note<T>(promise: Promise<T>, call: string): Promise<T> {
    const noted = { promise, call };
    if (!this.#isEnded) this.#calls.push(noted);
    const end = () => {
      const index = this.#calls.indexOf(noted);
      if (index >= 0) this.#calls.splice(index, 1);
    };
    return promise.then(
      (value) => {
        end();
        return value;
      },
      (error: unknown) => {
        end();
        this.forgive(error);
        throw error;
      },
    );
  }

  forgive(error: unknown): void {
    // No property of it is read: it may be a proxy that throws.
    if (typeof error === 'object' && error !== null) survivable(error, this.#logger);
  }

  /** Waits for calls that the work has not awaited. Without it a half would be committed, or nothing with a success as its answer. */
  async #settle(): Promise<void> {
    const calls = [...new Set(this.#calls.map(({ call }) => call))].join(', ');
    this.#logger.error(
      `${this.#owner()} returned while ${calls} was under way, and is held until that has ended; put await before the call.`,
    );
    while (this.#calls.length > 0) await Promise.all(this.#calls.map(({ promise }) => promise));
  }

  refuseLate(): void {
    if (this.#parts.isUndone && !this.#isEnded) throw survivable(lateWrite('savepoint'), this.#logger);
  }

  get isReadOnly(): boolean {
    return this.#mode !== 'write' && !this.#isOver;
  }

  /** True where work for this mode can still join the session. One that was rolled back lets writes fail. */
  canJoin(mode: SessionMode): boolean {
    return this.#mode === mode && !this.#isElsewhere && (!this.#isOver || this.#undone !== null);
  }

  transactionFor(query: 'select' | 'other'): Maybe<Transaction | null> {
    if (this.#abortion) throw this.#abortion;
    // Another branch of a Promise.all has thrown: writes of this branch alone would be half of the work.
    if (this.#undone && query === 'other') throw this.#undone;
    // Queries that outlive their session, such as calls without await, go on without one.
    if (this.#isEnded) return null;
    if (query === 'other') this.refuseLate();
    if (this.#isElsewhere) return null;
    // Once there is a transaction reads are part of it: it may hold the only connection of the pool.
    const isAlone = this.#mode === 'get' && query === 'select' && this.#begun === null;
    return isAlone && !this.#isUnguarded ? null : this.begin();
  }

  /**
   * True where the running code has opened a transaction of `Sequelize.useCLS`, and the session has not begun. Begun there, it would be a
   * savepoint that ends after its transaction.
   */
  get #isElsewhere(): boolean {
    const isIdle = this.#mode === 'write' && this.#begun === null;
    const ambient = isIdle ? ambientTransaction(this.sequelize) : null;
    return ambient !== null && ambient !== this.#ambient;
  }

  /** The transaction; begun at the first call. It has the settings of a request that joins it. */
  begin(): Promise<Transaction> {
    const settings = currentSettings();
    const isNew = settings !== null && settings !== this.#settings;
    const isOther = isNew && this.#settings !== null && settings.key !== this.#settings.key;
    const refusal = this.#abortion ?? this.#undone ?? (isOther ? otherSettings() : null);
    if (refusal) return Promise.reject(refusal);
    if (isNew) this.#settings = settings;
    if (isNew) {
      this.#begun =
        this.#begun?.then((transaction) =>
          applySettings(this.sequelize, transaction, settings).then(() => transaction),
        ) ?? null;
    }
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  /** The transaction, where it has begun. */
  get begun(): Promise<Transaction> | null {
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

  /** Makes the session fail where PostgreSQL rolls it back instead of committing it, even if it only reads. */
  expectCommit(): void {
    this.#isWork = true;
  }

  /** Runs a callback after a commit that succeeded, with the async context of its own code: that of a request has its settings. */
  afterCommit(callback: () => unknown): void {
    this.#callbacks.push({ callback: AsyncResource.bind(callback), part: this.#parts.current });
  }

  /** Runs a unit of work that is part of the session: when it throws, nothing of the session is committed. */
  async runPart<T>(work: () => Promise<T>): Promise<T> {
    this.refuseLate();
    try {
      return await work();
    } catch (cause) {
      this.refuse(cause);
      throw cause;
    }
  }

  /** Prevents the commit of the session, because a part of it has failed. What code in an undone savepoint writes is refused anyway. */
  refuse(cause: unknown): void {
    if (this.#parts.isUndone) return;
    this.#failures.push({ cause, part: this.#parts.current });
  }

  /** @throws RolledBackError when something has failed in a savepoint, that of the running code, and the error was caught */
  checkParts(part = this.#parts.current): void {
    const failure = this.#failures.find((each) => part.includes(each.part));
    if (failure) refuseFailure(failure);
  }

  /** True where the running code is in a savepoint of this name. */
  isInSavepoint(name: string): boolean {
    return this.#parts.isIn(name);
  }

  /**
   * Runs work that can be undone alone, once no other branch has such work under way. When it throws, its own errors and its callbacks
   * for after the commit are forgotten.
   */
  runUndoable<T>(
    name: string,
    open: (transaction: Transaction) => Promise<SavepointEnds>,
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#parts.run(name, async (part) => {
      this.refuseLate();
      const transaction = await this.begin();
      this.#forgetOwn ??= followCallbacks(transaction, this.#parts);
      const { release, undo } = await open(transaction);
      try {
        const result = await work();
        await part.end();
        this.checkParts(part);
        await release();
        return result;
      } catch (error) {
        await part.end();
        part.noteUndone();
        // It fails where the connection is lost, and then the error at hand says so already.
        await undo().catch(() => {});
        this.#forget(part);
        throw error;
      }
    });
  }

  /** Runs writes that are not undone with a savepoint of another branch: none is open beside them. */
  runInTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.run('turn', async (part) => {
      try {
        return await work();
      } finally {
        await part.end();
      }
    });
  }

  #forget(undone: SessionPart): void {
    this.#callbacks = this.#callbacks.filter(({ part }) => !undone.includes(part));
    this.#failures = this.#failures.filter(({ part }) => !undone.includes(part));
    this.#forgetOwn?.(undone);
  }

  /**
   * Commits the transaction, if it has begun. When that fails nothing is committed, as far as PostgreSQL has reported.
   *
   * @throws RolledBackError when something has failed in it and the error was caught, and the reason of an abortion
   */
  commit(): Maybe<void> {
    const isIdle = !this.#begun && this.#calls.length === 0 && this.#failures.length === 0 && !this.#abortion;
    if (!isIdle) return this.#commit();
    this.#take();
  }

  async #commit(): Promise<void> {
    if (this.#abortion) throw this.#abortion;
    if (this.#calls.length > 0 && !this.#isEnded) await this.#settle();
    const [failure] = this.#failures;
    if (failure && !this.#isEnded) {
      await this.rollback(failure.cause);
      refuseFailure(failure);
    }
    if (!this.#take()) return;
    const transaction = await this.#begun;
    if (!transaction) return;
    this.#isCommitted = await commitTransaction(transaction);
    if (!this.#isCommitted && this.#isWork) throw new RolledBackError('A query');
    if (this.#isCommitted) this.#notify(transaction);
  }

  /** Rolls back the transaction, if it has begun. Never throws: the caller has the error of the cause to throw. */
  async rollback(cause?: unknown): Promise<void> {
    if (this.#mode === 'write' && !this.#isCommitted)
      this.#undone ??= survivable(lateWrite('unit of work', cause), this.#logger);
    if (!this.#take()) return;
    const transaction = await this.#begun?.catch(() => null);
    if (transaction) await rollbackTransaction(transaction, cause);
  }

  /**
   * Rolls back while the work still runs, behind a query that is under way: any query that the work sends to the session then
   * fails with the reason. Never throws.
   */
  async abort(reason: Error): Promise<void> {
    if (this.#isEnded) return;
    if (this.#mode === 'write') this.#undone ??= reason;
    const ended = this.rollback(reason);
    this.#abortion = reason;
    await ended;
  }

  /** True where the session has ended, and its work too. */
  get #isOver(): boolean {
    return this.#isEnded && this.#abortion === null;
  }

  /** True for the first one who ends a session that has begun. */
  #take(): boolean {
    const isFirst = !this.#isEnded;
    this.#isEnded = true;
    this.#abortion = null;
    return isFirst && this.#begun !== null;
  }

  /** Starts the callbacks; those of the transaction itself come last. */
  #notify(transaction: Transaction): void {
    const callbacks = [
      ...this.#callbacks.splice(0).map(({ callback }) => callback),
      ...ownCallbacks(transaction),
    ];
    afterCommitOf(transaction, () => runCallbacks(this.sequelize, callbacks, this.#logger));
  }

  #begin(): Promise<Transaction> {
    const options = { ...this.#options, readOnly: this.#mode !== 'write' };
    return beginTransaction(this.sequelize, options, this.#settings);
  }

  /** True where a statement that begins with SELECT could write on an engine's connection for reads. */
  get #isUnguarded(): boolean {
    return this.sequelize instanceof EngineSequelize && !this.sequelize.readsRefuseWrites;
  }
}

/** One snapshot for all reads, so that a page and its count agree. It cannot fail to serialize, as it writes nothing. */
export const SNAPSHOT: TransactionOptions = Object.freeze({
  isolationLevel: Transaction.ISOLATION_LEVELS.REPEATABLE_READ,
});

/** A snapshot for each statement, with any default of the database. */
export const STATEMENT_SNAPSHOTS: TransactionOptions = Object.freeze({
  isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED,
});
