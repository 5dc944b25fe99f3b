/** The tables of features: made at the start where `createAll` is set, else logged where one is missing. */
import { type QueryOptionsWithType, QueryTypes, type Sequelize } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { FeatureNeeds, OwnTable } from '../operation/feature.js';
import { describeError } from '../util/describe-error.js';
import type { Logger } from '../util/logger.js';

/** Instances whose tables are made by us. */
const creating = new WeakSet<Sequelize>();

/** From now on the tables of ours that are needed are made. */
export function createOwnTables(sequelize: Sequelize): void {
  creating.add(sequelize);
}

/** The tables that features need for some resources, each once. */
export function ownTables(plans: readonly ResourcePlan[], features: readonly FeatureNeeds[]): OwnTable[] {
  const tables = features.flatMap((feature) => plans.flatMap((plan) => feature.tables?.(plan) ?? []));
  return [...new Map(tables.map((table) => [table.name, table])).values()];
}

/**
 * Makes the tables that an application needs, or logs an error with their SQL where they are missing. Never throws.
 *
 * @param options of `bootstrap` that are given
 */
export async function prepareTables(
  plans: readonly ResourcePlan[],
  features: readonly FeatureNeeds[],
  options: object,
  logger: Logger,
): Promise<void> {
  for (const sequelize of new Set(plans.flatMap(({ model }) => model.sequelize ?? []))) {
    const own = plans.filter(({ model }) => model.sequelize === sequelize);
    for (const table of ownTables(own, features)) {
      if (table.option !== undefined && !(table.option in options)) continue;
      try {
        await prepare(sequelize, table, logger);
      } catch (error) {
        logger.error(`The table ${table.name} could not be made or looked for`, describeError(error));
      }
    }
  }
}

async function prepare(
  sequelize: Sequelize,
  { name, definition, option, failure }: OwnTable,
  logger: Logger,
): Promise<void> {
  // The option is in Sequelize, and not in its types. A replica may not have seen the table yet.
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
    `${option ? `${option}: ` : ''}there is no table ${name}, so that ${failure}; create it by a migration, or by ` +
      `createAll: true of engineLifespan: ${definition.join('; ')};`,
  );
}
