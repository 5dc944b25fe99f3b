/** An application that routing-controllers has made: its controllers answer as before, and the resources beside them. */
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import {
  Body,
  type ExpressMiddlewareInterface,
  ForbiddenError,
  Get,
  HeaderParam,
  JsonController,
  Middleware,
  OnUndefined,
  Param,
  Post,
  useExpressServer,
} from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'sheets', timestamps: false })
class Sheet extends NumberedRow {
  @Column(DataType.STRING(20)) declare title: string;
}

@JsonController()
class OwnController {
  @Get('/sheets/stats')
  stats() {
    return { own: 'stats' };
  }

  @Get('/sheets/7')
  seven(@HeaderParam('x-fail') isFailing: boolean) {
    if (isFailing) throw new ForbiddenError('Not seven.');
    return { own: 7 };
  }

  /** Takes the path of the generated create. */
  @Post('/sheets')
  async create(@Body() { title }: { title: string }) {
    return (await Sheet.create({ title: `own ${title}` })).toJSON();
  }

  @Get('/pages/:name')
  page(@Param('name') name: string) {
    return { own: name };
  }

  @Get('/nothing')
  @OnUndefined(204)
  nothing() {}
}

@Middleware({ type: 'before' })
class Marker implements ExpressMiddlewareInterface {
  use(...[, response, next]: Parameters<RequestHandler>): void {
    response.setHeader('X-Own', 'before');
    next();
  }
}

@Middleware({ type: 'after' })
class NothingFound implements ExpressMiddlewareInterface {
  use(...[, response, next]: Parameters<RequestHandler>): void {
    if (response.headersSent) next();
    else response.status(404).json({ own: 'nothing' });
  }
}

describe('an application of routing-controllers', () => {
  const site = serveTestApp(() => ({ models: [Sheet], bootstrap: { models: [] } }));
  const log = new CapturedLog();
  const options = { models: [Sheet], logger: log, indexAdvice: false };
  const own = {
    controllers: [OwnController],
    middlewares: [Marker],
    // Without any, routing-controllers takes each one that was decorated in the process.
    interceptors: [class Nothing {}],
    validation: false,
    development: false,
  };

  beforeEach(async () => {
    await emptyTables(site, 'sheets');
    log.clear();
  });

  it('keeps its routes, each answered once, where bootstrap comes behind it', async () => {
    const { agent } = await buildApp(options, (app) => {
      useExpressServer(app, own);
    });
    expectJson(await agent.get('/sheets/stats'), 200, { own: 'stats' });
    expectJson(await agent.get('/sheets/7'), 200, { own: 7 });
    expect((await agent.get('/sheets/7').set('X-Fail', 'true')).body.message).to.equal('Not seven.');
    expect((await agent.get('/nothing')).status).to.equal(204);
    const created = await agent.post('/sheets').send({ title: 'one' });
    expect([created.status, created.body.title]).to.deep.equal([200, 'own one']);
    // The generated route of the same path was not executed, too.
    expect(await Sheet.count()).to.equal(1);
    const listed = await agent.get('/sheets');
    expect([listed.status, listed.body.total, listed.headers['x-own']]).to.deep.equal([200, 1, 'before']);
    expect((await agent.patch(`/sheets/${created.body.id}`).send({ title: 'two' })).body.title).to.equal(
      'two',
    );
    expect((await agent.get('/sheets/none')).headers['content-type']).to.match(/^application\/problem\+json/);
    expect(log.lines).to.deep.equal([]);
  });

  it('may be added to one that bootstrap has mounted its resources on', async () => {
    const { app, agent } = await buildApp(options);
    useExpressServer(app, own);
    expectJson(await agent.get('/pages/one'), 200, { own: 'one' });
    expect((await agent.get('/sheets')).body.total).to.equal(0);
    // The resource comes first.
    expect((await agent.post('/sheets').send({ title: 'one' })).status).to.equal(201);
    expect((await agent.get('/sheets/stats')).status).to.equal(400);
    expect(await Sheet.findAll({ attributes: ['title'], raw: true })).to.deep.equal([{ title: 'one' }]);
    expect(log.lines).to.deep.equal([]);
  });

  it('answers by its last middleware what its controllers do not, also where a resource would', async () => {
    const { agent } = await buildApp(options, (app) => {
      useExpressServer(app, { ...own, middlewares: [NothingFound] });
    });
    expectJson(await agent.get('/pages/one'), 200, { own: 'one' });
    expectJson(await agent.get('/sheets'), 404, { own: 'nothing' });
  });
});
