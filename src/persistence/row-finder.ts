/** Finds rows of a model by filter, order and range, through Sequelize's own finders, so that hooks and scopes hold. */
import {
  type FindOptions,
  literal,
  type Model,
  Op,
  type OrderItem,
  type Transaction,
  type WhereOptions,
} from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';
import type { ModelInfo } from '../model/model-info.js';
import { totalOrder } from '../plan/compile-options.js';
import { describeModel } from '../plan/describe-model.js';
import { type AppliedScope, appliedScope, scopedInnerOrder, withoutScopedOrder } from './default-scope.js';
import { type ColumnSql, columnsOf, compileFilter } from './filter-sql.js';
import type { KeyTerm } from './keyset-sql.js';
import { hasFindHooks } from './model-hooks.js';
import type { RowCriteria } from './page.js';
import { joinSql, renderSql, type SqlFragment, sql } from './sql-fragment.js';

/** The rows of one model that meet some criteria, in their order. */
export class RowFinder<M extends Model> {
  readonly info: ModelInfo;
  readonly column: ColumnSql;
  readonly scope: AppliedScope;
  readonly #model: ModelClass<M>;
  readonly #criteria: RowCriteria<M>;
  readonly #options: { transaction?: Transaction };

  constructor(model: ModelClass<M>, criteria: RowCriteria<M>, options: { transaction?: Transaction }) {
    this.#model = model;
    this.scope = appliedScope(model);
    this.#options = options;
    this.#criteria = criteria;
    this.info = describeModel(model as unknown as ModelClass);
    // Sequelize gives the table the model's name in every query.
    this.column = columnsOf(this.info, this.info.name);
  }

  /** The total order of the rows. */
  terms(): KeyTerm[] {
    const { primaryKey, attributes } = this.info;
    return totalOrder(this.#criteria.sort ?? [], primaryKey.name).map((term) => ({
      ...term,
      nullable: attributes.get(term.attribute)?.nullable ?? true,
    }));
  }

  /** Rows in this order, within a range if one is given. */
  find(terms: readonly KeyTerm[], range: SqlFragment | null, options: FindOptions): Promise<M[]> {
    const order = terms.map(
      ({ attribute, descending }): OrderItem => [attribute, descending ? 'DESC' : 'ASC'],
    );
    order.push(...scopedInnerOrder(this.scope));
    const model = withoutScopedOrder(this.#model);
    return model.findAll({ order, ...options, ...this.#options, ...this.#where(range) });
  }

  /** How many rows there are. */
  count(): Promise<number> {
    // A scope that joins many rows to one would have it counted as many times.
    const once = this.scope.include ? { distinct: true, col: `${this.info.name}.${this.#keyColumn()}` } : {};
    return this.#model.count({ ...once, ...this.#options, ...this.#where(null) });
  }

  #keyColumn(): string {
    const { primaryKey, attributes } = this.info;
    return attributes.get(primaryKey.name)?.column ?? primaryKey.name;
  }

  #where(range: SqlFragment | null): { where?: WhereOptions; bind?: string[] } {
    const { where, filter } = this.#criteria;
    const conditions = [...(filter ? [compileFilter(filter, this.column)] : []), ...(range ? [range] : [])];
    if (conditions.length === 0) return where ? { where } : {};
    const condition = joinSql(
      conditions.map((each) => sql`(${each})`),
      ' AND ',
    );
    if (this.#canBind()) {
      return {
        where: literal(renderSql(condition, (_value, index) => `$${index + 1}`)),
        bind: [...condition.values],
      };
    }
    const { sequelize } = this.#model;
    const text = renderSql(condition, (value) => sequelize?.escape(value) ?? '');
    return { where: { [Op.and]: [...(where ? [where] : []), literal(text)] } as WhereOptions };
  }

  /**
   * Sequelize finds bind parameters by looking for `$` in the whole statement, in quoted values too. Values that are
   * not ours can hold one, and are quoted by Sequelize; then ours are quoted as well.
   */
  #canBind(): boolean {
    const hasScope = Object.keys(this.scope).length > 0;
    return !this.#criteria.where && !hasScope && !hasFindHooks(this.#model);
  }
}
