/** Records of a model through Sequelize, with its hooks, scopes, validations and soft deletes. */

import {
  type Attributes,
  type CreationAttributes,
  type DestroyOptions,
  type FindOptions,
  InstanceError,
  literal,
  type Model,
  Op,
  OptimisticLockError,
  type OrderItem,
  Transaction,
  type WhereOptions,
} from 'sequelize';
import { describeRecords } from '../../compile/describe-model.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { versionOf } from '../../describe/attribute-notes.js';
import { destroyingBy, findingGone } from '../../describe/sequelize-internals.js';
import { isKeyTrusted } from '../../describe/table-facts.js';
import {
  ConcurrentModificationError,
  noSuchRecord,
  notDeleted,
  notStored,
  severalRecords,
} from '../../errors/errors.js';
import { type Access, type AccessSource, presetOf } from '../../operation/access.js';
import { countOf } from '../../operation/count.js';
import { bindTexts } from '../../operation/predicates.js';
import type { RowWrite } from '../../postgres/index.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { Filter, Predicate } from '../../request/query/predicate.js';
import { without } from '../../util/without.js';
import {
  destroysRecords,
  hasDestroyHooks,
  hasFindHooks,
  hookOptions,
} from '../customization/plain-queries.js';
import { findCursorPage } from '../paging/find-cursor-page.js';
import { findOffsetPage } from '../paging/find-offset-page.js';
import type { ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest, RowCriteria } from '../paging/page.js';
import type { PurgeOptions } from '../paging/purge-options.js';
import type { WriteValues } from '../rows/encode-rows.js';
import { goneSql, markOf, withGone } from '../sql/deleted-sql.js';
import { attributeOf, type ColumnSql, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { boundText, columnName, joinSql, quoteText, renderSql, sql } from '../sql/sql-fragment.js';
import { GuardedRow } from './guarded-record.js';
import { keysetRecordSource } from './keyset-record-source.js';
import { leavingToTable } from './left-to-table.js';
import {
  aliveCondition,
  type Pins,
  pinned,
  pinningModel,
  pinRow,
  resetVersion,
  startVersion,
  unpin,
} from './pinned-record.js';
import { bothHold, RowFinder } from './row-finder.js';
import type { Id, KeyOptions } from './row-records.js';
import { checkReferences } from './scoped-values.js';
import { updateUnseen } from './unseen-changes.js';
import { insertRecord, isPlainWrite, modelTriggers, needsLock, type WriteOptions } from './update-record.js';

/** A condition on rows. */
type Rows<M extends Model> = WhereOptions<Attributes<M>>;

/** The transaction of a query, as an option. */
type TransactionOption = Pick<WriteOptions, 'transaction'>;

/** The records of one model that a request may see. */
export class SequelizeRecords<M extends Model> {
  readonly #model: ModelClass<M>;
  readonly #isKeyTrusted: boolean;
  readonly #access: Access;
  readonly #source: AccessSource | null;
  /** The condition of the request, with its texts; null is every row. */
  readonly #within: Predicate | null;

  /** @param source where the access is from; null is everything */
  constructor(model: ModelClass<M>, access: Access, source: AccessSource | null) {
    const { where, slots } = access;
    this.#model = model;
    this.#isKeyTrusted = isKeyTrusted(model as unknown as ModelClass);
    this.#access = access;
    this.#source = source;
    this.#within = where && bindTexts(where, slots);
  }

  /** True where the row of a write is read again, and the write is undone where code of the user's moved the row. */
  get provesWrites(): boolean {
    const isKept = this.#access.values().size > 0 || (this.#source?.keys ?? []).length > 0;
    return isKept && !isPlainWrite(this.#model);
  }

  /** The record with this key, or null. */
  find(id: Id, { fields, isLocked, deleted }: KeyOptions, scope: TransactionOption): Promise<M | null> {
    const attributes = fields ? { attributes: [...fields] } : {};
    const lock = isLocked ? this.#lock : {};
    const options = { ...attributes, ...lock, ...hookOptions(this.#model, 'read'), ...scope };
    return this.#findByKey(id, options, deleted);
  }

  /** All records that match. */
  list({ deleted, ...options }: ListOptions<M>, scope: TransactionOption): Promise<M[]> {
    const order: OrderItem[] = [[this.#model.primaryKeyAttribute, 'ASC']];
    const where = this.#where(options.where, this.#aliased, deleted);
    const seen = { ...scope, ...withGone(this.#info, deleted) };
    return this.#model.findAll({ order, ...options, ...(where ? { where } : {}), ...seen });
  }

  /** One page by number. */
  page(request: PageRequest<M>, scope: TransactionOption): Promise<OffsetPage<M>> {
    return findOffsetPage(this.#finder(request, scope), request, countOf(request, 'exact'));
  }

  /** One page next to a place. */
  async cursorPage(request: CursorPageRequest<M>, scope: TransactionOption): Promise<CursorPage<M>> {
    const source = keysetRecordSource(this.#finder(request, scope));
    const page = await findCursorPage(source, request, countOf(request, 'none'));
    return { ...page, items: page.items.map(({ record }) => record) };
  }

  /** The keys of the rows that match, in their order, which nothing else may change until the transaction has ended. */
  async lockKeys(filter: Filter, limit: number, scope: TransactionOption): Promise<readonly unknown[]> {
    const key = this.#model.primaryKeyAttribute;
    const finder = this.#finder({ filter, sort: [{ attribute: key, descending: false }] }, scope);
    const lock = { level: Transaction.LOCK.UPDATE, of: this.#model };
    // Hooks may look at all of a record.
    const attributes = hasFindHooks(this.#model) ? {} : { attributes: [key] };
    const records = await finder.find(finder.terms(), null, { ...attributes, limit, lock });
    return records.map(({ dataValues }) => (dataValues as Readonly<Record<string, unknown>>)[key]);
  }

  /** Inserts a row. */
  async create(values: WriteValues, options: WriteOptions): Promise<M> {
    await checkReferences(this.#info, this.#access, values, options);
    // Narrower than what Sequelize takes, which the compiler cannot tell as long as M is open.
    const row = values as CreationAttributes<M>;
    const { model, options: left } = leavingToTable(this.#model, this.#info, values);
    const whole = { ...options, ...left };
    if (!this.provesWrites) return insertRecord(model, row, whole);
    const pins = this.#pinsOf(values);
    const record = await insertRecord(pinningModel(model, pins), row, whole);
    // Its references have been looked at, and its scope is still to be.
    return this.#prove(record, without(values, [...pins.keys()]), pins, options);
  }

  /** Changes a row. @throws NotFoundError @throws ConcurrentModificationError */
  async update(id: Id, values: WriteValues, options: WriteOptions): Promise<M> {
    const isLocked = options.transaction && (await needsLock(this.#model, this.provesWrites, options));
    const lock = isLocked ? this.#lock : {};
    const found = await this.#findByKey(id, { ...options, ...lock });
    if (!found) return this.#missing();
    await checkReferences(this.#info, this.#access, values, options);
    return this.#change(id, found, options, (each) => updateUnseen(each, values, this.#access, options));
  }

  /** Deletes a row; how many there were. */
  async delete(id: Id, options: WriteOptions): Promise<number> {
    // Code of the user's would run for each of several.
    if (this.#isKeyTrusted) await this.#findByKey(id, options);
    const count = await this.#destroy(this.#byId(id), options);
    if (count > 1) this.#several();
    return count;
  }

  /** Brings a soft-deleted row back. @throws NotFoundError @throws NotDeletedError @throws ConcurrentModificationError */
  async restore(id: Id, options: WriteOptions): Promise<M> {
    const found = await this.findDeleted(id, options);
    const write = async (record: M) => {
      await record.restore(options);
      return record.reload(options).catch(async (error: unknown) => {
        if (error instanceof InstanceError) await this.#checkGone(this.#byId(id), 'update', options, 'only');
        throw error;
      });
    };
    return this.#change(id, found, options, write, 'with');
  }

  /** Removes a soft-deleted row. @throws NotFoundError @throws NotDeletedError */
  async purge(id: Id, options: WriteOptions): Promise<number> {
    await this.findDeleted(id, options);
    return this.#destroy(this.#byId(id), options, 'only');
  }

  /** Removes rows that were soft-deleted before a moment, by key, but for those that something else is changing; how many. */
  async purgeBefore({ before, limit }: Required<PurgeOptions>, options: WriteOptions): Promise<number> {
    const { primaryKeyAttribute: key } = this.#model;
    const old = { [markOf(this.#info)]: { [Op.lt]: before } };
    const where = old as Rows<M>;
    const finder = new RowFinder(this.#model, { where, deleted: 'only' }, options, this.#within);
    const locked = { ...this.#lock, skipLocked: true };
    const found = await finder.find(finder.terms(), null, { attributes: [key], limit, ...locked });
    if (found.length === 0) return 0;
    const keys = found.map(({ dataValues }) => dataValues[key]);
    return this.#destroy({ ...old, [key]: keys } as Rows<M>, options, 'only');
  }

  /** The record of a soft-deleted row, which nothing else may change until the transaction has ended. */
  async findDeleted(id: Id, options: WriteOptions): Promise<M> {
    const isLocked = options.transaction !== undefined;
    const record = await this.find(id, { isLocked, deleted: 'only' }, options);
    if (record) return record;
    if (await this.find(id, { isLocked: false }, options)) throw notDeleted(this.#model);
    return this.#missing();
  }

  /** @throws NotStoredError where a row is there as before its write, and the table may leave it out */
  async #checkGone(rows: Rows<M>, write: RowWrite, options: WriteOptions, deleted?: Deleted): Promise<void> {
    if (!(await this.#mayDrop(write, options))) return;
    const where = this.#where(rows, this.#aliased, deleted) ?? rows;
    if (await this.#model.findOne({ where, ...options, ...withGone(this.#info, deleted) }))
      throw notStored(write);
  }

  async #mayDrop(write: RowWrite, options: WriteOptions): Promise<boolean> {
    return (await modelTriggers(this.#model, options)).dropped.has(write);
  }

  async #destroy(rows: Rows<M>, options: WriteOptions, deleted?: 'only'): Promise<number> {
    const count = await this.#destroyRows(rows, options, deleted);
    const isMarked = this.#model.options.paranoid === true && deleted === undefined;
    await this.#checkGone(rows, isMarked ? 'update' : 'delete', options, deleted);
    return count;
  }

  /** The static form reports how many there were; the instance's does not where it only marks rows. */
  #destroyRows(rows: Rows<M>, options: WriteOptions, deleted?: 'only'): Promise<number> {
    const where = this.#where(rows, this.#bare, deleted);
    const asked = { ...(where ? { where } : {}), ...(deleted ? { force: true } : {}), ...options };
    if (destroysRecords(this.#model, deleted === 'only')) {
      // Records of other models may have hooks where this one has none.
      const { hooks: _, ...whole } = asked;
      const each = (changed: DestroyOptions) => this.#destroyEach(rows, options, changed, deleted);
      return destroyingBy(this.#model, each).destroy(whole);
    }
    const model = deleted ? findingGone(this.#model) : this.#model;
    return model.destroy({ ...asked, individualHooks: hasDestroyHooks(this.#model) });
  }

  /** @param changed the options, with what hooks have made of them */
  async #destroyEach(
    rows: Rows<M>,
    options: WriteOptions,
    changed: StatementOptions,
    deleted?: 'only',
  ): Promise<number> {
    const { where, individualHooks: _each, type: _type, model: _model, ...own } = changed;
    const aliased = { ...where, ...this.#where(rows, this.#aliased, deleted) } as Rows<M>;
    const query = { where: aliased, ...this.#lock, ...options, ...withGone(this.#info, deleted) };
    const found = await this.#model.findAll(query);
    const destroy = async (record: M) => {
      await record.destroy(own);
      return record;
    };
    const { primaryKeyAttribute: key } = this.#model;
    for (const record of found) {
      await this.#change(record.dataValues[key], record, options, destroy, deleted);
    }
    return found.length;
  }

  /** Writes to the row of a record, which stays within the access of the request. */
  async #change(
    id: Id,
    record: M,
    options: WriteOptions,
    write: (record: M) => Promise<M>,
    deleted?: Deleted,
  ): Promise<M> {
    const before: WriteValues = { ...record.dataValues };
    const pins = this.#pinsOf(before);
    const release = this.#keepWithin(record, pins, deleted);
    try {
      if (!this.provesWrites) return await write(record);
      return await this.#prove(await write(pinned(record, pins)), before, pins, options);
    } catch (error) {
      // A row that is not found afterwards may have been moved.
      if (error instanceof InstanceError && this.provesWrites)
        await this.#prove(record, before, pins, options);
      if (error instanceof InstanceError) return this.#missing();
      if (error instanceof OptimisticLockError) return this.#conflict(id, record, options, deleted);
      throw error;
    } finally {
      release();
    }
  }

  /** Looks at the row of a record once it is written. */
  async #prove(record: M, before: WriteValues | null, pins: Pins, options: WriteOptions): Promise<M> {
    const { transaction } = options;
    const row =
      this.#source && transaction
        ? await new GuardedRow(record, this.#source, this.#access).check(before, transaction)
        : null;
    unpin(record, pins, row);
    return record;
  }

  /** @returns what ends it */
  #keepWithin(record: M, pins: Pins, deleted: Deleted | undefined): () => void {
    const state = { ...(deleted ? {} : aliveCondition(this.#model)), ...startVersion(record) };
    const release = pinRow(this.#info, record, pins, (byKey) =>
      this.#where({ ...byKey, ...state } as Rows<M>, this.#bare),
    );
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

  #finder(criteria: RowCriteria<M>, scope: TransactionOption): RowFinder<M> {
    const options = { ...hookOptions(this.#model, 'read'), ...scope };
    return new RowFinder(this.#model, criteria, options, this.#within);
  }

  async #findByKey(id: Id, options: WriteOptions & FindOptions, deleted?: Deleted): Promise<M | null> {
    const where = this.#where(this.#byId(id), this.#aliased, deleted);
    const query = { ...(where ? { where } : {}), ...options, ...withGone(this.#info, deleted) };
    return this.#isKeyTrusted ? this.#findOnly(query) : this.#model.findOne(query);
  }

  /** @throws MultipleResultsFound where there are several */
  async #findOnly(query: FindOptions): Promise<M | null> {
    const [record = null, second] = await this.#model.findAll({ ...query, limit: 2 });
    return second ? this.#several() : record;
  }

  #byId(id: Id): Rows<M> {
    return { [this.#model.primaryKeyAttribute]: id } as Rows<M>;
  }

  /** A condition, that of the request and that of soft-deleted rows, all of which must hold. */
  #where(where: Rows<M> | undefined, column: ColumnSql, deleted?: Deleted): Rows<M> | undefined {
    const gone = goneSql(this.#info, column, deleted);
    const within = this.#within ? compilePredicate(this.#within, column) : gone;
    if (!within) return where;
    const condition = gone && within !== gone ? joinSql([sql`(${within})`, gone], ' AND ') : within;
    const text = renderSql(condition, (value) => quoteText(boundText(value)));
    return bothHold(where, literal(`(${text})`));
  }

  /** Of this table only: a scope may join others. */
  get #lock() {
    return { lock: { level: Transaction.LOCK.UPDATE, of: this.#model } };
  }

  /** Columns in a SELECT, where Sequelize gives the table the model's name. */
  readonly #aliased: ColumnSql = (name) => columnsOf(this.#info, this.#info.name)(name);

  /** Columns in a DELETE, which has no alias. */
  readonly #bare: ColumnSql = (name) => columnName(attributeOf(this.#info, name));

  get #info() {
    return describeRecords(this.#model as unknown as ModelClass);
  }

  /** A version that no longer matches means that the row was changed, or that it is gone. */
  async #conflict(id: Id, record: M, options: WriteOptions, deleted?: Deleted): Promise<never> {
    const found = await this.#findByKey(id, options, deleted);
    if (!found) return this.#missing();
    const version = versionOf(this.#info.model) ?? '';
    const isSame = found.dataValues[version] === record.previous(version as keyof Attributes<M>);
    if (isSame && (await this.#mayDrop('update', options))) throw notStored('update');
    throw new ConcurrentModificationError(
      `Somebody else changed this ${this.#model.name} at the same time; read it again and repeat the change.`,
    );
  }

  #several(): never {
    throw severalRecords({ name: this.#model.name, key: this.#model.primaryKeyAttribute });
  }

  #missing(): never {
    throw noSuchRecord({ name: this.#model.name, key: this.#model.primaryKeyAttribute });
  }
}

/** Options of a bulk destroy, with what Sequelize adds for its statement. */
interface StatementOptions extends DestroyOptions {
  readonly type?: unknown;
  readonly model?: unknown;
}
