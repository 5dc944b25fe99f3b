/** Changes the record that has a key, or creates it. */
import { describeFault } from '../../errors/database-fault.js';
import type { DatabaseSession } from './database-session.js';
import { runInSavepoint } from './savepoint.js';

interface KeyedWork<K, T> {
  /** Locks the record; undefined where there is none. */
  find(): Promise<K | undefined>;
  create(): Promise<T>;
  change(found: K): Promise<T>;
}

/**
 * Changes the record that has the key, or else creates it. A `create` that another request has outrun is undone, and the record is
 * searched once more.
 *
 * @param session undefined for a transaction in which nothing can be undone alone
 */
export async function createOrChange<K, T>(
  session: DatabaseSession | undefined,
  { find, create, change }: KeyedWork<K, T>,
): Promise<T> {
  const found = await find();
  if (found !== undefined) return change(found);
  if (!session) return create();
  try {
    return await runInSavepoint(session, 'write', create);
  } catch (error) {
    if (describeFault(error)?.kind !== 'unique') throw error;
    const outrun = await find();
    if (outrun === undefined) throw error;
    return change(outrun);
  }
}
