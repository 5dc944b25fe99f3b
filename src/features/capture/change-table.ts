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
  const table = model.getTableName() as string | { readonly schema?: string; readonly tableName: string };
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

/** A row of `crud_changes`, as texts of PostgreSQL. */
export interface ChangeRow {
  /** Ascending for the changes of one row. */
  readonly id: string;
  /** The transaction. */
  readonly xid: string;
  readonly at: string;
  readonly source: string;
  /** Empty for a TRUNCATE. */
  readonly row_id: string;
  readonly op: ChangeKind;
  /** Values by column, before and after; null where there is no such row. */
  readonly old: string | null;
  readonly new: string | null;
  /** Columns that are left out of the values, and that changed. */
  readonly left_out: string | null;
  /** `ChangeContext` as JSON; null for a writer that is not this library. */
  readonly context: string | null;
  readonly db_user: string;
}

/** Insert, update, delete, truncate, or erasure of stored values. */
export type ChangeKind = 'i' | 'u' | 'd' | 't' | 'e';

/** The writer of a change. */
export interface ChangeContext {
  readonly actor: string | null;
  readonly request_id: string | null;
  /** `City.update`. */
  readonly operation: string | null;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** The change to which a revert went back. */
  readonly of?: string;
}
