/**
 * Statements of a transaction, on its one connection: of one that Sequelize has begun, and of one that begins here. The BEGIN of the
 * latter goes with the first statement, in one Sync: PostgreSQL executes the statement only if the BEGIN succeeded, and
 * answers both together. A transaction without a statement sends nothing.
 */
import { ConnectionError, type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import { instanceOptions, logStatement } from '../../describe/sequelize-internals.js';
import { traceStatement } from '../../diagnostics/channels.js';
import { asDatabaseError, lateQuery, toSequelizeError } from '../../errors/sequelize-error.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import { isTraced, markBroken } from '../protocol/pg-internals.js';
import type { StatementExecutor } from '../protocol/pg-text-query.js';
import { StatementCache, unnamed } from '../protocol/prepared-statement.js';
import { isStale } from '../protocol/stale-statement.js';
import {
  type PooledClient,
  type TransactionState,
  transactionInternals,
  transactionState,
} from '../session/connection-internals.js';
import type { RequestSettings } from '../session/session.js';
import type { ConnectionQueue } from './connection-queue.js';
import type { StatementTarget } from './statement-target.js';

interface TextStatement {
  readonly text: string;
  readonly values: TextValues;
}

/** Statements that are executed before another one, which is executed only if they succeed. */
interface Begin {
  readonly before: readonly TextStatement[];
  /** True where the connection keeps the statements of `before` prepared. A stale one has to be sent again. */
  readonly keepsBefore: boolean;
  /** True where the connection keeps the statement prepared. */
  readonly isKept: boolean;
  /** Called when any of them fails, before anything else is sent. */
  fail(error: Error): void;
}

/** The statements of one Sequelize instance. */
export class ConnectionExecutor {
  readonly #sequelize: Sequelize;
  readonly #executor: StatementExecutor;
  readonly #kept: StatementCache;
  readonly #unkept = new StatementCache(unnamed);

  /** @param kept the statements that connections keep */
  constructor(sequelize: Sequelize, executor: StatementExecutor, kept: StatementCache) {
    this.#sequelize = sequelize;
    this.#executor = executor;
    this.#kept = kept;
  }

  /** The connection of a transaction that is begun. */
  within(transaction: Transaction): StatementTarget {
    return singleTarget(async (text, values) => {
      const state = transactionState<PooledClient>(transaction);
      const client = soundClient(state, text);
      this.log(text, state.id);
      return this.execute(client, text, values);
    });
  }

  /**
   * Executes a statement behind those that were sent before. The connection keeps it only where it is the
   * first one: one that is stale ends the transaction that it is in.
   */
  execute(client: PooledClient, text: string, values: TextValues, begin?: Begin): Promise<TextResult> {
    const statement = (begin?.isKept ? this.#kept : this.#unkept).get(text);
    const trace = traceStatement(text);
    return new Promise((resolve, reject) => {
      const settle: Execution['settle'] = (error, result) => {
        trace?.end(error, result?.count);
        if (error) reject(asDatabaseError(error, statement, values));
        else resolve(result as TextResult);
      };
      const end: Batch['end'] = (error) => {
        if (error) begin?.fail(error);
      };
      const cache = begin?.keepsBefore ? this.#kept : this.#unkept;
      const before = (begin?.before ?? []).map((each) => ({
        statement: cache.get(each.text),
        values: each.values,
      }));
      try {
        const executions = [{ values, trace, settle }];
        this.#executor.execute(client, { before, statement, executions, end });
      } catch (error) {
        // A part may have been sent.
        client._invalid = true;
        trace?.end(error);
        throw error;
      }
    });
  }

  log(text: string, transaction: string): void {
    if (instanceOptions(this.#sequelize).logging) logStatement(this.#sequelize, text, transaction);
  }
}

/** Statement that ends a transaction. */
type EndCommand = 'COMMIT' | 'ROLLBACK';

/** A connection, as far as texts are sent on it. */
interface TextClient {
  query(text: string, answer: (error: Error | null, result?: { readonly command?: string }) => void): unknown;
}

/** A transaction whose BEGIN waits for its first statement. */
export class SessionTransaction extends Transaction {
  declare readonly id: string;
  /** End of the transaction, in Sequelize's words. */
  declare finished?: 'commit' | 'rollback';
  readonly target: StatementTarget = singleTarget((text, values, isKept) => this.#run(text, values, isKept));
  readonly #sequelize: Sequelize;
  readonly #queue: ConnectionQueue;
  readonly #executor: ConnectionExecutor;
  readonly #begin: TextStatement;
  readonly #settings: RequestSettings | null;
  #client: PooledClient | undefined;
  #isHeld = false;
  /** True once its end was sent, and nothing may come behind it. */
  #isOver = false;
  /** True once a statement was sent, so that the transaction has to be ended. */
  #hasSent = false;
  /** True once statements are sent behind a BEGIN. */
  #hasBegun = false;
  /** True where a statement has failed with the BEGIN, so that nothing may be committed behind it. */
  #isDoomed = false;
  /** Resolves when the statement that was sent with the BEGIN has ended. There is one at most. */
  #first: Promise<void> | null = null;
  /** True where the connection was taken meanwhile, so that any statement may have been sent on it. */
  #isTaken = false;

  /** A new transaction, to be opened before any query. */
  constructor(
    sequelize: Sequelize,
    options: TransactionOptions,
    queue: ConnectionQueue,
    executor: ConnectionExecutor,
    settings: RequestSettings | null,
  ) {
    super(sequelize, options);
    this.#sequelize = sequelize;
    this.#queue = queue;
    this.#executor = executor;
    // These options have the defaults of the instance.
    this.#begin = { text: beginText(transactionInternals(this)?.options ?? options), values: [] };
    this.#settings = settings;
  }

  /** Takes a connection. */
  async open(): Promise<this> {
    this.#client = await new Promise<PooledClient>((use, fail) => this.#queue.join({ use, fail }));
    this.#client.uuid = this.id;
    this.#isHeld = true;
    return this;
  }

  /** Sequelize's name for the connection. Code that takes it may send any query, so the BEGIN is sent now. */
  get connection(): PooledClient | undefined {
    if (this.#first) this.#isTaken = true;
    else if (!this.#hasBegun && !this.finished) this.#beginAlone();
    return this.#client;
  }

  /** Begins it, so that it may be used by others: a statement that is sent with the BEGIN may have to be sent again. */
  async opened(): Promise<void> {
    while (this.#first) await this.#first;
    // Now, as another statement could go with the BEGIN before they come to it.
    void this.connection;
  }

  /**
   * Ends it. @returns the command that PostgreSQL reports
   *
   * @throws the error of the end; the connection is closed then
   */
  async end(command: EndCommand): Promise<string> {
    this.finished = command === 'COMMIT' ? 'commit' : 'rollback';
    while (this.#first) await this.#first;
    this.#isOver = true;
    try {
      // Where the BEGIN itself has failed, PostgreSQL would answer COMMIT as if there had been something to commit.
      const done = this.#hasSent ? await this.#send(this.#isDoomed ? 'ROLLBACK' : command) : command;
      this.cleanup();
      return done;
    } catch (error) {
      await this.forceCleanup();
      throw error;
    }
  }

  /** Releases the connection. Sequelize's own `commit` and `rollback` call it, too. */
  cleanup(): void {
    const client = this.#letGo();
    if (client) this.#queue.leave(client);
  }

  /** Closes the connection: PostgreSQL rolls back then. */
  async forceCleanup(): Promise<void> {
    const client = this.#letGo();
    if (client) await this.#queue.discard(client);
  }

  /** The connection, once. */
  #letGo(): PooledClient | undefined {
    this.finished ??= 'rollback';
    this.#isOver = true;
    const client = this.#isHeld ? this.#client : undefined;
    this.#isHeld = false;
    if (client) client.uuid = undefined;
    return client;
  }

  async #run(text: string, values: TextValues, isKept: boolean): Promise<TextResult> {
    this.#soundClient(text, this.finished);
    while (this.#first) await this.#first;
    // Statements that waited come before the end, unless that was sent.
    const client = this.#soundClient(text, this.#isOver ? this.finished : undefined);
    // A tracer is shown statements, without the BEGIN and the settings before one.
    if (!this.#hasBegun && (this.#isDoomed || isTraced())) this.#beginAlone();
    if (!this.#hasBegun) return this.#runFirst(client, text, values, isKept);
    this.#executor.log(text, this.id);
    return this.#executor.execute(client, text, values);
  }

  #soundClient(text: string, finished?: 'commit' | 'rollback'): PooledClient {
    return soundClient({ finished, connection: this.#client }, text);
  }

  /** Runs a statement with the BEGIN. When it fails, the transaction may not have begun; then the next BEGIN is sent alone. */
  #runFirst(client: PooledClient, text: string, values: TextValues, isKept: boolean): Promise<TextResult> {
    this.#hasSent = true;
    const result = this.#runWithBegin(client, text, values, isKept);
    const settle = (hasBegun: boolean) => () => {
      this.#hasBegun = hasBegun;
      this.#isDoomed = !hasBegun;
      this.#first = null;
    };
    this.#first = result.then(settle(true), settle(false));
    return result;
  }

  /** Prepared statements of the connection may be stale. A ROLLBACK then undoes all that has happened. */
  async #runWithBegin(
    client: PooledClient,
    text: string,
    values: TextValues,
    isKept: boolean,
  ): Promise<TextResult> {
    const fail = (error: Error): void => {
      if (this.#isTaken) this.#closeUnlessFailed(error);
    };
    const before = this.#settings ? [this.#begin, this.#settings] : [this.#begin];
    const begin = { before, keepsBefore: true, isKept, fail };
    this.#executor.log(this.#begin.text, this.id);
    this.#executor.log(text, this.id);
    try {
      return await this.#executor.execute(client, text, values, begin);
    } catch (error) {
      const { parent } = error as { readonly parent?: unknown };
      if (parent === undefined || !isStale(parent)) throw error;
    }
    await this.#send('ROLLBACK');
    return this.#executor.execute(client, text, values, begin);
  }

  #beginAlone(): void {
    this.#hasSent = true;
    this.#hasBegun = true;
    this.#sendBegin((error) => this.#closeUnlessFailed(error)).catch(() => {
      // It was not sent, because an abandoned query may still run.
      if (this.#client?._invalid) this.#client.connection?.stream.destroy();
    });
  }

  async #sendBegin(fail: (error: Error) => void): Promise<unknown> {
    if (!this.#settings) return this.#send(this.#begin.text, fail);
    const { text, values } = this.#settings;
    this.#executor.log(`${this.#begin.text};`, this.id);
    const begin = { before: [this.#begin], keepsBefore: false, isKept: false, fail };
    return this.#executor.execute(this.#soundClient(text), text, values, begin);
  }

  /** Closes the connection, unless the transaction has failed: statements behind a failed BEGIN would commit alone. */
  #closeUnlessFailed(error: Error): void {
    const { code } = error as { readonly code?: unknown };
    if (code !== FAILED_TRANSACTION) this.#client?.connection?.stream.destroy();
  }

  /**
   * Sends a text as Sequelize would. @returns the command that PostgreSQL reports
   *
   * @param fail is called before anything else is sent
   */
  #send(text: string, fail?: (error: Error) => void): Promise<string> {
    return new Promise((resolve, reject) => {
      const client = this.#soundClient(text);
      this.#executor.log(`${text};`, this.id);
      const trace = traceStatement(text);
      trace?.sent(1);
      // pg takes texts, too.
      (client as object as TextClient).query(text, (error, result) => {
        trace?.end(error);
        if (!error) return resolve(String(result?.command));
        fail?.(error);
        markBroken(client, error);
        reject(toSequelizeError(this.#sequelize, Object.assign(error, { sql: text })));
      });
    });
  }
}

/** SQLSTATE of all statements behind one that failed. */
const FAILED_TRANSACTION = '25P02';

/** One BEGIN with the options that Sequelize sends as several statements. */
function beginText({ isolationLevel, readOnly }: TransactionOptions): string {
  const level = isolationLevel ? ` ISOLATION LEVEL ${isolationLevel}` : '';
  return `START TRANSACTION${level}${readOnly ? ' READ ONLY' : ''}`;
}

/**
 * Runs each statement in one way: all see the writes of earlier ones.
 *
 * @param run gets true where a connection may keep the statement
 */
function singleTarget(
  run: (text: string, values: TextValues, isKept: boolean) => Promise<TextResult>,
): StatementTarget {
  return {
    read: (text, values, _table, isPlanned = false) => run(text, values, !isPlanned),
    write: (text, values) => run(text, values, true),
    sharesWrites: false,
  };
}

/**
 * The connection of a transaction that goes on.
 *
 * @throws Sequelize's error where it has ended, or its connection is in doubt
 */
function soundClient(
  { finished, connection }: Pick<TransactionState<PooledClient>, 'finished' | 'connection'>,
  sql: string,
): PooledClient {
  if (finished) throw lateQuery(finished, sql);
  if (!connection || connection._invalid) {
    throw new ConnectionError(new Error('Connection terminated before the query'));
  }
  return connection;
}
