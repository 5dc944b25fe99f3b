/** Rows of one model: the data access that generated controllers use and that users subclass. */
import {
  type Attributes,
  type CreationAttributes,
  InstanceError,
  type Model,
  OptimisticLockError,
  type OrderItem,
  type Sequelize,
  type Transaction,
  type WhereOptions,
} from 'sequelize';
import type { CreateValues, UpdateValues } from '../../metadata/attributes.js';
import type { ModelClass } from '../../metadata/crud-options.js';
import { ConfigError } from '../../util/config-error.js';
import { statementRunner } from '../connections/statement-runner.js';
import type { StatementTarget } from '../connections/statement-target.js';
import { hasDestroyHooks, hasWriteHooks, hookOptions } from '../customization/plain-queries.js';
import {
  ConcurrentModificationError,
  MultipleResultsFound,
  noSuchRecord,
  RelationNotLoaded,
} from '../errors/errors.js';
import { findCursorPage } from '../paging/find-cursor-page.js';
import { findOffsetPage } from '../paging/find-offset-page.js';
import type { FindByKeyOptions, ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest, RowCriteria } from '../paging/page.js';
import { currentSession, isOnSequelize, type TransactionScope } from '../session/session.js';
import { DatabaseSession } from '../transactions/database-session.js';
import { keysetRecordSource } from './keyset-record-source.js';
import { RowFinder } from './row-finder.js';
import { type RowRecords, rowRecords } from './row-records.js';
import { updateRecord, type WriteOptions } from './update-record.js';

/** The value of a primary key. */
export type Id = string | number | bigint;

/**
 * Access to the rows of one model through Sequelize, with its hooks, scopes, validations and soft deletes.
 *
 * @example
 * ```ts
 * class CityRepository extends Repository<City> {
 *   static override model = City;
 *   capitals() { return this.list({ where: { isCapital: true } }); }
 * }
 * const paris = await new CityRepository().get(2988507);
 * const lyon = await new Repository(City).one({ name: 'Lyon' });
 * ```
 */
export class Repository<M extends Model = Model> {
  /** The model of a subclass; an instance of `Repository` itself gets its model from the constructor. */
  // biome-ignore lint/suspicious/noExplicitAny: a static member cannot use the class's type parameter
  static model: ModelClass<any> | undefined;

  readonly model: ModelClass<M>;
  /** The session that `with` bound this repository to. */
  private readonly session: TransactionScope | null = null;

  /**
   * @param model default: the `static model` of the subclass
   * @throws ConfigError when there is neither
   */
  constructor(model?: ModelClass<M>) {
    const known = model ?? (new.target as typeof Repository).model;
    if (!known) {
      const { name } = new.target;
      throw new ConfigError([
        `${name} has no model; pass one, or write \`static override model = …\` in it.`,
      ]);
    }
    this.model = known as ModelClass<M>;
  }

  /**
   * The same repository, of the same class, with every query in the transaction of a unit of work or a read session.
   *
   * @example
   * ```ts
   * await unitOfWork(async (uow) => new CityRepository().with(uow).create({ name: 'Lyon' }));
   * ```
   */
  with(session: TransactionScope): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { session });
  }

  /**
   * The row with this primary key.
   *
   * @example
   * ```ts
   * const { name } = await cities.get(2988507, { fields: ['name'] });
   * ```
   * @throws NotFoundError when there is none, or it is soft-deleted
   */
  async get(id: Id, options: FindByKeyOptions<M> = {}): Promise<M> {
    return (await this.find(id, options)) ?? this.missing();
  }

  /** The row with this primary key, or null. */
  async find(id: Id, { fields }: FindByKeyOptions<M> = {}): Promise<M | null> {
    const scope = await this.transactionFor('select');
    const found = await this.rows?.find(id, fields, this.targetIn(scope));
    if (found !== undefined) return found;
    const attributes = fields ? { attributes: [...fields] } : {};
    return this.findByKey(id, { ...attributes, ...hookOptions(this.model, 'read'), ...scope });
  }

  /**
   * The only row that matches.
   *
   * @throws NotFoundError when no row matches
   * @throws MultipleResultsFound when several do
   */
  async one(where: WhereOptions<Attributes<M>>): Promise<M> {
    const [first, second] = await this.list({ where, limit: 2 });
    if (second) throw new MultipleResultsFound(`There is more than one such ${this.model.name}.`);
    return first ?? this.missing();
  }

  /** All rows that match, by primary key unless told otherwise. */
  async list(options: ListOptions<M> = {}): Promise<M[]> {
    const order: OrderItem[] = [[this.model.primaryKeyAttribute, 'ASC']];
    return this.model.findAll({ order, ...options, ...(await this.transactionFor('select')) });
  }

  /**
   * One page by number, and how many rows there are in all. The rows are read first. The count is not asked of the
   * database where a short page tells it; otherwise it runs after the rows, so that rows which come or go between the
   * two are seen by one of them only. In a `dbSession` both are of one snapshot.
   */
  async page(request: PageRequest<M>): Promise<OffsetPage<M>> {
    const scope = await this.transactionFor('select');
    const found = await this.rows?.page(request, this.targetIn(scope));
    if (found) return found;
    const finder = this.finder(request, scope);
    const find = (limit: number, offset: number) => finder.find(finder.terms(), null, { limit, offset });
    return findOffsetPage({ find, count: () => finder.count() }, request);
  }

  /**
   * One page next to a place. Costs the same at any depth where an index serves the order.
   *
   * @example
   * ```ts
   * const first = await cities.cursorPage({ size: 20, sort: [{ attribute: 'population', descending: true }] });
   * const second = await cities.cursorPage({ size: 20, sort: [...], after: first.next });
   * ```
   */
  async cursorPage(request: CursorPageRequest<M>): Promise<CursorPage<M>> {
    const scope = await this.transactionFor('select');
    const found = await this.rows?.cursorPage(request, this.targetIn(scope));
    if (found) return found;
    const page = await findCursorPage(keysetRecordSource(this.finder(request, scope)), request);
    return { ...page, items: page.items.map(({ record }) => record) };
  }

  /**
   * Inserts a row and returns it as the database holds it, defaults included. A write that runs hooks has a transaction of
   * its own where it is not in a unit of work, so that what the hooks write happens with it or not at all.
   */
  create(values: CreateValues<M>): Promise<M> {
    // Narrower than what Sequelize takes, which the compiler cannot tell as long as M is open.
    return this.write(
      (options) => this.model.create(values as CreationAttributes<M>, options),
      (rows, on) => rows.insert(values, on),
    );
  }

  /**
   * Writes the given attributes of a row, and only those, and returns the row after the change.
   *
   * @throws NotFoundError when there is no such row, or it goes away meanwhile
   * @throws ConcurrentModificationError when the model has a version and somebody else changed the row meanwhile
   */
  async update(id: Id, values: UpdateValues<M>): Promise<M> {
    const updated = await this.write<M | null>(
      (options) => this.updateRecord(id, values, options),
      (rows, on) => rows.update(id, values, on),
    );
    return updated ?? this.missing();
  }

  /**
   * Deletes a row; marks it as deleted where the model is `paranoid`.
   *
   * @throws NotFoundError when there is no such row, or it is already soft-deleted
   */
  async delete(id: Id): Promise<void> {
    // The static form reports how many rows it hit; the instance's does not where it only marks them.
    const individualHooks = hasDestroyHooks(this.model);
    const deleted = await this.write<number | boolean>(
      (options) => this.model.destroy({ where: this.byId(id), individualHooks, ...options }),
      (rows, on) => rows.delete(id, on),
    );
    if (!deleted) this.missing();
  }

  /**
   * What a query has loaded along with a record.
   *
   * @example
   * ```ts
   * const [review] = await reviews.list({ include: [City] });
   * const city = reviews.related(review, 'city');
   * ```
   * @throws RelationNotLoaded when the query that read the record did not include it
   */
  related<K extends keyof M & string>(record: M, name: K): M[K] {
    const { dataValues } = record;
    if (this.model.associations[name] && Object.hasOwn(dataValues, name)) return record[name];
    const relations = Object.keys(this.model.associations).join(', ') || 'none';
    throw new RelationNotLoaded(
      this.model.associations[name]
        ? `The relation '${name}' of this ${this.model.name} was not loaded; include it in the query.`
        : `${this.model.name} has no relation '${name}'; it has ${relations}.`,
    );
  }

  /** Whether it has neither a transaction of its own nor anything else that a plain one has not. @internal */
  get isUnbound(): boolean {
    return this.session === null && Object.keys(this).length === 2;
  }

  /** The transaction that a query of this repository belongs to, as a query option. */
  private async transactionFor(query: 'select' | 'other'): Promise<{ transaction?: Transaction }> {
    if (this.session) return { transaction: this.session.transaction };
    const transaction = await currentSession(this.model.sequelize)?.transactionFor(query);
    return transaction ? { transaction } : {};
  }

  /** Runs a write in the transaction it belongs to, in one of its own where hooks may write too, or else alone. */
  private async write<T>(
    work: (options: WriteOptions) => Promise<T>,
    ourWork: (rows: RowRecords<M>, on?: StatementTarget) => Promise<T | undefined>,
  ): Promise<T> {
    const scope = await this.transactionFor('other');
    const written = this.rows ? await ourWork(this.rows, this.targetIn(scope)) : undefined;
    if (written !== undefined) return written;
    const options = hookOptions(this.model, 'write');
    if (scope.transaction) return work({ ...options, ...scope });
    // What a write reads it reads from the primary: a replica may be behind.
    if (!hasWriteHooks(this.model)) return work({ ...options, useMaster: true });
    const session = new DatabaseSession(this.model.sequelize as Sequelize, 'write');
    return session.run(async () => work({ transaction: await session.begin() }));
  }

  private async updateRecord(id: Id, values: UpdateValues<M>, options: WriteOptions): Promise<M> {
    const record = await this.findByKey(id, options);
    if (!record) return this.missing();
    try {
      return await updateRecord(record, values as Partial<Attributes<M>>, options);
    } catch (error) {
      if (error instanceof InstanceError) return this.missing();
      if (error instanceof OptimisticLockError) return this.conflict(id, options);
      throw error;
    }
  }

  /** The records that need no Sequelize; null where all do. */
  private get rows(): RowRecords<M> | null {
    return isOnSequelize() ? null : rowRecords(this.model);
  }

  /** Where statements of ours run; undefined is any connection of the pool. */
  private targetIn({ transaction }: { readonly transaction?: Transaction }): StatementTarget | undefined {
    return transaction && statementRunner(this.model.sequelize as Sequelize).within(transaction);
  }

  private finder(criteria: RowCriteria<M>, scope: Pick<WriteOptions, 'transaction'>): RowFinder<M> {
    return new RowFinder(this.model, criteria, { ...hookOptions(this.model, 'read'), ...scope });
  }

  private findByKey(id: Id, options: WriteOptions & { attributes?: string[] }): Promise<M | null> {
    return this.model.findOne({ where: this.byId(id), ...options });
  }

  private byId(id: Id): WhereOptions<Attributes<M>> {
    return { [this.model.primaryKeyAttribute]: id } as WhereOptions<Attributes<M>>;
  }

  /** A version that no longer matches means that the row was changed, or that it is gone. */
  private async conflict(id: Id, options: WriteOptions): Promise<never> {
    if (!(await this.findByKey(id, options))) this.missing();
    throw new ConcurrentModificationError(
      `Somebody else changed this ${this.model.name} at the same time; read it again and repeat the change.`,
    );
  }

  private missing(): never {
    throw noSuchRecord({ name: this.model.name, key: this.model.primaryKeyAttribute });
  }
}

/** Whether a repository has no class, transaction, method or anything else of its own. */
export function isPlainRepository(repository: Repository): boolean {
  return repository.constructor === Repository && repository.isUnbound;
}
