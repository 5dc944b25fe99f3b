/** Errors of handlers behind `bootstrap`, and of hand-written parts before it: the same answers as everywhere. */
import { expect } from 'chai';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import {
  type ExpressMiddlewareInterface,
  ForbiddenError,
  Get,
  JsonController,
  Middleware,
  NotFoundError as MissingRoute,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, NotFoundError } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'gates', timestamps: false })
class Gate extends NumberedRow {}

@JsonController('/hand')
class HandController {
  @Get('/missing')
  missing(): never {
    throw new MissingRoute('No such hand.');
  }

  @Get('/nothing')
  nothing(): void {}
}

@Middleware({ type: 'before' })
class Guard implements ExpressMiddlewareInterface {
  use(...[{ headers }, , next]: Parameters<RequestHandler>): void {
    if (headers['x-guard']) throw new MissingRoute('Not for you.');
    next();
  }
}

const MISSING = { detail: 'There is no such page.' };
const throwMissing: RequestHandler = () => {
  throw new MissingRoute('There is no such page.');
};

describe('a handler behind bootstrap', () => {
  const site = serveTestApp(() => ({ models: [Gate], bootstrap: { models: [] } }));
  const log = new CapturedLog();
  const routing = { middlewares: [Guard] };
  const build = () => buildApp({ models: [Gate], controllers: [HandController], routing, logger: log });

  beforeEach(async () => {
    await emptyTables(site, 'gates');
    log.clear();
  });

  it('is answered as a problem when it throws, passes on or rejects with an error', async () => {
    const { app, agent } = await build();
    app.get('/thrown', throwMissing);
    app.get('/passed', (_request, _response, next) => next(new ForbiddenError('Not you.')));
    const find = () => Gate.findByPk(1, { rejectOnEmpty: new NotFoundError('No gate.') });
    app.get('/lost', (_request, _response, next) => void find().catch(next));
    app.get('/broken', () => {
      throw new Error('secret');
    });
    expectProblem(await agent.get('/thrown'), 404, MISSING);
    expectProblem(await agent.get('/passed'), 403, { detail: 'Not you.' });
    expectProblem(await agent.get('/lost'), 404, { detail: 'No gate.' });
    expect(log.lines).to.deep.equal([]);
    expectProblem(await agent.get('/broken'), 500, { detail: 'Internal Server Error' });
    expect(log.lines.map(({ message }) => message)).to.deep.equal(['GET /broken failed']);
  });

  it('may be a last handler that throws for every unknown path, and leaves the routes alone', async () => {
    const { app, agent } = await build();
    app.use(throwMissing);
    expectProblem(await agent.get('/village'), 404, MISSING);
    expectProblem(await agent.get('/gates/9'), 404, { detail: 'There is no Gate with this id.' });
    expect((await agent.get('/gates')).status).to.equal(200);
  });

  it('may be mounted between requests, and has its own error handlers asked first', async () => {
    const { app, agent } = await build();
    expect((await agent.get('/thrown')).headers['content-type']).to.match(/^text\/html/);
    app.get('/thrown', throwMissing);
    expectProblem(await agent.get('/thrown'), 404, MISSING);
    const own: ErrorRequestHandler = (_error, _request, response, _next) => void response.status(418).end();
    app.get('/own', throwMissing);
    app.use(own);
    expect((await agent.get('/own')).status).to.equal(418);
  });

  it('leaves an unknown path to Express', async () => {
    const { agent } = await build();
    const unknown = await agent.get('/village');
    expect([unknown.status, unknown.type]).to.deep.equal([404, 'text/html']);
  });

  it('is asked before an unknown path is a problem, where notFound is set', async () => {
    const { app, agent } = await buildApp({ models: [Gate], notFound: true });
    const unknown = { detail: 'There is no such path.' };
    expectProblem(await agent.get('/village'), 404, unknown);
    expectProblem(await agent.delete('/gates/1/2'), 404, unknown);
    expect((await agent.head('/village')).status).to.equal(404);
    app.get('/village', (_request, response) => void response.json({ isOpen: true }));
    expectJson(await agent.get('/village'), 200, { isOpen: true });
    expectProblem(await agent.get('/town'), 404, unknown);
    expect((await agent.get('/docs')).status).to.equal(200);
  });

  it('is no different from hand-written controllers and middlewares', async () => {
    const { agent } = await build();
    expectProblem(await agent.get('/hand/missing'), 404, { detail: 'No such hand.' });
    expectProblem(await agent.get('/hand/nothing'), 404, { detail: 'Not Found' });
    expectProblem(await agent.get('/gates').set('x-guard', '1'), 404, { detail: 'Not for you.' });
  });
});
