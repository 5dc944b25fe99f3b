/** The route of the landing page: HTML for who asks for it, as browsers do, and JSON for all others. */
import { createHash } from 'node:crypto';
import express, { type Request, type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { PathMatching } from '../express/routes/path-matching.js';
import type { LazyDocument } from '../openapi/lazy-document.js';
import { publicBase } from '../operation/public-base.js';
import { describeLanding, type Landing, type LandingLinks, landingBelow } from './landing.js';
import { hasOwnRoute } from './landing-conflicts.js';
import { landingPage } from './landing-page.js';
import { LANDING_STYLE } from './landing-style.js';

/** Serves what was mounted at a path of the application. The document is made when the page is first asked for. */
export function landingRouter(
  path: string,
  links: LandingLinks,
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
      .then((document) => send(request, response, path, describeLanding(document, links)))
      .catch(next);
  });
  closePaths(router, [{ verb: 'get', path }], matching);
  return router;
}

function send(request: Request, response: Response, path: string, landing: Landing): void {
  response.vary('Accept').set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
  // A client that accepts neither receives JSON, as from every other route.
  if (request.accepts(['json', 'html']) !== 'html') {
    response.json(landingBelow(publicBase(request), landing));
    return;
  }
  const [place = ''] = request.originalUrl.split('?');
  response
    .set({ 'Content-Security-Policy': PAGE_POLICY, 'Referrer-Policy': 'no-referrer' })
    .type('html')
    .send(landingPage(landing, rootFrom(place, path.split('/').filter(Boolean).length)));
}

/** Nothing is loaded from anywhere, and no script runs: only the style inside the page, known by its hash. */
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(LANDING_STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The root of the application as a page sees it that is so many segments below it: relative, so that links work behind a proxy
 * that cuts off a prefix. To a browser, an address without a slash at its end is in the folder above.
 */
function rootFrom(place: string, depth: number): string {
  const isFolder = place.endsWith('/');
  if (depth === 0) return isFolder ? '.' : `./${place.slice(place.lastIndexOf('/') + 1)}`;
  return ['.', ...Array.from({ length: isFolder ? depth : depth - 1 }, () => '..')].join('/');
}
