/**
 * Images of rows with values that `jsonb` does not have, such as `"\u0000"` in a column of `json`. Writes of such rows pass, and the values are left
 * out of their images.
 */
import type { ModelClass } from '../../declare/crud-options.js';
import {
  identifier,
  quotedTable,
  raw,
  type SqlFragment,
  tableBeside,
} from '../../execute/sql/sql-fragment.js';
import { quoteText } from '../../util/quote-text.js';

/** The function that makes the image of a row with values which `jsonb` does not have. It changes whenever the function does. */
export const SOUND_FUNCTION = 'crud_sound_1';

/** The image of a row of the table of a model, without the values that `jsonb` does not have. @param row the alias of the row */
export function soundImage(model: ModelClass, row: string): SqlFragment {
  const relation = `${quoteText(quotedTable(model))}::regclass`;
  return raw(`${tableBeside(model, SOUND_FUNCTION)}(${identifier(row)}.*, ${relation})`);
}

/** The last argument of the triggers of tables with columns of `json`, whose values `jsonb` may not have: `"\u0000"` and `1e200000`. */
export const JSON_ARGUMENT = 'json';

/** Such columns of a table: of `json`, of arrays of it and domains over it, and of row types. */
const JSON_COLUMNS = (table: string) =>
  'FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_catalog.pg_type AS b ON b.oid = t.typbasetype ' +
  `WHERE a.attrelid = ${table} AND a.attnum > 0 AND NOT a.attisdropped ` +
  "AND ('pg_catalog.json'::pg_catalog.regtype IN (t.oid, t.typelem, b.oid, b.typelem) OR 'c' IN (t.typtype, b.typtype))";

/** True in SQL for a table with such columns. */
export function hasJson(table: string): string {
  return `EXISTS (SELECT ${JSON_COLUMNS(table)})`;
}

/** A statement that adds the argument to the triggers of a table which has such columns. */
export function jsonDefinition(table: string, triggers: readonly string[]): string {
  const relation = `${quoteText(table)}::regclass`;
  const names = triggers.map(quoteText).join(', ');
  return `DO $crud$
DECLARE
  definition text;
BEGIN
  IF ${hasJson(relation)} THEN
    FOR definition IN SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = ${relation} AND tgname IN (${names}) LOOP
      EXECUTE regexp_replace(regexp_replace(definition, '^CREATE', 'CREATE OR REPLACE'), '\\)$', ', ''${JSON_ARGUMENT}'')');
    END LOOP;
  END IF;
END $crud$`;
}

/** The member of an image with the texts of values that `jsonb` does not have, by column. No stored image has it. */
export const LEFT = 'crud:left';

/** Errors of values that `jsonb` does not have. */
export const UNSOUND = 'data_exception OR program_limit_exceeded';

const SOUND_IMAGE = `pg_catalog.to_jsonb(stored) - ARRAY(SELECT pg_catalog.jsonb_object_keys(texts)) || pg_catalog.jsonb_build_object('${LEFT}', texts)`;

/**
 * A function that leaves such columns out of an image, one after the other, until `jsonb` has the rest. `json` comes first. Texts tell two values
 * apart: those of the row without all other columns, as far as these may be NULL.
 */
export const SOUND_DEFINITION = `CREATE OR REPLACE FUNCTION %1$I.${SOUND_FUNCTION}(stored anyelement, relation oid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $function$
DECLARE
  name text;
  others jsonb;
  texts jsonb := '{}';
BEGIN
  FOR name, others IN
    SELECT a.attname, (SELECT pg_catalog.jsonb_object_agg(o.attname, NULL) FROM pg_catalog.pg_attribute AS o JOIN pg_catalog.pg_type ON oid = o.atttypid
      WHERE o.attrelid = relation AND o.attnum > 0 AND NOT o.attisdropped AND o.attnum <> a.attnum AND typtype <> 'd')
    ${JSON_COLUMNS('relation')} ORDER BY t.oid <> 'pg_catalog.json'::pg_catalog.regtype, a.attnum
  LOOP
    BEGIN
      RETURN ${SOUND_IMAGE};
    EXCEPTION WHEN ${UNSOUND} THEN
      texts := texts || pg_catalog.jsonb_build_object(name, pg_catalog.row_to_json(pg_catalog.jsonb_populate_record(stored, coalesce(others, '{}')))::text);
      stored := pg_catalog.jsonb_populate_record(stored, pg_catalog.jsonb_build_object(name, NULL));
    END;
  END LOOP;
  RETURN ${SOUND_IMAGE};
END $function$;
`;
