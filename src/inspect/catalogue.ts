/** Reads the tables of models from the catalogue of their database: one statement for each Sequelize instance. */
import { type QueryOptionsWithType, QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import type { TableWrite } from '../declare/endpoint.js';
import { MONEY_SAMPLE } from '../describe/money-value.js';
import {
  type ColumnFacts,
  type ForeignKeyFacts,
  type ReferentialAction,
  type TableFacts,
  type TableKind,
  tableFacts,
} from '../describe/table-facts.js';
import { arrayLiteral } from '../execute/sql/encode-parameter.js';
import { quotedTable } from '../execute/sql/sql-fragment.js';
import type { FoundIndex } from '../operation/feature.js';
import { OBSERVERS } from '../postgres/index.js';

/** An index, as the catalogue has it. Partial ones and those over expressions are among them; invalid ones are not. */
export interface IndexRow extends FoundIndex {
  readonly method: string;
  /** Null in the place of an expression. */
  readonly columns: readonly (string | null)[];
  /** Expressions in the place of columns. */
  readonly expressions: readonly (string | null)[];
  readonly options: readonly number[];
  /** The collation of each key as an order names it, such as ` COLLATE "C"`; empty where it is that of the column. */
  readonly collations: readonly string[];
  readonly isUnique: boolean;
  /** True where it is checked at once, and compares texts as its columns do. */
  readonly isExact: boolean;
}

/** A table, as the catalogue has it. */
export interface CatalogueTable {
  readonly facts: TableFacts;
  readonly indexes: readonly IndexRow[];
  /** Columns that need a value in an INSERT. */
  readonly required: readonly string[];
}

/** The tables of models, as far as there are any. */
export type Tables = ReadonlyMap<ModelClass, CatalogueTable>;

interface ColumnRow
  extends Omit<ColumnFacts, 'baseType' | 'hasDefault' | 'constant' | 'isReadOnly' | 'isVirtual'> {
  readonly base: string;
  /** The expression of the default, or the text of that of the domain. */
  readonly defaultSql: string | null;
  readonly domainDefault: string | null;
  readonly generated: string;
  readonly identity: string;
  /** True in a view that PostgreSQL writes, where the view computes the values. */
  readonly isComputed: boolean;
}

interface ForeignKeyRow extends Omit<ForeignKeyFacts, 'onDelete' | 'onUpdate'> {
  readonly onDelete: string;
  readonly onUpdate: string;
}

interface TableRow
  extends Pick<
    TableFacts,
    'id' | 'mark' | 'isPlannedAnew' | 'isInherited' | 'hasRowSecurity' | 'watchesUpdates'
  > {
  readonly kind: string;
  /** Bits of `CmdType` (`nodes.h`). */
  readonly writes: number;
  /** True where rules or triggers may fill in columns that a statement leaves out. */
  readonly isFilled: boolean;
  readonly columns: readonly ColumnRow[] | null;
  readonly indexes: readonly IndexRow[] | null;
  readonly foreignKeys: readonly ForeignKeyRow[] | null;
  readonly constraints: Readonly<Record<string, readonly string[]>> | null;
  readonly partitions: readonly string[] | null;
}

/**
 * A text that changes with the columns, types, defaults, constraints and indexes of the table `c`, the labels of its enums, its heirs and its partitions. Each change writes rows of the catalogue, and
 * `xmin` is the transaction that has written a row. VACUUM and ANALYZE write none of these rows anew. Triggers are not in the text.
 */
const MARK = `
  SELECT encode(sha256(convert_to(string_agg(line, ',' ORDER BY line), 'UTF8')), 'hex') FROM (
    SELECT concat_ws(' ', c.relname, c.relnamespace, c.xmin)
    UNION ALL SELECT concat_ws(' ', m.attnum, m.attnotnull, m.xmin, n.xmin)
      FROM pg_attribute m LEFT JOIN pg_type n ON n.oid = m.atttypid WHERE m.attrelid = c.oid AND m.attnum > 0
    UNION ALL SELECT concat_ws(' ', 'label', m.oid, m.xmin)
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid JOIN pg_enum m ON m.enumtypid IN (y.oid, y.typelem)
      WHERE a.attrelid = c.oid AND a.attnum > 0
    UNION ALL SELECT concat_ws(' ', 'heir', m.inhrelid, m.xmin) FROM pg_inherits m WHERE m.inhparent = c.oid
    UNION ALL SELECT concat_ws(' ', 'default', m.oid, m.xmin) FROM pg_attrdef m WHERE m.adrelid = c.oid
    UNION ALL SELECT concat_ws(' ', 'constraint', m.oid, m.xmin) FROM pg_constraint m WHERE m.conrelid = c.oid
    UNION ALL SELECT concat_ws(' ', 'index', m.indexrelid, m.indisvalid, m.xmin) FROM pg_index m WHERE m.indrelid = c.oid
  ) AS lines (line)`;

const MARKS = `SELECT c.oid::text AS id, (${MARK}) AS mark FROM pg_class c WHERE c.oid = ANY($1::oid[])`;

/**
 * Tables, views, partitions and foreign tables alike. A partitioned table with a foreign partition is a foreign table: it has no unique
 * index, no `xmin` and no transition tables (https://www.postgresql.org/docs/current/sql-createforeigntable.html). They are found as a statement would find them; a schema that the role may not use
 * would be an error. Numbers: 1, 2, 4 and 64 are ROW, BEFORE, INSERT and INSTEAD, and 20 is UPDATE and DELETE (`pg_trigger.h`); 950 is
 * the collation "C" (`pg_collation.dat`); 403 is the B-tree (`pg_am.dat`), whose operators hstore names otherwise.
 */
const TABLES = `
  WITH RECURSIVE domain (id, base, filled, modifier) AS (
    SELECT oid, typbasetype, typnotnull, typtypmod FROM pg_type WHERE typtype = 'd'
    UNION ALL SELECT id, typbasetype, filled OR typnotnull, typtypmod FROM domain JOIN pg_type ON oid = base WHERE typtype = 'd'),
  based (id, base, filled, modifier) AS (
    SELECT id, base, filled, modifier FROM domain WHERE NOT EXISTS (SELECT FROM pg_type y WHERE y.oid = base AND y.typtype = 'd')),
  ordered (id) AS (
    SELECT opcintype FROM pg_opclass WHERE opcmethod = 403 AND opcdefault AND EXISTS (
      SELECT FROM pg_amop JOIN pg_operator o ON o.oid = amopopr
      WHERE amopfamily = opcfamily AND amoplefttype = opcintype AND amopstrategy = 1 AND o.oprname = '<')
    UNION SELECT castsource FROM pg_cast JOIN pg_opclass ON opcintype = casttarget
      WHERE castmethod = 'b' AND castcontext = 'i' AND opcmethod = 403 AND opcdefault)
  SELECT t.place::int AS place, json_build_object('id', c.oid::text, 'mark', (${MARK}),
    'kind', CASE WHEN c.relkind = 'p' AND EXISTS (
      SELECT FROM pg_partition_tree(c.oid) JOIN pg_class l ON l.oid = relid WHERE l.relkind = 'f') THEN 'f' ELSE c.relkind END,
    'writes', pg_relation_is_updatable(c.oid, true),
    'isPlannedAnew', current_setting('plan_cache_mode') = 'force_custom_plan',
    'isInherited', c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid),
    'hasRowSecurity', c.relrowsecurity,
    'watchesUpdates', c.relhasrules OR EXISTS (
      SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled IN ('O', 'A') AND g.tgtype & 17 = 17
        AND g.tgname NOT LIKE '${OBSERVERS}'),
    'isFilled', c.relhasrules OR EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 7 = 7),
    'columns', (
      SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'base', format_type(b.oid, NULL), 'storedType', format_type(b.oid, coalesce(d.modifier, a.atttypmod)), 'notNull', a.attnotnull OR coalesce(d.filled, false), 'generated', a.attgenerated, 'identity', a.attidentity,
          'defaultSql', CASE WHEN a.attgenerated = '' THEN pg_get_expr(v.adbin, v.adrelid) END, 'domainDefault', y.typdefault,
          'isComputed', c.relkind = 'v' AND pg_relation_is_updatable(c.oid, false) & 20 = 20
            AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND g.tgtype & 64 = 64)
            AND NOT pg_column_is_updatable(c.oid, a.attnum, false),
          'isDomain', y.typtype = 'd', 'isComposite', b.typtype = 'c',
          'isDeterministic', coalesce((SELECT o.collisdeterministic FROM pg_collation o WHERE o.oid = a.attcollation), true),
          'isOrdered', e.typtype <> 'b' OR e.oid IN (SELECT id FROM ordered),
          'moneySample', CASE WHEN 'money'::regtype IN (b.oid, b.typelem) THEN ${MONEY_SAMPLE}::numeric::money::text END,
          'labels', (SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l WHERE l.enumtypid IN (b.oid, b.typelem)))
        ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN based d ON d.id = y.oid
      JOIN pg_type b ON b.oid = coalesce(d.base, y.oid) LEFT JOIN based s ON s.id = b.typelem
      JOIN pg_type e ON e.oid = CASE b.typcategory WHEN 'A' THEN coalesce(s.base, b.typelem) ELSE b.oid END LEFT JOIN pg_attrdef v ON v.adrelid = a.attrelid AND v.adnum = a.attnum
      WHERE a.attrelid = c.oid AND NOT a.attisdropped),
    'indexes', (
      SELECT json_agg(json_build_object('name', x.indexrelid::regclass::text, 'method', m.amname, 'isUnique', x.indisunique,
          'isExact', x.indimmediate AND NOT EXISTS (SELECT FROM unnest(x.indkey::int2[], x.indcollation::oid[]) AS k (attnum, own)
            JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum WHERE k.own NOT IN (0, a.attcollation)),
          'options', x.indoption::int2[], 'predicate', pg_get_expr(x.indpred, x.indrelid),
          'collations', ARRAY(SELECT CASE k.own WHEN 0 THEN '' WHEN coalesce(
              (SELECT a.attcollation FROM pg_attribute a WHERE a.attrelid = x.indrelid AND (a.attnum = k.attnum OR k.attnum = 0
                AND a.attcollation <> 0 AND strpos(pg_get_indexdef(x.indexrelid, k.n::int, true), quote_ident(a.attname)) > 0) LIMIT 1),
              'pg_catalog."default"'::regcollation) THEN '' WHEN 950 THEN ' COLLATE "C"' ELSE ' COLLATE ' || k.own END
            FROM unnest(x.indkey::int2[], x.indcollation::oid[]) WITH ORDINALITY AS k (attnum, own, n) WHERE k.n <= x.indnkeyatts ORDER BY k.n),
          'columns', ARRAY(SELECT a.attname::text FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, n)
            LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum WHERE k.n <= x.indnkeyatts ORDER BY k.n),
          'expressions', ARRAY(SELECT CASE k.attnum WHEN 0 THEN pg_get_indexdef(x.indexrelid, k.n::int, true) END
            FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k (attnum, n) WHERE k.n <= x.indnkeyatts ORDER BY k.n),
          'unique', CASE WHEN x.indisunique AND NOT x.indisprimary THEN json_build_object(
            'constraint', (SELECT quote_ident(u.conname) FROM pg_constraint u WHERE u.conindid = x.indexrelid AND u.contype = 'u'),
            'definition', pg_get_indexdef(x.indexrelid),
            'keys', ARRAY(SELECT pg_get_indexdef(x.indexrelid, n, true) FROM generate_series(1, x.indnkeyatts::int) AS n),
            'canBePartial', x.indimmediate
              AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.conindid = x.indexrelid AND f.contype = 'f')) END)
        ORDER BY x.indexrelid::regclass::text)
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
      WHERE x.indrelid = c.oid AND x.indisvalid),
    'foreignKeys', (
      SELECT json_agg(json_build_object('name', f.conname, 'target', f.confrelid::text, 'onDelete', f.confdeltype,
          'onUpdate', f.confupdtype, 'isSure', f.convalidated AND NOT f.condeferrable,
          'columns', ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k (attnum, n)
            JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum ORDER BY k.n),
          'targetColumns', ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k (attnum, n)
            JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum ORDER BY k.n)) ORDER BY f.conname)
      FROM pg_constraint f WHERE f.conrelid = c.oid AND f.contype = 'f'),
    'constraints', (
      SELECT json_object_agg(o.name, ARRAY(SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = o.owner AND a.attnum = ANY(o.keys) AND a.attnum > 0))
      FROM (
        (SELECT DISTINCT ON (f.conname) f.conname, f.conrelid, f.conkey FROM pg_constraint f
        WHERE f.conrelid IN (SELECT c.oid UNION ALL SELECT relid FROM pg_partition_tree(c.oid)) AND f.conkey IS NOT NULL
        ORDER BY f.conname, f.conrelid <> c.oid, f.conrelid)
        UNION ALL SELECT i.relname, x.indrelid, CASE WHEN 0 = ANY(x.indkey::int2[])
          THEN ARRAY(SELECT d.refobjsubid::int2 FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = x.indexrelid AND d.refobjid = x.indrelid)
          ELSE (x.indkey::int2[])[0:x.indnkeyatts - 1] END
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
        WHERE x.indrelid IN (SELECT c.oid UNION ALL SELECT relid FROM pg_partition_tree(c.oid)) AND x.indisunique
          AND NOT EXISTS (SELECT FROM pg_constraint u WHERE u.conrelid = x.indrelid AND u.conindid = x.indexrelid)
        ) AS o (name, owner, keys)),
    'partitions', (SELECT json_agg(r.relname) FROM pg_partition_tree(c.oid) p JOIN pg_class r ON r.oid = p.relid)
    )::text AS "table"
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (name, schema, place)
  JOIN pg_class c ON c.oid = CASE WHEN t.schema IS NULL OR EXISTS (
    SELECT FROM pg_namespace n WHERE n.nspname IN (t.schema, lower(t.schema)) AND has_schema_privilege(n.oid, 'USAGE'))
    THEN to_regclass(t.name) END`;

/**
 * Reads the tables of models, on the primary: a replica may not have seen them yet. A model without a table is not in the result.
 *
 * @throws the error of the database or the pool
 */
export async function readCatalogue(models: readonly ModelClass[]): Promise<Tables> {
  const found = new Map<ModelClass, CatalogueTable>();
  for (const sequelize of new Set(models.flatMap((model) => model.sequelize ?? []))) {
    const own = models.filter((model) => model.sequelize === sequelize);
    for (const { place, table } of await readTables(sequelize, own)) {
      found.set(own[place - 1] as ModelClass, describeTable(JSON.parse(table)));
    }
  }
  return found;
}

interface ResultRow {
  /** From 1. */
  readonly place: number;
  /** A `TableRow` as JSON, as a text, because the driver may have another parser. */
  readonly table: string;
}

function readTables(sequelize: Sequelize, models: readonly ModelClass[]): Promise<ResultRow[]> {
  return selectCatalogue(sequelize, TABLES, [models.map(quotedTable), models.map(schemaOf)]);
}

/**
 * The models whose tables were changed since they were read, or are gone.
 *
 * @param models of one Sequelize instance
 * @throws the error of the database or the pool
 */
export async function changedTables(models: readonly ModelClass[]): Promise<ModelClass[]> {
  const ids = models.flatMap((model) => tableFacts(model)?.id ?? []);
  const found = await selectCatalogue<Pick<TableFacts, 'id' | 'mark'>>(models[0]?.sequelize, MARKS, [ids]);
  const marks = new Map(found.map(({ id, mark }) => [id, mark]));
  return models.filter((model) => {
    const facts = tableFacts(model);
    return !facts || marks.get(facts.id) !== facts.mark;
  });
}

/** Executes a SELECT on the primary: in a transaction, or else outside of any, also of one of `Sequelize.useCLS`. */
export function selectCatalogue<R extends object>(
  sequelize: Sequelize | undefined,
  statement: string,
  bind: readonly unknown[],
  transaction: Transaction | null = null,
): Promise<R[]> {
  // The option is in Sequelize, and not in its types.
  const options = { type: QueryTypes.SELECT, bind: [...bind], useMaster: true, transaction };
  return (sequelize as Sequelize).query<R>(statement, options as QueryOptionsWithType<QueryTypes.SELECT>);
}

function schemaOf(model: ModelClass): string | null {
  const name: unknown = model.getTableName();
  return (typeof name === 'object' && (name as { schema?: string }).schema) || null;
}

/** By `relkind`. */
export const KINDS: Readonly<Record<string, TableKind>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};

const WRITES: readonly (readonly [TableWrite, number])[] = [
  ['update', 4],
  ['insert', 8],
  ['delete', 16],
];

function describeTable({ kind, writes, isFilled, ...row }: TableRow): CatalogueTable {
  const { columns, indexes, foreignKeys, constraints, partitions, ...known } = row;
  const isTable = kind === 'r' || kind === 'p';
  const isRequired = (each: ColumnRow) =>
    each.notNull && !hasDefault(each) && each.generated === '' && each.identity === '';
  const facts: TableFacts = Object.freeze({
    ...known,
    kind: KINDS[kind] ?? 'table',
    writes: new Set(WRITES.flatMap(([write, bit]) => ((writes & bit) === 0 ? [] : write))),
    isTable,
    columns: new Map((columns ?? []).map((each) => [each.name, describeColumn(each)])),
    uniqueKeys: uniqueKeysOf(indexes ?? []),
    exactKeys: uniqueKeysOf((indexes ?? []).filter(({ isExact }) => isExact)),
    foreignKeys: (foreignKeys ?? []).map((each) => ({
      ...each,
      onDelete: actionOf(each.onDelete),
      onUpdate: actionOf(each.onUpdate),
    })),
    constraints: new Map(Object.entries(constraints ?? {})),
    partitions: new Set(partitions),
  });
  const required = (columns ?? []).filter((each) => !SYSTEM_COLUMNS.includes(each.name) && isRequired(each));
  const asked = isTable && !isFilled ? required : [];
  return { facts, indexes: indexes ?? [], required: asked.map(({ name }) => name) };
}

function uniqueKeysOf(indexes: readonly IndexRow[]): string[][] {
  return indexes.flatMap((index) => {
    const keys = index.columns.filter((column) => column !== null);
    const isWhole = index.isUnique && index.predicate === null && keys.length === index.columns.length;
    return isWhole ? [keys] : [];
  });
}

/** Every table has them, and no statement sets them. */
const SYSTEM_COLUMNS: readonly string[] = ['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'];

function describeColumn(column: ColumnRow): ColumnFacts {
  const { base, generated, identity, isComputed, defaultSql, domainDefault: _, ...known } = column;
  return Object.freeze({
    ...known,
    baseType: base,
    hasDefault: hasDefault(column) || identity === 'd',
    constant: constantOf(defaultSql),
    isVirtual: generated === 'v',
    isReadOnly: generated !== '' || identity === 'a' || isComputed || column.isComposite,
  });
}

/** `DEFAULT NULL` is none. */
function hasDefault({ defaultSql, domainDefault }: ColumnRow): boolean {
  return defaultSql === null ? domainDefault !== null : !/^NULL(?:::|$)/.test(defaultSql);
}

/** A constant as `pg_get_expr` writes it: `'new'::text`, `0`, `(-1)`, `true`, `B'101'::"bit"`. */
const LITERAL = String.raw`(?:B?'((?:[^']|'')*)'|\(?(-?\d+(?:\.\d+)?)\)?|(true|false))`;
const CONSTANT = new RegExp(`^${LITERAL}(?:::[^']+)?$`);
/** `ARRAY['a'::text, 'b'::text]`, whose members are constants. */
const ARRAY = /^\(*ARRAY\[(.*?)\]\)?(?:::[^']+)?$/s;
const MEMBER = new RegExp(`(?:${LITERAL}|NULL)(?:::["a-z][\\w ."]*(?:\\([\\d,]+\\))?)?(?:, |$)`, 'y');

function constantOf(expression: string | null): string | null {
  const found = CONSTANT.exec(expression ?? '');
  if (found) return textOf(found);
  const members = ARRAY.exec(expression ?? '')?.[1];
  if (members === undefined) return null;
  const texts: (string | null)[] = [];
  for (let at = 0; at < members.length; at = MEMBER.lastIndex) {
    MEMBER.lastIndex = at;
    const member = MEMBER.exec(members);
    if (!member) return null;
    texts.push(textOf(member));
  }
  return arrayLiteral(texts);
}

function textOf([, text, number, flag]: RegExpExecArray): string | null {
  return text?.replaceAll("''", "'") ?? number ?? flag ?? null;
}

const ACTIONS: Readonly<Record<string, ReferentialAction>> = {
  a: 'NO ACTION',
  r: 'RESTRICT',
  c: 'CASCADE',
  n: 'SET NULL',
  d: 'SET DEFAULT',
};

/** The action of a foreign key, by the letter of the catalogue. */
export function actionOf(letter: string): ReferentialAction {
  return ACTIONS[letter] ?? 'NO ACTION';
}
