/** Makes the tables of the keys of requests, or tells that they are missing. */
import { type QueryOptionsWithType, QueryTypes, type Sequelize } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Endpoint, ModelClass } from '../declare/crud-options.js';
import { type KeyTable, keyTablesOf } from '../execute/sql/key-table.js';
import { describeError } from '../util/describe-error.js';
import type { Logger } from '../util/logger.js';

/** Instances whose tables are made by us. */
const creating = new WeakSet<Sequelize>();

/** From now on the tables of ours that are needed are made. */
export function createOwnTables(sequelize: Sequelize): void {
  creating.add(sequelize);
}

/** The models that generated writes are for. */
export function modelsWritten(plans: readonly ResourcePlan[]): ModelClass[] {
  const isWrite = (endpoint: Endpoint): boolean => endpoint !== 'list' && endpoint !== 'read';
  return plans.filter(({ endpoints }) => [...endpoints].some(isWrite)).map(({ model }) => model);
}

/** Makes the tables that writes need, or writes an error with their SQL where they are missing. Never throws. */
export async function prepareKeyTables(plans: readonly ResourcePlan[], logger: Logger): Promise<void> {
  const models = modelsWritten(plans);
  for (const sequelize of new Set(models.flatMap((model) => model.sequelize ?? []))) {
    for (const table of keyTablesOf(models.filter((model) => model.sequelize === sequelize))) {
      try {
        await prepare(sequelize, table, logger);
      } catch (error) {
        logger.error(`The table ${table.name} could not be made or looked for`, describeError(error));
      }
    }
  }
}

async function prepare(sequelize: Sequelize, { name, definition }: KeyTable, logger: Logger): Promise<void> {
  // Sequelize knows the option, and its types do not. A replica may not have seen the table yet.
  const options = { type: QueryTypes.SELECT, bind: [name], useMaster: true };
  const [found] = await sequelize.query<{ exists: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS "exists"',
    options as QueryOptionsWithType<QueryTypes.SELECT>,
  );
  if (found?.exists) return;
  if (creating.has(sequelize)) {
    for (const statement of definition) await sequelize.query(statement);
    return;
  }
  logger.error(
    `idempotency: there is no table ${name}, so that requests with an Idempotency-Key fail; create it by a migration, or by ` +
      `createAll: true of engineLifespan: ${definition.join('; ')};`,
  );
}
