/** Transactions that the database itself keeps from writing. */
import type { Sequelize, Transaction } from 'sequelize';

/** Has the database refuse writes in a transaction that has just begun; Sequelize's `readOnly` alone emits no SQL. */
export async function refuseWrites(sequelize: Sequelize, transaction: Transaction): Promise<void> {
  try {
    await sequelize.query('SET TRANSACTION READ ONLY', { transaction });
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}
