/** Controllers that write the answer themselves, answer nothing, or leave the request to the rest of the application. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { NextFunction, Request, Response } from 'express';
import {
  Get,
  HttpCode,
  Interceptor,
  type InterceptorInterface,
  OnNull,
  OnUndefined,
  Param,
  Res,
  UseAfter,
  UseBefore,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, type ReadQuery } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { requestHead } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'films', timestamps: false })
class Film extends NumberedRow {}

const seen: string[] = [];

/** Answers later, when the handler has long returned. */
function answerLater(response: Response): Response {
  setImmediate(() => {
    response.write('la');
    setImmediate(() => response.end('ter'));
  });
  return response;
}

/** Results of routes, by the end of their path. */
const RESULTS: Readonly<Record<string, () => unknown>> = {
  stream: () => Readable.from(['a', 'b', 'c']),
  bytes: () => Buffer.from([0, 255]),
  text: () => 'text',
  number: () => 0,
  false: () => false,
  empty: () => '',
  bigint: () => ({ value: 1n }),
  circular() {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    return value;
  },
};

class FilmController extends crudController(Film, { endpoints: ['list', 'read', 'delete'] }) {
  override async read(id: number, _query: ReadQuery, { response }: CrudContext<Film>): Promise<Film> {
    // The type promises a record, and the method returns the response: routing-controllers takes it for "already answered".
    return (id === 1 ? response.status(203).json({ own: true }) : answerLater(response)) as unknown as Film;
  }

  @Get('/now')
  now(@Res() response: Response): Response {
    return response.status(202).send('now');
  }

  @Get('/later')
  later(@Res() response: Response): Response {
    return answerLater(response);
  }

  @Get('/results/:name')
  result(@Param('name') name: string): unknown {
    return RESULTS[name]?.();
  }

  @Get('/null')
  null(): null {
    return null;
  }

  @OnNull(404)
  @Get('/null-404')
  nullMissing(): null {
    return null;
  }

  @Get('/undefined')
  undefined(): void {}

  @OnUndefined(204)
  @Get('/undefined-204')
  undefinedNothing(): void {}

  @HttpCode(201)
  @Get('/undefined-201')
  undefinedCreated(): void {}

  @UseAfter((_request: Request, _response: Response, next: NextFunction) => {
    seen.push('after');
    next();
  })
  @Get('/after')
  after(): object {
    return { after: true };
  }

  @UseAfter((request: Request, response: Response, next: NextFunction) => {
    request.app.emit('ran after');
    seen.push(response.writableEnded ? 'behind' : 'too early');
    next();
  })
  @Get('/later/after')
  laterAndAfter(@Res() response: Response): Response {
    return answerLater(response);
  }

  @UseBefore((_request: Request, _response: Response, next: NextFunction) => next('route'))
  @Get('/skipped/by/a/middleware')
  skipped(): object {
    return { skipped: false };
  }

  @UseBefore((_request: Request, _response: Response, next: NextFunction) => next('route'))
  @Get('/skipped')
  skippedForRead(): object {
    return { skipped: false };
  }

  @Get('/waits')
  async waits(@Res() response: Response): Promise<object> {
    response.app.emit('handler waits');
    await once(response, 'close');
    response.app.emit('handler goes on');
    return { late: true };
  }
}

const NOT_FOUND_BY_APP = { by: 'the application' };

describe('writing the answer yourself', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Film],
    bootstrap: { logger, controllers: [FilmController] },
  }));

  before(async () => {
    // A handler of 404 at the end, as in half of all Express applications.
    site.app.use((request, response) => {
      seen.push(`not found ${request.path}`);
      response.status(404).json(NOT_FOUND_BY_APP);
    });
  });

  beforeEach(() => {
    seen.length = 0;
    logger.clear();
  });

  afterEach(() => {
    expect(logger.text).to.not.contain('ERR_HTTP');
  });

  it('does not go on to a "not found" handler of the application after an answer', async () => {
    for (const path of [
      '/films',
      '/films/x',
      '/films/now',
      '/films/results/text',
      '/films/null',
      '/films/after',
    ]) {
      await site.agent.get(path);
    }
    await site.agent.post('/films');
    await site.agent.options('/films');
    await site.agent.delete('/films/1');
    expect(seen.filter((line) => line.startsWith('not found'))).to.deep.equal([]);
  });

  it('leaves other paths to that handler, and what a middleware has skipped to the next route', async () => {
    expectJson(await site.agent.get('/movies'), 404, NOT_FOUND_BY_APP);
    expect(seen).to.deep.equal(['not found /movies']);
    expectJson(await site.agent.get('/films/skipped/by/a/middleware'), 404, NOT_FOUND_BY_APP);
    expectIssue(await site.agent.get('/films/skipped'), 400, {
      parameter: 'id',
      code: 'id',
      detail: "'skipped' is not a valid id; it must be an integer.",
    });
  });

  for (const [path, status, answer] of [
    ['/films/1', 203, '{"own":true}'],
    ['/films/now', 202, 'now'],
    ['/films/2', 200, 'later'],
    ['/films/later', 200, 'later'],
  ] as const) {
    it(`takes the answer that ${path} has sent, or is going to write`, async () => {
      const sent = await fetch(`${site.server.url}${path}`);
      expect([sent.status, await sent.text()]).to.deep.equal([status, answer]);
      expect(seen).to.deep.equal([]);
    });
  }

  it('sends streams and bytes as they are, and other values as JSON', async () => {
    const result = (name: string) => fetch(`${site.server.url}/films/results/${name}`);
    expect(await (await result('stream')).text()).to.equal('abc');
    expect([...new Uint8Array(await (await result('bytes')).arrayBuffer())]).to.deep.equal([0, 255]);
    for (const [name, json] of Object.entries({ text: '"text"', number: '0', false: 'false', empty: '""' })) {
      const { status, text, headers } = await site.agent.get(`/films/results/${name}`);
      expect([status, text]).to.deep.equal([200, json]);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    }
  });

  it('answers as routing-controllers does where a route returns nothing', async () => {
    expectNothing(await site.agent.get('/films/null'), 204);
    expectProblem(await site.agent.get('/films/undefined'), 404, { detail: 'Not Found' });
    expectNothing(await site.agent.get('/films/undefined-204'), 204);
    expect((await site.agent.get('/films/null-404')).status).to.equal(404);
  });

  for (const path of ['bigint', 'circular']) {
    it(`answers 500 where a result of ${path} cannot be written as JSON`, async () => {
      expectProblem(await site.agent.get(`/films/results/${path}`), 500, { detail: 'Internal Server Error' });
      expect(logger.lines).to.have.lengthOf(1);
    });
  }

  it('runs what is to run after the answer, also one that is still written when the method has returned', async () => {
    expectJson(await site.agent.get('/films/after'), 200, { after: true });
    const ran = once(site.app, 'ran after');
    const answer = await site.agent.get('/films/later/after');
    expect([answer.status, answer.text]).to.deep.equal([200, 'later']);
    await ran;
    expect(seen).to.deep.equal(['after', 'behind']);
  });

  it('goes on when the client has left before the handler is done', async () => {
    const socket = await site.server.connect();
    const waits = once(site.app, 'handler waits');
    socket.write(requestHead('GET /films/waits'));
    await waits;
    const goesOn = once(site.app, 'handler goes on');
    socket.destroy();
    await goesOn;
    const { status } = await fetch(`${site.server.url}/films`);
    expect(status).to.equal(200);
    expect(logger.lines).to.deep.equal([]);
  });
});

@Interceptor()
class Wrapping implements InterceptorInterface {
  intercept(_action: unknown, content: unknown): object {
    return { data: content };
  }
}

describe('writing the answer yourself, where an interceptor changes results', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Film],
    bootstrap: { logger, controllers: [FilmController], routing: { interceptors: [Wrapping] } },
  }));

  it('is the answer, now and later, and logs nothing', async () => {
    for (const [path, status, text] of [
      ['/films/1', 203, '{"own":true}'],
      ['/films/2', 200, 'later'],
      ['/films/now', 202, 'now'],
      ['/films/later', 200, 'later'],
    ] as const) {
      const answer = await fetch(`${site.server.url}${path}`);
      expect([path, answer.status, await answer.text()]).to.deep.equal([path, status, text]);
    }
    expectJson(await site.agent.get('/films/after'), 200, { data: { after: true } });
    expect(logger.text).to.not.match(/TypeError|ERR_HTTP/);
  });
});
