/** The routes of the OpenAPI document and its page. */
import express, { type Request, type Response, type Router } from 'express';
import { closePaths } from '../http/routes/allowed-methods.js';
import type { ResolvedDocs } from './docs-options.js';
import { assetFolder, PAGE_ASSETS, PAGE_POLICY, PAGE_SCRIPT, pageHtml } from './docs-page.js';
import type { OpenAPIObject } from './openapi-object.js';

/** Milliseconds for which a browser keeps the files of Swagger UI. */
const ASSET_AGE = 3_600_000;

/** Serves the document, and the page that shows it. The document is made when it is first asked for. */
export function docsRouter({ path, documentPath, info }: ResolvedDocs, openapi: () => OpenAPIObject): Router {
  const router = express.Router();
  router.get(documentPath, (request, response) => {
    const document = openapi();
    // Where the application is mounted in another one, its paths are under that place.
    const servers = [{ ...document.servers[0], url: request.baseUrl || '/' }];
    response.set('X-Content-Type-Options', 'nosniff').json({ ...document, servers });
  });
  router.get(path || '/', (request, response) => sendPage(request, response, info.title));
  router.get(`${path}/start.js`, (_request, response) => {
    response.set('X-Content-Type-Options', 'nosniff').type('text/javascript').send(PAGE_SCRIPT);
  });
  for (const name of PAGE_ASSETS) {
    router.get(`${path}/${name}`, (_request, response, next) => {
      response.set('X-Content-Type-Options', 'nosniff');
      response.sendFile(name, { root: assetFolder(), maxAge: ASSET_AGE }, (error) => {
        // It is called when all is sent as well, and when the browser has gone meanwhile.
        if (error && !response.headersSent) next(error);
      });
    });
  }
  closePaths(
    router,
    [path || '/', documentPath].map((each) => ({ verb: 'get', path: each })),
  );
  return router;
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
