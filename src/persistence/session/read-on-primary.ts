/**
 * The second attempt of a single read that a lock, a deadlock or the recovery of a replica has ended. It is made on the
 * primary, which no recovery disturbs, in a transaction that refuses writes, as connections to the primary do not.
 */
import type { Sequelize, Transaction } from 'sequelize';
import { describeFault, isBusy } from '../errors/database-fault.js';

/** The waiting for locks is over: the first attempt has waited, and this connection is one that writes need. */
const BEGIN = `SET TRANSACTION READ ONLY; SET LOCAL lock_timeout = '100ms'`;

/** Runs work in a transaction on the primary. */
type RunTransaction = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/**
 * Reads once more.
 *
 * @param cause what the first attempt failed with; thrown again when it is no reason to read once more, and when that fails
 * @param runTransaction where the instance's own way may lead to a replica
 */
export async function readOnPrimary<T>(
  cause: unknown,
  sequelize: Sequelize,
  read: (transaction: Transaction) => Promise<T>,
  runTransaction: RunTransaction = (work) => sequelize.transaction(work),
): Promise<T> {
  const fault = describeFault(cause);
  if (!fault || !isBusy(fault)) throw cause;
  try {
    return await runTransaction(async (transaction) => {
      await sequelize.query(BEGIN, { transaction });
      return read(transaction);
    });
  } catch {
    throw cause;
  }
}
