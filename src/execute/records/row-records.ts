/**
 * Records of a model whose queries are Sequelize's alone: read and written by our own statements, and made without its finders.
 * Undefined is given for what only Sequelize can do, and nothing has happened then.
 */

import { DatabaseError, type Model, type Sequelize } from 'sequelize';
import { totalOrder } from '../../compile/compile-options.js';
import { describeModel } from '../../compile/describe-model.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { deletedAtOf } from '../../describe/attribute-notes.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { attributesVersion } from '../../describe/sequelize-internals.js';
import { hasOtherTypes, isKeyTrusted } from '../../describe/table-facts.js';
import { severalRecords } from '../../errors/errors.js';
import { toSequelizeError } from '../../errors/sequelize-error.js';
import type { Access } from '../../operation/access.js';
import { countOf } from '../../operation/count.js';
import type { ListOperation, Operation } from '../../operation/operation.js';
import { allOf, equalTo, rowsAsked } from '../../operation/predicates.js';
import type { StatementTarget, TextParser } from '../../postgres/index.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { perPair } from '../../util/memoize-by-identity.js';
import { type Hydrate, pristineHydrator, storedAttributes } from '../customization/hydrate-record.js';
import { sequelizeProblem } from '../customization/internals-trial.js';
import { classBlockers } from '../customization/model-fast-path-blockers.js';
import { hasPlainQueries } from '../customization/plain-queries.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest, RowCriteria } from '../paging/page.js';
import type { WriteValues } from '../rows/encode-rows.js';
import { type FoundRows, RowExecutor } from '../rows/row-executor.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { isOrdinary, isOrdinaryKey } from '../sql/ordinary-value.js';
import { joinSlots, NO_SLOTS, type Slots } from '../sql/statement.js';

/** Kind of a statement. */
type StatementKind = 'list' | 'create' | 'update' | 'delete' | 'restore' | 'purge';

/** The value of a primary key. */
export type Id = string | number | bigint;

/** Access to the rows, and the connection of their statements. */
export interface RowOptions {
  readonly access: Access;
  /** Default: any connection of the pool. */
  readonly on?: StatementTarget | undefined;
}

/** Options of a read by key. */
export interface KeyOptions {
  /** Default: all attributes. */
  readonly fields?: readonly string[] | undefined;
  /** True where the row is locked until the transaction has ended. */
  readonly isLocked: boolean;
  /** Default: it is not soft-deleted. */
  readonly deleted?: Deleted | undefined;
}

/** Cached records of a model, with the attributes that they were made from. */
interface Known {
  /** Object that Sequelize makes anew whenever the model gets attributes. */
  readonly attributes: object | undefined;
  readonly records: RowRecords | null;
}

const models = new WeakMap<ModelClass, Known>();

/** The records of a model; null where its rows have no single key, and where Sequelize is not as it is known. */
export function rowRecords<M extends Model>(model: ModelClass<M>): RowRecords<M> | null {
  const plain = model as unknown as ModelClass;
  const attributes = attributesVersion(plain);
  let known = models.get(plain);
  if (!known || known.attributes !== attributes) {
    const hasKey = plain.sequelize !== undefined && plain.primaryKeyAttributes.length === 1;
    const isKnown = hasKey && !sequelizeProblem();
    known = { attributes, records: isKnown ? new RowRecords(describeModel(plain)) : null };
    models.set(plain, known);
  }
  return known.records as RowRecords<M> | null;
}

/** The records of one model. */
export class RowRecords<M extends Model = Model> {
  readonly #info: ModelInfo;
  readonly #executor: RowExecutor;
  /** Attributes that rows are read with by default. */
  readonly #stored: readonly AttributeInfo[];
  readonly #columns: readonly string[];
  /** The row with the key in the slot `id`. */
  readonly #row: Predicate;
  /** The same where it is not soft-deleted. */
  readonly #aliveRow: Predicate;
  readonly #isPlain = new Map<StatementKind, boolean>();
  /** Makes records of rows whose columns are read by these parsers: statements that take turns have parsers of their own. */
  readonly #hydrateFor: (parsers: readonly TextParser[]) => Hydrate;

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.#info = info;
    this.#executor = new RowExecutor(info);
    this.#stored = storedAttributes(info);
    this.#columns = this.#stored.map(({ name }) => name);
    this.#hydrateFor = perPair((parsers: readonly TextParser[]) => this.#hydrator(this.#stored, parsers));
    this.#row = equalTo(info.primaryKey.name, { slot: 'id' });
    this.#aliveRow = allOf(this.#row, rowsAsked(info));
  }

  /** The record with this key, or null; with these attributes only, where they are given. */
  async find(
    id: Id,
    { fields, isLocked, deleted, access, on }: RowOptions & KeyOptions,
  ): Promise<M | null | undefined> {
    const slots = this.#slotsOf(id, access);
    const attributes = fields ? this.#attributesOf(fields) : this.#stored;
    if (!slots || !attributes || !this.#can('list')) return undefined;
    const select = { columns: fields ?? this.#columns };
    const found = await this.#executor.run(
      { kind: 'read', where: this.#rowWithin(access, deleted), select, isLocked },
      slots,
      on,
    );
    if (found.count > 1) throw severalRecords({ name: this.#info.name, key: this.#info.primaryKey.name });
    const [record = null] = fields ? this.#some(found, attributes) : this.#records(found);
    return record;
  }

  /** One page by number. */
  async page(request: PageRequest<M>, { access, on }: RowOptions): Promise<OffsetPage<M> | undefined> {
    const { page, size } = request;
    if (!Number.isSafeInteger(page) || page < 1 || !this.#canList(request)) return undefined;
    const window = { kind: 'offset', page, size } as const;
    const operation = this.#list(request, window, countOf(request, 'exact'), access);
    const found = await this.#executor.run(operation, access.slots, on);
    const { total = null } = found.page;
    return { ...found.page, items: this.#records(found), total, page, size };
  }

  /** One page next to a place. */
  async cursorPage(
    request: CursorPageRequest<M>,
    { access, on }: RowOptions,
  ): Promise<CursorPage<M> | undefined> {
    const { size, after = null, before = null } = request;
    if (!this.#canList(request)) return undefined;
    const window = { kind: 'keyset', after, before, size } as const;
    const operation = this.#list(request, window, countOf(request, 'none'), access);
    const found = await this.#executor.run(operation, access.slots, on);
    const { next = null, prev = null } = found.page;
    return { ...found.page, items: this.#records(found), next, prev };
  }

  /** Inserts a row. */
  async insert(values: WriteValues, { access, on }: RowOptions): Promise<M | undefined> {
    if (!this.#can('create') || !this.#areOrdinary(values, true)) return undefined;
    const { references, slots } = access;
    const returning = { columns: this.#columns };
    const operation = { kind: 'insert', row: values, references, returning } as const;
    const written = await this.#write(operation, values, on, slots);
    return written === null ? undefined : this.#records(written)[0];
  }

  /** Changes a row, and gives it; null where there is none. */
  async update(id: Id, values: WriteValues, { access, on }: RowOptions): Promise<M | null | undefined> {
    const slots = this.#slotsOf(id, access);
    if (!slots || !this.#can('update') || !this.#areOrdinary(values, false)) return undefined;
    const returning = { columns: this.#columns };
    const where = this.#rowWithin(access);
    const { references, form } = access;
    const { unreadable: unseen } = form;
    const operation = { kind: 'update', where, set: values, references, returning, unseen } as const;
    const written = await this.#write(operation, values, on, slots);
    return written === null ? undefined : (this.#records(written)[0] ?? null);
  }

  /** Deletes a row, or marks it as deleted; whether there was one. */
  async delete(id: Id, { access, on }: RowOptions): Promise<boolean | undefined> {
    const slots = this.#slotsOf(id, access);
    if (!slots || !this.#can('delete')) return undefined;
    const mark = deletedAtOf(this.#info) ?? null;
    const deleted = await this.#write(
      { kind: 'delete', where: this.#rowWithin(access), mark },
      {},
      on,
      slots,
    );
    return (deleted?.count ?? 0) > 0;
  }

  /** Brings a soft-deleted row back, and gives it; null where there is none. */
  async restore(id: Id, { access, on }: RowOptions): Promise<M | null | undefined> {
    const slots = this.#slotsOf(id, access);
    const mark = deletedAtOf(this.#info);
    if (!slots || !mark || !this.#can('restore')) return undefined;
    const returning = { columns: this.#columns };
    const operation = {
      kind: 'update',
      where: this.#rowWithin(access, 'only'),
      set: { [mark]: null },
      differs: true,
      returning,
    } as const;
    const written = await this.#write(operation, {}, on, slots);
    return written === null ? undefined : (this.#records(written)[0] ?? null);
  }

  /** Removes a soft-deleted row; whether there was one. */
  async purge(id: Id, { access, on }: RowOptions): Promise<boolean | undefined> {
    const slots = this.#slotsOf(id, access);
    if (!slots || !this.#can('purge')) return undefined;
    const operation = { kind: 'delete', where: this.#rowWithin(access, 'only'), mark: null } as const;
    const purged = await this.#write(operation, {}, on, slots);
    return (purged?.count ?? 0) > 0;
  }

  #list(
    { filter = null, sort = [], deleted }: RowCriteria<M>,
    window: ListOperation['window'],
    count: ListOperation['count'],
    access: Access,
  ): ListOperation {
    const where = allOf(filter, rowsAsked(this.#info, deleted), access.where);
    const order = totalOrder(sort, this.#info.primaryKey.name);
    return { kind: 'list', where, select: { columns: this.#columns }, order, window, count };
  }

  /** Tells a failure as Sequelize does: unlike those of reads, it has a class for each kind of constraint. */
  async #write(
    operation: Operation,
    values: WriteValues,
    on: StatementTarget | undefined,
    slots: Slots = NO_SLOTS,
  ): Promise<FoundRows | null> {
    try {
      return await this.#executor.run(operation, slots, on);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const { model } = this.#info;
      const instance = model.build({ ...values });
      throw toSequelizeError(model.sequelize as Sequelize, error.parent, { model, instance });
    }
  }

  /** True where neither the class of the model nor its present hooks and types need Sequelize. */
  #can(kind: StatementKind): boolean {
    let isPlain = this.#isPlain.get(kind);
    if (isPlain === undefined) {
      isPlain = classBlockers(this.#info, kind, true).length === 0;
      this.#isPlain.set(kind, isPlain);
    }
    const { model } = this.#info;
    if (hasOtherTypes(model)) return false;
    // A write of several rows is to be undone.
    if (kind !== 'list' && kind !== 'create' && isKeyTrusted(model)) return false;
    return isPlain && hasPlainQueries(model, kind === 'list' ? 'read' : 'write');
  }

  /** A condition of the user's is for Sequelize to write. A size is part of a text. */
  #canList({ where, size }: PageRequest<M> | CursorPageRequest<M>): boolean {
    return where === undefined && Number.isSafeInteger(size) && size >= 0 && this.#can('list');
  }

  #rowWithin({ where }: Access, deleted?: Deleted): Predicate {
    if (deleted !== undefined) return allOf(this.#row, rowsAsked(this.#info, deleted), where);
    return where === null ? this.#aliveRow : allOf(this.#aliveRow, where);
  }

  #slotsOf(id: Id, access: Access): Slots | undefined {
    const { type } = this.#info.primaryKey;
    const text = isOrdinaryKey(type, id) ? encodeParameter(type, id) : undefined;
    return typeof text === 'string' ? joinSlots({ id: text }, access.slots) : undefined;
  }

  /** True where Sequelize would write just these values. */
  #areOrdinary(values: WriteValues, isNew: boolean): boolean {
    return Object.entries(values).every(([name, value]) => {
      if (value === undefined) return true;
      const attribute = this.#info.attributes.get(name);
      if (!attribute || !(attribute.role === 'data' || (isNew && attribute.role === 'primaryKey')))
        return false;
      return value === null ? attribute.nullable : isOrdinary(attribute.type, value);
    });
  }

  /** The attributes with these names; undefined where one is none of a column. */
  #attributesOf(fields: readonly string[]): readonly AttributeInfo[] | undefined {
    const found = fields.map((name) => this.#stored.find((each) => each.name === name));
    return fields.length > 0 && found.every((each) => each !== undefined) ? found : undefined;
  }

  #hydrator(attributes: readonly AttributeInfo[], parsers: readonly TextParser[]): Hydrate {
    return pristineHydrator({ info: this.#info, attributes, parsers });
  }

  #records({ rows, parsers }: Pick<FoundRows, 'rows' | 'parsers'>): M[] {
    // Where there are no rows, nobody has said how to read one.
    if (rows.length === 0) return [];
    return rows.map(this.#hydrateFor(parsers)) as M[];
  }

  #some({ rows, parsers }: FoundRows, attributes: readonly AttributeInfo[]): M[] {
    return rows.length === 0 ? [] : (rows.map(this.#hydrator(attributes, parsers)) as M[]);
  }
}
