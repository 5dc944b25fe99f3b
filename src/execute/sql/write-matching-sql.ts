/** Statements that write all rows of a predicate, up to a number of them. Nothing is written unless all rows can be. */

import type { DeletionMark } from '../../operation/operation.js';
import type { Predicate, Slot } from '../../request/query/predicate.js';
import type { GivenColumn } from './parameter-arrays.js';
import { compilePredicate } from './predicate-sql.js';
import { type TableSql, whereSql } from './select-sql.js';
import { identifier, joinSql, raw, type SqlFragment, sql } from './sql-fragment.js';
import { type Statement, toStatement } from './statement.js';
import { changesSql, differsSql, markSql } from './write-sql.js';

/** Names that no model has. */
const FOUND = raw(identifier('.found'));
const JUDGED = raw(identifier('.judged'));
const WRITTEN = raw(identifier('.written'));
const COUNTED = raw(identifier('.counted'));

/** Maximum number of rows that may be written. */
export const MAXIMUM: Slot = Object.freeze({ slot: 'many.maximum' });

/** An UPDATE of all rows of a predicate. */
interface UpdateMatchingSql {
  readonly set: readonly GivenColumn['attribute'][];
  /** Null is every row. */
  readonly where: Predicate | null;
  /** Condition that all of them have to meet; null is none. */
  readonly allowed: Predicate | null;
  readonly references: readonly Predicate[];
  /** True where a row that has the values already is written, too. Default: false. */
  readonly always?: boolean | undefined;
}

/**
 * Changes rows; only one that differs is written. The columns are the number of rows found, up to one too many, and the number written.
 * Where there is a condition on all rows, the next one is true if all meet it. Then follows for each reference true if it exists.
 */
export function compileUpdateMatching(table: TableSql, update: UpdateMatchingSql): Statement {
  const { source, column } = table;
  const { set, always } = update;
  if (set.length === 0) return writeMatching(table, update, 'NO KEY UPDATE', null);
  return writeMatching(table, update, 'NO KEY UPDATE', {
    head: sql`UPDATE ${source} SET ${changesSql(table, set)} FROM ${FOUND}`,
    condition: differsSql(set, column, always),
  });
}

/**
 * Deletes rows, or marks them. The columns are the same. The statement fails with `LEFT_BEHIND` where it leaves one of the rows that it
 * should write: a policy FOR DELETE does not hide it from the lock, and skips it in silence.
 *
 * @param ended condition on those of the rows that end, of which the caller compares the number; null is all of them
 */
export function compileDeleteMatching(
  table: TableSql,
  rows: Pick<UpdateMatchingSql, 'where' | 'allowed'>,
  mark: DeletionMark | null,
  ended: Predicate | null,
): Statement {
  const { source, column } = table;
  const head =
    mark === null
      ? sql`DELETE FROM ${source} USING ${FOUND}`
      : sql`UPDATE ${source} SET ${markSql(table, mark)} FROM ${FOUND}`;
  const lock = mark === null && ended === null ? 'UPDATE' : 'NO KEY UPDATE';
  const condition = ended && compilePredicate(ended, column);
  return writeMatching(table, { ...rows, references: [] }, lock, { head, condition, isWhole: !ended });
}

/** SQLSTATE of a text that is no number: of a delete that has left a row. */
export const LEFT_BEHIND = '22P02';

interface MatchingWrite {
  readonly head: SqlFragment;
  /** Condition on the rows that are written, judged once they are locked: the statement itself sees those from before it waited. Null is all. */
  readonly condition: SqlFragment | null;
  /** True where the statement fails unless it writes all rows. Default: false. */
  readonly isWhole?: boolean;
}

function writeMatching(
  { info, source, column }: TableSql,
  { where, allowed, references }: Pick<UpdateMatchingSql, 'where' | 'allowed' | 'references'>,
  lock: 'UPDATE' | 'NO KEY UPDATE',
  write: MatchingWrite | null,
): Statement {
  const keys = info.primaryKey.map(({ name }) => column(name));
  const found = keys.map((part, index) => sql`${part} AS ${raw(`k${index}`)}`);
  const conditions = whereSql(where === null ? [] : [compilePredicate(where, column)]);
  // Two statements that lock the same rows do so in one order.
  const may = allowed === null ? raw('') : sql`, (${compilePredicate(allowed, column)}) IS TRUE AS may`;
  const condition = write?.condition ? sql`, (${write.condition}) AS writes` : raw('');
  const rows = sql`SELECT ${joinSql(found, ', ')}${may}${condition} FROM ${source}${conditions} ORDER BY ${joinSql(keys, ', ')} LIMIT ${MAXIMUM}::int8 + 1 FOR ${raw(lock)} OF ${raw(identifier(info.name))}`;
  const marks = [
    ...(allowed === null ? [] : [raw('coalesce(bool_and(may), true)')]),
    ...references.map((each) => compilePredicate(each, column)),
  ].map((mark, index) => ({ mark, name: raw(`r${index}`) }));
  const named = marks.map(({ mark, name }) => sql`${mark} AS ${name}`);
  const judged = sql`SELECT ${joinSql([raw('count(*) AS found'), ...named], ', ')} FROM ${FOUND}`;
  const shown = joinSql(
    marks.map(({ name }) => sql`, ${name}`),
    '',
  );
  const tables = sql`WITH ${FOUND} AS MATERIALIZED (${rows}), ${JUDGED} AS MATERIALIZED (${judged})`;
  if (!write) return toStatement(sql`${tables} SELECT found, 0${shown} FROM ${JUDGED}`);
  const all = joinSql([sql`found <= ${MAXIMUM}::int8`, ...marks.map(({ name }) => name)], ' AND ');
  const written = whereSql([
    ...keys.map((part, index) => sql`${part} = ${FOUND}.${raw(`k${index}`)}`),
    sql`(SELECT ${all} FROM ${JUDGED})`,
    ...(write.condition ? [sql`${FOUND}.writes`] : []),
  ]);
  const count = write.isWhole
    ? sql`CASE WHEN written < found AND ${all} THEN format('%s of %s rows were written', written, found)::int8 ELSE written END`
    : raw('written');
  return toStatement(
    sql`${tables}, ${WRITTEN} AS (${write.head}${written} RETURNING 1) SELECT found, ${count}${shown} FROM ${JUDGED}, (SELECT count(*) AS written FROM ${WRITTEN}) AS ${COUNTED}`,
  );
}
