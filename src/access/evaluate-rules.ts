/** The rules of a resource -> the access of a request. Each rule of an operation is evaluated once, also where several parts need its result. */

import type { Request } from 'express';
import { type AccessPlan, type ResourcePlan, restrictedNames } from '../compile/resource-plan.js';
import { EVERYTHING, type RowRule } from '../declare/access-options.js';
import {
  isWrite,
  ROW_RULE_NAMES,
  RULES_OF,
  type RuledWork,
  type RuleName,
  verbOf,
  writesOf,
} from '../declare/endpoint.js';
import { FilterTemplate } from '../declare/filter-template.js';
import type { RecordInfo } from '../describe/model-info.js';
import { isOfKey } from '../describe/row-key.js';
import {
  type Access,
  type AccessForm,
  accessWith,
  type GivenValues,
  NONE_GIVEN,
  OPEN_ACCESS,
  type ScopeMode,
} from '../operation/access.js';
import { allOf, compared, equalTo } from '../operation/predicates.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { FilterError } from '../request/query/filter-syntax.js';
import { parseFilterValue } from '../request/query/filter-value.js';
import type { Comparison, Predicate, Value } from '../request/query/predicate.js';
import { exactText, recordValue, typeTemplate } from '../request/query/rule-filters.js';
import { thrownError } from '../util/describe-error.js';
import { BoundedCache } from '../util/memo.js';
import { all, isPromise, type Maybe, then } from '../util/promises.js';

/**
 * Evaluates the rules of a resource for a request.
 *
 * @param endpoint null for work that is no operation of the resource
 * @param before the access of the same request for another operation: a read does not evaluate the rules of rows again
 * @throws RefusedRequestError 403 where a rule refuses; errors of rules
 */
type EvaluateAccess = (request: Request, endpoint: RuledWork | null, before?: Maybe<Access>) => Maybe<Access>;

/** Evaluates which attributes a request may not read. Shared by all that need it of a request, so that each rule is evaluated once. */
type EvaluateUnreadable = (request: Request) => Maybe<readonly string[]>;

/** Evaluates the values that the server sets in the writes of an endpoint. */
export type EvaluateGiven = (request: Request, endpoint: RuledWork | null) => Maybe<GivenValues>;

function compileUnreadable({ fields }: AccessPlan): EvaluateUnreadable {
  const ruled = [...fields].filter(([, { read }]) => read !== null);
  if (ruled.length === 0) return () => NONE;
  return (request) =>
    then(all(ruled.map(([, { read }]) => allows(read, request))), (answers) =>
      ruled.flatMap(([name], index) => (answers[index] === true ? [] : name)),
    );
}

/** Compiles the rules. The work of each request makes few objects, because collecting them costs more than the rest. */
export function compileAccessRules(
  info: RecordInfo,
  plan: AccessPlan,
  evaluateUnreadable: EvaluateUnreadable = compileUnreadable(plan),
  evaluateGiven: EvaluateGiven | null = null,
): EvaluateAccess {
  const makeAccess = compileAccessOf(info, plan);
  const scoped = [...plan.scope.values()];
  const fields = [...plan.fields];
  const evaluate = (request: Request, endpoint: RuledWork | null, allowed: Predicate | null) => {
    const writes = writesOf(endpoint);
    const asked = scoped.map((rule) => guarded(rule, request));
    asked.push(plan.visible ? guarded(plan.visible, request) : EVERYTHING, evaluateUnreadable(request));
    for (const write of writes) for (const [, rules] of fields) asked.push(allows(rules[write], request));
    if (evaluateGiven) asked.push(evaluateGiven(request, endpoint));
    return then(all(asked), (answers) => {
      const refused = writes.flatMap((write, turn) =>
        fields.flatMap(([name, { update }], index) => {
          const isAllowed = answers[scoped.length + 2 + turn * fields.length + index] === true;
          const isKept =
            endpoint === 'upsert' ? update === false : endpoint === 'replace' && isGivenByPath(info, name);
          return isAllowed || (write === 'update' && isKept) ? [] : name;
        }),
      );
      const given = evaluateGiven ? (answers.at(-1) as GivenValues) : NONE_GIVEN;
      return makeAccess(answers, refused, allowed, given);
    });
  };
  return (request, endpoint, before) => {
    const can = endpoint ? allowedRows(info, plan, endpoint, request) : null;
    return then(can, (allowed) => {
      if (!before || writesOf(endpoint).length > 0) return evaluate(request, endpoint, allowed);
      const reuse = (known: Access) => (known.allowed === allowed ? known : accessWith(known, { allowed }));
      if (!isPromise(before)) return reuse(before);
      // A rule of the other operation alone may have refused it.
      return before.then(reuse, () => evaluate(request, endpoint, allowed));
    });
  };
}

/** No replacement changes it. */
function isGivenByPath({ attributes, address }: RecordInfo, name: string): boolean {
  return attributes.get(name)?.role === 'primaryKey' || isOfKey(address, name);
}

/** Makes the access of the results of rules: those of `scope`, then `visible`, then of unreadable attributes. */
function compileAccessOf(info: RecordInfo, { scope, set }: AccessPlan) {
  const names = [...scope.keys()];
  const forms = new BoundedCache<AccessForm>();
  const slotNames = names.map((name) => slotOf(info, name));
  return (
    answers: readonly unknown[],
    unwritable: readonly string[],
    allowed: Predicate | null,
    given: GivenValues,
  ): Access => {
    const slots: Record<string, string> = {};
    let several: Comparison<Value>[] | undefined;
    // A text in the place of nested lists.
    let key = '';
    for (const [index, name] of names.entries()) {
      const answer = answers[index];
      const mode = modeOf(answer);
      key += mode;
      if (mode === 'one') slots[slotNames[index] as string] = textOf(info, name, answer);
      else if (mode === 'several') {
        const texts = (answer as unknown[]).map((value) => textOf(info, name, value));
        several = [...(several ?? []), compared(name, '=in=', texts)];
      }
    }
    const visible = visibleRows(info, answers[names.length]);
    const unreadable = answers[names.length + 1] as readonly string[];
    if (unreadable.length > 0) key += `\u0001${unreadable.join('\0')}`;
    if (unwritable.length > 0) key += `\u0002${unwritable.join('\0')}`;
    const form = forms.get(key, () =>
      formOf(info, names, answers, { unreadable, unwritable, given: set.keys() }),
    );
    const hasMore = several !== undefined || visible !== null;
    const where = hasMore ? allOf(form.where, ...(several ?? NONE), visible) : form.where;
    return new GrantedAccess(info, form, where, slots, several ?? NONE, allowed, given);
  };
}

/** Compiles the parts that only writes and cursors need at their first use. */
class GrantedAccess implements Access {
  readonly references = NONE;

  constructor(
    private readonly info: RecordInfo,
    readonly form: AccessForm,
    readonly where: Predicate | null,
    readonly slots: Readonly<Record<string, string>>,
    private readonly several: readonly Comparison<Value>[],
    readonly allowed: Predicate | null,
    readonly given: GivenValues,
  ) {}

  values(): ReadonlyMap<string, readonly unknown[]> {
    return valuesOf(this.info, this.form, this.slots, this.several);
  }

  digest(): string {
    return this.where === null ? '' : JSON.stringify([this.slots, this.where]);
  }
}

const NONE: readonly [] = Object.freeze([]);

function modeOf(answer: unknown): ScopeMode {
  if (answer === EVERYTHING) return 'any';
  return Array.isArray(answer) ? 'several' : 'one';
}

function formOf(
  info: RecordInfo,
  names: readonly string[],
  answers: readonly unknown[],
  {
    unreadable,
    unwritable,
    given,
  }: Readonly<Record<'unreadable' | 'unwritable' | 'given', Iterable<string>>>,
): AccessForm {
  const modes = names.map((name, index) => [name, modeOf(answers[index])] as const);
  const single = modes.flatMap(([name, mode]) => (mode === 'one' ? name : []));
  return Object.freeze({
    scope: new Map(modes),
    where: allOf(...single.map((name) => equalTo(name, Object.freeze({ slot: slotOf(info, name) })))),
    unreadable: new Set(unreadable),
    unwritable: new Set(unwritable),
    given: new Set(given),
  });
}

/** The values of scoped attributes, as records have them. */
function valuesOf(
  info: RecordInfo,
  { scope }: AccessForm,
  slots: Access['slots'],
  several: readonly Comparison<Value>[],
): ReadonlyMap<string, readonly unknown[]> {
  const values = new Map<string, readonly unknown[]>();
  for (const [name, mode] of scope) {
    if (mode === 'any') continue;
    const texts =
      mode === 'one'
        ? [slots[slotOf(info, name)] as string]
        : several.flatMap((each) => (each.attribute === name ? (each.values as readonly string[]) : []));
    values.set(
      name,
      texts.map((text) => recordValue(info.attributes.get(name)?.type, text)),
    );
  }
  return values;
}

/** The name of a slot. The name of a model has no dot. A statement may have slots of several models. */
function slotOf({ name }: RecordInfo, attribute: string): string {
  return `scope.${name}.${attribute}`;
}

/** @throws TypeError where the type of the attribute has no such value; the message leaves the value out */
function textOf(info: RecordInfo, attribute: string, value: unknown): string {
  // No row has a text with a NUL, and Sequelize would insert another one.
  const hasNul = typeof value === 'string' && value.includes('\0');
  if (value === null || value === undefined || hasNul)
    throw denied(`This request has no access to ${info.name}.`);
  const type = info.attributes.get(attribute)?.type;
  const text = exactText(type, value);
  try {
    if (type && text !== undefined) return parseFilterValue(type, { text, position: 0 }, attribute);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
  }
  throw new TypeError(
    `scope.${attribute} of ${info.name} gave a value that is no ${type?.kind} of this column.`,
  );
}

/**
 * The condition that a rule returned.
 *
 * @param rule its name, as the beginning of a sentence
 * @throws RefusedRequestError 403 where it is missing
 */
export function visibleRows(
  info: RecordInfo,
  answer: unknown,
  rule = `visible of ${info.name}`,
): Predicate | null {
  if (answer === EVERYTHING) return null;
  if (answer === null || answer === undefined) throw denied(`This request has no access to ${info.name}.`);
  if (!(answer instanceof FilterTemplate)) {
    throw new TypeError(`${rule} gave something else than a filter\`…\` or EVERYTHING.`);
  }
  const filter = typeTemplate(info, answer, rule);
  if (filter === null) throw denied(`This request has no access to ${info.name}.`);
  return filter;
}

function denied(message: string): RefusedRequestError {
  return new RefusedRequestError(403, message);
}

/**
 * Evaluates the rules of an endpoint in turn.
 *
 * @returns the rows that it may change; null for all of them
 * @throws RefusedRequestError 403 where a rule refuses
 */
function allowedRows(
  info: RecordInfo,
  { can }: AccessPlan,
  endpoint: RuledWork,
  request: Request,
): Maybe<Predicate | null> {
  const rules = RULES_OF[endpoint];
  const ask = (index: number, rows: Predicate | null): Maybe<Predicate | null> => {
    const rule = rules[index];
    if (rule === undefined) return rows;
    return then(allows(can.get(rule) ?? null, request), (answer) => {
      if (answer === true) return ask(index + 1, rows);
      if (!isOfRows(info, rule, answer))
        throw denied(`This request may not ${verbOf(endpoint)} ${info.name}.`);
      return ask(index + 1, allOf(rows, visibleRows(info, answer, `can.${rule} of ${info.name}`)));
    });
  };
  return ask(0, null);
}

/** True for a condition on rows. @throws TypeError where the rule is about no rows */
function isOfRows({ name }: RecordInfo, rule: RuleName, answer: unknown): boolean {
  if (answer !== EVERYTHING && !(answer instanceof FilterTemplate)) return false;
  if (ROW_RULE_NAMES.some((each) => each === rule)) return true;
  const mend =
    rule === 'create'
      ? 'a new record is not there yet: use scope, or give true or false'
      : 'use visible, which decides about rows, and give true or false';
  throw new TypeError(`can.${rule} of ${name} gave a filter or EVERYTHING; ${mend}.`);
}

/** Evaluates a rule; only `true` allows. */
function allows(rule: RowRule | null, request: Request): Maybe<unknown> {
  return typeof rule === 'function' ? guarded(rule, request) : (rule ?? true);
}

/**
 * Evaluates a rule. One that throws returns a promise that rejects: the promises of others must not be forgotten,
 * because a rejection that is handled by nothing ends the process. Express takes null and undefined for "no error, go
 * on".
 */
export function guarded(rule: (request: Request) => unknown, request: Request): Maybe<unknown> {
  try {
    const answer = rule(request);
    return isPromise(answer) ? Promise.resolve(answer).catch(fail) : answer;
  } catch (thrown) {
    return Promise.reject(thrown).catch(fail);
  }
}

function fail(thrown: unknown): never {
  throw thrownError(thrown, 'A rule of access');
}

/** Field of a request that holds the results of its rules. */
const ASKED = Symbol('asked access');

/** A property, as the resource of a request is. */
interface AskingRequest extends Request {
  [ASKED]?: Asked;
}

/** Result of a rule, and its operation, null for none. A list, as there is one result most of the time. */
interface Asked {
  readonly ask: object;
  readonly endpoint: RuledWork | null;
  readonly earlier: Asked | undefined;
  /** A promise until the rule has returned. */
  answer: unknown;
}

/** Evaluates the access of a request to a resource, once. */
export interface RequestAccess {
  /** @param endpoint operation of the request; left out by code that only needs the rows */
  (request: Request, endpoint?: RuledWork | null): Maybe<Access>;
  /** The attributes that the request may not read, for records in answers of other routes. */
  unreadable(request: Request): Maybe<readonly string[]>;
  /** True where the resource has a rule, and the rule allows the request. */
  allows(request: Request, rule: RuleName): Maybe<boolean>;
}

/** The access of requests to a resource. */
export function compileRequestAccess(
  { info, access }: Pick<ResourcePlan, 'access'> & { readonly info: RecordInfo },
  evaluateGiven: EvaluateGiven | null = null,
): RequestAccess {
  if (access === null) {
    return Object.assign(() => OPEN_ACCESS, { unreadable: () => NONE, allows: () => false });
  }
  const hasReadRules = restrictedNames(access).size > 0;
  const evaluateUnreadable = compileUnreadable(access);
  const unreadable = hasReadRules ? evaluatedOnce(evaluateUnreadable) : evaluateUnreadable;
  return Object.assign(evaluatedOnce(compileAccessRules(info, access, unreadable, evaluateGiven)), {
    unreadable,
    allows: (request: Request, rule: RuleName) =>
      then(
        allows(access.can.get(rule) ?? false, request),
        (answer) => answer === true || isOfRows(info, rule, answer),
      ),
  });
}

/** Caches results per request. A result without an operation has not checked that the request may use one. */
function evaluatedOnce<T>(ask: (request: Request, endpoint: RuledWork | null, before?: T) => T) {
  return (request: AskingRequest, endpoint: RuledWork | null = null): T => {
    let before: T | undefined;
    for (let known = request[ASKED]; known; known = known.earlier) {
      if (known.ask !== ask) continue;
      // A write comes first: its rules hold in all code that runs for it.
      if (endpoint === null ? isWrite(known.endpoint) : known.endpoint === endpoint) return known.answer as T;
      before = known.answer as T;
    }
    if (endpoint === null && before !== undefined) return before;
    const answer = ask(request, endpoint, before);
    // The rule may have evaluated others meanwhile, which `request[ASKED]` has.
    const entry: Asked = { ask, endpoint, answer, earlier: request[ASKED] };
    request[ASKED] = entry;
    if (answer instanceof Promise) {
      // A rule may reject before anything awaits it. Without this handler Node would end the process.
      answer.then(
        (value) => {
          entry.answer = value;
        },
        () => {},
      );
    }
    return answer as T;
  };
}
