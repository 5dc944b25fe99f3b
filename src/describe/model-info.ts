/** Facts of a model and its attributes: plain, frozen data, and the options of the model about an attribute. */
import type { MarkValue, ModelClass } from '../declare/crud-options.js';
import type { ColumnType } from './column-type.js';
import type { ColumnFacts } from './table-facts.js';

/** Writer of an attribute: the client, or one of the mechanisms of the stack. */
export type AttributeRole = 'data' | 'primaryKey' | 'timestamp' | 'version' | 'mark';

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
  /** True where it addresses a record in the place of the primary key. Default: false. */
  readonly isAddress?: true;
  /** True where `readOnly` of its model leaves it to the table. Default: false. */
  readonly isReadOnly?: true;
  /** True for one of several attributes that address a record together. Default: false. */
  readonly isPart?: boolean;
  /** True for the member of answers that the option `id` adds: the text of the id, without a column. Default: false. */
  readonly isIdText?: true;
  /** The column as its table has it; undefined as long as the catalogue was not read, and where it has none. */
  readonly found?: ColumnFacts | undefined;
}

/** True where a row can be created without a value for the attribute: the model or the table has a default. */
export function isFilled({ hasDefault, found }: AttributeInfo): boolean {
  return hasDefault || found?.hasDefault === true;
}

/** True where only the table makes the values of the attribute: no statement of this package names it in a write. */
export function isGenerated({ found, isReadOnly }: AttributeInfo): boolean {
  return isReadOnly === true || found?.isReadOnly === true;
}

/** The attributes of a key, in the order of an id: one, several, or none where rows have no key. */
export type RowKey = readonly AttributeInfo[];

/** A delete that keeps its row: the attribute that marks it. */
export interface SoftDeletion {
  readonly attribute: string;
  /** Null where the attribute has the moment of the delete, and NULL before. */
  readonly values: {
    readonly deleted: MarkValue;
    /** Value of a row that is restored. Rows with any other value than `deleted` are alive, too. */
    readonly alive: MarkValue | null;
  } | null;
}

/** Facts of the rows of a model. */
export interface RecordInfo {
  readonly model: ModelClass;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, AttributeInfo>;
  /** The attributes that identify its rows; empty where none do. */
  readonly primaryKey: RowKey;
  /** The attributes that address a row from outside: the primary key, unless the option `id` names others. */
  readonly address: RowKey;
  /** Null where a delete removes the row. */
  readonly softDelete: SoftDeletion | null;
  /** True where rows of tables that inherit from its own are none of its rows. Default: false. */
  readonly leavesHeirs?: true;
}

/** A model, described. */
export interface ModelInfo extends RecordInfo {
  /** The model's name in the plural, as Sequelize forms it. */
  readonly pluralName: string;
}

/** True where a getter returns the attribute's value. */
export function hasGetter(model: ModelClass, name: string): boolean {
  return model.getAttributes()[name]?.get !== undefined;
}

/** The attributes whose value is read, or written, by code of the user's. */
export function customAttributes(model: ModelClass, kind: 'get' | 'set'): ReadonlySet<string> {
  const { getterMethods, setterMethods } = model.options;
  const own = Object.entries(model.getAttributes()).filter(([, attribute]) => attribute[kind] !== undefined);
  const methods = kind === 'get' ? getterMethods : setterMethods;
  return new Set([...Object.keys(methods ?? {}), ...own.map(([name]) => name)]);
}

/** True where the default scope selects only some of the attributes. */
export function hasPartialRecords({ options }: ModelClass): boolean {
  return options.defaultScope?.attributes !== undefined;
}

/** The moments that Sequelize writes by itself. */
const TIMESTAMPS = ['createdAt', 'updatedAt', 'deletedAt'] as const;

type Timestamps = Readonly<Partial<Record<(typeof TIMESTAMPS)[number], string>>>;

/** The attributes that a model has for its timestamps, as Sequelize reads them from the options. */
export function timestampsOf({ options }: ModelClass): Timestamps {
  if (!options.timestamps) return {};
  const kept = TIMESTAMPS.filter(
    (each) => options[each] !== false && (each !== 'deletedAt' || options.paranoid),
  );
  return Object.fromEntries(kept.map((each) => [each, nameOf(options[each], each)]));
}

/** The attribute that counts the changes of a row. */
export function versionOf({ options: { version } }: ModelClass): string | undefined {
  return version ? nameOf(version, 'version') : undefined;
}

/** The system column with the transaction that has written a row. */
export const XMIN = 'xmin';

function nameOf(option: string | boolean | undefined, name: string): string {
  return typeof option === 'string' ? option : name;
}
