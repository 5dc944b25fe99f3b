/** Begins and ends a session's transaction: with PostgreSQL's own result, and never on a connection in doubt. */

import type { EventEmitter } from 'node:events';
import { QueryTypes, type Sequelize, type Transaction, type TransactionOptions } from 'sequelize';
import { ambientTransaction } from '../../describe/sequelize-internals.js';
import { describeFault } from '../../errors/database-fault.js';
import {
  applySettings,
  currentSession,
  EngineSequelize,
  type MarkedClient,
  type RequestSettings,
  refuseWrites,
  SessionTransaction,
  statementRunner,
  transactionInternals,
  withoutSettings,
} from '../../postgres/index.js';
import { sequelizeProblem } from '../customization/internals-trial.js';
import { seesQueries } from '../customization/query-customizations.js';
import type { SessionPart } from './session-part.js';

interface Connection extends MarkedClient {
  /** pg's side of the socket. Another driver may have none. */
  readonly connection?: EventEmitter;
}

/** Sequelize passes on the driver's result of a COMMIT, against its types. */
interface CommittingInterface {
  commitTransaction(transaction: Transaction, options: object): Promise<unknown>;
}

/** Savepoints, and the transactions of `Sequelize.useCLS` that they are in. */
const parents = new WeakMap<Transaction, Transaction>();
/** Transactions with such a savepoint that goes on. The end of one is the end of all that were begun after it. */
const busy = new WeakSet<Transaction>();

function claim(parent: Transaction): void {
  if (busy.has(parent))
    throw new Error(
      'A transaction of Sequelize.useCLS has one unit of work, or one write of a repository, at a time; wait for the first one, or put ' +
        'both into one unitOfWork.',
    );
  busy.add(parent);
}

function free(transaction: Transaction): void {
  const parent = parents.get(transaction);
  if (parent) busy.delete(parent);
}

/**
 * Begins one: by Sequelize itself, where code of the user's would see its queries, or the driver is unknown. In a transaction of
 * `Sequelize.useCLS` writes are a savepoint of that one: with a connection of their own they would wait for its locks.
 *
 * @param settings of the request that it is part of
 */
export async function beginTransaction(
  sequelize: Sequelize,
  options: TransactionOptions,
  settings: RequestSettings | null,
): Promise<Transaction> {
  const isOfEngine = sequelize instanceof EngineSequelize;
  const isOwn = isOfEngine && sequelize.transaction === EngineSequelize.prototype.transaction;
  const parent = options.readOnly ? null : ambientTransaction(sequelize);
  if (parent) return beginSavepoint(parent, options, settings);
  if (isOwn && !seesQueries(sequelize) && !sequelizeProblem()) {
    const readOnly = options.readOnly === true || currentSession(sequelize)?.isReadOnly === true;
    return statementRunner(sequelize).begin({ ...options, readOnly }, settings);
  }
  // Without the settings of the running code, which an engine's instance would set.
  const transaction = await withoutSettings(() => sequelize.transaction(options));
  // An engine's instance does so itself, where its connections do not.
  if (options.readOnly && !isOfEngine) await refuseWrites(sequelize, transaction);
  if (settings) await applySettings(sequelize, transaction, settings);
  return transaction;
}

async function beginSavepoint(
  parent: Transaction,
  options: TransactionOptions,
  settings: RequestSettings | null,
): Promise<Transaction> {
  const { sequelize } = parent as Transaction & { readonly sequelize: Sequelize };
  claim(parent);
  try {
    const transaction = await withoutSettings(() =>
      sequelize.transaction({ ...options, transaction: parent }),
    );
    endWith(transaction, parent);
    if (settings) await applySettings(sequelize, transaction, settings);
    parents.set(transaction, parent);
    return transaction;
  } catch (error) {
    busy.delete(parent);
    throw error;
  }
}

/** Its later queries are refused once the whole transaction has ended: on its connection they would be committed alone. */
function endWith(savepoint: Transaction, parent: Transaction): void {
  let own: unknown;
  Object.defineProperty(savepoint, 'finished', {
    get: () => own ?? (parent as { finished?: string }).finished,
    set(end: unknown) {
      own = end;
    },
  });
}

/**
 * Commits. @returns true where PostgreSQL did. It ends a transaction in which a query has failed with the tag ROLLBACK and no error,
 * which Sequelize's own `commit` ignores.
 *
 * @throws the error of the commit; its connection is closed then
 */
export async function commitTransaction(transaction: Transaction): Promise<boolean> {
  const internals = transactionInternals<Connection>(transaction);
  if (!internals) return transaction.commit().then(() => true);
  if (internals.finished) throw new Error(`The transaction has been ended before: ${internals.finished}.`);
  if (transaction instanceof SessionTransaction) return (await transaction.end('COMMIT')) === 'COMMIT';
  if (parents.has(transaction)) return releaseSavepoint(transaction, internals);
  // Sequelize returns all of the driver's result for a raw query, and the rows for others.
  const options = { ...internals.options, type: QueryTypes.RAW };
  // An instance whose `query` passes on less does not keep the tag from being heard.
  let heard: unknown;
  const hear = ({ text }: { readonly text: string }): void => {
    heard = text;
  };
  const socket = internals.connection?.connection;
  socket?.on('commandComplete', hear);
  try {
    const committing: CommittingInterface = internals.sequelize.getQueryInterface();
    const answer = await committing.commitTransaction(transaction, options);
    internals.cleanup();
    return (tagOf(answer) ?? heard) !== 'ROLLBACK';
  } catch (error) {
    await internals.forceCleanup();
    throw error;
  } finally {
    socket?.off('commandComplete', hear);
  }
}

/** Ends a savepoint. @returns false where a query in it has failed, and all of it is undone */
async function releaseSavepoint(
  transaction: Transaction,
  { sequelize, name }: { readonly sequelize: Sequelize; readonly name?: string },
): Promise<boolean> {
  try {
    await sequelize.query(`RELEASE SAVEPOINT "${name}"`, { transaction });
    return true;
  } catch {
    await transaction.rollback();
    return false;
  } finally {
    free(transaction);
  }
}

/** Runs work after the commit of a transaction that is committed; of a savepoint after that of its transaction. */
export function afterCommitOf(transaction: Transaction, work: () => void): void {
  const parent = parents.get(transaction);
  if (parent) parent.afterCommit(work);
  else work();
}

/** Rolls back, or closes the connection where that cannot be. Never throws. */
export async function rollbackTransaction(transaction: Transaction, cause: unknown): Promise<void> {
  try {
    // On a connection that no longer answers ROLLBACK would wait as long again as the query before it.
    const internals = transactionInternals<Connection>(transaction);
    const isLost = describeFault(cause)?.kind === 'unavailable';
    if (transaction instanceof SessionTransaction) {
      if (isLost) await transaction.forceCleanup();
      else if (!transaction.finished) await transaction.end('ROLLBACK');
    } else if (internals && (internals.connection?._invalid || (isLost && !parents.has(transaction))))
      await internals.forceCleanup();
    // The connection of a savepoint may be sound: another server may be the lost one. Its cleanup does nothing.
    else await transaction.rollback();
  } catch {
    // Sequelize has closed the connection, and with it the transaction has ended.
  } finally {
    free(transaction);
  }
}

/** The `afterCommit` callbacks of the transaction itself. Its own `commit` runs them when it has failed, too. */
export function ownCallbacks(transaction: Transaction): (() => unknown)[] {
  // Where Sequelize has ended the transaction, it has run them.
  const { _afterCommitHooks: hooks = [] } = transactionInternals<Connection>(transaction) ?? {};
  return hooks.map((hook) => () => hook(transaction));
}

/** Notes the part of the session in which code adds callbacks from now on. @returns a function that removes those of a part */
export function followCallbacks(transaction: Transaction, parts: SessionPart): (undone: SessionPart) => void {
  const added = new WeakMap<object, SessionPart>();
  const { afterCommit } = transaction;
  transaction.afterCommit = function add(hook) {
    // One function may be added in several parts.
    const own: typeof hook = (ended) => hook(ended);
    added.set(own, parts.current);
    afterCommit.call(transaction, typeof hook === 'function' ? own : hook);
  };
  return (undone) => {
    const hooks = transactionInternals<Connection>(transaction)?._afterCommitHooks;
    const isKept = (hook: object) => !undone.includes(added.get(hook) ?? parts);
    hooks?.splice(0, hooks.length, ...hooks.filter(isKept));
  };
}

/** Command that the driver reports as executed; undefined where a wrapper of the user's passes on less. */
function tagOf(answer: unknown): unknown {
  const [, result] = Array.isArray(answer) ? (answer as [unknown, { readonly command?: unknown }?]) : [];
  return result?.command;
}
