/** Rows of one model: the data access that generated controllers use and that users subclass. */
import type { Attributes, Model, Sequelize, Transaction, WhereOptions } from 'sequelize';
import type { CreateValues, UpdateValues } from '../../metadata/attributes.js';
import type { ModelClass } from '../../metadata/crud-options.js';
import { type Access, type AccessSource, OPEN_ACCESS } from '../../operation/access.js';
import { ConfigError } from '../../util/config-error.js';
import { statementRunner } from '../connections/statement-runner.js';
import type { StatementTarget } from '../connections/statement-target.js';
import { hasWriteHooks, hookOptions } from '../customization/plain-queries.js';
import { MultipleResultsFound, noSuchRecord, RelationNotLoaded } from '../errors/errors.js';
import type { FindByKeyOptions, ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest } from '../paging/page.js';
import { currentSettings } from '../session/request-settings.js';
import { currentSession, isOnSequelize, type TransactionScope } from '../session/session.js';
import { DatabaseSession } from '../transactions/database-session.js';
import { type Id, type RowOptions, type RowRecords, rowRecords } from './row-records.js';
import { changesWithin, newRowWithin } from './scoped-values.js';
import { SequelizeRecords } from './sequelize-records.js';
import type { WriteOptions } from './update-record.js';

/** What a query of a repository belongs to. */
interface QueryContext {
  readonly scope: { readonly transaction?: Transaction };
  readonly access: Access;
}

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
  /** What the request that it belongs to may see and write; null is everything. */
  private readonly access: AccessSource | null = null;

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

  /** The same repository for what a request may see and write. @internal */
  within(access: AccessSource): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { access });
  }

  /**
   * The same repository without the scope of its request: every row, of every tenant. For work that is nobody's own, such as a
   * report over all of them.
   *
   * @example
   * ```ts
   * const everyone = await context.repository.unscoped().list();
   * ```
   */
  unscoped(): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, { access: null });
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
    const context = await this.context('select');
    const { scope, access } = context;
    const found = await this.rows?.find(id, { fields, access, on: this.targetIn(scope) });
    return found !== undefined ? found : this.read(context, (records, own) => records.find(id, fields, own));
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
    return this.read(await this.context('select'), (records, scope) => records.list(options, scope));
  }

  /**
   * One page by number, and how many rows there are in all. The rows are read first. The count is not asked of the
   * database where a short page tells it; otherwise it runs after the rows, so that rows which come or go between the
   * two are seen by one of them only. In a `dbSession` both are of one snapshot.
   */
  async page(request: PageRequest<M>): Promise<OffsetPage<M>> {
    const context = await this.context('select');
    const { scope, access } = context;
    const found = await this.rows?.page(request, { access, on: this.targetIn(scope) });
    return found ?? this.read(context, (records, own) => records.page(request, own));
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
    const context = await this.context('select');
    const { scope, access } = context;
    const found = await this.rows?.cursorPage(request, { access, on: this.targetIn(scope) });
    return found ?? this.read(context, (records, own) => records.cursorPage(request, own));
  }

  /**
   * Inserts a row and returns it as the database holds it, defaults included. A write that runs hooks has a transaction of
   * its own where it is not in a unit of work, so that what the hooks write happens with it or not at all.
   */
  async create(values: CreateValues<M>): Promise<M> {
    const context = await this.context('other');
    const written = newRowWithin(values, this.model.name, context.access);
    return this.write(
      context,
      (rows, on) => rows.insert(written, on),
      (records, options) => records.create(written, options),
    );
  }

  /**
   * Writes the given attributes of a row, and only those, and returns the row after the change.
   *
   * @throws NotFoundError when there is no such row, or it goes away meanwhile
   * @throws ConcurrentModificationError when the model has a version and somebody else changed the row meanwhile
   */
  async update(id: Id, values: UpdateValues<M>): Promise<M> {
    const context = await this.context('other');
    const written = changesWithin(values, this.model.name, context.access);
    const updated = await this.write<M | null>(
      context,
      (rows, on) => rows.update(id, written, on),
      (records, options) => records.update(id, written, options),
    );
    return updated ?? this.missing();
  }

  /**
   * Deletes a row; marks it as deleted where the model is `paranoid`.
   *
   * @throws NotFoundError when there is no such row, or it is already soft-deleted
   */
  async delete(id: Id): Promise<void> {
    const deleted = await this.write<number | boolean>(
      await this.context('other'),
      (rows, on) => rows.delete(id, on),
      (records, options) => records.delete(id, options),
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
    return this.session === null && this.access === null && Object.keys(this).length === 3;
  }

  /** The transaction that a query of this repository belongs to, as a query option, and the rows that it may see. */
  private async context(query: 'select' | 'other'): Promise<QueryContext> {
    const access = this.access ? await this.access() : OPEN_ACCESS;
    if (this.session) return { access, scope: { transaction: this.session.transaction } };
    const transaction = await currentSession(this.model.sequelize)?.transactionFor(query);
    return { access, scope: transaction ? { transaction } : {} };
  }

  /** Runs a write in the transaction it belongs to, in one of its own where hooks may write too, or else alone. */
  private async write<T>(
    { scope, access }: QueryContext,
    onRows: (rows: RowRecords<M>, on: RowOptions) => Promise<T | undefined>,
    onRecords: (records: SequelizeRecords<M>, options: WriteOptions) => Promise<T>,
  ): Promise<T> {
    const written = this.rows ? await onRows(this.rows, { access, on: this.targetIn(scope) }) : undefined;
    if (written !== undefined) return written;
    const records = new SequelizeRecords(this.model, access);
    const options = hookOptions(this.model, 'write');
    if (scope.transaction) return onRecords(records, { ...options, ...scope });
    // What a write reads it reads from the primary: a replica may be behind.
    const needsSession = hasWriteHooks(this.model) || currentSettings() !== null;
    if (!needsSession) return onRecords(records, { ...options, useMaster: true });
    const session = new DatabaseSession(this.model.sequelize as Sequelize, 'write');
    return session.run(async () => onRecords(records, { ...options, transaction: await session.begin() }));
  }

  /** Reads by Sequelize in the transaction it belongs to, in one of its own where that has to have settings, or else alone. */
  private async read<T>(
    { scope, access }: QueryContext,
    read: (records: SequelizeRecords<M>, scope: QueryContext['scope']) => Promise<T>,
  ): Promise<T> {
    const records = new SequelizeRecords(this.model, access);
    if (scope.transaction || currentSettings() === null) return read(records, scope);
    const session = new DatabaseSession(this.model.sequelize as Sequelize, 'get');
    return session.run(async () => read(records, { transaction: await session.begin() }));
  }

  /** The records that need no Sequelize; null where all do. */
  private get rows(): RowRecords<M> | null {
    return isOnSequelize() ? null : rowRecords(this.model);
  }

  /** Where statements of ours run; undefined is any connection of the pool. */
  private targetIn({ transaction }: QueryContext['scope']): StatementTarget | undefined {
    return transaction && statementRunner(this.model.sequelize as Sequelize).within(transaction);
  }

  private missing(): never {
    throw noSuchRecord({ name: this.model.name, key: this.model.primaryKeyAttribute });
  }
}

/** Whether a repository has no class, transaction, method or anything else of its own. */
export function isPlainRepository(repository: Repository): boolean {
  return repository.constructor === Repository && repository.isUnbound;
}
