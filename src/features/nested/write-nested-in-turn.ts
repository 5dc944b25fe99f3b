/** Writes children one by one, by the repositories of their resources: hooks see each, and an error names its child. */
import type { Request } from 'express';
import type { Model } from 'sequelize';
import { accessSource } from '../../access/reference-access.js';
import { isOfKey } from '../../describe/row-key.js';
import { NotFoundError } from '../../errors/errors.js';
import { storedText } from '../../execute/customization/hydrate-record.js';
import type { Repository } from '../../execute/records/repository.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { textsOfId } from '../../execute/sql/encode-parameter.js';
import { type Access, type AccessSource, accessWith, OPEN_ACCESS } from '../../operation/access.js';
import { allOf, compared, equalTo } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { type CurrentItem, currentItem, setCurrentItem } from '../../request/request-notes.js';
import { InvalidBodyError } from '../../schema/request-issue.js';
import { repeatedKey } from '../bulk/parse-item.js';
import { byKeys, deleteFound, isThere, pathId } from '../bulk/write-in-turn.js';
import { changedMeanwhile, isInState } from '../entity-tag.js';
import { VERBS, type Verb } from './nested-options.js';
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

/** Writes them in the session of the running code. @throws the error that refuses a child; the request is at its place then */
export async function writeInTurn(
  works: ReadonlyMap<string, LevelWork>,
  parents: NestedParents,
  request: Request,
): Promise<void> {
  const before = currentItem(request);
  const found: FoundLevel[] = [];
  for (const work of works.values()) found.push(await findNamed(work, tasksOf(work.level, parents), request));
  for (const level of found) {
    const { work, tasks } = level;
    const children: Child[] = [];
    const written = new Set<string>();
    await deleteRest(level, request);
    for (const verb of VERBS) {
      for (const task of tasks) {
        for (const item of task.set[verb]) {
          setCurrentItem(request, placeOf(task, item));
          if (!item.input) throw item.problem ?? new TypeError('A child has neither values nor a problem.');
          const record = await writeOne(level, { task, verb, item, input: item.input }, request);
          if (!record) continue;
          if (verb === 'update') checkRepeated(work, record, written);
          children.push({ record, task, item });
        }
      }
    }
    if (work.nested.size > 0) await writeInTurn(work.nested, parentsOf(work, children), request);
  }
  setCurrentItem(request, before);
}

/** The children that replacements of whole sets leave out, as ids. They are locked. */
export async function restOf(
  { level, resource }: LevelWork,
  tasks: readonly LevelTask[],
): Promise<readonly unknown[]> {
  const whole = tasks.filter(({ set }) => set.isWhole);
  const own = whole[0]?.set.access.delete;
  if (!own) return [];
  const { info } = resource.plan;
  const repository = resource.repository.within(Object.assign(() => own, { to: () => OPEN_ACCESS }));
  const keys = whole.map(({ key }) => key);
  const found = await repository.lockKeys(compared(level.given, '=in=', keys), MAX_REST);
  const textOf = (id: unknown) => JSON.stringify(textsOfId(info.address, id));
  const named = whole.flatMap(({ key, set }) =>
    set.update.flatMap(({ input }) => (input ? textOf(idUnder(level, info, input.id, key)) : [])),
  );
  const known = new Set(named);
  if (found.length < MAX_REST) return found.filter((id) => !known.has(textOf(id)));
  throw new RefusedRequestError(
    409,
    `This record has ${MAX_REST} ${level.name} or more, which no request can replace; change some of them by PATCH.`,
  );
}

/** The children of a relation, before the first one of any relation is written. */
interface FoundLevel {
  readonly work: LevelWork;
  readonly tasks: readonly LevelTask[];
  /** Children that replacements of whole sets leave out. */
  readonly rest: readonly unknown[];
  /** Children to delete that are there: one may go with another one before its turn. */
  readonly removed: ReadonlySet<NestedItem>;
}

/**
 * Locks the children that are changed or deleted in the order of their keys, as all writes of many rows do: no circle of waits can close.
 *
 * @throws RefusedRequestError 412 for one to delete that is in another state
 */
async function findNamed(
  work: LevelWork,
  tasks: readonly LevelTask[],
  request: Request,
): Promise<FoundLevel> {
  const { given } = work.level;
  const { info } = work.resource.plan;
  if (tasks.some(({ set }) => set.isWhole)) setCurrentItem(request, 'unknown');
  const rest = await restOf(work, tasks);
  const idUnderTask = ({ key }: LevelTask, { id }: RequestArguments) => idUnder(work.level, info, id, key);
  const namedBy = (task: LevelTask, inputs: readonly RequestArguments[]) =>
    inputs.map((input) => ({ id: idUnderTask(task, input), access: input.access }));
  const named = tasks.flatMap((task) => namedBy(task, inputsToLock(task.set)));
  const keys = tasks.map(({ key }) => key);
  const all = await lockRows(work, named, compared(given, '=in=', keys));
  const textOf = (id: unknown) => JSON.stringify(textsOfId(info.address, id));
  const removed = new Set<NestedItem>();
  for (const task of tasks) {
    const items = task.set.delete;
    const inputs = items.flatMap(({ input }) => input ?? []);
    const own =
      tasks.length === 1 ? all : await lockRows(work, namedBy(task, inputs), equalTo(given, task.key));
    const texts = new Set(own.map(textOf));
    for (const item of items) {
      const { input } = item;
      if (!input) continue;
      if (texts.has(textOf(idUnderTask(task, input)))) removed.add(item);
      setCurrentItem(request, placeOf(task, item));
      await checkState(work, task, input, request);
    }
  }
  return { work, tasks, rest, removed };
}

/** The same for many records that are written in turn, before the first one is. An id with a part of its parent's key is left out. */
export async function lockForAll(
  works: ReadonlyMap<string, LevelWork>,
  sets: readonly NestedSet[],
): Promise<void> {
  for (const work of works.values()) {
    const own = sets.filter(({ level }) => level === work.level);
    const isPart = isOfKey(work.resource.plan.info.address, work.level.given);
    if (!isPart) await lockRows(work, own.flatMap(inputsToLock), null);
    const changed = own.flatMap(({ update }) => update.flatMap(({ input }) => input ?? []));
    await lockForAll(work.nested, changed.flatMap(setsOf));
  }
}

function inputsToLock({ update, delete: removed }: NestedSet): readonly RequestArguments[] {
  return [...update, ...removed].flatMap(({ input }) => input ?? []);
}

async function lockRows(
  { resource }: LevelWork,
  named: readonly Pick<RequestArguments, 'id' | 'access'>[],
  where: Predicate | null,
): Promise<readonly unknown[]> {
  const [first] = named;
  if (!first) return [];
  const source = Object.assign(() => first.access, { to: () => OPEN_ACCESS });
  const ids = named.map(({ id }) => id);
  const rows = allOf(where, byKeys(resource.plan.info.address, ids)) as Predicate;
  return resource.repository.within(source).lockKeys(rows, ids.length);
}

/** Children that a replacement reads. */
const MAX_REST = 10_001;

function placeOf({ place }: LevelTask, item: NestedItem): CurrentItem {
  return `${place}${item.place}` as CurrentItem;
}

interface Child {
  readonly record: Model;
  readonly task: LevelTask;
  readonly item: NestedItem;
}

interface Write {
  readonly task: LevelTask;
  readonly verb: Verb;
  readonly item: NestedItem;
  readonly input: RequestArguments;
}

/** @returns the record; null where it is gone */
async function writeOne(
  { work, removed }: FoundLevel,
  { task, verb, item, input }: Write,
  request: Request,
): Promise<Model | null> {
  const { level, resource } = work;
  const { info } = resource.plan;
  if (verb === 'create') {
    const other = otherPlace(work, task, input);
    if (other !== undefined) {
      const detail = `A ${info.name} has the ${other} of its parent, and this request writes another one.`;
      throw new InvalidBodyError([{ pointer: '', code: 'scope', detail }]);
    }
    const repository = resource.repository.within(sourceOf(request, resource, input.access));
    return repository.create(valuesUnder(work, task, verb, input));
  }
  const repository = childrenOf(work, task, input, request);
  const id = idUnder(level, info, input.id, task.key) as Id;
  if (verb === 'update') {
    await checkState(work, task, input, request);
    return repository.update(id, valuesUnder(work, task, verb, input));
  }
  try {
    await repository.delete(id);
  } catch (error) {
    const isKnown = error instanceof NotFoundError && removed.has(item);
    if (!isKnown || (await isThere(info, repository, id))) throw error;
  }
  return null;
}

/** Repository of the children of one parent. */
function childrenOf(
  { level, resource }: LevelWork,
  { key }: LevelTask,
  { access, query }: RequestArguments,
  request: Request,
): Repository {
  const rows = allOf(access.where, equalTo(level.given, key));
  const touched = query.touch ? resource.repository.touching(query.touch) : resource.repository;
  return touched.within(sourceOf(request, resource, accessWith(access, { where: rows })));
}

async function deleteRest({ work, tasks, rest }: FoundLevel, request: Request): Promise<void> {
  const { resource, level } = work;
  const [first] = tasks.filter(({ set }) => set.isWhole);
  const own = first?.set.access.delete;
  if (!first || !own) return;
  setCurrentItem(request, 'unknown');
  const keys = tasks.flatMap(({ set, key }) => (set.isWhole ? key : []));
  const rows = allOf(own.where, compared(level.given, '=in=', keys));
  const source = sourceOf(request, resource, accessWith(own, { where: rows }));
  const repository = resource.repository.within(source);
  // A row refers to an older one most of the time, and foreign keys may refuse to leave it behind.
  for (const key of rest.toReversed()) {
    const id = pathId(resource.plan, key) as Id;
    await deleteFound(resource.plan.info, repository, id, () => repository.delete(id));
  }
}

/** @throws RefusedRequestError 412 for a child in another state @throws NotFoundError */
async function checkState(
  work: LevelWork,
  task: LevelTask,
  input: RequestArguments,
  request: Request,
): Promise<void> {
  const { level, resource } = work;
  const { plan } = resource;
  const { query, access, id } = input;
  if (!query.ifMatch) return;
  const own = idUnder(level, plan.info, id, task.key) as Id;
  const record = await childrenOf(work, task, input, request).getLocked(own);
  const state = plan.entityTag && storedText(plan.info, record, plan.entityTag.attribute);
  if (state !== undefined && isInState(query.ifMatch, state)) return;
  // The tag of the answer would be that of a child.
  throw new RefusedRequestError(412, changedMeanwhile(plan, null, access.form).message);
}

/** Only the database decides which keys are equal: of `citext` and `char`, texts that differ may be. @throws InvalidBodyError */
function checkRepeated({ resource: { plan } }: LevelWork, record: Model, written: Set<string>): void {
  const { address } = plan.info;
  const key = JSON.stringify(address.map(({ name }) => storedText(plan.info, record, name)));
  if (written.has(key)) throw new InvalidBodyError([repeatedKey(address, 0)]);
  written.add(key);
}

/** The access of the request to other models, and to the children this one. */
function sourceOf(request: Request, { plan, access }: LevelWork['resource'], own: Access): AccessSource {
  const real = accessSource(request, plan.model, plan.access && access);
  const { to = () => OPEN_ACCESS, of, keys } = real ?? {};
  return Object.assign(() => own, { to, ...(of ? { of } : {}), ...(keys ? { keys } : {}) });
}

/** The rows that were written, as parents of their own children. */
function parentsOf({ resource: { plan } }: LevelWork, children: readonly Child[]): NestedParents {
  return {
    column: (attribute) => children.map(({ record }) => storedText(plan.info, record, attribute) ?? null),
    places: children.map(({ task, item }) => `${task.place}${item.place}/`),
    sets: children.map(({ item }) => (item.input ? setsOf(item.input) : [])),
    areNew: false,
  };
}

/** The children of a child in a request. */
export function setsOf({ query }: RequestArguments): readonly NestedSet[] {
  return (query['nested'] as readonly NestedSet[] | undefined) ?? [];
}
