/** Rows of one model: the data access that generated controllers use and that users subclass. */
import type { Model } from 'sequelize';
import { totalOrder } from '../../compile/compile-sort.js';
import type { CreateValues, UpdateValues, Where } from '../../declare/attributes.js';
import type { Endpoint } from '../../declare/crud-options.js';
import { FilterTemplate } from '../../declare/filter-template.js';
import { keyText } from '../../describe/row-key.js';
import { MultipleResultsFound, noSuchRecord } from '../../errors/errors.js';
import { throwOf } from '../../errors/refused-attributes.js';
import {
  checkPurge,
  isPurgeOptions,
  type PurgeOptions,
} from '../../features/soft-delete/restore-and-purge.js';
import type { Inputs } from '../../operation/feature.js';
import type { Operation } from '../../operation/operation.js';
import { allOf } from '../../operation/predicates.js';
import { currentSession } from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { type Maybe, then } from '../../util/promises.js';
import { whyUnwritten } from '../executor.js';
import { type CursorPage, type OffsetPage, type Page, withOrigin } from '../page.js';
import type { WriteValues } from '../sql/encode-parameter.js';
import { BoundRepository } from './bound-repository.js';
import { guardRecords } from './guarded-record.js';
import { keysOfRelations, loadRelations } from './load-relations.js';
import { refuseUnlessAllowed, unlessRefused } from './refused-row.js';
import { typedFilter } from './relation-requests.js';
import {
  type FoundRecords,
  type Id,
  inputsOf,
  type QueryContext,
  type ReadChoice,
  type RecordCall,
  repositoryOperation,
  withKeyOf,
} from './repository-operations.js';
import type {
  CursorPageRequest,
  FindByKeyOptions,
  ListOptions,
  PageRequest,
  RelationsToLoad,
  RowChoice,
} from './repository-options.js';
import { readRecords, writeRecords } from './run-records.js';
import { changesWithin, checkNewRow, replacementWithin } from './scoped-values.js';
import { SequelizeExecutor } from './sequelize-executor.js';

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
   * The row with this id: a value of the primary key, or of the attribute that `id` in `@Crud` names. Where these are several attributes,
   * the id is an object with a value for each. `one` finds a row by other unique values.
   *
   * @example
   * ```ts
   * const { name } = await cities.get(2988507, { fields: ['name'] });
   * const paris = await cities.get(2988507, { include: ['country', 'reviews.author'] });
   * const gone = await cities.get(2988507, { deleted: 'only' });
   * const line = await new Repository(OrderLine).get({ orderId: 10248, lineNo: 11 });
   * ```
   * @throws NotFoundError when there is none, or it is soft-deleted and `deleted` does not include it
   * @throws TypeError for an id of another type than the attribute that `id` in `@Crud` names, and for an id without a part
   */
  async get(id: Id, options: FindByKeyOptions<M> = {}): Promise<M> {
    return (await this.find(id, options)) ?? this.missing();
  }

  /** The row with this id, or null. */
  async find(id: Id, { fields, include, deleted }: FindByKeyOptions<M> = {}): Promise<M | null> {
    const read = fields && withKeyOf(this.model, [...fields, ...keysOfRelations(this.model, include ?? [])]);
    const record = await this.findByKey(id, { fields: read, deleted });
    if (record && include) await this.loadAlong([record], include);
    return guardRecords(record, this.access);
  }

  /**
   * The row with this id, which nothing else may change until the transaction has ended.
   *
   * @param isDeleted true for a soft-deleted one
   * @internal
   */
  async getLocked(id: Id, isDeleted = false): Promise<M> {
    const record = await this.findLocked(id, isDeleted);
    return record ?? (isDeleted ? this.neverDeleted(id) : this.missing());
  }

  /** The same, or null. @internal */
  async findLocked(id: Id, isDeleted = false): Promise<M | null> {
    const choice: ReadChoice = isDeleted ? { deleted: 'only' } : {};
    const record = guardRecords(await this.findByKey(id, choice, true), this.access);
    if (isDeleted) return record;
    const { get, find } = Repository.prototype;
    // A subclass may find less, or more of a row.
    const isOwn = this.get !== get || this.find !== find;
    return isOwn ? record && (await this.get(id)) : record;
  }

  /** Locks the row that a replacement changes, and returns its new values; null where there is none. @internal */
  async lockToReplace(id: Id, values: CreateValues<M>): Promise<UpdateValues<M> | null> {
    const record = await this.findLocked(id);
    const { access } = await this.context('other');
    return record && (replacementWithin(values, record.dataValues, access) as UpdateValues<M> | null);
  }

  /**
   * The ids of the rows that match, in the order of their keys, which nothing else may change until the transaction has ended.
   *
   * @internal
   */
  async lockKeys(filter: Predicate, limit: number, isGoneToo = false): Promise<readonly unknown[]> {
    const context = await this.context('other');
    const place = context.scope.transaction ? context.scope : { useMaster: true };
    return new SequelizeExecutor(this.model, context).lockKeys(filter, limit, place, isGoneToo);
  }

  /**
   * The only row that matches.
   *
   * @throws NotFoundError when no row matches
   * @throws MultipleResultsFound when several do
   */
  async one(where: Where<M> | FilterTemplate): Promise<M> {
    const [first, second] = await this.list({ where, limit: 2 });
    if (second) throw new MultipleResultsFound(`There is more than one such ${this.model.name}.`);
    return first ?? this.missing();
  }

  /**
   * All rows that match. Default order: the primary key.
   *
   * @example
   * ```ts
   * const large = await cities.list({ where: filter`population>=${1_000_000}`, include: ['country'], limit: 10 });
   * ```
   */
  async list({ where, filter, deleted, include, ...options }: ListOptions<M> = {}): Promise<M[]> {
    const chosen = this.conditionsOf({ where, filter });
    const find = { ...options, ...(chosen.where ? { where: chosen.where } : {}) };
    const inputs = inputsOf({ deleted, filter: chosen.filter ?? undefined });
    const { records } = await this.executeRead('list', inputs, { find });
    if (include) await this.loadAlong(records, include);
    return guardRecords(records, this.access);
  }

  /**
   * Number of all rows that match. It ignores the page of a query.
   *
   * @example
   * ```ts
   * const open = await tasks.count({ where: { isDone: false } });
   * const found = await tasks.count({ filter: query.filter });
   * ```
   */
  async count({ where, filter, deleted }: RowChoice<M> = {}): Promise<number> {
    const { total } = await this.executeList<OffsetPage<M>>(
      { where, filter, deleted, page: 1, size: 0 },
      'offset',
    );
    return total as number;
  }

  /**
   * One page by number, and the number of all rows. They are counted after the page, where it does not show their number; in a `dbSession`
   * both are of one snapshot. With `count` the page has the kind of its total.
   *
   * @example
   * ```ts
   * const { items, total, totalIs, hasNext } = await cities.page({ page: 1, size: 20, count: 'capped', cap: 1_000 });
   * ```
   * @throws RangeError for a `count` or `cap` that there is not
   */
  page(request: PageRequest<M>): Promise<OffsetPage<M>> {
    return this.executeList<OffsetPage<M>>(request, 'offset');
  }

  /**
   * One page next to a place. Costs the same at any depth where an index serves the order. With `count` it has the number of all
   * rows, at any place.
   *
   * @example
   * ```ts
   * const first = await cities.cursorPage({ size: 20, sort: [{ attribute: 'population', descending: true }] });
   * const second = await cities.cursorPage({ size: 20, sort: [...], after: first.next });
   * ```
   */
  cursorPage(request: CursorPageRequest<M>): Promise<CursorPage<M>> {
    return this.executeList<CursorPage<M>>(request, 'cursor');
  }

  /**
   * Inserts a row and returns it as the database holds it, defaults included. Outside of a unit of work, a write that runs hooks
   * has a transaction of its own, so that writes of the hooks are stored with it or not at all.
   */
  async create(values: CreateValues<M>): Promise<M> {
    const context = await this.context('other', values, 'create');
    checkNewRow(values, this.model.name, context.access);
    const { records } = await this.executeWrite('create', context, {}, values);
    return records[0] as M;
  }

  /**
   * Writes the attributes of `values`, and no others, and returns the row after the change.
   *
   * @throws NotFoundError when there is no such row, or it goes away meanwhile
   * @throws ConcurrentModificationError when the model has a version, and another transaction changed the row of a view meanwhile
   */
  async update(id: Id, values: UpdateValues<M>): Promise<M> {
    const context = await this.context('other', values, 'update');
    const written = changesWithin(values, this.model.name, context.access);
    const { records } = await this.executeWrite('update', context, { id }, written);
    return records[0] ?? this.missing();
  }

  /**
   * Deletes a row; marks it as deleted where the model is `paranoid` or has `softDelete`.
   *
   * @throws NotFoundError when there is no such row, or it is already soft-deleted
   */
  async delete(id: Id): Promise<void> {
    const { count } = await this.executeWrite('delete', await this.context('other'), { id });
    if (count === 0) this.missing();
  }

  /**
   * Brings a soft-deleted row back, and returns it.
   *
   * @throws NotFoundError when there is no such row
   * @throws NotDeletedError when it is not soft-deleted
   */
  async restore(id: Id): Promise<M> {
    const { records } = await this.executeWrite('restore', await this.context('other'), { id });
    return records[0] ?? this.neverDeleted(id);
  }

  /**
   * Removes the rows that were soft-deleted before a moment, and returns their number: for jobs, in batches. It takes them by key,
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
  /**
   * Removes a soft-deleted row for good.
   *
   * @throws NotFoundError when there is no such row
   * @throws NotDeletedError when it is not soft-deleted
   */
  async purge(id: Id): Promise<void>;
  async purge(which: Id | PurgeOptions): Promise<unknown> {
    const isOfMany = isPurgeOptions(which, this.idParts);
    const call = isOfMany ? { purge: checkPurge(which) } : { id: which };
    const { count } = await this.executeWrite('purge', await this.context('other'), call);
    if (isOfMany) return count;
    return count === 0 ? this.neverDeleted(which) : undefined;
  }

  /** The condition in Sequelize's words, and the other one. */
  private conditionsOf({ where, filter }: RowChoice<M>) {
    const isTemplate = where instanceof FilterTemplate;
    const info = this.described;
    const filters = [isTemplate ? where : null, filter].map((each) =>
      typedFilter(info, each, `A query of ${info.name}`),
    );
    return { where: isTemplate ? undefined : where, filter: allOf(...filters) };
  }

  private async loadAlong(records: readonly Model[], include: RelationsToLoad): Promise<void> {
    const scope = async () => (await this.context('select')).scope;
    await loadRelations(this.model, records, include, { source: this.access, scope });
  }

  private findByKey(id: Id, options: ReadChoice = {}, isLocked = false): Maybe<M | null> {
    const found = this.executeRead('read', inputsOf(options), { id }, isLocked);
    return then(found, ({ records }) => records[0] ?? null);
  }

  private executeRead(
    endpoint: 'list' | 'read',
    inputs: Inputs | undefined,
    call: RecordCall<M>,
    isLocked = false,
  ): Maybe<FoundRecords<M>> {
    if ('id' in call) this.checkId(call.id);
    return then(this.context(isLocked ? 'other' : 'select'), (context) => {
      const operation = repositoryOperation(this.model, endpoint, context.access, this.address, inputs);
      const whole = isLocked ? ({ ...operation, isLocked } as Operation) : operation;
      return readRecords(this.model, context, whole, call);
    });
  }

  private async executeList<P extends Page<M>>(
    request: Partial<PageRequest<M> & CursorPageRequest<M>>,
    kind: Inputs['kind'],
  ): Promise<P> {
    const { sort = [], include, deleted, count, cap, size, after = null, before = null } = request;
    const place = kind === 'offset' ? { kind, page: request.page, size } : { kind, after, before, size };
    const { where, filter } = this.conditionsOf(request);
    const order = totalOrder(sort, this.described.primaryKey);
    const inputs = { ...place, filter, sort: order, deleted, count, cap } as Inputs;
    const { page, records } = await this.executeRead('list', inputs, { where });
    if (include) await this.loadAlong(records, include);
    guardRecords(records, this.access);
    return withOrigin({ ...page, items: records } as P, this.model, order);
  }

  private async executeWrite(
    endpoint: Endpoint,
    context: QueryContext,
    call: RecordCall<M>,
    values?: WriteValues,
  ): Promise<FoundRecords<M>> {
    if ('id' in call) this.checkId(call.id);
    const { id } = call;
    const { allowed } = context.access;
    const operation = repositoryOperation(
      this.model,
      endpoint,
      context.access,
      this.address,
      this.touched,
      values,
    );
    const running = writeRecords(this.model, context, endpoint, operation, call);
    // A delete is refused for rows that refer to the record, and for none of its values.
    const write = values ? running.catch(throwOf(this.model)) : running;
    const refuse = async () => allowed && refuseUnlessAllowed(this, allowed, id as Id, endpoint);
    const found = await (allowed && id !== undefined ? unlessRefused(write, refuse) : write);
    guardRecords(found.records, this.access);
    return found;
  }

  private async neverDeleted(id: Id): Promise<never> {
    const alive = await this.findByKey(id);
    const info = this.described;
    throw whyUnwritten({ info, endpoint: 'restore' }, alive && { isDeleted: false });
  }

  private missing(): never {
    throw noSuchRecord({ name: this.model.name, key: keyText(this.idParts) });
  }
}

const OPERATIONS = [
  'get',
  'find',
  'one',
  'list',
  'count',
  'aggregate',
  'page',
  'cursorPage',
  'create',
  'update',
  'delete',
  'restore',
  'purge',
  'eraseHistory',
  'eraseActor',
  'importRows',
] as const;

/** Each call is noted in its session, which does not end before a call that no code has awaited. */
for (const name of OPERATIONS) {
  const run = Repository.prototype[name] as (...values: unknown[]) => Promise<unknown>;
  const noted = function (this: Repository, ...values: unknown[]): Promise<unknown> {
    const session = currentSession(this.model.sequelize);
    const promise = Reflect.apply(run, this, values);
    return session ? session.note(promise, `${name} of ${this.model.name}`) : promise;
  };
  Object.defineProperty(Repository.prototype, name, { value: noted, writable: true, configurable: true });
}

/** True where a repository has no class, transaction, method or anything else of its own. */
export function isPlainRepository(repository: Repository): boolean {
  return repository.constructor === Repository && repository.isUnbound;
}
