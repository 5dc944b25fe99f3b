/** Runs a statement of the limit: by itself, or in a transaction as people write one. */
import type { Pool, QueryResult, QueryResultRow } from 'pg';
import type { Statement } from './statements.js';

let isInTransaction = false;

/** Makes each later request run in a transaction of its own. */
export function runInTransactions(): void {
  isInTransaction = true;
}

export async function runStatement<R extends QueryResultRow>(
  pool: Pool,
  statement: Statement,
): Promise<QueryResult<R>> {
  if (!isInTransaction) return pool.query<R>(statement);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await client.query<R>(statement);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
