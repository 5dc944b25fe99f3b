/** Erasure of stored values, as functions that run as their owner: applications need no right to change the stored rows. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { quotedTable, tableBeside } from '../../execute/sql/sql-fragment.js';
import type { OwnTable } from '../../operation/feature.js';
import { quoteText } from '../../util/quote-text.js';
import { historyOf } from './capture-options.js';
import {
  CONTEXT,
  captureOf,
  functionsFound,
  imagesOf,
  inSchemaOf,
  SETTINGS,
  tableOf,
} from './capture-sql.js';
import { changeTables } from './change-table.js';
import { ERASE, ERASE_ACTOR } from './erase-history.js';

/** The function of the trigger that erases with a purge. */
const PURGE = 'crud_purge_2';

/** Behind the trigger that stores the delete, by its name. */
const TRIGGER = 'crud_capture_erase';

/** The functions, and the trigger of a table whose purges erase. */
export function erasureTables(plan: ResourcePlan, plans: readonly ResourcePlan[]): OwnTable[] {
  const { changes } = changeTables(plan.model);
  const table = quotedTable(plan.model);
  const functions: OwnTable = {
    name: `${changes} (erasure)`,
    noun: `are no functions ${ERASE}, ${ERASE_ACTOR} and ${PURGE}`,
    definition: [inSchemaOf(changes, FUNCTIONS)],
    find: functionsFound(changes, [ERASE, ERASE_ACTOR, PURGE]),
    failure: 'erasures of history fail',
  };
  if (historyOf(plan)?.onPurge !== 'erase') return [functions];
  // The source, and the columns of the key.
  const args = captureOf(plan, plans).values.slice(0, 2).map(quoteText).join(', ');
  return [
    functions,
    {
      name: `${table} (erasure)`,
      noun: `is no trigger ${TRIGGER} on ${table}`,
      definition: [
        `CREATE OR REPLACE TRIGGER ${TRIGGER} AFTER DELETE ON ${table}\n  REFERENCING OLD TABLE AS "crud:old" FOR EACH STATEMENT ` +
          `EXECUTE FUNCTION ${tableBeside(plan.model, PURGE)}(${args})`,
      ],
      find: {
        text: `SELECT EXISTS (SELECT FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgrelid = to_regclass($1) AND tgname = $2 AND proname = $3) AS "exists"`,
        values: [table, TRIGGER, PURGE],
      },
      failure: `purges of ${plan.name} erase no history`,
    },
  ];
}

const HEAD = `LANGUAGE plpgsql SECURITY DEFINER ${SETTINGS} AS $function$
#variable_conflict use_variable`;

/**
 * An image keeps that it is there: a change is still a create, an update or a delete. The statement trigger sees no row that only moves
 * to another partition, as one for each row would.
 */
const FUNCTIONS = `
CREATE OR REPLACE FUNCTION %1$I.${ERASE}(erased_source text, erased_row text, columns text[]) RETURNS bigint ${HEAD}
DECLARE
  erased bigint;
BEGIN
  UPDATE %1$I.crud_changes AS c SET
    old = CASE WHEN c.old IS NOT NULL THEN coalesce(c.old - columns, '{}') END,
    new = CASE WHEN c.new IS NOT NULL THEN coalesce(c.new - columns, '{}') END
  WHERE c.source = erased_source AND c.row_id = erased_row AND (c.old IS NOT NULL OR c.new IS NOT NULL);
  GET DIAGNOSTICS erased = ROW_COUNT;
  IF erased > 0 THEN
    INSERT INTO %1$I.crud_changes (source, row_id, op, left_out, context) VALUES (erased_source, erased_row, 'e', columns, ${CONTEXT});
  END IF;
  RETURN erased;
END $function$;
CREATE OR REPLACE FUNCTION %1$I.${ERASE_ACTOR}(actor text, substitute text) RETURNS bigint ${HEAD}
DECLARE
  erased bigint;
BEGIN
  UPDATE %1$I.crud_changes AS c SET context = pg_catalog.jsonb_set(c.context, '{actor}', coalesce(pg_catalog.to_jsonb(substitute), 'null'))
  WHERE c.context ->> 'actor' = actor;
  GET DIAGNOSTICS erased = ROW_COUNT;
  IF erased > 0 THEN
    INSERT INTO %1$I.crud_changes (source, row_id, op, context) VALUES ('', '', 'e', ${CONTEXT});
  END IF;
  RETURN erased;
END $function$;
CREATE OR REPLACE FUNCTION %1$I.${PURGE}() RETURNS trigger ${HEAD}
DECLARE
  key text[] := TG_ARGV[1];
BEGIN
  PERFORM %1$I.${ERASE}(TG_ARGV[0], purged.row_id, NULL) FROM ${imagesOf(tableOf('old', false))} AS purged;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION %1$I.${ERASE}(text, text, text[]), %1$I.${ERASE_ACTOR}(text, text), %1$I.${PURGE}() FROM PUBLIC;
`;
