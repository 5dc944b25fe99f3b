/** Binding of a repository: its model, a transaction, and the access of a request. */

import type { Model } from 'sequelize';
import type { Attribute, CreateValues, UpdateValues } from '../../declare/attributes.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeAddressed } from '../../describe/describe-model.js';
import type { ModelInfo, RowKey } from '../../describe/model-info.js';
import { relationNames } from '../../describe/relations.js';
import { holdsTexts, isScalar, keyText, problemOfParts } from '../../describe/row-key.js';
import { noSuchRecord, relationNotLoaded } from '../../errors/errors.js';
import type { AggregateResult } from '../../features/aggregate/run-aggregate.js';
import { eraseActor, eraseRow } from '../../features/capture/erase-history.js';
import { type AccessSource, OPEN_ACCESS } from '../../operation/access.js';
import type { Inputs } from '../../operation/feature.js';
import type { Touch } from '../../operation/operation.js';
import { currentSession, isOfOther, type TransactionScope } from '../../postgres/index.js';
import type { Keyset } from '../../request/query/cursor-codec.js';
import type { Predicate } from '../../request/query/predicate.js';
import { ConfigError } from '../../util/config-error.js';
import { showValue } from '../../util/option-problems.js';
import { type Maybe, then } from '../../util/promises.js';
import { readChunks } from '../chunks.js';
import type { CursorPage } from '../page.js';
import type { WriteValues } from '../sql/encode-parameter.js';
import { type AggregateQuery, aggregateRecords } from './aggregate-records.js';
import {
  type ImportedRows,
  type ImportRowsOptions,
  importRecords,
  type RowSource,
} from './import-records.js';
import { countOfRelation } from './load-relations.js';
import type { Id, QueryContext } from './repository-operations.js';
import type {
  CursorPageRequest,
  FindByKeyOptions,
  RelationOptions,
  StreamRequest,
} from './repository-options.js';

/** The base of `Repository`. */
export abstract class BoundRepository<M extends Model> {
  /** The model of a subclass; an instance of `Repository` itself gets its model from the constructor. */
  // biome-ignore lint/suspicious/noExplicitAny: a static member cannot use the class's type parameter
  static model: ModelClass<any> | undefined;

  readonly model: ModelClass<M>;
  /** The session that `with` bound this repository to. */
  protected readonly session: TransactionScope | null = null;
  /** Access of the request that the repository belongs to; null is everything. */
  protected readonly access: AccessSource | null = null;
  /** The attributes that address a row in the resource of the repository, as `keyText` writes them; null is as the model says. */
  protected readonly address: string | null = null;
  /** Inputs of updates in a write of others that belong to their row. */
  protected readonly touched: Pick<Inputs, 'touch'> | undefined = undefined;

  /**
   * @param model default: the `static model` of the subclass
   * @throws ConfigError when there is neither
   */
  constructor(model?: ModelClass<M>) {
    const known = model ?? (new.target as unknown as typeof BoundRepository).model;
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
    return copyOf(this, { session });
  }

  /**
   * The same repository within the access of a request.
   *
   * @throws TypeError where it has a property that is a function: the `this` of an arrow function is a repository without scope
   * @internal
   */
  within(access: AccessSource): this {
    const ours: readonly unknown[] = [this.model, this.access];
    const isOwn = ([, value]: [string, unknown]) => typeof value === 'function' && !ours.includes(value);
    const [name] = Object.entries(this).find(isOwn) ?? [];
    if (name === undefined || access.isOpen) return copyOf(this, { access });
    throw new TypeError(
      `${this.constructor.name}.${name} is a function in a property, which may go round the scope of a request; write it as a method.`,
    );
  }

  /** The same repository, whose methods find a row by these attributes. @param address as `keyText` writes them @internal */
  addressedBy(address: string): this {
    return copyOf(this, { address });
  }

  /** The same repository, whose updates lock their row, or count as a change. @internal */
  touching(touch: Touch): this {
    return copyOf(this, { touched: { touch } });
  }

  /** The model, with the ids of its resource. */
  protected get described(): ModelInfo {
    return describeAddressed(this.model as unknown as ModelClass, this.address);
  }

  /** The attributes that ids are the values of; none where the model has no key. @internal */
  get idParts(): RowKey {
    return this.described.address;
  }

  /**
   * The same repository without the scope of its request: every row, of every tenant, and foreign keys to any of them.
   *
   * @example
   * ```ts
   * const everyone = await context.repository.unscoped().list();
   * ```
   */
  unscoped(): this {
    return copyOf(this, { access: null });
  }

  /**
   * Returns the relation that a query has loaded along with a record.
   *
   * @example
   * ```ts
   * const [review] = await reviews.list({ include: ['city'] });
   * const city = reviews.related(review, 'city');
   * ```
   * @throws RelationNotLoaded when the query that read the record did not include it
   */
  related<K extends keyof M & string>(record: M, name: K): M[K] {
    const { dataValues } = record;
    const names = relationNames(this.model as unknown as ModelClass);
    if (names.includes(name) && Object.hasOwn(dataValues, name)) return record[name];
    throw relationNotLoaded(this.model.name, names, name);
  }

  /**
   * Counts the rows that a relation leads each record to, with one statement for all records: those that the request may see.
   *
   * @param filter of the related rows. Default: all of them
   * @example
   * ```ts
   * const numbers = await books.countRelated(page.items, 'reviews', filter`rating>=4`);
   * ```
   * @returns a number for each record, in the order of the records
   * @throws ConfigError for a name that is no relation of the model
   * @throws TypeError where hooks or methods of the related model choose its rows
   */
  async countRelated(
    records: readonly M[],
    name: string,
    filter?: RelationOptions['filter'],
  ): Promise<readonly number[]> {
    const scope = async () => (await this.context('select')).scope;
    return countOfRelation(this.model, records, name, filter, { source: this.access, scope });
  }

  /**
   * Groups of the matching rows that the request may see, with their numbers and measures. Values have the form of
   * answers: sums and averages of exact numbers are texts.
   *
   * @example
   * ```ts
   * const { items } = await sales.aggregate({
   *   group: ['shop', 'soldAt.month'],
   *   sum: ['price'],
   *   having: 'count>=10',
   *   sort: '-sum.price',
   *   tz: 'Europe/Berlin',
   * });
   * ```
   * @throws TypeError for an attribute that cannot be grouped or measured, for a condition or an order that cannot be read, and where hooks
   *   or methods of the model choose its rows
   */
  async aggregate(query: AggregateQuery<M> = {}): Promise<AggregateResult> {
    return aggregateRecords(this.described, await this.context('select'), query);
  }

  /**
   * Erases stored values of a record from its history, and keeps who has changed it, and when; one more change says that they were erased. In
   * the transaction of the running code: erase where the record itself is changed or removed, so that no value comes back. A record that is
   * gone is named by its primary key. In a request the record has to be inside of its scope.
   *
   * @param attributes default: all of them
   * @example
   * ```ts
   * await unitOfWork(async () => {
   *   await users.update(7, { name: null });
   *   await users.eraseHistory(7, ['name']);
   * });
   * ```
   * @returns the number of changes that are stored of the record
   * @throws NotFoundError where the request does not see the record
   * @throws TypeError for an attribute that the model does not have
   */
  async eraseHistory(id: Id, attributes?: readonly Attribute<M>[]): Promise<number> {
    const info = this.described;
    const { scope } = await this.context('other');
    const record = await this.find(id, info.softDelete ? { deleted: 'with' } : {});
    if (!record && this.access && !this.access.isOpen)
      throw noSuchRecord({ name: info.name, key: keyText(info.address) });
    return eraseRow(info, { id, record }, attributes ?? null, scope);
  }

  /**
   * Puts a substitute in the place of an actor in all stored changes of the tables in the schema of the model, of all models.
   *
   * @param substitute default: null, the actor is unknown
   * @example await new Repository(User).eraseActor('42', 'erased-1');
   * @returns the number of changes
   * @throws TypeError for a repository that is inside of the scope of a request
   */
  async eraseActor(actor: string, substitute: string | null = null): Promise<number> {
    if (this.access && !this.access.isOpen)
      throw new TypeError('eraseActor is about the changes of all tenants; call it on unscoped().');
    const { scope } = await this.context('other');
    return eraseActor(this.model as unknown as ModelClass, actor, substitute, scope);
  }

  /** The row with this id, or null. */
  abstract find(id: Id, options?: FindByKeyOptions<M>): Promise<M | null>;

  /** One page next to a place. */
  abstract cursorPage(request: CursorPageRequest<M>): Promise<CursorPage<M>>;

  /**
   * All rows that match, one after another in a total order, however many they are: 2,000 of them are in memory at once. Each 2,000 are read
   * by a statement of their own, behind the last row before, so that nothing is held between them. A row that is there throughout
   * comes once; others come or not. In a `dbSession` all are of one snapshot.
   *
   * @example
   * ```ts
   * for await (const city of cities.stream({ filter: filter`population>=${1_000}`, sort: [{ attribute: 'name', descending: false }] }))
   *   await send(city);
   * ```
   * @throws TypeError for a model without a primary key, whose rows have no total order
   */
  async *stream(request: StreamRequest<M> = {}): AsyncGenerator<M, void, undefined> {
    if (this.described.primaryKey.length === 0)
      throw new TypeError(
        `${this.model.name} has no primary key, so that its rows have no place to go on behind; use list(…).`,
      );
    const read = (after: Keyset | null, size: number) => this.cursorPage({ ...request, after, size });
    for await (const { items } of readChunks(request.after ?? null, read)) yield* items;
  }

  /** Inserts a row. */
  abstract create(values: CreateValues<M>): Promise<M>;
  /** Writes attributes of a row. */
  abstract update(id: Id, values: UpdateValues<M>): Promise<M>;
  /** The ids of rows, which are locked. @internal */
  abstract lockKeys(filter: Predicate, limit: number): Promise<readonly unknown[]>;

  /**
   * Stores any number of rows of a list, or of an iterable such as a stream. 1,000 of them are in memory at once, and are written by one
   * statement. Rows that hooks, or a `create` or `update` of a subclass, have to see are written one by one. All are stored or none, in
   * the unit of work that runs, or in one of their own.
   *
   * With `atomic: false` each 1,000 rows are stored by themselves, without refused ones. The database, a validation, or the access of
   * the request may refuse a row. Any other error ends the import, and earlier chunks stay.
   *
   * @example
   * ```ts
   * const { created, updated } = await countries.importRows(seeds, { mode: 'upsert', on: ['code'] });
   * const { failed, errors } = await cities.importRows(readLines(file), { atomic: false });
   * for (const { row, error } of errors) console.error(`row ${row}`, error);
   * ```
   * @throws the error of a row that is refused, where all are stored or none
   * @throws TypeError for an option that is wrong, and for an `on` without a unique index of exactly these attributes
   */
  async importRows(source: RowSource<M>, options: ImportRowsOptions = {}): Promise<ImportedRows> {
    const isOurs = (name: 'create' | 'update'): boolean => {
      let owner: object = this;
      while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
      return Object.getPrototypeOf(owner) === BoundRepository.prototype;
    };
    const place = {
      info: this.described,
      bound: this.session?.transaction ?? null,
      isOurs,
      context: (values?: WriteValues, kind?: 'create' | 'update') => this.context('other', values, kind),
    };
    return importRecords(this, place, source, options);
  }

  /** True where it has neither a transaction of its own nor anything else that a plain one has not. @internal */
  get isUnbound(): boolean {
    return this.session === null && this.access === null && Object.keys(this).length === 5;
  }

  /**
   * @throws TypeError for a missing value, which would find any row, and for a value of another type than the address, whose text
   *   would find another row
   */
  protected checkId(id: Id | undefined): void {
    const { name, primaryKeyAttribute: key } = this.model;
    const parts = this.idParts;
    const [address] = parts;
    if (!address)
      throw new TypeError(`${name} has no primary key, so that no id finds a row; use one(…) or list(…).`);
    if (parts.length > 1) {
      const problem = problemOfParts(parts, id);
      if (problem === null) return;
      const names = parts.map((part) => part.name).join(', ');
      throw new TypeError(`An id of ${name} is an object with a value for each of ${names}; ${problem}.`);
    }
    if (!isScalar(id))
      throw new TypeError(`An id of ${name} is ${showValue(id)}; give the ${address.name} of a record.`);
    if (!address.isAddress || typeof id === 'string' || !holdsTexts(address)) return;
    throw new TypeError(
      `${name} is addressed by its ${address.name}, which is a text, and not by ${showValue(id)}; find a record by another key with ` +
        `one({ ${key}: … }).`,
    );
  }

  /**
   * The transaction that a query of this repository belongs to, as a query option, and the rows that it may see.
   *
   * @param values that are written
   * @param kind the write, where the server may set values in it
   */
  protected context(
    query: 'select' | 'other',
    values?: WriteValues,
    kind?: 'create' | 'update',
  ): Maybe<QueryContext> {
    const { access: source, address, session } = this;
    return then(source ? source(values, kind) : OPEN_ACCESS, (access) => {
      const current = currentSession(this.model.sequelize);
      if (session && query === 'other') current?.refuseLate();
      const joined = session ? session.transaction : current?.transactionFor(query);
      return then(joined, (transaction) => {
        refuseOther(this.model, transaction);
        return { access, source, address, scope: transaction ? { transaction } : {} };
      });
    });
  }
}

/** @throws TypeError where a transaction is one of another Sequelize instance */
function refuseOther({ name, sequelize }: ModelClass, transaction: unknown): void {
  if (!isOfOther(transaction, sequelize)) return;
  throw new TypeError(
    `The repository of ${name} is bound to a unit of work or a session of another engine, so that it would reach another database; use one of its own: unitOfWork(work, { engine }).`,
  );
}

/** Copies an object of the same class. No method of the class: a subclass may have one of any name. */
function copyOf<R extends object>(object: R, changed: object): R {
  return Object.assign(Object.create(Object.getPrototypeOf(object)), object, changed);
}
