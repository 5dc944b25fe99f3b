/** Judges events by the rows that a request may see: the old and the new image of a row, by the conditions that a list has. One rule covers scopes, soft deletion and `q`. */
import { hash } from 'node:crypto';
import type { Request } from 'express';
import { requestSettings } from '../../access/row-security.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { checkChoice } from '../../describe/hooks-and-scopes-internals.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import { columnsOf } from '../../execute/sql/predicate-sql.js';
import { identifier, joinSql, raw, type SqlFragment, sql } from '../../execute/sql/sql-fragment.js';
import type { Slots } from '../../execute/sql/statement.js';
import type { Resource } from '../../express/resources/resource.js';
import type { AccessForm } from '../../operation/access.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, isOuterValue, scopedRows } from '../../operation/predicates.js';
import { type RequestSettings, runWithSettings } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import { keptIn } from '../../util/memo.js';
import { excludedAttributes } from '../capture/capture-options.js';
import { sourceOf } from '../capture/change-table.js';
import { imageRow, imageTest, momentSql } from '../capture/image-sql.js';
import { imageSql, leftOutSql } from '../capture/renamed-columns.js';
import type { Ticks } from '../capture/ticks.js';
import { type EventRow, eventsOf, type PlacedEvent } from './change-event.js';
import type { Place } from './place.js';

/** Rows of one resource in a tick that have an event each. Where more have changed, there is one event for all of them: `reset`. */
export const MOST = 10_000;

/** Events that a subscriber may see: of one resource, with its conditions and its mask. */
export interface Condition {
  /** The same for conditions that judge alike, and for no others. */
  readonly key: string;
  /** The part of cursors that identifies it. */
  readonly digest: readonly unknown[];
  readonly resource: Resource;
  readonly where: Predicate | null;
  readonly slots: Slots;
  readonly form: AccessForm;
  /** Of row security, for conditions over other tables. */
  readonly settings: RequestSettings | null;
}

/** Events of a window that were judged. */
export interface Judged {
  readonly events: readonly PlacedEvent[];
  /** The last one that was looked at; null where none is behind it. */
  readonly last: bigint | null;
}

/** Numbers of resources: two applications may serve a model, each by rules of its own. */
const numbers = new WeakMap<Resource, number>();
let count = 0;

/** The condition of a request. @throws TypeError where no condition decides about the rows of the list */
export function conditionOf(
  resource: Resource,
  { query, access }: RequestArguments,
  request: Request,
): Condition {
  const { plan, features } = resource;
  checkFollowed(plan);
  const { where } = features.list.operation(query, access) as ListOperation;
  checkStored(resource, query.filter ?? null, access.where);
  const settings = requestSettings(request);
  const digest = [plan.name, ...features.list.digest(query, access), [...access.form.unreadable].sort()];
  const number = keptIn(numbers, resource, () => ++count);
  const key = hash('sha256', JSON.stringify([number, digest, settings?.key ?? null], named), 'hex');
  const rows = allOf(where, scopedRows(plan.info));
  return { key, digest, resource, where: rows, slots: access.slots, form: access.form, settings };
}

/** Another table in a filter, by its name. */
function named(member: string, value: unknown): unknown {
  return member === 'target' ? (value as { readonly name: string }).name : value;
}

/** Refuses a model that has got hooks after the start which choose the rows of its lists. */
function checkFollowed({ model, name }: ResourcePlan): void {
  checkChoice(model, `Changes of ${name} cannot be followed`);
}

/** Refuses conditions on values that images do not have: a row with them would count as one without. */
function checkStored({ plan }: Resource, filter: Predicate | null, rules: Predicate | null): void {
  const virtual = storedAttributes(plan.info).filter(({ found }) => found?.isVirtual);
  const left = [...excludedAttributes(plan), ...virtual].map(({ name }) => name);
  if (left.length === 0) return;
  const find = (predicate: Predicate | null) => predicate && left.find((name) => reads(predicate, name));
  const ruled = find(rules);
  if (ruled)
    throw new TypeError(
      `visible of ${plan.name} reads '${ruled}', whose values are not stored with changes; ${virtual.some(({ name }) => name === ruled) ? 'make its column STORED' : 'name it in history.keep'}.`,
    );
  const asked = find(filter);
  if (!asked) return;
  const detail = `The values of '${asked}' are not stored with changes, so that q cannot be about them here.`;
  throw new InvalidQueryError([{ parameter: 'q', code: 'changes.not-stored', detail }]);
}

/** True where a condition reads an attribute of the row itself. */
function reads(predicate: Predicate, name: string): boolean {
  switch (predicate.kind) {
    case 'comparison':
      return predicate.attribute === name || predicate.attribute.startsWith(`${name}.`);
    case 'sql':
      return predicate.parts.some((part) => isOuterValue(part) && part.attribute === name);
    case 'exists':
      return [predicate, ...(predicate.more ?? [])].some(
        ({ value }) => isOuterValue(value) && value.attribute === name,
      );
    case 'written':
      return false;
    default:
      return predicate.operands.some((each) => reads(each, name));
  }
}

/**
 * Judges the events of a window.
 *
 * @param size how many are looked at
 */
export async function judge(
  condition: Condition,
  ticks: Ticks,
  window: Place,
  size: number,
): Promise<Judged> {
  const { resource, slots, settings } = condition;
  // A stream may have begun before.
  checkFollowed(resource.plan);
  const statement = compileJudgement(condition, ticks, window, size);
  const read = () => ticks.read(statement, slots);
  const run = (work: typeof read) => (settings ? runWithSettings(settings, work) : work());
  let [row = []] = await run(read);
  // A replica answers from its own time.
  if (row[2] !== 'true') [row = []] = await run(() => ticks.readNow(statement, slots));
  if (row[2] !== 'true') throw new Error(`The tick ${window.to.n} is gone.`);
  const [looked, last, , found] = row;
  const rows = JSON.parse(found ?? '[]') as EventRow[];
  const make = eventsOf(resource);
  const events = rows.flatMap((each) => make(condition.form, each));
  return {
    last: Number(looked) < size ? null : BigInt(last ?? 0),
    // A purge of many records erases each of them: the last reset is enough.
    events: events.filter(
      ({ event }, index) => event.op !== 'reset' || events[index + 1]?.event.op !== 'reset',
    ),
  };
}

const COLUMNS = raw('c.id, c.op, c.at, c.old, c.new, c.left_out, c.context');
/** A name that no model has. */
const EVENT = raw(identifier('.event'));

function compileJudgement(
  { resource: { plan }, where }: Condition,
  ticks: Ticks,
  { from, to, after }: Place,
  size: number,
): SqlFragment {
  const { info, model } = plan;
  const column = columnsOf(info, info.name);
  const address = info.address.map(({ name }) => sql`${column(name)}::text`);
  const image = (name: 'old' | 'new') => {
    const stored = sql`${EVENT}.${raw(name)}`;
    const condition = where ? sql` AND ${imageTest(info, where, stored)}` : raw('');
    return sql`LEFT JOIN LATERAL (SELECT json_build_array(${joinSql(address, ', ')}) AS id FROM ${imageRow(model, stored)} AS ${raw(identifier(info.name))} WHERE ${stored} IS NOT NULL${condition}) AS ${raw(identifier(`.${name}`))} ON true`;
  };
  const version =
    plan.entityTag?.kind === 'version' ? info.attributes.get(plan.entityTag.attribute) : undefined;
  const counted = version ? sql`${EVENT}.new ->> ${version.column}` : raw('NULL');
  const changed = sql`ARRAY(SELECT k.key FROM jsonb_each(${EVENT}.new) AS k WHERE ${EVENT}.old -> k.key IS DISTINCT FROM k.value) || coalesce(${EVENT}.left_out, '{}')`;
  const time = momentSql(sql`${EVENT}.at`);
  const row = sql`json_build_array(${EVENT}.id::text, ${EVENT}.op::text, ${time}, ".old".id, ".new".id, CASE WHEN ${EVENT}.op = 'u' THEN to_json(${changed}) ELSE '[]' END, ${counted}, ${EVENT}.context ->> 'request_id')`;
  const own = sql`c.source = ${sourceOf(plan)} AND c.id > ${String(after)}::int8`;
  const rest = ticks.between(from, to, COLUMNS, own);
  const images = sql`${imageSql(plan, 'c.old')} AS old, ${imageSql(plan, 'c.new')} AS new, ${leftOutSql(plan, 'c.left_out')} AS left_out`;
  const page = sql`SELECT c.id, c.op, c.at, c.context, ${images} FROM (${rest}) AS c ORDER BY c.id LIMIT ${raw(String(size))}`;
  const seen = sql`SELECT json_agg(${row} ORDER BY ${EVENT}.id) FROM page AS ${EVENT} ${image('old')} ${image('new')} WHERE ${EVENT}.op IN ('t', 'e') OR ".old".id IS NOT NULL OR ".new".id IS NOT NULL`;
  return sql`WITH page AS (${page}) SELECT (SELECT count(*) FROM page)::text AS c0, (SELECT max(id) FROM page)::text AS c1, ${ticks.has(to)}::text AS c2, (${seen})::text AS c3`;
}
