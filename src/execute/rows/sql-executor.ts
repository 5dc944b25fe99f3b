/** Runs operations on the rows of one model, with statements made from the model alone, without instances, hooks and scopes. */

import type { Sequelize } from 'sequelize';
import { type ModelInfo, type RecordInfo, XMIN } from '../../describe/model-info.js';
import { keyNames } from '../../describe/row-key.js';
import { isRuledOut } from '../../errors/database-fault.js';
import { notStored } from '../../errors/errors.js';
import { noValueToAddTo, throwOfSums } from '../../errors/refused-sums.js';
import { missingReference } from '../../errors/sequelize-error.js';
import { keptByDeleted } from '../../features/soft-delete/restore-and-purge.js';
import type {
  DeleteOperation,
  InsertOperation,
  ListOperation,
  Operation,
  ReadOperation,
  Reference,
  ReplaceOperation,
  Selection,
  UpdateOperation,
} from '../../operation/operation.js';
import { valueAsked } from '../../operation/predicates.js';
import {
  currentTarget,
  type RowWrite,
  type StatementTarget,
  type TableTriggers,
  type TextResult,
  type TextRow,
  tableTriggers,
} from '../../postgres/index.js';
import type { Predicate } from '../../request/query/predicate.js';
import { isPromise, type Maybe, then } from '../../util/promises.js';
import { type Executor, whyUnwritten } from '../executor.js';
import { findPage, type Page } from '../page.js';
import {
  hasValues,
  intoSlots,
  intoValues,
  now,
  type RowShape,
  type TakeText,
} from '../sql/encode-parameter.js';
import { OperationCompiler } from '../sql/operation-compiler.js';
import type { TableSql } from '../sql/select-sql.js';
import { fillSlots, joinSlots, NO_SLOTS, type Slots, type Statement, textOf } from '../sql/statement.js';
import { NOW } from '../sql/write-sql.js';
import { lacksState } from './many-writes.js';
import { referencesOfChange, referencesOfRow } from './replaced-references.js';
import { RowList } from './row-list.js';

/** Rows as texts, a column for each that is selected, and how the driver would read them; others may follow. */
export type FoundRows = TextResult;

/** The row of a replacement. */
export interface ReplacedRows extends FoundRows {
  readonly isNew: boolean;
}

interface RowPage extends FoundRows {
  readonly page: Page<TextRow>;
}

type AnyRows = FoundRows | ReplacedRows | RowPage;

type RowsOf<O extends Operation> = O extends ListOperation
  ? RowPage
  : O extends ReplaceOperation
    ? ReplacedRows | null
    : O extends ReadOperation | DeleteOperation
      ? FoundRows
      : FoundRows | null;

/** Attempts of a write that loses against others: another transaction has created, changed or removed the row. */
const ATTEMPTS = 3;

/** Runs the operations on one model, on connections of its pool with the settings of the running code. Another target may be passed. */
export class SqlExecutor implements Executor<AnyRows, StatementTarget | undefined> {
  readonly #info: ModelInfo;
  readonly #compiler: OperationCompiler;
  /** Names of the attributes that address a row. */
  readonly #address: readonly string[];

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.#info = info;
    this.#compiler = new OperationCompiler(info);
    this.#address = keyNames(info.address);
  }

  /**
   * Reads a row or a page, or writes and returns the written rows; `count` of a delete is its number of rows. An UPDATE writes rows that
   * differ from the values; where none does, it returns them as they are. A replacement returns no row where the existing one may not
   * be replaced, or none exists. Null is for values that only Sequelize can write, for writes of a table with triggers that may
   * change their row once more, and for states that no write returns. Nothing has happened then that could not happen again.
   */
  run<O extends Operation>(operation: O, slots?: Slots, on?: StatementTarget): Promise<RowsOf<O>>;
  run(
    operation: Operation,
    slots: Slots = NO_SLOTS,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<AnyRows | null> {
    if ('returning' in operation && lacksState(this.#info, operation.returning)) return Promise.resolve(null);
    switch (operation.kind) {
      case 'read': {
        const statement = this.#compiler.read(operation);
        if (operation.isLocked || operation.isFresh) return write(on, statement, slots);
        return on.read(statement.text, fillSlots(statement, slots), this.#compiler.table.name);
      }
      case 'list':
        return this.#list(operation, slots, on);
      case 'insert':
        return this.#insert(operation, slots, on);
      case 'update':
        return this.#update(operation, slots, on);
      case 'replace':
        return this.#replace(operation, slots, on);
      case 'delete':
        return this.#delete(operation, slots, on);
    }
  }

  /**
   * Writes one row, by a statement that has more in it.
   *
   * @returns null where no row was written
   */
  async runExtended(
    operation: InsertOperation | UpdateOperation | DeleteOperation,
    slots: Slots,
    extend: (write: Statement) => Statement,
    on: StatementTarget = tableTarget(this.#info),
  ): Promise<FoundRows | null> {
    if ('returning' in operation && lacksState(this.#info, operation.returning)) return null;
    const filled = joinSlots(slots, NO_SLOTS);
    const statement = await this.#writeOf(operation, filled, on);
    if (!statement) return null;
    const writing = write(on, extend(statement), filled);
    const written = await (operation.kind === 'update' ? writing.catch(throwOfSums(operation.set)) : writing);
    return written.rows.length === 1 ? written : null;
  }

  /**
   * True where the table may leave out the row of a write. The write has to be in a transaction then: without a row
   * it throws, and the transaction rolls back everything that the table has done instead.
   *
   * @param isAlone the caller holds no connection
   */
  mayDrop(
    writes: readonly RowWrite[],
    on: StatementTarget = tableTarget(this.#info),
    isAlone = false,
  ): Maybe<boolean> {
    return then(triggersOf(this.#compiler.table, on, isAlone), ({ dropped }) =>
      writes.some((each) => dropped.has(each)),
    );
  }

  /** The statement of a write, which adds its values to the slots; null where there is none. */
  async #writeOf(
    operation: InsertOperation | UpdateOperation | DeleteOperation,
    filled: Record<string, string | null>,
    on: StatementTarget,
  ): Promise<Statement | null> {
    switch (operation.kind) {
      case 'insert':
        return (await triggersOf(this.#compiler.table, on)).hideInserts
          ? null
          : this.#insertOf(operation, intoSlots(filled));
      case 'update': {
        filled[NOW.slot] = now();
        const shape = this.#compiler.encoder.changes(operation.set, intoSlots(filled));
        if (!shape || !hasValues(shape) || (await triggersOf(this.#compiler.table, on)).hideUpdates)
          return null;
        return this.#compiler.update(shape, operation);
      }
      case 'delete':
        if (operation.mark !== null) filled[NOW.slot] = now();
        return this.#compiler.delete(operation);
    }
  }

  async #list(operation: ListOperation, slots: Slots, on: StatementTarget): Promise<RowPage> {
    const list = new RowList(this.#compiler, operation, slots, on);
    const page = await findPage(list, operation);
    return { page, rows: page.items, count: page.items.length, parsers: list.parsers };
  }

  async #insert(operation: InsertOperation, slots: Slots, on: StatementTarget): Promise<FoundRows | null> {
    const { references = [] } = operation;
    const filled = references.length > 0 ? joinSlots(slots, NO_SLOTS) : null;
    const values: (string | null)[] = [];
    const take = filled ? intoSlots(filled) : intoValues(values);
    const statement = this.#insertOf(operation, take);
    const known = triggersOf(this.#compiler.table, on);
    const { hideInserts, areThere } = isPromise(known) ? await known : known;
    if (!statement || hideInserts) return null;
    const sent = filled ? fillSlots(statement, filled) : values;
    let written: TextResult;
    try {
      written = await on.write(statement.text, sent, areThere ? undefined : null);
    } catch (error) {
      throw isRuledOut(error) ? notStored('insert') : error;
    }
    if (written.rows.length > 0) return written;
    if (!filled) throw notStored('insert');
    const { rows: marks } = await write(on, this.#compiler.check(references), filled);
    this.#refuse(references, marks[0] ?? []);
    // Rows that the references were missing at first may be there by now.
    const again = await write(on, statement, filled);
    if (again.rows.length === 0) throw notStored('insert');
    return again;
  }

  async #delete(operation: DeleteOperation, slots: Slots, on: StatementTarget): Promise<FoundRows> {
    const { where, mark } = operation;
    const filled = mark === null ? slots : joinSlots(slots, { [NOW.slot]: now() });
    const written = await write(on, this.#compiler.delete(operation), filled);
    // A trigger that returns OLD leaves the row as it was, and counts as a write.
    if (written.count === 0 || mark !== null)
      await this.#refuseDropped(mark === null ? 'delete' : 'update', where, filled, on);
    return written;
  }

  /** @throws NotStoredError where the row of a write without a row is there, and the table may leave it out */
  async #refuseDropped(
    written: RowWrite,
    where: Predicate,
    slots: Slots,
    on: StatementTarget,
  ): Promise<void> {
    if (!(await this.mayDrop([written], on))) return;
    if (await this.#isThere(where, slots, on)) throw whyUnwritten({ info: this.#info }, { dropped: written });
  }

  async #isThere(where: Predicate, slots: Slots, on: StatementTarget): Promise<boolean> {
    const { rows } = await this.#read(where, { columns: keyNames(this.#info.primaryKey) }, slots, on);
    return rows.length > 0;
  }

  #insertOf(operation: InsertOperation, take: TakeText): Statement | null {
    const shape = this.#compiler.encoder.newRow(operation.row, take);
    return shape === null ? null : this.#compiler.insert(shape, operation);
  }

  async #update(operation: UpdateOperation, slots: Slots, on: StatementTarget): Promise<FoundRows | null> {
    const { where, set, differs, touch, returning } = operation;
    const filled = joinSlots(slots, { [NOW.slot]: now() });
    const shape = this.#compiler.encoder.changes(set, intoSlots(filled));
    const known = triggersOf(this.#compiler.table, on);
    const { hideUpdates, areThere } = isPromise(known) ? await known : known;
    if (shape === null || hideUpdates) return null;
    if (hasValues(shape) || touch === 'change') {
      const statement = this.#compiler.update(shape, operation);
      // `xmin` is the same for all states of a row that the transaction has written.
      const isAlone = areThere || returning.columns.includes(XMIN);
      const writing = write(on, statement, filled, isAlone ? undefined : this.#keyOf(where, slots));
      const changed = await (shape.includes('+') ? writing.catch(throwOfSums(set)) : writing);
      if (differs) {
        // A trigger that returns OLD leaves the row as it was, and counts as a write.
        await this.#refuseDropped('update', where, filled, on);
        return changed;
      }
      if (changed.rows.length === 0) {
        // The lock waits for others: the row may differ from the values by then.
        if (touch !== undefined) await this.#read(where, returning, slots, on, true);
        return this.#explain(operation, shape, statement, filled, on);
      }
      // Triggers are read again where PostgreSQL has reported meanwhile that the table was changed.
      const after = triggersOf(this.#compiler.table, on);
      if (!(isPromise(after) ? await after : after).hideUpdates) return changed;
    }
    return this.#read(where, returning, slots, on, touch !== undefined);
  }

  #read(where: Predicate, select: Selection, slots: Slots, on: StatementTarget, isLocked = false) {
    return write(on, this.#compiler.read({ kind: 'read', where, select, isLocked }), slots);
  }

  /**
   * The row that a change has not written, which is as the values say, or none. Where it differs, something has changed it meanwhile: it is
   * written then, so that the answer is never the change of another request.
   *
   * @throws DatabaseError where one of the rows that it refers to is not there
   * @throws NotStoredError @throws ConcurrentModificationError
   */
  async #explain(
    operation: UpdateOperation | ReplaceOperation,
    shape: RowShape,
    change: Statement,
    slots: Slots,
    on: StatementTarget,
  ): Promise<FoundRows> {
    const { references = [], returning } = operation;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const found = await write(on, this.#compiler.unwritten(shape, operation), slots);
      const marks = found.rows[0]?.slice(returning.columns.length);
      if (!marks) return found;
      this.#refuse(references, marks);
      const [differs, ...filled] = marks.slice(references.length);
      const added = this.#compiler.encoder.attributesOf(shape).filter(({ isAdded }) => isAdded);
      const empty = added.find((_, index) => filled[index] !== 't');
      if (empty) throw noValueToAddTo(empty.name);
      if (differs !== 't') return found;
      const again = await write(on, change, slots).catch(throwOfSums(operation.set));
      if (again.rows.length > 0) return again;
    }
    const dropped = (await this.mayDrop(['update'], on)) && 'update';
    // A policy FOR UPDATE hides a row from changes and locks, and not from reads.
    const locked = dropped ? null : await this.#read(operation.where, returning, slots, on, true);
    if (locked?.rows.length === 0) return locked;
    throw whyUnwritten({ info: this.#info }, { dropped, isOutrun: true });
  }

  /** @throws DatabaseError where one of the rows is not there */
  #refuse(references: readonly Reference[], marks: TextRow): void {
    const missing = references.find((_, index) => marks[index] !== 't');
    if (missing) throw missingReference(this.#info, missing.attribute);
  }

  /** The address of the one row that a predicate can find; undefined where it may find several. */
  #keyOf(where: Predicate, slots: Slots): string | undefined {
    const texts = this.#address.map((name) => {
      const value = valueAsked(where, name);
      return value === undefined ? undefined : (textOf(value, slots) ?? undefined);
    });
    if (texts.length === 1) return texts[0];
    return texts.length === 0 || texts.includes(undefined) ? undefined : JSON.stringify(texts);
  }

  async #replace(
    operation: ReplaceOperation,
    slots: Slots,
    on: StatementTarget,
  ): Promise<ReplacedRows | null> {
    const { where, seen, gone, row, set, only, returning, unseen, touch } = operation;
    const references = referencesOfRow(operation, row);
    const ofChange = referencesOfChange(operation, set);
    if (only === 'change') {
      const changed = await this.#update(
        { kind: 'update', where, set, references: ofChange, returning, unseen, touch },
        slots,
        on,
      );
      return changed && { ...changed, isNew: false };
    }
    const filled = joinSlots(slots, { [NOW.slot]: now() });
    const take = intoSlots(filled);
    const changes = this.#compiler.encoder.changes(set, take);
    const shape = this.#compiler.encoder.newRow(row, take);
    if (changes === null || shape === null) return null;
    const { hideInserts, hideUpdates, haveLateKeys } = await triggersOf(this.#compiler.table, on);
    if (hideInserts || hideUpdates || haveLateKeys) return null;
    const isChanged = only === null && (changes.includes('1') || touch === 'change');
    const changing = { ...operation, references: ofChange };
    const statement = this.#compiler.replace(shape, isChanged ? changes : null, changing, references);
    const written = await write(on, statement, filled);
    const isDone = written.rows.length > 0 || only === 'create';
    if (touch && !isDone) await this.#read(where, returning, slots, on, true);
    const found = isDone ? written : await this.#explain(changing, changes, statement, filled, on);
    // The column behind those of a row is true for a new one; that of one as the values say does not differ.
    if (found.rows.length > 0) return { ...found, isNew: found.rows[0]?.at(-1) === 't' };
    if (only === 'create' && (await this.#isThere(where, filled, on))) return { ...found, isNew: false };
    if (seen && (await this.#isThere(seen, filled, on))) return { ...found, isNew: false };
    if (gone && (await this.#isThere(gone, filled, on))) throw keptByDeleted(this.#info);
    // A row that cannot be replaced is created, or the database reports why not.
    const created = await this.#insert({ kind: 'insert', row, references, returning }, slots, on);
    return created && { ...created, isNew: true };
  }
}

/** Any connection of the pool, with the settings of the running code. */
export function tableTarget({ model }: RecordInfo): StatementTarget {
  return currentTarget(model.sequelize as Sequelize);
}

/** The triggers of the table; read where the writes run. @param isAlone the caller holds no connection */
export function triggersOf(
  { info, name }: TableSql,
  on: StatementTarget,
  isAlone = false,
): TableTriggers | Promise<TableTriggers> {
  const ask = async (text: string, values: string[]) => (await on.write(text, values)).rows;
  return tableTriggers(info.model.sequelize as Sequelize, name, ask, isAlone);
}

/**
 * @param key of the row, null for a new one, where it may be written together with others of the same statement: no trigger may have
 *   effects that cannot be undone
 */
function write(
  on: StatementTarget,
  statement: Statement,
  slots: Slots,
  key?: string | null,
): Promise<TextResult> {
  return on.write(statement.text, fillSlots(statement, slots), key);
}
