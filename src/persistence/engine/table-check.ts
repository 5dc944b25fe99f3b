/** Tables and columns that the models name and the database does not have, told once at the start. */
import { type QueryOptionsWithType, QueryTypes, type Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import { identifier } from '../sql/sql-fragment.js';

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

/** What the catalog says of the tables of resources. */
export interface TableCheck {
  /** One line for each table or column that is missing. */
  readonly problems: readonly string[];
  /** The resources whose tables are there. */
  readonly plans: readonly ResourcePlan[];
}

/** Asks each database once, on its primary: a replica may not have seen the tables yet. */
export async function checkTables(plans: readonly ResourcePlan[]): Promise<TableCheck> {
  const databases = [...new Set(plans.map(({ model }) => model.sequelize))];
  const rows = new Map<ResourcePlan, TableRow | undefined>();
  for (const database of databases) {
    const own = plans.filter(({ model }) => model.sequelize === database);
    for (const [plan, row] of await describeTables(database, own)) rows.set(plan, row);
  }
  return {
    problems: plans.flatMap((plan) => missingParts(plan, rows.get(plan))),
    plans: plans.filter((plan) => rows.get(plan)?.exists),
  };
}

async function describeTables(
  sequelize: Sequelize | undefined,
  plans: readonly ResourcePlan[],
): Promise<(readonly [ResourcePlan, TableRow | undefined])[]> {
  if (!sequelize) return [];
  const tables = plans.map(({ model }) => quotedTable(model));
  // Sequelize knows the option, and its types do not.
  const options = { type: QueryTypes.SELECT, bind: [tables], useMaster: true };
  const rows = await sequelize.query<TableRow>(TABLES, options as QueryOptionsWithType<QueryTypes.SELECT>);
  return plans.map((plan, position) => [plan, rows.find(({ table }) => table === tables[position])] as const);
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
