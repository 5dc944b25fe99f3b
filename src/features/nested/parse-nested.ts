/** The members of a body with children -> the write of each child, or all problems of any of them. */
import type { Request } from 'express';
import { accessRules } from '../../access/reference-access.js';
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { RowKey } from '../../describe/model-info.js';
import { keyNames, keyText } from '../../describe/row-key.js';
import { type Access, OPEN_ACCESS } from '../../operation/access.js';
import type { BodyMembers } from '../../operation/body-members.js';
import { NO_INPUTS } from '../../operation/compile-features.js';
import type { Inputs } from '../../operation/feature.js';
import type { Touch } from '../../operation/operation.js';
import { compileValuesParser, type RequestArguments, withMembers } from '../../request/parse-request.js';
import { unknownProperty } from '../../schema/body-schema.js';
import type { MemberBudget } from '../../schema/json-value.js';
import {
  bodyPointer,
  InvalidBodyError,
  type ItemPlace,
  MAX_ISSUES,
  type RequestIssue,
  withinItem,
} from '../../schema/request-issue.js';
import { lazy } from '../../util/memo.js';
import { isPromise, then } from '../../util/promises.js';
import {
  type BulkItem,
  compileItemParser,
  type ItemParser,
  isExact,
  repeatedKey,
  wrongItem,
} from '../bulk/parse-item.js';
import { hidesState } from '../entity-tag.js';
import { describeMembers } from './describe-nested.js';
import { type Form, isTaken, type NestedLevel, VERBS, type Verb } from './nested-options.js';

/** A child of a body. */
export interface NestedItem extends Pick<BulkItem, 'problem'> {
  /** In the body of its parent: `lines/create/0`. */
  readonly place: ItemPlace;
  /** Null where it cannot be written, which its problem says. */
  readonly input: RequestArguments | null;
}

/** The children of one relation in a body. */
export interface NestedSet extends Readonly<Record<Verb, readonly NestedItem[]>> {
  readonly level: NestedLevel;
  /** The access of the request to each verb that it needs. */
  readonly access: Partial<Readonly<Record<Verb, Access>>>;
  /** True where children that are not named are deleted. */
  readonly isWhole: boolean;
}

/** Inputs of a request with children. */
export interface NestedInputs extends Inputs {
  readonly nested?: readonly NestedSet[];
}

/** Compiles the members of a body. */
export function compileMembers(levels: ReadonlyMap<string, NestedLevel>, form: Form): BodyMembers {
  const readers = [...levels.values()]
    .filter((level) => isTaken(level, form))
    .map((level) => ({ level, read: lazy(() => compileLevel(level, form)) }));
  return {
    names: readers.map(({ level }) => level.name),
    async parse(request, _access, body, budget): Promise<NestedInputs> {
      const issues: RequestIssue[] = [];
      const nested: NestedSet[] = [];
      for (const { level, read } of readers)
        if (Object.hasOwn(body, level.name))
          nested.push(await read()(request, body[level.name], budget, issues));
      if (issues.length > 0) throw new InvalidBodyError(issues);
      const touch = touchOf(nested);
      const otherRows = rowsOf(nested);
      return touch === undefined ? { nested } : { nested, touch, otherRows };
    },
    describe: () => describeMembers(levels, form),
  };
}

/** The part of the parent in a write of its children; undefined where none is written. */
function touchOf(nested: readonly NestedSet[]): Touch | undefined {
  const written = nested.filter((set) => set.isWhole || VERBS.some((verb) => set[verb].length > 0));
  if (written.length === 0) return undefined;
  return written.some(({ level }) => level.isTouching) ? 'change' : 'lock';
}

function rowsOf(nested: readonly NestedSet[]): number {
  let sum = 0;
  for (const set of nested)
    for (const verb of VERBS) for (const { input } of set[verb]) sum += 1 + (input?.query.otherRows ?? 0);
  return sum;
}

type LevelReader = (
  request: Request,
  value: unknown,
  budget: MemberBudget,
  issues: RequestIssue[],
) => Promise<NestedSet>;

/** A child as it was sent. */
interface SentItem {
  readonly verb: Verb;
  readonly place: ItemPlace;
  readonly body: unknown;
}

function compileLevel(level: NestedLevel, form: Form): LevelReader {
  const { name, plan, given, max, nested } = level;
  const { target } = plan;
  const isWhole = form === 'replace' && level.isWhole;
  const parsers: Record<Verb, () => ItemParser> = {
    create: lazy(() => itemParser(target, 'create', given, nested, 'create')),
    update: lazy(() => itemParser(target, 'update', given, nested, isWhole ? 'replace' : 'update')),
    delete: lazy(() => compileRemovedParser(target, given)),
  };
  return async (request, value, budget, issues) => {
    const sent = sentItems(level, form, isWhole, value, issues);
    // One record may be deleted and another one created.
    if (sent.length > max && !plan.relation.isOne) {
      const detail = `There are ${sent.length} ${name} of one record; at most ${max} are accepted.`;
      issues.push({ pointer: bodyPointer(name), code: 'tooMany', detail });
    }
    const access: Partial<Record<Verb, Access>> = {};
    const needed = new Set<Verb>(isWhole ? ['delete'] : []);
    for (const { verb } of sent) needed.add(verb);
    for (const verb of needed)
      access[verb] = (await accessRules(request)?.accessTo(target.model)?.(request, verb)) ?? OPEN_ACCESS;
    const items: Record<Verb, NestedItem[]> = { create: [], update: [], delete: [] };
    const known = new Map<string, number>();
    const created = new Map<string, number>();
    for (const [index, { verb, place, body }] of sent.entries()) {
      if (issues.length > MAX_ISSUES) break;
      // The database compares the keys of new children.
      const keys = verb === 'create' ? created : known;
      created.clear();
      const own = access[verb] as Access;
      const context = { access: own, absent: NO_INPUTS, index, keys, budget, repeated: repeatedChild };
      const parsed = parsers[verb]()(request, context, body);
      // Most need no time, and a promise of each of them would cost as much as to read it.
      const { input, problem } = isPromise(parsed) ? await parsed : parsed;
      if (problem instanceof InvalidBodyError)
        issues.push(...problem.errors.map((issue) => withinItem(place, issue)));
      else items[verb].push({ place, input, problem });
    }
    return { level, access, isWhole, ...items };
  };
}

/** The issue of a child whose key is that of another one. */
function repeatedChild(key: RowKey): RequestIssue {
  const detail = `${keyText(key)} is that of another item, too; a record may stand in a body once.`;
  return { ...repeatedKey(key, 0), detail };
}

function itemParser(
  plan: ResourcePlan,
  kind: 'create' | 'update',
  given: string,
  nested: NestedLevel['nested'],
  form: Form,
): ItemParser {
  const members = nested.size === 0 ? [] : [compileMembers(nested, form)];
  return compileItemParser(
    plan,
    kind,
    withMembers(members, (names) => compileValuesParser(plan, kind, null, [given], names)),
    given,
  );
}

const WORDS = ['create', 'update', 'delete'] as const;

/** The children of a member of a body, each with its place. Problems of the member are added to the issues. */
function sentItems(
  level: NestedLevel,
  form: Form,
  isWhole: boolean,
  value: unknown,
  issues: RequestIssue[],
): readonly SentItem[] {
  const { name } = level;
  if (form === 'create') return itemsOf(level, name, value, () => 'create', issues);
  if (isWhole) return itemsOf(level, name, value, verbOfKept(level), issues);
  const pointer = bodyPointer(name);
  if (Array.isArray(value)) {
    const detail = `A list of ${name} does not say what becomes of the others; send an object with create, update and delete, each a list.`;
    issues.push({ pointer, code: 'nested.array', detail });
    return [];
  }
  if (!isPlain(value)) {
    const detail = `${name} must be an object with create, update and delete.`;
    issues.push({ pointer, code: 'isObject', detail });
    return [];
  }
  const parts = value as Readonly<Record<string, unknown>>;
  for (const part of Object.keys(parts))
    if (!WORDS.some((verb) => verb === part))
      issues.push(unknownProperty(bodyPointer(name, part), part, WORDS));
  return WORDS.flatMap((verb) =>
    Object.hasOwn(parts, verb) ? itemsOf(level, `${name}/${verb}`, parts[verb], () => verb, issues) : [],
  );
}

/** A child of a whole set with an id is there already. */
function verbOfKept({ plan: { relation, target } }: NestedLevel): (item: unknown) => Verb {
  const keys = target.idParts
    .map(({ attribute }) => attribute.name)
    .filter((key) => key !== relation.targetKey);
  return (item) =>
    keys.every((key) => isPlain(item) && Object.hasOwn(item as object, key)) ? 'update' : 'create';
}

function itemsOf(
  { name, plan: { relation, target }, verbs }: NestedLevel,
  place: string,
  value: unknown,
  verbOf: (item: unknown) => Verb,
  issues: RequestIssue[],
): readonly SentItem[] {
  const { isOne } = relation;
  if (isOne && (Array.isArray(value) || value === null)) {
    const detail = `${name} has one record at most; send it alone.`;
    issues.push({ pointer: `/${place}`, code: 'isObject', detail });
    return [];
  }
  if (!isOne && !Array.isArray(value)) {
    issues.push({ pointer: `/${place}`, code: 'isArray', detail: `${place} must be an array.` });
    return [];
  }
  const all = isOne ? [value] : (value as readonly unknown[]);
  const sent: SentItem[] = [];
  for (const [index, body] of all.entries()) {
    const at = isOne ? placeOf(place) : placeOf(place, index);
    const verb = verbOf(body);
    if (verbs.has(verb)) {
      sent.push({ verb, place: at, body });
      continue;
    }
    const detail = `The endpoints of ${target.name} have no ${verb}, so that none can be nested.`;
    issues.push({ pointer: `/${at}`, code: 'nested.verb', detail });
  }
  return sent;
}

/** The segments of a pointer. */
function placeOf(path: string, index?: number): ItemPlace {
  return (index === undefined ? path : `${path}/${index}`) as ItemPlace;
}

/** Parses a child that is deleted: its key without the part of its parent, or an object with that and the version that the child has to have. */
function compileRemovedParser(plan: ResourcePlan, given: string): ItemParser {
  const { info, entityTag } = plan;
  const keys = keyNames(info.address).filter((name) => name !== given);
  const version = entityTag?.kind === 'version' ? [entityTag.attribute] : [];
  const parse = compileItemParser(
    plan,
    'update',
    (_request, access, sent) => {
      const names = [...keys, ...(entityTag && hidesState(entityTag, access.form) ? [] : version)];
      const others = Object.keys(sent as object);
      if (others.length === 0) return { access, values: {} };
      throw new InvalidBodyError(others.map((name) => unknownProperty(bodyPointer(name), name, names)));
    },
    given,
  );
  const [key, another] = keys;
  return (request, context, body) => {
    if (isPlain(body)) return parse(request, context, body);
    if (key === undefined || another !== undefined || !(typeof body === 'string' || isExact(body))) {
      const detail = `An item is ${another === undefined && key !== undefined ? `the ${key} of a ${plan.name}, or ` : ''}an object with ${keys.join(' and ') || 'nothing'}.`;
      return wrongItem(body, [{ pointer: '', code: 'id', detail }]);
    }
    return then(parse(request, context, { [key]: body }), (item) => {
      if (!(item.problem instanceof InvalidBodyError)) return item;
      const issues = item.problem.errors.map((issue) => ({ ...issue, pointer: '' }));
      return wrongItem(body, issues);
    });
  };
}
