/** The table of a model as the catalogue of its database describes it. Plain, frozen data; unknown until the catalogue was read. */
import type { Sequelize } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import type { TableWrite } from '../declare/endpoint.js';
import { declaredOptions } from './record.js';

/** A column of a table. */
export interface ColumnFacts {
  readonly name: string;
  /** The type as `format_type` writes it: `character varying(20)`. */
  readonly type: string;
  /** The same without domains: `numeric(10,2)`. */
  readonly storedType: string;
  /** The same without its modifiers, and without domains: `timestamp without time zone[]`. */
  readonly baseType: string;
  /** The labels of an enum, in order; null for any other type. */
  readonly labels: readonly string[] | null;
  /** True where the column, or its domain, is NOT NULL. */
  readonly notNull: boolean;
  /** True where the table, or the domain of the column, has a value for a row without one. */
  readonly hasDefault: boolean;
  /** The default as the text of a value, where it is a constant; null where it is made anew for each row, and where there is none. */
  readonly constant: string | null;
  /** True where PostgreSQL refuses every value: a generated column, an identity column `ALWAYS`, and one that a view computes. */
  readonly isReadOnly: boolean;
  /** True where PostgreSQL computes the value whenever it is read (`VIRTUAL`): triggers do not see it. */
  readonly isVirtual: boolean;
  readonly isDomain: boolean;
  /** True for a row type. */
  readonly isComposite: boolean;
  /** True where PostgreSQL has an order of its values, or of the elements of its arrays. */
  readonly isOrdered: boolean;
  /** False for a collation in which different texts are equal: PostgreSQL has no patterns for them. */
  readonly isDeterministic: boolean;
  /** The text of `MONEY_SAMPLE` as the database writes amounts of money; null for any other type. */
  readonly moneySample: string | null;
}

/** Action of a foreign key on the rows that refer to a row which goes, or whose key changes. */
export type ReferentialAction = 'NO ACTION' | 'RESTRICT' | 'CASCADE' | 'SET NULL' | 'SET DEFAULT';

/** A foreign key of a table. */
export interface ForeignKeyFacts {
  readonly name: string;
  readonly columns: readonly string[];
  /** The `id` of the table that it refers to. */
  readonly target: string;
  readonly targetColumns: readonly string[];
  /** True where each row meets it at any time: it is validated, and not deferrable. */
  readonly isSure: boolean;
  readonly onDelete: ReferentialAction;
  readonly onUpdate: ReferentialAction;
}

/** A relation that statements take for a table. */
export type TableKind = 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table';

/** A table. */
export interface TableFacts {
  /** The same for all models of the table, within one database. */
  readonly id: string;
  /** Another one after each change of columns, types, defaults, constraints, indexes and heirs. */
  readonly mark: string;
  readonly kind: TableKind;
  /** The possible writes. PostgreSQL refuses the others for every row. */
  readonly writes: ReadonlySet<TableWrite>;
  /** True for a table, partitioned or not, whose indexes prove keys unique; false for a view and a foreign table. */
  readonly isTable: boolean;
  /** True where PostgreSQL plans each execution of a prepared statement anew. */
  readonly isPlannedAnew: boolean;
  /** True where other tables inherit from it: queries of it return their rows, and none of its indexes covers them. */
  readonly isInherited: boolean;
  /** True where policies decide which rows a role sees. */
  readonly hasRowSecurity: boolean;
  /** True where a rule, or a trigger for each row, runs in an UPDATE. */
  readonly watchesUpdates: boolean;
  readonly columns: ReadonlyMap<string, ColumnFacts>;
  /** The columns of each valid unique index over all rows. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** The same without indexes that may be checked later, and those that compare texts otherwise than their columns. */
  readonly exactKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKeyFacts[];
  /** The columns of each constraint and unique index, by its name; those of partitions are among them. */
  readonly constraints: ReadonlyMap<string, readonly string[]>;
  /** Names of the partitions. Errors name the one that has refused a row. */
  readonly partitions: ReadonlySet<string>;
}

interface Known {
  readonly sequelize: Sequelize | undefined;
  readonly facts: TableFacts;
  readonly hasOtherTypes: boolean;
}

const known = new WeakMap<ModelClass, Known>();

/** Changes whenever the table of any model is remembered, so that decisions about tables are made once for each value. */
const TABLE_FACTS = { version: 0 };

/** Makes a value at the first call, and once more whenever tables were read: plans are there before the catalogue is. */
export function ofTables<T>(make: () => T): () => T {
  let made: { readonly value: T; readonly version: number } | null = null;
  return () => {
    if (made?.version !== TABLE_FACTS.version) made = { value: make(), version: TABLE_FACTS.version };
    return made.value;
  };
}

/**
 * Remembers the table of a model; undefined where there is none.
 *
 * @param hasOtherTypes true where the type of a column is another one than that of its attribute
 */
export function setTableFacts(model: ModelClass, facts: TableFacts | undefined, hasOtherTypes = false): void {
  // Each request for a resource without its table reads it again.
  if (!facts && !known.has(model)) return;
  TABLE_FACTS.version += 1;
  if (facts) known.set(model, { sequelize: model.sequelize, facts, hasOtherTypes });
  else known.delete(model);
}

/** The table of a model; undefined as long as its database was not read, and where it has no such table. */
export function tableFacts(model: ModelClass): TableFacts | undefined {
  return knownOf(model)?.facts;
}

function knownOf(model: ModelClass): Known | undefined {
  const found = known.get(model);
  return found && found.sequelize === model.sequelize ? found : undefined;
}

/** True where no two rows can have the same values of these columns. */
export function isUniqueKey(
  { uniqueKeys }: Pick<TableFacts, 'uniqueKeys'>,
  columns: readonly string[],
): boolean {
  return uniqueKeys.some(
    (key) => key.length === columns.length && columns.every((each) => key.includes(each)),
  );
}

type KeyColumns = readonly { readonly column: string }[];

/**
 * True where only the declaration makes an address unique: in a view, a foreign table, and a table with heirs. So is a part of a key whose
 * other columns are those of the scope: a scope of several values may find several rows.
 */
export function isKeyTrusted({
  model,
  address,
  primaryKey,
}: {
  readonly model: ModelClass;
  readonly address: KeyColumns;
  readonly primaryKey: KeyColumns;
}): boolean {
  const facts = tableFacts(model);
  const isPart = address.length < primaryKey.length && address.every((each) => primaryKey.includes(each));
  if (!facts) return isPart;
  if (!facts.isTable || (facts.isInherited && declaredOptions(model)?.only !== true)) return true;
  return (
    isPart &&
    !isUniqueKey(
      { uniqueKeys: facts.exactKeys },
      address.map(({ column }) => column),
    )
  );
}

/** True where a column has another type than its attribute, so that only Sequelize reads and writes the rows. */
export function hasOtherTypes(model: ModelClass): boolean {
  return knownOf(model)?.hasOtherTypes === true;
}
