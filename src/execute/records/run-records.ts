/** Where the queries of a repository run: our own statements, or Sequelize in the transaction that they have to be in. */

import type { Model, Sequelize, Transaction } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { isKeyTrusted } from '../../describe/table-facts.js';
import type { Access, AccessSource } from '../../operation/access.js';
import { currentSettings, isOnSequelize, type RowWrite, statementRunner } from '../../postgres/index.js';
import { hookOptions, runsCodeInWrites } from '../customization/plain-queries.js';
import { DatabaseSession } from '../session/database-session.js';
import { type RowOptions, type RowRecords, rowRecords } from './row-records.js';
import { SequelizeRecords } from './sequelize-records.js';
import { modelTriggers, type WriteOptions } from './update-record.js';

/** Transaction and access of a query of a repository. */
export interface QueryContext {
  /** The transaction, as an option of a query. */
  readonly scope: { readonly transaction?: Transaction };
  readonly access: Access;
  /** Where the access is from; null is everything. */
  readonly source: AccessSource | null;
}

/** Our own statements; undefined is given by them for what only Sequelize can do. */
type OnRows<M extends Model, T> = (rows: RowRecords<M>, on: RowOptions) => Promise<T | undefined>;

/** Reads; by Sequelize where our statements cannot. */
export async function readRecords<M extends Model, T>(
  model: ModelClass<M>,
  context: QueryContext,
  onRows: OnRows<M, T> | null,
  onRecords: (records: SequelizeRecords<M>, scope: QueryContext['scope']) => Promise<T>,
): Promise<T> {
  const found = onRows ? await runOnRows(model, context, onRows) : undefined;
  if (found !== undefined) return found;
  const { access, source, scope } = context;
  return inReadScope(model, scope, (on) => onRecords(new SequelizeRecords(model, access, source), on));
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

/** A write of a repository. */
export interface RecordWrite<M extends Model, T> {
  /** As PostgreSQL sees it. */
  readonly write: RowWrite;
  readonly onRows: OnRows<M, T>;
  readonly onRecords: (records: SequelizeRecords<M>, options: WriteOptions) => Promise<T>;
  /** True where Sequelize reads before or after it writes, and needs one transaction for it. Default: false. */
  readonly isWhole?: boolean | (() => Promise<boolean>);
}

/** Runs a write in the transaction it belongs to, in one of its own where it may be more than one statement, or else alone. */
export async function writeRecords<M extends Model, T>(
  model: ModelClass<M>,
  context: QueryContext,
  work: RecordWrite<M, T>,
): Promise<T> {
  const { write, onRows, onRecords, isWhole = false } = work;
  const { access, source, scope } = context;
  const inSession = async (): Promise<T> => {
    const session = new DatabaseSession(model.sequelize as Sequelize, 'write');
    return session.run(async () =>
      writeRecords(model, { access, source, scope: { transaction: await session.begin() } }, work),
    );
  };
  if (!scope.transaction && (await modelTriggers(model)).dropped.has(write)) return inSession();
  const written = await runOnRows(model, context, onRows);
  if (written !== undefined) return written;
  const records = new SequelizeRecords(model, access, source);
  const options = hookOptions(model, 'write');
  if (scope.transaction) return onRecords(records, { ...options, ...scope });
  const needsSession =
    runsCodeInWrites(model) ||
    records.provesWrites ||
    currentSettings() !== null ||
    isKeyTrusted(model as unknown as ModelClass) ||
    (typeof isWhole === 'boolean' ? isWhole : await isWhole());
  // A write reads from the primary: a replica may be behind.
  return needsSession ? inSession() : onRecords(records, { ...options, useMaster: true });
}

/** Undefined where there are none of ours, and for what only Sequelize can do. */
async function runOnRows<M extends Model, T>(
  model: ModelClass<M>,
  { access, scope: { transaction } }: QueryContext,
  onRows: OnRows<M, T>,
): Promise<T | undefined> {
  const rows = isOnSequelize() ? null : rowRecords(model);
  if (!rows) return undefined;
  // There may be no runner where there are no rows: not with a version of Sequelize that is not known.
  const on = transaction && statementRunner(model.sequelize as Sequelize).within(transaction);
  return onRows(rows, { access, on });
}
