/**
 * Records of a model whose queries are Sequelize's alone: read and written by our own statements, and made without its finders.
 * Undefined is given for what only Sequelize can do, and nothing has happened then.
 */
import { DatabaseError, type Model, type Sequelize } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import { describeModel } from '../../plan/describe-model.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import type { StatementTarget } from '../connections/statement-target.js';
import { type Hydrate, hydrator, storedAttributes } from '../customization/hydrate-record.js';
import { isPlainModel } from '../customization/model-fast-path-blockers.js';
import { hasPlainQueries } from '../customization/plain-queries.js';
import { toSequelizeError } from '../errors/sequelize-error.js';
import type { CursorPage, CursorPageRequest, OffsetPage, PageRequest } from '../paging/page.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { FastFinder, type TextRows } from '../rows/fast-finder.js';
import { FastWriter, type WriteValues } from '../rows/fast-writer.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { isOrdinary, isOrdinaryKey } from '../sql/ordinary-value.js';
import { describeTable } from '../sql/table-sql.js';

/** What a statement does. */
type Access = 'list' | 'create' | 'update' | 'delete';

/** Some of the attributes, and the statements that read them. */
interface View {
  readonly finder: FastFinder;
  records(rows: readonly TextRow[], parsers: readonly TextParser[]): Model[];
}

/** What is known of a model. */
interface Known {
  /** What Sequelize makes anew whenever it gives the model attributes. */
  readonly attributes: object;
  readonly records: RowRecords | null;
}

const models = new WeakMap<ModelClass, Known>();

/** The records of a model; null where its rows have no single key. */
export function rowRecords<M extends Model>(model: ModelClass<M>): RowRecords<M> | null {
  const plain = model as unknown as ModelClass;
  const { tableAttributes: attributes } = plain as unknown as { readonly tableAttributes: object };
  let known = models.get(plain);
  if (known?.attributes !== attributes) {
    const hasKey = plain.sequelize !== undefined && plain.primaryKeyAttributes.length === 1;
    known = { attributes, records: hasKey ? new RowRecords(describeModel(plain)) : null };
    models.set(plain, known);
  }
  return known.records as RowRecords<M> | null;
}

/** The records of one model. */
export class RowRecords<M extends Model = Model> {
  readonly #info: ModelInfo;
  readonly #stored: readonly AttributeInfo[];
  readonly #views = new BoundedCache<View>();
  readonly #whole: View;
  readonly #writer: FastWriter;
  readonly #isPlain = new Map<Access, boolean>();

  constructor(info: ModelInfo) {
    this.#info = info;
    this.#stored = storedAttributes(info);
    this.#whole = this.#viewOf(this.#stored);
    this.#writer = new FastWriter(describeTable(info, this.#stored));
  }

  /** The record with this key, or null; with these attributes only, where they are given. */
  async find(
    id: unknown,
    fields: readonly string[] | undefined,
    on?: StatementTarget,
  ): Promise<M | null | undefined> {
    const key = this.#keyText(id);
    const view = fields ? this.#viewOfFields(fields) : this.#whole;
    if (key === undefined || !view || !this.#can('list')) return undefined;
    const { rows, parsers } = await view.finder.find(key, on);
    return (view.records(rows.slice(0, 1), parsers)[0] as M | undefined) ?? null;
  }

  /** One page by number. */
  async page(request: PageRequest<M>, on?: StatementTarget): Promise<OffsetPage<M> | undefined> {
    const { page, size, filter = null, sort = [] } = request;
    if (!Number.isSafeInteger(page) || page < 1 || !this.#canList(request)) return undefined;
    const { items, parsers, ...rest } = await this.#whole.finder.page({ page, size, filter, sort }, on);
    return { ...rest, items: this.#whole.records(items, parsers) as M[] };
  }

  /** One page next to a place. */
  async cursorPage(request: CursorPageRequest<M>, on?: StatementTarget): Promise<CursorPage<M> | undefined> {
    const { size, after = null, before = null, filter = null, sort = [] } = request;
    if (!this.#canList(request)) return undefined;
    const page = await this.#whole.finder.cursorPage({ size, after, before, filter, sort }, on);
    const { next, prev } = page;
    return { items: this.#whole.records(page.items, page.parsers) as M[], next, prev };
  }

  /** Inserts a row. */
  async insert(values: WriteValues, on?: StatementTarget): Promise<M | undefined> {
    if (!this.#can('create') || !this.#areOrdinary(values, true)) return undefined;
    return this.#written(values, () => this.#writer.insert(values, on)) as Promise<M | undefined>;
  }

  /** Changes a row, and gives it; null where there is none. */
  async update(id: unknown, values: WriteValues, on?: StatementTarget): Promise<M | null | undefined> {
    const key = this.#keyText(id);
    if (key === undefined || !this.#can('update') || !this.#areOrdinary(values, false)) return undefined;
    return this.#written(values, () => this.#writer.update(key, values, on)) as Promise<M | null | undefined>;
  }

  /** Deletes a row, or marks it as deleted; whether there was one. */
  async delete(id: unknown, on?: StatementTarget): Promise<boolean | undefined> {
    const key = this.#keyText(id);
    if (key === undefined || !this.#can('delete')) return undefined;
    return this.#telling({}, () => this.#writer.delete(key, on));
  }

  async #written(
    values: WriteValues,
    write: () => Promise<TextRows | null>,
  ): Promise<Model | null | undefined> {
    const written = await this.#telling(values, write);
    if (written === null) return undefined;
    return this.#whole.records(written.rows, written.parsers)[0] ?? null;
  }

  /** Tells a failure as Sequelize does: unlike those of reads, it has a class for each kind of constraint. */
  async #telling<T>(values: WriteValues, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const model = this.#info.model;
      const instance = model.build({ ...values });
      throw toSequelizeError(model.sequelize as Sequelize, error.parent, { model, instance });
    }
  }

  /** Whether neither the class of the model nor what it has at this moment needs Sequelize. */
  #can(access: Access): boolean {
    let isPlain = this.#isPlain.get(access);
    if (isPlain === undefined) {
      isPlain = isPlainModel(this.#info, access);
      this.#isPlain.set(access, isPlain);
    }
    return isPlain && hasPlainQueries(this.#info.model, access === 'list' ? 'read' : 'write');
  }

  #canList({ where, size }: PageRequest<M> | CursorPageRequest<M>): boolean {
    return where === undefined && Number.isSafeInteger(size) && size >= 0 && this.#can('list');
  }

  #keyText(id: unknown): string | undefined {
    const { type } = this.#info.primaryKey;
    return isOrdinaryKey(type, id) ? (encodeParameter(type, id) ?? undefined) : undefined;
  }

  /** Whether Sequelize would write just these. */
  #areOrdinary(values: WriteValues, isNew: boolean): boolean {
    return Object.entries(values).every(([name, value]) => {
      if (value === undefined) return true;
      const attribute = this.#info.attributes.get(name);
      if (!attribute || !(attribute.role === 'data' || (isNew && attribute.role === 'primaryKey')))
        return false;
      return value === null ? attribute.nullable : isOrdinary(attribute.type, value);
    });
  }

  #viewOfFields(fields: readonly string[]): View | undefined {
    const attributes = fields.map((name) => this.#stored.find((each) => each.name === name));
    if (!attributes.every((each) => each !== undefined)) return undefined;
    return this.#views.get(fields.join(), () => this.#viewOf(attributes));
  }

  #viewOf(attributes: readonly AttributeInfo[]): View {
    let hydrate: Hydrate;
    let read: readonly TextParser[] | undefined;
    return {
      finder: new FastFinder(describeTable(this.#info, attributes)),
      records: (rows, parsers) => {
        if (rows.length > 0 && parsers !== read) {
          hydrate = hydrator(this.#info, attributes, parsers);
          read = parsers;
        }
        return rows.map((row) => hydrate(row));
      },
    };
  }
}
