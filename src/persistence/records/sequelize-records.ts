/** Records of a model through Sequelize, with its hooks, scopes, validations and soft deletes. */
import {
  type Attributes,
  type CreationAttributes,
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
import type { ModelClass } from '../../metadata/crud-options.js';
import type { Access } from '../../operation/access.js';
import type { Predicate } from '../../operation/operation.js';
import { bindTexts } from '../../operation/predicates.js';
import { describeModel } from '../../plan/describe-model.js';
import { hasDestroyHooks, hookOptions } from '../customization/plain-queries.js';
import { ConcurrentModificationError, noSuchRecord } from '../errors/errors.js';
import { findCursorPage } from '../paging/find-cursor-page.js';
import { findOffsetPage } from '../paging/find-offset-page.js';
import type { ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest, RowCriteria } from '../paging/page.js';
import type { WriteValues } from '../rows/encode-rows.js';
import { attributeOf, type ColumnSql, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { boundText, columnName, renderSql } from '../sql/sql-fragment.js';
import { keysetRecordSource } from './keyset-record-source.js';
import { RowFinder } from './row-finder.js';
import type { Id, KeyOptions } from './row-records.js';
import { updateRecord, type WriteOptions } from './update-record.js';

/** The transaction of a query, as an option. */
type TransactionOption = Pick<WriteOptions, 'transaction'>;

/** The records of one model that a request may see. */
export class SequelizeRecords<M extends Model> {
  readonly #model: ModelClass<M>;
  /** The condition of the request, with its texts; null is every row. */
  readonly #within: Predicate | null;

  constructor(model: ModelClass<M>, { where, slots }: Access) {
    this.#model = model;
    this.#within = where && bindTexts(where, slots);
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
    const finder = this.#finder(request, scope);
    const find = (limit: number, offset: number) => finder.find(finder.terms(), null, { limit, offset });
    return findOffsetPage({ find, count: () => finder.count() }, request);
  }

  /** One page next to a place. */
  async cursorPage(request: CursorPageRequest<M>, scope: TransactionOption): Promise<CursorPage<M>> {
    const page = await findCursorPage(keysetRecordSource(this.#finder(request, scope)), request);
    return { ...page, items: page.items.map(({ record }) => record) };
  }

  /** Inserts a row. */
  create(values: WriteValues, options: WriteOptions): Promise<M> {
    // Narrower than what Sequelize takes, which the compiler cannot tell as long as M is open.
    return this.#model.create(values as CreationAttributes<M>, options);
  }

  /** Changes a row. @throws NotFoundError @throws ConcurrentModificationError */
  async update(id: Id, values: WriteValues, options: WriteOptions): Promise<M> {
    const record = await this.#findByKey(id, options);
    if (!record) return this.#missing();
    try {
      return await updateRecord(record, values as Partial<Attributes<M>>, options);
    } catch (error) {
      if (error instanceof InstanceError) return this.#missing();
      if (error instanceof OptimisticLockError) return this.#conflict(id, options);
      throw error;
    }
  }

  /** Deletes a row; how many there were. The static form reports it; the instance's does not where it only marks rows. */
  delete(id: Id, options: WriteOptions): Promise<number> {
    const individualHooks = hasDestroyHooks(this.#model);
    const where = this.#where(this.#byId(id), this.#bare);
    return this.#model.destroy({ ...(where ? { where } : {}), individualHooks, ...options });
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
    const quote = (text: string): string => this.#model.sequelize?.escape(text) ?? '';
    const condition = renderSql(compilePredicate(this.#within, column), (value) => quote(boundText(value)));
    const own = literal(`(${condition})`);
    return (where ? { [Op.and]: [where, own] } : own) as WhereOptions<Attributes<M>>;
  }

  /** Columns in a SELECT, where Sequelize gives the table the model's name. */
  readonly #aliased: ColumnSql = (name) => columnsOf(this.#info, this.#info.name)(name);

  /** Columns in a DELETE, which has no alias. */
  readonly #bare: ColumnSql = (name) => columnName(attributeOf(this.#info, name));

  get #info() {
    return describeModel(this.#model as unknown as ModelClass);
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
