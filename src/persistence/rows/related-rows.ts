/** Reads the rows behind a relation, of many parents with one statement. */
import type { Sequelize } from 'sequelize';
import type { ModelInfo } from '../../model/model-info.js';
import type { Relation } from '../../model/relations.js';
import type { Predicate, Selection } from '../../operation/operation.js';
import type { SortTerm } from '../../plan/resource-plan.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { currentTarget } from '../connections/current-target.js';
import type { StatementTarget } from '../connections/statement-target.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { arrayLiteral } from '../sql/encode-parameter.js';
import { keyTerms } from '../sql/keyset-sql.js';
import { liftValues } from '../sql/lift-values.js';
import { compileRelated, describeParents, KEYS, type ParentsSql } from '../sql/related-sql.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement } from '../sql/statement.js';
import { describeSelection, describeTable, type TableSql } from '../sql/table-sql.js';

/** What is asked of a relation. */
export interface RelatedOperation {
  /** The rows of the parent whose key is in the slot `parent`. */
  readonly where: Predicate;
  readonly select: Selection;
  readonly order: readonly SortTerm[];
  /** Rows of each parent; null is all of them. */
  readonly limit: number | null;
}

/** Rows of several parents, parent by parent. */
export interface RelatedRowsFound {
  readonly rows: readonly TextRow[];
  /** The place of each row's parent among the keys, from 0. */
  readonly parents: readonly number[];
  readonly parsers: readonly TextParser[];
}

const NOTHING: RelatedRowsFound = Object.freeze({ rows: [], parents: [], parsers: [] });

/** The rows behind one relation. */
export class RelatedRows {
  readonly #info: ModelInfo;
  readonly #table: TableSql;
  readonly #parents: ParentsSql;
  readonly #statements = new BoundedCache<Statement>();

  /** @param info of the target */
  constructor(relation: Relation, info: ModelInfo) {
    this.#info = info;
    this.#table = describeTable(info);
    this.#parents = describeParents(relation);
  }

  /**
   * Reads the rows of parents with these keys.
   *
   * @param keys texts of the parents' column, each once
   */
  async run(
    { where, select, order, limit }: RelatedOperation,
    keys: readonly string[],
    slots: Slots = NO_SLOTS,
    on: StatementTarget = currentTarget(this.#info.model.sequelize as Sequelize),
  ): Promise<RelatedRowsFound> {
    if (keys.length === 0) return NOTHING;
    const { predicate, shape, bound } = liftValues(where);
    const sorted = order
      .map(({ attribute, descending }) => `${descending ? '-' : '+'}${attribute}`)
      .join('\0');
    const statement = this.#statements.get(`${limit} ${select.columns.join('\0')} ${sorted} ${shape}`, () =>
      compileRelated(this.#table, {
        parents: this.#parents,
        where: predicate as Predicate,
        selection: describeSelection(this.#table, select, 0),
        order: keyTerms(this.#info, order),
        limit,
      }),
    );
    const filled = { ...joinSlots(slots, bound ?? NO_SLOTS), [KEYS.slot]: arrayLiteral(keys) };
    // The key of a parent is known to nobody when the statement is planned; only values of the request's own can make a plan bad.
    const found = await on.read(
      statement.text,
      fillSlots(statement, filled),
      this.#table.name,
      bound !== null,
    );
    const last = select.columns.length;
    return {
      rows: found.rows as readonly TextRow[],
      parents: found.rows.map((row) => Number((row as TextRow)[last]) - 1),
      parsers: found.parsers,
    };
  }
}
