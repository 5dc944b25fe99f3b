/** Where the queries of a repository run: our own statements, or Sequelize in the transaction that they have to be in. */
import type { Model, Sequelize, Transaction } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { isKeyTrusted } from '../../describe/table-facts.js';
import type { Access, AccessSource } from '../../operation/access.js';
import type { Operation } from '../../operation/operation.js';
import {
  currentSettings,
  isOnSequelize,
  NO_TRIGGERS,
  type RowWrite,
  statementRunner,
} from '../../postgres/index.js';
import { destroysRecords, hookOptions, runsCodeInWrites } from '../customization/plain-queries.js';
import { DatabaseSession } from '../session/database-session.js';
import type { FoundRecords, RecordCall } from './repository-operations.js';
import { rowRecords } from './row-records.js';
import { SequelizeExecutor } from './sequelize-executor.js';
import { modelTriggers, needsReading } from './update-record.js';

/** Transaction and access of a query of a repository. */
export interface QueryContext {
  /** The transaction, as an option of a query. */
  readonly scope: { readonly transaction?: Transaction };
  readonly access: Access;
  /** Where the access is from; null is everything. */
  readonly source: AccessSource | null;
}

/** Runs a read: with our own statements, or else by Sequelize. */
export async function readRecords<M extends Model>(
  model: ModelClass<M>,
  context: QueryContext,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M>> {
  const found = await runOnRows(model, context, operation, call);
  if (found) return found;
  const { access, source, scope } = context;
  const executor = new SequelizeExecutor(model, access, source);
  return inReadScope(model, scope, (own) => executor.run(operation, access.slots, { ...call, ...own }));
}

/** Runs reads of Sequelize's in the transaction they belong to, in one of their own where that has to have settings, or else alone. */
export async function inReadScope<M extends Model, T>(
  model: ModelClass<M>,
  scope: QueryContext['scope'],
  read: (scope: QueryContext['scope']) => Promise<T>,
): Promise<T> {
  if (scope.transaction || currentSettings() === null) return read(scope);
  const session = new DatabaseSession(model.sequelize as Sequelize, 'get');
  return session.run(async () => read({ transaction: await session.begin() }));
}

/**
 * Runs a write, with our own statements, or else by Sequelize: in the transaction it belongs to, in one of its own where it may be more
 * than one statement, or else alone.
 */
export async function writeRecords<M extends Model>(
  model: ModelClass<M>,
  context: QueryContext,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M>> {
  const { access, source, scope } = context;
  const inSession = async (): Promise<FoundRecords<M>> => {
    const session = new DatabaseSession(model.sequelize as Sequelize, 'write');
    return session.run(async () => {
      const own = { access, source, scope: { transaction: await session.begin() } };
      return writeRecords(model, own, operation, call);
    });
  };
  const { dropped } = scope.transaction ? NO_TRIGGERS : await modelTriggers(model);
  if (dropped.has(rowWriteOf(operation))) return inSession();
  const written = await runOnRows(model, context, operation, call);
  if (written) return written;
  const executor = new SequelizeExecutor(model, access, source);
  const options = { ...call, ...hookOptions(model, 'write') };
  if (scope.transaction) return executor.run(operation, access.slots, { ...options, ...scope });
  const needsSession =
    runsCodeInWrites(model) ||
    executor.provesWrites ||
    currentSettings() !== null ||
    isKeyTrusted(model as unknown as ModelClass) ||
    (await readsWithWrite(model, operation));
  // A write reads from the primary: a replica may be behind.
  return needsSession ? inSession() : executor.run(operation, access.slots, { ...options, useMaster: true });
}

function rowWriteOf(operation: Operation): RowWrite {
  if (operation.kind === 'delete') return operation.mark === null ? 'delete' : 'update';
  return operation.kind === 'insert' ? 'insert' : 'update';
}

/** True where Sequelize reads before or after it writes, and needs one transaction for it. */
function readsWithWrite<M extends Model>(
  model: ModelClass<M>,
  operation: Operation,
): boolean | Promise<boolean> {
  switch (operation.kind) {
    case 'update':
      return operation.differs ?? needsReading(model);
    case 'delete':
      return (operation.mark === null && model.options.paranoid === true) || destroysRecords(model, false);
    default:
      return false;
  }
}

/** Null where there are none of ours, and for what only Sequelize can do. */
async function runOnRows<M extends Model>(
  model: ModelClass<M>,
  { access: { slots }, scope: { transaction } }: QueryContext,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M> | null> {
  const rows = isOnSequelize() ? null : rowRecords(model);
  if (!rows) return null;
  // There may be no runner where there are no rows: not with a version of Sequelize that is not known.
  const on = transaction && statementRunner(model.sequelize as Sequelize).within(transaction);
  return rows.run(operation, slots, on ? { ...call, on } : call);
}
