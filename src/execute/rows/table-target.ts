/** Where the writes of a table run, and what it does with them. */

import type { Sequelize } from 'sequelize';
import type { RecordInfo } from '../../describe/model-info.js';
import {
  currentTarget,
  type StatementTarget,
  type TableTriggers,
  type TextResult,
  tableTriggers,
} from '../../postgres/index.js';
import { fillSlots, type Slots, type Statement } from '../sql/statement.js';
import type { TableSql } from '../sql/table-sql.js';

/** Any connection of the pool, with the settings of the running code. */
export function tableTarget({ model }: RecordInfo): StatementTarget {
  return currentTarget(model.sequelize as Sequelize);
}

/** The triggers of the table; asked where the writes run. @param isAlone the caller holds no connection */
export function triggersOf(
  { info, name }: TableSql,
  on: StatementTarget,
  isAlone = false,
): TableTriggers | Promise<TableTriggers> {
  const ask = async (text: string, values: string[]) => (await on.write(text, values)).rows;
  return tableTriggers(info.model.sequelize as Sequelize, name, ask, isAlone);
}

/** Sends a write with the texts of its slots. */
export function write(on: StatementTarget, statement: Statement, slots: Slots): Promise<TextResult> {
  return on.write(statement.text, fillSlots(statement, slots));
}
