/** `unitOfWork` and `dbSession`: work in one transaction. */

import { setTimeout as delay } from 'node:timers/promises';
import { type Model, QueryTypes, type Transaction } from 'sequelize';
import { describeFault } from '../../errors/database-fault.js';
import { currentEngine, currentSession, type Engine, type TransactionScope } from '../../postgres/index.js';
import { ConfigError } from '../../util/config-error.js';
import { adaptLogger, type Logger } from '../../util/logger.js';
import { keptIn } from '../../util/memo.js';
import { DatabaseSession, SNAPSHOT } from '../session/database-session.js';
import { executorOf, joinableSession, runInSavepoint } from '../session/savepoint.js';
import type { Repository } from './repository.js';
import { resolveSource, type Source } from './repository-source.js';

/** A transaction that reads only. */
export interface ReadSession extends TransactionScope {
  /** A repository whose every query runs in the transaction; of a subclass, an instance of that subclass. */
  repository<R extends Repository>(source: R | (new () => R)): R;
  repository<M extends Model>(source: Source<M>): Repository<M>;
}

/** A transaction that writes: all of it happens, or nothing. */
export interface UnitOfWork extends ReadSession {
  /**
   * Runs work that may fail alone: a throw undoes its writes and is passed on, and the unit of work can go on. Without
   * one, a unit of work in which a query or a unit inside has failed is rolled back, even if the error was caught. One
   * level: a savepoint inside a savepoint is refused. Those of several branches run one after the other, so that work in one must not
   * wait for another one. Other statements of the unit that run at the same time are undone with it.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs a callback when the commit has succeeded; never when it failed. Callbacks run in their order, each when the one
   * before it has ended, or has taken 5 s. Nothing waits for them, neither the answer nor the promise of `unitOfWork`, except
   * the end of the engine. An error in one is logged, in a request by the application's logger, and changes nothing of the
   * answer.
   */
  afterCommit(callback: () => unknown): void;
}

/** The unit of work of a request. */
export interface RequestUnit extends UnitOfWork {
  /** Like `savepoint`, around work that may have a savepoint of its own. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
  /** Runs work with the checks of a commit, and undoes all of it. Its callbacks for after the commit are dropped. */
  rehearse<T>(work: () => Promise<T>): Promise<T>;
}

/** Options of `unitOfWork` and `dbSession`. */
export interface SessionOptions {
  /** Default: the current engine. */
  engine?: Pick<Engine, 'sequelize'>;
}

/** Options of `unitOfWork`. */
export interface UnitOfWorkOptions extends SessionOptions {
  /**
   * Runs the whole unit again, at most twice, after a serialization failure or a deadlock (SQLSTATE 40001, 40P01). All that
   * the work did outside the database is done again too. Default: false.
   */
  retryable?: boolean;
  /** Default: the server's, which is `READ COMMITTED`. */
  isolationLevel?: Transaction.ISOLATION_LEVELS;
  /** Where errors of callbacks after the commit go. Default: JSON lines on standard error. */
  logger?: Logger;
}

const MAX_RETRIES = 2;
/** Milliseconds. */
const RETRY_DELAY = Object.freeze({ min: 20, max: 100 });

/**
 * Runs work in a transaction: commits when it returns, rolls back when it throws. Inside another unit of work it becomes
 * part of that one, which cannot be committed any more when it throws. Inside a read session, and in a GET, the database
 * refuses its writes.
 *
 * @example
 * ```ts
 * await unitOfWork(async (uow) => {
 *   const accounts = uow.repository(Account);
 *   await accounts.update(from, { … });
 *   await accounts.update(to, { … });
 *   uow.afterCommit(() => notify(to));
 * });
 * ```
 * @throws any error of the work, the database's error when the commit fails, and an error about savepoints when
 * something failed inside and its error was caught. ConfigError for a `logger` that lacks a method, and for an `isolationLevel` that is
 * stronger than that of the unit of work around it
 */
export async function unitOfWork<T>(
  work: (uow: UnitOfWork) => Promise<T>,
  options: UnitOfWorkOptions = {},
): Promise<T> {
  const { sequelize } = options.engine ?? currentEngine();
  const outer = joinableSession(sequelize, 'write');
  if (outer) {
    await checkLevel(outer, options.isolationLevel);
    return outer.runPart(async () => work(await openUnit(outer)));
  }
  // A unit of work inside a session that only reads is read-only, too.
  const mode = currentSession(sequelize)?.isReadOnly ? 'read' : 'write';
  for (let attempt = 0; ; attempt += 1) {
    const session = new DatabaseSession(sequelize, mode, settingsOf(options));
    try {
      return await session.run(async () => work(await openUnit(session)));
    } catch (error) {
      if (!options.retryable || attempt === MAX_RETRIES) throw error;
      // The manual says to run the whole transaction again (13.5).
      if (!describeFault(error)?.isRetryable) throw error;
      await delay(RETRY_DELAY.min + Math.random() * (RETRY_DELAY.max - RETRY_DELAY.min));
    }
  }
}

/** From the weakest to the strongest. PostgreSQL has the first two as one. */
const LEVELS: readonly string[] = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

/** A level is that of the whole transaction. @throws ConfigError where the one that runs has a weaker level */
async function checkLevel(outer: DatabaseSession, wanted: string | undefined): Promise<void> {
  const rank = wanted === undefined ? 0 : LEVELS.indexOf(wanted.toLowerCase());
  if (rank === 0 || rank === 1) return;
  const [row] = await outer.sequelize.query<{ level: string }>(
    "SELECT current_setting('transaction_isolation') AS level",
    { type: QueryTypes.SELECT, transaction: await outer.begin() },
  );
  const level = row?.level ?? '';
  if (rank > 0 && LEVELS.indexOf(level) >= rank) return;
  throw new ConfigError([
    `unitOfWork has isolationLevel '${wanted}', and the unit of work around it runs at '${level}'; begin that one with the level, as ` +
      'unitOfWork(work, { isolationLevel }).',
  ]);
}

/**
 * Runs reads in one transaction, on one snapshot. The database refuses writes in it (25006); with `replicas` it runs on
 * one of them. Inside another read session it becomes part of that one.
 *
 * @example
 * ```ts
 * const [cities, total] = await dbSession(async (session) => [
 *   await session.repository(City).list({ limit: 10 }),
 *   await City.count({ transaction: session.transaction }),
 * ]);
 * ```
 * @throws any error of the work. ConfigError where no engine is configured, or several are and none is named
 */
export async function dbSession<T>(
  work: (session: ReadSession) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const { sequelize } = options.engine ?? currentEngine();
  const outer = joinableSession(sequelize, 'read');
  if (outer) return work(await openReadSession(outer));
  const session = new DatabaseSession(sequelize, 'read', SNAPSHOT);
  return session.run(async () => work(await openReadSession(session)));
}

/** The read session over a database session, begun. */
export async function openReadSession(database: DatabaseSession): Promise<ReadSession> {
  const transaction = await database.begin();
  const session: ReadSession = {
    transaction,
    // The overloads are right: a repository stays one of its class.
    repository: ((source: Source) => resolveSource(source).with(session)) as ReadSession['repository'],
  };
  return Object.freeze(session);
}

function settingsOf({ isolationLevel, logger }: UnitOfWorkOptions) {
  return {
    ...(isolationLevel === undefined ? {} : { isolationLevel }),
    ...(logger === undefined ? {} : { logger: adaptLogger(logger) }),
  };
}

/** Units of work by their database session, which the async context has. */
const UNITS = new WeakMap<DatabaseSession, ActiveUnit>();

/** The unit of work over a database session; the same one at every call. */
export async function openUnit(session: DatabaseSession): Promise<RequestUnit> {
  const transaction = await session.begin();
  return keptIn(UNITS, session, () => new ActiveUnit(session, transaction));
}

/** Error that ends a successful rehearsal. */
const REHEARSED = new Error('All of it is undone.');

class ActiveUnit implements RequestUnit {
  readonly transaction: Transaction;
  readonly #session: DatabaseSession;

  constructor(session: DatabaseSession, transaction: Transaction) {
    this.#session = session;
    this.transaction = transaction;
    session.expectCommit();
  }

  repository<R extends Repository>(source: R | (new () => R)): R;
  repository<M extends Model>(source: Source<M>): Repository<M>;
  repository(source: Source): Repository {
    return resolveSource(source).with(this);
  }

  afterCommit(callback: () => unknown): void {
    this.#session.afterCommit(callback);
  }

  savepoint<T>(work: () => Promise<T>): Promise<T> {
    return this.#session.note(this.#runSavepoint(work), 'a savepoint');
  }

  async #runSavepoint<T>(work: () => Promise<T>): Promise<T> {
    if (this.#session.isInSavepoint('unit'))
      throw new ConfigError(['A savepoint inside a savepoint is not supported; end the first one.']);
    return runInSavepoint(this.#session, 'unit', work);
  }

  attempt<T>(work: () => Promise<T>): Promise<T> {
    return runInSavepoint(this.#session, 'item', work);
  }

  async rehearse<T>(work: () => Promise<T>): Promise<T> {
    const done: T[] = [];
    const execute = executorOf(this.#session, this.transaction);
    await runInSavepoint(this.#session, 'rehearsal', async () => {
      done.push(await work());
      this.#session.checkParts();
      await execute('SET CONSTRAINTS ALL IMMEDIATE');
      throw REHEARSED;
    }).catch((error: unknown) => {
      if (error !== REHEARSED) throw error;
    });
    return done[0] as T;
  }
}
