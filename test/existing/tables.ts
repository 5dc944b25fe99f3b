/** The tables of a database as questions need them, and what a generator has missed of them. */
import type { Client } from 'pg';
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

/** Each column of a table or view, but those of the system, of extensions and of partitions. */
const COLUMNS = `
  SELECT format('%s.%s', n.nspname, c.relname) AS table, a.attname AS column
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

/** Columns that the catalogue has, and that were neither read nor reported. */
export async function missedColumns(client: Client, { tables, leftOut }: DatabaseSchema): Promise<string[]> {
  const read = new Set(
    tables.flatMap(({ schema, name, columns }) => columns.map((each) => `${schema}.${name} ${each.name}`)),
  );
  const { rows } = await client.query<{ table: string; column: string }>(COLUMNS);
  return rows
    .filter(({ table, column }) => !read.has(`${table} ${column}`))
    .filter(({ table, column }) => !leftOut.some((each) => isAbout(each.construct, table, column)))
    .map(({ table, column }) => `${table}: nothing is known of its column ${column}`);
}

/** True where a construct that was left out is the table, or its column. */
function isAbout(construct: string, table: string, column: string): boolean {
  return construct.endsWith(` ${table}`) || (construct.includes(table) && construct.includes(column));
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
