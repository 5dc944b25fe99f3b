/**
 * What a table does with an UPDATE that the statement itself does not show: `RETURNING` gives a row as it is before the
 * triggers that run afterwards, and those of single columns run for columns that are set to what they are.
 */
import type { Sequelize } from 'sequelize';

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

/** Sends a query with values for its parameters to the primary, and gives the rows. */
type AskPrimary = (text: string, values: string[]) => Promise<readonly unknown[]>;

/** What is known of the tables of an instance. */
const tables = new WeakMap<Sequelize, Map<string, boolean>>();

/**
 * Whether the table, quoted, has any such trigger or rule; asked until there is an answer. Each asks for itself: who waited
 * for another one's answer with a transaction open could hold the connection that the other one waits for.
 */
export function hidesUpdates(
  sequelize: Sequelize,
  table: string,
  ask: AskPrimary,
): boolean | Promise<boolean> {
  return tables.get(sequelize)?.get(table) ?? find(sequelize, table, ask);
}

async function find(sequelize: Sequelize, table: string, ask: AskPrimary): Promise<boolean> {
  const answer = (await ask(HIDDEN_WORK, [table])).length > 0;
  const answers = tables.get(sequelize) ?? new Map<string, boolean>();
  tables.set(sequelize, answers.set(table, answer));
  return answer;
}
