/** Statements on their way, and where they are executed: on connections of a pool, or on the one connection of a transaction. */
import type { Execution, Preceding, TextResult, TextValues } from '../protocol/batch.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import type { TableShare } from '../session/read-shares.js';
import type { RequestSettings } from '../session/session.js';

/** Statement that sets the settings of a request before another one, in its transaction. */
export interface SettingsStatement extends Preceding {
  readonly settings: RequestSettings;
}

/** Runs statements whose values are texts. */
export interface StatementTarget {
  /**
   * Runs a read.
   *
   * @param table the one that is read, as the statement names it
   * @param isPlanned for its values, as they can make it slow, unless it was often fast; others, such as one by primary key, are planned once
   */
  read(text: string, values: TextValues, table: string, isPlanned?: boolean): Promise<TextResult>;
  /**
   * Runs a write, or a read that has to see the last write.
   *
   * @param key of the row that is written, null for a new one; only for a write that may be in one transaction with others
   * of the same statement. A target may run it alone all the same
   */
  write(text: string, values: TextValues, key?: string | null): Promise<TextResult>;
}

/** Executes reads where writes go, so that they see the last one. */
export function onPrimary(on: StatementTarget): StatementTarget {
  const write: StatementTarget['write'] = (text, values) => on.write(text, values);
  return { read: write, write };
}

/** A statement with its values and settings. */
export interface StatementCall {
  readonly statement: PreparedStatement;
  readonly values: TextValues;
  /** Share of the table of a read; null where there is none. */
  readonly share: TableShare | null;
  /** Statement that sets the settings before it; null where there are none. */
  readonly settings: SettingsStatement | null;
}

/** A statement with the callback that takes its result. */
export interface PendingStatement extends StatementCall {
  readonly context?: Execution['context'];
  readonly trace?: Execution['trace'];
  /** Takes its outcome, when the connection is free; the first call counts. */
  readonly answer: Execution['settle'];
  /** Takes the reason why there is no connection. */
  readonly fail: (error: unknown) => void;
}
