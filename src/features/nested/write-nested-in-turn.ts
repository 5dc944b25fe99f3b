/** Writes children one by one, by the repositories of their resources: hooks see each, and an error names its child. */
import type { Request } from 'express';
import type { Model } from 'sequelize';
import { accessSource } from '../../access/reference-access.js';
import { isOfKey } from '../../describe/row-key.js';
import { storedText } from '../../execute/customization/hydrate-record.js';
import type { Repository } from '../../execute/records/repository.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { type Access, type AccessSource, accessWith, OPEN_ACCESS } from '../../operation/access.js';
import { allOf, compared, equalTo } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { type CurrentItem, currentItem, setCurrentItem } from '../../request/request-notes.js';
import { InvalidBodyError } from '../../schema/request-issue.js';
import { repeatedKey } from '../bulk/parse-item.js';
import { byKeys, deleteFound, pathId } from '../bulk/write-in-turn.js';
import { changedMeanwhile, isInState } from '../entity-tag.js';
import { VERBS, type Verb } from './nested-options.js';
import {
  idUnder,
  keyTextsOf,
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
  for (const work of works.values()) {
    const tasks = tasksOf(work.level, parents);
    const children: Child[] = [];
    const written = new Set<string>();
    await deleteRest(work, tasks, request);
    await lockNamed(work, tasks);
    for (const verb of VERBS) {
      for (const task of tasks) {
        for (const item of task.set[verb]) {
          setCurrentItem(request, `${task.place}${item.place}` as CurrentItem);
          if (!item.input) throw item.problem ?? new TypeError('A child has neither values nor a problem.');
          const record = await writeOne(work, { task, verb, input: item.input }, request);
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
  const textOf = (id: unknown) => JSON.stringify(keyTextsOf(info.address, id));
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

/** Locks the children that are changed or deleted in the order of their keys, as all writes of many rows do: no circle of waits can close. */
async function lockNamed(work: LevelWork, tasks: readonly LevelTask[]): Promise<void> {
  const { given } = work.level;
  const { info } = work.resource.plan;
  const named = tasks.flatMap(({ key, set }) =>
    inputsToLock(set).map(({ id, access }) => ({ id: idUnder(work.level, info, id, key), access })),
  );
  const keys = tasks.map(({ key }) => key);
  await lockRows(work, named, compared(given, '=in=', keys));
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
): Promise<void> {
  const [first] = named;
  if (!first) return;
  const source = Object.assign(() => first.access, { to: () => OPEN_ACCESS });
  const ids = named.map(({ id }) => id);
  const rows = allOf(where, byKeys(resource.plan.info.address, ids)) as Predicate;
  await resource.repository.within(source).lockKeys(rows, ids.length);
}

/** Children that a replacement reads. */
const MAX_REST = 10_001;

interface Child {
  readonly record: Model;
  readonly task: LevelTask;
  readonly item: NestedItem;
}

interface Write {
  readonly task: LevelTask;
  readonly verb: Verb;
  readonly input: RequestArguments;
}

/** @returns the record; null where it is gone */
async function writeOne(
  work: LevelWork,
  { task, verb, input }: Write,
  request: Request,
): Promise<Model | null> {
  const { level, resource } = work;
  const { info } = resource.plan;
  const { access, query } = input;
  if (verb === 'create') {
    const other = otherPlace(work, task, input);
    if (other !== undefined) {
      const detail = `A ${info.name} has the ${other} of its parent, and this request writes another one.`;
      throw new InvalidBodyError([{ pointer: '', code: 'scope', detail }]);
    }
    const repository = resource.repository.within(sourceOf(request, resource, access));
    return repository.create(valuesUnder(work, task, verb, input));
  }
  const rows = allOf(access.where, equalTo(level.given, task.key));
  const touched = query.touch ? resource.repository.touching(query.touch) : resource.repository;
  const repository = touched.within(sourceOf(request, resource, accessWith(access, { where: rows })));
  const id = idUnder(level, info, input.id, task.key) as Id;
  if (query.ifMatch) await checkState(work, repository, id, query.ifMatch, access);
  if (verb === 'update') return repository.update(id, valuesUnder(work, task, verb, input));
  await repository.delete(id);
  return null;
}

async function deleteRest(work: LevelWork, tasks: readonly LevelTask[], request: Request): Promise<void> {
  const { resource, level } = work;
  const [first] = tasks.filter(({ set }) => set.isWhole);
  const own = first?.set.access.delete;
  if (!first || !own) return;
  setCurrentItem(request, 'unknown');
  const rest = await restOf(work, tasks);
  const keys = tasks.flatMap(({ set, key }) => (set.isWhole ? key : []));
  const rows = allOf(own.where, compared(level.given, '=in=', keys));
  const source = sourceOf(request, resource, accessWith(own, { where: rows }));
  const repository = resource.repository.within(source);
  for (const key of rest) {
    const id = pathId(resource.plan, key) as Id;
    await deleteFound(resource.plan.info, repository, id, () => repository.delete(id));
  }
}

/** @throws RefusedRequestError 412 for a child in another state @throws NotFoundError */
async function checkState(
  { resource: { plan } }: LevelWork,
  repository: Repository,
  id: Id,
  states: readonly string[],
  { form }: Access,
): Promise<void> {
  const record = await repository.getLocked(id);
  const state = plan.entityTag && storedText(plan.info, record, plan.entityTag.attribute);
  if (state !== undefined && isInState(states, state)) return;
  // The tag of the answer would be that of a child.
  throw new RefusedRequestError(412, changedMeanwhile(plan, null, form).message);
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
