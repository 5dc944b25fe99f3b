/** Where the queries of a repository run: our own statements, or Sequelize in the transaction that they have to be in. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Model, Sequelize } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import type { Endpoint } from '../../declare/endpoint.js';
import { describeAddressed, describeRecords } from '../../describe/describe-model.js';
import { ownModel } from '../../describe/record.js';
import { isKeyTrusted } from '../../describe/table-facts.js';
import type { AfterWrite, WrittenRecord } from '../../operation/feature.js';
import type { Operation } from '../../operation/operation.js';
import {
  currentSettings,
  isOnSequelize,
  type RowWrite,
  type StatementTarget,
  statementRunner,
} from '../../postgres/index.js';
import { storedText } from '../customization/hydrate-record.js';
import { destroysRecords, hookOptions, runsCodeInWrites } from '../customization/plain-queries.js';
import { inTransaction } from '../session/database-session.js';
import { idTextOf, textOfId } from '../sql/encode-parameter.js';
import type { FoundRecords, QueryContext, RecordCall } from './repository-operations.js';
import { rowRecords } from './row-records.js';
import { SequelizeExecutor } from './sequelize-executor.js';
import { modelTriggers, needsReadingAnew } from './update-record.js';

/** Runs a read: with our own statements, or else by Sequelize. */
export function readRecords<M extends Model>(
  model: ModelClass<M>,
  context: QueryContext,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M>> {
  const { access, scope } = context;
  const bySequelize = () => {
    const executor = new SequelizeExecutor(model, context);
    return inReadScope(model, scope, (own) => executor.run(operation, access.slots, { ...call, ...own }));
  };
  return runOnRows(model, context, operation, call)?.then((found) => found ?? bySequelize()) ?? bySequelize();
}

/** Runs reads of Sequelize's in the transaction they belong to, in one of their own where that has to have settings, or else alone. */
export async function inReadScope<M extends Model, T>(
  model: ModelClass<M>,
  scope: QueryContext['scope'],
  read: (scope: QueryContext['scope']) => Promise<T>,
): Promise<T> {
  if (scope.transaction || !currentSettings()?.key) return read(scope);
  return inTransaction(model.sequelize as Sequelize, 'get', (transaction) => read({ transaction }));
}

/**
 * Runs a write, with our own statements, or else by Sequelize. It runs in the transaction it belongs to, or in one of its own where it may
 * be more than one statement, or else alone.
 */
export async function writeRecords<M extends Model>(
  model: ModelClass<M>,
  context: QueryContext,
  endpoint: Endpoint,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M>> {
  const { access, scope } = context;
  const sequelize = model.sequelize as Sequelize;
  const follow = followWrite(model, endpoint, call, context);
  const isAlone = !scope.transaction;
  const inOwn = () =>
    inTransaction(sequelize, 'write', (transaction) =>
      writeRecords(model, { ...context, scope: { transaction } }, endpoint, operation, call),
    );
  if (isAlone && (follow || (await modelTriggers(model)).dropped.has(rowWriteOf(operation)))) return inOwn();
  let found = await runOnRows(model, context, operation, call);
  if (!found) {
    const executor = new SequelizeExecutor(model, context);
    if (isAlone && (executor.provesWrites || (await needsTransaction(model, operation, context.address))))
      return inOwn();
    // A write reads from the primary: a replica may be behind.
    const place = isAlone ? { useMaster: true } : scope;
    const options = { ...call, ...hookOptions(model, 'write'), ...place };
    found = await executor.run(operation, access.slots, options);
  }
  if (scope.transaction) await follow?.(found, statementRunner(sequelize).within(scope.transaction));
  return found;
}

/** The models that an application serves, and the work of its features after their writes. */
export type FollowedModels = ReadonlyMap<ModelClass, (endpoint: Endpoint) => AfterWrite | null>;

/** The last application that serves a model: its work follows writes of no request. */
const latest = new WeakMap<ModelClass, FollowedModels>();

/** The application of the request that runs. Nothing is stored as long as each model has one application. */
const running = new AsyncLocalStorage<FollowedModels>();
let areShared = false;

/** Adds the models of an application. */
export function followModels(models: FollowedModels): void {
  for (const model of models.keys()) {
    areShared ||= latest.has(model);
    latest.set(model, models);
  }
}

/** Runs work of a request of an application, and the calls that it awaits. */
export function runFollowed<T>(models: FollowedModels, work: () => T): T {
  return areShared ? running.run(models, work) : work();
}

type Follow<M extends Model> = (found: FoundRecords<M>, on: StatementTarget) => Promise<void>;

/** True where features have work after such a write, which is about each of its records. */
export function isFollowed(model: ModelClass, endpoint: Endpoint): boolean {
  return afterWriteOf(ownModel(model), endpoint) !== null;
}

function afterWriteOf(own: ModelClass, endpoint: Endpoint): AfterWrite | null {
  const find = (areShared ? running.getStore()?.get(own) : undefined) ?? latest.get(own)?.get(own);
  return find?.(endpoint) ?? null;
}

/** The work after a write of a repository; null where features have none. */
function followWrite<M extends Model>(
  model: ModelClass<M>,
  endpoint: Endpoint,
  { id }: RecordCall<M>,
  { address }: Pick<QueryContext, 'address'>,
): Follow<M> | null {
  const own = ownModel(model as unknown as ModelClass);
  const afterWrite = afterWriteOf(own, endpoint);
  if (!afterWrite) return null;
  const info = describeAddressed(own, address);
  const { primaryKey } = info;
  return async ({ records, count, keys }, on) => {
    const rows: readonly WrittenRecord[] = records.map((record) => ({
      key: idTextOf(primaryKey, ({ name }) => storedText(info, record, name)) as string,
      stored: (attribute) => storedText(info, record, attribute),
    }));
    const ids = id === undefined ? [] : [textOfId(info.address, id) as string];
    const gone = keys ? keys.map((each) => textOfId(primaryKey, each) as string) : ids;
    const all = rows.length > 0 || count === 0 ? rows : gone.map((key) => ({ key, stored: () => undefined }));
    if (all.length > 0) await afterWrite({ endpoint, records: all }, on);
  };
}

function rowWriteOf(operation: Operation): RowWrite {
  if (operation.kind === 'delete') return operation.mark === null ? 'delete' : 'update';
  return operation.kind === 'insert' ? 'insert' : 'update';
}

/** True where a write of Sequelize's may be more than one statement, or runs code of the user's. */
function needsTransaction<M extends Model>(
  model: ModelClass<M>,
  operation: Operation,
  address: QueryContext['address'],
): boolean | Promise<boolean> {
  const plain = model as unknown as ModelClass;
  if (
    operation.kind === 'update' ||
    runsCodeInWrites(model) ||
    currentSettings() !== null ||
    isKeyTrusted(describeAddressed(plain, address))
  )
    return true;
  switch (operation.kind) {
    case 'insert':
      return needsReadingAnew(model);
    case 'delete':
      return (
        (operation.mark === null && describeRecords(plain).softDelete !== null) ||
        destroysRecords(model, false)
      );
    default:
      return false;
  }
}

/** Null where there are no statements of ours, and for operations that only Sequelize can run. */
function runOnRows<M extends Model>(
  model: ModelClass<M>,
  { access: { slots }, scope: { transaction }, address }: QueryContext,
  operation: Operation,
  call: RecordCall<M>,
): Promise<FoundRecords<M> | null> | null {
  const rows = isOnSequelize() ? null : rowRecords(model, address);
  if (!rows) return null;
  // There may be no runner where there are no rows: not with an unknown version of Sequelize.
  const on = transaction && statementRunner(model.sequelize as Sequelize).within(transaction);
  return rows.run(operation, slots, on ? { ...call, on } : call);
}
