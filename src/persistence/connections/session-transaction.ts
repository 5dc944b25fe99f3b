/**
 * A transaction of Sequelize's on a connection of the queue. Its BEGIN goes with the first statement, in one Sync: PostgreSQL
 * executes the statement only if the BEGIN succeeded, and answers both together. A transaction without a statement sends
 * nothing.
 */
import { type Sequelize, Transaction, type TransactionOptions } from 'sequelize';
import { toSequelizeError } from '../errors/sequelize-error.js';
import type { TextResult, TextValues } from '../protocol/batch.js';
import { isStale } from '../protocol/prepared-statement.js';
import { isTraced } from '../protocol/traced-batch.js';
import type { ConnectionExecutor } from './connection-executor.js';
import type { ConnectionQueue } from './connection-queue.js';
import { markBroken, type PooledClient } from './pooled-client.js';
import type { StatementTarget } from './statement-target.js';
import { singleTarget, soundClient } from './transaction-target.js';

/** What ends a transaction. */
export type EndCommand = 'COMMIT' | 'ROLLBACK';

/** A connection, as far as texts are sent on it. */
interface TextClient {
  query(text: string, answer: (error: Error | null, result?: { readonly command?: string }) => void): unknown;
}

/** A transaction whose BEGIN waits for its first statement. */
export class SessionTransaction extends Transaction {
  declare readonly id: string;
  /** What has ended it, as Sequelize tells it. */
  declare finished?: 'commit' | 'rollback';
  /** Where statements run that are part of it. */
  readonly target: StatementTarget = singleTarget((text, values) => this.#run(text, values));
  readonly #sequelize: Sequelize;
  readonly #queue: ConnectionQueue;
  readonly #executor: ConnectionExecutor;
  readonly #begin: string;
  #client: PooledClient | null = null;
  /** Resolves when the first statement has ended; null before there is one. */
  #first: Promise<void> | null = null;
  #hasBegun = false;

  /** To be opened before anything else. */
  constructor(
    sequelize: Sequelize,
    options: TransactionOptions,
    queue: ConnectionQueue,
    executor: ConnectionExecutor,
  ) {
    super(sequelize, options);
    this.#sequelize = sequelize;
    this.#queue = queue;
    this.#executor = executor;
    // With the defaults of the instance.
    this.#begin = beginText((this as unknown as { readonly options: TransactionOptions }).options);
  }

  /** Takes a connection. */
  async open(): Promise<this> {
    this.#client = await new Promise<PooledClient>((use, fail) => this.#queue.join({ use, fail }));
    this.#client.uuid = this.id;
    return this;
  }

  /** Sequelize's name for the connection. Whoever takes it may send anything, so the transaction begins now. */
  get connection(): PooledClient | undefined {
    if (this.#first === null && this.#client) void this.begun().catch(() => {});
    return this.#client ?? undefined;
  }

  /** Begins, unless a statement has; resolves when that is done. */
  async begun(): Promise<void> {
    if (this.#first) await this.#first;
    // Where the first statement has failed it may have begun, too. Then PostgreSQL refuses this.
    if (!this.#hasBegun && this.#client) await this.#runFirst(() => this.#beginAlone());
  }

  /**
   * Ends it; what PostgreSQL says that it did.
   *
   * @throws what it fails with; the connection is closed then
   */
  async end(command: EndCommand): Promise<string> {
    // What was asked for before is sent before.
    if (this.#first && !this.#hasBegun) await this.#first;
    this.finished = command === 'COMMIT' ? 'commit' : 'rollback';
    try {
      const done = this.#first ? await this.#send(command) : command;
      this.cleanup();
      return done;
    } catch (error) {
      await this.forceCleanup();
      throw error;
    }
  }

  /** Gives the connection back. Sequelize's own `commit` and `rollback` call it, too. */
  cleanup(): void {
    const client = this.#takeClient();
    if (client) this.#queue.leave(client);
  }

  /** Closes the connection: PostgreSQL rolls back then. */
  async forceCleanup(): Promise<void> {
    const client = this.#takeClient();
    if (client) await this.#queue.discard(client);
  }

  #takeClient(): PooledClient | null {
    this.finished ??= 'rollback';
    const client = this.#client;
    this.#client = null;
    if (client) client.uuid = undefined;
    return client;
  }

  async #run(text: string, values: TextValues): Promise<TextResult> {
    // A tracer is shown statements, and not what goes before one.
    if (isTraced()) await this.begun();
    else if (this.#first && !this.#hasBegun) await this.#first;
    const client = this.#soundClient(text);
    if (!this.#hasBegun) return this.#runFirst(() => this.#runWithBegin(client, text, values));
    this.#executor.log(text, this.id);
    return this.#executor.execute(client, text, values, { isKept: false });
  }

  /** Runs what begins the transaction. Others wait for it. */
  #runFirst<T>(work: () => Promise<T>): Promise<T> {
    const first = work();
    this.#first = first.then(
      () => {
        this.#hasBegun = true;
      },
      () => {},
    );
    return first;
  }

  /** What connections keep may be stale. Nothing has happened then that a ROLLBACK does not undo. */
  async #runWithBegin(client: PooledClient, text: string, values: TextValues): Promise<TextResult> {
    const options = { isKept: true, before: this.#begin };
    this.#executor.log(this.#begin, this.id);
    this.#executor.log(text, this.id);
    try {
      return await this.#executor.execute(client, text, values, options);
    } catch (error) {
      const { parent } = error as { readonly parent?: unknown };
      if (parent === undefined || !isStale(parent)) throw error;
    }
    await this.#send('ROLLBACK');
    return this.#executor.execute(client, text, values, options);
  }

  /** A query that is behind it already must not be executed when it fails, as it would be committed by itself. */
  #beginAlone(): Promise<string> {
    const { connection } = this.#soundClient(this.#begin);
    return this.#send(this.#begin, () => connection?.stream.destroy());
  }

  #soundClient(text: string): PooledClient {
    return soundClient({ id: this.id, finished: this.finished, connection: this.#client }, text);
  }

  /** Sends a text as Sequelize would; what PostgreSQL says that it did. */
  #send(text: string, fail?: () => void): Promise<string> {
    return new Promise((resolve, reject) => {
      const client = soundClient({ id: this.id, connection: this.#client }, text);
      this.#executor.log(`${text};`, this.id);
      // pg takes texts, too.
      (client as unknown as TextClient).query(text, (error, result) => {
        if (!error) return resolve(String(result?.command));
        fail?.();
        markBroken(client, error);
        reject(toSequelizeError(this.#sequelize, Object.assign(error, { sql: text })));
      });
    });
  }
}

/** One statement with all that Sequelize sends one after the other. */
function beginText({ isolationLevel, readOnly }: TransactionOptions): string {
  const level = isolationLevel ? ` ISOLATION LEVEL ${isolationLevel}` : '';
  return `START TRANSACTION${level}${readOnly ? ' READ ONLY' : ''}`;
}
