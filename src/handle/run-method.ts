/** Runs an operation with the controller's method: an override of the user's, or the generated one and its repository. */

import { type Action, getFromContainer } from 'routing-controllers';
import { accessSource } from '../access/reference-access.js';
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { idOf, isOfTexts } from '../describe/row-key.js';
import { NotFoundError } from '../errors/errors.js';
import { storedText } from '../execute/customization/hydrate-record.js';
import type { Page } from '../execute/page.js';
import { hasAccessRules } from '../express/resources/application-access.js';
import type { CrudContext } from '../express/resources/crud-controller.js';
import type { Resource } from '../express/resources/resource.js';
import { type ResultShaper, releaseJson } from '../express/resources/result-shaper.js';
import type { Touch } from '../operation/operation.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { RequestArguments } from '../request/parse-request.js';
import { warnOfNothing } from '../request/request-log.js';
import { type Outcome, recordsShown } from './outcome.js';

/** A controller, as far as it is called. */
export type Controller = Record<string, (...args: unknown[]) => unknown>;

/** Makes the controller for a request: the user's from his container, under its own name. */
export function controllerFor({ controller, isGenerated }: Resource): (action: Action) => Controller {
  const concrete = controller as unknown as new () => object;
  if (!isGenerated) return (action) => getFromContainer(concrete, action) as Controller;
  const instance = new concrete() as Controller;
  return () => instance;
}

/** Context of a controller's method, beside the arguments of a request. */
export function contextOf(
  { plan, repository, access }: Resource,
  { request, response }: Action,
  touch?: Touch,
): CrudContext {
  const source = accessSource(request, plan.model, plan.access && access);
  const own = touch ? repository.touching(touch) : repository;
  return Object.freeze({ request, response, repository: source ? own.within(source) : own });
}

/**
 * Calls a generated method, or the override in its place.
 *
 * @param input the arguments of the request, or the values that routing-controllers has read of it for the parameters
 * @returns null where the method has answered by itself
 */
export type MethodRunner = (
  action: Action,
  input: RequestArguments | readonly unknown[],
) => Promise<Outcome | null>;

/** The arguments of a request; null where decorators of the user's have read the parameters. */
export function argumentsOf(input: RequestArguments | readonly unknown[]): RequestArguments | null {
  return isList(input) ? null : input;
}

function isList(input: RequestArguments | readonly unknown[]): input is readonly unknown[] {
  return Array.isArray(input);
}

/** Compiles the runner of a generated method. */
export function compileMethod(
  resource: Resource,
  { operation, method, parameters }: RouteSpec,
  shaper: ResultShaper,
): MethodRunner {
  const instanceFor = controllerFor(resource);
  let isLogged = !['read', 'update'].includes(baseOf(operation));
  return async (action, input) => {
    const { response } = action;
    const values = isList(input)
      ? input
      : parameters.map((name) =>
          name === 'context' ? contextOf(resource, action, input.query.touch) : input[name],
        );
    if (!resource.isGenerated) shaper.guard(response);
    const result = await instanceFor(action)[method]?.(...values);
    if (result === response || (result === undefined && response.headersSent)) return null;
    // An override without a `return` is one that has found nothing. Logged once, because that may be meant.
    if (result === undefined && !isLogged) {
      isLogged = true;
      const advice = `return what super.${method} gives, or null where there is no such record.`;
      warnOfNothing(
        action.request,
        `${resource.controller.name}.${method}`,
        'what it has written is rolled back',
        advice,
      );
    }
    releaseJson(response);
    if (hasAccessRules(action.request)) await shaper.ready(result, action);
    return outcomeOf(resource, operation, result);
  };
}

/** Converts the return value of a method to records of an answer. */
export function outcomeOf(resource: Resource, operation: Endpoint, result: unknown): Outcome {
  if (baseOf(operation) === 'delete') return { ...recordsOutcome(resource, [], null), count: 1 };
  if (operation === 'list') {
    const page = pageOf(resource, result);
    return recordsOutcome(resource, page.items, page);
  }
  return recordsOutcome(resource, [recordOf(resource, operation, result)], null);
}

function recordsOutcome(resource: Resource, records: readonly object[], page: Page<object> | null): Outcome {
  const { info } = resource.plan;
  const [first] = records as readonly Record<string, unknown>[];
  return {
    page,
    isOfMethod: true,
    count: records.length,
    key: () =>
      first &&
      idOf(info.address, (name) => (isOfTexts(info.address) ? storedText(info, first, name) : first[name])),
    stored: (attribute) => records[0] && storedText(info, records[0], attribute),
    ...recordsShown(resource, records),
  };
}

function pageOf({ plan }: Resource, result: unknown): Page<object> {
  const page = (result ?? {}) as Page<object>;
  if (Array.isArray(page.items)) return page;
  throw new TypeError(`The list method of the ${plan.name} controller must return a page with items.`);
}

/** An override that finds nothing may return nothing; one that writes a whole record must have written something. */
function recordOf({ plan: { name } }: Resource, operation: Endpoint, result: unknown): object {
  if (typeof result === 'object' && result !== null) return result;
  if (operation === 'create' || operation === 'replace') {
    throw new TypeError(
      `The ${operation} method of the ${name} controller must return the record it created.`,
    );
  }
  throw new NotFoundError(`There is no such ${name}.`);
}
