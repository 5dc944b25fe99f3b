/** The statement that reads the tables of a database from its catalogue, and the rows that it returns. */
import type { DatabaseColumn, DatabaseForeignKey, DatabaseTable } from './model-plan.js';

/** The catalogue, as far as models need it. */
export interface CatalogueRow {
  /** Quoted, as GRANT needs it. */
  readonly role: string;
  readonly database: string;
  /** Schemas without those of the system. */
  readonly schemas: readonly { readonly name: string; readonly sql: string; readonly isUsable: boolean }[];
  readonly tables: readonly TableRow[] | null;
}

/** A table or a view, with rights that the role may lack. */
export interface TableRow
  extends Pick<DatabaseTable, 'schema' | 'name' | 'comment' | 'isInherited' | 'indexes'> {
  /** Both names, quoted. */
  readonly sql: string;
  /** `relkind`. */
  readonly kind: string;
  readonly heirs: readonly string[];
  readonly partitions: number;
  /** False for a materialized view without any contents. */
  readonly isPopulated: boolean;
  /** True where the table has policies, and where they hold for the role. */
  readonly hasRowSecurity: boolean;
  readonly isRowSecure: boolean;
  readonly columns: readonly ColumnRow[] | null;
  readonly foreignKeys: readonly ForeignKeyRow[];
  readonly constraints: readonly {
    readonly name: string;
    readonly kind: string;
    readonly definition: string;
  }[];
  readonly triggers: readonly TriggerRow[];
  readonly rules: readonly string[];
}

/** A column, with the type that a domain is based on. */
export interface ColumnRow extends Omit<DatabaseColumn, 'domain' | 'identity' | 'formProblem'> {
  readonly sql: string;
  readonly isReadable: boolean;
  readonly domain: string | null;
  readonly checks: readonly string[];
  readonly identity: string;
  /** `typtype` of the type, or of the elements of an array. */
  readonly typeKind: string;
  /** True for an array of a domain. */
  readonly isArrayOfDomain: boolean;
  /** True where its name needs no schema in front. */
  readonly isVisible: boolean;
  /** The extension that has made it. */
  readonly extension: string | null;
}

/** A foreign key, with the letters of the catalogue. */
export interface ForeignKeyRow extends Omit<DatabaseForeignKey, 'onDelete' | 'onUpdate'> {
  readonly onDelete: string;
  readonly onUpdate: string;
}

/** A trigger that is enabled. */
export interface TriggerRow {
  readonly name: string;
  readonly function: string;
  /** Bits of `pg_trigger.h`. */
  readonly type: number;
  /** The text of its function. */
  readonly source: string;
}

/** Forms of constants in expressions, whatever the role has. The statement would be compiled for longer than it runs. A table that a migration has locked stops the run, which would let others wait. */
export const SETTINGS = `
  SET LOCAL lock_timeout = '2s'; SET LOCAL jit = off;
  SET LOCAL "DateStyle" = 'ISO'; SET LOCAL "IntervalStyle" = 'postgres'; SET LOCAL "TimeZone" = 'UTC';
  SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL standard_conforming_strings = on;
  SET LOCAL quote_all_identifiers = off`;

const COLUMNS = `
  SELECT json_agg(json_build_object('name', a.attname, 'sql', quote_ident(a.attname), 'comment', col_description(c.oid, a.attnum),
      'isReadable', has_column_privilege(c.oid, a.attnum, 'SELECT'),
      'type', format_type(b.type, CASE WHEN y.typtype = 'd' THEN b.typmod ELSE a.atttypmod END),
      'base', format_type(e.oid, NULL), 'isArray', t.typcategory = 'A' AND t.typelem <> 0,
      'labels', (SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid = e.oid),
      'domain', CASE WHEN y.typtype = 'd' THEN format_type(y.oid, NULL) END,
      'checks', ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE y.typtype = 'd' AND k.contype = 'c'
        AND (k.contypid = y.oid OR k.contypid IN (SELECT d.type FROM base d WHERE d.id = y.oid)) ORDER BY k.conname),
      'isNotNull', c.relkind NOT IN ('v', 'm') AND (a.attnotnull OR y.typtype = 'd' AND (y.typnotnull
        OR EXISTS (SELECT FROM base d JOIN pg_type n ON n.oid = d.type WHERE d.id = y.oid AND n.typnotnull))),
      'defaultSql', CASE WHEN a.attgenerated = '' THEN coalesce(pg_get_expr(v.adbin, v.adrelid), y.typdefault) END,
      'identity', a.attidentity, 'isGenerated', a.attgenerated <> '',
      'typeKind', e.typtype, 'isArrayOfDomain', e.oid <> t.oid AND t.typelem <> e.oid, 'isVisible', pg_type_is_visible(e.oid),
      'extension', (SELECT x.extname FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
        WHERE d.classid = 'pg_type'::regclass AND d.objid = e.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'))
    ORDER BY a.attnum)
  FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN based b ON b.id = y.oid JOIN pg_type t ON t.oid = b.type
  LEFT JOIN based s ON s.id = t.typelem AND t.typcategory = 'A'
  JOIN pg_type e ON e.oid = coalesce(s.type, t.oid) LEFT JOIN pg_attrdef v ON v.adrelid = a.attrelid AND v.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;

const INDEXES = `
  SELECT coalesce(json_agg(json_build_object('name', i.relname, 'method', m.amname, 'isUnique', x.indisunique, 'isPrimary', x.indisprimary,
      'isExact', x.indimmediate AND NOT EXISTS (SELECT FROM unnest(x.indkey::int2[], x.indcollation::oid[]) AS k (attnum, own)
        JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum WHERE k.own NOT IN (0, a.attcollation)),
      'columns', ARRAY(SELECT a.attname::text FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, n)
        LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum WHERE k.n <= x.indnkeyatts ORDER BY k.n),
      'expressions', ARRAY(SELECT CASE k.attnum WHEN 0 THEN pg_get_indexdef(x.indexrelid, k.n::int, true) END
        FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, n) WHERE k.n <= x.indnkeyatts ORDER BY k.n),
      'predicate', pg_get_expr(x.indpred, x.indrelid), 'definition', pg_get_indexdef(x.indexrelid)) ORDER BY i.relname), '[]')
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
  WHERE x.indrelid = c.oid AND x.indisvalid`;

/** A reference to a partitioned table has a copy for each partition. */
const FOREIGN_KEYS = `
  SELECT coalesce(json_agg(json_build_object('name', f.conname, 'targetSchema', n.nspname, 'targetTable', r.relname,
      'onDelete', f.confdeltype, 'onUpdate', f.confupdtype, 'isFull', f.confmatchtype = 'f',
      'columns', ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k (attnum, n)
        JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum ORDER BY k.n),
      'targetColumns', ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k (attnum, n)
        JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum ORDER BY k.n)) ORDER BY f.conname), '[]')
  FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace n ON n.oid = r.relnamespace
  WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.conparentid = 0`;

/** Tables and views of people: no partitions, and none of the system or of an extension. One row, as JSON for any parser. */
export const CATALOGUE = `
  WITH RECURSIVE base (id, type, typmod) AS (
    SELECT oid, CASE WHEN typtype = 'd' THEN typbasetype ELSE oid END, typtypmod FROM pg_type
    UNION ALL SELECT b.id, y.typbasetype, greatest(b.typmod, y.typtypmod) FROM base b JOIN pg_type y ON y.oid = b.type WHERE y.typtype = 'd'),
  based AS (SELECT b.* FROM base b JOIN pg_type y ON y.oid = b.type WHERE y.typtype <> 'd'),
  spaces AS (SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
  SELECT json_build_object('role', quote_ident(current_user), 'database', current_database(),
    'schemas', (SELECT coalesce(json_agg(json_build_object('name', nspname, 'sql', quote_ident(nspname),
      'isUsable', has_schema_privilege(oid, 'USAGE')) ORDER BY nspname COLLATE "C"), '[]') FROM spaces),
    'tables', (SELECT json_agg(json_build_object('schema', n.nspname, 'name', c.relname, 'sql', format('%I.%I', n.nspname, c.relname),
        'kind', c.relkind, 'comment', obj_description(c.oid, 'pg_class'),
        'isInherited', c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid),
        'heirs', ARRAY(SELECT format('%s.%s', w.nspname, r.relname) FROM pg_inherits h JOIN pg_class r ON r.oid = h.inhrelid
          JOIN pg_namespace w ON w.oid = r.relnamespace WHERE h.inhparent = c.oid AND c.relkind <> 'p' ORDER BY w.nspname, r.relname),
        'partitions', CASE c.relkind WHEN 'p' THEN (SELECT count(*) - 1 FROM pg_partition_tree(c.oid)) ELSE 0 END,
        'isPopulated', c.relispopulated, 'hasRowSecurity', c.relrowsecurity, 'isRowSecure', row_security_active(c.oid),
        'columns', (${COLUMNS}), 'indexes', (${INDEXES}), 'foreignKeys', (${FOREIGN_KEYS}),
        'constraints', (SELECT coalesce(json_agg(json_build_object('name', o.conname, 'kind', o.contype,
          'definition', pg_get_constraintdef(o.oid)) ORDER BY o.conname), '[]') FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('c', 'x')),
        'triggers', (SELECT coalesce(json_agg(json_build_object('name', g.tgname, 'function', p.proname, 'type', g.tgtype,
          'source', p.prosrc) ORDER BY g.tgname), '[]') FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
          WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'),
        'rules', ARRAY(SELECT rulename::text FROM pg_rewrite w WHERE w.ev_class = c.oid AND w.rulename <> '_RETURN' ORDER BY w.rulename))
      ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C")
      FROM pg_class c JOIN spaces n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
    )::text AS catalogue`;
