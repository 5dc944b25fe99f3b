/** A statement as one connection has prepared it. */
import type { PreparedStatement, TextParser } from './prepared-statement.js';

/**
 * PostgreSQL refuses to execute it once the types of its results have changed, so what the connection was told of them
 * holds as long as it gives any: for this connection, which may not have heard yet of a change that others have.
 */
export interface Preparation {
  readonly statement: PreparedStatement;
  /** How the driver reads the columns of the results; null as long as they have not been described. */
  parsers: readonly TextParser[] | null;
  /** Whether it is of no use any more. */
  isLost: boolean;
}
