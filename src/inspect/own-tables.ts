/** The tables of features: made at the start where `createAll` is set, else logged where one is missing. */
import { type QueryOptionsWithType, QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { FeatureNeeds, OwnTable } from '../operation/feature.js';
import { describeError } from '../util/describe-error.js';
import type { Logger } from '../util/logger.js';

/** Held by a process while it makes a table. The number has no other meaning. */
const LOCK = 'SELECT pg_advisory_xact_lock(7092401552683)';

/** Instances whose tables are made by us. */
const creating = new WeakSet<Sequelize>();

/** From now on the tables of ours that are needed are made. */
export function createOwnTables(sequelize: Sequelize): void {
  creating.add(sequelize);
}

/** The tables that features need for some resources, each once. */
export function ownTables(plans: readonly ResourcePlan[], features: readonly FeatureNeeds[]): OwnTable[] {
  const tables = features.flatMap((feature) => plans.flatMap((plan) => feature.tables?.(plan, plans) ?? []));
  return [...new Map(tables.map((table) => [table.name, table])).values()];
}

/**
 * Makes the tables that an application needs, or logs an error with their SQL where they are missing. Never throws.
 *
 * @param options of `bootstrap`
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

/** Characters of SQL that a line of the log has at most. Functions are longer. */
const LONGEST = 1_000;

async function prepare(
  sequelize: Sequelize,
  { name, definition, find, noun = `is no table ${name}`, option, failure }: OwnTable,
  logger: Logger,
): Promise<void> {
  // The option is in Sequelize, and not in its types. A replica may not have seen the table yet.
  const { text, values } = find ?? { text: 'SELECT to_regclass($1) IS NOT NULL AS "exists"', values: [name] };
  const isThere = async (transaction?: Transaction): Promise<boolean> => {
    const options = { type: QueryTypes.SELECT, bind: [...values], useMaster: true, transaction };
    const [found] = await sequelize.query<{ exists: boolean }>(
      text,
      options as QueryOptionsWithType<QueryTypes.SELECT>,
    );
    return found?.exists === true;
  };
  if (await isThere()) return;
  if (creating.has(sequelize)) {
    // Two processes that start together would meet in the middle.
    await sequelize.transaction(async (transaction) => {
      await sequelize.query(LOCK, { transaction });
      if (await isThere(transaction)) return;
      for (const statement of definition) await sequelize.query(statement, { transaction });
    });
    return;
  }
  const statements = definition.join('; ');
  logger.error(
    `${option ? `${option}: ` : ''}there ${noun}, so that ${failure}; create it by a migration, or by ` +
      `createAll: true of engineLifespan${statements.length > LONGEST ? '; npx crud-controllers sql prints it.' : `: ${statements};`}`,
  );
}
