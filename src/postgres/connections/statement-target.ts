/** Where statements run: on connections of a pool, one for each statement, or on the one connection of a transaction. */
import type { Preceding, TextResult, TextValues } from '../protocol/batch.js';
import type { RequestSettings } from '../session/session-variables.js';

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
  /** True where writes may go together. */
  readonly sharesWrites: boolean;
  /**
   * Runs a write, or a read that has to see the last write.
   *
   * @param key of the row that is written, null for a new one; only for a write that may be in one transaction with others
   * of the same statement
   */
  write(text: string, values: TextValues, key?: string | null): Promise<TextResult>;
}
