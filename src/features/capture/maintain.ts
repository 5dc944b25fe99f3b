/** The command `maintain`: makes partitions of stored changes, and removes those that are older than their retention. */
import type { Sequelize } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { hasState } from '../../errors/database-fault.js';
import { selectCatalogue } from '../../inspect/catalogue.js';
import { ConfigError } from '../../util/config-error.js';
import { groupBy } from '../../util/memo.js';
import { changesOf, historyOf, isCaptured } from './capture-options.js';
import { partitionsDefinition } from './capture-sql.js';
import { changeTables, sourceOf } from './change-table.js';
import { Ticks } from './ticks.js';

/** Rows that one statement removes: it is short, and so are its locks. */
const BATCH = 1_000;

/** Writes and reads of changes wait behind a statement that waits for a lock on their table. */
const PATIENCE = "SET LOCAL lock_timeout = '1s';";

/** Maintains the tables of an application. @returns a line for each @throws ConfigError where the user may not maintain one */
export async function maintainChanges(plans: readonly ResourcePlan[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [sequelize, own] of groupBy(plans.filter(isCaptured), ({ model }) => model.sequelize))
    for (const [table, stored] of groupBy(own, ({ model }) => changeTables(model).changes))
      lines.push(`${table}: ${await maintain(sequelize, stored).catch((error) => refuse(table, error))}`);
  return lines;
}

function refuse(table: string, error: unknown): never {
  if (!hasState(error, '42501')) throw error;
  throw new ConfigError([
    `${table} was not maintained: ${(error as Error).message}; run maintain with the address of the role that owns ${table}.`,
  ]);
}

/** Maintains a table of changes. @param plans of the resources that store there */
async function maintain(sequelize: Sequelize | undefined, plans: readonly ResourcePlan[]): Promise<string> {
  const [{ info, model }] = plans as readonly [ResourcePlan];
  const { changes, ticks } = changeTables(model);
  const select = <R extends object>(text: string, values: readonly unknown[]) =>
    selectCatalogue<R>(sequelize, text, values);
  const isReady = await sequelize?.query(PATIENCE + partitionsDefinition({ model })).catch(isInUse);
  // Changes that nobody has followed: a cursor goes on behind them until they have been in a tick for as long as they are kept.
  const [ticked] = await select(`SELECT 1 AS found FROM ${ticks} LIMIT 1`, []);
  if (ticked) await new Ticks(info, false).beat(null);
  /** The snapshot of a tick that sees no more than any cursor with which a feed goes on. */
  const snapshotFor = async (own: readonly ResourcePlan[]): Promise<string | null> => {
    const feeds = own.filter((each) => changesOf(each) !== null).map(retentionOf);
    if (feeds.length === 0) return null;
    const [found] = await select<{ snap: string }>(passed(ticks), [feeds]);
    return found?.snap ?? null;
  };
  let parts = 0;
  let used = 0;
  const retentions = plans.map(retentionOf);
  if (!retentions.includes(null)) {
    const old = await select<{ part: string }>(PARTS, [changes, retentions]);
    const snap = await snapshotFor(plans);
    for (const { part } of old) {
      const [other] = await select(
        `SELECT 1 AS found FROM ${part} WHERE source <> ALL ($1) OR NOT ${isSeen('$2')} LIMIT 1`,
        [plans.map(sourceOf), snap],
      );
      if (other) continue;
      const isDropped = await sequelize?.query(`${PATIENCE} DROP TABLE ${part}`).catch(isInUse);
      if (isDropped) parts += 1;
      else used += 1;
    }
  }
  let rows = 0;
  for (const [source, own] of groupBy(plans, sourceOf)) {
    const ages = own.map(retentionOf);
    if (ages.includes(null)) continue;
    const snap = await snapshotFor(own);
    for (let behind: string | null = '-infinity'; behind !== null; ) {
      const values: unknown[] = [source, ages, behind, snap];
      const [batch] = await select<{ rows: string; last: string | null }>(removal(changes), values);
      rows += Number(batch?.rows);
      behind = batch?.last ?? null;
    }
  }
  const feeds = plans.flatMap((each) => changesOf(each)?.retention ?? []);
  let gone = 0;
  for (let count = feeds.length > 0 ? BATCH : 0; count === BATCH; gone += count) {
    const [batch] = await select<{ rows: string }>(tickRemoval(ticks), [feeds]);
    count = Number(batch?.rows);
  }
  const left = [
    ...(isReady ? [] : ['; the months to come are left for the next run, because the table is in use']),
    ...(used > 0 ? [`; ${used} months are in use, and left for the next run`] : []),
  ].join('');
  return `${rows} changes, ${parts} months and ${gone} ticks removed${left}`;
}

/** An interval of PostgreSQL; null is for ever. */
function retentionOf(plan: ResourcePlan): string | null {
  const history = historyOf(plan);
  return history ? history.retention : (changesOf(plan)?.retention ?? null);
}

/** The longest of several intervals before now: array of intervals. */
const limit = (parameter: string): string =>
  `(SELECT min(now() - each) FROM unnest(${parameter}::interval[]) AS each)`;

/** Partitions of months that are over for all: the table, intervals. */
const PARTS =
  `SELECT inhrelid::regclass::text AS part FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = $1::regclass ` +
  String.raw`AND relname ~ '_\d{4}_\d{2}$' AND ` +
  `(to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') AT TIME ZONE 'UTC' <= ${limit('$2')}`;

/** @returns false where the lock was not there in time @throws all other errors */
function isInUse(error: unknown): false {
  if (hasState(error, '55P03')) return false;
  throw error;
}

/** True for a change that a snapshot sees, or that has been restored from another cluster; a text, null sees all. */
const isSeen = (snapshot: string): string =>
  `(${snapshot}::pg_snapshot IS NULL OR pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot) OR xid >= pg_snapshot_xmax(pg_current_snapshot()))`;

/** Removes changes from the oldest on: source, intervals, the moment that was reached before, a snapshot that has seen them. */
function removal(changes: string): string {
  return (
    `WITH old AS (SELECT at, id FROM ${changes} WHERE source = $1 AND at >= $3::timestamptz AND at < ${limit('$2')} AND ${isSeen('$4')} ` +
    `ORDER BY at LIMIT ${BATCH}), ` +
    `gone AS (DELETE FROM ${changes} AS c USING old WHERE c.at = old.at AND c.id = old.id RETURNING c.at) ` +
    'SELECT count(*) AS rows, max(at)::text AS last FROM gone'
  );
}

/** The last tick that is as old as that, before which no feed goes on, or else the first one: intervals. */
function passed(ticks: string): string {
  return `SELECT snap::text AS snap FROM ${ticks} WHERE at < ${limit('$1')} OR n = (SELECT min(n) FROM ${ticks}) ORDER BY n DESC LIMIT 1`;
}

/** Removes ticks before the last one that is as old as that: intervals. */
function tickRemoval(ticks: string): string {
  return (
    `WITH gone AS (DELETE FROM ${ticks} WHERE n IN (SELECT n FROM ${ticks} WHERE n < (SELECT max(n) FROM ${ticks} WHERE at < ${limit('$1')}) ` +
    `ORDER BY n LIMIT ${BATCH}) RETURNING 1) SELECT count(*) AS rows FROM gone`
  );
}
