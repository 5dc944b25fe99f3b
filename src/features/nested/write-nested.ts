/** Writes children with one statement of ours for each relation and verb: all of them, or nothing. */
import type { Request } from 'express';
import type { Sequelize } from 'sequelize';
import type { ModelInfo } from '../../describe/model-info.js';
import { isRefusal } from '../../errors/database-fault.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import { ManyRows } from '../../execute/rows/many-rows.js';
import { joinableSession, retried, runInSavepoint, runRepeatably } from '../../execute/session/savepoint.js';
import { textsOfId } from '../../execute/sql/encode-parameter.js';
import type { Resource } from '../../express/resources/resource.js';
import { type Access, accessWith } from '../../operation/access.js';
import { allOf, compared, equalTo, withKeys } from '../../operation/predicates.js';
import type { FoundRelation } from '../../operation/related-rows.js';
import { isOnSequelize, type StatementTarget } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Filter, Predicate } from '../../request/query/predicate.js';
import { currentItem, setCurrentItem } from '../../request/request-notes.js';
import { lazy } from '../../util/memo.js';
import { compileManyRunner } from '../bulk/write-together.js';
import { inState } from '../entity-tag.js';
import { type NestedLevel, VERBS, type Verb } from './nested-options.js';
import {
  idUnder,
  type LevelTask,
  type LevelWork,
  type NestedParents,
  otherPlace,
  tasksOf,
  valuesUnder,
} from './nested-parents.js';
import type { NestedItem, NestedSet } from './parse-nested.js';
import { mayChangeOthers } from './read-again.js';
import {
  haveTriggers,
  isShownAsWritten,
  NONE_WRITTEN,
  tablesOf,
  type WrittenChildren,
  type WrittenLevel,
  type WrittenLevels,
} from './show-written.js';
import { lockForAll, restOf, setsOf, writeInTurn } from './write-nested-in-turn.js';

/** Writes the children of records that are written, in the session of the running code. */
export interface NestedWriter {
  /** @returns the children of new parents, as far as they need not be read for the answer */
  write(request: Request, parents: NestedParents, on?: StatementTarget): Promise<WrittenLevels>;
  /** Locks the children of many records, which are written in turn. */
  lock(inputs: readonly RequestArguments[]): Promise<void>;
  /** True where writes of these children may have changed their parents. */
  mayChangeParents(sets: NestedParents['sets']): Promise<boolean>;
}

/** Attributes of rows by which their children are written. */
export function attributesFor(levels: ReadonlyMap<string, NestedLevel>): readonly string[] {
  return [
    ...new Set(
      [...levels.values()].flatMap(({ plan, scoped }) => [
        plan.relation.parentKey,
        ...scoped.map(([, ofParent]) => ofParent),
      ]),
    ),
  ];
}

/** Ends a savepoint of writes that have to be made in turn. */
const IN_TURN = new Error('Another way writes these children.');

/** Compiles the writer of a resource. */
export function compileNestedWriter(
  { plan, resourceOf }: Resource,
  levels: ReadonlyMap<string, NestedLevel>,
): NestedWriter {
  const works = worksOf(levels, resourceOf);
  const tables = lazy(() => tablesOf(plan.info, works));
  const { sequelize } = plan.model;
  const write: NestedWriter['write'] = async (request, parents, on) => {
    if (!parents.sets.some((sets) => sets.some(isWritten))) return NONE_WRITTEN;
    const session = joinableSession(sequelize as Sequelize, 'write');
    if (session && on && !isOnSequelize() && !sequelizeProblem()) {
      const together = async () => {
        const levels = await writeTogether(works, parents, on);
        if (!levels) throw IN_TURN;
        return levels;
      };
      const written = await retried(() => runRepeatably(session, together)).catch((error: unknown) => {
        if (error === IN_TURN || isRefusal(error)) return null;
        throw error;
      });
      if (written) return written.size > 0 && (await haveTriggers(tables(), on)) ? NONE_WRITTEN : written;
    }
    const place = currentItem(request);
    const inTurn = () => {
      setCurrentItem(request, place);
      return writeInTurn(works, parents, request);
    };
    await (session ? retried(() => runInSavepoint(session, 'write', inTurn)) : inTurn());
    return NONE_WRITTEN;
  };
  return {
    write,
    lock: (inputs) => lockForAll(works, inputs.flatMap(setsOf)),
    async mayChangeParents(sets) {
      const isNamed = ({ level }: LevelWork) =>
        sets.some((all) => all.some((set) => set.level === level && isWritten(set)));
      const transaction = await joinableSession(sequelize as Sequelize, 'write')?.begin();
      return mayChangeOthers([...works.values()].filter(isNamed), transaction ? { transaction } : {});
    },
  };
}

/** True where children of a relation are written. */
export function isWritten(set: NestedSet): boolean {
  return set.isWhole || VERBS.some((verb) => set[verb].length > 0);
}

function worksOf(
  levels: ReadonlyMap<string, NestedLevel>,
  resourceOf: Resource['resourceOf'],
): ReadonlyMap<string, LevelWork> {
  return new Map([...levels].map(([name, level]) => [name, workOf(level, resourceOf)]));
}

function workOf(level: NestedLevel, resourceOf: Resource['resourceOf']): LevelWork {
  // The options have been checked for it.
  const resource = resourceOf(level.plan.relation.target) as Resource;
  const { info, explicitSchemas, idKind } = resource.plan;
  const shown = [...new Set([...attributesFor(level.nested), level.given])];
  const tests = lazy(
    () => new Map(VERBS.map((verb) => [verb, openTest(info, verb, resource.rowView.isOfRecords)])),
  );
  const isPlain = (verb: Verb) =>
    verb === 'create'
      ? explicitSchemas.create === null
      : idKind !== 'custom' && (verb === 'delete' || explicitSchemas.update === null);
  return {
    level,
    resource,
    nested: worksOf(level.nested, resourceOf),
    together: {
      create: lazy(() => compileManyRunner(resource, 'create', [])),
      createShown: lazy(() =>
        compileManyRunner(resource, 'create', [...new Set([...resource.rowView.columnsOf(null), ...shown])]),
      ),
      update: lazy(() => compileManyRunner(resource, 'update', [], true)),
      updateShown: lazy(() => compileManyRunner(resource, 'update', shown, true)),
      delete: lazy(() => compileManyRunner(resource, 'delete', [])),
    },
    rows: lazy(() => new ManyRows(info)),
    isOpen: (verb) => isPlain(verb) && tests().get(verb)?.() === true,
  };
}

/** @returns null where the children have to be written in turn; some may be written then */
async function writeTogether(
  works: ReadonlyMap<string, LevelWork>,
  parents: NestedParents,
  on: StatementTarget,
): Promise<WrittenLevels | null> {
  const levels = new Map<FoundRelation, WrittenLevel>();
  for (const work of works.values()) {
    const tasks = tasksOf(work.level, parents);
    if (tasks.length === 0) continue;
    const written = await writeLevel(work, tasks, parents.areNew && isShownAsWritten(work.level), on);
    if (!written) return null;
    if (written !== 'others') levels.set(work.level.plan, written);
  }
  return levels;
}

async function writeLevel(
  work: LevelWork,
  tasks: readonly LevelTask[],
  isShown: boolean,
  on: StatementTarget,
): Promise<WrittenLevel | 'others' | null> {
  const writes = VERBS.some((verb) => !work.isOpen(verb) && tasks.some(({ set }) => isNeeded(set, verb)));
  if (writes || tasks.some(({ set }) => VERBS.some((verb) => set[verb].some(({ input }) => !input))))
    return null;
  // One statement locks its rows in the order of their keys, and two do not.
  const areLocked = isOfSome(tasks, 'delete') && isOfSome(tasks, 'update');
  if (!(await deleteAll(work, tasks, areLocked, on))) return null;
  const updated = await updateAll(work, tasks, areLocked, on);
  if (updated === false) return null;
  const created = await createAll(work, tasks, isShown, on);
  if (created === false) return null;
  let nested: WrittenLevels | null = NONE_WRITTEN;
  if (work.nested.size > 0) {
    if (updated && !(await writeTogether(work.nested, parentsOf(updated, false), on))) return null;
    if (created) nested = await writeTogether(work.nested, parentsOf(created, isShown), on);
  }
  return nested && created && isShown ? { children: created, nested } : nested && 'others';
}

/** Children that were written, with their own. */
interface NestedChildren extends WrittenChildren {
  readonly items: readonly TaskItem[];
}

interface TaskItem {
  readonly task: LevelTask;
  readonly item: NestedItem;
  readonly input: RequestArguments;
}

function isNeeded(set: NestedSet, verb: Verb): boolean {
  return set[verb].length > 0 || (verb === 'delete' && set.isWhole);
}

function isOfSome(tasks: readonly LevelTask[], verb: Verb): boolean {
  return tasks.some(({ set }) => set[verb].length > 0);
}

function itemsOf(tasks: readonly LevelTask[], verb: Verb): readonly TaskItem[] {
  const items: TaskItem[] = [];
  for (const task of tasks)
    for (const item of task.set[verb]) if (item.input) items.push({ task, item, input: item.input });
  return items;
}

/** The access of a request to a verb. It is the same for all parents. */
function accessOf(tasks: readonly LevelTask[], verb: Verb): Access {
  return tasks.find(({ set }) => set.access[verb])?.set.access[verb] as Access;
}

const ATOMIC = Object.freeze({ filter: null, isAtomic: true, isDryRun: false });

/**
 * Locks the children that are changed or deleted in the order of their keys, as writes in turn do.
 *
 * @returns where the statement that deletes can do so: these children
 */
async function lockAll(
  { level, resource, rows }: LevelWork,
  tasks: readonly LevelTask[],
  on: StatementTarget,
): Promise<Predicate | null> {
  const { info } = resource.plan;
  const named = [...itemsOf(tasks, 'update'), ...itemsOf(tasks, 'delete')];
  const access = accessOf(tasks, 'update');
  const removed = accessOf(tasks, 'delete');
  const ids = named.map(({ task, input }) => idUnder(level, info, input.id, task.key));
  const keys = tasks.map(({ key }) => key);
  const where = allOf(childrenOf(level, keys, rowsOf(level, info, ids, keys)), access.where);
  if (removed.where === access.where && removed.allowed === null) return where;
  await rows().updateMatching({ where, set: {}, maximum: ids.length }, access.slots, on);
  return null;
}

async function deleteAll(
  work: LevelWork,
  tasks: readonly LevelTask[],
  areLocked: boolean,
  on: StatementTarget,
): Promise<boolean> {
  const { level, resource, together } = work;
  const { info, entityTag } = resource.plan;
  const rest = await restOf(work, tasks);
  const keysOfWhole = tasks.flatMap(({ set, key }) => (set.isWhole ? key : []));
  const rows: Filter[] =
    rest.length === 0 ? [] : [childrenOf(level, keysOfWhole, rowsOf(level, info, rest, keysOfWhole))];
  let count = rest.length;
  for (const task of tasks) {
    const items = itemsOf([task], 'delete');
    count += items.length;
    const idOf = ({ input }: TaskItem) => idUnder(level, info, input.id, task.key);
    const bound = items.flatMap((each): Filter[] => {
      const states = each.input.query.ifMatch;
      return states && entityTag
        ? [allOf(rowsOf(level, info, [idOf(each)], [task.key]), inState(entityTag, states)) as Filter]
        : [];
    });
    const free = items.filter(({ input }) => !input.query.ifMatch).map(idOf);
    const some = [...(free.length > 0 ? [rowsOf(level, info, free, [task.key])] : []), ...bound];
    if (some.length > 0) rows.push(childrenOf(level, [task.key], anyOf(some)));
  }
  if (count === 0) return true;
  const access = accessOf(tasks, 'delete');
  const each = { query: resource.features.delete.absentFor(access.form), access };
  const inputs = { ...ATOMIC, filter: anyOf(rows) };
  const among = areLocked ? await lockAll(work, tasks, on) : null;
  const limit = among ? count + itemsOf(tasks, 'update').length : count;
  const written = await together.delete()({ items: null, each, inputs, access }, limit, on, { among });
  return written?.count === count;
}

/** The children with these ids, among those of the parents with these keys. */
function rowsOf(
  { given }: NestedLevel,
  { address }: ModelInfo,
  ids: readonly unknown[],
  keys: readonly string[],
): Filter {
  const others = address.filter(({ name }) => name !== given);
  // The part of one parent is compared already, so that one statement serves any number of children.
  const key = others.length > 0 && keys.length === 1 ? others : address;
  return withKeys(
    key,
    ids.map((id) => {
      const texts = textsOfId(address, id).map(String);
      return key.map((part) => texts[address.indexOf(part)] as string);
    }),
  );
}

function childrenOf({ given }: NestedLevel, keys: readonly string[], rows: Filter): Filter {
  const [key, another] = keys;
  const own =
    key !== undefined && another === undefined ? equalTo(given, key) : compared(given, '=in=', keys);
  return allOf(own, rows) as Filter;
}

function anyOf(rows: readonly Filter[]): Filter {
  const [first, second] = rows;
  return first && !second ? first : { kind: 'or', operands: rows };
}

/** @returns null where nothing is to be done */
async function updateAll(
  work: LevelWork,
  tasks: readonly LevelTask[],
  areLocked: boolean,
  on: StatementTarget,
): Promise<NestedChildren | null | false> {
  const { level, resource, together } = work;
  const items = itemsOf(tasks, 'update');
  if (items.length === 0) return null;
  const { info } = resource.plan;
  const own = accessOf(tasks, 'update');
  const keys = [...new Set(items.map(({ task }) => task.key))];
  const [key, another] = keys;
  const isOne = key !== undefined && another === undefined;
  const rows = isOne ? equalTo(level.given, key) : compared(level.given, '=in=', keys);
  const access = accessWith(own, { where: allOf(rows, own.where) });
  const inputs = items.map(({ task, input }) => ({
    ...input,
    id: idUnder(level, info, input.id, task.key),
    values: valuesUnder(work, task, 'update', input),
  }));
  const written = await together[isOne && !items.some(isParent) ? 'update' : 'updateShown']()(
    { items: inputs.map(asItem), each: null, inputs: ATOMIC, access },
    0,
    on,
    { areHeld: areLocked },
  );
  if (!written?.shown) return false;
  // Of several parents each child has to be that of its own.
  const found = isOne ? null : written.shown.column(level.given);
  if (found && items.some(({ task }, index) => found[index]?.trimEnd() !== task.key.trimEnd())) return false;
  return { items, shown: written.shown, columns: written.columns };
}

/** @returns null where nothing is to be done */
async function createAll(
  work: LevelWork,
  tasks: readonly LevelTask[],
  isShown: boolean,
  on: StatementTarget,
): Promise<NestedChildren | null | false> {
  const items = itemsOf(tasks, 'create');
  if (items.length === 0) return null;
  const { scoped } = work.level;
  if (scoped.length > 0 && items.some(({ task, input }) => otherPlace(work, task, input) !== undefined))
    return false;
  const access = accessOf(tasks, 'create');
  const written = items.map(({ task, input }) => {
    const { query, access: own, id } = input;
    return asItem({ query, access: own, id, values: valuesUnder(work, task, 'create', input) });
  });
  const request = { items: written, each: null, inputs: ATOMIC, access };
  const found = await work.together[isShown || items.some(isParent) ? 'createShown' : 'create']()(
    request,
    0,
    on,
  );
  return found?.shown ? { items, shown: found.shown, columns: found.columns } : false;
}

/** True where a child has children in the request. */
function isParent({ input }: TaskItem): boolean {
  return setsOf(input).length > 0;
}

function asItem(input: RequestArguments) {
  return { body: null, input, problem: null };
}

/** The rows that were written, as parents of their own children. */
function parentsOf({ items, shown }: NestedChildren, areNew: boolean): NestedParents {
  return {
    column: (attribute) => shown.column(attribute),
    places: items.map(({ task, item }) => `${task.place}${item.place}/`),
    sets: items.map(({ input }) => setsOf(input)),
    areNew,
  };
}
