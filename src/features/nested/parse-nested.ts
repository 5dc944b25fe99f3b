/** The members of a body with children -> the write of each child, or all problems of any of them. */
import type { Request } from 'express';
import { accessRules } from '../../access/reference-access.js';
import { isPlain } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { RowKey } from '../../describe/model-info.js';
import { keyText } from '../../describe/row-key.js';
import { noSuchRecord } from '../../errors/errors.js';
import { type Access, OPEN_ACCESS } from '../../operation/access.js';
import type { BodyMembers } from '../../operation/body-members.js';
import { NO_INPUTS } from '../../operation/compile-features.js';
import type { Inputs } from '../../operation/feature.js';
import type { Touch } from '../../operation/operation.js';
import { compileValuesParser, type RequestArguments, withMembers } from '../../request/parse-request.js';
import { tryParseId } from '../../request/read-id.js';
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
import { isPromise } from '../../util/promises.js';
import {
  type BulkItem,
  compileHead,
  compileItemParser,
  type ItemParser,
  isExact,
  repeatedIssues,
  repeatedKey,
  textOfParts,
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
  const items = nested.flatMap((set) => VERBS.flatMap((verb) => set[verb]));
  return items.reduce((sum, { input }) => sum + 1 + (input?.query.otherRows ?? 0), 0);
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
    const needed = isWhole ? (['delete'] as const) : [];
    for (const verb of new Set([...needed, ...sent.map((each) => each.verb)]))
      access[verb] = (await accessRules(request)?.accessTo(target.model)?.(request, verb)) ?? OPEN_ACCESS;
    const items: Record<Verb, NestedItem[]> = { create: [], update: [], delete: [] };
    const known = new Map<string, number>();
    for (const [index, { verb, place, body }] of sent.entries()) {
      if (issues.length > MAX_ISSUES) break;
      const keys = verb === 'create' ? new Map<string, number>() : known;
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
    withMembers(compileValuesParser(plan, kind, null, [given]), members),
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
  return all.flatMap((body, index): readonly SentItem[] => {
    const at = isOne ? placeOf(place) : placeOf(place, index);
    const verb = verbOf(body);
    if (verbs.has(verb)) return [{ verb, place: at, body }];
    const detail = `The endpoints of ${target.name} have no ${verb}, so that none can be nested.`;
    issues.push({ pointer: `/${at}`, code: 'nested.verb', detail });
    return [];
  });
}

/** The segments of a pointer. */
function placeOf(path: string, index?: number): ItemPlace {
  return (index === undefined ? path : `${path}/${index}`) as ItemPlace;
}

/** Parses a child that is deleted: the text of its id, or an object with it and the version that the child has to have. */
function compileRemovedParser(plan: ResourcePlan, given: string): ItemParser {
  const { info, entityTag } = plan;
  const readHead = compileHead(plan, given);
  const wrong = (errors: readonly RequestIssue[]): BulkItem => ({
    body: null,
    input: null,
    problem: new InvalidBodyError(errors),
  });
  const parts = info.address.filter(({ name }) => name !== given);
  return (_request, { access, absent, keys, index, repeated }, body) => {
    const isHidden = entityTag !== null && hidesState(entityTag, access.form);
    const issues: RequestIssue[] = [];
    const finish = (id: unknown, states: readonly string[] | null, refusal: Error | null): BulkItem => {
      if (issues.length === 0 && !refusal) {
        const values = partsUnder(info.address, given, id);
        issues.push(...repeatedIssues({ keys, index, repeated }, parts, textOfParts(values)));
      }
      if (issues.length > 0) return wrong(issues);
      if (refusal) return { body, input: null, problem: refusal };
      const query = states ? Object.freeze({ ...absent, ifMatch: states }) : absent;
      return { body, input: { query, access, id }, problem: null };
    };
    if (isPlain(body)) {
      const sent = body as Readonly<Record<string, unknown>>;
      const { names, id, states, refusal } = readHead(sent, issues, isHidden);
      for (const name of Object.keys(sent))
        if (!names.includes(name)) issues.push(unknownProperty(bodyPointer(name), name, names));
      return finish(id, states, refusal);
    }
    // Without a version, which the resource may require.
    const { refusal } = readHead({}, [], isHidden);
    if (typeof body !== 'string' && !isExact(body)) {
      issues.push({
        pointer: '',
        code: 'id',
        detail: `An item is the ${keyText(info.address)} of a ${plan.name}, or an object with it.`,
      });
      return finish(null, null, null);
    }
    const parsed = tryParseId(plan, String(body));
    if (parsed.kind === 'malformed')
      issues.push({
        pointer: '',
        code: 'id',
        detail: `${keyText(info.address)} must be ${parsed.expected}.`,
      });
    const missing =
      parsed.kind === 'impossible' ? noSuchRecord({ name: plan.name, key: keyText(info.address) }) : null;
    return finish(parsed.kind === 'id' ? parsed.value : null, null, refusal ?? missing);
  };
}

/** The parts of an id that the parent does not give. */
function partsUnder(address: RowKey, given: string, id: unknown): readonly unknown[] {
  const own = address.filter(({ name }) => name !== given);
  if (address.length === 1) return own.length === 0 ? [] : [id];
  return own.map(({ name }) => (id as Readonly<Record<string, unknown>>)[name]);
}
