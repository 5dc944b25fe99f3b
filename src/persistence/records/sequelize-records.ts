/** Records of a model through Sequelize, with its hooks, scopes, validations and soft deletes. */
import {
  type Attributes,
  type CreationAttributes,
  type FindOptions,
  InstanceError,
  literal,
  type Model,
  OptimisticLockError,
  type OrderItem,
  QueryTypes,
  type Sequelize,
  Transaction,
  type WhereOptions,
} from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import { type Access, presetOf } from '../../operation/access.js';
import { countOf } from '../../operation/count.js';
import type { Predicate } from '../../operation/operation.js';
import { bindTexts } from '../../operation/predicates.js';
import { describeModel, describeRecords } from '../../plan/describe-model.js';
import type { Filter } from '../../query/list-query.js';
import { classBlockers } from '../customization/model-fast-path-blockers.js';
import {
  hasDestroyHooks,
  hasFindHooks,
  hasPlainQueries,
  hookOptions,
} from '../customization/plain-queries.js';
import { ConcurrentModificationError, noSuchRecord, notDeleted } from '../errors/errors.js';
import { missingReference } from '../errors/missing-reference.js';
import { toSequelizeError } from '../errors/sequelize-error.js';
import { findCursorPage } from '../paging/find-cursor-page.js';
import { findOffsetPage } from '../paging/find-offset-page.js';
import type { ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest, RowCriteria } from '../paging/page.js';
import type { WriteValues } from '../rows/encode-rows.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { attributeOf, type ColumnSql, columnsOf, compilePredicate, selectRow } from '../sql/predicate-sql.js';
import { boundText, columnName, quoteText, renderSql } from '../sql/sql-fragment.js';
import { keysetRecordSource } from './keyset-record-source.js';
import { type Pins, pinned, pinningModel, releasePins } from './pinned-record.js';
import { bothHold, RowFinder } from './row-finder.js';
import type { Id, KeyOptions } from './row-records.js';
import { updateRecord, type WriteOptions } from './update-record.js';

/** The transaction of a query, as an option. */
type TransactionOption = Pick<WriteOptions, 'transaction'>;

/** The records of one model that a request may see. */
export class SequelizeRecords<M extends Model> {
  readonly #model: ModelClass<M>;
  readonly #access: Access;
  /** The condition of the request, with its texts; null is every row. */
  readonly #within: Predicate | null;

  constructor(model: ModelClass<M>, access: Access) {
    const { where, slots } = access;
    this.#model = model;
    this.#access = access;
    this.#within = where && bindTexts(where, slots);
  }

  /** Whether a write is looked at once it is done, and undone where code of the user's moved the row. */
  get provesWrites(): boolean {
    return this.#access.values().size > 0 && !isPlainWrite(this.#model);
  }

  /** The record with this key, or null. */
  find(id: Id, { fields, isLocked }: KeyOptions, scope: TransactionOption): Promise<M | null> {
    const attributes = fields ? { attributes: [...fields] } : {};
    // Of this table only: a scope may join others.
    const lock = isLocked ? { lock: { level: Transaction.LOCK.UPDATE, of: this.#model } } : {};
    return this.#findByKey(id, { ...attributes, ...lock, ...hookOptions(this.#model, 'read'), ...scope });
  }

  /** All records that match. */
  list(options: ListOptions<M>, scope: TransactionOption): Promise<M[]> {
    const order: OrderItem[] = [[this.#model.primaryKeyAttribute, 'ASC']];
    const where = this.#where(options.where, this.#aliased);
    return this.#model.findAll({ order, ...options, ...(where ? { where } : {}), ...scope });
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
    await this.#checkReferences(values, options);
    // Narrower than what Sequelize takes, which the compiler cannot tell as long as M is open.
    const row = values as CreationAttributes<M>;
    if (!this.provesWrites) return this.#model.create(row, options);
    const pins = this.#pinsOf(values);
    const record = await pinningModel(this.#model, pins).create(row, options);
    await releasePins(this.#info, record, pins, options);
    return record;
  }

  /** Changes a row. @throws NotFoundError @throws ConcurrentModificationError */
  async update(id: Id, values: WriteValues, options: WriteOptions): Promise<M> {
    const record = await this.#findByKey(id, options);
    if (!record) return this.#missing();
    await this.#checkReferences(values, options);
    const change = values as Partial<Attributes<M>>;
    const pins = this.#pinsOf(record.dataValues);
    const release = this.#keepWithin(record, pins);
    try {
      if (!this.provesWrites) return await updateRecord(record, change, options);
      const updated = await updateRecord(pinned(record, pins), change, options);
      await releasePins(this.#info, updated, pins, options);
      return updated;
    } catch (error) {
      // A row that is not found afterwards may have been moved.
      if (error instanceof InstanceError && this.provesWrites)
        await releasePins(this.#info, record, pins, options);
      if (error instanceof InstanceError) return this.#missing();
      if (error instanceof OptimisticLockError) return this.#conflict(id, options);
      throw error;
    } finally {
      release();
    }
  }

  /** Deletes a row; how many there were. The static form reports it; the instance's does not where it only marks rows. */
  delete(id: Id, options: WriteOptions): Promise<number> {
    const individualHooks = hasDestroyHooks(this.#model);
    const where = this.#where(this.#byId(id), this.#bare);
    return this.#model.destroy({ ...(where ? { where } : {}), individualHooks, ...options });
  }

  /** Brings a soft-deleted row back. @throws NotFoundError @throws NotDeletedError */
  async restore(id: Id, options: WriteOptions): Promise<M> {
    const record = await this.findDeleted(id, options);
    const pins = this.#pinsOf(record.dataValues);
    const release = this.#keepWithin(record, pins);
    try {
      await record.restore(options);
      await record.reload(options);
    } finally {
      release();
    }
    if (this.provesWrites) await releasePins(this.#info, record, pins, options);
    return record;
  }

  /** Removes a soft-deleted row. @throws NotFoundError @throws NotDeletedError */
  async purge(id: Id, options: WriteOptions): Promise<number> {
    await this.findDeleted(id, options);
    const individualHooks = hasDestroyHooks(this.#model);
    const where = this.#where(this.#byId(id), this.#bare);
    return this.#model.destroy({ ...(where ? { where } : {}), individualHooks, force: true, ...options });
  }

  /** The record of a soft-deleted row, which nothing else may change until the transaction has ended. */
  async findDeleted(id: Id, options: WriteOptions): Promise<M> {
    const lock = { level: Transaction.LOCK.UPDATE, of: this.#model };
    const record = await this.#findByKey(id, {
      ...options,
      paranoid: false,
      ...(options.transaction ? { lock } : {}),
    });
    if (!record) return this.#missing();
    if (!record.isSoftDeleted()) throw notDeleted(this.#model);
    return record;
  }

  /**
   * Sequelize names the row of a record by its key alone, and the row may have left the access of the request since it was read.
   * The UPDATE takes the whole condition. What is read after it takes what the row belongs to, because the change itself may
   * have hidden the row.
   *
   * @returns what ends it
   */
  #keepWithin(record: M, pins: Pins): () => void {
    if (!this.#within) return () => {};
    const { where: ofRecord } = record;
    const kept = Object.fromEntries(
      [...pins].map(([name, value]) => [attributeOf(this.#info, name).column, value]),
    );
    // Sequelize asks with `true` for the condition of an UPDATE.
    const where = (isUpdate?: boolean) => {
      const byKey = Reflect.apply(ofRecord, record, [isUpdate]) as WhereOptions<Attributes<M>>;
      return isUpdate ? this.#where(byKey, this.#bare) : { ...byKey, ...kept };
    };
    Object.defineProperty(record, 'where', { value: where, configurable: true });
    return () => Reflect.deleteProperty(record, 'where');
  }

  /** What the row belongs to, and keeps. */
  #pinsOf(values: WriteValues): Pins {
    const names = [...this.#access.values().keys()];
    return new Map(names.map((name) => [name, values[name] ?? presetOf(this.#access, name)]));
  }

  /** @throws DatabaseError where one of the rows is not there */
  async #checkReferences(
    values: WriteValues,
    { transaction, useMaster = true }: WriteOptions,
  ): Promise<void> {
    const { references, slots } = this.#access;
    const sequelize = this.#model.sequelize as Sequelize;
    for (const { attribute, target, key, where } of references) {
      const value = encodeParameter(attributeOf(this.#info, attribute).type, values[attribute]);
      const refuse = (): never => {
        const error = missingReference(this.#info, attribute);
        throw toSequelizeError(sequelize, error.parent, { model: this.#info.model });
      };
      if (typeof value !== 'string') return refuse();
      const row = selectRow({ kind: 'exists', target, key, value, where: bindTexts(where, slots) });
      const found = await sequelize.query(
        renderSql(row, (each) => sequelize.escape(boundText(each))),
        {
          type: QueryTypes.SELECT,
          useMaster,
          ...(transaction ? { transaction } : {}),
        },
      );
      if (found.length === 0) refuse();
    }
  }

  #finder(criteria: RowCriteria<M>, scope: TransactionOption): RowFinder<M> {
    const options = { ...hookOptions(this.#model, 'read'), ...scope };
    return new RowFinder(this.#model, criteria, options, this.#within);
  }

  #findByKey(id: Id, options: WriteOptions & FindOptions): Promise<M | null> {
    const where = this.#where(this.#byId(id), this.#aliased);
    return this.#model.findOne({ ...(where ? { where } : {}), ...options });
  }

  #byId(id: Id): WhereOptions<Attributes<M>> {
    return { [this.#model.primaryKeyAttribute]: id } as WhereOptions<Attributes<M>>;
  }

  /** A condition and that of the request, which both must hold. */
  #where(
    where: WhereOptions<Attributes<M>> | undefined,
    column: ColumnSql,
  ): WhereOptions<Attributes<M>> | undefined {
    if (!this.#within) return where;
    const condition = renderSql(compilePredicate(this.#within, column), (value) =>
      quoteText(boundText(value)),
    );
    return bothHold(where, literal(`(${condition})`));
  }

  /** Columns in a SELECT, where Sequelize gives the table the model's name. */
  readonly #aliased: ColumnSql = (name) => columnsOf(this.#info, this.#info.name)(name);

  /** Columns in a DELETE, which has no alias. */
  readonly #bare: ColumnSql = (name) => columnName(attributeOf(this.#info, name));

  get #info() {
    return describeRecords(this.#model as unknown as ModelClass);
  }

  /** A version that no longer matches means that the row was changed, or that it is gone. */
  async #conflict(id: Id, options: WriteOptions): Promise<never> {
    if (!(await this.#findByKey(id, options))) this.#missing();
    throw new ConcurrentModificationError(
      `Somebody else changed this ${this.#model.name} at the same time; read it again and repeat the change.`,
    );
  }

  #missing(): never {
    throw noSuchRecord({ name: this.#model.name, key: this.#model.primaryKeyAttribute });
  }
}

/** Whether no code of the user's takes part in what is written. */
function isPlainWrite<M extends Model>(model: ModelClass<M>): boolean {
  return (
    hasPlainQueries(model, 'write') &&
    model.primaryKeyAttributes.length === 1 &&
    classBlockers(describeModel(model as unknown as ModelClass), 'create', true).length === 0
  );
}
