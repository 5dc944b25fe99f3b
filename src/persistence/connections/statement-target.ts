/** Where statements run: on connections of a pool, one for each statement, or on the one connection of a session. */
import type { Preceding, TextResult, TextValues } from '../protocol/batch.js';
import type { RequestSettings } from '../session/request-settings.js';

/** What sets the settings of a request before a statement, in its transaction. */
export interface SettingsStatement extends Preceding {
  readonly settings: RequestSettings;
}

/** Runs statements whose values are texts. */
export interface StatementTarget {
  /**
   * Runs a read whose values do not change how it is planned, such as one by primary key.
   *
   * @param table the one that is read, as the statement names it
   */
  read(text: string, values: TextValues, table: string): Promise<TextResult>;
  /** Runs a read that is planned for its values. */
  readPlanned(text: string, values: TextValues, table: string): Promise<TextResult>;
  /** Runs a write, or a read that has to see the last write. */
  write(text: string, values: TextValues): Promise<TextResult>;
  /** Whether `writeTogether` may be called. */
  readonly sharesWrites: boolean;
  /**
   * Runs a write, in one transaction with others of the same statement.
   *
   * @param key of the row that is written; null for a new one
   */
  writeTogether(text: string, values: TextValues, key: string | null): Promise<TextResult>;
}
