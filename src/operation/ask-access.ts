/** The rules of a resource -> the access of a request. Each rule is asked once. */
import type { Request } from 'express';
import { type AccessRule, EVERYTHING } from '../metadata/access-options.js';
import type { Endpoint } from '../metadata/endpoint.js';
import { FilterTemplate } from '../metadata/filter-template.js';
import type { ModelInfo } from '../model/model-info.js';
import type { AccessPlan } from '../plan/access-plan.js';
import { FilterError } from '../query/filter-error.js';
import { parseFilterValue } from '../query/filter-value.js';
import { typeTemplate } from '../query/type-template.js';
import { BoundedCache } from '../util/bounded-cache.js';
import type { Access, AccessForm, ScopeMode } from './access.js';
import type { Comparison, Predicate } from './operation.js';
import { allOf, equalTo } from './predicates.js';
import { RefusedRequestError } from './refused-request-error.js';

/** A value, or a promise of it: without a promise nothing waits. */
type Maybe<T> = T | Promise<T>;

/**
 * Asks the rules of a resource for a request.
 *
 * @param endpoint null for what is no operation of the resource
 * @throws RefusedRequestError 403 where a rule refuses; what a rule throws
 */
export type AskAccess = (request: Request, endpoint: Endpoint | null) => Maybe<Access>;

/** What a rule of `scope` or `visible` has answered, by the name of the attribute. */
interface Answers {
  readonly scope: readonly (readonly [attribute: string, answer: unknown])[];
  readonly visible: unknown;
  readonly unreadable: readonly string[];
  readonly unwritable: readonly string[];
}

/** Compiles the rules. */
export function compileAskAccess(info: ModelInfo, plan: AccessPlan): AskAccess {
  const forms = new BoundedCache<AccessForm>();
  const scoped = [...plan.scope];
  const fields = [...plan.fields];
  return (request, endpoint) => {
    const ask = (rule: (request: Request) => unknown): Maybe<unknown> => guarded(rule, request);
    const allows = (rule: AccessRule | null): Maybe<unknown> =>
      typeof rule === 'function' ? ask(rule) : (rule ?? true);
    const can = endpoint ? allows(plan.can.get(endpoint) ?? null) : true;
    return then(can, (isAllowed) => {
      if (isAllowed !== true) throw denied(`This request may not ${endpoint} ${info.name}.`);
      const write = endpoint === 'create' || endpoint === 'update' ? endpoint : null;
      const asked = [
        ...scoped.map(([, rule]) => ask(rule)),
        plan.visible ? ask(plan.visible) : EVERYTHING,
        ...fields.map(([, { read }]) => allows(read)),
        ...fields.map((field) => (write ? allows(field[1][write]) : true)),
      ];
      return then(all(asked), (answers) => {
        const may = answers.slice(scoped.length + 1);
        const refused = (from: number) =>
          fields.flatMap(([name], index) => (may[from + index] === true ? [] : name));
        return accessOf(info, forms, {
          scope: scoped.map(([name], index) => [name, answers[index]] as const),
          visible: answers[scoped.length],
          unreadable: refused(0),
          unwritable: refused(fields.length),
        });
      });
    });
  };
}

function accessOf(info: ModelInfo, forms: BoundedCache<AccessForm>, answers: Answers): Access {
  const slots: Record<string, string> = {};
  const values = new Map<string, readonly unknown[]>();
  const conditions: Predicate[] = [];
  const scope = new Map<string, ScopeMode>();
  for (const [name, answer] of answers.scope) {
    const mode = answer === EVERYTHING ? 'any' : Array.isArray(answer) ? 'several' : 'one';
    scope.set(name, mode);
    if (mode === 'any') continue;
    const given: readonly unknown[] =
      mode === 'several' ? Object.freeze([...(answer as unknown[])]) : [answer];
    const texts = given.map((value) => textOf(info, name, value));
    values.set(name, given);
    if (mode === 'one') slots[slotOf(info, name)] = texts[0] as string;
    else conditions.push(anyOf(name, texts));
  }
  const visible = visibleRows(info, answers.visible);
  if (visible) conditions.push(visible);
  const form = formOf(info, forms, scope, answers);
  const where = allOf(form.where, ...conditions);
  const digest = where === null ? '' : JSON.stringify([slots, conditions]);
  return Object.freeze({ form, where, slots: Object.freeze(slots), values, digest });
}

function formOf(
  info: ModelInfo,
  forms: BoundedCache<AccessForm>,
  scope: ReadonlyMap<string, ScopeMode>,
  { unreadable, unwritable }: Answers,
): AccessForm {
  const key = JSON.stringify([[...scope], unreadable, unwritable]);
  return forms.get(key, () => {
    const single = [...scope].flatMap(([name, mode]) => (mode === 'one' ? name : []));
    return Object.freeze({
      scope,
      where: allOf(...single.map((name) => equalTo(name, Object.freeze({ slot: slotOf(info, name) })))),
      unreadable: new Set(unreadable),
      unwritable: new Set(unwritable),
    });
  });
}

/** The name of a model has no dot. Several models may stand in one statement. */
function slotOf({ name }: ModelInfo, attribute: string): string {
  return `scope.${name}.${attribute}`;
}

function anyOf(attribute: string, texts: readonly string[]): Comparison {
  return Object.freeze({ kind: 'comparison', attribute, operator: '=in=', values: Object.freeze(texts) });
}

/** @throws TypeError where the type of the attribute has no such value; the value is not told */
function textOf(info: ModelInfo, attribute: string, value: unknown): string {
  if (value === null || value === undefined) throw denied(`This request has no access to ${info.name}.`);
  const type = info.attributes.get(attribute)?.type;
  const text = value instanceof Date ? value.toISOString() : String(value);
  try {
    if (type && (typeof value !== 'object' || value instanceof Date))
      return parseFilterValue(type, { text, position: 0 }, attribute);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
  }
  throw new TypeError(
    `scope.${attribute} of ${info.name} gave a value that is no ${type?.kind} of this column.`,
  );
}

function visibleRows(info: ModelInfo, answer: unknown): Predicate | null {
  if (answer === EVERYTHING) return null;
  if (answer === null || answer === undefined) throw denied(`This request has no access to ${info.name}.`);
  if (!(answer instanceof FilterTemplate)) {
    throw new TypeError(`visible of ${info.name} gave something else than a filter\`…\` or EVERYTHING.`);
  }
  const filter = typeTemplate(info, answer);
  if (filter === null) throw denied(`This request has no access to ${info.name}.`);
  return filter;
}

function denied(message: string): RefusedRequestError {
  return new RefusedRequestError(403, message);
}

/** Asks a rule. What it throws is an error: Express takes null and undefined for "no error, go on". */
export function guarded(rule: (request: Request) => unknown, request: Request): Maybe<unknown> {
  const fail = (thrown: unknown): never => {
    if (typeof thrown === 'object' && thrown !== null) throw thrown;
    throw new TypeError('A rule of access threw something that is not an error.');
  };
  try {
    const answer = rule(request);
    return isPromise(answer) ? answer.then((value) => value, fail) : answer;
  } catch (thrown) {
    return fail(thrown);
  }
}

/** Whether something has to be waited for. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function all(values: readonly Maybe<unknown>[]): Maybe<readonly unknown[]> {
  return values.some(isPromise) ? Promise.all(values) : values;
}

function then<T, R>(value: Maybe<T>, next: (value: T) => Maybe<R>): Maybe<R> {
  return isPromise(value) ? (value as Promise<T>).then(next) : next(value as T);
}
