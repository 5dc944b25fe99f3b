/**
 * Operations on one table -> statements. A text depends on the shape of an operation, and not on its values: it is put together
 * once. A frozen operation is known again by its identity, another one by its shape. Clients choose shapes, so their number is
 * limited.
 */
import type { AttributeInfo, ModelInfo } from '../../model/model-info.js';
import type {
  DeleteOperation,
  Predicate,
  ReadOperation,
  Selection,
  UpdateOperation,
} from '../../operation/operation.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { type LiftedPredicate, liftValues } from './lift-values.js';
import { compilePredicate } from './predicate-sql.js';
import { compileSelect } from './select-sql.js';
import type { SqlFragment } from './sql-fragment.js';
import { bindSlots, type Statement } from './statement.js';
import {
  describeSelection,
  describeTable,
  type SelectionSql,
  selectionShape,
  type TableSql,
} from './table-sql.js';
import { compileDelete, compileInsert, compileUpdate } from './write-sql.js';

/** Between the parts of a shape, of which none has it inside. */
const NEXT = '\0\0';

/** What tells a shape from all others. */
export function joinShape(...parts: readonly string[]): string {
  return parts.join(NEXT);
}

/** Compiles the operations on one table. */
export class OperationCompiler {
  readonly table: TableSql;
  readonly #frozen = new WeakMap<ReadOperation | DeleteOperation, Statement>();
  readonly #statements = new BoundedCache<Statement>();
  readonly #ranges = new BoundedCache<readonly SqlFragment[]>();
  readonly #frozenSelections = new WeakMap<Selection, SelectionSql>();
  readonly #selections = new BoundedCache<SelectionSql>();

  /** @param info of a model that is attached to an instance */
  constructor(info: ModelInfo) {
    this.table = describeTable(info);
  }

  read(operation: ReadOperation): Statement {
    return (
      this.#frozen.get(operation) ?? this.#remember(operation, this.select(operation.where, operation.select))
    );
  }

  delete(operation: DeleteOperation): Statement {
    const { where, mark } = operation;
    return (
      this.#frozen.get(operation) ??
      this.#remember(
        operation,
        this.#lifted(where, joinShape('delete', mark ?? ''), (predicate) =>
          compileDelete(this.table, predicate, mark),
        ),
      )
    );
  }

  /** @param shape the same for the same rows of attributes only */
  insert(
    shape: string,
    rowsOf: () => readonly (readonly AttributeInfo[])[],
    returning: Selection,
  ): Statement {
    const selection = this.selection(returning);
    return this.statement(joinShape('insert', shape, selection.shape), () =>
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
    const selection = this.selection(returning);
    return this.#lifted(where, joinShape('update', shape, selection.shape), (predicate) =>
      compileUpdate(this.table, { set: setOf(), updatedAt, where: predicate, returning: selection }),
    );
  }

  /** The rows of a predicate, in no order. */
  select(where: Predicate, select: Selection): Statement {
    const { columns, shape } = this.selection(select);
    return this.#lifted(where, joinShape('select', shape), (predicate) =>
      compileSelect(this.table, {
        columns,
        conditions: [compilePredicate(predicate, this.table.column)],
      }),
    );
  }

  selection(selection: Selection): SelectionSql {
    const known = this.#frozenSelections.get(selection);
    if (known) return known;
    const described = this.#selections.get(selectionShape(selection), () =>
      describeSelection(this.table, selection),
    );
    if (Object.isFrozen(selection)) this.#frozenSelections.set(selection, described);
    return described;
  }

  /** The statement of a shape. */
  statement(shape: string, compile: () => Statement): Statement {
    return this.#statements.get(shape, compile);
  }

  /** The conditions of the ranges of a shape. */
  ranges(shape: string, compile: () => readonly SqlFragment[]): readonly SqlFragment[] {
    return this.#ranges.get(shape, compile);
  }

  #lifted(where: Predicate, shape: string, compile: (predicate: Predicate) => Statement): Statement {
    const lifted: LiftedPredicate = liftValues(where);
    const statement = this.statement(joinShape(shape, lifted.shape), () =>
      compile(lifted.predicate as Predicate),
    );
    return bindSlots(statement, lifted.bound);
  }

  #remember(operation: ReadOperation | DeleteOperation, statement: Statement): Statement {
    if (Object.isFrozen(operation)) this.#frozen.set(operation, statement);
    return statement;
  }
}
