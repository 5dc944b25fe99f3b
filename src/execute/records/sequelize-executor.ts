/** Records of a model through Sequelize, with its hooks, scopes, validations and soft deletes. */

import {
  type Attributes,
  type CreationAttributes,
  type DestroyOptions,
  type FindOptions,
  InstanceError,
  type Model,
  Op,
  OptimisticLockError,
  type OrderItem,
  Transaction,
  type WhereOptions,
} from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeAddressed, describeRecords } from '../../describe/describe-model.js';
import { holdingScope, inParentheses } from '../../describe/hooks-and-scopes-internals.js';
import { type RecordInfo, versionOf } from '../../describe/model-info.js';
import { keyText, valuesOfId } from '../../describe/row-key.js';
import { destroyingBy, findingGone } from '../../describe/sequelize-internals.js';
import { isKeyTrusted } from '../../describe/table-facts.js';
import { severalRecords } from '../../errors/errors.js';
import type { PurgeOptions } from '../../features/soft-delete/restore-and-purge.js';
import {
  checkedCount,
  destroyRecord,
  liveRows,
  momentOf,
  restoreRecord,
} from '../../features/soft-delete/sequelize-deletion.js';
import { type Access, type AccessSource, presetOf } from '../../operation/access.js';
import type { ListOperation, Operation, ReadOperation, UpdateOperation } from '../../operation/operation.js';
import { allOf, bindTexts } from '../../operation/predicates.js';
import type { RowWrite } from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { without } from '../../util/without.js';
import { storedAttributes } from '../customization/hydrate-record.js';
import {
  deletesAlong,
  destroysRecords,
  hasDestroyHooks,
  hasFindHooks,
  hookOptions,
  openTest,
} from '../customization/plain-queries.js';
import { type Executor, whyUnwritten } from '../executor.js';
import { findPage } from '../page.js';
import type { WriteValues } from '../sql/encode-parameter.js';
import type { Slots } from '../sql/statement.js';
import { exactly, idOfRecord, keepExact, selectIds } from './exact-keys.js';
import { GuardedRow } from './guarded-record.js';
import {
  leavingToTable,
  type Pins,
  pinned,
  pinningModel,
  pinRow,
  resetVersion,
  startVersion,
  unpin,
} from './pinned-record.js';
import {
  type FindWords,
  type FoundRecords,
  foundAll,
  foundOne,
  type QueryContext,
  type RecordCall,
} from './repository-operations.js';
import { type FinderCriteria, RowFinder } from './row-finder.js';
import { checkReferences } from './scoped-values.js';
import { firstRows, keepingOurs, queryOf, rowsOf, type SequelizeRows, withKeys } from './sequelize-rows.js';
import { insertRecord, modelTriggers, needsLock, updateUnseen, type WriteOptions } from './update-record.js';

type Rows<M extends Model> = WhereOptions<Attributes<M>>;

type TransactionOption = Pick<WriteOptions, 'transaction' | 'useMaster'>;

/** Runs operations with Sequelize's own queries. */
export class SequelizeExecutor<M extends Model> implements Executor<FoundRecords<M>, RecordCall<M>> {
  readonly #model: ModelClass<M>;
  readonly #isKeyTrusted: boolean;
  readonly #access: Access;
  readonly #source: AccessSource | null;
  readonly #info: RecordInfo;

  constructor(model: ModelClass<M>, { access, source, address }: Omit<QueryContext, 'scope'>) {
    this.#model = model;
    this.#info = describeAddressed(model as unknown as ModelClass, address);
    this.#isKeyTrusted = isKeyTrusted(this.#info);
    this.#access = access;
    this.#source = source;
  }

  /** True where the row of a write is read again, and the write is undone where code of the user's moved the row. */
  get provesWrites(): boolean {
    const isKept = this.#access.values().size > 0 || (this.#source?.keys ?? []).length > 0;
    return isKept && !openTest(describeRecords(this.#model as unknown as ModelClass), 'create', true)();
  }

  async run(
    operation: Operation,
    slots: Slots,
    { id, where, find, purge, on: _, ...options }: RecordCall<M>,
  ): Promise<FoundRecords<M>> {
    if (operation.kind === 'insert') return foundOne(await this.#insert(operation.row, options));
    if (operation.kind === 'replace') throw new TypeError('Records are replaced by an update or a create.');
    const rows = {
      ...rowsOf(this.#model, operation.where, slots),
      where: id === undefined ? where : this.#byId(id),
    };
    switch (operation.kind) {
      case 'read':
        return foundOne(await this.#read(operation, rows, options));
      case 'list':
        return find ? this.#findAll(rows, find, options) : this.#list(operation, slots, rows, options);
      case 'update':
        return foundOne(
          await (operation.differs ? this.#restore(rows, options) : this.#update(rows, operation, options)),
        );
      case 'delete':
        return purge ? this.#purge(rows, purge, options) : foundAll([], await this.#delete(rows, options));
    }
  }

  async #findAll(rows: SequelizeRows<M>, find: FindWords<M>, scope: TransactionOption) {
    const { where, ...options } = find;
    const order = this.#info.primaryKey.map(({ name }): OrderItem => [name, 'ASC']);
    const query = { order, ...options, ...queryOf(this.#info, { ...rows, where }), ...scope };
    const found = await keepingOurs(this.#model).findAll(exactly(this.#info, query));
    return foundAll(found.map((each) => keepExact(this.#info, each)));
  }

  /** Locks the rows that match, deleted ones too if the operation includes them, and returns their addresses in the order of their keys. */
  async lockKeys(
    filter: Predicate,
    limit: number,
    scope: TransactionOption,
    isGoneToo = false,
  ): Promise<readonly unknown[]> {
    const { primaryKey, address } = this.#info;
    const { where, slots } = this.#access;
    const within = bindTexts(allOf(filter, where, isGoneToo ? null : liveRows(this.#info)), slots);
    const finder = this.#finder({ within, ...(isGoneToo ? { paranoid: false } : {}) }, [], scope);
    // Hooks may read all of a record.
    const few = { attributes: [...new Set([...primaryKey, ...address].map(({ name }) => name))] };
    const attributes = hasFindHooks(this.#model) ? {} : few;
    return selectIds(finder, this.#info, address, { ...attributes, ...this.#lock, limit });
  }

  /** Removes rows that were marked before a moment, by key, but for those that something else is changing. */
  async #purge(
    all: SequelizeRows<M>,
    { before, limit }: Required<PurgeOptions>,
    options: WriteOptions,
  ): Promise<FoundRecords<M>> {
    const { primaryKey } = this.#info;
    const old = { [momentOf(this.#info)]: { [Op.lt]: before } };
    const rows = { ...all, where: old as Rows<M> };
    const finder = this.#finder(rows, [], options);
    const locked = { attributes: primaryKey.map(({ name }) => name), limit, ...this.#lock, skipLocked: true };
    const keys = await selectIds(finder, this.#info, primaryKey, locked);
    if (keys.length === 0) return foundAll([], 0);
    const gone = { ...rows, where: { ...old, ...withKeys(primaryKey, keys) } as Rows<M> };
    return { ...foundAll([], await this.#destroy(gone, options)), keys };
  }

  #read(
    { isLocked, select: { columns } }: ReadOperation,
    rows: SequelizeRows<M>,
    options: WriteOptions,
  ): Promise<M | null> {
    // Sequelize's own choice of all attributes is that of a scope, and of hooks.
    const attributes =
      columns.length === storedAttributes(this.#info).length ? {} : { attributes: [...columns] };
    const lock = isLocked ? this.#lock : {};
    return this.#find(rows, { ...attributes, ...lock, ...hookOptions(this.#model, 'read'), ...options });
  }

  async #list(
    operation: ListOperation,
    slots: Slots,
    rows: SequelizeRows<M>,
    scope: TransactionOption,
  ): Promise<FoundRecords<M>> {
    const info = { ...this.#info, model: this.#model as unknown as ModelClass };
    const first = firstRows(info, operation, slots, rows.where !== undefined);
    const page = await findPage(this.#finder({ ...rows, first }, operation.order, scope), operation);
    return { ...foundAll(page.items), page };
  }

  async #insert(values: WriteValues, options: WriteOptions): Promise<M> {
    await checkReferences(this.#info, this.#access, values, options);
    // Narrower than the type that Sequelize takes, which the compiler cannot infer as long as M is open.
    const row = values as CreationAttributes<M>;
    const { model, options: left } = leavingToTable(this.#model, this.#info, values);
    const whole = { ...options, ...left };
    const pins = this.#pinsOf(values);
    if (!this.provesWrites) return insertRecord(model, row, whole, pins);
    const record = await insertRecord(pinningModel(model, pins), row, whole, pins);
    // Its references are checked already, and its scope is not.
    return this.#prove(record, without(values, [...pins.keys()]), pins, options);
  }

  /** @throws NotFoundError @throws ConcurrentModificationError */
  async #update(rows: SequelizeRows<M>, change: UpdateOperation, options: WriteOptions): Promise<M> {
    const isLocked = await needsLock(this.#model, change, options);
    const record = await this.#find(rows, { ...options, ...(isLocked ? this.#lockIn(options) : {}) });
    if (!record) throw whyUnwritten({ info: this.#info }, null);
    await checkReferences(this.#info, this.#access, change.set, options, record);
    return this.#change(rows, record, options, (each) => updateUnseen(each, change, this.#access, options));
  }

  /** @returns how many there were @throws NotFoundError @throws NotDeletedError */
  async #delete(rows: SequelizeRows<M>, options: WriteOptions): Promise<number> {
    if (rows.paranoid === false) await this.#findMarked(rows, options);
    // Code of the user's would run for each of several.
    else if (this.#isKeyTrusted) await this.#find(rows, options);
    const count = await this.#destroy(rows, options);
    if (count > 1) this.#several();
    return count;
  }

  /** @throws NotFoundError @throws NotDeletedError @throws ConcurrentModificationError */
  async #restore(rows: SequelizeRows<M>, options: WriteOptions): Promise<M> {
    const { before: _, ...after } = rows;
    const found = await this.#findMarked(rows, options);
    const write = async (record: M) => {
      await restoreRecord(record, this.#info, options);
      await this.#checkGone(rows, 'update', options);
      return record.reload(options);
    };
    return this.#change(after, found, options, write);
  }

  /** The record of a row that a soft delete has marked, which nothing else may change until the transaction has ended. */
  async #findMarked(rows: SequelizeRows<M>, options: WriteOptions): Promise<M> {
    const hooks = hookOptions(this.#model, 'read');
    const record = await this.#find(rows, { ...this.#lockIn(options), ...hooks, ...options });
    if (record) return record;
    const alive = await this.#find({ where: rows.where, within: rows.within }, { ...hooks, ...options });
    throw whyUnwritten({ info: this.#info, endpoint: 'restore' }, alive && { isDeleted: false });
  }

  /** @throws NotStoredError where a row is there as before its write, and the table may leave it out @throws NotFoundError */
  async #checkGone(rows: SequelizeRows<M>, write: RowWrite, options: WriteOptions): Promise<void> {
    const dropped = (await this.#mayDrop(write, options)) && write;
    if (!dropped && !(write === 'delete' && deletesAlong(this.#model))) return;
    const found = await keepingOurs(this.#model).findOne({ ...queryOf(this.#info, rows), ...options });
    if (found) throw whyUnwritten({ info: this.#info }, dropped ? { dropped } : null);
  }

  async #mayDrop(write: RowWrite, options: WriteOptions): Promise<boolean> {
    return (await modelTriggers(this.#model, options)).dropped.has(write);
  }

  async #destroy(rows: SequelizeRows<M>, options: WriteOptions): Promise<number> {
    const count = checkedCount(this.#model, await this.#destroyRows(rows, options));
    const isMarked = this.#info.softDelete !== null && rows.paranoid !== false;
    await this.#checkGone(rows, isMarked ? 'update' : 'delete', options);
    return count;
  }

  /** The static form reports how many there were; the instance's does not where it only marks rows. */
  #destroyRows(rows: SequelizeRows<M>, options: WriteOptions): Promise<number> {
    const isForced = rows.paranoid === false;
    const isEach = destroysRecords(this.#model, isForced);
    const model = holdingScope(this.#model);
    const { paranoid: _, ...where } = queryOf(this.#info, rows, isEach ? 'select' : 'other');
    const asked = { ...where, ...(isForced ? { force: true } : {}), ...options };
    if (isEach) {
      // Records of other models may have hooks where this one has none.
      const { hooks: _, ...whole } = asked;
      const each = (changed: DestroyOptions) => this.#destroyEach(rows, options, changed);
      return destroyingBy(model, each).destroy(whole);
    }
    const individualHooks = hasDestroyHooks(this.#model);
    return (isForced ? findingGone(model) : model).destroy({ ...asked, individualHooks });
  }

  /** @param changed the options, with the changes of hooks */
  async #destroyEach(
    rows: SequelizeRows<M>,
    options: WriteOptions,
    changed: StatementOptions,
  ): Promise<number> {
    const { where: asked, individualHooks: _each, type: _type, model: _model, ...own } = changed;
    // A hook may have put another condition in the place of that of the rows.
    const parts = [inParentheses(asked ?? {}), rows.where ?? {}];
    const both = { ...rows, where: { [Op.and]: parts } as Rows<M> };
    const query = { ...this.#lockIn(options), ...options, ...queryOf(this.#info, both) };
    const found = await keepingOurs(this.#model).findAll(exactly(this.#info, query));
    const destroy = (record: M) => destroyRecord(record, this.#info, own).then(() => record);
    const { primaryKey } = this.#info;
    const byKey = (record: M) => ({ ...rows, where: this.#byId(idOfRecord(primaryKey, record), primaryKey) });
    for (const record of found.map((each) => keepExact(this.#info, each)))
      await this.#change(byKey(record), record, options, destroy);
    return found.length;
  }

  /** Writes to the row of a record, which stays within the access of the request. */
  async #change(
    rows: SequelizeRows<M>,
    record: M,
    options: WriteOptions,
    write: (record: M) => Promise<M>,
  ): Promise<M> {
    const before: WriteValues = { ...record.dataValues };
    const pins = this.#pinsOf(before);
    const release = this.#keepWithin(rows, record, pins);
    try {
      if (!this.provesWrites) return await write(record);
      return await this.#prove(await write(pinned(record, pins)), before, pins, options);
    } catch (error) {
      // A row that is not found afterwards may have been moved.
      if (error instanceof InstanceError && this.provesWrites)
        await this.#prove(record, before, pins, options);
      if (error instanceof InstanceError) throw whyUnwritten({ info: this.#info }, null);
      if (error instanceof OptimisticLockError) return this.#conflict(rows, record, options);
      throw error;
    } finally {
      release();
    }
  }

  async #prove(record: M, before: WriteValues | null, pins: Pins, options: WriteOptions): Promise<M> {
    const { transaction } = options;
    const guarded = this.#source && transaction && new GuardedRow(record, this.#source, this.#access);
    unpin(record, pins, guarded ? await guarded.check(before, transaction) : null);
    return record;
  }

  /** @returns a function that ends it */
  #keepWithin({ within, paranoid }: SequelizeRows<M>, record: M, pins: Pins): () => void {
    const seen = allOf(within, paranoid === false ? null : liveRows(this.#info));
    const state = startVersion(record);
    const release = pinRow(this.#info, record, pins, (byKey) => {
      const rows = { where: { ...byKey, ...state } as Rows<M>, within: seen };
      return queryOf(this.#info, rows, 'other').where;
    });
    return () => {
      release();
      resetVersion(record);
    };
  }

  /** Scoped attributes of a row, with the values that it keeps. */
  #pinsOf(values: WriteValues): Pins {
    const names = [...this.#access.values().keys()];
    return new Map(names.map((name) => [name, values[name] ?? presetOf(this.#access, name)]));
  }

  #finder(rows: FinderCriteria<M>, order: readonly SortTerm[], scope: TransactionOption): RowFinder<M> {
    return new RowFinder(this.#model, { ...rows, order }, { ...hookOptions(this.#model, 'read'), ...scope });
  }

  async #find(rows: SequelizeRows<M>, options: WriteOptions & FindOptions): Promise<M | null> {
    const query = exactly(this.#info, { ...queryOf(this.#info, rows), ...options });
    const model = keepingOurs(this.#model);
    const found = this.#isKeyTrusted
      ? await model.findAll({ ...query, limit: 2 })
      : [await model.findOne(query)];
    const [record = null, second] = found;
    if (second) return this.#several();
    return record && keepExact(this.#info, record);
  }

  #byId(id: unknown, key = this.#info.address): Rows<M> {
    return valuesOfId(key, id) as Rows<M>;
  }

  #lockIn({ transaction }: WriteOptions) {
    return transaction ? this.#lock : {};
  }

  /** The lock of this table only: a scope may join others. */
  get #lock() {
    return { lock: { level: Transaction.LOCK.NO_KEY_UPDATE, of: this.#model } };
  }

  /** A version that no longer matches means that the row was changed, or that it is gone. */
  async #conflict(rows: SequelizeRows<M>, record: M, options: WriteOptions): Promise<never> {
    const found = await this.#find(rows, options);
    const version = versionOf(this.#info.model) ?? '';
    const isSame = found?.dataValues[version] === record.previous(version as keyof Attributes<M>);
    const dropped = isSame && (await this.#mayDrop('update', options)) && 'update';
    throw whyUnwritten({ info: this.#info }, found && { dropped, isOutrun: true });
  }

  #several(): never {
    throw severalRecords({ name: this.#model.name, key: keyText(this.#info.address) });
  }
}

/** Options of a bulk destroy, with the members that Sequelize adds for its statement. */
type StatementOptions = DestroyOptions & { readonly type?: unknown; readonly model?: unknown };
