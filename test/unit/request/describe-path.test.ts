import { expect } from 'chai';
import express, { type Application, type Request } from 'express';
import { describePath, rememberRoutes } from '../../../src/request/request-log.js';

/** A request as Express has it when an error arrives. */
function asked(app: Application, path: string, more: object = {}): Request {
  return { app, baseUrl: '', path, ...more } as unknown as Request;
}

function mounted(): { readonly outer: Application; readonly inner: Application } {
  const outer = express();
  const inner = express();
  const router = express.Router().get('/rows/:id', (_request, response) => response.end());
  inner.use('/deep', router);
  inner.get('/guests/:id/beds.v1', (_request, response) => response.end());
  inner.get(/^\/pattern$/, (_request, response) => response.end());
  outer.use('/inner', inner);
  outer.get('/outer', (_request, response) => response.end());
  rememberRoutes(
    inner,
    '/api',
    express.Router().get('/cities', (_request, response) => response.end()),
  );
  rememberRoutes(inner, '/other', express.Router());
  return { outer, inner };
}

describe('the path of a request as it may be logged', () => {
  const { outer, inner } = mounted();

  it('is the template of its route', () => {
    const route = { path: '/guests/:id' };
    expect(describePath(asked(inner, '/guests/4711', { baseUrl: '/inner', route }))).to.equal(
      '/inner/guests/:id',
    );
  });

  for (const [path, told] of [
    ['/guests/4711', '/guests/:…'],
    ['/guests/4711/beds.v1', '/guests/:…/beds.v1'],
    ['/deep/rows/7', '/:…/rows/:…'],
    ['/api/cities/Lyon', '/api/cities/:…'],
    ['/other/outer', '/other/outer'],
    ['/pattern/:id', '/:…/:…'],
    ['/', '/'],
  ] as const) {
    it(`is ${told} where ${path} has reached none`, () => {
      for (const route of [undefined, { path: /x/ }]) {
        expect(describePath(asked(inner, path, { route }))).to.equal(told);
      }
    });
  }

  it('has no words of applications inside', () => {
    expect(describePath(asked(outer, '/outer/guests'))).to.equal('/outer/:…');
  });
});
