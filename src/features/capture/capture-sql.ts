/** The tables, functions and triggers that store changes, as SQL for `createAll` and for the command `sql`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { tableFacts } from '../../describe/table-facts.js';
import { arrayLiteral } from '../../execute/sql/encode-parameter.js';
import { quotedTable, tableBeside } from '../../execute/sql/sql-fragment.js';
import type { OwnTable } from '../../operation/feature.js';
import { quoteText } from '../../util/quote-text.js';
import { excludedAttributes, historyOf, isCaptured, judgedAttributes } from './capture-options.js';
import { changeTables, isOfTable, sourceOf } from './change-table.js';
import { imageFunction, ROW_FUNCTION } from './image-sql.js';
import {
  hasJson,
  JSON_ARGUMENT,
  jsonDefinition,
  LEFT,
  SOUND_DEFINITION,
  SOUND_FUNCTION,
  UNSOUND,
} from './sound-image.js';

/**
 * The trigger function. Its name has the version of the rows that it stores: triggers of an older version are replaced, and both may be there
 * while applications of two versions run.
 */
const FUNCTION = 'crud_capture_2';

/** Begin of the names of the triggers. */
const TRIGGER = 'crud_capture_';

/** Events of the triggers, each with its transition tables. A column may have any name but these. */
const EVENTS = {
  insert: 'REFERENCING NEW TABLE AS "crud:new" ',
  update: 'REFERENCING OLD TABLE AS "crud:old" NEW TABLE AS "crud:new" ',
  delete: 'REFERENCING OLD TABLE AS "crud:old" ',
  truncate: '',
} as const;

interface TableCapture {
  /** Quoted. */
  readonly table: string;
  readonly isByRow: boolean;
  /** Arguments of the triggers: the source, and arrays of columns: the key, those left out, and those stored with each change; none of the last stores all. */
  readonly values: readonly string[];
}

/**
 * The triggers of the table of a resource. Resources of one table leave out the columns that one of them leaves out, but for those that only
 * the `readSchema` of one lacks.
 */
export function captureOf(plan: ResourcePlan, plans: readonly ResourcePlan[]): TableCapture {
  const table = quotedTable(plan.model);
  const all = plans.filter((each) => isCaptured(each) && isOfTable(each, plan));
  const columns = (attributes: readonly { readonly column: string }[]) =>
    [...new Set(attributes.map(({ column }) => column))].sort();
  const shown = new Set(
    all.flatMap(({ info, hidden }) =>
      [...info.attributes.values()].flatMap(({ name, column }) => (hidden.has(name) ? [] : column)),
    ),
  );
  const leftOut = all.flatMap((each) => {
    const { info, exposure, hidden } = each;
    const isHidden = (name: string) =>
      exposure.unreadable.has(name) || !shown.has(info.attributes.get(name)?.column ?? '');
    return excludedAttributes(each, new Set([...hidden].filter(isHidden)));
  });
  const isWhole = all.some((each) => historyOf(each)?.images !== 'changed');
  const isByRow =
    tableFacts(plan.model)?.kind === 'partitioned table' || all.some((each) => historyOf(each)?.isByRow);
  return {
    table,
    isByRow,
    values: [
      sourceOf(plan),
      arrayLiteral(plan.info.primaryKey.map(({ column }) => column)),
      arrayLiteral(columns(leftOut)),
      isWhole ? '' : arrayLiteral(columns(all.flatMap(judgedAttributes))),
    ],
  };
}

/** The tables and triggers of a resource that stores changes. */
export function captureTables(plan: ResourcePlan, plans: readonly ResourcePlan[]): OwnTable[] {
  const { changes, ticks } = changeTables(plan.model);
  const { table, isByRow, values } = captureOf(plan, plans);
  const args = values.map(quoteText).join(', ');
  const execute = `EXECUTE FUNCTION ${tableBeside(plan.model, FUNCTION)}(${args})`;
  const failure = `writes of ${plan.name} are answered 503`;
  return [
    {
      name: changes,
      definition: [
        tableDefinition(changes),
        `CREATE INDEX IF NOT EXISTS crud_changes_row ON ${changes} (source, row_id, id DESC)`,
        `CREATE INDEX IF NOT EXISTS crud_changes_xid ON ${changes} (xid)`,
        `CREATE TABLE IF NOT EXISTS ${tableBeside(plan.model, 'crud_changes_default')} PARTITION OF ${changes} DEFAULT`,
        partitionsDefinition(plan),
        functionDefinition(changes),
        imageFunction(plan.model),
      ],
      find: functionsFound(changes, [FUNCTION, SOUND_FUNCTION, ROW_FUNCTION]),
      failure,
    },
    {
      name: ticks,
      definition: [
        `CREATE TABLE IF NOT EXISTS ${ticks} (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  snap pg_snapshot NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
)`,
      ],
      failure: 'the feed of changes fails',
    },
    {
      name: `${table} (history)`,
      noun: `are no triggers ${TRIGGER}* of this version on ${table}`,
      definition: [
        ...Object.entries(EVENTS).map(([event, tables]) => {
          const isRow = isByRow && event !== 'truncate';
          return (
            `CREATE OR REPLACE TRIGGER ${TRIGGER}${event} AFTER ${event.toUpperCase()} ON ${table}\n  ` +
            `${isRow ? '' : tables}FOR EACH ${isRow ? 'ROW' : 'STATEMENT'} ${execute}`
          );
        }),
        jsonDefinition(
          table,
          Object.keys(EVENTS).map((event) => `${TRIGGER}${event}`),
        ),
      ],
      find: triggersFound(
        { table, isByRow, values },
        `|| CASE WHEN ${hasJson('tgrelid')} THEN '${argumentBytes([JSON_ARGUMENT])}' ELSE '' END`,
      ),
      failure,
    },
  ];
}

/** A statement that says whether the triggers of a resource are there and enabled, whatever they leave out: an application may be newer than its tables. */
export function presentTriggers(plan: ResourcePlan, plans: readonly ResourcePlan[]) {
  const { values, ...capture } = captureOf(plan, plans);
  return triggersFound({ ...capture, values: values.slice(0, 2) }, `|| '%' AND tgenabled IN ('O', 'A')`);
}

/** A statement that says whether functions are there, in the schema of a table. */
export function functionsFound(table: string, names: readonly string[]): NonNullable<OwnTable['find']> {
  return {
    text:
      'SELECT count(*) = cardinality($2::text[]) AS "exists" FROM pg_proc JOIN pg_class ON pronamespace = relnamespace ' +
      'WHERE pg_class.oid = to_regclass($1) AND proname = ANY ($2::text[])',
    values: [table, arrayLiteral(names)],
  };
}

/** 1 and 32 are ROW and TRUNCATE (`pg_trigger.h`). */
function triggersFound(
  { table, isByRow, values }: TableCapture,
  more: string,
): NonNullable<OwnTable['find']> {
  return {
    text:
      'SELECT count(*) = 4 AS "exists" FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgrelid = to_regclass($1) AND tgparentid = 0 ' +
      `AND proname = $2 AND (tgtype & 1 = $4::int OR tgtype & 32 <> 0) AND encode(tgargs, 'hex') LIKE $3 ${more}`,
    values: [table, FUNCTION, argumentBytes(values), isByRow ? '1' : '0'],
  };
}

/** The arguments as `pg_trigger.tgargs` has them, in hexadecimal. */
function argumentBytes(values: readonly string[]): string {
  return Buffer.from(values.map((value) => `${value}\0`).join('')).toString('hex');
}

/** The identity has no cache: the order of the changes of a row depends on it. */
function tableDefinition(changes: string): string {
  return `CREATE TABLE IF NOT EXISTS ${changes} (
  id bigint GENERATED ALWAYS AS IDENTITY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  source text COLLATE "C" NOT NULL,
  row_id text COLLATE "C" NOT NULL,
  op "char" NOT NULL,
  old jsonb,
  new jsonb,
  left_out text[],
  context jsonb,
  db_user name NOT NULL DEFAULT session_user,
  PRIMARY KEY (at, id)
) PARTITION BY RANGE (at)`;
}

/**
 * A statement that makes the partitions of this month and of three more. Rows that had no place are moved out of the default partition.
 */
export function partitionsDefinition({ model }: Pick<ResourcePlan, 'model'>): string {
  const { changes } = changeTables(model);
  const rest = tableBeside(model, 'crud_changes_default');
  const pattern = quoteText(tableBeside(model, 'crud_changes_%s'));
  return `DO $crud$
DECLARE
  month timestamp;
  part text;
BEGIN
  FOR month IN SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => n) FROM generate_series(0, 3) AS n LOOP
    part := format(${pattern}, to_char(month, 'YYYY_MM'));
    CONTINUE WHEN to_regclass(part) IS NOT NULL;
    LOCK TABLE ${rest} IN SHARE ROW EXCLUSIVE MODE;
    EXECUTE format('CREATE TABLE %s (LIKE ${changes})', part);
    EXECUTE format('WITH moved AS (DELETE FROM ${rest} WHERE at >= %L AND at < %L RETURNING *) INSERT INTO %s SELECT * FROM moved',
      month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC', part);
    EXECUTE format('ALTER TABLE ${changes} ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)',
      part, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
  END LOOP;
END $crud$`;
}

/** The rows of a transition table, as JSON. Without OFFSET PostgreSQL would write the JSON of a row once for each mention of it. */
export function tableOf(name: 'old' | 'new', isSound = true): string {
  return `(SELECT ${imageOf('rows', isSound)} AS image FROM "crud:${name}" AS rows OFFSET 0)`;
}

function imageOf(row: string, isSound: boolean): string {
  return isSound ? `pg_catalog.to_jsonb(${row}.*)` : `%1$I.${SOUND_FUNCTION}(${row}.*, TG_RELID)`;
}

/** The id of a row in its JSON: the text of its key, of several columns joined as an id is. */
const ROW_ID =
  `CASE WHEN key[2] IS NULL THEN image ->> key[1] ELSE (SELECT pg_catalog.string_agg(pg_catalog.replace(pg_catalog.replace(` +
  `pg_catalog.replace(pg_catalog.replace(image ->> part, '~', '~0'), '/', '~1'), ',', '~2'), '\\', '~3'), ',') ` +
  'FROM pg_catalog.unnest(key) AS part) END';

/** A row as JSON with its id. Names are qualified: nothing that a user may create comes in their place. */
export function imagesOf(rows: string, rowId = ROW_ID): string {
  return `(SELECT image, ${rowId} AS row_id FROM ${rows} AS images)`;
}

/** Values that are stored of an image. @param other the image of the same row on the other side */
function storedOf(image: string, other: string): string {
  return (
    `CASE WHEN kept IS NULL OR ${other} IS NULL THEN ${image} - excluded ELSE (SELECT pg_catalog.jsonb_object_agg(name, value) ` +
    `FROM pg_catalog.jsonb_each(${image} - excluded) AS each (name, value) WHERE name = ANY (kept) OR value IS DISTINCT FROM ${other} -> name) END`
  );
}

/**
 * A function that runs as its owner, so that applications need no right to write changes, and with settings of its own, so that texts
 * are the same whatever those of the writer are. Its search path has no schema in which others may create.
 */
function functionDefinition(changes: string): string {
  const empty = '(SELECT NULL::jsonb AS image, NULL::text AS row_id)';
  const pairs =
    (source: (side: 'old' | 'new', isSound: boolean) => string) => (rowId: string, isSound: boolean) =>
      `${imagesOf(source('old', isSound), rowId)} AS o FULL JOIN ${imagesOf(source('new', isSound), rowId)} AS n ON o.row_id = n.row_id`;
  const rowOf = (side: 'old' | 'new', isSound: boolean) =>
    `(SELECT ${imageOf(side.toUpperCase(), isSound)} AS image WHERE TG_OP <> '${side === 'old' ? 'INSERT' : 'DELETE'}')`;
  const insert = (from: string, values: readonly string[]) =>
    `INSERT INTO %1$I.crud_changes (source, row_id, op, context, old, new, left_out)
    SELECT TG_ARGV[0], ${values.join(',\n      ')}
    FROM ${from}
    WHERE o.image IS DISTINCT FROM n.image`;
  const change = [
    'coalesce(o.row_id, n.row_id)',
    "CASE WHEN o.image IS NULL THEN 'i' WHEN n.image IS NULL THEN 'd' ELSE 'u' END",
    'context',
  ];
  const leftOut = `CASE WHEN excluded[1] IS NOT NULL THEN nullif(ARRAY(SELECT name FROM pg_catalog.unnest(excluded) AS name
        WHERE o.image -> name IS DISTINCT FROM n.image -> name), '{}') END`;
  const whole = ['o.image', 'n.image', 'NULL'];
  const stored = [storedOf('o.image', 'n.image'), storedOf('n.image', 'o.image')];
  const keys = (image: string) => `SELECT pg_catalog.jsonb_object_keys(${image} -> '${LEFT}')`;
  const alsoLeft = `nullif(ARRAY(SELECT name FROM (SELECT pg_catalog.unnest(excluded) UNION ${keys('o.image')} UNION ${keys('n.image')}) AS names (name)
        WHERE name <> '${LEFT}' AND (o.image -> name IS DISTINCT FROM n.image -> name OR o.image -> '${LEFT}' -> name IS DISTINCT FROM n.image -> '${LEFT}' -> name)), '{}')`;
  // Each subquery is prepared for each statement, whether a row needs it or not: for one row they take a third of the time.
  const insertion = (from: (rowId: string, isSound: boolean) => string) => `IF isWhole THEN
      ${insert(from('image ->> key[1]', true), [...change, ...whole])};
    ELSIF isSound THEN
      ${insert(from(ROW_ID, true), [...change, ...stored, leftOut])};
    ELSE
      excluded := excluded || '${LEFT}'::text;
      ${insert(from(ROW_ID, false), [...change, ...stored, alsoLeft])};
    END IF;`;
  // A join, variables and conditions are a tenth: an update of one row has none of them.
  const first = (name: 'old' | 'new') =>
    imagesOf(
      `(SELECT pg_catalog.to_jsonb(rows.*) AS image FROM "crud:${name}" AS rows LIMIT 1)`,
      'image ->> (TG_ARGV[1]::text[])[1]',
    );
  const text = `
CREATE OR REPLACE FUNCTION %1$I.${FUNCTION}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER ${SETTINGS} AS $function$
#variable_conflict use_variable
DECLARE
  isWhole boolean := TG_ARGV[1] NOT LIKE '%%,%%' AND TG_ARGV[2] = '{}' AND TG_ARGV[3] = '';
  isSound boolean := true;
BEGIN
  -- A block that writes nothing takes no number of a transaction.
  IF TG_NARGS > 4 AND TG_OP <> 'TRUNCATE' THEN
    BEGIN
      IF TG_LEVEL = 'ROW' THEN
        PERFORM pg_catalog.to_jsonb(OLD.*), pg_catalog.to_jsonb(NEW.*);
      ELSE
        IF TG_OP <> 'INSERT' THEN
          PERFORM pg_catalog.count(pg_catalog.to_jsonb(rows.*)) FROM "crud:old" AS rows;
        END IF;
        IF TG_OP <> 'DELETE' THEN
          PERFORM pg_catalog.count(pg_catalog.to_jsonb(rows.*)) FROM "crud:new" AS rows;
        END IF;
      END IF;
    EXCEPTION WHEN ${UNSOUND} THEN
      isSound := false;
      isWhole := false;
    END;
  END IF;
  IF isWhole AND TG_OP = 'UPDATE' AND TG_LEVEL = 'STATEMENT' THEN
    ${insert(`${first('old')} AS o, ${first('new')} AS n`, ['n.row_id', "'u'", CONTEXT, ...whole])} AND o.row_id = n.row_id AND NOT EXISTS (SELECT FROM "crud:new" OFFSET 1);
    IF FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  DECLARE
    key text[] := TG_ARGV[1];
    excluded text[] := TG_ARGV[2];
    kept text[] := nullif(TG_ARGV[3], '');
    context jsonb := ${CONTEXT};
  BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    INSERT INTO %1$I.crud_changes (source, row_id, op, context) VALUES (TG_ARGV[0], '', 't', context);
  ELSIF TG_LEVEL = 'ROW' THEN
    ${insertion(pairs(rowOf))}
  ELSIF TG_OP = 'INSERT' THEN
    ${insertion((rowId, isSound) => `${empty} AS o, ${imagesOf(tableOf('new', isSound), rowId)} AS n`)}
  ELSIF TG_OP = 'UPDATE' THEN
    ${insertion(pairs(tableOf))}
  ELSE
    ${insertion((rowId, isSound) => `${imagesOf(tableOf('old', isSound), rowId)} AS o, ${empty} AS n`)}
  END IF;
  RETURN NULL;
  END;
END $function$;
REVOKE ALL ON FUNCTION %1$I.${FUNCTION}() FROM PUBLIC;
${SOUND_DEFINITION}`;
  return inSchemaOf(changes, text);
}

/** The writer, from a setting of the transaction. */
export const CONTEXT = "nullif(pg_catalog.current_setting('crud.context', true), '')::jsonb";

/** Settings of functions that make texts of values. */
export const SETTINGS =
  `SET search_path = pg_catalog, pg_temp SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO' SET "IntervalStyle" = 'postgres' ` +
  "SET extra_float_digits = 1 SET bytea_output = 'hex'";

/** A statement that creates functions in the schema of the changes. @param text with `%1$I` for its name */
export function inSchemaOf(changes: string, text: string): string {
  return `DO $crud$
BEGIN
  EXECUTE format($format$${text}$format$, (SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = '${changes}'::regclass));
END $crud$`;
}
