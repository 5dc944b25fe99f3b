/** Runs prepared statements outside Sequelize's queries, on its connections, and reports their failures as it does. */
import { AsyncResource } from 'node:async_hooks';
import { DatabaseError, type Sequelize, type Transaction, type TransactionOptions } from 'sequelize';
import { type InstanceOptions, instanceOptions, logStatement } from '../../describe/sequelize-internals.js';
import { statementChannel, traceStatement } from '../../diagnostics/channels.js';
import { asDatabaseError } from '../../errors/sequelize-error.js';
import { keptIn } from '../../util/memo.js';
import type { Batch, Execution, TextResult, TextValues } from '../protocol/batch.js';
import { FilterStatement } from '../protocol/filter-statement.js';
import { isTraced } from '../protocol/pg-internals.js';
import { createExecutor, type StatementExecutor } from '../protocol/pg-text-query.js';
import { named, type PreparedStatement, StatementCache, unnamed } from '../protocol/prepared-statement.js';
import { isOfChangedTable, isStale, PoolerSigns } from '../protocol/stale-statement.js';
import type { PooledClient } from '../session/connection-internals.js';
import { warnOf } from '../session/engine-warnings.js';
import { readOnPrimary } from '../session/read-on-primary.js';
import { isLockTimeout, LIMIT_LOCKS, SlowReads, TableShares } from '../session/read-shares.js';
import { currentSettings, type RequestSettings } from '../session/session.js';
import { reportChangedTable } from '../session/table-triggers.js';
import { ConnectionExecutor } from './connection-executor.js';
import type { ConnectionQueue } from './connection-queue.js';
import { ConnectionSource, type Destination, type PoolUsage } from './connection-source.js';
import { type ExecuteAlone, GroupCommit } from './group-commit.js';
import { type Lane, Lanes, RepeatBudget, type RetryElsewhere, SharedRead } from './lanes.js';
import { SessionTransaction } from './session-transaction.js';
import type {
  PendingStatement,
  SettingsStatement,
  StatementCall,
  StatementTarget,
} from './statement-target.js';

/** State of a statement that has waited in the queue, and the ways to execute it again. */
interface Queued {
  /** Number of statements before it on its connection. */
  readonly behind?: number;
  /** Takes the connection of a read that is to begin again, because its table is locked. */
  readonly requeue?: ((client: PooledClient) => void) | undefined;
  /** Read that is under way on a shared connection, too. */
  readonly read?: SharedRead | undefined;
}

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

/** There is a pooler whose connections have other statements than they had. */
function assumePooler(sequelize: Sequelize): void {
  if (unprepared.has(sequelize)) return;
  keepNoStatements(sequelize);
  warnOf(sequelize, POOLER);
}

const POOLER =
  'A pooler gives each transaction another connection to PostgreSQL and does not know prepared statements, or has those of before a ' +
  'migration, so that from now on none are kept: set preparedStatements: false, or have the pooler keep them (PgBouncer since 1.21: ' +
  'max_prepared_statements, and RECONNECT behind a migration).';

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
class StatementRunner implements StatementTarget {
  readonly #sequelize: Sequelize;
  readonly #options: InstanceOptions;
  readonly #source: ConnectionSource;
  readonly #executor: StatementExecutor;
  /** Executor for connections that are held. */
  readonly #connections: ConnectionExecutor;
  readonly #lanes: Lanes;
  readonly #retryElsewhere: RetryElsewhere = (read) => this.#repeatAlone(read);
  readonly #repeats = new RepeatBudget();
  readonly #named: StatementCache;
  readonly #filters: StatementCache<FilterStatement>;
  readonly #groups = new WeakMap<PreparedStatement, GroupCommit>();
  readonly #shares: TableShares;
  readonly #slowReads: SlowReads;
  readonly #isGrouping: boolean;
  /** True where a connection may have several statements under way. */
  readonly #canShare: boolean;
  readonly #executeAlone: ExecuteAlone = (queue, client, pending) => this.#execute(queue, client, pending);

  constructor(sequelize: Sequelize, isNaming: boolean, isGrouping: boolean) {
    this.#sequelize = sequelize;
    this.#options = instanceOptions(sequelize);
    this.#source = new ConnectionSource(sequelize);
    const signs = new PoolerSigns();
    this.#executor = createExecutor(this.#source.driver, (error, isExpected, isFresh) => {
      if (isOfChangedTable(error)) reportChangedTable(sequelize);
      if (!isExpected && signs.add(error, isFresh)) assumePooler(sequelize);
    });
    this.#named = new StatementCache(isNaming ? named : unnamed);
    this.#filters = new StatementCache((text) => new FilterStatement(text, isNaming));
    this.#connections = new ConnectionExecutor(sequelize, this.#executor, this.#named);
    // A pooler may not accept several executions under way.
    this.#canShare = this.#executor.canPipeline && isNaming;
    this.#shares = new TableShares(this.#source.maxReads, {
      lanesInUse: () => this.#lanes.inUse,
      wake: () => this.#source.queues.read.wake(),
    });
    this.#slowReads = new SlowReads(this.#source.maxReads);
    this.#isGrouping = isNaming && isGrouping;
    this.#lanes = new Lanes(this.#source, this.#executor, this.#canShare);
  }

  read(
    text: string,
    values: TextValues,
    table: string,
    isPlanned = false,
    settings: SettingsStatement | null = null,
  ): Promise<TextResult> {
    const share = this.#shares.of(table);
    const statement = (isPlanned ? this.#filters : this.#named).get(text).current;
    const call = { statement, values, share, settings };
    const isCheap = statement.isCheap && (share?.mayShare ?? true);
    // Where the pool has to see each read, none shares a connection.
    const isShareable = isCheap && !this.#source.seesEachRead;
    const lane = isShareable ? this.#lanes.laneFor(call.statement) : undefined;
    const result = lane ? this.#share(lane, call) : this.#run('read', call);
    return result.catch((cause) => this.#readAgain(cause, call, lane !== undefined));
  }

  /** Executes a failed read once more where it may succeed. A promise has the async context of the caller; an answer has that of another. */
  #readAgain(cause: unknown, call: StatementCall, wasShared: boolean): Promise<TextResult> {
    // Not on a lane: this one may have slowed down, and on another the statement may be as stale.
    if (wasShared && cause instanceof DatabaseError && isStale(cause.parent))
      return this.#run('read', call).catch((error) => this.#readAgain(error, call, false));
    const { statement, values, settings } = call;
    const again = (transaction: Transaction) => this.within(transaction).write(statement.text, values);
    return readOnPrimary(cause, this.#sequelize, again, settings?.settings ?? null);
  }

  /** On the primary; with a key together with others that wait for a connection. */
  write(
    text: string,
    values: TextValues,
    key?: string | null,
    settings: SettingsStatement | null = null,
  ): Promise<TextResult> {
    const statement = this.#named.get(text);
    const call = { statement, values, share: null, settings };
    if (key === undefined || !this.#sharesWrites) return this.#run('write', call);
    return this.#submit(call, (pending) => this.#groupOf(statement).add(pending, key));
  }

  /** Where statements run with the settings of a request: each in a transaction of its own, in one round trip. */
  withSettings(settings: RequestSettings): StatementTarget {
    const { text, values } = settings;
    const first = { statement: this.#named.get(text), values, settings };
    const isSecured = settings.key !== '';
    return {
      read: (sql, bound, table, isPlanned) =>
        this.read(sql, bound, table, isPlanned, isSecured ? first : null),
      write: (sql, bound) => this.write(sql, bound, undefined, first),
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

  begin(options: TransactionOptions, settings: RequestSettings | null): Promise<Transaction> {
    const queue = this.#source.queues[options.readOnly ? 'read' : 'write'];
    return new SessionTransaction(this.#sequelize, options, queue, this.#connections, settings).open();
  }

  /** True where writes go together: the option is set, and the pool need not see each of them. */
  get #sharesWrites(): boolean {
    return this.#isGrouping && !this.#source.queues.write.bypassesQueue;
  }

  #groupOf(statement: PreparedStatement): GroupCommit {
    return keptIn(
      this.#groups,
      statement,
      () => new GroupCommit(this.#source.queues.write, this.#executor, this.#executeAlone),
    );
  }

  #share(lane: Lane, call: StatementCall): Promise<TextResult> {
    return this.#submit(call, (pending) =>
      lane.add(new SharedRead(pending, this.#retryElsewhere, this.#repeats)),
    );
  }

  /** Planned for its values, as that may be why it takes long. */
  #repeatAlone(read: SharedRead): void {
    const pending = { ...read.pending, statement: read.pending.statement.planned };
    this.#join('read', pending, read);
  }

  #run(destination: Destination, call: StatementCall): Promise<TextResult> {
    return this.#submit(call, (pending) => this.#join(destination, pending));
  }

  /** Slow reads of the pool, where the statement is one; null for others. Reads alone have a share of the connections. */
  #slowReadsOf({ statement, share }: PendingStatement): SlowReads | null {
    return share && statement.isSlow ? this.#slowReads : null;
  }

  /** Adds to the queue, where a read of a locked table may be put back. */
  #join(destination: Destination, pending: PendingStatement, read?: SharedRead): void {
    const queue = this.#source.queues[destination];
    const again = (client: PooledClient): void => queue.requeue(client, entry);
    const entry = queue.join({
      use: (client, behind) => this.#execute(queue, client, pending, { requeue: again, read, behind }),
      fail: pending.fail,
      isGone: () => read?.isAnswered === true,
      isHeldBack: () => pending.share?.isHeldBack || this.#slowReadsOf(pending)?.areTooMany || false,
      mayFollow: () => this.#canShare && destination === 'write' && pending.statement.isCheap,
    });
  }

  #submit(
    { statement, values, share, settings }: StatementCall,
    start: (pending: PendingStatement) => void,
  ): Promise<TextResult> {
    return new Promise((resolve, reject) => {
      // A tracer counts the statement as part of the code that runs now.
      const context = isTraced() ? new AsyncResource('Statement') : undefined;
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
      if (this.#options.logging) logStatement(this.#sequelize, statement.text);
      start({ statement, values, share, settings, context, trace, answer, fail });
    });
  }

  /**
   * A statement that was prepared before its table changed has done nothing; on the same connection it is prepared anew.
   *
   * @param queued the statements before one from the queue, and the other way out of a read that is not answered
   */
  #execute(
    queue: ConnectionQueue,
    client: PooledClient,
    pending: PendingStatement,
    { requeue, read, behind = 0 }: Queued = {},
    isAgain = false,
  ): void {
    const { statement, values, context, trace, answer, settings } = pending;
    // A pool that has to see each use has to see it in the context of its request, which has no second turn in the queue.
    const share = queue.bypassesQueue || !requeue ? null : pending.share;
    const isLimited = share?.begin() ?? false;
    const slowReads = this.#slowReadsOf(pending);
    slowReads?.begin();
    const started = performance.now();
    let isStaleNow = false;
    let isPutBack = false;
    let isWithdrawn = false;
    let isOver = false;
    const end: Batch['end'] = (error) => {
      if (isOver) return;
      isOver = true;
      if (error === null) statement.measure(performance.now() - started);
      slowReads?.end();
      // It may be the one that is slow, and says nothing of the table.
      isWithdrawn = isLimited && isLockTimeout(error) && read?.withdraw() === true;
      isPutBack = !isWithdrawn && (share?.end(isLimited, error) ?? false);
      isStaleNow = !isAgain && error !== null && isStale(error);
      if (isPutBack) requeue?.(client);
      else if (!isStaleNow) queue.leave(client);
    };
    const settle: Execution['settle'] = (error, result) => {
      if (isStaleNow) this.#execute(queue, client, anew(), { requeue, read, behind }, true);
      else if (!isPutBack && !isWithdrawn) answer(error, result);
    };
    // Without a name, because a pooler may go on with the stale statement of the same text.
    const anew = () => ({ ...pending, statement: unnamed(statement.text) });
    const limits = isLimited ? [{ statement: this.#named.get(LIMIT_LOCKS), values: [] }] : [];
    const before = settings ? [...limits, settings] : limits;
    const executions = [{ values, context, trace, settle }];
    try {
      this.#executor.execute(client, { before, statement, executions, behind, end });
    } catch (error) {
      if (!isOver) {
        slowReads?.end();
        share?.end(isLimited, error as Error);
      }
      isOver = true;
      throw error;
    }
  }
}
