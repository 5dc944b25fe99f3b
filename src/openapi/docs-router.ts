/** The routes of the OpenAPI document and its page: Swagger UI, which loads nothing from anywhere else. */
import { join } from 'node:path';
import express, { type Request, type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { PathMatching } from '../express/routes/path-matching.js';
import { publicBase } from '../operation/public-base.js';
import { writesPlainJson } from '../respond/json-answer.js';
import { escapeHtml } from '../util/escape-html.js';
import type { ResolvedDocs } from './docs-options.js';
import type { LazyDocument } from './lazy-document.js';
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
