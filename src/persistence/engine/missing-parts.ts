/** What the models name and the database does not have, told once at the start: tables, columns and indexes. */
import { type QueryOptionsWithType, QueryTypes } from 'sequelize';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { Logger } from '../../util/logger.js';
import { quotedTable } from '../sql/quoted-table.js';
import { identifier } from '../sql/sql-fragment.js';
import { setIndexes } from '../sql/table-indexes.js';
import { adviseIndexes, INDEXES, type IndexRow, readIndex } from './index-advice.js';

interface TableRow {
  readonly table: string;
  readonly exists: boolean;
  readonly columns: readonly string[];
}

/** Tables, views, partitions and foreign tables alike, found as a statement would find them. */
const TABLES = `
  SELECT t.name AS "table", c.oid IS NOT NULL AS "exists",
         ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) AS "columns"
  FROM unnest($1::text[]) AS t(name) LEFT JOIN pg_class c ON c.oid = to_regclass(t.name)`;

/**
 * Writes one error for each table or column that is missing, and one warning for each order or filter that no index serves.
 * None of them stops the application, whose other resources work: a migration may be under way. A database that cannot be
 * asked now is not an error.
 */
export async function warnMissingParts(plans: readonly ResourcePlan[], logger: Logger): Promise<void> {
  try {
    const tables = await askCatalog<TableRow>(plans, TABLES);
    for (const plan of plans)
      for (const line of missingParts(plan, tables.get(plan)?.[0])) logger.error(line);
    const present = plans.filter((plan) => tables.get(plan)?.[0]?.exists);
    const indexes = await askCatalog<IndexRow>(present, INDEXES);
    const subresources = plans.flatMap(({ relations }) => [...relations.subresources.values()]);
    for (const plan of present) {
      const known = (indexes.get(plan) ?? []).map(readIndex);
      setIndexes(plan.model, known);
      for (const line of adviseIndexes(
        plan,
        known,
        subresources.filter(({ target }) => target === plan),
      ))
        logger.warn(line);
    }
  } catch {
    logger.debug('The tables and indexes could not be checked: the database did not answer, or refused it.');
  }
}

/** Asks each database once about the tables of its resources, on its primary: a replica may not have seen them yet. */
async function askCatalog<Row extends { readonly table: string }>(
  plans: readonly ResourcePlan[],
  sql: string,
): Promise<ReadonlyMap<ResourcePlan, readonly Row[]>> {
  const found = new Map<ResourcePlan, readonly Row[]>();
  for (const sequelize of new Set(plans.flatMap(({ model }) => model.sequelize ?? []))) {
    const own = plans.filter(({ model }) => model.sequelize === sequelize);
    const tables = own.map(({ model }) => quotedTable(model));
    // Sequelize knows the option, and its types do not.
    const options = { type: QueryTypes.SELECT, bind: [tables], useMaster: true };
    const rows = await sequelize.query<Row>(sql, options as QueryOptionsWithType<QueryTypes.SELECT>);
    const rowsOf = (name: string | undefined) => rows.filter(({ table }) => table === name);
    for (const [index, plan] of own.entries()) found.set(plan, rowsOf(tables[index]));
  }
  return found;
}

function missingParts({ name, model, info }: ResourcePlan, row: TableRow | undefined): string[] {
  if (!row) return [];
  const table = quotedTable(model);
  if (!row.exists) {
    return [
      `${name}: there is no table ${table}; create it by a migration, or by createAll: true of engineLifespan.`,
    ];
  }
  const columns = new Set(row.columns);
  return [...info.attributes.values()]
    .filter(({ type, column }) => type.kind !== 'virtual' && !columns.has(column))
    .map(
      (attribute) =>
        `${name}.${attribute.name}: the table ${table} has no column ${identifier(attribute.column)}; add it by a migration, ` +
        'as createAll changes no table that exists.',
    );
}
