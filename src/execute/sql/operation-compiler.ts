/**
 * Operations on one table -> statements. A text depends on the shape of an operation, and not on its values: it is put together
 * once. Frozen predicates and selections are compared by their identity, others by their shape. Clients choose shapes, so their number is
 * limited.
 */
import { orderShape } from '../../compile/compile-sort.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { ofTables } from '../../describe/table-facts.js';
import { unseenOf } from '../../describe/unseen-values.js';
import type {
  DeleteOperation,
  InsertOperation,
  ListOperation,
  ReadOperation,
  Reference,
  Selection,
  UpdateOperation,
} from '../../operation/operation.js';
import { allOf } from '../../operation/predicates.js';
import type { Junction, Predicate, Value } from '../../request/query/predicate.js';
import { BoundedCache, keptIn } from '../../util/memo.js';
import { RowEncoder, type RowShape } from './encode-parameter.js';
import { type LiftedPredicate, liftValues, UNCONDITIONAL } from './lift-values.js';
import { compilePredicate } from './predicate-sql.js';
import {
  compileSelect,
  describeList,
  describeSelection,
  describeTable,
  type ListSql,
  type RowsSql,
  type SelectionSql,
  type TableSql,
} from './select-sql.js';
import { joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { bindSlots, type Statement, toStatement } from './statement.js';
import { type IndexInfo, indexesOf, servesOrder } from './table-indexes.js';
import {
  compileDelete,
  compileInsert,
  compileReplace,
  compileUpdate,
  differsSql,
  filledSql,
  referredRow,
} from './write-sql.js';

/** Parts of an UPDATE besides the values. */
type Written = Pick<UpdateOperation, 'where' | 'references' | 'returning' | 'unseen' | 'touch'>;

type ByCondition = BoundedCache<BoundedCache<Statement>>;

/** Compiles the operations on one table. */
export class OperationCompiler {
  readonly table: TableSql;
  readonly encoder: RowEncoder;
  // Casts, joins, and ranges of NULL follow from the tables.
  readonly #frozenSelections = ofTables(() => new WeakMap<Selection, SelectionSql>());
  readonly #selections = ofTables(() => new BoundedCache<SelectionSql>());
  readonly #lists = ofTables(() => new BoundedCache<ListSql>());
  readonly #ranges = ofTables(() => new BoundedCache<readonly SqlFragment[]>());
  readonly #statements = ofTables(() => new BoundedCache<Statement>());
  /** Writes of single rows, by the shape of their condition and then by that of the row. */
  readonly #rowWrites = ofTables(() => ({
    insert: new WeakMap<SelectionSql, ByCondition>(),
    update: new WeakMap<SelectionSql, ByCondition>(),
    always: new WeakMap<SelectionSql, ByCondition>(),
  }));
  readonly #reads = ofTables(() => new WeakMap<ReadOperation, Statement>());
  #planned = new BoundedCache<boolean>();
  /** Indexes that the entries of `#planned` are based on. */
  #indexes: readonly IndexInfo[] | undefined;
  /** Number of selections and lists: a shape holds a number instead of the names, which are longer. */
  #count = 0;

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.table = describeTable(info);
    this.encoder = new RowEncoder(info);
  }

  delete({ where, mark }: DeleteOperation): Statement {
    return this.#bound(where, `delete ${mark?.attribute ?? ''}\0`, (lifted) =>
      compileDelete(this.table, lifted, mark),
    );
  }

  /** @param shape of the row */
  insert(
    shape: RowShape,
    { references = [], returning }: Pick<InsertOperation, 'references' | 'returning'>,
  ): Statement {
    const where = allOf(...references.map(referredRow));
    return this.#ofRow('insert', where, shape, this.#selection(returning), (lifted, selection) =>
      compileInsert(this.table, this.encoder.attributesOf(shape), lifted, selection),
    );
  }

  /** @param shape of the changes */
  update(shape: RowShape, operation: Written): Statement {
    const { where, references = [], returning } = operation;
    const selection = this.#selection(returning);
    const all = references.length === 0 ? where : allOf(where, ...references.map(referredRow));
    const always = this.#isAlways(shape, operation);
    return this.#ofRow(always ? 'always' : 'update', all, shape, selection, (lifted) => {
      const set = this.encoder.attributesOf(shape);
      return compileUpdate(this.table, { set, where: lifted, returning: selection, always });
    });
  }

  /**
   * @param changes their shape; null where a row that is there stays as it is
   * @param ofRow references of a new row; those of the operation are of the change
   */
  replace(
    shape: RowShape,
    changes: RowShape | null,
    operation: Written,
    ofRow: readonly Reference[],
  ): Statement {
    const { where, references = [], returning } = operation;
    const selection = this.#selection(returning);
    const all: Junction<Value> = {
      kind: 'and',
      operands: [where, ...[...ofRow, ...references].map(referredRow)],
    };
    const always = changes !== null && this.#isAlways(changes, operation);
    const name = `replace ${always ? 'always ' : ''}${shape} ${changes} ${ofRow.length} ${selection.number} `;
    return this.#bound(all, name, (lifted) => {
      const [found, ...rows] = (lifted as Junction<Value>).operands;
      const row = this.encoder.attributesOf(shape);
      const set = changes === null ? null : this.encoder.attributesOf(changes);
      const whole = set && allOf(found as Predicate, ...rows.slice(ofRow.length));
      return compileReplace(this.table, {
        row,
        change: set && whole && { set, where: whole, returning: selection, always },
        references: allOf(...rows.slice(0, ofRow.length)),
        returning: selection,
      });
    });
  }

  /** The rows of a predicate, in no order. */
  read(operation: ReadOperation): Statement {
    const known = this.#reads().get(operation);
    if (known) return known;
    const statement = this.#read(operation);
    // An operation that is frozen comes again, and has the same texts if its predicate has no bound values.
    if (Object.isFrozen(operation) && this.lift(operation.where).bound === null) {
      this.#reads().set(operation, statement);
    }
    return statement;
  }

  #read({ where, select, isLocked }: ReadOperation): Statement {
    const { columns, number } = this.#selection(select);
    const { table } = this;
    const tail = raw(isLocked ? ' FOR NO KEY UPDATE' : '');
    return this.#bound(where, `${isLocked ? 'lock' : 'select'} ${number} `, (lifted) =>
      compileSelect(table, { columns, conditions: [compilePredicate(lifted, table.column)], tail }),
    );
  }

  /** SELECT with one boolean for each reference: its row is there. */
  check(references: readonly Reference[]): Statement {
    const rows = references.map(referredRow).map((row) => compilePredicate(row, this.table.column));
    return toStatement(sql`SELECT ${joinSql(rows, ', ')}`);
  }

  /**
   * A row that an UPDATE has not written. Behind its columns: a boolean for each reference, true where it exists, one that is true where the
   * row has other values, and one for each value that something is added to, true where the row has it.
   */
  unwritten(shape: RowShape, operation: Written): Statement {
    const { where, references = [], returning } = operation;
    const { column } = this.table;
    const selection = this.#selection(returning);
    const always = this.#isAlways(shape, operation);
    const all: Junction<Value> = { kind: 'and', operands: [where, ...references.map(referredRow)] };
    return this.#bound(all, `unwritten ${always ? 'always ' : ''}${shape} ${selection.number} `, (lifted) => {
      const [found, ...rows] = (lifted as Junction<Value>).operands.map((each) =>
        compilePredicate(each, column),
      );
      const set = this.encoder.attributesOf(shape);
      const columns = [
        ...selection.columns,
        ...rows,
        differsSql(set, column, always),
        ...filledSql(set, column),
      ];
      return compileSelect(this.table, { columns, conditions: [found as SqlFragment] });
    });
  }

  /** Common part of all pages of a list. @param shape of its order */
  list({ select, order }: Pick<ListOperation, 'select' | 'order'>, shape = orderShape(order)): ListSql {
    const selection = this.#selection(select);
    return this.#lists().get(`${selection.number}${shape}`, () =>
      describeList(this.table, selection, order, this.#nextNumber()),
    );
  }

  /**
   * A statement of a list.
   *
   * @param shape the parts that it depends on beside the list and the predicate; without spaces
   */
  listStatement(list: ListSql, shape: string, where: LiftedPredicate, rowsOf: () => RowsSql): Statement {
    return this.#statements().get(`list ${list.number} ${shape} ${where.shape}`, () => {
      const { conditions, ...rows } = rowsOf();
      const found = where.predicate ? [compilePredicate(where.predicate, this.table.column)] : [];
      return compileSelect(this.table, { ...rows, joins: list.joins, conditions: [...found, ...conditions] });
    });
  }

  /**
   * True where the values of a list's predicate decide which plan is good. They do not where an index begins with the
   * columns of the slots, and goes on with the order: its plan is the best one for any values.
   */
  isPlanned({ terms, number }: ListSql, { bound, slotted, shape }: LiftedPredicate): boolean {
    if (bound !== null || slotted === null) return true;
    if (slotted.length === 0) return false;
    const { info } = this.table;
    const indexes = indexesOf(info.model);
    if (indexes === undefined) return true;
    if (indexes !== this.#indexes) {
      this.#indexes = indexes;
      this.#planned = new BoundedCache();
    }
    return this.#planned.get(
      `${number} ${shape}`,
      () => !indexes.some((index) => servesOrder(info, index, slotted, terms)),
    );
  }

  ranges(list: ListSql, shape: string, compile: () => readonly SqlFragment[]): readonly SqlFragment[] {
    return this.#ranges().get(`${list.number} ${shape}`, compile);
  }

  /** A predicate without bound values, and these. */
  lift(where: Predicate | null): LiftedPredicate {
    return where === null ? UNCONDITIONAL : liftValues(where);
  }

  #bound<P extends Predicate | null>(where: P, shape: string, compile: (lifted: P) => Statement): Statement {
    const lifted = this.lift(where);
    // Null only where the predicate is.
    const statement = this.#statements().get(shape + lifted.shape, () => compile(lifted.predicate as P));
    return lifted.bound ? bindSlots(statement, lifted.bound) : statement;
  }

  /**
   * The statement of a write that comes with every row. Most have the shapes of the one before, and a map finds the same strings without
   * another hash: a text of both would be hashed for each row.
   */
  #ofRow<P extends Predicate | null>(
    kind: 'insert' | 'update' | 'always',
    where: P,
    shape: RowShape,
    selection: SelectionSql,
    compile: (lifted: P, selection: SelectionSql) => Statement,
  ): Statement {
    const lifted = this.lift(where);
    const statement = keptIn(this.#rowWrites()[kind], selection, (): ByCondition => new BoundedCache())
      .get(lifted.shape, () => new BoundedCache())
      .get(shape, () => compile(lifted.predicate as P, selection));
    return lifted.bound ? bindSlots(statement, lifted.bound) : statement;
  }

  /** True where a write counts as a change with any values of the row. */
  #isAlways(
    shape: RowShape,
    { touch, unseen: unreadable }: Pick<UpdateOperation, 'touch' | 'unseen'>,
  ): boolean {
    if (touch === 'change') return true;
    const unseen = unseenOf(this.table.info.model, unreadable);
    return unseen !== undefined && this.encoder.attributesOf(shape).some(({ name }) => unseen.has(name));
  }

  #selection(selection: Selection): SelectionSql {
    const known = this.#frozenSelections().get(selection);
    if (known) return known;
    const described = this.#selections().get(selection.columns.join('\0'), () =>
      describeSelection(this.table, selection, this.#nextNumber()),
    );
    if (Object.isFrozen(selection)) this.#frozenSelections().set(selection, described);
    return described;
  }

  #nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }
}
