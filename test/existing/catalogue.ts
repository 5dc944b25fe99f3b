/** Reads the tables and views of a database: the ground of its models, of rows for it, and of the questions to it. */
import type { Client } from 'pg';

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
  /** `relkind`: r, p, v, m or f. */
  readonly kind: string;
  readonly columns: readonly Column[];
  /** In the order of the index; empty where there is none. */
  readonly key: readonly string[];
  /** Other unique indexes over all rows, also over columns that may be NULL. */
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
}

/** Without the tables of the system and of extensions, and without partitions. */
const RELATIONS = `
  WITH RECURSIVE base (id, type, typmod) AS (
    SELECT oid, CASE WHEN typtype = 'd' THEN typbasetype ELSE oid END, typtypmod FROM pg_type
    UNION ALL SELECT b.id, y.typbasetype, greatest(b.typmod, y.typtypmod) FROM base b JOIN pg_type y ON y.oid = b.type WHERE y.typtype = 'd'),
  based AS (SELECT b.* FROM base b JOIN pg_type y ON y.oid = b.type WHERE y.typtype <> 'd'),
  names AS (SELECT c.oid, c.relname, c.relkind, n.nspname, format('%I.%I', n.nspname, c.relname) AS sql
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace)
  SELECT c.sql, CASE WHEN c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid) THEN 'ONLY ' ELSE '' END || c.sql AS "from",
    c.nspname AS schema, c.relname AS name, c.relkind AS kind,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(b.type, CASE WHEN y.typtype = 'd' THEN b.typmod ELSE a.atttypmod END),
        'base', format_type(b.type, NULL), 'element', (SELECT format_type(e.type, NULL) FROM based e WHERE e.id = t.typelem AND t.typcategory = 'A'),
        'labels', (SELECT json_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid IN (b.type, t.typelem)),
        'notNull', a.attnotnull OR y.typnotnull, 'hasDefault', a.atthasdef OR a.attidentity <> '' OR y.typdefault IS NOT NULL,
        'isGenerated', a.attgenerated <> '' OR a.attidentity = 'a') ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN based b ON b.id = y.oid JOIN pg_type t ON t.oid = b.type
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT coalesce(json_agg(json_build_object('isKey', i.indisprimary, 'columns', (SELECT json_agg(attname ORDER BY place) FROM unnest(i.indkey::int[])
        WITH ORDINALITY AS k (number, place) JOIN pg_attribute ON attrelid = c.oid AND attnum = number)) ORDER BY i.indexrelid), '[]')
      FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL) AS uniques,
    (SELECT coalesce(json_agg(json_build_object('target', f.sql,
        'columns', (SELECT json_agg(attname ORDER BY place) FROM unnest(o.conkey) WITH ORDINALITY AS k (number, place) JOIN pg_attribute ON attrelid = o.conrelid AND attnum = number),
        'targetColumns', (SELECT json_agg(attname ORDER BY place) FROM unnest(o.confkey) WITH ORDINALITY AS k (number, place) JOIN pg_attribute ON attrelid = o.confrelid AND attnum = number))
        ORDER BY o.conname), '[]')
      FROM pg_constraint o JOIN names f ON f.oid = o.confrelid WHERE o.conrelid = c.oid AND o.contype = 'f') AS "foreignKeys"
  FROM names c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.nspname !~ '^pg_' AND c.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_class p WHERE p.oid = c.oid AND p.relispartition)
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY c.sql`;

/** All tables and views of a database. */
export async function readRelations(client: Client): Promise<Relation[]> {
  const { rows } = await client.query(RELATIONS);
  return rows
    .filter(({ columns }) => columns)
    .map(({ uniques, ...row }) => {
      const all = uniques as readonly { isKey: boolean; columns: string[] }[];
      const key = all.find(({ isKey }) => isKey)?.columns ?? [];
      return { ...row, key, uniques: all.filter(({ isKey }) => !isKey).map(({ columns }) => columns) };
    });
}

/** A quoted name. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
