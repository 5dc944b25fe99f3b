/** The route of the landing page: HTML for clients that accept it, as browsers do, and JSON for all others. */
import { createHash } from 'node:crypto';
import express, { type Application, type Request, type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { MountedRouter } from '../express/routes/mount-resources.js';
import { LOOSE, type PathMatching, pathMatching, pathShape } from '../express/routes/path-matching.js';
import type { LazyDocument } from '../openapi/docs-router.js';
import { publicBase, publicOrigin, rootFrom } from '../operation/public-base.js';
import { layersOf } from '../request/express-internals.js';
import {
  describeLanding,
  findResources,
  type Landing,
  type LandingLinks,
  landingBelow,
  type listHints,
} from './landing.js';
import { LANDING_STYLE, landingPage } from './landing-page.js';

/** The content of a landing page that needs no document. */
interface LandingPlace {
  readonly path: string;
  readonly links: LandingLinks;
  readonly hints: ReturnType<typeof listHints>;
}

/** Serves the list of mounted resources at a path of the application. The document is made at the first request for the page. */
export function landingRouter(
  { path, links, hints }: LandingPlace,
  openapi: LazyDocument['soon'],
  matching: PathMatching,
): Router {
  const router = express.Router(matching);
  // A route that the user adds later is meant.
  router.all(path, (request, _response, next) => {
    next(hasOwnRoute(request.app, request.method, path) ? 'router' : undefined);
  });
  router.get(path, (request, response, next) => {
    openapi()
      .then((document) => send(request, response, path, describeLanding(document, links, hints)))
      .catch(next);
  });
  closePaths(router, [{ verb: 'get', path }], matching);
  return router;
}

function send(request: Request, response: Response, path: string, whole: Landing): void {
  const [place = '', query] = request.originalUrl.split('?');
  const wanted = new URLSearchParams(query).get('find') ?? '';
  const landing = findResources(whole, wanted);
  response.vary('Accept').set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
  // A client that accepts neither receives JSON, as from every other route.
  if (request.accepts(['json', 'html']) !== 'html') {
    response.json(landingBelow(publicBase(request), landing));
    return;
  }
  const root = rootFrom(place, path.split('/').filter(Boolean).length);
  const address = `${publicOrigin(request)}${publicBase(request)}`;
  response
    .set({ 'Content-Security-Policy': PAGE_POLICY, 'Referrer-Policy': 'no-referrer' })
    .type('html')
    .send(landingPage(landing, { root, address, wanted, total: whole.resources.length }));
}

/** Nothing is loaded from anywhere, and no script runs: only the style inside the page, allowed by its hash. */
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(LANDING_STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

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
