/** The routes of the OpenAPI document, which is made when it is first needed, and of its page. */
import { setImmediate as otherWork } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import express, { type Request, type Response, type Router } from 'express';
import { closePaths } from '../express/routes/allowed-methods.js';
import type { PathMatching } from '../express/routes/path-matching.js';
import { publicBase, rootFrom } from '../operation/public-base.js';
import { writesPlainJson } from '../respond/json-answer.js';
import { keptIn } from '../util/memo.js';
import type { ResolvedDocs } from './docs-options.js';
import { docsPage, PAGE_FILES, PAGE_POLICY, SWAGGER_FILES } from './docs-page.js';
import { documentOfTags } from './document-of-tags.js';
import type { OpenAPIObject } from './openapi-object.js';

/** Facts of the application that its page depends on. */
interface DocsSurroundings {
  /** Path of the landing page. */
  readonly home: string | undefined;
  /** True where the page shows the resource that is chosen, and not all of them. */
  readonly isByTag: boolean;
}

/** Serves the document, and the page that shows it. The document is made at its first request. */
export function docsRouter(
  docs: ResolvedDocs,
  surroundings: DocsSurroundings,
  openapi: LazyDocument['soon'],
  matching: PathMatching,
): Router {
  const { path, documentPath } = docs;
  const router = express.Router(matching);
  const send = documentSender();
  router.get(documentPath, (request, response, next) => {
    openapi()
      .then((document) => send(request, response, document))
      .catch(next);
  });
  router.get(path || '/', (request, response) => sendPage(request, response, docs, surroundings));
  for (const [name, text] of Object.entries(PAGE_FILES)) {
    router.get(`${path}/${name}`, (_request, response) => {
      response
        .set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' })
        .type(name)
        .send(text);
    });
  }
  for (const name of SWAGGER_FILES) {
    router.get(`${path}/${name}`, (_request, response, next) => {
      pageAsset(name)
        .then((bytes) => response.set(ASSET_HEADERS).type(name).send(bytes))
        .catch(next);
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
    // Paths of the document are below the mount path of the application, and below the path that a proxy adds.
    const url = publicBase(request) || '/';
    const tags = tagsOf(request.originalUrl);
    const served = tags.length > 0 ? documentOfTags(document, tags) : document;
    const whole = () => ({ ...served, servers: [{ ...served.servers[0], url }] });
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
    // A part is small, and there are many.
    if (served !== document || !writesPlainJson(response)) {
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

/** Values of the parameter `tag`, however the application parses query strings. */
function tagsOf(target: string): readonly string[] {
  const start = target.indexOf('?');
  return start < 0 ? [] : new URLSearchParams(target.slice(start)).getAll('tag');
}

function sendPage(
  request: Request,
  response: Response,
  { path, info }: ResolvedDocs,
  { home, isByTag }: DocsSurroundings,
): void {
  // A client that is no browser may send a fragment, which is no part of the path.
  const [place = ''] = request.originalUrl.split(/[?#]/);
  const name = place.slice(place.lastIndexOf('/') + 1);
  // The page's addresses are relative to the place without a slash at its end; the root has no other.
  if (name === '' && request.path !== '/') {
    response.redirect(301, `../${place.split('/').at(-2)}`);
    return;
  }
  const root = rootFrom(place, path.split('/').filter(Boolean).length);
  response
    .set({
      'Content-Security-Policy': PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    })
    .type('html')
    .send(
      docsPage({
        title: info.title,
        folder: name === '' ? '' : `${name}/`,
        home: home && `${root}${home}`,
        isByTag,
      }),
    );
}

/** A browser keeps the files for an hour. */
const ASSET_HEADERS = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'public, max-age=3600' };

const decompress = promisify(brotliDecompress);
const decompressed = new Map<string, Promise<Buffer>>();

/** A file of Swagger UI. The module that `npm run build` writes has them, and so has a bundle: no file is read. */
async function pageAsset(name: string): Promise<Buffer> {
  const compressed: Readonly<Record<string, string>> = require('../../swagger-ui/assets.js');
  return keptIn(decompressed, name, () => decompress(Buffer.from(compressed[name] ?? '', 'base64')));
}

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
 * @param version of its source: with another one it is made once more
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
