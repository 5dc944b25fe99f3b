/** The statements of a record's history: where its record is now, and its changes as a request may see them. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { placedColumns } from '../../execute/session/select-values.js';
import { arrayLiteral } from '../../execute/sql/encode-parameter.js';
import { columnsOf, compilePredicate, selectedCast } from '../../execute/sql/predicate-sql.js';
import {
  identifier,
  joinSql,
  raw,
  type SqlFragment,
  sql,
  tableSource,
} from '../../execute/sql/sql-fragment.js';
import type { Access } from '../../operation/access.js';
import { allOf, byKey, scopedRows } from '../../operation/predicates.js';
import type { Predicate } from '../../request/query/predicate.js';
import { quoteText } from '../../util/quote-text.js';
import { historyOf } from '../capture/capture-options.js';
import { changeTables, keyRow, keyText, rowIdSql, sourceOf } from '../capture/change-table.js';
import { imageCondition, imageRow, momentSql } from '../capture/image-sql.js';
import { imageSql, leftOutSql } from '../capture/renamed-columns.js';
import { soundImage } from '../capture/sound-image.js';
import { rowsAsked } from '../soft-delete/deletion.js';

type Past = Pick<ResourcePlan, 'info' | 'model' | 'features'>;

const TRUE = raw('true');

/** The rows that a request sees, also in images of them. */
export function rowsSeen({ info }: Past, { where }: Pick<Access, 'where'>): Predicate | null {
  return allOf(where, scopedRows(info));
}

/** Selects the row with the id of the slots: its `row_id`, and whether it is alive and seen. */
export function rowNowSql(plan: Past, access: Access): SqlFragment {
  const { info } = plan;
  const column = columnsOf(info, info.name);
  const test = (rows: Predicate | null) => (rows ? sql`(${compilePredicate(rows, column)}) IS TRUE` : TRUE);
  const seen = rowsSeen(plan, access);
  // Another key than the primary one may be that of several rows, of which the request sees one.
  const rows = allOf(byKey(info.address), info.address === info.primaryKey ? null : seen);
  return joinSql(
    [
      sql`SELECT ${placedColumns([rowIdSql(info, info.name), test(aliveRows(plan)), test(seen)])}`,
      sql`FROM ${tableSource(info, info.name)} WHERE ${compilePredicate(rows, column)} LIMIT 2`,
    ],
    ' ',
  );
}

function aliveRows({ info }: Past): Predicate | null {
  return info.softDelete ? rowsAsked(info) : null;
}

/**
 * Selects the last change of a row that the request sees: its `row_id`, and whether the row has left its sight then, and was not deleted.
 * Later changes decide nothing: the answer would tell that they were made.
 *
 * @param id texts by column @param known its `row_id`; null where PostgreSQL makes it of the texts
 */
export function lastSeenSql(
  plan: Past,
  access: Access,
  id: Readonly<Record<string, string>>,
  known: string | null,
): SqlFragment {
  const { info, model } = plan;
  const { address, primaryKey } = info;
  const seen = rowsSeen(plan, access);
  const isOf = (rows: Predicate | null, image: string) => imageCondition(info, rows, raw(image));
  const made = (text: SqlFragment) => sql`(SELECT ${text} FROM ${keyRow(model, id)} AS k)`;
  // An index can be over values of the stored image alone.
  const stored = raw(Object.keys(historyOf(plan)?.renamed ?? {}).length === 0 ? 'c.old' : 'i.old');
  const own = address.map(
    (part) => sql`${stored} ->> ${raw(quoteText(part.column))} = ${made(keyText(part, 'k'))}`,
  );
  const column = columnsOf(info, 'now');
  const now = sql`SELECT 1 FROM ${tableSource(info, 'now')} WHERE ${rowIdSql(info, 'now')} = c.row_id AND ${seen ? compilePredicate(seen, column) : TRUE}`;
  const rows =
    known !== null || address === primaryKey
      ? sql`c.row_id = ${known ?? made(rowIdSql(info, 'k'))}`
      : sql`c.op = 'd' AND ${joinSql(own, ' AND ')} AND NOT EXISTS (${now})`;
  return joinSql(
    [
      sql`SELECT ${placedColumns([raw('c.row_id'), sql`i.new IS NOT NULL AND NOT s.new AND ${isOf(aliveRows(plan), 'i.old')}`])}`,
      sql`FROM ${raw(changeTables(model).changes)} AS c ${imagesSql(plan)}`,
      sql`CROSS JOIN LATERAL (SELECT ${isOf(seen, 'i.old')} AS old, ${isOf(seen, 'i.new')} AS new OFFSET 0) AS s`,
      sql`WHERE c.source = ${sourceOf(plan)} AND ${rows} AND (s.old OR s.new) ORDER BY c.id DESC LIMIT 1`,
    ],
    ' ',
  );
}

/** The images of a change `c`, with the columns of today, as `i`. */
function imagesSql(plan: Past): SqlFragment {
  return sql`CROSS JOIN LATERAL (SELECT ${imageSql(plan, 'c.old')} AS old, ${imageSql(plan, 'c.new')} AS new OFFSET 0) AS i`;
}

/** Choice of changes. */
export interface ChangeChoice {
  readonly rowId: string;
  /** Columns whose values are shown: a change that touches none of them is left out. */
  readonly columns: readonly string[];
  /** Columns that are named where their values are not stored. */
  readonly named: readonly string[];
  /** From this change on, in the direction of the order; null is from the end. */
  readonly place: { readonly id: string; readonly isInclusive: boolean } | null;
  readonly isDescending: boolean;
  readonly limit: number;
}

/**
 * Selects changes as a request sees them. An image that it does not see is NULL before anything is made of it, so that no part of the
 * statement can read it.
 */
export function changesSql(plan: Past, access: Access, choice: ChangeChoice): SqlFragment {
  const { info, model } = plan;
  const { rowId: row, place, isDescending, limit } = choice;
  const columns = textArray(choice.columns);
  const seen = rowsSeen(plan, access);
  const seenOf = (image: string) =>
    sql`CASE WHEN ${imageCondition(info, seen, raw(image))} THEN ${raw(image)} END`;
  const order = raw(isDescending ? 'DESC' : 'ASC');
  const compared = raw(`${isDescending ? '<' : '>'}${place?.isInclusive ? '=' : ''}`);
  const behind = place ? sql` AND c.id ${compared} ${place.id}::bigint` : raw('');
  const differs = sql`EXISTS (SELECT 1 FROM unnest(${columns}) AS k WHERE s.old -> k IS DISTINCT FROM s.new -> k)`;
  const alive = aliveRows(plan);
  const isAlive = (image: string) => imageCondition(info, alive, raw(image));
  const values = storedAttributes(info);
  const head = [
    sql`'at', ${momentSql(raw('e.at'))}, 'of', ${revertedTo(plan, seen, row)}, 'leftOut', e.left_out`,
    ...['actor', 'operation', 'request_id'].map((name) => raw(`'${name}', e.context ->> '${name}'`)),
    sql`'before', ${storedTexts('old', 'new', columns)}, 'after', ${storedTexts('new', 'old', columns)}`,
    sql`'hasOld', e.old IS NOT NULL, 'wasAlive', ${isAlive('e.old')}, 'hasNew', e.new IS NOT NULL, 'isAlive', ${isAlive('e.new')}`,
  ];
  const shown = [
    raw('e.id::text'),
    sql`json_build_object(${joinSql(head, ', ')})`,
    ...['old', 'new'].flatMap((side) =>
      values.map((each) => raw(`"crud:${side}".${identifier(each.column)}${selectedCast(each)}`)),
    ),
  ];
  return joinSql(
    [
      sql`SELECT ${placedColumns(shown)} FROM (`,
      sql`SELECT c.id, c.at, c.context, s.old, s.new, l.left_out FROM ${raw(changeTables(model).changes)} AS c`,
      imagesSql(plan),
      sql`CROSS JOIN LATERAL (SELECT ${seenOf('i.old')} AS old, ${seenOf('i.new')} AS new OFFSET 0) AS s`,
      // One side of a change says nothing of the other one.
      sql`CROSS JOIN LATERAL (SELECT ARRAY(SELECT k FROM unnest(${leftOutSql(plan, 'c.left_out')}) AS k WHERE k = ANY(${textArray(choice.named)})`,
      sql`AND (c.old IS NOT NULL) = (s.old IS NOT NULL) AND (c.new IS NOT NULL) = (s.new IS NOT NULL)) AS left_out) AS l`,
      sql`WHERE c.source = ${sourceOf(plan)} AND c.row_id = ${row}${behind}`,
      sql`AND (s.old IS NOT NULL OR s.new IS NOT NULL) AND (${differs} OR l.left_out <> '{}')`,
      sql`ORDER BY c.id ${order} LIMIT ${raw(String(limit))}) AS e`,
      sql`CROSS JOIN LATERAL ${imageRow(model, raw('e.old'))} AS "crud:old"`,
      sql`CROSS JOIN LATERAL ${imageRow(model, raw('e.new'))} AS "crud:new" ORDER BY e.id ${order}`,
    ],
    ' ',
  );
}

/** The id of the change that a revert went back to, where the request sees the state after it. */
function revertedTo(plan: Past, seen: Predicate | null, row: string): SqlFragment {
  const id = raw("e.context ->> 'of'");
  const state = sql`SELECT c.id::text FROM ${raw(changeTables(plan.model).changes)} AS c ${imagesSql(plan)}`;
  const isSeen = imageCondition(plan.info, seen, raw('i.new'));
  return sql`CASE WHEN ${id} IS NOT NULL THEN (${state} WHERE c.source = ${sourceOf(plan)} AND c.row_id = ${row} AND c.id::text = ${id} AND ${isSeen} LIMIT 1) END`;
}

/**
 * Selects the state of a record after a change that the request sees, beside its state now, which an index over the address finds. It locks
 * the record. No row where there is no such state.
 */
export function stateSql(plan: Past, access: Access, row: string, change: string): SqlFragment {
  const { info, model } = plan;
  const seen = imageCondition(info, rowsSeen(plan, access), raw('i.new'));
  const keys = (condition: string) =>
    raw(`to_jsonb(ARRAY(SELECT k FROM jsonb_object_keys(e.new) AS k WHERE ${condition}))`);
  // Behind a lock that was waited for, PostgreSQL evaluates expressions of the row again, and no items of FROM.
  const now = sql`(SELECT ${soundImage(model, 'crud:now')} AS image OFFSET 0) AS s`;
  const shown = [
    raw('(SELECT jsonb_object_agg(key, value::text) FROM jsonb_each(e.new))'),
    keys('NOT to_jsonb("crud:new") ? k'),
    sql`(SELECT ${keys('to_jsonb("crud:new") -> k IS DISTINCT FROM s.image -> k')} FROM ${now})`,
    ...storedAttributes(info).map((each) =>
      raw(`"crud:new".${identifier(each.column)}${selectedCast(each)}`),
    ),
  ];
  return joinSql(
    [
      sql`SELECT ${placedColumns(shown)} FROM ${raw(changeTables(model).changes)} AS c ${imagesSql(plan)}`,
      sql`CROSS JOIN LATERAL (SELECT CASE WHEN ${seen} THEN i.new END AS new OFFSET 0) AS e`,
      sql`CROSS JOIN LATERAL ${imageRow(model, raw('e.new'))} AS "crud:new"`,
      sql`CROSS JOIN ${tableSource(info, 'crud:now')}`,
      sql`WHERE c.source = ${sourceOf(plan)} AND c.row_id = ${row} AND c.id = ${change}::bigint`,
      sql`AND e.new IS NOT NULL AND ${compilePredicate(byKey(info.address), columnsOf(info, 'crud:now'))}`,
      sql`AND ${rowIdSql(info, 'crud:now')} = ${row} FOR NO KEY UPDATE OF "crud:now"`,
    ],
    ' ',
  );
}

/** The stored texts of values on one side, by column: of those that differ from the other side. */
function storedTexts(side: string, other: string, columns: SqlFragment): SqlFragment {
  const own = `e.${side}`;
  return sql`(SELECT jsonb_object_agg(k, (${raw(own)} -> k)::text) FROM unnest(${columns}) AS k WHERE ${raw(own)} -> k IS DISTINCT FROM ${raw(`e.${other}`)} -> k AND ${raw(own)} ? k)`;
}

function textArray(names: readonly string[]): SqlFragment {
  return sql`${arrayLiteral(names)}::text[]`;
}
