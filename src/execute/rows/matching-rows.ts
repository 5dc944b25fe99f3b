/** Writes all rows of a predicate with one statement, up to a number of them. Knows no instances, hooks and scopes. */

import type { ModelInfo } from '../../describe/model-info.js';
import { unseenOf } from '../../describe/unseen-values.js';
import { missingReference } from '../../errors/sequelize-error.js';
import type { DeleteMatching, Reference, UpdateMatching } from '../../operation/operation.js';
import type { StatementTarget } from '../../postgres/index.js';
import { BoundedCache } from '../../util/memo.js';
import { liftAll } from '../sql/lift-values.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement } from '../sql/statement.js';
import { describeTable, type TableSql } from '../sql/table-sql.js';
import { compileDeleteMatching, compileUpdateMatching, MAXIMUM } from '../sql/write-matching-sql.js';
import { NOW, referredRow, type Stamps, stampsOf } from '../sql/write-sql.js';
import { intoSlots, now, RowEncoder } from './encode-rows.js';
import { tableTarget, triggersOf } from './sql-executor.js';

/** Result of a write of all rows of a predicate. */
export type MatchingWritten =
  | {
      readonly isExceeded: false;
      /** Rows that were found: each is as it was asked now. */
      readonly found: number;
      /** Number of found rows that were written: the others were so before. */
      readonly written: number;
    }
  /** There are more than may be written, and nothing was. */
  | { readonly isExceeded: true };

/** Writes the rows of one model that a predicate finds. They are locked in the order of their keys. Null is for what only Sequelize can write: nothing has happened then. */
export class MatchingRows {
  readonly #info: ModelInfo;
  readonly #table: TableSql;
  readonly #encoder: RowEncoder;
  readonly #stamps: Stamps;
  readonly #statements = new BoundedCache<Statement>();

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.#info = info;
    this.#table = describeTable(info);
    this.#encoder = new RowEncoder(info);
    this.#stamps = stampsOf(info);
  }

  /**
   * Changes them. As with a single row, only a row that differs is written.
   *
   * @throws DatabaseError where a row that the values refer to is not there
   */
  async update(
    { where, set, references = [], maximum, unseen: unreadable }: UpdateMatching,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<MatchingWritten | null> {
    const filled = joinSlots(slots, { [NOW.slot]: now(), [MAXIMUM.slot]: String(maximum) });
    const shape = this.#encoder.changes(set, intoSlots(filled));
    if (shape === null || (await triggersOf(this.#table, on)).dropped.has('update')) return null;
    const attributes = this.#encoder.attributesOf(shape);
    if (attributes.includes(this.#info.primaryKey)) return null;
    const lifted = liftAll(where, references.map(referredRow));
    const unseen = unseenOf(this.#info.model, unreadable);
    const always = unseen !== undefined && attributes.some(({ name }) => unseen.has(name));
    const statement = this.#statements.get(`update ${always ? 'always ' : ''}${shape} ${lifted.shape}`, () =>
      compileUpdateMatching(this.#table, {
        set: attributes,
        always,
        stamps: this.#stamps,
        where: lifted.where,
        references: lifted.rows,
      }),
    );
    return this.#write(statement, joinSlots(filled, lifted.bound), maximum, references, on);
  }

  /** Deletes them, or marks them as deleted. */
  async delete(
    { where, mark, maximum }: DeleteMatching,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<MatchingWritten | null> {
    const { dropped } = await triggersOf(this.#table, on);
    if (dropped.has(mark === null ? 'delete' : 'update')) return null;
    const lifted = liftAll(where, []);
    const statement = this.#statements.get(`delete ${mark ?? ''} ${lifted.shape}`, () =>
      compileDeleteMatching(this.#table, lifted.where, mark),
    );
    const filled = joinSlots(slots, lifted.bound);
    filled[NOW.slot] = now();
    filled[MAXIMUM.slot] = String(maximum);
    return this.#write(statement, filled, maximum, [], on);
  }

  async #write(
    statement: Statement,
    slots: Slots,
    maximum: number,
    references: readonly Reference[],
    on: StatementTarget,
  ): Promise<MatchingWritten> {
    const { rows } = await on.write(statement.text, fillSlots(statement, slots));
    const [found = null, written = null, ...marks] = rows[0] ?? [];
    if (Number(found) > maximum) return { isExceeded: true };
    const missing = references.find((_, index) => marks[index] !== 't');
    if (missing && Number(found) > 0) throw missingReference(this.#info, missing.attribute);
    return { isExceeded: false, found: Number(found), written: Number(written) };
  }
}
