/**
 * The second attempt of a single read that a lock, a deadlock or the recovery of a replica has ended. It is made on the
 * primary, which no recovery disturbs, in a transaction that refuses writes, as connections to the primary do not.
 */
import type { Sequelize, Transaction } from 'sequelize';
import { describeFault, isBusy } from '../../errors/database-fault.js';
import { applySettings, type RequestSettings } from './session.js';

/** The waiting for locks is over: the first attempt has waited, and this connection is one that writes need. */
const BEGIN = `SET TRANSACTION READ ONLY; SET LOCAL lock_timeout = '100ms'`;

/** An instance whose transactions may be those of a replica. */
interface WithPrimary extends Sequelize {
  transactionOnPrimary?<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/**
 * Reads once more.
 *
 * @param cause the error of the first attempt; thrown again when it is no reason to read once more, and when that fails
 * @param settings of the request
 */
export async function readOnPrimary<T>(
  cause: unknown,
  sequelize: WithPrimary,
  read: (transaction: Transaction) => Promise<T>,
  settings: RequestSettings | null,
): Promise<T> {
  const fault = describeFault(cause);
  if (!fault || !isBusy(fault)) throw cause;
  const work = async (transaction: Transaction): Promise<T> => {
    await sequelize.query(BEGIN, { transaction });
    if (settings) await applySettings(sequelize, transaction, settings);
    return read(transaction);
  };
  try {
    return await (sequelize.transactionOnPrimary?.(work) ?? sequelize.transaction(work));
  } catch {
    throw cause;
  }
}
