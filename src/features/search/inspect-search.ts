/** The table behind a search: its vector, the configuration of that, and the collations of its texts. */
import { everyInclude, type ResourcePlan } from '../../compile/resource-plan.js';
import { type TableFacts, tableFacts } from '../../describe/table-facts.js';
import { identifier, quotedTable } from '../../execute/sql/sql-fragment.js';
import { columnOf } from '../../execute/sql/table-indexes.js';
import { selectCatalogue } from '../../inspect/catalogue.js';
import { joinReports, type TableReport } from '../../operation/feature.js';
import { quoteText } from '../../util/quote-text.js';
import { type SearchPlan, searchOf, type TextSearch, vectorName } from './search-options.js';

/** Reports on the searches of a resource and of its included relations. */
export async function inspectSearch(plan: ResourcePlan): Promise<TableReport> {
  const plans = [plan, ...everyInclude(plan.relations.include).map(({ target }) => target)];
  return joinReports(
    await Promise.all(
      plans.flatMap((each) => {
        const search = searchOf(each);
        const facts = tableFacts(each.model);
        // There may be no table yet.
        if (!search || !facts) return [];
        return search.text
          ? vectorReport(each, search, search.text, facts)
          : collationReport(each, search, facts);
      }),
    ),
  );
}

/** PostgreSQL has no ILIKE for a collation that takes different texts for the same. */
async function collationReport(
  { name, info, model }: ResourcePlan,
  { attributes }: SearchPlan,
  { id }: TableFacts,
): Promise<TableReport> {
  const found = await selectCatalogue<{ readonly column: string; readonly collation: string }>(
    model.sequelize,
    `SELECT a.attname AS "column", c.collname AS "collation" FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
     WHERE a.attrelid = $1::oid AND NOT c.collisdeterministic`,
    [id],
  );
  const problems = attributes.flatMap((attribute) => {
    const other = found.find(({ column }) => column === columnOf(info, attribute));
    if (!other) return [];
    return (
      `${name}: search names '${attribute}', whose collation ${other.collation} is not deterministic, and PostgreSQL finds no words in ` +
      'such texts; search a vector, or take it out of search.'
    );
  });
  return { problems, warnings: [] };
}

/** The column of a vector that PostgreSQL generates. */
function vectorDefinition(
  { info }: Pick<ResourcePlan, 'info'>,
  attributes: readonly string[],
  text: TextSearch,
): string {
  const texts = attributes.map((each) => `coalesce(${identifier(columnOf(info, each))}, '')`);
  const made = `to_tsvector(${quoteText(text.config)}, ${texts.join(" || ' ' || ")})`;
  return `${identifier(columnOf(info, vectorName(text)))} tsvector GENERATED ALWAYS AS (${made}) STORED`;
}

/** The statement that adds a vector which the model lacks. One that a trigger fills in stays as it is. */
export function searchColumns(plan: ResourcePlan): readonly string[] {
  const { attributes, text } = searchOf(plan) ?? { attributes: [], text: null };
  if (!text || !('column' in text.vector)) return [];
  return [
    `ALTER TABLE ${quotedTable(plan.model)} ADD COLUMN IF NOT EXISTS ${vectorDefinition(plan, attributes, text)}`,
  ];
}

/**
 * The configuration: `stems` where one of its dictionaries changes words, so that the beginning of a word may not be that of its stem. And the
 * expression of a vector that PostgreSQL generates, with its columns: before PostgreSQL 15 its column depends on them, and then its default.
 */
const CONFIG = `
  SELECT EXISTS (
      SELECT FROM pg_ts_config_map m JOIN pg_ts_dict d ON d.oid = m.mapdict JOIN pg_ts_template t ON t.oid = d.dicttemplate
      WHERE m.mapcfg = c.oid AND t.tmplname IN ('snowball', 'ispell')) AS "stems",
    (SELECT json_build_object('expression', pg_get_expr(d.adbin, d.adrelid), 'columns', ARRAY(
        SELECT s.attname::text FROM pg_depend p JOIN pg_attribute s ON s.attrelid = p.refobjid AND s.attnum = p.refobjsubid
        WHERE (p.classid, p.objid, p.objsubid) IN (('pg_attrdef'::regclass, d.oid, 0), ('pg_class'::regclass, d.adrelid, d.adnum))
          AND p.refclassid = 'pg_class'::regclass AND p.refobjid = d.adrelid AND s.attnum <> d.adnum))::text
      FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE d.adrelid = $3::oid AND a.attname = $4 AND a.attgenerated <> '') AS "made"
  FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace
  WHERE c.cfgname = $1 AND CASE WHEN $2::text IS NULL THEN pg_ts_config_is_visible(c.oid) ELSE n.nspname = $2 END`;

interface ConfigRow {
  readonly stems: boolean;
  /** A `Made` as JSON, as a text, because the driver may have another parser; null for a vector that a trigger fills in. */
  readonly made: string | null;
}

interface Made {
  readonly expression: string;
  readonly columns: readonly string[];
}

async function vectorReport(
  { name, info, model }: ResourcePlan,
  { attributes }: SearchPlan,
  text: TextSearch,
  { id, columns }: TableFacts,
): Promise<TableReport> {
  const { config, prefix } = text;
  const [last = '', schema = null] = config.split('.').reverse();
  const column = columnOf(info, vectorName(text));
  const problems: string[] = [];
  const warnings: string[] = [];
  const { type, baseType } = columns.get(column) ?? {};
  const table = quotedTable(model);
  if (baseType !== 'tsvector')
    problems.push(
      type === undefined
        ? `${name}: search.vector names '${column}', and the table ${table} has no such column; ALTER TABLE ${table} ADD COLUMN ` +
            `${vectorDefinition({ info }, attributes, text)};`
        : `${name}: search.vector names '${column}', whose column is ${type}; use a column of the type tsvector.`,
    );
  const [found] = await selectCatalogue<ConfigRow>(model.sequelize, CONFIG, [last, schema, id, column]);
  if (!found)
    problems.push(
      `${name}: search.config is '${config}', which the database lacks; use one of those of SELECT cfgname FROM pg_ts_config.`,
    );
  if (!found) return { problems, warnings };
  const made = JSON.parse(found.made ?? '{}') as Partial<Made>;
  const named = attributes.map((each) => columnOf(info, each));
  for (const each of made.columns?.filter((other) => !named.includes(other)) ?? [])
    problems.push(
      `${name}: the vector '${column}' of search is made of '${each}' as well, which search.of lacks, so that a search would find what a ` +
        'request may not read; add it there, or take it out of the vector.',
    );
  const [, used = last] = /'(?:\w+\.)?(\w+)'::regconfig/.exec(made.expression ?? '') ?? [];
  if (used !== last)
    warnings.push(
      `${name}: search.config is '${config}', and the vector '${column}' is made with '${used}', so that a search may find nothing; use ` +
        'the same for both.',
    );
  if (prefix && found.stems)
    warnings.push(
      `${name}: search.prefix is true, and '${config}' keeps the stems of words, so that the beginning of a word may find nothing: runni ` +
        "does not find running, whose stem is run. Use 'simple', or leave prefix out.",
    );
  return { problems, warnings };
}
