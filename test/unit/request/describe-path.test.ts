import { expect } from 'chai';
import express, { type Application, type Request } from 'express';
import {
  describePath,
  loggerOf,
  rememberRoutes,
  requestLogger,
  setLogger,
} from '../../../src/request/request-log.js';
import { currentItem, setCurrentItem, setRequestResource } from '../../../src/request/request-notes.js';
import { defaultLogger, type Logger } from '../../../src/util/logger.js';
import { defineModel, planOf } from '../../support/offline-models.js';

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

describe('the logger of a request', () => {
  const { outer, inner } = mounted();
  const [ofOuter, ofInner, ofPlan] = [1, 2, 3].map((): Logger => ({ ...defaultLogger }));
  const plan = planOf(defineModel('City'));

  it('is that of its resource, or of the nearest application', () => {
    if (!ofOuter || !ofInner || !ofPlan) throw new Error('There are three.');
    expect(loggerOf(inner)).to.equal(defaultLogger);
    setLogger(outer, ofOuter);
    expect(loggerOf(inner)).to.equal(ofOuter);
    setLogger(inner, ofInner);
    expect([loggerOf(inner), loggerOf(outer)]).to.deep.equal([ofInner, ofOuter]);
    const request = asked(inner, '/');
    expect(requestLogger(request)).to.equal(ofInner);
    setRequestResource(request, plan);
    expect(requestLogger(request)).to.equal(ofInner);
    setLogger(plan, ofPlan);
    expect(requestLogger(request)).to.equal(ofPlan);
  });
});

describe('the item that a request is at', () => {
  it('is none, or what was said last', () => {
    const request = {} as Request;
    expect(currentItem(request)).to.equal(null);
    for (const item of [0, 3, 'unknown', null] as const) {
      setCurrentItem(request, item);
      expect(currentItem(request)).to.equal(item);
    }
  });
});
