/** A router whose cost grows with its routes -> a handler that matches only those of the request's first path segment. */
import express, { type RequestHandler, type Router } from 'express';
import { sendRequestId } from '../../request/standard-headers.js';
import { mustRefuse, refusal } from '../connection/open-connection.js';
import { LOOSE, type PathMatching, pathShape } from './path-matching.js';

/** Routers of the library that are mounted behind, whose paths have no parameters: routes that take any path leave theirs to them. */
interface RoutersBehind {
  /** Path below which the handler is mounted. */
  readonly prefix: string;
  readonly routers: readonly Router[];
  readonly matching: PathMatching;
}

const NONE_BEHIND: RoutersBehind = { prefix: '', routers: [], matching: LOOSE };

/**
 * Express matches the layers of a router one after the other, so that a request would cost more with every model. Here each
 * first segment gets a router of its own: the same layers in the same order, without those whose path begins with another
 * segment. Layers that are left out could not have matched, so every request meets the same layers as before. A layer that
 * may match under any segment (a middleware, a parameter, a regular expression) is in all of them.
 */
export function dispatchBySegment(whole: Router, behind: RoutersBehind = NONE_BEHIND): RequestHandler {
  const elsewhere = express.Router();
  const routers = new Map<string, Router>();
  for (const layer of whole.stack) {
    const segment = literalSegment(layer.route?.path);
    if (segment === undefined) {
      for (const router of [elsewhere, ...routers.values()]) router.stack.push(layer);
      continue;
    }
    const router = routers.get(segment) ?? routerLike(elsewhere);
    routers.set(segment, router);
    router.stack.push(layer);
  }
  const segments = new Map<string, RequestHandler>(routers);
  const { matching } = behind;
  const paths = pathsOf(behind);
  const kept = new Set(paths.map((path) => pathShape(path, matching)));
  for (const segment of new Set(paths.map(firstSegment))) {
    const usual = routers.get(segment) ?? elsewhere;
    const narrow = routerLike({ stack: usual.stack.filter((layer) => !isWide(layer.route?.path)) });
    segments.set(segment, (request, response, next) => {
      const isKept = kept.has(pathShape(request.path, matching, false));
      (isKept ? narrow : usual)(request, response, next);
    });
  }
  // Named as Express names its own, because tracers identify routers by this name.
  return function router(request, response, next) {
    sendRequestId(request, response);
    if (mustRefuse(request)) {
      next(refusal());
      return;
    }
    const serve = segments.get(firstSegment(request.path)) ?? elsewhere;
    serve(request, response, next);
  };
}

function routerLike({ stack }: Pick<Router, 'stack'>): Router {
  const router = express.Router();
  router.stack.push(...stack);
  return router;
}

/**
 * Whole segments, each a literal or a parameter, the first a literal. In any other path a sign may reach back over a slash:
 * to Express 4 `/a/?b` is also `/ab`, and `/a/x|/b` is also `/b`.
 */
const PLAIN_PATH = /^\/([\w\-.~]+)(?:\/(?:[\w\-.~]+|:\w+))*\/?$/;

/** The segment that every path begins with that this route matches, in small letters; undefined when there is none. */
function literalSegment(path: unknown): string | undefined {
  return typeof path === 'string' ? PLAIN_PATH.exec(path)?.[1]?.toLowerCase() : undefined;
}

/** True for the path of a route that takes any first segment: a parameter, a wildcard, or a regular expression for nearly all paths. */
function isWide(path: unknown): boolean {
  if (typeof path === 'string') return /^\/?[:*{(]/.test(path);
  if (!(path instanceof RegExp)) return false;
  const matching = new RegExp(path.source, path.flags.replace(/[gy]/g, ''));
  return ['/any-other', '/any-other/path'].some((other) => matching.test(other));
}

/** The paths of the routers, below the prefix. */
function pathsOf({ prefix, routers }: RoutersBehind): readonly string[] {
  return routers.flatMap(({ stack }) =>
    stack.flatMap(({ route }) => {
      const path: unknown = route?.path;
      if (typeof path !== 'string' || !`${path}/`.startsWith(`${prefix}/`)) return [];
      return path.slice(prefix.length) || '/';
    }),
  );
}

/** The first segment of a path, not decoded, in small letters: Express ignores case, and decodes parameters only. */
function firstSegment(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end).toLowerCase();
}
