/** The rows that foreign keys of a write may name: those that the request sees of their models. */
import type { Request } from 'express';
import type { ModelClass } from '../declare/crud-options.js';
import { describeRecords } from '../describe/describe-model.js';
import { type ForeignKey, type FurtherKey, keyAttributes } from '../describe/foreign-keys.js';
import {
  type Access,
  type AccessForm,
  type AccessSource,
  accessWith,
  allowsValue,
  closedAttributes,
  OPEN_ACCESS,
  presetOf,
  withGiven,
} from '../operation/access.js';
import type { Reference } from '../operation/operation.js';
import { allOf, equalTo, sqlCondition } from '../operation/predicates.js';
import type { Predicate } from '../request/query/predicate.js';
import { exactText } from '../request/query/rule-filters.js';
import type { BodyKind } from '../schema/derive-class.js';
import { bodyPointer, InvalidBodyError, invalidAttribute, readOnlyIssue } from '../schema/request-issue.js';
import { all, type Maybe, then } from '../util/promises.js';
import type { RequestAccess } from './evaluate-rules.js';

/**
 * A schema of the user's may let a scoped attribute pass. Where the scope of a request has several values, the body has to name one of
 * them, also where the attribute has a default.
 *
 * @param given attributes that code checks later. Default: none
 * @throws InvalidBodyError
 */
export function checkScopedValues(
  kind: BodyKind,
  values: Readonly<Record<string, unknown>>,
  access: Access,
  given: readonly string[] = [],
): void {
  for (const [name, mode] of access.form.scope) {
    const value = values[name];
    if (value === undefined) {
      if (kind === 'update' || mode !== 'several' || given.includes(name)) continue;
      throw invalidAttribute(name, 'isDefined', `${name} is required.`);
    }
    if (kind === 'update' || mode === 'one') throw new InvalidBodyError([readOnlyIssue(name)]);
    if (!allowsValue(access, name, value))
      throw invalidAttribute(name, 'scope', `This request may not write records with this ${name}.`);
  }
}

/**
 * Checks a body that parameters of the user's have read. Its class may have attributes that the request may not set.
 *
 * @throws InvalidBodyError
 */
export function checkSentNames(body: unknown, { unwritable, given }: AccessForm): void {
  // Sequelize sets a part of a JSON attribute by a name such as `profile.role`.
  const sent = [body].flat().flatMap((part) => Object.keys(part ?? {}).map((key) => key.split('.', 1)[0]));
  const issues = [...unwritable, ...given].filter((name) => sent.includes(name)).map(readOnlyIssue);
  if (issues.length > 0) throw new InvalidBodyError(issues);
}

/** A foreign key to a model some of whose rows a request may not see, by a rule or by soft deletion. */
export interface RuledKey extends ForeignKey {
  /** Access to the target; null where it has no rules. */
  readonly access: RequestAccess | null;
  /** Rows of the target that a soft delete has not marked; null where none can be marked. */
  readonly live?: Predicate | null;
  /** Attributes of a key of several that no body of a change has. Default: none. */
  readonly kept?: ReadonlySet<string>;
}

/** Rules of an application for the models of its requests. */
export interface AccessRules {
  /** Null where there are no rules. */
  accessTo(model: ModelClass): RequestAccess | null;
  /** True where the application has no rules, and only foreign keys to models that are paranoid are checked. */
  readonly areNone?: boolean;
  keysOf(model: ModelClass): readonly RuledKey[];
}

const RULES = Symbol('rules of access');

interface ApplicationRequest extends Request {
  [RULES]?: AccessRules;
}

/** Remembers the rules for later code. */
export function setAccessRules(request: ApplicationRequest, rules: AccessRules): void {
  request[RULES] = rules;
}

/** The rules of the application; undefined where it has none. */
export function accessRules(request: ApplicationRequest): AccessRules | undefined {
  return request[RULES];
}

/**
 * The access of a request that writes values. Only rules of the models whose keys are sent are evaluated.
 *
 * @param kind the write. Default: it is done, so that a key with a missing part was not changed
 */
export function accessToWrite(
  request: Request,
  model: ModelClass,
  access: Access,
  values: Readonly<Record<string, unknown>>,
  kind?: BodyKind,
): Maybe<Access> {
  const keys = accessRules(request)?.keysOf(model);
  if (!keys || keys.length === 0) return access;
  const sent = keys.flatMap((key) => sentKey(key, access, values, kind) ?? []);
  if (sent.length === 0) return access;
  return then(all(sent.map((key) => key.access?.(request) ?? OPEN_ACCESS)), (granted) =>
    withReferences(access, sent, granted),
  );
}

/**
 * A key as far as values name its row; null where they name none. Parts that the server sets are a condition on the row, and a change
 * leaves those that no body may have as they are.
 *
 * @throws InvalidBodyError where only some parts of a key are sent
 */
function sentKey(
  key: RuledKey,
  access: Access,
  values: Readonly<Record<string, unknown>>,
  kind: BodyKind | undefined,
): SentKey | null {
  const pairs = [key, ...(key.more ?? [])];
  if (pairs.some(({ attribute }) => values[attribute] === null)) return null;
  const isSent = ({ attribute }: FurtherKey) => values[attribute] !== undefined;
  const [first, ...more] = pairs.filter(isSent);
  if (!first) return null;
  if (!key.more) return key;
  const absent = pairs.filter((each) => !isSent(each));
  const preset = absent.filter(({ attribute }) => presetOf(access, attribute) !== undefined);
  const own = absent.filter(
    ({ attribute }) =>
      kind === 'update' &&
      presetOf(access, attribute) === undefined &&
      (key.kept?.has(attribute) || closedAttributes(access.form, kind).has(attribute)),
  );
  const missing = absent.filter((each) => !preset.includes(each) && !own.includes(each));
  if (missing.length > 0) {
    if (kind === undefined) return null;
    throw partialKey(key, missing);
  }
  const { attributes } = describeRecords(key.target);
  const fixed = preset.map(({ attribute, key: name }) => {
    const text = exactText(attributes.get(name)?.type, presetOf(access, attribute));
    return text === undefined ? sqlCondition`false` : equalTo(name, text);
  });
  return { ...key, attribute: first.attribute, key: first.key, more, own, fixed: allOf(null, ...fixed) };
}

function partialKey(key: RuledKey, missing: readonly FurtherKey[]): InvalidBodyError {
  const names = [key, ...(key.more ?? [])].map(({ attribute }) => attribute).join(' and ');
  return new InvalidBodyError(
    missing.map(({ attribute }) => ({
      pointer: bodyPointer(attribute),
      code: 'isDefined',
      detail: `${names} name one ${key.target.name} together; send all of them.`,
    })),
  );
}

/**
 * Refuses a part of a key of several attributes in a write that may be a create or a change: a new row would have the default of the other
 * parts, and a row that is there keeps its own.
 *
 * @param values that the request has sent
 * @throws InvalidBodyError
 */
export function refusePartialKeys(
  request: Request,
  model: ModelClass,
  access: Access,
  values: Readonly<Record<string, unknown>>,
): void {
  for (const key of accessRules(request)?.keysOf(model) ?? []) {
    const pairs = [key, ...(key.more ?? [])];
    const missing = pairs.filter(({ attribute }) => values[attribute] === undefined);
    if (missing.length === pairs.length || pairs.some(({ attribute }) => values[attribute] === null))
      continue;
    const open = missing.filter(({ attribute }) => presetOf(access, attribute) === undefined);
    if (open.length > 0) throw partialKey(key, open);
  }
}

/** A key whose row a write names. */
interface SentKey extends RuledKey {
  /** The parts that the row itself has. Default: none. */
  readonly own?: readonly FurtherKey[];
  /** On its row: the parts that the server sets. Default: none. */
  readonly fixed?: Predicate | null;
}

/** Access of the repositories of a model; null where the application has no rules. */
export function accessSource(
  request: Request,
  model: ModelClass,
  access: RequestAccess | null,
): AccessSource | null {
  const rules = accessRules(request);
  if (!access && (!rules || (rules.areNone && rules.keysOf(model).length === 0))) return null;
  const grant = (...[values, kind]: Parameters<AccessSource>) => {
    const granted = access ? access(request) : OPEN_ACCESS;
    if (!values) return granted;
    return then(granted, (known) =>
      accessToWrite(request, model, known, kind ? withGiven(values, known, kind) : values, kind),
    );
  };
  const to = (other: ModelClass) =>
    (other === model ? access : rules?.accessTo(other))?.(request) ?? OPEN_ACCESS;
  const of = (other: ModelClass) =>
    accessSource(request, other, other === model ? access : (rules?.accessTo(other) ?? null));
  const keys = (rules?.keysOf(model) ?? []).map(keyAttributes);
  return Object.assign(grant, { to, of, keys, isOpen: access === null && rules?.areNone === true });
}

function withReferences(access: Access, keys: readonly SentKey[], granted: readonly Access[]): Access {
  const references = keys.flatMap(
    ({ attribute, target, key, more = [], own = [], live = null, fixed = null }, index): Reference[] => {
      const where = allOf(granted[index]?.where ?? null, live);
      if (!where) return [];
      const further = { ...(more.length > 0 ? { more } : {}), ...(own.length > 0 ? { own } : {}) };
      return [{ attribute, target: describeRecords(target), key, ...further, where: allOf(where, fixed) }];
    },
  );
  const slots = Object.assign({}, access.slots, ...granted.map((each) => each.slots));
  return accessWith(access, { slots: Object.freeze(slots), references });
}
