/** Paths that are equal to an application: Express's settings `case sensitive routing` and `strict routing`. */
import type { Application, RequestHandler } from 'express';
import { layersOf, routerOf } from '../../request/express-internals.js';

/** Options of `express.Router`. */
export interface PathMatching {
  readonly caseSensitive: boolean;
  /** A slash at the end makes another path. */
  readonly strict: boolean;
}

/** The matching of Express by default. */
export const LOOSE: PathMatching = Object.freeze({ caseSensitive: false, strict: false });

/** Express has read its settings when its router was made; the narrower of both holds, so that no guard of a path is passed. */
export function pathMatching(app: Application): PathMatching {
  const { caseSensitive = false, strict = false } = routerOf(app) ?? {};
  return {
    caseSensitive: caseSensitive || app.enabled('case sensitive routing'),
    strict: strict || app.enabled('strict routing'),
  };
}

/**
 * Mounts a handler below a path of letters, digits and `-._~`. Express 4 takes a second slash behind it for a part of it, so that
 * `/api//notes` would pass a guard of `/api/notes`.
 */
export function mountBelow(app: Application, path: string, handler: RequestHandler): void {
  app.use(path || '/', handler);
  const layer = layersOf(app).at(-1);
  if (path === '' || !layer?.regexp) return;
  const { caseSensitive } = pathMatching(app);
  layer.regexp = new RegExp(`^${path.replaceAll('.', '\\.')}(?=/|$)`, caseSensitive ? '' : 'i');
}

/**
 * Makes a router, which may be mounted anywhere, leave a request to the application around it. It does so where no path is the router's own,
 * and where a route would take the path of another one. `/Many` is an id beside `/:id`, and `POST /many` must not answer it.
 */
export function leaveOtherPaths(routes: readonly { verb: string; path: string }[]): RequestHandler {
  return ({ app, path: sent, method }, _response, next) => {
    const matching = pathMatching(app);
    if (!matching.caseSensitive && !matching.strict) {
      next();
      return;
    }
    const others = routes.filter(({ path }) => !isSamePath(path, sent, matching));
    const verbs = ['all', method === 'HEAD' ? 'get' : method.toLowerCase()];
    const isTaken = others.some(({ verb, path }) => verbs.includes(verb) && isSamePath(path, sent, LOOSE));
    next(isTaken || others.length === routes.length ? 'router' : undefined);
  };
}

/** @param path with names of parameters */
function isSamePath(path: string, sent: string, matching: PathMatching): boolean {
  const shape = pathShape(path, matching).split('/');
  // A parameter is a colon in a shape, and text in a path of a request.
  const segments = pathShape(sent, matching, false).split('/');
  return (
    shape.length === segments.length &&
    shape.every((each, index) => (each === ':' ? segments[index] !== '' : each === segments[index]))
  );
}

/** Common form of all paths that are equal to an application, without the names of their parameters. */
export function pathShape(
  path: string,
  { caseSensitive, strict }: PathMatching,
  hasParameters = true,
): string {
  const unnamed = hasParameters ? path.replace(/:\w+/g, ':') : path;
  const cased = caseSensitive ? unnamed : unnamed.toLowerCase();
  return strict ? cased : withoutSlash(cased);
}

/** The path without the slash at its end; the root stays. */
export function withoutSlash(path: string): string {
  return path.replace(/(.)\/$/, '$1');
}
