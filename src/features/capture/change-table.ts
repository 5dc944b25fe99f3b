/** The tables of stored changes: their names, and the rows that belong to a resource. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { idText } from '../../describe/id-text.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { tableBeside } from '../../execute/sql/sql-fragment.js';

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
 * @param key of one attribute its value, of several an object of values, or of the texts that PostgreSQL writes for them
 */
export function rowIdOf({ primaryKey }: Pick<RecordInfo, 'primaryKey'>, key: unknown): string | null {
  const text = idText(primaryKey, key);
  if (text === null || !primaryKey.some(({ type }) => type.kind === 'date')) return text;
  const parts = text.split(',');
  return parts.map((part, at) => (primaryKey[at]?.type.kind === 'date' ? jsonMoment(part) : part)).join(',');
}

/** The same moment as JSON of PostgreSQL has it. */
function jsonMoment(text: string): string {
  const [, seconds = text, fraction = '', zone = ''] = /^(.*?:\d\d:\d\d)(\.\d*?)?0*(Z?)$/.exec(text) ?? [];
  return `${seconds}${fraction === '.' ? '' : fraction}${zone === 'Z' ? '+00:00' : zone}`;
}
