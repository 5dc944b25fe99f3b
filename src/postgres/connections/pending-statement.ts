/** A statement that is executed once, and waits for a connection. */
import type { Execution, TextValues } from '../protocol/batch.js';
import type { PreparedStatement } from '../protocol/prepared-statement.js';
import type { TableShare } from '../session/read-shares.js';
import type { SettingsStatement } from './statement-target.js';

/** A statement with its values and settings. */
export interface Asked {
  readonly statement: PreparedStatement;
  readonly values: TextValues;
  /** For a read, that of its table; null where there is none. */
  readonly share: TableShare | null;
  /** Statement that sets the settings before it; null where there are none. */
  readonly settings: SettingsStatement | null;
}

/** A statement with the callback that takes its result. */
export interface PendingStatement extends Asked {
  readonly context?: Execution['context'];
  readonly trace?: Execution['trace'];
  /** Takes what became of it, when the connection is free; the first call counts. */
  readonly answer: Execution['settle'];
  /** Takes why there is no connection. */
  readonly fail: (error: unknown) => void;
}
