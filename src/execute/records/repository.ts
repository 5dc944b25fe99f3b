/** Rows of one model: the data access that generated controllers use and that users subclass. */

import type { Model } from 'sequelize';
import type { CreateValues, UpdateValues, Where } from '../../declare/attributes.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { MultipleResultsFound, noSuchRecord, notDeleted } from '../../errors/errors.js';
import { currentSession } from '../../postgres/index.js';
import type { Filter } from '../../request/query/predicate.js';
import { destroysRecords } from '../customization/plain-queries.js';
import type { FindByKeyOptions, ListOptions } from '../paging/list-options.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest } from '../paging/page.js';
import { withOrigin } from '../paging/page-origin.js';
import { checkPurge, isPurgeOptions, type PurgeOptions } from '../paging/purge-options.js';
import type { RelationsToLoad } from '../paging/relations-to-load.js';
import { BoundRepository } from './bound-repository.js';
import { guardRecords } from './guarded-record.js';
import { keysOfRelations, loadRelations } from './load-relations.js';
import type { Id, KeyOptions } from './row-records.js';
import { readRecords, writeRecords } from './run-records.js';
import { includesWithin } from './scoped-includes.js';
import { changesWithin, newRowWithin, replacementWithin } from './scoped-values.js';
import { SequelizeRecords } from './sequelize-records.js';
import { needsReading } from './update-record.js';

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
export class Repository<M extends Model = Model> extends BoundRepository<M> {
  /**
   * The row with this primary key.
   *
   * @example
   * ```ts
   * const { name } = await cities.get(2988507, { fields: ['name'] });
   * const paris = await cities.get(2988507, { include: ['country', 'reviews.author'] });
   * const gone = await cities.get(2988507, { deleted: 'only' });
   * ```
   * @throws NotFoundError when there is none, or it is soft-deleted and `deleted` does not ask for it
   */
  async get(id: Id, options: FindByKeyOptions<M> = {}): Promise<M> {
    return (await this.find(id, options)) ?? this.missing();
  }

  /** The row with this primary key, or null. */
  async find(id: Id, { fields, include = [], deleted }: FindByKeyOptions<M> = {}): Promise<M | null> {
    const read = fields && [...new Set([...fields, ...keysOfRelations(this.model, include)])];
    const record = await this.findByKey(id, { fields: read, isLocked: false, deleted });
    if (record) await this.loadAlong([record], include);
    return guardRecords(record, this.access);
  }

  /**
   * The row with this primary key, which nothing else may change until the transaction has ended.
   *
   * @param isDeleted whether it is a soft-deleted one
   * @internal
   */
  async getLocked(id: Id, isDeleted = false): Promise<M> {
    return isDeleted ? this.getDeleted(id) : ((await this.findLocked(id)) ?? this.missing());
  }

  /** The same, or null. @internal */
  async findLocked(id: Id): Promise<M | null> {
    const record = guardRecords(await this.findByKey(id, { isLocked: true }), this.access);
    const { get, find } = Repository.prototype;
    // A subclass may find less, or more of a row.
    const isOwn = this.get !== get || this.find !== find;
    return isOwn ? record && (await this.get(id)) : record;
  }

  /** Locks the row that a replacement changes, and gives what it is changed to; null where there is none. @internal */
  async lockToReplace(id: Id, values: CreateValues<M>): Promise<UpdateValues<M> | null> {
    const record = await this.findLocked(id);
    const { access } = await this.context('other');
    return record && (replacementWithin(values, record.dataValues, access) as UpdateValues<M> | null);
  }

  /**
   * The keys of the rows that match, in their order, which nothing else may change until the transaction has ended.
   *
   * @internal
   */
  async lockKeys(filter: Filter, limit: number): Promise<readonly unknown[]> {
    const { access, source, scope } = await this.context('other');
    return new SequelizeRecords(this.model, access, source).lockKeys(filter, limit, scope);
  }

  /**
   * The only row that matches.
   *
   * @throws NotFoundError when no row matches
   * @throws MultipleResultsFound when several do
   */
  async one(where: Where<M>): Promise<M> {
    const [first, second] = await this.list({ where, limit: 2 });
    if (second) throw new MultipleResultsFound(`There is more than one such ${this.model.name}.`);
    return first ?? this.missing();
  }

  /** All rows that match, by primary key unless told otherwise. */
  async list(options: ListOptions<M> = {}): Promise<M[]> {
    const { include } = options;
    const model = this.model as unknown as ModelClass;
    const seen = include && this.access ? { include: await includesWithin(model, include, this.access) } : {};
    const within = { ...options, ...seen };
    const found = await readRecords<M, M[]>(this.model, await this.context('select'), null, (each, scope) =>
      each.list(within, scope),
    );
    return guardRecords(found, this.access);
  }

  /**
   * One page by number, and how many rows there are in all. They are counted after the page, where it does not tell; in a `dbSession`
   * both are of one snapshot. With `count` the page says what its total is.
   *
   * @example
   * ```ts
   * const { items, total, totalIs, hasNext } = await cities.page({ page: 1, size: 20, count: 'capped', cap: 1_000 });
   * ```
   * @throws RangeError for a `count` or `cap` that there is not
   */
  async page(request: PageRequest<M>): Promise<OffsetPage<M>> {
    const found = await readRecords<M, OffsetPage<M>>(
      this.model,
      await this.context('select'),
      (rows, on) => rows.page(request, on),
      (records, scope) => records.page(request, scope),
    );
    await this.loadAlong(found.items, request.include);
    guardRecords(found.items, this.access);
    return withOrigin(found, this.model, request);
  }

  /**
   * One page next to a place. Costs the same at any depth where an index serves the order. With `count` it has the number of all
   * rows, whatever the place.
   *
   * @example
   * ```ts
   * const first = await cities.cursorPage({ size: 20, sort: [{ attribute: 'population', descending: true }] });
   * const second = await cities.cursorPage({ size: 20, sort: [...], after: first.next });
   * ```
   */
  async cursorPage(request: CursorPageRequest<M>): Promise<CursorPage<M>> {
    const found = await readRecords<M, CursorPage<M>>(
      this.model,
      await this.context('select'),
      (rows, on) => rows.cursorPage(request, on),
      (records, scope) => records.cursorPage(request, scope),
    );
    await this.loadAlong(found.items, request.include);
    guardRecords(found.items, this.access);
    return withOrigin(found, this.model, request);
  }

  /**
   * Inserts a row and returns it as the database holds it, defaults included. A write that runs hooks has a transaction of
   * its own where it is not in a unit of work, so that what the hooks write happens with it or not at all.
   */
  async create(values: CreateValues<M>): Promise<M> {
    const context = await this.context('other', values);
    const written = newRowWithin(values, this.model.name, context.access);
    const created = await writeRecords<M, M>(this.model, context, {
      write: 'insert',
      onRows: (rows, on) => rows.insert(written, on),
      onRecords: (records, options) => records.create(written, options),
    });
    return guardRecords(created, this.access);
  }

  /**
   * Writes the given attributes of a row, and only those, and returns the row after the change.
   *
   * @throws NotFoundError when there is no such row, or it goes away meanwhile
   * @throws ConcurrentModificationError when the model has a version and somebody else changed the row meanwhile
   */
  async update(id: Id, values: UpdateValues<M>): Promise<M> {
    const context = await this.context('other', values);
    const written = changesWithin(values, this.model.name, context.access);
    const updated = await writeRecords<M, M | null>(this.model, context, {
      write: 'update',
      onRows: (rows, on) => rows.update(id, written, on),
      onRecords: (records, options) => records.update(id, written, options),
      isWhole: () => needsReading(this.model),
    });
    return guardRecords(updated, this.access) ?? this.missing();
  }

  /**
   * Deletes a row; marks it as deleted where the model is `paranoid`.
   *
   * @throws NotFoundError when there is no such row, or it is already soft-deleted
   */
  async delete(id: Id): Promise<void> {
    const deleted = await writeRecords<M, number | boolean>(this.model, await this.context('other'), {
      write: this.model.options.paranoid ? 'update' : 'delete',
      onRows: (rows, on) => rows.delete(id, on),
      onRecords: (records, options) => records.delete(id, options),
      isWhole: destroysRecords(this.model, false),
    });
    if (!deleted) this.missing();
  }

  /**
   * Brings a soft-deleted row back, and returns it.
   *
   * @throws NotFoundError when there is no such row
   * @throws NotDeletedError when it is not soft-deleted
   */
  async restore(id: Id): Promise<M> {
    const restored = await writeRecords<M, M | null>(this.model, await this.context('other'), {
      write: 'update',
      onRows: (rows, on) => rows.restore(id, on),
      onRecords: (records, options) => records.restore(id, options),
      isWhole: true,
    });
    return guardRecords(restored, this.access) ?? this.neverDeleted(id);
  }

  /**
   * Removes a soft-deleted row for good.
   *
   * @throws NotFoundError when there is no such row
   * @throws NotDeletedError when it is not soft-deleted
   */
  async purge(id: Id): Promise<void>;
  /**
   * Removes the rows that were soft-deleted before a moment, and gives their number: for jobs, in batches. It takes them by key,
   * together or not at all, and passes those that something else is changing. Hooks run as those of `destroy` do.
   *
   * @example
   * ```ts
   * const before = new Date(Date.now() - 30 * 86_400_000);
   * while ((await new Repository(City).purge({ before, limit: 500 })) > 0);
   * ```
   * @throws TypeError for a `before` that is no Date, and for a model that is not paranoid
   * @throws RangeError for an invalid Date, and a `limit` that is no integer from 1
   * @throws ForeignKeyConstraintError of Sequelize where another row refers to one of them
   */
  async purge(rows: PurgeOptions): Promise<number>;
  async purge(which: Id | PurgeOptions): Promise<unknown> {
    const rows = isPurgeOptions(which) ? checkPurge(which) : null;
    const purged = await writeRecords<M, number | boolean>(this.model, await this.context('other'), {
      write: 'delete',
      onRows: async (each, on) => (rows ? undefined : each.purge(which as Id, on)),
      onRecords: (records, options) =>
        rows ? records.purgeBefore(rows, options) : records.purge(which as Id, options),
      isWhole: true,
    });
    if (rows) return purged;
    if (!purged) await this.neverDeleted(which as Id);
    return undefined;
  }

  private async loadAlong(records: readonly Model[], include?: RelationsToLoad): Promise<void> {
    const scope = async () => (await this.context('select')).scope;
    await loadRelations(this.model, records, include, { source: this.access, scope });
  }

  private async findByKey(id: Id, options: KeyOptions): Promise<M | null> {
    return readRecords<M, M | null>(
      this.model,
      await this.context(options.isLocked ? 'other' : 'select'),
      (rows, on) => rows.find(id, { ...options, ...on }),
      (records, scope) => records.find(id, options, scope),
    );
  }

  private async getDeleted(id: Id): Promise<M> {
    const { access, source, scope } = await this.context('other');
    return guardRecords(
      await new SequelizeRecords(this.model, access, source).findDeleted(id, scope),
      this.access,
    );
  }

  private async neverDeleted(id: Id): Promise<never> {
    if (!(await this.findByKey(id, { isLocked: false }))) this.missing();
    throw notDeleted(this.model);
  }

  private missing(): never {
    throw noSuchRecord({ name: this.model.name, key: this.model.primaryKeyAttribute });
  }
}

const OPERATIONS = [
  'get',
  'find',
  'one',
  'list',
  'page',
  'cursorPage',
  'create',
  'update',
  'delete',
  'restore',
  'purge',
] as const;

/** A session is told of each call, so that it does not end before one that nobody has awaited. */
for (const name of OPERATIONS) {
  const run = Repository.prototype[name] as (...values: unknown[]) => Promise<unknown>;
  const noted = function (this: Repository, ...values: unknown[]): Promise<unknown> {
    const session = currentSession(this.model.sequelize);
    const promise = Reflect.apply(run, this, values);
    if (!session) return promise;
    session.note(promise, `${name} of ${this.model.name}`);
    // Another one, which Node tells of where nothing has awaited it.
    return promise.then((value) => value);
  };
  Object.defineProperty(Repository.prototype, name, { value: noted, writable: true, configurable: true });
}

/** True where a repository has no class, transaction, method or anything else of its own. */
export function isPlainRepository(repository: Repository): boolean {
  return repository.constructor === Repository && repository.isUnbound;
}
