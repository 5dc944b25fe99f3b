/** Selects values that make no records, with a statement of this library: on a connection of the pool, or through Sequelize. */
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { RecordInfo } from '../../describe/model-info.js';
import {
  currentSession,
  currentSettings,
  isOnSequelize,
  type StatementTarget,
} from '../../postgres/index.js';
import { joinSql, quotedSql, raw, type SqlFragment, sql } from '../sql/sql-fragment.js';
import { fillSlots, type Slots, textOf, toStatement } from '../sql/statement.js';
import { inTransaction } from './database-session.js';

/** The values of a row, as the driver has them, in the order of the columns. */
export type ValueRow = readonly unknown[];

/** Columns of a SELECT, named by their places. */
export function placedColumns(columns: readonly SqlFragment[]): SqlFragment {
  return joinSql(
    columns.map((each, index) => sql`${each} AS ${raw(`"c${index}"`)}`),
    ', ',
  );
}

/**
 * Runs a SELECT whose columns have names of their own, which are no numbers: those of `placedColumns`.
 *
 * @param on a connection of ours; null leaves it to Sequelize
 * @param within the transaction of Sequelize's. Default: that of the running code
 */
export async function selectValues(
  { model, name }: RecordInfo,
  fragment: SqlFragment,
  slots: Slots,
  on: StatementTarget | null,
  within?: Transaction | null,
): Promise<readonly ValueRow[]> {
  if (on && !isOnSequelize()) {
    const statement = toStatement(fragment);
    const { rows, parsers } = await on.read(statement.text, fillSlots(statement, slots), name, true);
    return rows.map((row) => row.map((text, index) => (text === null ? null : parsers[index]?.(text))));
  }
  const sequelize = model.sequelize as Sequelize;
  const values = fragment.values.map((value) => textOf(value, slots) as string);
  const text = quotedSql({ ...fragment, values });
  const read = async (transaction: Transaction | null) => {
    const options = { type: QueryTypes.SELECT, raw: true, ...(transaction ? { transaction } : {}) } as const;
    const found = await sequelize.query<Record<string, unknown>>(text, options);
    return found.map((row) => Object.values(row));
  };
  const transaction = within ?? (await currentSession(sequelize)?.transactionFor('select')) ?? null;
  if (transaction || !currentSettings()?.key) return read(transaction);
  return inTransaction(sequelize, 'get', read);
}
