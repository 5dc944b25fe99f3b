/** Answers methods that a path does not have: 405 with `Allow` (RFC 9110, 15.5.6), and 204 to OPTIONS. */
import type { RequestHandler, Router } from 'express';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { setDefaultHeaders } from '../../request/standard-headers.js';
import type { ControllerRoute } from '../resources/controller-metadata.js';
import { type PathMatching, pathShape, withoutSlash } from './path-matching.js';

/** Verb and path of a route. */
export type ClosableRoute = Pick<ControllerRoute, 'verb' | 'path'>;

/** Closes every path of a resource: what no route has taken is answered here. Paths keep the order of the routes. */
export function closePaths(router: Router, routes: readonly ClosableRoute[], matching: PathMatching): void {
  for (const { path, verbs } of closablePaths(routes, matching))
    router.all(path, refuseOtherMethods(methodsOf(verbs)));
}

/** Each path as one of its routes has it, and the methods of them all. */
function closablePaths(routes: readonly ClosableRoute[], matching: PathMatching) {
  const paths = new Map<string, { readonly path: string; readonly verbs: Set<string> }>();
  for (const { path, verb } of routes) {
    // Paths that a regular expression of the user's matches cannot be separated from others.
    if (typeof path !== 'string') continue;
    const shape = pathShape(path, matching);
    const known = paths.get(shape) ?? { path: matching.strict ? path : withoutSlash(path), verbs: new Set() };
    paths.set(shape, known);
    known.verbs.add(verb);
  }
  // A path on which the user takes every method has no other method.
  return [...paths.values()].filter(({ verbs }) => !verbs.has('all'));
}

/** Express answers HEAD wherever it answers GET. */
function methodsOf(verbs: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...verbs].flatMap((verb) => (verb === 'get' ? ['GET', 'HEAD'] : [verb.toUpperCase()])));
}

function refuseOtherMethods(methods: ReadonlySet<string>): RequestHandler {
  const allow = [...new Set([...methods, 'OPTIONS'])].join(', ');
  return (request, response, next) => {
    // A route has answered, or the path's own route has left the request to others.
    if (response.headersSent || methods.has(request.method)) {
      next();
      return;
    }
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
