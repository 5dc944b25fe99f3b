/** Executions of a statement, with everything in them as the text that PostgreSQL reads and writes. */
import type { AsyncResource } from 'node:async_hooks';
import type { StatementTrace } from '../../diagnostics/channels.js';
import type { PreparedStatement, TextParser } from './prepared-statement.js';

/** The values of a row. */
export type TextRow = readonly (string | null)[];

/** The values of the parameters. */
export type TextValues = readonly (string | null)[];

/** Result of an execution. */
export interface TextResult {
  readonly rows: readonly TextRow[];
  /** Rows that were found or written. */
  readonly count: number;
  /** The driver's parsers of the columns. */
  readonly parsers: readonly TextParser[];
  /** Bytes of the rows of a SELECT as they arrived. */
  readonly bytes?: number;
}

/** An execution of a prepared statement. */
export interface Execution {
  readonly values: TextValues;
  /** Context of its request, where a tracer needs it and other code may run when it is sent. */
  readonly context?: AsyncResource | undefined;
  /** Notified when it is sent; undefined where there are no subscribers. */
  readonly trace?: StatementTrace | undefined;
  /** Takes its outcome: an error, or else a result. */
  settle(error: Error | null, result?: TextResult): void;
}

/** A statement that is executed before others, in their transaction. Its result is not used. */
export interface Preceding {
  readonly statement: PreparedStatement;
  readonly values: TextValues;
}

/**
 * Executions that are sent together, one at least. To the database they are one transaction: when one fails, it executes
 * none of those behind it.
 */
export interface Batch {
  /** Statements that are executed first; mostly none. */
  readonly before: readonly Preceding[];
  readonly statement: PreparedStatement;
  readonly executions: readonly Execution[];
  /** Number of batches under way before it, each of which may take as long as this one. Default: none. */
  readonly behind?: number;
  /** Called when the connection is free, before the executions are settled. */
  end(error: Error | null): void;
}

/** Error of an execution that may have been left out, because another one of its batch failed. */
export class BatchAbortedError extends Error {}
