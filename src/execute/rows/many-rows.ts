/** Writes many rows of one model with one statement each time: all of them, or nothing. Runs no instances, hooks and scopes. */

import { keyAttributes } from '../../describe/foreign-keys.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { ofTables } from '../../describe/table-facts.js';
import { unseenOf } from '../../describe/unseen-values.js';
import { missingReference } from '../../errors/sequelize-error.js';
import type {
  DeleteMatching,
  InsertMany,
  Selection,
  UpdateMany,
  UpdateMatching,
  UpsertMany,
} from '../../operation/operation.js';
import { allOf, compared } from '../../operation/predicates.js';
import { isOfChangedTable, type StatementTarget } from '../../postgres/index.js';
import { BoundedCache } from '../../util/memo.js';
import { arrayLiteral, intoCells, intoSlots, now, RowEncoder, textsOfId } from '../sql/encode-parameter.js';
import { liftAll } from '../sql/lift-values.js';
import {
  bindRows,
  type GivenRow,
  isBindable,
  keysSlot,
  newRowsByShape,
  placeOf,
  STATES,
  sequenceSlot,
  TOUCHED,
} from '../sql/parameter-arrays.js';
import { describeSelection, describeTable, type SelectionSql, type TableSql } from '../sql/select-sql.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement } from '../sql/statement.js';
import {
  compileInsertMany,
  compileUpdateFree,
  compileUpdateMany,
  type GivenGroup,
} from '../sql/write-many-sql.js';
import { compileDeleteMatching, compileUpdateMatching, MAXIMUM } from '../sql/write-matching-sql.js';
import { NOW, referredRow } from '../sql/write-sql.js';
import { givenRow, lacksState, liftMatching, withRows } from './many-writes.js';
import { type FoundRows, tableTarget, triggersOf } from './sql-executor.js';

/** Result of a write of all rows of a predicate. */
export type MatchingWritten =
  | {
      readonly isExceeded: false;
      /** False where one of the rows may not be written, and none was. */
      readonly isAllowed: boolean;
      /** Rows that were found. Each has the requested values now. */
      readonly found: number;
      /** Number of found rows that were written: the others were so before. */
      readonly written: number;
    }
  /** There are more than may be written, and nothing was. */
  | { readonly isExceeded: true };

/** Sets of attributes that the rows of a statement may have, at most; a text is compiled for each combination. */
const MAX_GROUPS = 8;

/** Types of keys that a column stores without a change. */
const EXACT: ReadonlySet<string> = new Set(['integer', 'bigint', 'uuid', 'string', 'enum', 'dateonly']);

/**
 * Writes many rows of one model. Changes lock them in the order of their keys, so that two never wait for each other. Null is for writes that
 * only Sequelize can do, for results that one statement cannot prove, and for an item that is refused: nothing has happened then. A failure
 * of the database's is an error, and nothing was written either.
 */
export class ManyRows {
  readonly #info: ModelInfo;
  readonly #table: TableSql;
  readonly #encoder: RowEncoder;
  readonly #statements = ofTables(() => new BoundedCache<Statement>());

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.#info = info;
    this.#table = describeTable(info);
    this.#encoder = new RowEncoder(info);
  }

  /** Inserts rows, and returns them in the order of the arguments. */
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
    if (lacksState(this.#info, returning)) return null;
    const groups = newRowsByShape(this.#encoder, rows);
    if (!groups) return null;
    const shapes = [...groups.keys()].sort();
    const parts = shapes.map((shape) => ({
      columns: this.#encoder.columnsOf(shape, '1'),
      stamped: this.#encoder.columnsOf(shape, 'n'),
    }));
    const sequences = await this.#sequencesOf(parts, isShown(returning), on);
    if (sequences === null || shapes.length > MAX_GROUPS) return null;
    const lifted = liftAll(null, references.map(givenRow));
    const statement = this.#statements().get(
      `insert ${returning.columns.join('\0')} ${shapes.join()} ${lifted.shape}`,
      () => compileInsertMany(this.#table, parts, withRows(references, lifted.rows), this.#select(returning)),
    );
    const filled = joinSlots(slots, lifted.bound);
    for (const [index, shape] of shapes.entries()) {
      bindRows(index, parts[index]?.columns ?? [], groups.get(shape) ?? [], filled);
    }
    for (const [part, sequence] of sequences.entries()) filled[sequenceSlot(part).slot] = sequence;
    filled[NOW.slot] = now();
    const written = await on.write(statement.text, fillSlots(statement, filled));
    return unlessRefused(written, returning);
  }

  /**
   * Changes rows by their keys, and returns them in the order of the arguments. As with a single row, only a row that differs is written.
   * Where the rows were locked before, and no column is returned, some may be written although the result is null.
   */
  async update(
    operation: UpdateMany,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<FoundRows | null> {
    const { hideUpdates, watchColumns, dropped } = await triggersOf(this.#table, on);
    const isHidden = hideUpdates && (watchColumns || isShown(operation.returning));
    if (isHidden || dropped.has('update') || lacksState(this.#info, operation.returning)) return null;
    const written = await this.#update(operation, slots, on);
    if (!written || hideUpdates || !(await triggersOf(this.#table, on)).hideUpdates) return written;
    // PostgreSQL has said meanwhile that the table was changed, and a trigger may have changed the rows once more.
    const items = operation.items.map(({ key }) => ({ key, values: {} }));
    return this.#update({ ...operation, items, state: null, references: [] }, slots, on);
  }

  /**
   * Inserts rows, or changes those that have their keys, and returns them in the order of the arguments. The
   * column behind the others and a mark is true for a new row. A key of a row beyond `where` is an error of the database's.
   */
  async upsert(
    { rows, ...operation }: UpsertMany,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<FoundRows | null> {
    const triggers = await triggersOf(this.#table, on);
    const { isPlain, changeInserts, hideInserts, hideUpdates, watchColumns, dropped } = triggers;
    if (!isPlain || watchColumns || dropped.size > 0) return null;
    if ((changeInserts || hideInserts || hideUpdates) && isShown(operation.returning)) return null;
    if (lacksState(this.#info, operation.returning)) return null;
    const groups = newRowsByShape(this.#encoder, rows);
    if (!groups || groups.size > 1) return null;
    const [[shape, created] = ['', []]] = groups;
    return this.#update(operation, slots, on, { shape, rows: created });
  }

  async #update(
    operation: UpdateMany,
    slots: Slots,
    on: StatementTarget,
    created: { readonly shape: string; readonly rows: readonly GivenRow[] } | null = null,
  ): Promise<FoundRows | null> {
    const {
      where,
      items,
      state = null,
      references = [],
      areLocked,
      returning,
      unseen: unreadable,
    } = operation;
    // The statement compares references with values of the request alone.
    if (references.some(({ own }) => own)) return null;
    const { primaryKey, address } = this.#info;
    const keys: string[][] = address.map(() => []);
    const rows: GivenRow[] = [];
    const shapes = new Set<string>();
    for (const [place, { key, values }] of items.entries()) {
      const row: GivenRow = { place, texts: [], lengths: [] };
      const own = this.#encoder.changes(values, intoCells(row));
      if (own === null || row.isNested) return null;
      for (const [part, text] of textsOfId(address, key).entries()) {
        if (typeof text !== 'string') return null;
        keys[part]?.push(text);
      }
      rows.push(row);
      shapes.add(own);
    }
    const marks = joinMarks(shapes);
    // A row would take the one value in, and another row the other one.
    if (marks.some((each) => each.includes('1') && each.includes('+'))) return null;
    const some = marks.map((each) => (each.includes('+') ? '+' : each.at(-1))).join('');
    const set = this.#encoder.columnsOf(some, '1+').map((column) => {
      const isPartial = marks[column.place]?.includes('0') === true;
      return { ...column, isPartial };
    });
    const given = set.map(({ attribute }) => attribute);
    const create = created && {
      columns: this.#encoder.columnsOf(created.shape, '1'),
      stamped: this.#encoder.columnsOf(created.shape, 'n'),
    };
    if (create && !create.columns.every(({ attribute }) => isBindable(attribute.type))) return null;
    const isMoved = [...primaryKey, ...address].some((part) => given.includes(part));
    if (isMoved || ![...given, ...address].every(({ type }) => isBindable(type))) return null;
    const lifted = liftAll(where, references.map(givenRow));
    const unseen = unseenOf(this.#info.model, unreadable);
    const always = given.flatMap(({ name }) => (unseen?.has(name) ? name : [])).join('\0');
    const isTouched = items.some((item) => item.isTouched);
    const filled = joinSlots(slots, lifted.bound);
    filled[NOW.slot] = now();
    for (const [part, texts] of keys.entries()) filled[keysSlot(part).slot] = arrayLiteral(texts);
    bindRows(0, set, rows, filled);
    const isOne = items.length === 1;
    const isFree = (areLocked || isOne) && !isShown(returning) && !isTouched && !create;
    const isChecked = references.some((each) => keyAttributes(each).every((name) => placeOf(set, name) >= 0));
    if (isFree && state === null && set.length > 0 && !some.includes('+') && !isChecked) {
      const shape = `update ${isOne ? 'one' : 'free'} ${always} ${marks.join()} ${lifted.shape}`;
      const free = { set, unseen, where: lifted.where };
      const statement = this.#statements().get(shape, () => compileUpdateFree(this.#table, free, isOne));
      const written = await on.write(statement.text, fillSlots(statement, filled));
      if (written.count === items.length) return written;
      // The others are not there, or had the values, maybe until another transaction commits.
    }
    const statement = this.#statements().get(
      `update ${returning.columns.join('\0')} ${state ?? ''} ${always} ${isTouched} ${marks.join()} ${created?.shape ?? ''} ${lifted.shape}`,
      () =>
        compileUpdateMany(this.#table, {
          set,
          unseen,
          where: lifted.where,
          references: withRows(references, lifted.rows),
          state,
          isTouched,
          create: create ?? undefined,
          returning: this.#select(returning),
        }),
    );
    filled[STATES.slot] = arrayLiteral(items.map((item) => item.state ?? null));
    if (isTouched) filled[TOUCHED.slot] = arrayLiteral(items.map((item) => (item.isTouched ? 't' : 'f')));
    if (create) bindRows(1, create.columns, created.rows, filled);
    const written = await on.write(statement.text, fillSlots(statement, filled));
    return unlessRefused(written, returning);
  }

  /**
   * Changes all rows of a predicate, up to a number of them. As with a single row, only a row that differs is written.
   *
   * @throws DatabaseError where a row that the values refer to is not there
   */
  async updateMatching(
    { where, allowed = null, set, references = [], maximum, unseen: unreadable }: UpdateMatching,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<MatchingWritten | null> {
    const filled = joinSlots(slots, { [NOW.slot]: now(), [MAXIMUM.slot]: String(maximum) });
    const shape = this.#encoder.changes(set, intoSlots(filled));
    const { dropped, watchColumns } = await triggersOf(this.#table, on);
    if (shape === null || dropped.has('update') || watchColumns || references.some(({ own }) => own))
      return null;
    const attributes = this.#encoder.attributesOf(shape);
    if (this.#info.primaryKey.some((part) => attributes.includes(part))) return null;
    // One that has nothing to add to is named by writing one after the other.
    const sums = attributes.filter(({ isAdded }) => isAdded);
    const may = allOf(allowed, ...sums.map(({ name }) => compared(name, '=isnull=', ['false'])));
    const lifted = liftMatching(where, may, references.map(referredRow));
    const unseen = unseenOf(this.#info.model, unreadable);
    const always = unseen !== undefined && attributes.some(({ name }) => unseen.has(name));
    const statement = this.#statements().get(
      `update ${always ? 'always ' : ''}${shape} ${lifted.shape}`,
      () =>
        compileUpdateMatching(this.#table, {
          set: attributes,
          always,
          ...lifted.rows,
        }),
    );
    return this.#writeMatching(
      statement,
      joinSlots(filled, lifted.bound),
      { allowed: may, maximum, references },
      on,
    );
  }

  /** Deletes all rows of a predicate, or marks them. */
  async deleteMatching(
    { where, allowed = null, locked = null, mark, maximum }: DeleteMatching,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<MatchingWritten | null> {
    const { dropped } = await triggersOf(this.#table, on);
    if (dropped.has(mark === null ? 'delete' : 'update')) return null;
    const ended = locked && where ? [where] : [];
    const lifted = liftMatching(locked ?? where, allowed, ended);
    const [own = null] = lifted.rows.references;
    const statement = this.#statements().get(`delete ${mark?.attribute ?? ''} ${lifted.shape}`, () =>
      compileDeleteMatching(this.#table, lifted.rows, mark, own),
    );
    const filled = joinSlots(slots, lifted.bound);
    filled[NOW.slot] = now();
    filled[MAXIMUM.slot] = String(maximum);
    return this.#writeMatching(statement, filled, { allowed, maximum, references: [] }, on);
  }

  async #writeMatching(
    statement: Statement,
    slots: Slots,
    { allowed, maximum, references }: Required<Pick<UpdateMatching, 'allowed' | 'maximum' | 'references'>>,
    on: StatementTarget,
  ): Promise<MatchingWritten> {
    const { rows } = await on.write(statement.text, fillSlots(statement, slots));
    const [found = null, written = null, ...marks] = rows[0] ?? [];
    if (Number(found) > maximum) return { isExceeded: true };
    if (allowed && marks.shift() !== 't')
      return { isExceeded: false, isAllowed: false, found: Number(found), written: 0 };
    const missing = references.find((_, index) => marks[index] !== 't');
    if (missing && Number(found) > 0) throw missingReference(this.#info, missing.attribute);
    return { isExceeded: false, isAllowed: true, found: Number(found), written: Number(written) };
  }

  /**
   * The sequences that parts of keys are drawn from, empty where rows have the part; null where rows are not sure to be found again by
   * their keys.
   */
  async #sequencesOf(
    groups: readonly GivenGroup[],
    isRead: boolean,
    on: StatementTarget,
  ): Promise<readonly string[] | null> {
    const { primaryKey } = this.#info;
    if (!groups.every(({ columns }) => columns.every(({ attribute }) => isBindable(attribute.type))))
      return null;
    const { isPlain, changeInserts, hideInserts, dropped, sequences } = await triggersOf(this.#table, on);
    if (!isPlain || dropped.has('insert') || primaryKey.length === 0) return null;
    if ((changeInserts || hideInserts) && isRead) return null;
    if (!primaryKey.every(({ type }) => EXACT.has(type.kind))) return null;
    const drawn = primaryKey.map(({ name, column }) =>
      groups.every(({ columns }) => placeOf(columns, name) >= 0) ? '' : sequences[column],
    );
    return drawn.includes(undefined) ? null : (drawn as string[]);
  }

  #select(selection: Selection): SelectionSql {
    return describeSelection(this.#table, selection, 0);
  }
}

/** False for rows that are only counted: a trigger that changes them once more changes no answer. */
function isShown({ columns }: Selection): boolean {
  return columns.length > 0;
}

/** The marks of each column in some shapes, in the order of their characters, which is `+`, `0`, `1`. */
function joinMarks(shapes: ReadonlySet<string>): readonly string[] {
  const [first = ''] = shapes;
  return Array.from(first, (_, place) =>
    [...new Set(Array.from(shapes, (each) => each[place]))].sort().join(''),
  );
}

/** The rows, in the order of the items; null where one is refused, by the mark behind its columns. */
function unlessRefused(written: FoundRows, { columns }: Selection): FoundRows | null {
  return written.rows.some((row) => row[columns.length] === 't') ? null : written;
}
