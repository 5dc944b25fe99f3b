/** Finds rows of a model by filter, order and range, through Sequelize's own finders, so that hooks and scopes hold. */

import {
  type FindOptions,
  literal,
  type Model,
  type OrderItem,
  type ProjectionAlias,
  type Transaction,
} from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import { type AppliedScope, scopeOf, withScope } from '../../describe/hooks-and-scopes-internals.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { countingTo } from '../../describe/sequelize-internals.js';
import type { Keyset, KeyValues } from '../../request/query/cursor-codec.js';
import type { PageSource } from '../page.js';
import { type KeyTerm, keyTerms, rangesAfter, rowAt } from '../sql/keyset-sql.js';
import { type ColumnSql, columnsOf } from '../sql/predicate-sql.js';
import { directionSql, keySql } from '../sql/sort-sql.js';
import { identifier, quotedSql, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { type FirstRows, keepingOurs, queryOf, type SequelizeRows } from './sequelize-rows.js';

/** Rows, and their order. */
export interface FinderCriteria<M extends Model> extends SequelizeRows<M> {
  readonly order?: readonly SortTerm[];
  /** Null where Sequelize finds the first rows by itself. */
  readonly first?: FirstRows | null;
}

interface FinderOptions {
  readonly hooks?: false;
  readonly transaction?: Transaction;
}

/** Names of the extra columns that hold the key values as text. No attribute can have one. */
const keyColumn = (index: number): string => `keyset ${index}`;
/** Names of those that rows are sorted by, where these are no columns of the model. */
const sortedColumn = (index: number): string => `sorted ${index}`;
/** Name of the column that is true for the row that the place was made from. */
const PLACE_COLUMN = 'keyset place';

interface RecordPlace {
  readonly values: KeyValues;
  /** True for the record that the place of the page was made from. */
  readonly isPlace: boolean;
}

interface RecordRange {
  readonly walk: readonly KeyTerm[];
  readonly place: Keyset | null;
  readonly condition: SqlFragment | null;
}

/** The rows of one model that meet some criteria, in their order. */
export class RowFinder<M extends Model> implements PageSource<M, RecordRange> {
  readonly column: ColumnSql;
  /** The total order of the rows. */
  readonly terms: readonly KeyTerm[];
  readonly #info: ModelInfo;
  readonly #scope: AppliedScope;
  readonly #model: ModelClass<M>;
  readonly #criteria: FinderCriteria<M>;
  readonly #options: FinderOptions;
  readonly #places = new Map<M, RecordPlace>();

  constructor(model: ModelClass<M>, criteria: FinderCriteria<M>, options: FinderOptions) {
    this.#model = model;
    this.#scope = scopeOf(model);
    this.#options = options;
    this.#criteria = criteria;
    this.#info = describeRecords(model as unknown as ModelClass);
    // The alias of the table in queries of Sequelize is the model's name.
    this.column = columnsOf(this.#info, this.#info.name);
    this.terms = keyTerms(this.#info, criteria.order);
  }

  /** Selects rows in an order, within a range if there is one, with more columns than their attributes. */
  async select(
    terms: readonly KeyTerm[],
    range: SqlFragment | null,
    options: FindOptions,
    columns?: Readonly<Record<string, SqlFragment>> | null,
  ): Promise<M[]> {
    const sorted = terms.flatMap((term, index): [string, SqlFragment][] =>
      term.value ? [[sortedColumn(index), keySql(term, this.column)]] : [],
    );
    const order = terms.map((term, index): OrderItem => {
      // Around a scope that joins other tables, Sequelize sorts by selected columns.
      const by = term.value ? literal(identifier(sortedColumn(index))) : term.attribute;
      return [by, `${term.descending ? '' : 'ASC'}${directionSql(term)}`.trim()];
    });
    order.push(...scopedInnerOrder(this.#scope));
    const more = sorted.length > 0 ? { ...columns, ...Object.fromEntries(sorted) } : columns;
    const whole = more && withColumns(this.#scope, options.attributes, more);
    const attributes = whole ? { attributes: whole } : {};
    const query = { order, ...options, ...attributes, ...this.#options, ...this.#rows(range) };
    const records = await keepingOurs(withoutScopedOrder(this.#model)).findAll(query);
    if (options.raw !== true) for (const [name] of sorted) for (const each of records) take(each, name);
    return records;
  }

  findFrom(offset: number, limit: number): Promise<M[]> {
    return this.select(this.terms, this.#first(this.terms, null, offset + limit), { limit, offset });
  }

  /** Number of rows, counted up to a limit; `Infinity` counts all. */
  count(limit: number): Promise<number> {
    // A scope that joins many rows to one would have it counted as many times.
    const once = this.#scope.include ? { distinct: true, col: this.#keyColumns() } : {};
    const model = limit === Number.POSITIVE_INFINITY ? this.#model : countingTo(this.#model, limit);
    return keepingOurs(model).count({ ...once, ...this.#options, ...this.#rows(null) });
  }

  /** All columns of the key as one, which Sequelize's types have no place for: by the first alone, rows with the same would count once. */
  #keyColumns(): string {
    const { name, primaryKey } = this.#info;
    const columns = primaryKey.map(({ name: part }) => quotedSql(this.column(part)));
    if (columns.length > 1) return literal(`(${columns.join(', ')})`) as unknown as string;
    const [key] = primaryKey;
    if (key) return `${name}.${key.column}`;
    throw new TypeError(
      `The default scope of ${name} joins other tables, and ${name} has no primary key, so that its rows cannot be told apart; give it one.`,
    );
  }

  ranges(walk: readonly KeyTerm[], place: Keyset | null): RecordRange[] {
    const placed = this.#criteria.first?.place(walk) ?? walk;
    const conditions = place ? rangesAfter(placed, place, this.column) : [null];
    return conditions.map((condition) => ({ walk, place, condition }));
  }

  async find({ walk, place, condition }: RecordRange, limit: number): Promise<M[]> {
    const { column, terms } = this;
    // Keys as the database writes them: a JavaScript date would lose the microseconds.
    const keys = terms.map((term, index) => [keyColumn(index), sql`${keySql(term, column)}::text`]);
    const columns = {
      ...Object.fromEntries(keys),
      ...(place ? { [PLACE_COLUMN]: rowAt(walk, place, column) } : {}),
    };
    const records = await this.select(walk, this.#first(walk, condition, limit), { limit }, columns);
    for (const record of records) {
      const values = terms.map((_, index) => take(record, keyColumn(index)) as string | null);
      const isPlace = place !== null && take(record, PLACE_COLUMN) === true;
      this.#places.set(record, { values, isPlace });
    }
    return records;
  }

  async hasAny({ walk, condition }: RecordRange): Promise<boolean> {
    // Where a scope joins other tables, Sequelize sorts by selected columns.
    const attributes = walk.flatMap(({ attribute, value }) => (value ? [] : attribute));
    const range = this.#first(walk, condition, 1);
    return (await this.select(walk, range, { attributes, limit: 1, raw: true })).length > 0;
  }

  valuesOf(record: M): KeyValues {
    return this.#places.get(record)?.values ?? [];
  }

  isPlace(record: M): boolean {
    return this.#places.get(record)?.isPlace === true;
  }

  #first(walk: readonly KeyTerm[], range: SqlFragment | null, limit: number): SqlFragment | null {
    return this.#criteria.first?.condition(walk, range, limit) ?? range;
  }

  #rows(range: SqlFragment | null) {
    return queryOf(this.#info, this.#criteria, 'select', range);
  }
}

/** Reads an extra column of a record, and removes it: other code must not see it. */
export function take(record: Model, name: string): unknown {
  const { dataValues } = record;
  const value = dataValues[name];
  delete dataValues[name];
  if (value !== undefined) return value;
  const { name: model } = record.constructor;
  throw new TypeError(
    `A hook of ${model} replaced the attributes of a query, which has columns of its own; add to them.`,
  );
}

/**
 * The same model without the order, limit and offset of its default scope. Sequelize merges the scope into every query, and its order
 * would come before that of the query.
 */
function withoutScopedOrder<M extends Model>(model: ModelClass<M>): ModelClass<M> {
  const scope = scopeOf(model);
  if (!['order', 'limit', 'offset'].some((key) => key in scope)) return model;
  return withScope(model, { ...scope, order: undefined, limit: undefined, offset: undefined });
}

/** Order of a scope that remains behind a total order: it sorts joined rows within their record. */
function scopedInnerOrder({ include, order }: AppliedScope): OrderItem[] {
  if (!include || !order) return [];
  return (Array.isArray(order) ? order : [order]) as OrderItem[];
}

/** The `attributes` of a query that selects its usual columns, and more. */
export function withColumns(
  scope: AppliedScope,
  attributes: FindOptions['attributes'],
  columns: Readonly<Record<string, SqlFragment>>,
): FindOptions['attributes'] {
  const more = Object.entries(columns).map(
    ([name, column]): ProjectionAlias => [literal(quotedSql(column)), name],
  );
  if (Array.isArray(attributes)) return [...attributes, ...more];
  // Sequelize joins two lists, and two objects; an object in place of a list would select all attributes again.
  return Array.isArray(scope.attributes) ? more : { include: more };
}
