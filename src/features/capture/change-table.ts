/** The tables of stored changes: their names, and the rows that belong to a resource. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import type { AttributeInfo, RecordInfo } from '../../describe/model-info.js';
import {
  identifier,
  joinSql,
  raw,
  type SqlFragment,
  sql,
  tableBeside,
} from '../../execute/sql/sql-fragment.js';
import { quoteText } from '../../util/quote-text.js';
import { imageRow } from './image-sql.js';

/** The names of the tables beside the table of a model, quoted. The model must be attached. */
export function changeTables(model: ModelClass): { readonly changes: string; readonly ticks: string } {
  return { changes: tableBeside(model, 'crud_changes'), ticks: tableBeside(model, 'crud_ticks') };
}

/** The column `source` of the changes of a resource: its table, with the schema where the model names one. */
export function sourceOf({ model }: Pick<ResourcePlan, 'model'>): string {
  const table: string | { readonly schema?: string; readonly tableName: string } = model.getTableName();
  if (typeof table === 'string') return table;
  return table.schema ? `${table.schema}.${table.tableName}` : table.tableName;
}

/** True for resources of one table. */
export function isOfTable(one: Pick<ResourcePlan, 'model'>, other: Pick<ResourcePlan, 'model'>): boolean {
  return one.model.sequelize === other.model.sequelize && sourceOf(one) === sourceOf(other);
}

/**
 * The column `row_id` of the changes of a row, from its primary key, whatever addresses it from outside: the text of the key as
 * JSON of PostgreSQL has it in UTC, of several columns joined as an id is.
 *
 * @param row the alias of the row in the statement
 */
export function rowIdSql({ primaryKey }: Pick<RecordInfo, 'primaryKey'>, row: string): SqlFragment {
  const parts = primaryKey.map((part) => keyText(part, row));
  if (parts.length === 1) return parts[0] as SqlFragment;
  const escaped = parts.map(
    (part) =>
      sql`replace(replace(replace(replace(${part}, '~', '~0'), '/', '~1'), ',', '~2'), ${raw(quoteText('\\'))}, '~3')`,
  );
  return sql`concat_ws(',', ${joinSql(escaped, ', ')})`;
}

/** The text that JSON of PostgreSQL has of a value of a column in UTC, be the zone of the session any. */
export function keyText(
  { column, type, found }: Pick<AttributeInfo, 'column' | 'type' | 'found'>,
  row: string,
): SqlFragment {
  const value = raw(`${identifier(row)}.${identifier(column)}`);
  const hasZone = found ? found.baseType === 'timestamp with time zone' : type.kind === 'date';
  if (!hasZone) return sql`(to_jsonb(${value}) #>> '{}')`;
  // An infinite moment has no zone, and the era is behind it.
  return sql`regexp_replace(to_jsonb(${value} AT TIME ZONE 'UTC') #>> '{}', '(?<=[0-9])(?= BC$|$)', '+00:00')`;
}

/** A row of the texts of a key, for FROM: PostgreSQL writes each as its column does. @param texts by column */
export function keyRow(model: ModelClass, texts: Readonly<Record<string, string>>): SqlFragment {
  return imageRow(model, sql`${JSON.stringify(texts)}::jsonb`);
}
