/** Finds rows of a model by filter, order and range, through Sequelize's own finders, so that hooks and scopes hold. */
import {
  type FindOptions,
  literal,
  type Model,
  type OrderItem,
  type ProjectionAlias,
  type Transaction,
  type WhereOptions,
} from 'sequelize';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { describeModel } from '../../describe/describe-model.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { type AppliedScope, countingTo, scopeOf } from '../../describe/sequelize-internals.js';
import type { Value } from '../../request/query/predicate.js';
import { scopedInnerOrder, withAttributes, withoutScopedOrder } from '../customization/default-scope.js';
import { hasFindHooks } from '../customization/plain-queries.js';
import { type KeyTerm, keyTerms } from '../sql/keyset-sql.js';
import { type ColumnSql, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { boundText, joinSql, renderSql, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { bothHold, conditionsOf, type SequelizeRows, withDeleted } from './sequelize-rows.js';

/** The values of one statement. */
interface StatementValues {
  /** Values that are bound so far, or null where all are quoted. */
  readonly bind: string[] | null;
  /** Takes a value, and gives what stands for it in the text. */
  placeholder(value: Value): string;
}

/** Options of the queries of a finder. */
export interface FinderOptions {
  readonly hooks?: false;
  readonly transaction?: Transaction;
}

/** Rows, and their order. */
export interface FinderCriteria<M extends Model> extends SequelizeRows<M> {
  readonly order?: readonly SortTerm[];
}

/** The rows of one model that meet some criteria, in their order. */
export class RowFinder<M extends Model> {
  readonly info: ModelInfo;
  readonly column: ColumnSql;
  readonly scope: AppliedScope;
  readonly #model: ModelClass<M>;
  readonly #criteria: FinderCriteria<M>;
  readonly #options: FinderOptions;

  constructor(model: ModelClass<M>, criteria: FinderCriteria<M>, options: FinderOptions) {
    this.#model = model;
    this.scope = scopeOf(model);
    this.#options = options;
    this.#criteria = criteria;
    this.info = describeModel(model as unknown as ModelClass);
    // Sequelize gives the table the model's name in every query.
    this.column = columnsOf(this.info, this.info.name);
  }

  /** The total order of the rows. */
  terms(): KeyTerm[] {
    return keyTerms(this.info, this.#criteria.order);
  }

  /** Rows in this order, within a range if one is given, with more columns than their attributes. */
  find(
    terms: readonly KeyTerm[],
    range: SqlFragment | null,
    options: FindOptions,
    columns?: Readonly<Record<string, SqlFragment>>,
  ): Promise<M[]> {
    const values = this.#values();
    const order = terms.map(
      ({ attribute, descending }): OrderItem => [attribute, descending ? 'DESC' : 'ASC'],
    );
    order.push(...scopedInnerOrder(this.scope));
    const more = Object.entries(columns ?? {}).map(
      ([name, column]): ProjectionAlias => [literal(renderSql(column, values.placeholder)), name],
    );
    const { attributes: some } = options;
    const whole = Array.isArray(some) ? [...some, ...more] : withAttributes(this.scope, more);
    const attributes = columns ? { attributes: whole } : {};
    const where = this.#where(range, values);
    const seen = { ...this.#options, ...withDeleted(this.#criteria) };
    const query = { order, ...options, ...attributes, ...seen, ...where, ...bound(values) };
    return withoutScopedOrder(this.#model).findAll(query);
  }

  /** The rows behind an offset. */
  findFrom(offset: number, limit: number): Promise<M[]> {
    return this.find(this.terms(), null, { limit, offset });
  }

  /** Number of rows, counted up to a limit; `Infinity` counts all. */
  count(limit: number): Promise<number> {
    // A scope that joins many rows to one would have it counted as many times.
    const once = this.scope.include ? { distinct: true, col: `${this.info.name}.${this.#keyColumn()}` } : {};
    const values = this.#values();
    const model = limit === Number.POSITIVE_INFINITY ? this.#model : countingTo(this.#model, limit);
    const seen = { ...this.#options, ...withDeleted(this.#criteria) };
    return model.count({ ...once, ...seen, ...this.#where(null, values), ...bound(values) });
  }

  #keyColumn(): string {
    const { primaryKey, attributes } = this.info;
    return attributes.get(primaryKey.name)?.column ?? primaryKey.name;
  }

  #where(range: SqlFragment | null, { bind, placeholder }: StatementValues): { where?: WhereOptions } {
    const { where } = this.#criteria;
    const conditions = [
      ...conditionsOf(this.info, this.#criteria, this.column),
      ...(range ? [sql`(${range})`] : []),
    ];
    if (conditions.length === 0) return where ? { where } : {};
    const text = literal(renderSql(joinSql(conditions, ' AND '), placeholder));
    return { where: bind ? text : bothHold(where, text) };
  }

  /**
   * Sequelize finds bind parameters by looking for `$` in the whole statement, in quoted values too. Values that are
   * not ours can hold one, and are quoted by Sequelize; then ours are quoted as well.
   */
  #values(): StatementValues {
    const hasScope = Object.keys(this.scope).length > 0;
    if (this.#criteria.where || hasScope || hasFindHooks(this.#model) || this.#holdsDollar()) {
      return { bind: null, placeholder: (value) => this.#model.sequelize?.escape(boundText(value)) ?? '' };
    }
    const bind: string[] = [];
    return { bind, placeholder: (value) => `$${bind.push(boundText(value))}` };
  }

  /** The scope of another model may be part of a filter. */
  #holdsDollar(): boolean {
    const { within } = this.#criteria;
    return within !== null && compilePredicate(within, this.column).texts.some((text) => text.includes('$'));
  }
}

function bound({ bind }: StatementValues): { bind?: string[] } {
  return bind?.length ? { bind } : {};
}
