/** Writes a record, and has it hold the row as it is afterwards, with as few statements as that takes. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Attributes,
  ConnectionError,
  type CreationAttributes,
  EmptyResultError,
  InstanceError,
  type Model,
  type QueryOptionsWithType,
  QueryTypes,
  type SetOptions,
  type Transaction,
  type WhereOptions,
} from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import { isLeftOut } from '../../describe/hooks-and-scopes-internals.js';
import { type AttributeInfo, type ModelInfo, type RecordInfo, versionOf } from '../../describe/model-info.js';
import { unseenOf } from '../../describe/unseen-values.js';
import {
  FAILED_TRANSACTION,
  hasState,
  isMissingColumn,
  isRuledOut,
  MISSING_COLUMN,
} from '../../errors/database-fault.js';
import { notStored } from '../../errors/errors.js';
import type { Access } from '../../operation/access.js';
import type { UpdateOperation } from '../../operation/operation.js';
import { NO_TRIGGERS, reportChangedTable, type TableTriggers, tableTriggers } from '../../postgres/index.js';
import type { Maybe } from '../../util/promises.js';
import { storedAttributes } from '../customization/hydrate-record.js';
import {
  changesFound,
  hasPlainQueries,
  runsCodeAfterInserts,
  runsCodeInWrites,
} from '../customization/plain-queries.js';
import type { WriteValues } from '../sql/encode-parameter.js';
import { quotedTable } from '../sql/sql-fragment.js';
import { countUpdates } from './counted-updates.js';
import { isKeyKnown, keepInserted } from './exact-keys.js';
import { type Pins, pinRow } from './pinned-record.js';

/** Options of the queries of a write. */
export interface WriteOptions {
  readonly hooks?: false;
  readonly transaction?: Transaction;
  readonly useMaster?: boolean;
}

/**
 * A column of every table, which a row that was written has, and a record that was read has not. Sequelize takes names
 * only, so a column of ours is not possible.
 */
const MARK = 'tableoid';

/** Attributes that an UPDATE of a model can return, or null; by the object that Sequelize makes anew with the model. */
const returnable = new WeakMap<object, readonly AttributeInfo[] | null>();

/**
 * Writes values to the row of a record. Sequelize does not report an UPDATE without a row: the row that comes back with it
 * proves it, and shows the work of triggers. Where a row may not be what came back, it is read in the same transaction.
 *
 * @throws InstanceError when the row is gone @throws NotStoredError when the database has left the row out
 */
async function updateRecord<M extends Model>(
  record: M,
  values: Partial<Attributes<M>>,
  options: WriteOptions,
): Promise<M> {
  const model = record.constructor as ModelClass;
  const triggers = await modelTriggers(model, options);
  const returned = returnedAttributes(model, triggers);
  if (!returned) return updateAndRead(record, values, triggers, options);
  const returning = [...returned.map(({ column }) => column), MARK] as (keyof Attributes<M>)[];
  for (const name in values) {
    const value = values[name];
    if (value === undefined) continue;
    const stored = record.dataValues[name as keyof typeof record.dataValues];
    record.set(name, value as M[typeof name]);
    // Sequelize keeps an equal value in the form of the request, such as JSON with its names in another order.
    if (!record.changed(name as keyof M)) record.setDataValue(name as keyof M, stored as M[keyof M]);
  }
  // The same as `update`, which copies the options twice more.
  const fields = (record.changed() || []) as (keyof Attributes<M>)[];
  await markedWrite(model, record.save({ ...options, fields, returning }));
  if (takeRow(record, returned)) return record;
  const isWritten = fields.some((name) => returned.some((each) => each.name === name));
  if (isWritten && triggers.dropped.has('update')) {
    await record.reload(options);
    throw notStored('update');
  }
  if (isWritten) throw new InstanceError('The row of the record is not there any more.');
  // It has been read as it is.
  return fields.length === 0 ? record : record.reload(options);
}

/** Reads the row that an UPDATE has written, in its transaction, where hooks, scopes and triggers may see or make a difference. */
async function updateAndRead<M extends Model>(
  record: M,
  values: Partial<Attributes<M>>,
  { dropped, isPlain }: TableTriggers,
  options: WriteOptions,
): Promise<M> {
  const before = dropped.has('update') ? { ...record.dataValues } : null;
  const updates = countUpdates(record);
  await record.update(values, options);
  const read = await record.reload(options).catch((error: unknown) => {
    // The change of a view may be that of its key, and the row has another one now.
    throw error instanceof InstanceError && !isPlain ? notStored('update') : error;
  });
  // A rule or a view may have changed the row by a statement of another kind, which counts no row.
  if (before && updates.includes(0) && (isPlain || isDeepStrictEqual({ ...read.dataValues }, before)))
    throw notStored('update');
  return read;
}

/**
 * Waits for a write that returns the mark. A view, which has none, may have replaced the table since its triggers were read: they are
 * read again by the next write.
 *
 * @throws ConnectionError for such a view
 */
async function markedWrite({ name, sequelize }: ModelClass, write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isMissingColumn(error, MARK)) throw error;
    if (sequelize) reportChangedTable(sequelize);
    const reason = new Error(
      `A view has replaced the table of ${name}, so that its triggers are read again.`,
    );
    throw new ConnectionError(Object.assign(reason, { code: MISSING_COLUMN }));
  }
}

/** The triggers of the table of a model. */
export function modelTriggers<M extends Model>(
  model: ModelClass<M>,
  options: WriteOptions = { useMaster: true },
): Maybe<TableTriggers> {
  const { sequelize } = model;
  if (!sequelize) return NO_TRIGGERS;
  const query = { ...options, type: QueryTypes.SELECT } as QueryOptionsWithType<QueryTypes.SELECT>;
  return tableTriggers(sequelize, quotedTable(model as unknown as ModelClass), (text, bind) =>
    sequelize.query<object>(text, { ...query, bind }),
  );
}

/**
 * True where the row has to be locked from its reading to its UPDATE. Sequelize writes what differs from the row that it has read: one that was
 * changed in between would be a mixture. A view may have no rows to lock, and a change of nothing waits for nobody.
 */
export async function needsLock<M extends Model>(
  model: ModelClass<M>,
  { set, touch }: UpdateOperation,
  options: WriteOptions,
): Promise<boolean> {
  const isNothing = Object.keys(set).length === 0 && !runsCodeInWrites(model);
  return touch !== undefined || (!isNothing && (await modelTriggers(model, options)).isPlain);
}

/**
 * The attributes of the row that an UPDATE returns. They are null where a query might return another row, or where
 * hooks, scopes and methods of the user's would see the difference. Sequelize counts versions itself, and takes no other.
 */
function returnedAttributes(
  model: ModelClass,
  { hideUpdates, areThere }: TableTriggers,
): readonly AttributeInfo[] | null {
  const isCounted = versionOf(model) !== undefined && areThere;
  if (hideUpdates || isCounted || !hasPlainQueries(model, 'write')) return null;
  const rawAttributes = model.getAttributes();
  if (!returnable.has(rawAttributes)) {
    returnable.set(rawAttributes, distinctAttributes(describeRecords(model)));
  }
  return returnable.get(rawAttributes) ?? null;
}

/**
 * The stored attributes of a model; null where a row that comes back could be misread. Sequelize takes a column that is
 * called as another attribute for that one.
 */
function distinctAttributes(info: ModelInfo): readonly AttributeInfo[] | null {
  const { attributes } = info;
  const all = [...attributes.values()];
  const columns = all.map(({ column }) => column);
  const isDistinct =
    new Set([...columns, MARK]).size === columns.length + 1 &&
    !attributes.has(MARK) &&
    !all.some((each) => isMisread(each, info));
  return isDistinct ? storedAttributes(info) : null;
}

function isMisread({ name, column }: AttributeInfo, { attributes }: ModelInfo): boolean {
  return column !== name && attributes.has(column);
}

/** Replaces the values of a record with the returned row, as `reload` does. @returns false where no row was returned */
function takeRow(record: Model, returned: readonly AttributeInfo[]): boolean {
  const dataValues: Readonly<Record<string, unknown>> = record.dataValues;
  if (!Object.hasOwn(dataValues, MARK)) return false;
  const row = Object.fromEntries(returned.map(({ name }) => [name, dataValues[name]]));
  record.set(row, { raw: true, reset: true });
  return true;
}

/**
 * True where Sequelize takes other values than those of the new row: a version that a trigger sets, a column with the name of another
 * attribute, and values that a trigger or code of the user's writes afterwards, or changes in all that is read. The row is read in the
 * same transaction then.
 */
export async function needsReadingAnew<M extends Model>(
  model: ModelClass<M>,
  options?: WriteOptions,
): Promise<boolean> {
  const info = describeRecords(model as unknown as ModelClass);
  if ([...info.attributes.values()].some((each) => isMisread(each, info))) return true;
  if (runsCodeAfterInserts(model) || changesFound(model)) return true;
  const { hideInserts, changeInserts } = await modelTriggers(model, options);
  return hideInserts || (changeInserts && versionOf(model) !== undefined);
}

/** Inserts a row. @param pins values of its scope @throws NotStoredError where the table leaves it out */
export async function insertRecord<M extends Model>(
  model: ModelClass<M>,
  row: CreationAttributes<M>,
  options: WriteOptions,
  pins: Pins,
): Promise<M> {
  try {
    const created = await model.create(row, options);
    const info = describeRecords(created.constructor as ModelClass);
    const record = await keepInserted(info, created, row, options);
    if (!isKeyKnown(info, record) || !(await needsReadingAnew(model, options))) return record;
    return await readAnew(info, record, options, pins);
  } catch (error) {
    const isEmpty = error instanceof EmptyResultError;
    const isDropped = isEmpty && (await modelTriggers(model, options)).dropped.has('insert');
    throw isDropped || isRuledOut(error) ? notStored('insert') : error;
  }
}

/**
 * Reads the row of a new record, also where a scope leaves it out. The record stays as it was inserted where there is none: a view may show
 * none of the rows that it takes, and a trigger may have moved the row. Attributes that a scope leaves out, or a hook has removed, stay
 * as they are. Others that a hook of reads has removed are removed.
 */
async function readAnew<M extends Model>(
  info: RecordInfo,
  record: M,
  options: WriteOptions,
  pins: Pins,
): Promise<M> {
  // By the milliseconds of a moment in its key, Sequelize would read another row.
  const release = pinRow(info, record, pins, () => undefined);
  try {
    const where = record.where() as WhereOptions;
    const model = record.constructor as ModelClass<M>;
    const reading = model.unscoped().findOne({ ...options, where, paranoid: false });
    const found = await reading.catch((error: unknown) => {
      // A hook has caught an error of the transaction, which the commit reports.
      if (hasState(error, FAILED_TRANSACTION)) return null;
      throw error;
    });
    if (!found) return record;
    const { dataValues }: { readonly dataValues: Record<string, unknown> } = record;
    const isHooked = runsCodeAfterInserts(model);
    const isKept = (name: string) => isLeftOut(model, name) || (isHooked && dataValues[name] === undefined);
    const values = { ...dataValues };
    for (const { name } of storedAttributes(info)) if (!isKept(name)) delete values[name];
    const read = Object.entries(found.dataValues).filter(([name]) => !isKept(name));
    record.set({ ...values, ...Object.fromEntries(read) }, { raw: true, reset: true } as SetOptions);
    return record;
  } finally {
    release();
  }
}

/**
 * Writes values to the row of a record. Those that no answer shows the request count as changed, so that nothing shows that the row had them;
 * so does a row that is touched.
 */
export function updateUnseen<M extends Model>(
  record: M,
  { set: values, touch }: Pick<UpdateOperation, 'set' | 'touch'>,
  { form }: Access,
  options: WriteOptions,
): Promise<M> {
  for (const name of unseenOf(record.constructor, form.unreadable) ?? [])
    if (values[name] !== undefined) record.changed(name as keyof M, true);
  const version = touch === 'change' ? versionOf(record.constructor as ModelClass) : undefined;
  if (version === undefined) return updateRecord(record, values as Partial<Attributes<M>>, options);
  // Sequelize writes attributes that count as changed, and are among the values.
  record.changed(version as keyof M, true);
  const state = (record.dataValues as WriteValues)[version];
  return updateRecord(record, { ...values, [version]: state } as Partial<Attributes<M>>, options);
}
