/** Declares the methods of a resource to routing-controllers: status, parameters that its resource injects, and settings of row security. */

import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { Endpoint } from '../../declare/crud-options.js';
import type { PathSettings } from '../../handle/decide-route.js';
import type { HandledRoute } from '../../handle/handled-route.js';
import type { ResourceArguments } from '../../handle/resource-arguments.js';
import { contextOf } from '../../handle/run-method.js';
import type { SettingsRoute } from '../../operation/route-settings.js';
import { type RouteSpec, routeNamed } from '../../operation/route-spec.js';
import { setToldNames } from '../../request/request-notes.js';
import { authorizations, declaredParameters } from '../resources/controller-metadata.js';
import type { Resource } from '../resources/resource.js';
import { recordKey, resourceParameter } from '../resources/resource-parameters.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';

/** Parameters and status of a generated route, where the user's decorators say nothing else. */
export function addGeneratedMetadata(
  resource: Resource,
  method: string,
  controller: new () => object,
  lineage: readonly object[],
): void {
  const storage = routingStorage();
  const route: HandledRoute | undefined = routeNamed(resource.routes, method);
  if (!route || route.compile) return;
  const object = controller.prototype;
  const declared = declaredParameters(lineage, method);
  if (declared.length > 0) {
    if (route.verb !== 'get' || resource.plan.access) {
      // The parameters would read the body and begin a unit of work before the parser runs.
      const middleware = accessGuard(resource, route.operation);
      storage.uses.push({ target: controller, method, middleware, afterAction: false });
    }
    const indexes = new Set(declared.map(({ index }) => index));
    route.parameters.forEach((parameter, index) => {
      if (indexes.has(index)) return;
      const transform = parameterReader(resource, route, parameter);
      const options = { type: 'custom-converter', parse: false, required: false } as const;
      storage.params.push({ ...options, object, method, index, transform });
    });
  }
  if (route.verb === 'delete') {
    storage.responseHandlers.push({ target: controller, method, type: 'on-undefined', value: 204 });
  }
}

/** Reads an undecorated parameter of a method with decorated ones, because routing-controllers requires a decorator on each. */
function parameterReader(
  resource: Resource,
  { operation }: RouteSpec,
  parameter: RouteSpec['parameters'][number],
): (action: Action) => unknown {
  if (parameter === 'context') return (action) => contextOf(resource, action);
  return async ({ request }) => (await resource.parseOnce[operation](request))[parameter];
}

/** Evaluates the rules before the parameters of a method are read. */
function accessGuard({ access, features }: Resource, operation: Endpoint) {
  const { readHeaders, absentFor } = features[operation];
  return async (
    request: Action['request'],
    _response: unknown,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const granted = await access(request, operation);
      setToldNames(request, granted.form);
      readHeaders(request, absentFor(granted.form), granted);
    } catch (error) {
      return next(error);
    }
    next();
  };
}

/**
 * Makes a route evaluate the settings of its requests before anything else of a request is read, behind the middlewares that the user's
 * decorators have put before the method so far.
 */
export function evaluateSettings(
  controller: new () => object,
  method: string,
  { rls }: PathSettings,
  describe: () => SettingsRoute,
): void {
  if (!rls) return;
  const middleware = rls.handler(describe());
  if (middleware) routingStorage().uses.push({ target: controller, method, middleware, afterAction: false });
}

/**
 * Binds the parameters of a method of a registered controller. A route of the user's is refused before its body is read, unless
 * `@Authorized()` has its say, which comes after the body.
 */
export function bindArguments(
  { routes }: Resource,
  method: string,
  { parse, read }: ResourceArguments,
  controller: new () => object,
  lineage: readonly object[],
): void {
  const storage = routingStorage();
  storage.params = storage.params.map((each) => {
    const isOurs = each.object === controller.prototype && each.method === method;
    const parameter = isOurs ? resourceParameter(each) : undefined;
    const key = recordKey(each);
    return parameter ? { ...each, transform: (action: Action) => read(parameter, action, key) } : each;
  });
  const isAuthorized = authorizations().some(
    ({ target, method: guarded }) =>
      lineage.includes(target) && (guarded === undefined || guarded === method),
  );
  if (routeNamed(routes, method) || isAuthorized) return;
  const middleware = (request: Request, _response: unknown, next: (error?: unknown) => void) =>
    Promise.resolve(parse(request)).then(() => next(), next);
  storage.uses.push({ target: controller, method, middleware, afterAction: false });
}
