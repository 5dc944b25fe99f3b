/**
 * Operations on one table -> statements. A text depends on the shape of an operation, and not on its values: it is put together
 * once. A frozen operation is known again by its identity, another one by its shape. Clients choose shapes, so their number is
 * limited.
 */
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import type {
  DeleteOperation,
  ListOperation,
  Predicate,
  ReadOperation,
  Selection,
  UpdateOperation,
} from '../../operation/operation.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { type LiftedPredicate, liftValues } from './lift-values.js';
import { describeList, type ListSql } from './list-sql.js';
import { compilePredicate } from './predicate-sql.js';
import { compileSelect, type RowsSql } from './select-sql.js';
import { raw, type SqlFragment } from './sql-fragment.js';
import { bindSlots, type Statement } from './statement.js';
import { describeSelection, describeTable, type SelectionSql, type TableSql } from './table-sql.js';
import { compileDelete, compileInsert, compileUpdate } from './write-sql.js';

/** Compiles the operations on one table. */
export class OperationCompiler {
  readonly table: TableSql;
  readonly #operations = new WeakMap<ReadOperation | DeleteOperation, Statement>();
  readonly #predicates = new WeakMap<Predicate, LiftedPredicate>();
  readonly #frozenSelections = new WeakMap<Selection, SelectionSql>();
  readonly #selections = new BoundedCache<SelectionSql>();
  readonly #lists = new BoundedCache<ListSql>();
  readonly #ranges = new BoundedCache<readonly SqlFragment[]>();
  readonly #statements = new BoundedCache<Statement>();
  /** How many selections and lists there were: a number is shorter than what it stands for in a shape. */
  #count = 0;

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.table = describeTable(info);
  }

  read(operation: ReadOperation): Statement {
    return this.#known(operation, ({ where, select, isLocked }) => this.select(where, select, isLocked));
  }

  delete(operation: DeleteOperation): Statement {
    return this.#known(operation, ({ where, mark }) =>
      this.#bound(where, `delete ${mark ?? ''}\0`, (lifted) => compileDelete(this.table, lifted, mark)),
    );
  }

  /** @param shape the same for the same rows of attributes only */
  insert(
    shape: string,
    rowsOf: () => readonly (readonly AttributeInfo[])[],
    returning: Selection,
  ): Statement {
    const selection = this.#selection(returning);
    return this.#statements.get(`insert ${shape} ${selection.number}`, () =>
      compileInsert(this.table, rowsOf(), selection),
    );
  }

  /** @param shape the same for the same attributes only */
  update(
    shape: string,
    setOf: () => readonly AttributeInfo[],
    updatedAt: AttributeInfo | null,
    { where, returning }: Pick<UpdateOperation, 'where' | 'returning'>,
  ): Statement {
    const selection = this.#selection(returning);
    return this.#bound(where, `update ${shape} ${selection.number} `, (lifted) =>
      compileUpdate(this.table, { set: setOf(), updatedAt, where: lifted, returning: selection }),
    );
  }

  /** The rows of a predicate, in no order. */
  select(where: Predicate, select: Selection, isLocked = false): Statement {
    const { columns, number } = this.#selection(select);
    const { table } = this;
    const tail = raw(isLocked ? ' FOR UPDATE' : '');
    return this.#bound(where, `${isLocked ? 'lock' : 'select'} ${number} `, (lifted) =>
      compileSelect(table, { columns, conditions: [compilePredicate(lifted, table.column)], tail }),
    );
  }

  /** What all pages of a list have in common. */
  list({ select, order }: Pick<ListOperation, 'select' | 'order'>): ListSql {
    const selection = this.#selection(select);
    let shape = `${selection.number}`;
    for (const { attribute, descending } of order) shape += `${descending ? '-' : '+'}${attribute}\0`;
    return this.#lists.get(shape, () => describeList(this.table, selection, order, this.#nextNumber()));
  }

  /**
   * A statement of a list.
   *
   * @param shape what it depends on beside the list and the predicate; without spaces
   */
  listStatement(list: ListSql, shape: string, where: LiftedPredicate, rowsOf: () => RowsSql): Statement {
    return this.#statements.get(`list ${list.number} ${shape} ${where.shape}`, () => {
      const { conditions, ...rows } = rowsOf();
      const found = where.predicate ? [compilePredicate(where.predicate, this.table.column)] : [];
      return compileSelect(this.table, { ...rows, conditions: [...found, ...conditions] });
    });
  }

  /** The conditions of ranges of a list. */
  ranges(list: ListSql, shape: string, compile: () => readonly SqlFragment[]): readonly SqlFragment[] {
    return this.#ranges.get(`${list.number} ${shape}`, compile);
  }

  /** A predicate without bound values, and these. */
  lift(where: Predicate | null): LiftedPredicate {
    const known = where && this.#predicates.get(where);
    if (known) return known;
    const lifted = liftValues(where);
    // One with bound values is that of a request, and does not come again.
    if (where && Object.isFrozen(where) && lifted.bound === null) this.#predicates.set(where, lifted);
    return lifted;
  }

  #bound(where: Predicate, shape: string, compile: (lifted: Predicate) => Statement): Statement {
    const lifted = this.lift(where);
    const statement = this.#statements.get(shape + lifted.shape, () =>
      compile(lifted.predicate as Predicate),
    );
    return lifted.bound ? bindSlots(statement, lifted.bound) : statement;
  }

  #known<O extends ReadOperation | DeleteOperation>(operation: O, compile: (operation: O) => Statement) {
    const known = this.#operations.get(operation);
    if (known) return known;
    const statement = compile(operation);
    if (Object.isFrozen(operation)) this.#operations.set(operation, statement);
    return statement;
  }

  #selection(selection: Selection): SelectionSql {
    const known = this.#frozenSelections.get(selection);
    if (known) return known;
    const described = this.#selections.get(selection.columns.join('\0'), () =>
      describeSelection(this.table, selection, this.#nextNumber()),
    );
    if (Object.isFrozen(selection)) this.#frozenSelections.set(selection, described);
    return described;
  }

  #nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }
}
