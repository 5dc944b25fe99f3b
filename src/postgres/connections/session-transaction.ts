/**
 * A transaction that begins here. Its BEGIN goes with the first statement, in one Sync: PostgreSQL executes the statement only if the
 * BEGIN succeeded, and answers both together. A transaction without a statement sends nothing.
 */
import { type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import { traceStatement } from '../../diagnostics/channels.js';
import { FAILED_TRANSACTION, hasState } from '../../errors/database-fault.js';
import { toSequelizeError } from '../../errors/sequelize-error.js';
import type { TextResult, TextValues } from '../protocol/batch.js';
import { isTraced, markBroken } from '../protocol/pg-internals.js';
import { isStale } from '../protocol/stale-statement.js';
import { type PooledClient, transactionInternals } from '../session/connection-internals.js';
import type { RequestSettings } from '../session/session.js';
import {
  type Begin,
  type ConnectionExecutor,
  singleTarget,
  soundClient,
  type TextStatement,
} from './connection-executor.js';
import type { ConnectionQueue } from './connection-queue.js';
import type { StatementTarget } from './statement-target.js';

/** A part of a transaction that can be undone alone. */
interface Part {
  /** True where its statements are over, and it is not released yet. */
  isOver: boolean;
  /** Savepoints in it. */
  savepoints: number;
  /** True where all of it is run again after a stale statement, so that its statements need no savepoints. */
  readonly isRepeatable: boolean;
  /** Error of a stale statement, behind which the part can only be undone. */
  stale: unknown;
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
  /** Resolves when the statement has ended that may have to be sent again: with the BEGIN, or with a savepoint. There is one at most. */
  #first: Promise<void> | null = null;
  #part: Part | null = null;
  /** Statements that go with the next one. */
  #due: string[] = [];
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
    if (!this.finished) this.#sendDue();
    return this.#client;
  }

  /** Begins it, so that it may be used by others: a statement that is sent with the BEGIN may have to be sent again. */
  async opened(): Promise<void> {
    while (this.#first) await this.#first;
    // Now, as another statement could go with the BEGIN before they come to it.
    void this.connection;
  }

  /**
   * Begins a part that can be undone alone. Its SAVEPOINT goes with its first statement in one Sync, and one more with each of the next:
   * the connection may keep them all. The RELEASE goes with the statement behind it, and is left out before the end.
   *
   * @param isRepeatable true where a stale statement ends the part, and the caller runs all of it again. Its statements have no savepoints
   * @returns false where there is such a part, or the SAVEPOINT has to be seen: it is the caller's to send then
   */
  async openPart(isRepeatable = false): Promise<boolean> {
    while (this.#first) await this.#first;
    if (!this.#hasBegun || this.finished || isTraced() || this.#part?.isOver === false) return false;
    if (this.#part) this.#due.push(RELEASE);
    this.#due.push(savepoint(PART));
    this.#part = { isOver: false, savepoints: 0, isRepeatable, stale: null };
    return true;
  }

  /** Ends the part. Nothing is sent. */
  closePart(): void {
    if (!this.#part) return;
    if (this.#part.savepoints > 0) this.#part.isOver = true;
    else this.#forgetPart();
  }

  /** Undoes the part. */
  async undoPart(): Promise<void> {
    while (this.#first) await this.#first;
    const isSent = this.#part !== null && this.#part.savepoints > 0;
    this.#forgetPart();
    if (isSent && !this.finished) await this.#send(`${rollbackTo(PART)}; ${RELEASE}`);
  }

  #forgetPart(): void {
    this.#part = null;
    // The RELEASE of an earlier part is still due.
    if (this.#due.at(-1) === savepoint(PART)) this.#due.pop();
  }

  /** Sends the statements that are due before those of others, and the RELEASE of a part that is over. */
  #sendDue(): void {
    if (this.#part?.isOver) {
      this.#part = null;
      this.#due.push(RELEASE);
    } else if (this.#part && this.#due.length > 0) this.#part.savepoints += 1;
    // Where it fails the transaction has failed, and the statement behind it reports that.
    for (const text of this.#due.splice(0)) this.#send(text).catch(() => {});
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
    if (this.#part) return this.#runInPart(this.#part, text, values, isKept);
    this.#executor.log(text, this.id);
    return this.#executor.execute(client, text, values, this.#begins(this.#due.splice(0), false));
  }

  /** Runs a statement with a savepoint, to which the transaction goes back where it is stale. */
  #runInPart(part: Part, text: string, values: TextValues, isKept: boolean): Promise<TextResult> {
    const isFirst = this.#due.length > 0;
    if (!isFirst && part.isRepeatable && !part.isOver) return this.#runUnsaved(part, text, values, isKept);
    if (!isFirst) {
      if (!isKept || part.savepoints >= MAX_SAVEPOINTS) {
        this.#executor.log(text, this.id);
        return this.#executor.execute(this.#soundClient(text), text, values);
      }
      this.#due.push(savepoint(STATEMENT));
    }
    part.savepoints += 1;
    const result = this.#runRepeatable(isFirst ? PART : STATEMENT, text, values, isKept);
    const settle = () => {
      this.#first = null;
    };
    this.#first = result.then(settle, settle);
    return result;
  }

  async #runUnsaved(part: Part, text: string, values: TextValues, isKept: boolean): Promise<TextResult> {
    if (part.stale) throw part.stale;
    this.#executor.log(text, this.id);
    try {
      return await this.#executor.execute(this.#soundClient(text), text, values, this.#begins([], isKept));
    } catch (error) {
      if (isOfStale(error)) part.stale = error;
      throw error;
    }
  }

  async #runRepeatable(name: string, text: string, values: TextValues, isKept: boolean): Promise<TextResult> {
    for (let isLast = false; ; isLast = true) {
      const begins = this.#begins(this.#due.splice(0), isKept);
      this.#executor.log(text, this.id);
      try {
        return await this.#executor.execute(this.#soundClient(text), text, values, begins);
      } catch (error) {
        if (!isOfStale(error) || this.#isOver) throw error;
        // The transaction can go on also where the statement is stale for ever: the caller may have another one.
        await this.#send(rollbackTo(name)).catch(() => {});
        if (isLast) throw error;
      }
    }
  }

  /** Statements before one. They are not kept: one that is stale could not be undone. */
  #begins(texts: readonly string[], isKept: boolean): Begin | undefined {
    if (texts.length === 0 && !isKept) return undefined;
    for (const text of texts) this.#executor.log(text, this.id);
    return { before: texts.map((text) => ({ text, values: [] })), keepsBefore: false, isKept };
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
      if (!isOfStale(error)) throw error;
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
    if (!hasState(error, FAILED_TRANSACTION)) this.#client?.connection?.stream.destroy();
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

/** Savepoint of a part. */
const PART = 'write';
/** Savepoint of one statement of it. */
const STATEMENT = 'statement';
/** Savepoints of a part, at most: each costs PostgreSQL memory until the part is released. */
const MAX_SAVEPOINTS = 16;
/** Releases those in it, too. */
const RELEASE = `RELEASE SAVEPOINT ${PART}`;

function savepoint(name: string): string {
  return `SAVEPOINT ${name}`;
}

function rollbackTo(name: string): string {
  return `ROLLBACK TO SAVEPOINT ${name}`;
}

/** True for the error of a stale statement, as a transaction throws it. */
export function isOfStale(error: unknown): boolean {
  const { parent } = error as { readonly parent?: unknown };
  return parent !== undefined && isStale(parent);
}

/** One BEGIN with the options that Sequelize sends as several statements. */
function beginText({ isolationLevel, readOnly }: TransactionOptions): string {
  const level = isolationLevel ? ` ISOLATION LEVEL ${isolationLevel}` : '';
  return `START TRANSACTION${level}${readOnly ? ' READ ONLY' : ''}`;
}
