/** Images of `crud_changes` as rows again: the rules of today judge them, and they are read column by column. */
import type { ModelClass } from '../../declare/crud-options.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { tableFacts } from '../../describe/table-facts.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { attributeOf, type ColumnSql, columnsOf, compilePredicate } from '../../execute/sql/predicate-sql.js';
import {
  identifier,
  joinSql,
  quotedTable,
  raw,
  type SqlFragment,
  sql,
  tableBeside,
} from '../../execute/sql/sql-fragment.js';
import type { Predicate } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';
import { columnsRead } from './scope-columns.js';

/** The name of the function that makes a row of an image. It changes whenever the function does. */
export const ROW_FUNCTION = 'crud_image_2';

/**
 * Errors of values that no longer fit their column. They have any state: the input function of a type chooses it. A query that is cancelled
 * is none of OTHERS.
 */
const MISFITS = `insufficient_resources OR transaction_rollback OR operator_intervention THEN
      RAISE;
    WHEN OTHERS`;

const escaped = (text: string) => String.raw`pg_catalog.regexp_replace(${text}, '(["\\])', '\\\1', 'g')`;

/** The text of a value of hstore, which JSON has as an object, and which no cast makes of it. */
const HSTORE_TEXT = `(SELECT pg_catalog.string_agg(pg_catalog.concat('"', ${escaped('key')}, '"=>', coalesce('"' || ${escaped('value')} || '"', 'NULL')), ',')
          FROM pg_catalog.jsonb_each_text(image -> name))`;

/**
 * Statement that creates the function. `jsonb_populate_record` throws for a whole image where one value no longer fits the type of its
 * column. The function leaves such a value NULL.
 */
export function imageFunction(model: ModelClass): string {
  return `CREATE OR REPLACE FUNCTION ${tableBeside(model, ROW_FUNCTION)}(base anyelement, image jsonb) RETURNS anyelement
LANGUAGE plpgsql STABLE AS $function$
DECLARE
  name text;
BEGIN
  RETURN pg_catalog.jsonb_populate_record(base, image);
EXCEPTION WHEN ${MISFITS} THEN
  FOR name IN SELECT pg_catalog.jsonb_object_keys(image) LOOP
    BEGIN
      base := pg_catalog.jsonb_populate_record(base, pg_catalog.jsonb_build_object(name, image -> name));
    EXCEPTION WHEN ${MISFITS} THEN
      CONTINUE WHEN pg_catalog.jsonb_typeof(image -> name) <> 'object';
      BEGIN
        base := pg_catalog.jsonb_populate_record(base, pg_catalog.jsonb_build_object(name, coalesce(${HSTORE_TEXT}, '')));
      EXCEPTION WHEN ${MISFITS} THEN
        NULL;
      END;
    END;
  END LOOP;
  RETURN base;
END $function$`;
}

/** An image as a row of its table, for FROM. Its columns have the names of the table's. */
export function imageRow(model: ModelClass, image: SqlFragment): SqlFragment {
  return sql`${raw(tableBeside(model, ROW_FUNCTION))}(${raw(emptyRow(model))}, ${image})`;
}

/**
 * The row that has the values which an image lacks: NULL. Domains are the types of some columns: PostgreSQL refuses NULL of a domain that is
 * NOT NULL, unless a row already has it, as an outer join without a match does.
 */
function emptyRow(model: ModelClass): string {
  const none = `NULL::${quotedTable(model)}`;
  const hasDomain = [...(tableFacts(model)?.columns.values() ?? [])].some(({ isDomain }) => isDomain);
  if (!hasDomain) return none;
  return `(SELECT ROW(n.*)::${quotedTable(model)} FROM (SELECT) AS o LEFT JOIN jsonb_populate_recordset(${none}, '[]') AS n ON false)`;
}

/**
 * A condition on an image, by the compiler of all conditions on rows. False for an image that lacks a value which the condition reads, or
 * has one that no longer fits its column: nothing is said then about the row that it was.
 *
 * @param where null is true for each image that is there
 */
export function imageCondition(info: ModelInfo, where: Predicate | null, image: SqlFragment): SqlFragment {
  if (where === null) return sql`(${image} IS NOT NULL)`;
  return sql`EXISTS (SELECT 1 FROM ${imageRow(info.model, image)} AS ${raw(identifier(info.name))} WHERE ${imageTest(info, where, image)})`;
}

/** The same for the row of an image that FROM has by the name of the model. */
export function imageTest(info: ModelInfo, where: Predicate, image: SqlFragment): SqlFragment {
  const own = columnsOf(info, info.name);
  const all = storedAttributes(info).map((each) => each.column);
  const columns = new Set(writtenTexts(where).flatMap((text) => columnsRead(info, text) ?? all));
  const column: ColumnSql = (name, on) => {
    columns.add(on === 'bare' ? name : attributeOf(info, name).column);
    return own(name, on);
  };
  const condition = compilePredicate(where, column);
  const known = [...columns].map((name) => {
    // An image has NULL there.
    if (tableFacts(info.model)?.columns.get(name)?.isVirtual) return raw('false');
    const value = raw(`${identifier(info.name)}.${identifier(name)}`);
    return sql`(jsonb_typeof(${image} -> ${raw(quoteText(name))}) = 'null' OR ${value} IS DISTINCT FROM NULL)`;
  });
  return joinSql([...known, sql`(${condition})`], ' AND ');
}

/** The conditions of default scopes are texts. */
function writtenTexts(where: Predicate): readonly string[] {
  if (where.kind === 'written') return [where.text];
  return 'operands' in where ? where.operands.flatMap(writtenTexts) : [];
}

/** The time of a change, as answers have it. */
export function momentSql(at: SqlFragment): SqlFragment {
  return sql`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
