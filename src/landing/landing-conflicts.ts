/** Finds routes that answer GET in the place of the landing page: of resources, controllers and the user's own. */
import type { Application } from 'express';
import type { MountedRouter } from '../express/routes/mount-resources.js';
import { LOOSE, type PathMatching, pathMatching, pathShape } from '../express/routes/path-matching.js';
import { layersOf } from '../request/express-internals.js';

/** Conflicts with the landing page, a sentence for each. @param others paths that options have taken, by the option */
export function landingConflicts(
  path: string,
  { routes, handWritten }: Pick<MountedRouter, 'routes' | 'handWritten'>,
  routePrefix: string,
  others: Readonly<Record<string, string | null>>,
): string[] {
  const owned = [
    ...routes.map(({ resource, registered }) => ({ owner: resource.plan.name, routes: registered.routes })),
    ...handWritten.map(({ controller, routes: own }) => ({ owner: controller.name, routes: own })),
  ];
  const owners = owned
    .filter((each) =>
      each.routes.some((route) => READS.has(route.verb) && isAt(path, below(routePrefix, route.path))),
    )
    .map(({ owner }) => owner);
  const options = Object.entries(others).filter(([, other]) => other !== null && isAt(path, other || '/'));
  return [...owners, ...options.map(([name]) => name)].map(
    (owner) =>
      `${owner} answers GET ${path}, where the landing page is; give it another path, or leave landing out.`,
  );
}

/** Methods of routes that answer a GET. */
const READS: ReadonlySet<string> = new Set(['get', 'all']);

/** The prefix has no slash at its end, and the root of the router is a slash. */
function below(routePrefix: string, path: string | RegExp): string | RegExp {
  return typeof path === 'string' ? `${routePrefix}${path}` : path;
}

/** True where both paths are the same to Express; a pattern is no path. */
function isAt(path: string, other: unknown, matching: PathMatching = LOOSE): boolean {
  return typeof other === 'string' && pathShape(other, matching) === pathShape(path, matching);
}

/** True where a route of the application itself answers requests with this method for this very path. */
export function hasOwnRoute(app: Application, method: string, path: string): boolean {
  const names = method === 'HEAD' ? ['head', 'get', '_all'] : [method.toLowerCase(), '_all'];
  const matching = pathMatching(app);
  return layersOf(app).some(
    ({ route }) =>
      [route?.path].flat().some((each) => isAt(path, each, matching)) &&
      names.some((name) => route?.methods?.[name]),
  );
}
