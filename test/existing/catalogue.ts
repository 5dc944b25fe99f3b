/** The catalogue, read in other ways than the generator reads it: columns, keys and foreign keys that the models have to declare. */
import type { Client } from 'pg';
import { KINDS } from '../../src/inspect/catalogue.js';
import type { LeftOut } from '../../src/scaffold/model-plan.js';
import type { Link, Specimen } from './generated.js';

/**
 * Columns of tables and views, but those of the system, of extensions and of partitions. Materialized views have no types there, and
 * domains of domains are not resolved.
 */
const COLUMNS = `
  SELECT n.nspname || '.' || c.relname AS table, a.attname AS column, c.relkind <> 'v' AND i.is_nullable = 'NO' AS "notNull",
    (SELECT format_type(t.oid, NULL) FROM pg_type t JOIN pg_namespace s ON s.oid = t.typnamespace
      WHERE (s.nspname, t.typname) = (i.udt_schema, i.udt_name) AND t.typtype <> 'd') AS type
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
  LEFT JOIN information_schema.columns i ON (i.table_schema, i.table_name, i.column_name) = (n.nspname, c.relname, a.attname)
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND NOT c.relispartition
    AND a.attnum > 0 AND NOT a.attisdropped
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;

const KEYS = `
  SELECT table_schema || '.' || table_name AS table, json_agg(column_name ORDER BY ordinal_position) AS columns
  FROM information_schema.table_constraints JOIN information_schema.key_column_usage
  USING (constraint_schema, constraint_name, table_schema, table_name) WHERE constraint_type = 'PRIMARY KEY' GROUP BY 1`;

/** The pairs of columns of each. */
const FOREIGN_KEYS = `
  SELECT f.conname AS name, n.nspname || '.' || c.relname AS child, m.nspname || '.' || r.relname AS parent,
    json_agg(a.attname ORDER BY p.place) AS own, json_agg(b.attname ORDER BY p.place) AS other
  FROM pg_constraint f CROSS JOIN unnest(f.conkey, f.confkey) WITH ORDINALITY AS p (own, other, place)
  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = p.own JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = p.other
  JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace m ON m.oid = r.relnamespace
  WHERE f.contype = 'f' AND f.conparentid = 0 AND NOT c.relispartition GROUP BY 1, 2, 3, f.oid`;

/** Differences between the catalogue and the models, but those that the generator has reported. */
export async function missedFacts(
  client: Client,
  specimens: readonly Specimen[],
  leftOut: readonly LeftOut[],
): Promise<string[]> {
  const missed: string[] = [];
  const models = new Map(specimens.map((each) => [`${each.table.schema}.${each.table.name}`, each]));
  const reported = new Set(leftOut.map(({ construct }) => construct));
  const columns = await client.query(COLUMNS);
  for (const { table, column, type, notNull } of columns.rows) {
    if (Object.values(KINDS).some((kind) => reported.has(`${kind} ${table}`))) continue;
    const own = models.get(table);
    const read = own?.table.columns.find(({ name }) => name === column);
    if (!own?.attributes.has(column) || !read) {
      if (!reported.has(`column ${table}.${column}`)) missed.push(`${table}: its column ${column} is missed`);
    } else if (type !== null && (read.base !== type || read.notNull !== notNull))
      missed.push(
        `${table}: its column ${column} is read as ${read.base}, NOT NULL ${read.notNull}: it is ${type}, ${notNull}`,
      );
  }
  const keys = await client.query(KEYS);
  for (const { table, columns } of keys.rows) {
    const own = models.get(table);
    if (own && `${own.id}` !== `${columns}`)
      missed.push(`${table}: its key is ${own.id}, and not ${columns}`);
  }
  const foreignKeys = await client.query(FOREIGN_KEYS);
  for (const { name, child, parent, own, other } of foreignKeys.rows) {
    const [from, to] = [models.get(child), models.get(parent)];
    if (!from || reported.has(`foreign key "${name}" of ${child}`)) continue;
    const there = from.links.some((link) => link.isOne && link.target === to && hasPairs(link, own, other));
    const back = to?.links.some(
      (link) =>
        hasPairs(link, other, own) &&
        (link.through ? link.through.sql === from.table.sql : link.target === from),
    );
    if (!there || !back) missed.push(`${child}: the foreign key ${name} has no relation, or none back`);
  }
  return missed;
}

/** True where a relation has these pairs, in any order. */
function hasPairs(link: Link, own: readonly string[], other: readonly string[]): boolean {
  const pairs = (from: readonly string[], to: readonly string[]) =>
    from.map((name, at) => `${name}=${to[at]}`).sort();
  return `${pairs(link.own, link.other)}` === `${pairs(own, other)}`;
}
