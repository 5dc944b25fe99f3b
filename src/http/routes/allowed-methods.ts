/** What a path answers to a method it does not have: 405 with `Allow` (RFC 9110, 15.5.6), and 204 to OPTIONS. */
import type { RequestHandler, Router } from 'express';
import { setDefaultHeaders } from '../answer/default-headers.js';
import { sendProblem } from '../error/exception-handler.js';
import type { ControllerRoute } from '../resources/controller-metadata.js';

/** What matters of a route here. */
export type ClosableRoute = Pick<ControllerRoute, 'verb' | 'path'>;

/** Closes every path of a resource: what no route has taken is answered here. Paths keep the order of the routes. */
export function closePaths(router: Router, routes: readonly ClosableRoute[]): void {
  for (const { path, verbs } of closablePaths(routes)) router.all(path, refuseOtherMethods(methodsOf(verbs)));
}

/** Each path as one of its routes has it, and the methods of them all. */
function closablePaths(routes: readonly ClosableRoute[]) {
  const paths = new Map<string, { readonly path: string; readonly verbs: Set<string> }>();
  for (const { path, verb } of routes) {
    // What a regular expression of the user's matches cannot be told apart from other paths.
    if (typeof path !== 'string') continue;
    const known = paths.get(pathShape(path)) ?? { path: withoutSlash(path), verbs: new Set() };
    paths.set(pathShape(path), known);
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
    response.setHeader('Allow', allow);
    if (request.method === 'OPTIONS') {
      setDefaultHeaders(response);
      response.statusCode = 204;
      response.end();
      return;
    }
    sendProblem(request, response, {
      status: 405,
      detail: `This path does not have the method ${request.method}; it has ${allow}.`,
    });
  };
}

/** The path in small letters, without the names of its parameters and the slash at its end. */
export function pathShape(path: string): string {
  return withoutSlash(path.toLowerCase().replace(/:\w+/g, ':'));
}

/** The path without the slash at its end; the root stays. */
export function withoutSlash(path: string): string {
  return path.replace(/(.)\/$/, '$1');
}
