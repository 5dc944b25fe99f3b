/** Statements that wait for a lock of the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryTypes, type Sequelize } from 'sequelize';

const WAITING = `
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Resolves when as many statements of this database wait for locks. */
export async function untilLocked(sequelize: Sequelize, count = 1): Promise<void> {
  for (;;) {
    const waiting = await sequelize.query(WAITING, { type: QueryTypes.SELECT });
    if (waiting.length >= count) return;
    await sleep(2);
  }
}

/** The outcome of a request that waits for a lock of another transaction, which has run a statement, and commits then. */
export async function behind<T>(sequelize: Sequelize, text: string, send: () => PromiseLike<T>): Promise<T> {
  const transaction = await sequelize.transaction();
  await sequelize.query(text, { transaction });
  const outcome = Promise.resolve(send());
  await untilLocked(sequelize);
  await transaction.commit();
  return outcome;
}
