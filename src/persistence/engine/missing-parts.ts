/**
 * Where the models and the database differ, told once at the start: tables, columns and indexes that the database lacks, and
 * columns that a model would have to write and does not know.
 */
import { type QueryOptionsWithType, QueryTypes } from 'sequelize';
import type { ModelClass } from '../../metadata/crud-options.js';
import type { RecordInfo } from '../../model/model-info.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { Logger } from '../../util/logger.js';
import { quotedTable } from '../sql/quoted-table.js';
import { identifier } from '../sql/sql-fragment.js';
import { setIndexes } from '../sql/table-indexes.js';
import { adviseIndexes, INDEXES, type IndexRow, readIndex } from './index-advice.js';
import { indexNeeds, tablesRead } from './relation-advice.js';
import { adviseUnique, deletionColumn, UNIQUE_INDEXES, type UniqueRow } from './unique-advice.js';

interface TableRow {
  readonly table: string;
  readonly exists: boolean;
  readonly columns: readonly string[];
  /** Those that a statement has to give a value. */
  readonly required: readonly string[];
}

/**
 * Tables, views, partitions and foreign tables alike, found as a statement would find them. What a trigger may fill in is not
 * required: 1, 2 and 4 are ROW, BEFORE and INSERT (`pg_trigger.h`).
 */
const TABLES = `
  SELECT t.name AS "table", c.oid IS NOT NULL AS "exists",
         ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) AS "columns",
         ARRAY(SELECT a.attname::text FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
               WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
                 AND y.typdefault IS NULL AND c.relkind IN ('r', 'p') AND NOT c.relhasrules
                 AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 7 = 7)
               ORDER BY a.attnum) AS "required"
  FROM unnest($1::text[]) AS t(name) LEFT JOIN pg_class c ON c.oid = to_regclass(t.name)`;

/**
 * Writes one error for each table or column that is missing, one warning for each column that no create can fill, one with all
 * indexes that are missing, and one for each unique index that holds soft-deleted rows. None of them stops the application, whose other resources work: a migration may be under way. A
 * database that cannot be asked now is not an error.
 */
export async function warnMissingParts(
  plans: readonly ResourcePlan[],
  logger: Logger,
  indexAdvice: boolean,
): Promise<void> {
  try {
    const models = new Map(plans.flatMap(tablesRead).map((info) => [info.model, info]));
    const tables = await askCatalog<TableRow>([...models.keys()], TABLES);
    for (const [model, info] of models)
      for (const line of missingParts(info, tables.get(model)?.[0])) logger.error(line);
    for (const plan of plans.filter(createsRows))
      for (const line of unknownColumns(plan.info, tables.get(plan.model)?.[0])) logger.warn(line);
    const present = [...models.keys()].filter((model) => tables.get(model)?.[0]?.exists);
    const rows = await askCatalog<IndexRow>(present, INDEXES);
    const indexes = new Map(present.map((model) => [model, (rows.get(model) ?? []).map(readIndex)]));
    const marked = plans.filter(({ model, info }) => indexes.has(model) && deletionColumn(info));
    const unique = await askCatalog<UniqueRow>(
      marked.map(({ model }) => model),
      UNIQUE_INDEXES,
    );
    for (const { model } of plans) setIndexes(model, indexes.get(model));
    const lines = indexAdvice ? adviseIndexes(plans.flatMap(indexNeeds), (model) => indexes.get(model)) : [];
    if (lines.length > 0) logger.warn([missingIndexes(lines.length), ...lines].join('\n  '));
    for (const plan of plans)
      for (const line of adviseUnique(plan, unique.get(plan.model) ?? [])) logger.warn(line);
  } catch {
    logger.debug('The tables and indexes could not be checked: the database did not answer, or refused it.');
  }
}

function missingIndexes(count: number): string {
  const [are, them] = count === 1 ? ['index is', 'it'] : ['indexes are', 'them'];
  return (
    `${count} ${are} missing, and requests without ${them} read a whole table; create ${them}, or set indexAdvice: false in ` +
    'bootstrap where the tables are small:'
  );
}

/** Asks each database once about the tables of its models, on its primary: a replica may not have seen them yet. */
async function askCatalog<Row extends { readonly table: string }>(
  models: readonly ModelClass[],
  sql: string,
): Promise<ReadonlyMap<ModelClass, readonly Row[]>> {
  const found = new Map<ModelClass, readonly Row[]>();
  for (const sequelize of new Set(models.flatMap((model) => model.sequelize ?? []))) {
    const own = models.filter((model) => model.sequelize === sequelize);
    const tables = own.map(quotedTable);
    // Sequelize knows the option, and its types do not.
    const options = { type: QueryTypes.SELECT, bind: [tables], useMaster: true };
    const rows = await sequelize.query<Row>(sql, options as QueryOptionsWithType<QueryTypes.SELECT>);
    const rowsOf = (name: string | undefined) => rows.filter(({ table }) => table === name);
    for (const [index, model] of own.entries()) found.set(model, rowsOf(tables[index]));
  }
  return found;
}

function missingParts({ name, model, attributes }: RecordInfo, row: TableRow | undefined): string[] {
  if (!row) return [];
  const table = quotedTable(model);
  if (!row.exists) {
    return [
      `${name}: there is no table ${table}; create it by a migration, or by createAll: true of engineLifespan.`,
    ];
  }
  const columns = new Set(row.columns);
  return [...attributes.values()]
    .filter(({ type, column }) => type.kind !== 'virtual' && !columns.has(column))
    .map(
      (attribute) =>
        `${name}.${attribute.name}: the table ${table} has no column ${identifier(attribute.column)}; add it by a migration, ` +
        'as createAll changes no table that exists.',
    );
}

function createsRows({ endpoints, bulk }: ResourcePlan): boolean {
  return endpoints.has('create') || endpoints.has('replace') || bulk?.endpoints.has('createMany') === true;
}

/** A line for each column that every new row needs, and that a model does not have. */
function unknownColumns({ name, model, attributes }: RecordInfo, row: TableRow | undefined): string[] {
  const known = new Set([...attributes.values()].map(({ column }) => column));
  const lacking = row?.required.filter((column) => !known.has(column)) ?? [];
  return lacking.map((column) => {
    const text = `the table ${quotedTable(model)} has a column ${identifier(column)} that is NOT NULL without a default`;
    return `${name}: ${text}, and the model lacks it, so no record can be created; declare it, or give it a default by a migration.`;
  });
}
