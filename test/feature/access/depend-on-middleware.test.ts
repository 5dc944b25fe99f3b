/** Dependencies: middlewares on every route of a resource, before its body is read and before any query. */
import { expect } from 'chai';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import {
  Authorized,
  Body,
  type ExpressMiddlewareInterface,
  ForbiddenError,
  Get,
  Post,
  UnauthorizedError,
  UseBefore,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController, type Dependency } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { exchange, listen, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'doors', timestamps: false })
class Door extends NamedRow {}

@Crud()
@Table({ tableName: 'windows', timestamps: false })
class Window extends NumberedRow {}

const ROUTES = [
  ['get', '/doors'],
  ['head', '/doors'],
  ['get', '/doors/1'],
  ['post', '/doors'],
  ['patch', '/doors/1'],
  ['delete', '/doors/1'],
  ['get', '/doors/extra'],
  ['post', '/doors/extra'],
] as const;

const seen: string[] = [];

function note(name: string): RequestHandler {
  return (request, _response, next) => {
    seen.push(`${name} ${request.method} ${request.path}`);
    next();
  };
}

class Guard implements ExpressMiddlewareInterface {
  async use(request: Request, _response: Response, next: NextFunction): Promise<void> {
    seen.push(`guard ${request.method}`);
    await Promise.resolve();
    if (request.headers['x-key'] !== 'open') throw new UnauthorizedError('The door is locked.');
    next();
  }
}

describe('depending on middleware', () => {
  const sql = new SqlLog();
  const logger = new CapturedLog();
  serveTestApp(() => ({ models: [Door, Window], engine: { logging: sql.record } }));

  const serve = async (...dependencies: Dependency[]) => {
    class Doors extends crudController(Door, { dependencies }) {
      @Get('/extra')
      extra(): object {
        return { extra: true };
      }

      @Post('/extra')
      more(@Body() body: object): object {
        return body;
      }

      @UseBefore(note('own'))
      @Authorized()
      @Get('/guarded')
      guarded(): object {
        return {};
      }
    }
    return buildApp({
      models: [Door, Window],
      controllers: [Doors],
      logger,
      routing: {
        authorizationChecker: () => {
          seen.push('authorization');
          return true;
        },
      },
    });
  };

  beforeEach(() => {
    seen.length = 0;
    logger.clear();
  });

  it('runs an Express handler on every route, and on no other resource', async () => {
    const { agent } = await serve(note('seen'));
    for (const [method, path] of ROUTES) {
      seen.length = 0;
      await agent[method](path);
      expect(seen, `${method} ${path}`).to.deep.equal([`seen ${method.toUpperCase()} ${path}`]);
    }
    seen.length = 0;
    await agent.get('/windows');
    await agent.get('/nowhere');
    expect(seen).to.deep.equal([]);
  });

  it('runs a middleware class on every route', async () => {
    const { agent } = await serve(Guard);
    for (const [method, path] of ROUTES) {
      expect((await agent[method](path)).status, `${method} ${path}`).to.equal(401);
      expect((await agent[method](path).set('X-Key', 'open')).status, `${method} ${path}`).to.not.equal(401);
    }
    expectProblem(await agent.get('/doors'), 401, { detail: 'The door is locked.' });
    expect((await agent.get('/windows')).status).to.equal(200);
  });

  it('runs them in order, before the middlewares and the authorization of a route', async () => {
    const { agent } = await serve(note('first'), Guard, note('last'));
    await agent.get('/doors/guarded').set('X-Key', 'open');
    expect(seen).to.deep.equal([
      'first GET /doors/guarded',
      'guard GET',
      'last GET /doors/guarded',
      'own GET /doors/guarded',
      'authorization',
    ]);
  });

  it('stops at the one that refuses', async () => {
    const refuse: RequestHandler = () => {
      throw new ForbiddenError('Not you.');
    };
    const { agent } = await serve(note('first'), refuse, note('never'));
    const { result, statements } = await sql.duringRequest(() => agent.get('/doors/1'));
    expectProblem(result, 403, { detail: 'Not you.' });
    expect(statements).to.deep.equal([]);
    expect(seen).to.deep.equal(['first GET /doors/1']);
  });

  it('leaves the answer to the one that answers', async () => {
    const { agent } = await serve((_request, response) => void response.status(299).json({ own: true }));
    const { result, statements } = await sql.duringRequest(() => agent.post('/doors').send({}));
    expectJson(result, 299, { own: true });
    expect(statements).to.deep.equal([]);
  });

  it('refuses before the id, the query string and the body are looked at', async () => {
    const { agent } = await serve(Guard);
    expect((await agent.get('/doors/x')).status).to.equal(401);
    expect((await agent.get('/doors?size=0')).status).to.equal(401);
    expect((await agent.post('/doors').type('json').send('{')).status).to.equal(401);
    expect((await agent.post('/doors').type('text').send('x')).status).to.equal(401);
    expect((await agent.post('/doors/extra').type('json').send('{')).status).to.equal(401);
  });

  it('[H3] refuses before a byte of the body was sent', async () => {
    const { app } = await serve(Guard);
    await using server = await listen(app);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '1000', Connection: 'close' };
    const answer = await exchange(server, requestHead('POST /doors', headers));
    expect(answer.status).to.equal(401);
    expect(answer.body).to.equal('{"detail":"The door is locked."}');
  });

  it('may read the body itself', async () => {
    const { agent } = await serve(express.json(), (request, _response, next) => {
      seen.push(JSON.stringify(request.body));
      next();
    });
    expect((await agent.post('/doors').send({ name: 'Front' })).status).to.equal(201);
    expect(seen).to.deep.equal(['{"name":"Front"}']);
  });

  it('answers 500 where one fails, whatever it throws and whenever', async () => {
    const failures: RequestHandler[] = [
      () => {
        throw null;
      },
      () => Promise.reject(new Error('hidden reason')),
      async () => {
        throw undefined;
      },
      async () => {
        throw 'route';
      },
      (_request, _response, next) => next(new Error('hidden reason')),
    ];
    for (const failure of failures) {
      const { agent } = await serve(failure);
      expectProblem(await agent.get('/doors'), 500, { detail: 'Internal Server Error' });
    }
    expect(logger.lines).to.have.lengthOf(failures.length);
  });

  it('does not run for a method that the path does not have', async () => {
    const { agent } = await serve(note('seen'));
    expect((await agent.put('/doors')).status).to.equal(405);
    expect((await agent.options('/doors')).status).to.equal(204);
    expect(seen).to.deep.equal([]);
  });
});
