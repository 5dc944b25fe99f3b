/**
 * The Sequelize instance that an engine owns. Queries without a transaction of their own join the session of the code that
 * sends them. A hook that queries inside a unit of work must not take a second connection: with a full pool it would wait
 * for the first one for ever. And a hook that writes inside a GET must get a connection that refuses it.
 */
import {
  type Sequelize as BaseSequelize,
  ConnectionError,
  type Model,
  type ModelStatic,
  type QueryOptions,
  QueryTypes,
  type Transaction,
  type TransactionOptions,
} from 'sequelize';
import { Sequelize, type SequelizeOptions } from 'sequelize-typescript';
import { ambientTransactions } from '../../describe/sequelize-internals.js';
import { statementChannel, traceQuery } from '../../diagnostics/channels.js';
import { lateQuery } from '../../errors/sequelize-error.js';
import { connectionOf, type MarkedClient } from './connection-internals.js';
import { guardConnections } from './guard-connections.js';
import { readOnPrimary } from './read-on-primary.js';
import { TableGate } from './read-shares.js';
import {
  applySettings,
  currentSession,
  currentSettings,
  isOfOther,
  type RequestSettings,
} from './session.js';

/** Matches texts of several statements, and also a text with a semicolon in a value, which then counts as no single read. */
const SEVERAL_STATEMENTS = /;\s*\S/;

type SqlText = string | { query: string; values: unknown[] };

interface Preparation {
  readonly refusesWrites: boolean;
  readonly settings: RequestSettings | null;
}

type TransactionWork = (transaction: Transaction) => PromiseLike<unknown>;

/** Sequelize, aware of sessions. */
export class EngineSequelize extends Sequelize {
  /** True where the server has set all connections for reads read-only, which a pooler may keep from it. */
  readsRefuseWrites = false;

  readonly #gate: TableGate;

  constructor(options: SequelizeOptions) {
    super(options);
    // The defaults are Sequelize's own.
    const { max = 5, acquire = 60_000 } = options.pool ?? {};
    this.#gate = new TableGate(max, acquire);
    guardConnections(this);
  }

  // `Promise<never>` fits all the overloads of the base; the value is theirs, unchanged.
  override async query(sql: SqlText, options: QueryOptions = {}): Promise<never> {
    const session = currentSession(this);
    try {
      if (!statementChannel.hasSubscribers) return await this.#query(sql, options);
      return await traceQuery(typeof sql === 'string' ? sql : sql.query, () => this.#query(sql, options));
    } catch (error) {
      session?.forgive(error);
      throw error;
    }
  }

  async #query(sql: SqlText, options: QueryOptions): Promise<never> {
    const joined = await this.#joinSession(options);
    refuseLate(joined, sql);
    await opened(joined.transaction);
    refuseDoubtful(joined.transaction);
    const settings = this.#isAlone(joined) ? this.#settingsFor(sql, joined) : null;
    const queryIn = (own: QueryOptions) => super.query(sql, own) as Promise<never>;
    const run = () => (settings ? this.#queryWithSettings(joined, queryIn) : queryIn(joined));
    if (!this.#isSingleRead(sql, joined)) return run();
    return this.#inTurn(joined, run).catch((error: unknown) =>
      readOnPrimary(error, this, (transaction) => queryIn({ ...joined, transaction }), settings),
    );
  }

  override transaction(
    options?: TransactionOptions | TransactionWork,
    work?: TransactionWork,
  ): Promise<never> {
    const [settings, run] = typeof options === 'function' ? [{}, options] : [options ?? {}, work];
    const isReadOnly = currentSession(this)?.isReadOnly === true;
    const allowed = isReadOnly ? { ...settings, readOnly: true } : settings;
    const isPart = allowed.transaction != null;
    const prepare = {
      refusesWrites: Boolean(allowed.readOnly) && !isPart && !this.readsRefuseWrites,
      settings: isPart ? null : currentSettings(),
    };
    if (prepare.refusesWrites || prepare.settings)
      return this.#preparedTransaction(allowed, prepare, run) as Promise<never>;
    return (run ? super.transaction(allowed, run) : super.transaction(allowed)) as Promise<never>;
  }

  /** Runs work in a transaction on the primary, also where the running code is in a read-only session. */
  transactionOnPrimary<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return super.transaction(work);
  }

  /** On a connection that does not refuse writes by itself, or with the settings of a request. */
  async #preparedTransaction(
    options: TransactionOptions,
    { refusesWrites, settings }: Preparation,
    work?: TransactionWork,
  ): Promise<unknown> {
    const prepare = async (transaction: Transaction): Promise<void> => {
      if (refusesWrites) await refuseWrites(this, transaction);
      if (settings) await applySettings(this, transaction, settings);
    };
    if (work) {
      return super.transaction(options, async (transaction) => {
        await prepare(transaction);
        return work(transaction);
      });
    }
    const transaction = await super.transaction(options);
    await prepare(transaction);
    return transaction;
  }

  /** Settings that say only who writes are nothing to a read. */
  #settingsFor(
    sql: SqlText,
    options: QueryOptions & { readonly useMaster?: boolean },
  ): RequestSettings | null {
    const settings = currentSettings();
    return settings?.key === '' && !options.useMaster && this.#isSingleRead(sql, options) ? null : settings;
  }

  /** Runs a query in a transaction of its own, which has the settings of the request. */
  #queryWithSettings(options: QueryOptions, query: (own: QueryOptions) => Promise<never>): Promise<never> {
    const { type, useMaster } = options as QueryOptions & { readonly useMaster?: boolean };
    const readOnly = type === QueryTypes.SELECT && !useMaster;
    return this.transaction({ readOnly }, (transaction) => query({ ...options, transaction }));
  }

  /** Reads of a model's table wait where too many others of it are under way. */
  #inTurn<T>(
    { model }: QueryOptions & { readonly model?: ModelStatic<Model> },
    read: () => Promise<T>,
  ): Promise<T> {
    return model ? this.#gate.run(String(model.getTableName()), read) : read();
  }

  /** True for a query that is one read. A text of several statements may end a transaction, and go on to write. */
  #isSingleRead(sql: string | { query: string }, { type, transaction }: QueryOptions): boolean {
    const text = typeof sql === 'string' ? sql : sql.query;
    return type === QueryTypes.SELECT && !SEVERAL_STATEMENTS.test(text) && this.#isAlone({ transaction });
  }

  #isAlone({ transaction }: { readonly transaction?: QueryOptions['transaction'] | undefined }): boolean {
    return transaction === null || (!transaction && !ambientTransactions(this)?.get('transaction'));
  }

  /**
   * A transaction of the caller's own, or a null in its place, is left as it is. Sequelize puts the transaction of `useCLS` there, which may be
   * of another instance, and so of another database.
   *
   * @throws TypeError where the caller passes one of another instance
   */
  async #joinSession(options: QueryOptions): Promise<QueryOptions> {
    const ambient = ambientTransactions(this)?.get('transaction');
    const { transaction = ambient } = options;
    const isForeign = isOfOther(transaction, this);
    if (isForeign && transaction !== ambient) throw new TypeError(FOREIGN);
    const session = options.transaction === undefined || isForeign ? currentSession(this) : undefined;
    const own = await session?.transactionFor(options.type === QueryTypes.SELECT ? 'select' : 'other');
    if (own) return { ...options, transaction: own };
    return isForeign ? { ...options, transaction: null } : options;
  }
}

const FOREIGN =
  'The transaction of a query is of another Sequelize instance, so that it would reach another database; pass one of its own.';

/** Makes the database refuse writes in a transaction that has just begun; Sequelize's `readOnly` alone sends no SQL. */
export async function refuseWrites(
  sequelize: Pick<BaseSequelize, 'query'>,
  transaction: Transaction,
): Promise<void> {
  try {
    await sequelize.query('SET TRANSACTION READ ONLY', { transaction });
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

/** A transaction of a session may be about to begin. */
async function opened(transaction: Transaction | null | undefined): Promise<void> {
  await (transaction as { opened?(): Promise<void> } | null | undefined)?.opened?.();
}

/** Refuses a query of a transaction that has ended; COMMIT and ROLLBACK themselves pass. */
function refuseLate({ transaction, ...options }: QueryOptions, sql: SqlText): void {
  const { finished } = (transaction ?? {}) as { readonly finished?: string };
  if (finished === undefined || 'completesTransaction' in options) return;
  throw lateQuery(finished, typeof sql === 'string' ? sql : sql.query);
}

/** Refuses a query behind an abandoned one: it would wait as long again for the same reason. */
function refuseDoubtful(transaction: Transaction | null | undefined): void {
  if (!transaction || !connectionOf<MarkedClient>(transaction)._invalid) return;
  throw new ConnectionError(new Error('Connection terminated before the query'));
}
