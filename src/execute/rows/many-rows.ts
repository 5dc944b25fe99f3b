/** Writes many rows of one model with one statement each time: all of them, or nothing. Knows no instances, hooks and scopes. */

import type { ModelInfo } from '../../describe/model-info.js';
import { unseenOf } from '../../describe/unseen-values.js';
import type { InsertMany, Reference, Selection, UpdateMany } from '../../operation/operation.js';
import { isOfChangedTable, type StatementTarget } from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { BoundedCache } from '../../util/memo.js';
import { arrayLiteral, encodeParameter } from '../sql/encode-parameter.js';
import { liftAll } from '../sql/lift-values.js';
import { isGivable, placeOf } from '../sql/parameter-arrays.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement } from '../sql/statement.js';
import { describeSelection, describeTable, type SelectionSql, type TableSql } from '../sql/table-sql.js';
import {
  compileInsertMany,
  compileUpdateMany,
  type GivenGroup,
  type GivenReference,
  KEYS,
  SEQUENCE,
  STATES,
} from '../sql/write-many-sql.js';
import { NOW, type Stamps, stampsOf } from '../sql/write-sql.js';
import { type GivenRow, giveRows } from './array-rows.js';
import { intoCells, now, RowEncoder } from './encode-rows.js';
import { type FoundRows, tableTarget, triggersOf } from './sql-executor.js';

/** As many rows may have values for different sets of attributes; a text is made for each combination. */
const MAX_GROUPS = 8;

/** Types of keys that a column holds just as they are given. */
const EXACT: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'string', 'enum', 'dateonly']);

/**
 * Writes many rows of one model. Null is for what only Sequelize can write, what one statement cannot tell for sure, and an item that is
 * refused: nothing has happened then. A failure of the database's is an error, and nothing was written either.
 */
export class ManyRows {
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

  /** Inserts rows, and gives them in the order asked. */
  async insert(
    operation: InsertMany,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<FoundRows | null> {
    try {
      return await this.#insert(operation, slots, on);
    } catch (error) {
      // A table that was made anew has another sequence for its keys.
      const { parent = error } = error as { readonly parent?: unknown };
      if (!isOfChangedTable(parent)) throw error;
      return this.#insert(operation, slots, on);
    }
  }

  async #insert(
    { rows, references = [], returning }: InsertMany,
    slots: Slots,
    on: StatementTarget,
  ): Promise<FoundRows | null> {
    const groups = new Map<string, GivenRow[]>();
    for (const [place, row] of rows.entries()) {
      const given: GivenRow = { place, texts: [], lengths: [] };
      const shape = this.#encoder.newRow(row, intoCells(given));
      if (shape === null || given.isNested) return null;
      const group = groups.get(shape);
      if (group) group.push(given);
      else groups.set(shape, [given]);
    }
    const shapes = [...groups.keys()].sort();
    const parts = shapes.map((shape) => ({
      columns: this.#encoder.columnsOf(shape, '1'),
      stamped: this.#encoder.columnsOf(shape, 'n'),
    }));
    const sequence = await this.#keysOf(parts, on);
    if (sequence === null || shapes.length > MAX_GROUPS) return null;
    const lifted = liftAll(null, references.map(givenRow));
    const statement = this.#statements.get(
      `insert ${returning.columns.join('\0')} ${shapes.join()} ${lifted.shape}`,
      () => compileInsertMany(this.#table, parts, withRows(references, lifted.rows), this.#select(returning)),
    );
    const filled = joinSlots(slots, lifted.bound);
    for (const [index, shape] of shapes.entries()) {
      giveRows(index, parts[index]?.columns ?? [], groups.get(shape) ?? [], filled);
    }
    filled[SEQUENCE.slot] = sequence;
    filled[NOW.slot] = now();
    const written = await on.write(statement.text, fillSlots(statement, filled));
    return unlessRefused(written, returning);
  }

  /**
   * Changes rows by their keys, and gives them in the order asked. They are locked in the order of their keys first, so that two
   * such writes never wait for each other. As with a single row, only a row that differs is written.
   */
  async update(
    operation: UpdateMany,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<FoundRows | null> {
    const { hideUpdates, dropped } = await triggersOf(this.#table, on);
    if (hideUpdates || dropped.has('update')) return null;
    const written = await this.#update(operation, slots, on);
    if (!written || !(await triggersOf(this.#table, on)).hideUpdates) return written;
    // PostgreSQL has said meanwhile that the table was changed, and a trigger may have changed the rows once more.
    const items = operation.items.map(({ key }) => ({ key, values: {} }));
    return this.#update({ ...operation, items, state: null, references: [] }, slots, on);
  }

  async #update(
    { where, items, state = null, references = [], returning, unseen: unreadable }: UpdateMany,
    slots: Slots,
    on: StatementTarget,
  ): Promise<FoundRows | null> {
    const { primaryKey } = this.#info;
    const keys: string[] = [];
    const rows: GivenRow[] = [];
    let shape: string[] | undefined;
    for (const [place, { key, values }] of items.entries()) {
      const row: GivenRow = { place, texts: [], lengths: [] };
      const own = this.#encoder.changes(values, intoCells(row));
      const text = encodeParameter(primaryKey.type, key);
      if (own === null || row.isNested || typeof text !== 'string') return null;
      keys.push(text);
      rows.push(row);
      shape = shape ? shape.map((each, index) => (each === own[index] ? each : '?')) : [...own];
    }
    const some = (shape ?? []).map((each) => (each === '0' ? '0' : '1')).join('');
    const set = this.#encoder.columnsOf(some, '1').map((column) => {
      const isPartial = rows.some(({ texts }) => texts[column.place] === undefined);
      return { ...column, isPartial };
    });
    const given = set.map(({ attribute }) => attribute);
    if (given.includes(primaryKey) || ![...given, primaryKey].every(({ type }) => isGivable(type)))
      return null;
    const lifted = liftAll(where, references.map(givenRow));
    const unseen = unseenOf(this.#info.model, unreadable);
    const always = given.flatMap(({ name }) => (unseen?.has(name) ? name : [])).join('\0');
    const statement = this.#statements.get(
      `update ${returning.columns.join('\0')} ${state ?? ''} ${always} ${shape?.join('')} ${lifted.shape}`,
      () =>
        compileUpdateMany(this.#table, {
          set,
          unseen,
          stamps: this.#stamps,
          where: lifted.where,
          references: withRows(references, lifted.rows),
          state,
          returning: this.#select(returning),
        }),
    );
    const filled = joinSlots(slots, lifted.bound);
    filled[NOW.slot] = now();
    filled[KEYS.slot] = arrayLiteral(keys);
    filled[STATES.slot] = arrayLiteral(items.map((item) => item.state ?? null));
    giveRows(0, set, rows, filled);
    const written = await on.write(statement.text, fillSlots(statement, filled));
    return unlessRefused(written, returning);
  }

  /** The sequence that keys are drawn from, empty where rows have keys; null where rows are not sure to be found again by them. */
  async #keysOf(groups: readonly GivenGroup[], on: StatementTarget): Promise<string | null> {
    const { primaryKey } = this.#info;
    if (!groups.every(({ columns }) => columns.every(({ attribute }) => isGivable(attribute.type))))
      return null;
    const { isPlain, changeInserts, dropped, sequences } = await triggersOf(this.#table, on);
    if (!isPlain || changeInserts || dropped.has('insert') || !EXACT.has(primaryKey.type.kind)) return null;
    if (groups.every(({ columns }) => placeOf(columns, primaryKey.name) >= 0)) return '';
    return sequences[primaryKey.column] ?? null;
  }

  #select(selection: Selection): SelectionSql {
    return describeSelection(this.#table, selection, 0);
  }
}

function givenRow({ attribute, target, key, where }: Reference): Predicate {
  return { kind: 'exists', target, key, value: { attribute }, where };
}

function withRows(references: readonly Reference[], rows: readonly Predicate[]): GivenReference[] {
  return rows.map((row, index) => ({ row, attribute: (references[index] as Reference).attribute }));
}

/** The rows, in the order of the items; null where one is refused, by the mark behind its columns. */
function unlessRefused(written: FoundRows, { columns }: Selection): FoundRows | null {
  return written.rows.some((row) => row[columns.length] === 't') ? null : written;
}
