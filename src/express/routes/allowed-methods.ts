/** Answers methods that a path does not have: 405 with `Allow` (RFC 9110, 15.5.6), and 204 to OPTIONS. */
import type { RequestHandler, Router } from 'express';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { setDefaultHeaders } from '../../request/standard-headers.js';
import { keptIn } from '../../util/memo.js';
import type { ControllerRoute } from '../resources/controller-metadata.js';
import { type PathMatching, pathShape, withoutSlash } from './path-matching.js';

/** Verb and path of a route. */
export type ClosableRoute = Pick<ControllerRoute, 'verb' | 'path'> &
  Partial<Pick<ControllerRoute, 'isRefused'>>;

/** Closes every path of a resource: requests without a route are answered here. Paths without parameters come first. */
export function closePaths(router: Router, routes: readonly ClosableRoute[], matching: PathMatching): void {
  const paths = closablePaths(routes, matching);
  // The first one answers: `/changes` before `/:id`, which has other methods.
  for (const isOpen of [false, true])
    for (const { path, routes: own } of paths)
      if (path.includes(':') === isOpen) router.all(path, refuseOtherMethods(own));
}

/** Each path as one of its routes has it, and all of these. */
function closablePaths(routes: readonly ClosableRoute[], matching: PathMatching) {
  const paths = new Map<string, { readonly path: string; readonly routes: ClosableRoute[] }>();
  for (const route of routes) {
    const { path } = route;
    // Paths that a regular expression of the user's matches cannot be separated from others.
    if (typeof path !== 'string') continue;
    const make = () => ({ path: matching.strict ? path : withoutSlash(path), routes: [] });
    keptIn(paths, pathShape(path, matching), make).routes.push(route);
  }
  // A path on which the user takes every method has no other method.
  return [...paths.values()].filter(({ routes: own }) => !own.some(({ verb }) => verb === 'all'));
}

/** Express answers HEAD wherever it answers GET. */
function methodsOf(routes: readonly ClosableRoute[]): ReadonlySet<string> {
  const served = routes.filter(({ isRefused }) => !isRefused?.());
  return new Set(served.flatMap(({ verb }) => (verb === 'get' ? ['GET', 'HEAD'] : [verb.toUpperCase()])));
}

function refuseOtherMethods(routes: readonly ClosableRoute[]): RequestHandler {
  return (request, response, next) => {
    const methods = methodsOf(routes);
    // A route has answered, or the path's own route has left the request to others.
    if (response.headersSent || methods.has(request.method)) {
      next();
      return;
    }
    const allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
    if (request.method === 'OPTIONS') {
      response.setHeader('Allow', allow);
      setDefaultHeaders(response);
      response.statusCode = 204;
      response.end();
      return;
    }
    const detail = `This path does not have the method ${request.method}; it has ${allow}.`;
    next(new RefusedRequestError(405, detail, { Allow: allow }));
  };
}
