/** Reads the rows behind a relation, of many parents with one statement. */
import type { Sequelize } from 'sequelize';
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import type { Relation } from '../../model/relations.js';
import type { Predicate, Selection } from '../../operation/operation.js';
import { describeRecords } from '../../plan/describe-model.js';
import type { SortTerm } from '../../plan/resource-plan.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { currentTarget } from '../connections/current-target.js';
import type { StatementTarget } from '../connections/statement-target.js';
import type { TextRow } from '../protocol/batch.js';
import type { TextParser } from '../protocol/prepared-statement.js';
import { arrayLiteral } from '../sql/encode-parameter.js';
import { keyTerms } from '../sql/keyset-sql.js';
import { type LiftedPredicate, liftValues } from '../sql/lift-values.js';
import { attributeOf } from '../sql/predicate-sql.js';
import { quotedTable } from '../sql/quoted-table.js';
import { compileByKey, compileRelated, KEYS, type ParentsSql } from '../sql/related-sql.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement } from '../sql/statement.js';
import { describeSelection, describeTable, type TableSql } from '../sql/table-sql.js';

/** What is asked of a relation. */
export interface RelatedOperation {
  /** The rows of the parent whose key is in the slot `parent`. */
  readonly where: Predicate;
  readonly select: Selection;
  readonly order: readonly SortTerm[];
  /** Rows of each parent. */
  readonly limit: number;
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
  readonly #lifted = new WeakMap<Predicate, LiftedPredicate>();
  /** The key of the target, where its text tells which row belongs to which parent. */
  #key: string | null;

  /** @param info of the target */
  constructor(relation: Relation, info: ModelInfo) {
    const { parent, parentKey } = relation;
    this.#info = info;
    this.#table = describeTable(info);
    this.#parents = { table: quotedTable(parent), key: attributeOf(describeRecords(parent), parentKey) };
    this.#key = ownKeyOf(relation, info, this.#parents.key);
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
    const { predicate, shape, bound } = this.#lift(where);
    const byKey = this.#key !== null && keys.every((key) => CANONICAL.test(key)) ? this.#key : null;
    let asked = `${byKey === null ? 'place' : 'key'} ${limit} ${select.columns.join('\0')} `;
    for (const { attribute, descending } of order) asked += `${descending ? '-' : '+'}${attribute}\0`;
    const statement = this.#statements.get(`${asked} ${shape}`, () => {
      const wanted = {
        parents: this.#parents,
        where: predicate as Predicate,
        selection: describeSelection(this.#table, select, 0),
      };
      return byKey === null
        ? compileRelated(this.#table, { ...wanted, order: keyTerms(this.#info, order), limit })
        : compileByKey(this.#table, wanted, byKey);
    });
    const filled = joinSlots(slots, bound ?? NO_SLOTS);
    filled[KEYS.slot] = byKey === null ? arrayLiteral(keys) : `{${keys.join()}}`;
    // The key of a parent is known to nobody when the statement is planned; only values of the request's own can make a plan bad.
    const { rows, parsers } = await on.read(
      statement.text,
      fillSlots(statement, filled),
      this.#table.name,
      bound !== null,
    );
    const parents = parentsOf(rows, select.columns.length, byKey === null ? null : keys);
    if (parents.includes(undefined)) {
      // The column is no integer, as the model has it: its texts differ where values are equal.
      this.#key = null;
      return this.run({ where, select, order, limit }, keys, slots, on);
    }
    return { rows: rows as readonly TextRow[], parents: parents as readonly number[], parsers };
  }

  #lift(where: Predicate): LiftedPredicate {
    const known = this.#lifted.get(where);
    if (known) return known;
    const lifted = liftValues(where);
    if (Object.isFrozen(where) && lifted.bound === null) this.#lifted.set(where, lifted);
    return lifted;
  }
}

/** An integer as PostgreSQL writes it. */
const CANONICAL = /^(?:0|-?[1-9]\d*)$/;

/** Integers are equal where their texts are. A row with a primary key is the only one that its parent has. */
function ownKeyOf(
  { isOne, through, targetKey }: Relation,
  { primaryKey }: ModelInfo,
  parentKey: AttributeInfo,
): string | null {
  const isInteger = [primaryKey, parentKey].every(
    ({ type: { kind } }) => kind === 'integer' || kind === 'bigint',
  );
  return isOne && !through && isInteger && targetKey === primaryKey.name ? targetKey : null;
}

/**
 * The places of rows among the parents, from 0; undefined for a key that is none of theirs.
 *
 * @param column of the place from 1, or of the key
 */
function parentsOf(
  rows: readonly TextRow[],
  column: number,
  keys: readonly string[] | null,
): readonly (number | undefined)[] {
  if (keys === null) return rows.map((row) => Number(row[column]) - 1);
  const places = new Map(keys.map((key, place) => [key, place]));
  return rows.map((row) => places.get(row[column] as string));
}
