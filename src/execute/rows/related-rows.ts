/** Reads the rows behind a relation, of many parents with one statement. */

import type { Sequelize } from 'sequelize';
import { followsRelation, orderShape } from '../../compile/compile-sort.js';
import type { SortTerm } from '../../compile/resource-plan.js';
import type { ModelInfo, RowKey } from '../../describe/model-info.js';
import type { Relation } from '../../describe/relations.js';
import { ofTables } from '../../describe/table-facts.js';
import type { Selection } from '../../operation/operation.js';
import { currentTarget, type StatementTarget, type TextParser, type TextRow } from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { BoundedCache } from '../../util/memo.js';
import { keyTerms } from '../sql/keyset-sql.js';
import { liftValues } from '../sql/lift-values.js';
import {
  compileByKey,
  compileOfOne,
  compileRelated,
  describeParents,
  keysOfParents,
  type ParentsSql,
  selectRelatedCounts,
} from '../sql/related-sql.js';
import { describeSelection, describeTable, type TableSql } from '../sql/select-sql.js';
import { liftOrder } from '../sql/sort-sql.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement, toStatement } from '../sql/statement.js';

/** Read of the rows of a relation. */
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
  readonly #statements = ofTables(() => new BoundedCache<Statement>());
  /** The key of the target, where its text shows which row belongs to which parent. */
  #key: string | null;

  /** @param info of the target */
  constructor(relation: Relation, info: ModelInfo) {
    this.#info = info;
    this.#table = describeTable(info);
    this.#parents = describeParents(relation);
    this.#key = ownKeyOf(relation, info, this.#parents.keys);
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
    const byKey = this.#key !== null && keys.every((key) => CANONICAL.test(key)) ? this.#key : null;
    const lifted = followsRelation(order) ? liftOrder(order) : null;
    const isOne = byKey === null && keys.length === 1;
    const shape = `${isOne ? 'one' : byKey === null ? 'place' : 'key'} ${limit} ${select.columns.join('\0')} ${lifted?.shape ?? orderShape(order)}`;
    const given = lifted ? joinSlots(slots, lifted.bound) : slots;
    // Integers need no quotes.
    const literal = byKey === null ? undefined : (texts: readonly string[]) => `{${texts.join()}}`;
    const parents = keysOfParents(this.#parents, keys, literal);
    const { rows, parsers } = await this.#read(shape, where, parents, given, on, (predicate) => {
      const wanted = {
        parents: this.#parents,
        where: predicate,
        selection: describeSelection(this.#table, select, 0),
      };
      if (byKey !== null) return compileByKey(this.#table, wanted, byKey);
      const related = { ...wanted, order: keyTerms(this.#info, lifted?.order ?? order), limit };
      return isOne ? compileOfOne(this.#table, related) : compileRelated(this.#table, related);
    });
    if (isOne) return { rows, parents: rows.map(() => 0), parsers };
    const column = select.columns.length;
    if (byKey === null) return { rows, parents: placesOf(rows, column), parsers };
    const places = new Map(keys.map((key, place) => [key, place]));
    const found = rows.map((row) => places.get(row[column] as string));
    if (!found.includes(undefined)) return { rows, parents: found as readonly number[], parsers };
    // The column is no integer, as the model has it: its texts differ where values are equal.
    this.#key = null;
    return this.run({ where, select, order, limit }, keys, slots, on);
  }

  /**
   * Counts the rows of parents with these keys.
   *
   * @param limit rows of each parent that are counted at most; `Infinity` counts all
   * @returns a number for each key
   */
  async count(
    where: Predicate,
    limit: number,
    keys: readonly string[],
    slots: Slots = NO_SLOTS,
    on: StatementTarget = currentTarget(this.#info.model.sequelize as Sequelize),
  ): Promise<readonly number[]> {
    if (keys.length === 0) return [];
    const parents = keysOfParents(this.#parents, keys);
    const { rows } = await this.#read(`count:${limit}`, where, parents, slots, on, (lifted) =>
      toStatement(selectRelatedCounts(this.#table, { parents: this.#parents, where: lifted }, limit)),
    );
    const counted: number[] = [];
    for (const [index, place] of placesOf(rows, 1).entries()) counted[place] = Number(rows[index]?.[0]);
    return counted;
  }

  /**
   * @param shape the parts that the statement depends on beside the predicate
   * @param keys those of the parents
   */
  async #read(
    shape: string,
    where: Predicate,
    keys: Slots,
    slots: Slots,
    on: StatementTarget,
    compile: (where: Predicate) => Statement,
  ): Promise<{ readonly rows: readonly TextRow[]; readonly parsers: readonly TextParser[] }> {
    const lifted = liftValues(where);
    const { bound } = lifted;
    const statement = this.#statements().get(`${shape} ${lifted.shape}`, () =>
      compile(lifted.predicate as Predicate),
    );
    const filled = Object.assign(joinSlots(slots, bound ?? NO_SLOTS), keys);
    const values = fillSlots(statement, filled);
    // The keys of parents are no constants of the plan; only values of the request's own can make a plan bad.
    const { rows, parsers } = await on.read(statement.text, values, this.#table.name, bound !== null);
    return { rows: rows as readonly TextRow[], parsers };
  }
}

/** An integer as PostgreSQL writes it. */
const CANONICAL = /^(?:0|-?[1-9]\d*)$/;

/** Integers are equal where their texts are. A row with a primary key is the only one that its parent has. */
function ownKeyOf(
  { isOne, through, targetKey }: Relation,
  info: ModelInfo,
  [parentKey, ...others]: RowKey,
): string | null {
  const [primaryKey, ...more] = info.primaryKey;
  if (!primaryKey || !parentKey || more.length + others.length > 0) return null;
  const isInteger = [primaryKey, parentKey].every(
    ({ type: { kind } }) => kind === 'integer' || kind === 'bigint',
  );
  return isOne && !through && isInteger && targetKey === primaryKey.name ? targetKey : null;
}

/** The place of each row's parent among the keys, from 0. */
function placesOf(rows: readonly TextRow[], column: number): readonly number[] {
  return rows.map((row) => Number(row[column]) - 1);
}
