/** Has routing-controllers read the parameters of a method that come from its resource. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { ResourceArguments } from '../../handle/resource-arguments.js';
import { routeNamed } from '../../operation/route-spec.js';
import type { Resource } from '../resources/resource.js';
import { resourceParameter } from '../resources/resource-parameters.js';
import { routingStorage } from '../resources/routing-controllers-internals.js';

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
    return parameter ? { ...each, transform: (action: Action) => read(parameter, action) } : each;
  });
  const isAuthorized = storage.responseHandlers.some(
    ({ type, target, method: guarded }) =>
      type === 'authorized' && lineage.includes(target) && (guarded === undefined || guarded === method),
  );
  if (routeNamed(routes, method) || isAuthorized) return;
  const middleware = (request: Request, _response: unknown, next: (error?: unknown) => void) =>
    Promise.resolve(parse(request)).then(() => next(), next);
  storage.uses.push({ target: controller, method, middleware, afterAction: false });
}
