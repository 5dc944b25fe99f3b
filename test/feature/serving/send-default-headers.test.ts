/** The headers that every answer of the API has, and whose the last word is. */
import { join } from 'node:path';
import { expect } from 'chai';
import type { ErrorRequestHandler, Response as ExpressResponse, NextFunction, Request } from 'express';
import { Get, Header, HttpError, JsonController, Res, UseBefore, UseInterceptor } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, crudController, EXPOSED_HEADERS } from '../../../src/index.js';
import { TextRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'parcels', timestamps: false, version: true })
class Parcel extends TextRow {}

const DEFAULT = { nosniff: 'nosniff', cache: 'no-store' };

const headersOf = ({ headers }: Response) => ({
  nosniff: headers['x-content-type-options'],
  cache: headers['cache-control'],
});

function keepForAMinute(_request: Request, response: ExpressResponse, next: NextFunction): void {
  response.setHeader('Cache-Control', 'private, max-age=60');
  next();
}

class ParcelController extends crudController(Parcel) {
  @Get('/kinds')
  kinds(): object {
    return [];
  }
}

@JsonController('/depots')
class DepotController {
  @Get('/plain')
  plain(): object {
    return {};
  }

  @Get('/decorated')
  @Header('Cache-Control', 'public, max-age=1')
  decorated(): object {
    return {};
  }

  @Get('/before')
  @UseBefore(keepForAMinute)
  before(): object {
    return {};
  }

  @Get('/intercepted')
  @UseInterceptor(({ response }: { response: ExpressResponse }, value: unknown) => {
    response.setHeader('Cache-Control', 'no-cache');
    return value;
  })
  intercepted(): object {
    return {};
  }

  @Get('/by-itself')
  byItself(@Res() response: ExpressResponse): unknown {
    return response.json({});
  }

  @Get('/failing')
  failing(@Res() response: ExpressResponse): never {
    response.set({
      'Content-Type': 'image/png',
      'Content-Length': '4',
      'Content-Encoding': 'gzip',
      'Content-Disposition': 'attachment',
      'Content-Language': 'de',
      'Content-Range': 'bytes 0-3/9',
      'Content-Location': '/depots/1.png',
      'Content-Digest': 'sha-256=:AA==:',
    });
    throw new HttpError(409, 'No.');
  }

  @Get('/file')
  file(@Res() response: ExpressResponse): Promise<unknown> {
    const root = join(__dirname, '..', '..', '..', '..');
    return new Promise((resolve) => {
      response.sendFile('package.json', { root, maxAge: 5_000 }, () => resolve(response));
    });
  }
}

describe('the headers of answers', () => {
  const site = serveTestApp(() => ({
    models: [Parcel],
    bootstrap: { controllers: [ParcelController, DepotController] },
  }));

  before(() => Parcel.create({ text: 'a' }));

  for (const [method, path, status] of [
    ['get', '/parcels', 200],
    ['head', '/parcels', 200],
    ['get', '/parcels/1', 200],
    ['post', '/parcels', 422],
    ['get', '/parcels/99', 404],
    ['get', '/parcels?nothing=1', 400],
    ['put', '/parcels/1', 405],
    ['options', '/parcels/1', 204],
    ['get', '/parcels/kinds', 200],
    ['get', '/depots/plain', 200],
    ['get', '/depots/by-itself', 200],
    ['get', '/health/live', 200],
    ['get', '/health/ready', 200],
    ['post', '/health/ready', 405],
  ] as const) {
    it(`[A21 A22] keep content types and caches away: ${method.toUpperCase()} ${path} (${status})`, async () => {
      const answer = await site.agent[method](path).send(method === 'post' ? {} : undefined);
      expect({ status: answer.status, ...headersOf(answer) }).to.deep.equal({ status, ...DEFAULT });
    });
  }

  it('are the same on a record that was written, deleted or has not changed', async () => {
    const created = await site.agent.post('/parcels').send({ text: 'b' });
    const { location: path = '', etag = '' } = created.headers;
    const unchanged = await site.agent.get(path).set('If-None-Match', etag);
    const deleted = await site.agent.delete(path);
    const status = onPath({ fast: 304, values: 200 });
    expect([created, unchanged, deleted].map((each) => each.status)).to.deep.equal([201, status, 204]);
    expect([created, unchanged, deleted].map(headersOf)).to.deep.equal([DEFAULT, DEFAULT, DEFAULT]);
  });

  for (const [path, cache] of [
    ['/depots/decorated', 'public, max-age=1'],
    ['/depots/before', 'private, max-age=60'],
    ['/depots/intercepted', 'no-cache'],
  ] as const) {
    it(`are those of the application where it sets some: GET ${path}`, async () =>
      expect(headersOf(await site.agent.get(path))).to.deep.equal({ ...DEFAULT, cache }));
  }

  it('of files that a method sends are left to Express', async () => {
    const sent = await site.agent.get('/depots/file');
    expect(headersOf(sent)).to.deep.equal({ nosniff: undefined, cache: 'public, max-age=5' });
  });

  it('are not set on what the application answers beside the API', async () => {
    const { app, agent } = await buildApp({ models: [Parcel], docs: false }, (each) => {
      each.get('/before', (_request, response) => void response.json({}));
    });
    app.get('/behind', (_request, response) => void response.json({}));
    for (const path of ['/before', '/behind']) {
      expect(headersOf(await agent.get(path))).to.deep.equal({ nosniff: undefined, cache: undefined });
    }
  });

  it('keep what a middleware of the application has set before', async () => {
    const { agent } = await buildApp({ models: [Parcel] }, (app) => void app.use(keepForAMinute));
    for (const path of ['/parcels', '/parcels/1', '/parcels/99']) {
      expect(headersOf(await agent.get(path))).to.deep.equal({ ...DEFAULT, cache: 'private, max-age=60' });
    }
  });

  for (const problem of ['sent by the library', 'next'] as const) {
    it(`of a problem are those of the page and not of the content that was to be sent: ${problem}`, async () => {
      const policies = {
        'content-security-policy': "default-src 'self'",
        'content-security-policy-report-only': "script-src 'none'",
      };
      const bootstrap = { models: [Parcel], controllers: [DepotController], logger: new CapturedLog() };
      const { app, agent } = await buildApp(
        { ...bootstrap, ...(problem === 'next' ? { problem } : {}) },
        (each) => void each.use((_request, response, next) => next(void response.set(policies))),
      );
      const answer: ErrorRequestHandler = (_error, _request, response, _next) =>
        response.status(409).json({});
      app.use(answer);
      const { status, headers } = await agent.get('/depots/failing');
      expect(status).to.equal(409);
      expect(headers).to.include(policies);
      expect(headers['content-type']).to.match(/^application\/(problem\+)?json/);
      expect(Object.keys(headers).filter((name) => name.startsWith('content-'))).to.have.members([
        ...Object.keys(policies),
        'content-type',
        'content-length',
      ]);
      expect((await agent.get('/parcels/99')).headers).to.include(policies);
    });
  }

  it('that scripts of other origins may read have a list for CORS', () => {
    expect(EXPOSED_HEADERS.join(' ')).to.equal(
      'ETag Location Retry-After Idempotent-Replayed Preference-Applied X-Request-Id Server-Timing Content-Disposition Crud-Total',
    );
    expect(EXPOSED_HEADERS).to.be.frozen;
  });
});
