/** Routes by their first segment: any request meets the layers that it meets when Express tries all routes in turn. */
// @runs fast
import { expect } from 'chai';
import express, { type Express, type Router } from 'express';
import fc from 'fast-check';
import { dispatchBySegment } from '../../../src/express/routes/segment-dispatch.js';
import { exchange, type Listening, listen, requestHead } from '../../support/listen.js';
import { wholeOr } from '../../support/short.js';

/** One layer of a router. */
interface Entry {
  readonly kind: 'use' | 'get' | 'put' | 'all';
  readonly path: string | RegExp;
  readonly does: 'goOn' | 'skip' | 'fail' | 'answer';
}

const isExpress4 = process.env['CRUD_TEST_EXPRESS'] === '4';
const LITERALS = ['/', '/a', '/A/x', '/b', '/b/', '/a/x/y', '/a.b', '/a~b/x', '/é'];
const PARAMETERS = ['/a/:id', '/B/:id/', '/:any', '/:any/x', '/a/:id/:other', '/a/.x', '/a:id', '/a-:id/x'];
const PATTERNS = [/^\/a/, /x$/, /\/b\/?$/, /^\/(\w)\/(\w)/];
const STRINGS = isExpress4
  ? ['/a/?b', '/a/x|/b', '/a?', '/a/*', '*', '/a/.:id', '/a(/x)?']
  : ['/a/*rest', '/*rest', '/a{/x}', '/{:any}', '/a\\:b'];
const TARGETS = [
  ...['/', '//', '/a', '/a/', '/A/X', '/ab', '/a./x', '/b', '/b/?a/x', '/a/x', '/a/x/y', '//a', '/a//x'],
  ...['/%61', '/a/%ff', '/%ff', '/a.b', '/A~B/x', '/\u00c9', '/\u00e9', '/a:b', '/a-1/x', '/c', '/c/x', '*'],
  ...['http://localhost/a/x', '/a\\x', '/a#x'],
];

const entries = fc.array(
  fc.record<Entry>({
    kind: fc.constantFrom('use', 'get', 'get', 'put', 'all'),
    path: fc.constantFrom(...LITERALS, ...PARAMETERS, ...PATTERNS, ...STRINGS),
    does: fc.constantFrom('goOn', 'goOn', 'goOn', 'skip', 'fail', 'answer'),
  }),
  { maxLength: 12 },
);
const requests = fc.array(
  fc.record({
    method: fc.constantFrom('GET', 'GET', 'HEAD', 'PUT', 'OPTIONS'),
    target: fc.constantFrom(...TARGETS),
  }),
  { minLength: 1, maxLength: 8 },
);

/** A router whose layers record their calls, with the parameters. */
function routerOf(list: readonly Entry[], trace: unknown[]): Router {
  const router = express.Router();
  for (const [index, { kind, path, does }] of list.entries()) {
    router[kind](path, (request, response, next) => {
      trace.push([index, request.url, request.baseUrl, { ...request.params }]);
      if (does === 'answer') response.json({ by: index });
      else if (does === 'fail') next(new Error(`from ${index}`));
      else next(does === 'skip' ? 'router' : undefined);
    });
  }
  return router;
}

function application(handler: express.RequestHandler, trace: unknown[]): Express {
  const app = express();
  app.use(handler);
  app.use(((error: Error, request, response, _next) => {
    trace.push([error.message, request.url, request.baseUrl]);
    response.status(500).end();
  }) satisfies express.ErrorRequestHandler);
  return app;
}

async function ask(server: Listening, trace: unknown[], method: string, target: string): Promise<unknown> {
  trace.length = 0;
  const head = Buffer.from(requestHead(`${method} ${target}`, { Connection: 'close' }), 'latin1');
  const { status, headers, body } = await exchange(server, head);
  return { status, allow: headers['allow'], body, trace: [...trace] };
}

describe('finding any route', () => {
  it('meets the same layers, with the same addresses and parameters, and the same answer', async () => {
    const property = fc.asyncProperty(entries, requests, async (list, asked) => {
      const trace: unknown[] = [];
      await using inTurn = await listen(application(routerOf(list, trace), trace));
      await using bySegment = await listen(application(dispatchBySegment(routerOf(list, trace)), trace));
      for (const { method, target } of asked) {
        const expected = await ask(inTurn, trace, method, target);
        expect(await ask(bySegment, trace, method, target)).to.deep.equal(expected);
      }
    });
    await fc.assert(property, { numRuns: wholeOr(60, 150) });
  });
});
