/**
 * Effects of a table on writes that their statements do not show. `RETURNING` returns a row as it is before the AFTER
 * triggers. Triggers of single columns also run for columns that are set to the values that they have.
 * A trigger of the user's may have effects that a rollback does not undo, so no write of such tables is tried twice.
 * Constraints that are checked at the commit would see other writes of the same transaction.
 */
import type { Sequelize } from 'sequelize';
import { keptIn } from '../../util/memo.js';

/** A write of one row, as PostgreSQL sees it: a soft delete is an update. */
export type RowWrite = 'insert' | 'update' | 'delete';

/** Their bits in `pg_trigger.h`. */
const ROW_WRITES: readonly (readonly [RowWrite, number])[] = [
  ['insert', 4],
  ['delete', 8],
  ['update', 16],
];

/** The triggers of a table, and rules that act like one. */
export interface TableTriggers {
  /** True where a row may differ from the result of its UPDATE. */
  readonly hideUpdates: boolean;
  /** True where a write may have effects that the statement does not show, now or at the commit. */
  readonly areThere: boolean;
  /** True for a table without rules: a view may write anything else. */
  readonly isPlain: boolean;
  /** Writes of a row that the table may leave out: a trigger before them returns NULL, or a rule or a view does something else. */
  readonly dropped: ReadonlySet<RowWrite>;
  /**
   * True where a trigger runs for updates of some columns: those that a statement sets, with whatever values; and where one skips an
   * UPDATE that changes nothing.
   */
  readonly watchColumns: boolean;
  /** True where a trigger of any kind runs for writes of the table, beside those of foreign keys. */
  readonly haveTriggers: boolean;
  /** True where a trigger may change the values of a new row. */
  readonly changeInserts: boolean;
  /** True where a new row may differ from the result of its INSERT. */
  readonly hideInserts: boolean;
  /** True where a unique value may be checked at the commit; `ON CONFLICT` refuses such a table. */
  readonly haveLateKeys: boolean;
  /** The sequences of the keys of new rows, as their identifiers, by column. One that may not be drawn from is left out. */
  readonly sequences: Readonly<Record<string, string>>;
}

/** The facts of a table that does not exist. */
export const NO_TRIGGERS: TableTriggers = Object.freeze({
  hideUpdates: false,
  areThere: false,
  isPlain: true,
  dropped: new Set<RowWrite>(),
  watchColumns: false,
  haveTriggers: false,
  changeInserts: false,
  hideInserts: false,
  haveLateKeys: false,
  sequences: Object.freeze({}),
});

/** True for the function of PostgreSQL that skips an UPDATE which changes nothing, so that no row of it is counted. */
const SKIPS = "lanname = 'internal' AND prosrc = 'suppress_redundant_updates_trigger'";

/**
 * The writes, as bits, whose row a function of PL/pgSQL always keeps: each RETURN is one of NEW, or each is one of OLD, which keeps
 * no update. Each other mention of the two reads them: a field, an argument, or a side of IS DISTINCT FROM. Any other one may put
 * another row, or none, in their place, or be the name of a variable. Triggers that keep a moment of the last change are such
 * functions. Comments count as code. A row whose redundant UPDATE is skipped is as it was to be.
 */
const KEPT = `CASE
      WHEN ${SKIPS} THEN 16
      WHEN lanname <> 'plpgsql' OR prosrc ~* '(?<!\\m(return|distinct\\s+from)\\s+)\\m(new|old)\\M(?!\\s*[.)]|\\s+is\\M)|\\mcall\\M|u&"' THEN 0
      WHEN prosrc !~* '\\mreturn\\M(?!\\s+new\\s*;)' THEN 4 + 16
      WHEN prosrc !~* '\\mreturn\\M(?!\\s+old\\s*;)' THEN 8
      ELSE 0 END`;

/** Names of triggers of this library: they run afterwards, change no row, and a rollback undoes what they do. */
export const OBSERVERS = 'crud\\_capture\\_%';

/**
 * With partitions; views and foreign tables may do anything. 1, 2, 4, 8 and 16 are ROW, BEFORE, INSERT, DELETE and UPDATE (`pg_trigger.h`). A foreign key
 * that refers to its own table may have the row follow itself, unless it is the primary key that it follows.
 */
const TRIGGERS = `
  WITH RECURSIVE part (id) AS (
    SELECT to_regclass($1)::oid UNION SELECT inhrelid FROM pg_inherits JOIN part ON inhparent = id)
  SELECT max(CASE
    WHEN relkind NOT IN ('r', 'p') OR relhasrules OR tgtype & 16 <> 0 AND (tgtype & 2 = 0 OR tgattr <> '' OR ${SKIPS})
      OR EXISTS (
        SELECT FROM pg_constraint JOIN pg_index ON indexrelid = conindid
        WHERE conrelid = id AND confrelid = id AND confupdtype NOT IN ('a', 'r') AND NOT indisprimary) THEN 2
    WHEN tgrelid IS NOT NULL OR EXISTS (
      SELECT FROM pg_constraint
      WHERE conrelid = id AND condeferrable
        OR confrelid = id AND (condeferrable OR confupdtype NOT IN ('a', 'r'))) THEN 1
    ELSE 0 END) AS kind,
    bit_or(CASE
      WHEN relkind NOT IN ('r', 'p') OR relhasrules THEN 1 + 2 + 28 + 128
      WHEN tgtype & 3 = 3 THEN tgtype & 28 & ~(${KEPT}) | CASE WHEN tgtype & 4 <> 0 THEN 2 ELSE 0 END
      ELSE 0 END | CASE WHEN tgtype & 16 <> 0 AND (tgattr <> '' OR ${SKIPS}) THEN 32 ELSE 0 END
      | CASE WHEN tgrelid IS NOT NULL THEN 64 ELSE 0 END | CASE WHEN tgtype & 6 = 4 THEN 128 ELSE 0 END) AS dropped,
    (SELECT json_object_agg(attname, seqrelid::text)::text
      FROM (
        SELECT attname, objid AS made FROM pg_attribute JOIN pg_depend
          ON refclassid = 'pg_class'::regclass AND refobjid = attrelid AND refobjsubid = attnum
        WHERE attrelid = to_regclass($1) AND attidentity <> '' AND classid = 'pg_class'::regclass AND deptype = 'i'
        UNION ALL
        SELECT attname, refobjid FROM pg_attrdef
          JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
          JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid
        WHERE adrelid = to_regclass($1) AND attgenerated = '' AND refclassid = 'pg_class'::regclass
          AND pg_get_expr(adbin, adrelid) LIKE 'nextval(''%''::regclass)'
          AND pg_get_expr(adbin, adrelid) NOT LIKE '%(%(%'
      ) AS keys JOIN pg_sequence ON seqrelid = made
      WHERE has_sequence_privilege(seqrelid, 'USAGE')) AS sequences,
    max(CASE WHEN EXISTS (
      SELECT FROM pg_constraint WHERE conrelid = id AND condeferrable AND contype IN ('p', 'u', 'x')) THEN 1 ELSE 0 END) AS late
  FROM part JOIN pg_class ON pg_class.oid = id LEFT JOIN pg_trigger ON tgrelid = id AND NOT tgisinternal AND tgname NOT LIKE '${OBSERVERS}'
    LEFT JOIN pg_proc ON pg_proc.oid = tgfoid LEFT JOIN pg_language ON pg_language.oid = prolang`;

/** Sends a query with values for its parameters to the primary; resolves with the rows. */
type QueryPrimary = (text: string, values: string[]) => Promise<readonly object[]>;

interface KnownTriggers {
  readonly triggers: TableTriggers;
  /** Time of the query that has read it, or of the next one under way. */
  readAt: number;
}

/** Milliseconds after which a table is read again: a migration may have come meanwhile. */
const MAX_AGE = 30_000;

const tables = new WeakMap<Sequelize, Map<string, KnownTriggers>>();

/** First queries that hold no connection, by the answers of their instance and by table. */
const firstQueries = new WeakMap<object, Map<string, Promise<TableTriggers>>>();

/**
 * The triggers of the table, quoted; read until there is an answer, and again when that is old. Before the first answer each
 * transaction reads them itself: one that waited for another could hold the connection that the other one needs. Writes
 * that hold no connection share one query. An old answer is read again by one write, and serves the others until then.
 *
 * @param isAlone the caller holds no connection
 */
export function tableTriggers(
  sequelize: Sequelize,
  table: string,
  queryPrimary: QueryPrimary,
  isAlone = false,
): TableTriggers | Promise<TableTriggers> {
  const known = tables.get(sequelize)?.get(table);
  const now = performance.now();
  if (known && now - known.readAt < MAX_AGE) return known.triggers;
  if (known) known.readAt = now;
  const answers = keptIn(tables, sequelize, () => new Map<string, KnownTriggers>());
  if (known || !isAlone) return find(answers, table, queryPrimary);
  const queries = keptIn(firstQueries, answers, () => new Map<string, Promise<TableTriggers>>());
  return keptIn(queries, table, () =>
    find(answers, table, queryPrimary).finally(() => queries.delete(table)),
  );
}

/** Holder of facts that follow from tables. */
interface TableWatcher {
  /** Called whenever a statement has met a table that was changed since it was prepared. */
  readChanges(sequelize: Sequelize): void;
}

/** Watchers by instance. An application does not say that it is no longer used, so none is kept for its instance. */
const watchers = new WeakMap<Sequelize, readonly WeakRef<TableWatcher>[]>();

/** Calls a watcher back, as long as others hold it. */
export function watchTables(sequelize: Sequelize, watcher: TableWatcher): void {
  const others = (watchers.get(sequelize) ?? []).filter((each) => each.deref() !== undefined);
  watchers.set(sequelize, [...others, new WeakRef(watcher)]);
}

/** Forgets the triggers of all tables of the instance, because the catalogue has another table than before. */
export function forgetTriggers(sequelize: Sequelize): void {
  tables.delete(sequelize);
}

/** Forgets them because a statement has met a table that was changed, and has its watchers read their facts again. */
export function reportChangedTable(sequelize: Sequelize): void {
  forgetTriggers(sequelize);
  for (const watcher of watchers.get(sequelize) ?? []) watcher.deref()?.readChanges(sequelize);
}

/** @param answers those of the instance, or none of it when they were forgotten meanwhile */
async function find(
  answers: Map<string, KnownTriggers>,
  table: string,
  queryPrimary: QueryPrimary,
): Promise<TableTriggers> {
  const readAt = performance.now();
  const [row = {}] = await queryPrimary(TRIGGERS, [table]).catch((error: unknown) => {
    answers.delete(table);
    throw error;
  });
  const [kind, dropped, sequences, late] = Object.values(row);
  // The table is not there, or not yet.
  if (kind === null) {
    answers.delete(table);
    return NO_TRIGGERS;
  }
  const triggers: TableTriggers = Object.freeze({
    hideUpdates: Number(kind) > 1,
    areThere: Number(kind) > 0,
    isPlain: (Number(dropped) & 1) === 0,
    watchColumns: (Number(dropped) & 32) !== 0,
    haveTriggers: (Number(dropped) & 64) !== 0,
    changeInserts: (Number(dropped) & 2) !== 0,
    hideInserts: (Number(dropped) & 128) !== 0,
    dropped: new Set(ROW_WRITES.flatMap(([write, bit]) => ((Number(dropped) & bit) === 0 ? [] : write))),
    haveLateKeys: Number(late) > 0,
    sequences: Object.freeze(JSON.parse(sequences ?? '{}') as Record<string, string>),
  });
  answers.set(table, { triggers, readAt });
  return triggers;
}
