/**
 * What a table does with an UPDATE that the statement itself does not show: `RETURNING` gives a row as it is before the
 * triggers that run afterwards, and those of single columns run for columns that are set to what they are.
 */
import type { StatementRunner } from './statement-runner.js';

/**
 * With partitions; views and foreign tables may do anything. 2 and 16 are BEFORE and UPDATE (`pg_trigger.h`). A foreign key
 * that refers to its own table may have the row follow itself, unless it is the primary key that it follows.
 */
const HIDDEN_WORK = `
  WITH RECURSIVE part (id) AS (
    SELECT to_regclass($1)::oid UNION SELECT inhrelid FROM pg_inherits JOIN part ON inhparent = id)
  SELECT 1 FROM part JOIN pg_class ON pg_class.oid = id LEFT JOIN pg_trigger ON tgrelid = id
    AND NOT tgisinternal AND tgtype & 16 <> 0 AND (tgtype & 2 = 0 OR tgattr <> '')
  WHERE tgrelid IS NOT NULL OR relkind NOT IN ('r', 'p') OR relhasrules OR EXISTS (
    SELECT FROM pg_constraint JOIN pg_index ON indexrelid = conindid
    WHERE conrelid = id AND confrelid = id AND confupdtype NOT IN ('a', 'r') AND NOT indisprimary) LIMIT 1`;

/** Whether the table, quoted, has any such trigger or rule. */
export async function hidesUpdates(runner: StatementRunner, table: string): Promise<boolean> {
  return (await runner.write(HIDDEN_WORK, [table])).rows.length > 0;
}
