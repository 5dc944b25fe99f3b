/**
 * Routes of hand-written controllers below a resource: `/notes/stats` comes before `/notes/:id`, in any order of registration. One that
 * could never be reached is refused.
 */
import type { Router } from 'express';
import { mayTake } from '../../request/express-internals.js';
import type { ClosableRoute } from './allowed-methods.js';
import { type PathMatching, pathShape } from './path-matching.js';

type Layer = Router['stack'][number];

interface MountedRoute {
  readonly verb: string;
  readonly path: string | RegExp;
  readonly layer: Layer;
  /** Whose it is, in words. */
  readonly owner: string;
}

/** A route of a resource. */
export interface ResourceRoute extends Pick<MountedRoute, 'verb' | 'path' | 'owner'> {
  /** End of the message: a change by which the application has no such route. */
  readonly mend: string;
}

/** Routes that go first, the paths that they close, and problems of the others. */
interface OwnRoutes {
  readonly first: readonly MountedRoute[];
  readonly closed: readonly ClosableRoute[];
  readonly problems: readonly string[];
}

/** Compares the routes of hand-written controllers with those of the resources. */
export function compareOwnRoutes(
  own: readonly MountedRoute[],
  resources: readonly ResourceRoute[],
  matching: PathMatching,
): OwnRoutes {
  const first: MountedRoute[] = [];
  const closed: ClosableRoute[] = [];
  const problems: string[] = [];
  for (const route of own) {
    const { verb, path, owner } = route;
    const found = resources.map((each) => ({ each, relation: relationOf(route, each, matching) }));
    const isTaken = (other: string) => other === verb || other === 'all';
    const rival = found.find(({ each, relation }) => relation === 'same' && isTaken(each.verb))?.each;
    if (rival) {
      problems.push(
        `${owner} would never be reached: ${rival.owner} answers ${verb.toUpperCase()} ${path}, too; ${rival.mend}, or give one of ` +
          'them another path.',
      );
      continue;
    }
    const wider = found.filter(({ relation }) => relation === 'narrower').map(({ each }) => each);
    if (wider.some((each) => mayMeet(verb, each.verb))) first.push(route);
    if (typeof path !== 'string' || wider.length === 0) continue;
    closed.push({ verb, path }, ...wider.map((each) => ({ verb: each.verb, path })));
  }
  return { first, closed, problems };
}

/**
 * The paths of a resource that a wider one of it contains, as `/:id` contains `/many`, each with the verbs of both.
 *
 * @param isMet whether requests of a path go on to a wider route: no record has a word as its id where ids are numbers
 */
export function narrowPaths(
  routes: readonly ClosableRoute[],
  matching: PathMatching,
  isMet: (wider: ClosableRoute, path: string) => boolean,
): ClosableRoute[] {
  const shaped = routes.map((route) => {
    const { path } = route;
    return { route, shape: typeof path === 'string' ? pathShape(path, matching).split('/') : ['*'] };
  });
  return shaped.flatMap(({ route, shape }) => {
    // No parameter is empty, as the root of a router of its own is.
    if (shape.at(-1) === '' || !shape.every((segment) => PLAIN_SEGMENT.test(segment))) return [];
    const text = shape.join();
    const { path } = route;
    const wider = shaped.filter(
      (other) =>
        other.shape.join() !== text && isCovered(shape, other.shape) && isMet(other.route, String(path)),
    );
    return wider.length > 0 ? [route, ...wider.map((other) => ({ ...other.route, path }))] : [];
  });
}

/** Puts routes before all others of a router, in their order, behind its middlewares. */
export function putFirst(router: Router, routes: readonly MountedRoute[]): void {
  const layers = new Set(routes.map(({ layer }) => layer));
  const others = router.stack.filter((layer) => !layers.has(layer));
  const start = others.findIndex(({ route }) => route !== undefined);
  others.splice(start < 0 ? others.length : start, 0, ...layers);
  router.stack.splice(0, router.stack.length, ...others);
}

/** True where one request can match both verbs. */
function mayMeet(verb: string, other: string): boolean {
  return verb === other || verb === 'all' || other === 'all' || (verb === 'head' && other === 'get');
}

/** Segments that Express takes as they are, and parameters. */
const PLAIN_SEGMENT = /^(?:[\w\-.~%]*|:)$/;

/** Values in the place of a parameter of a path. */
const SAMPLES = ['1', 'text', '00000000-0000-4000-8000-000000000000'];

/** Relation of an own path to a resource's: one case of it, or all of it; undefined where they share no request. */
function relationOf(
  { path, layer }: MountedRoute,
  { path: other }: ResourceRoute,
  matching: PathMatching,
): 'same' | 'narrower' | undefined {
  if (typeof other !== 'string') return undefined;
  const wide = pathShape(other, matching).split('/');
  const shape = typeof path === 'string' ? pathShape(path, matching).split('/') : [];
  if (typeof path !== 'string' || !shape.every((segment) => PLAIN_SEGMENT.test(segment))) {
    const samples = SAMPLES.map((sample) => other.replace(/:\w+/g, sample));
    if (!samples.some((sample) => mayTake(layer, sample))) return names(path, other) ? 'narrower' : undefined;
    // A pattern for paths of any length matches all requests that no other route answers.
    return typeof path === 'string' && shape.length === wide.length && !path.includes('*')
      ? 'same'
      : undefined;
  }
  if (!isCovered(shape, wide)) return undefined;
  return shape.join('/') === wide.join('/') ? 'same' : 'narrower';
}

/** True where a pattern contains the prefix of a path. */
function names(pattern: string | RegExp, path: string): boolean {
  const [prefix = ''] = path.toLowerCase().split('/:');
  return prefix.length > 1 && String(pattern).replaceAll('\\/', '/').toLowerCase().includes(prefix);
}

/** True where each path of a shape has the wide shape, too. */
export function isCovered(shape: readonly string[], wide: readonly string[]): boolean {
  return (
    shape.length === wide.length &&
    wide.every((segment, index) => segment === ':' || segment === shape[index])
  );
}
