/** A page that a route of the user's returns -> the envelope of a list. */
import type { Action } from 'routing-controllers';
import { orderShape } from '../compile/compile-sort.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { isRecord, modelOf } from '../describe/record.js';
import { type OffsetPage, originOf, type Page } from '../execute/page.js';
import type { Resource } from '../express/resources/resource.js';
import { releaseJson } from '../express/resources/result-shaper.js';
import type { AnswerDraft } from '../operation/feature.js';
import { USUAL } from '../operation/route-spec.js';
import type { ListQuery } from '../request/query/list-query.js';
import { offsetEnvelope } from '../respond/envelope.js';
import { writesPlainJson } from '../respond/json-answer.js';
import type { WireRecord } from '../respond/record-serializer.js';
import { compileCompletions, completeInSession } from './around.js';
import type { ResourceArguments } from './resource-arguments.js';
import { outcomeOf } from './run-method.js';
import { compileShape } from './shape-answer.js';

type PageAnswer = { readonly draft: AnswerDraft } | { readonly result: unknown };

/** Shapes the page that a method has returned. @throws TypeError for a result that cannot be answered truly */
export type PageShaper = (result: unknown, action: Action) => Promise<PageAnswer>;

/** Compiles the shaper of methods with a list query: they return its page, as in the document. */
export function listShaper(
  resource: Resource,
  method: string,
  { parse }: ResourceArguments,
  { isText, isChanged }: { readonly isText: boolean; readonly isChanged: boolean },
): PageShaper {
  const { plan } = resource;
  const completions = compileCompletions(resource, 'list');
  const shape = compileShape(resource, USUAL.list, { isMethodAsked: true, isChanged, isRuled: true });
  return async (result, action) => {
    const { request, response } = action;
    if (result === undefined || result === null || result === response || response.headersSent)
      return { result };
    const input = await parse(request);
    const problem = pageProblem(plan, result, input.query as unknown as ListQuery);
    if (problem) throw new TypeError(`${plan.name}: ${method} has @InjectListQuery(), ${problem}`);
    releaseJson(response);
    const found = outcomeOf(resource, 'list', result);
    const { sequelize } = plan.model;
    const outcome = await completeInSession(completions, found, input, { request, sequelize, verb: 'get' });
    const format = isText && writesPlainJson(response) ? 'text' : 'values';
    return { draft: shape(outcome, input, format, action) };
  };
}

/** Compiles the shaper of methods without one: a page by number has all values of its envelope. */
export function pageShaper({ plan }: Resource, method: string): PageShaper {
  return async (result) => {
    const page = result as Page<WireRecord> | null | undefined;
    if (typeof page !== 'object' || page === null || !originOf(page)) return { result };
    if (isNumbered(page)) return { result: offsetEnvelope(page, plan.count !== null, page.items) };
    throw new TypeError(
      `${plan.name}: ${method} returned a page by cursor, and has no @InjectListQuery(), so that nothing could read its cursors.`,
    );
  };
}

function pageProblem(plan: ResourcePlan, result: unknown, query: ListQuery): string | undefined {
  const page = result as Page<unknown>;
  if (!Array.isArray(page.items)) return 'so it must return what page or cursorPage of a repository gives.';
  const isCursorPage = page.next !== undefined && page.prev !== undefined;
  if (query.kind === 'offset' ? !isNumbered(page) : !isCursorPage)
    return `so it must return a page by ${query.kind === 'offset' ? 'number' : 'cursor'}.`;
  const origin = originOf(page);
  if ((origin && !isOf(plan.model, origin.model)) || page.items.some((item) => isForeign(plan.model, item)))
    return 'and returned a page of another model.';
  if (!origin) return page.next || page.prev ? 'and returned places that no repository gave.' : undefined;
  // A cursor is read as a place in the order of the query; a condition of the method's own does not change that place.
  const isInOrder = orderShape(origin.order) === orderShape(query.sort);
  return isInOrder || query.kind === 'offset' ? undefined : 'and returned a page in another order.';
}

/** A model with a scope is a subclass of the model. */
function isOf(model: object, other: object): boolean {
  return other === model || Object.prototype.isPrototypeOf.call(model, other);
}

function isForeign(model: object, item: unknown): boolean {
  return typeof item === 'object' && item !== null && isRecord(item) && !isOf(model, modelOf(item));
}

function isNumbered<T>(page: Page<T>): page is OffsetPage<T> {
  const isTold = typeof page.total === 'number' || page.totalIs !== undefined;
  return isTold && typeof page.page === 'number' && typeof page.size === 'number';
}
