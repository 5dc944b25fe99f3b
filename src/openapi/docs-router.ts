/** The OpenAPI document, made when it is first needed, and its page: Swagger UI, which loads nothing from anywhere else. */
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import express, { type Request, type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { PathMatching } from '../express/routes/path-matching.js';
import { publicBase } from '../operation/public-base.js';
import { writesPlainJson } from '../respond/json-answer.js';
import { escapeHtml } from '../util/escape-html.js';
import type { ResolvedDocs } from './docs-options.js';
import type { OpenAPIObject } from './openapi-object.js';

/** The files of Swagger UI that are packed with this package. */
const ASSETS = join(__dirname, '../../swagger-ui');

/** Milliseconds for which a browser keeps the files of Swagger UI. */
const ASSET_AGE = 3_600_000;

/** Serves the document, and the page that shows it. The document is made when it is first asked for. */
export function docsRouter(
  { path, documentPath, info }: ResolvedDocs,
  openapi: LazyDocument['soon'],
  matching: PathMatching,
): Router {
  const router = express.Router(matching);
  const send = documentSender();
  router.get(documentPath, (request, response, next) => {
    openapi()
      .then((document) => send(request, response, document))
      .catch(next);
  });
  router.get(path || '/', (request, response) => sendPage(request, response, info.title));
  router.get(`${path}/start.js`, (_request, response) => {
    response.set('X-Content-Type-Options', 'nosniff').type('text/javascript').send(PAGE_SCRIPT);
  });
  for (const name of PAGE_ASSETS) {
    router.get(`${path}/${name}`, (_request, response, next) => {
      response.set('X-Content-Type-Options', 'nosniff');
      response.sendFile(name, { root: ASSETS, maxAge: ASSET_AGE }, (error) => {
        // It is called when all is sent as well, and when the browser has gone meanwhile.
        if (error && !response.headersSent) next(error);
      });
    });
  }
  closePaths(
    router,
    [path || '/', documentPath].map((each) => ({ verb: 'get', path: each })),
    matching,
  );
  return router;
}

/** Writes the document as Express would, and keeps its bytes and their tag: it has some megabytes for hundreds of models. */
function documentSender() {
  let kept: { readonly url: string; readonly bytes: Buffer; readonly tag: string | undefined } | null = null;
  return (request: Request, response: Response, document: OpenAPIObject): void => {
    // Its paths are under the place where the application is mounted, and where a proxy has it.
    const url = publicBase(request) || '/';
    const whole = () => ({ ...document, servers: [{ ...document.servers[0], url }] });
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
    if (!writesPlainJson(response)) {
      response.json(whole());
      return;
    }
    if (kept?.url !== url) {
      const bytes = Buffer.from(JSON.stringify(whole()));
      kept = { url, bytes, tag: request.app.get('etag fn')?.(bytes) };
    }
    if (kept.tag !== undefined) response.set('ETag', kept.tag);
    response.type('json').send(kept.bytes);
  };
}

function sendPage(request: Request, response: Response, title: string): void {
  const [place = ''] = request.originalUrl.split('?');
  const name = place.slice(place.lastIndexOf('/') + 1);
  // The page's addresses are relative to the place without a slash at its end; the root has no other.
  if (name === '' && request.path !== '/') {
    response.redirect(301, `../${place.split('/').at(-2)}`);
    return;
  }
  response
    .set({
      'Content-Security-Policy': PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    })
    .type('html')
    .send(pageHtml(title, name === '' ? '' : `${name}/`));
}

/** The files of Swagger UI that the page needs. */
const PAGE_ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

/**
 * Everything comes from this server, and requests go to it only. Swagger UI draws its icons from `data:` addresses.
 * https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page. Addresses are relative to it, so that it works behind a proxy that cuts off a prefix. */
function pageHtml(title: string, folder: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/png" href="${folder}favicon-32x32.png">
<link rel="stylesheet" href="${folder}swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${folder}swagger-ui-bundle.js"></script>
<script src="${folder}start.js"></script>
</body>
</html>
`;
}

/** A script of its own, because the policy refuses those inside the page. */
const PAGE_SCRIPT = `SwaggerUIBundle({
  url: new URL('openapi.json', location.href).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** Milliseconds for which the making of a document may keep other requests waiting. */
const SLICE = 10;

/** A document that is made once. */
export interface LazyDocument {
  /** Makes it at once, unless it is there. */
  now(): OpenAPIObject;
  /** Makes it in slices, between which other requests are answered: it takes a second for hundreds of models. */
  soon(): Promise<OpenAPIObject>;
}

/**
 * @param write makes the document in steps
 * @param version of what it is made of: with another one it is made once more
 */
export function lazyDocument(
  write: () => Generator<void, OpenAPIObject>,
  version: () => number = () => 0,
): LazyDocument {
  let made: { readonly document: OpenAPIObject; readonly of: number } | null = null;
  let making: { readonly document: Promise<OpenAPIObject>; readonly of: number } | null = null;
  const keep = (document: OpenAPIObject, of: number): OpenAPIObject => {
    const kept = made?.of === of ? made : { document, of };
    made = kept;
    return kept.document;
  };
  const known = () => (made?.of === version() ? made.document : undefined);
  const begin = (): Promise<OpenAPIObject> => {
    const of = version();
    const kept =
      making?.of === of ? making : { document: inSlices(write()).then((each) => keep(each, of)), of };
    making = kept;
    return kept.document;
  };
  return {
    now: () => known() ?? keep(whole(write()), version()),
    soon: async () => known() ?? begin(),
  };
}

function whole(steps: Generator<void, OpenAPIObject>): OpenAPIObject {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

async function inSlices(steps: Generator<void, OpenAPIObject>): Promise<OpenAPIObject> {
  let start = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (!done && performance.now() - start < SLICE) continue;
    await otherWork();
    if (done) return value;
    start = performance.now();
  }
}
