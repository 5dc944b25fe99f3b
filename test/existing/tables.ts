/** The tables of a database as questions need them. */
import type { DatabaseColumn, DatabaseSchema, DatabaseTable } from '../../src/scaffold/model-plan.js';

/** A column, with the type that a domain is based on. */
export interface Column {
  readonly name: string;
  /** As `format_type` writes it, such as `character varying(20)`. */
  readonly type: string;
  /** Without its modifier; the base of a domain. */
  readonly base: string;
  /** The type of the elements of an array, without a modifier. */
  readonly element: string | null;
  readonly labels: readonly string[] | null;
  readonly notNull: boolean;
  readonly hasDefault: boolean;
  /** True where the database alone makes its values. */
  readonly isGenerated: boolean;
}

/** Columns that refer to those of another table, pair by pair. */
export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
}

/** A table, or a view. */
export interface Relation {
  /** Its quoted name, with the schema. */
  readonly sql: string;
  /** The same behind FROM: without the rows of tables that inherit. */
  readonly from: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: DatabaseTable['kind'];
  readonly columns: readonly Column[];
  /** In the order of the index; empty where there is none. */
  readonly key: readonly string[];
  /** Other unique indexes over all rows, also over columns that may be NULL. */
  readonly uniques: readonly (readonly string[])[];
  /** First columns of indexes that serve conditions and orders. */
  readonly leading: ReadonlySet<string>;
  readonly foreignKeys: readonly ForeignKey[];
}

/** The tables. */
export function relationsOf({ tables }: DatabaseSchema): Relation[] {
  return tables.map((table) => {
    const { schema, name, kind, primaryKey, foreignKeys } = table;
    const sql = `${quote(schema)}.${quote(name)}`;
    const isPlain = table.isInherited && kind === 'table';
    return {
      sql,
      from: isPlain ? `ONLY ${sql}` : sql,
      schema,
      name,
      kind,
      columns: table.columns.map(columnOf),
      key: primaryKey,
      uniques: uniquesOf(table),
      leading: leadingOf(table),
      foreignKeys: foreignKeys.map(({ targetSchema, targetTable, ...key }) => ({
        ...key,
        target: `${quote(targetSchema)}.${quote(targetTable)}`,
      })),
    };
  });
}

function columnOf({ isArray, isNotNull, defaultSql, identity, ...column }: DatabaseColumn): Column {
  return {
    ...column,
    base: isArray ? `${column.base}[]` : column.base,
    element: isArray ? column.base : null,
    notNull: isNotNull,
    hasDefault: defaultSql !== null || identity !== null,
    isGenerated: column.isGenerated || identity === 'always',
  };
}

function uniquesOf({ indexes }: DatabaseTable): string[][] {
  return indexes
    .filter(({ isUnique, isPrimary, predicate }) => isUnique && !isPrimary && predicate === null)
    .filter(({ columns }) => !columns.includes(null))
    .map(({ columns }) => columns.flatMap((each) => each ?? []));
}

function leadingOf({ indexes }: DatabaseTable): Set<string> {
  const serving = indexes.filter(({ predicate, method }) => predicate === null && method === 'btree');
  return new Set(serving.flatMap(({ columns }) => columns[0] ?? []));
}

/** A quoted name. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
