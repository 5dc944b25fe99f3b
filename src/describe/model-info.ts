/** Facts of a model, read once: plain, frozen data. */
import type { ModelClass } from '../declare/crud-options.js';
import type { ColumnType } from './column-type.js';
import type { ColumnFacts } from './table-facts.js';

/** Writer of an attribute: the client, or one of the mechanisms of the stack. */
export type AttributeRole = 'data' | 'primaryKey' | 'timestamp' | 'version';

/** One attribute of a model. */
export interface AttributeInfo {
  readonly name: string;
  /** The column's name in the table. */
  readonly column: string;
  readonly type: ColumnType;
  readonly role: AttributeRole;
  readonly nullable: boolean;
  /** True where a row can be created without it: a default in the model, or a sequence in the database. */
  readonly hasDefault: boolean;
  /** The column as its table has it; undefined as long as the catalogue was not read, and where it has none. */
  readonly found?: ColumnFacts | undefined;
}

/** True where a row can be created without a value for the attribute: the model or the table has a default. */
export function isFilled({ hasDefault, found }: AttributeInfo): boolean {
  return hasDefault || found?.hasDefault === true;
}

/** True where the database refuses every value for the attribute: no statement of this package names it in a write. */
export function isGenerated({ found }: AttributeInfo): boolean {
  return found?.isReadOnly === true;
}

/** Facts of any model, whether or not its rows can be addressed. */
export interface RecordInfo {
  readonly model: ModelClass;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, AttributeInfo>;
}

/** A model, described. */
export interface ModelInfo extends RecordInfo {
  /** The model's name in the plural, as Sequelize forms it. */
  readonly pluralName: string;
  readonly primaryKey: AttributeInfo;
  /** True where a delete only marks the row. */
  readonly paranoid: boolean;
}
