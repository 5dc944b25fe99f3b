/** The door to the rows of a model: one interface, for our own statements and for Sequelize. */
import type { Operation } from '../operation/operation.js';
import type { Slots } from './sql/statement.js';

/**
 * Runs the operations on one model.
 *
 * @typeParam R rows as texts, or records
 * @typeParam On the connection or transaction of the statements, and what else only this executor takes
 */
export interface Executor<R, On> {
  /** Null is for what only another executor can do: nothing has happened then. */
  run(operation: Operation, slots: Slots, on: On): Promise<R | null>;
}

/** The columns that an operation gives. */
export function columnsOf(operation: Operation): readonly string[] {
  if (operation.kind === 'delete') return [];
  return 'select' in operation ? operation.select.columns : operation.returning.columns;
}
