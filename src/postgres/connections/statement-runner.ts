/** Runs prepared statements outside Sequelize's queries, on its connections, and reports their failures as it does. */
import type { Sequelize, Transaction, TransactionOptions } from 'sequelize';
import { logStatement } from '../../describe/sequelize-internals.js';
import { statementChannel } from '../../diagnostics/channels.js';
import { traceStatement } from '../../diagnostics/trace-statement.js';
import { asDatabaseError } from '../../errors/sequelize-error.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import { FilterStatement } from '../protocol/filter-statement.js';
import { createExecutor, type StatementExecutor } from '../protocol/pg-text-query.js';
import { PoolerSigns } from '../protocol/pooler-signs.js';
import { isOfChangedTable, isStale, type PreparedStatement } from '../protocol/prepared-statement.js';
import { named, StatementCache, unnamed } from '../protocol/statement-cache.js';
import { tracedContext } from '../protocol/traced-batch.js';
import { warnOf } from '../session/engine-warnings.js';
import { readOnPrimary } from '../session/read-on-primary.js';
import { currentSettings, type RequestSettings } from '../session/session-variables.js';
import { forgetTriggers } from '../session/table-triggers.js';
import { ConnectionExecutor } from './connection-executor.js';
import type { ConnectionQueue } from './connection-queue.js';
import { ConnectionSource, type PoolUsage } from './connection-source.js';
import { type ExecuteAlone, GroupCommit } from './group-commit.js';
import type { Asked, PendingStatement } from './pending-statement.js';
import { markBroken, type PooledClient } from './pooled-client.js';
import { Reads } from './read-batch.js';
import { SessionTransaction } from './session-transaction.js';
import type { SettingsStatement, StatementTarget } from './statement-target.js';

const runners = new WeakMap<Sequelize, StatementRunner>();

/** Instances whose connections keep no statements. */
const unprepared = new WeakSet<Sequelize>();

/** From now on statements are prepared anew for each execution: behind a pooler they may meet another connection. */
export function keepNoStatements(sequelize: Sequelize): void {
  unprepared.add(sequelize);
  runners.delete(sequelize);
}

/** Instances whose writes may go together. */
const grouping = new WeakSet<Sequelize>();

/** From now on writes of one statement that wait for a connection share a transaction. */
export function groupWrites(sequelize: Sequelize): void {
  grouping.add(sequelize);
  runners.delete(sequelize);
}

/** There is a pooler that has statements of ours where they are not looked for. */
function assumePooler(sequelize: Sequelize): void {
  if (unprepared.has(sequelize)) return;
  keepNoStatements(sequelize);
  warnOf(sequelize, POOLER);
}

const POOLER =
  'A pooler gives each transaction another connection to PostgreSQL and does not know prepared statements, so that from ' +
  'now on none are kept: set preparedStatements: false, or have the pooler keep them (PgBouncer since 1.21: max_prepared_statements).';

/** The runner over the connections of a Sequelize instance. */
export function statementRunner(sequelize: Sequelize): StatementRunner {
  const known = runners.get(sequelize);
  if (known !== undefined) return known;
  const runner = new StatementRunner(sequelize, !unprepared.has(sequelize), grouping.has(sequelize));
  runners.set(sequelize, runner);
  return runner;
}

/** Any connection of the pools, with the settings of the request, if there are any. Default: those of the running code. */
export function currentTarget(sequelize: Sequelize, settings = currentSettings()): StatementTarget {
  const runner = statementRunner(sequelize);
  return settings ? runner.withSettings(settings) : runner;
}

/** Runs statements on the connections of one Sequelize instance. */
export class StatementRunner implements StatementTarget {
  readonly #sequelize: Sequelize;
  readonly #source: ConnectionSource;
  readonly #executor: StatementExecutor;
  /** For connections that are held. */
  readonly #connections: ConnectionExecutor;
  readonly #reads: Reads;
  readonly #named: StatementCache;
  readonly #filters: StatementCache<FilterStatement>;
  readonly #groups = new WeakMap<PreparedStatement, GroupCommit>();
  /** True where connections keep statements. A pooler may not stand several executions under way. */
  readonly #isNaming: boolean;
  readonly #isGrouping: boolean;
  /** True where a write may be sent behind another one. */
  readonly #canFollow: boolean;
  readonly #executeAlone: ExecuteAlone = (queue, client, pending) => this.#execute(queue, client, pending);

  constructor(sequelize: Sequelize, isNaming: boolean, isGrouping: boolean) {
    this.#sequelize = sequelize;
    this.#source = new ConnectionSource(sequelize);
    const signs = new PoolerSigns();
    this.#executor = createExecutor(this.#source.driver, (error) => {
      if (isOfChangedTable(error)) forgetTriggers(sequelize);
      else if (signs.add(error)) assumePooler(sequelize);
    });
    this.#named = new StatementCache(isNaming ? named : unnamed);
    this.#filters = new StatementCache((text) => new FilterStatement(text, isNaming));
    this.#connections = new ConnectionExecutor(sequelize, this.#executor, this.#named);
    this.#reads = new Reads(
      this.#source.queues.read,
      this.#executor,
      { connections: this.#source.maxReads, servers: this.#source.readServers },
      isNaming ? named : unnamed,
    );
    this.#isNaming = isNaming;
    this.#canFollow = this.#executor.canPipeline && isNaming;
    this.#isGrouping = isNaming && isGrouping;
  }

  read(
    text: string,
    values: TextValues,
    table: string,
    isPlanned = false,
    settings: SettingsStatement | null = null,
  ): Promise<TextResult> {
    const statement = (isPlanned ? this.#filters : this.#named).get(text).current;
    // Where the pool has to see each read, none shares a connection.
    const isShared = this.#isNaming && statement.isCheap && !this.#source.queues.read.bypassesQueue;
    const given = this.#ask({ statement, values, settings }, (pending) => {
      const read = { ...pending, table };
      if (isShared) this.#reads.share(read);
      else this.#reads.add(read);
    });
    // Failed reads may be executed again on the primary.
    const again = (transaction: Transaction) => this.within(transaction).write(text, values);
    return given.catch((cause) => readOnPrimary(cause, this.#sequelize, again, settings?.settings ?? null));
  }

  /** On the primary; with a key together with others that wait for a connection. */
  write(
    text: string,
    values: TextValues,
    key?: string | null,
    settings: SettingsStatement | null = null,
  ): Promise<TextResult> {
    const statement = this.#named.get(text);
    const asked = { statement, values, settings };
    if (key === undefined) return this.#ask(asked, (pending) => this.#join(pending));
    return this.#ask(asked, (pending) => this.#groupOf(statement).add(pending, key));
  }

  /** Where statements run with the settings of a request: each in a transaction of its own, in one round trip. */
  withSettings(settings: RequestSettings): StatementTarget {
    const { text, values } = settings;
    const first = { statement: this.#named.get(text), values, settings };
    return {
      read: (sql, bound, table, isPlanned) => this.read(sql, bound, table, isPlanned, first),
      write: (sql, bound) => this.write(sql, bound, undefined, first),
      sharesWrites: false,
    };
  }

  /** Where statements run that are part of a transaction. */
  within(transaction: Transaction): StatementTarget {
    if (transaction instanceof SessionTransaction) return transaction.target;
    return this.#connections.within(transaction);
  }

  /** Present use of the connections of each pool. */
  get usage(): readonly PoolUsage[] {
    return this.#source.usage;
  }

  /** A transaction with a connection of the queue. */
  begin(options: TransactionOptions, settings: RequestSettings | null): Promise<Transaction> {
    const queue = this.#source.queues[options.readOnly ? 'read' : 'write'];
    return new SessionTransaction(this.#sequelize, options, queue, this.#connections, settings).open();
  }

  /** True where writes go together: the option is set, and the pool need not see each of them. */
  get sharesWrites(): boolean {
    return this.#isGrouping && !this.#source.queues.write.bypassesQueue;
  }

  #groupOf(statement: PreparedStatement): GroupCommit {
    const known = this.#groups.get(statement);
    if (known !== undefined) return known;
    const group = new GroupCommit(this.#source.queues.write, this.#executor, this.#executeAlone);
    this.#groups.set(statement, group);
    return group;
  }

  #join(pending: PendingStatement): void {
    const queue = this.#source.queues.write;
    queue.join({
      use: (client, behind) => this.#execute(queue, client, pending, behind),
      fail: pending.fail,
      mayFollow: () => this.#canFollow && pending.statement.isCheap,
    });
  }

  #ask(
    { statement, values, settings }: Asked,
    start: (pending: PendingStatement) => void,
  ): Promise<TextResult> {
    return new Promise((resolve, reject) => {
      const trace = statementChannel.hasSubscribers ? traceStatement(statement.text) : undefined;
      const fail = (error: unknown): void => {
        trace?.end(error);
        reject(error);
      };
      const answer: Execution['settle'] = (error, result) => {
        trace?.end(error, result?.count);
        if (!error) resolve(result as TextResult);
        else reject(asDatabaseError(error, statement, values));
      };
      logStatement(this.#sequelize, statement.text);
      start({ statement, values, settings, context: tracedContext(), trace, answer, fail });
    });
  }

  /**
   * A statement that was prepared before its table changed has done nothing; on the same connection it is prepared anew.
   *
   * @param behind how many statements are before it on the connection
   */
  #execute(
    queue: ConnectionQueue,
    client: PooledClient,
    pending: PendingStatement,
    behind = 0,
    isAgain = false,
  ): void {
    const { statement, values, context, trace, answer, settings } = pending;
    const started = performance.now();
    let isStaleNow = false;
    const end: Batch['end'] = (error) => {
      if (error === null) statement.measure(performance.now() - started);
      if (error) markBroken(client, error);
      isStaleNow = !isAgain && error !== null && isStale(error);
      if (!isStaleNow) queue.leave(client);
    };
    const settle: Execution['settle'] = (error, result) => {
      if (isStaleNow) this.#execute(queue, client, pending, behind, true);
      else answer(error, result);
    };
    const before = settings ? [settings] : [];
    const executions = [{ values, context, trace, settle }];
    this.#executor.execute(client, { before, statement, executions, behind, end });
  }
}
