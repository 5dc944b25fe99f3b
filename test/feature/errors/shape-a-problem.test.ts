/** The option `problem`: the form of each error is the application's, or its own handler answers. */
import { expect } from 'chai';
import type { ErrorRequestHandler } from 'express';
import { BodyParam, Get, HttpError, JsonController, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type BootstrapOptions,
  bootstrap,
  Crud,
  crudController,
  crudRouter,
  installExceptionHandlers,
  type Problem,
  problemOf,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list', 'read', 'create', 'createMany'] })
@Table({ tableName: 'posts', timestamps: false })
class Item extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare title: string;
}

class PostController extends crudController(Item, { prefix: '/posts' }) {
  @Get('/broken')
  broken(): never {
    throw new Error('a secret');
  }

  @Get('/paused')
  paused(): never {
    throw new HttpError(503, 'Closed on Sundays.');
  }
}

@JsonController('/hand')
class HandController {
  @Post('/')
  add(@BodyParam('title', { required: true }) title: string) {
    return { title };
  }
}

type Ask = (agent: BuiltApp['agent']) => Promise<Response>;

const send = (path: string, type: string, body: string): Ask => {
  return (agent) => agent.post(path).set('Content-Type', type).send(body);
};
const JSON_TYPE = 'application/json';

/** Requests of each kind that fails, with the status and the codes of the problem. */
const FAILURES: readonly (readonly [ask: Ask, status: number, ...codes: string[]])[] = [
  [(agent) => agent.get('/posts/%ff'), 400],
  [(agent) => agent.get('/posts?size=x&sort=y'), 400, 'range', 'sort.unknown-field'],
  [(agent) => agent.get('/posts/x'), 400, 'id'],
  [(agent) => agent.get('/posts/9'), 404],
  [(agent) => agent.get('/nowhere'), 404],
  [(agent) => agent.put('/posts/1'), 405],
  [send('/posts', JSON_TYPE, '{'), 400, 'malformed'],
  [send('/posts', JSON_TYPE, JSON.stringify({ title: 'x'.repeat(200_000) })), 413, 'tooLarge'],
  [send('/posts', 'text/plain', 'title'), 415, 'mediaType'],
  [send('/posts', JSON_TYPE, '{"titel":"a"}'), 422, 'unknownProperty', 'isDefined'],
  [send('/posts', JSON_TYPE, '{"title":"taken"}'), 409, 'unique'],
  [send('/hand', JSON_TYPE, '{"titel":1}'), 422, 'unknownProperty', 'isDefined'],
  [(agent) => agent.get('/posts/broken'), 500],
  [(agent) => agent.get('/posts/paused'), 503],
  [(agent) => agent.get('/router/9'), 404],
  [(agent) => agent.put('/router'), 405],
];

describe('shaping problems', () => {
  const site = serveTestApp(() => ({ models: [Item], bootstrap: { models: [] } }));
  const log = new CapturedLog();
  const build = (problem: BootstrapOptions['problem']) =>
    buildApp(
      {
        controllers: [PostController, HandController],
        models: [Item],
        notFound: true,
        logger: log,
        indexAdvice: false,
        ...(problem && { problem }),
      },
      (app) => {
        app.use('/router', crudRouter(Item));
        app.use('/early', () => {
          throw new HttpError(418, 'Too early.');
        });
      },
    );

  beforeEach(async () => {
    await emptyTables(site, 'posts');
    await Item.create({ title: 'taken' });
    log.clear();
  });

  it('by a function makes the body and the type of every error, and leaves the status', async () => {
    const { agent } = await build(({ status, detail, errors = [] }, request, response) => {
      response.type('application/vnd.acme+json');
      return { status, reasons: errors.map(({ code }) => code), text: [request.method, detail] };
    });
    for (const [ask, status, ...reasons] of FAILURES) {
      const answer = await ask(agent);
      const { method } = answer.request as unknown as { method: string };
      expect([answer.status, answer.body.status]).to.deep.equal([status, status], answer.text);
      expect(answer.body.reasons).to.deep.equal(reasons);
      expect(answer.body.text[0]).to.equal(method);
      expect(answer.headers['content-type']).to.match(/^application\/vnd\.acme\+json/);
    }
    expect((await agent.put('/posts/1')).headers).to.include({ allow: 'GET, HEAD, OPTIONS' });
    const { headers, text } = await agent.head('/posts/9');
    expect([headers['content-type'], text ?? '']).to.deep.equal(['application/vnd.acme+json', '']);
    expect((await agent.get('/posts/1')).headers['content-type']).to.equal('application/json; charset=utf-8');
  });

  it('names no type that the function has not set', async () => {
    const { agent } = await build(({ detail }) => [detail]);
    const answer = await agent.get('/posts/9');
    expect([answer.status, answer.text]).to.deep.equal([404, '["There is no Item with this id."]']);
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(answer.headers['x-content-type-options']).to.equal('nosniff');
  });

  it('holds for the items of a 207, whose own status and type stay', async () => {
    const { agent } = await build(({ errors = [] }, _request, response) => {
      response.status(500).type('text/plain');
      return { codes: errors.map((each) => ({ ...each, detail: '' })) };
    });
    const answer = await agent.post('/posts?atomic=false').send([{ title: 'new' }, { title: 'taken' }]);
    const { 'content-type': type } = answer.headers;
    expect([answer.status, type]).to.deep.equal([207, 'application/json; charset=utf-8']);
    expect(answer.body.items[1]).to.deep.equal({
      status: 409,
      problem: { codes: [{ pointer: '/1/title', code: 'unique', detail: '' }] },
    });
  });

  it('sends the standard problem where the function fails, and logs one line', async () => {
    const ring: Record<string, unknown> = {};
    ring['ring'] = ring;
    const throwing = () => {
      throw new Error('of mine');
    };
    const fails: readonly (readonly [() => unknown, RegExp])[] = [
      [() => undefined, /returned undefined; return the body/],
      [() => Promise.reject(new Error('later')), /returned a promise; return the body itself/],
      [() => ring, /circular/],
      [throwing, /of mine/],
    ];
    for (const [fail, reason] of fails) {
      const { agent } = await build((problem, _request, response) => {
        response.type('text/html');
        Object.assign(problem, { detail: 'changed' });
        return fail();
      });
      log.clear();
      expectProblem(await agent.get('/posts/9'), 404, { detail: 'There is no Item with this id.' });
      const lines = log.lines.map(({ level, message }) => `${level}: ${message}`);
      expect(lines).to.deep.equal(['error: GET /posts/:id failed']);
      expect(log.text).to.match(reason);
    }
  });

  it('leaves alone what the function has sent itself', async () => {
    const { agent } = await build(({ detail }, _request, response) => {
      response.send(`<p>${detail}</p>`);
    });
    const answer = await agent.get('/posts/9');
    expect([answer.status, answer.text]).to.deep.equal([404, '<p>There is no Item with this id.</p>']);
    expect(log.lines).to.deep.equal([]);
  });

  it('leaves the form of errors open in the document', async () => {
    const { crud } = await build(() => ({}));
    const document = crud.openapi();
    expect(document.components.schemas['Problem']).to.deep.equal({
      description: 'Something went wrong. The application decides the form.',
    });
    expect(document.components.responses['NotFound']?.content).to.deep.equal({
      '*/*': { schema: { $ref: '#/components/schemas/Problem' } },
    });
    const text = JSON.stringify(document);
    expect(text).to.not.include('problem+json');
    expect(text).to.not.include('#/components/schemas/Issue');
  });

  it('is a problem of the start where it is neither a function nor next', async () => {
    const problems = await configProblems(() => build('nxet' as 'next'));
    expect(problems).to.deep.equal([
      'problem is "nxet"; use a function of the problem, or \'next\', or leave it out.',
    ]);
    const { app } = await build('next');
    const others = { models: [], health: false, docs: false, problem: () => ({}) } as const;
    expect(await configProblems(() => bootstrap(app, others))).to.deep.equal([
      'problem is not that of the bootstrap before on this application, which has one form of errors; give both calls the same function.',
    ]);
  });

  describe("by 'next'", () => {
    const own: ErrorRequestHandler = (error, _request, response, _next) => {
      const { status, detail, errors = [], headers = {} } = problemOf(error);
      response
        .status(status)
        .set(headers)
        .json({ own: detail, codes: errors.map(({ code }) => code) });
    };

    it('hands every error to the handler of the application', async () => {
      const { app, agent } = await build('next');
      app.get('/later', (_request, response) => {
        response.send('later');
      });
      app.use(own);
      // An error before anything of `bootstrap`, in the first request of all.
      expect((await agent.get('/early')).body).to.deep.equal({ own: 'Too early.', codes: [] });
      for (const [ask, status, ...codes] of FAILURES) {
        const answer = await ask(agent);
        expect([answer.status, answer.body.codes]).to.deep.equal([status, codes], answer.text);
        expect(answer.body.own).to.be.a('string');
      }
      expect((await agent.put('/posts/1')).headers).to.include({ allow: 'GET, HEAD, OPTIONS' });
      expect((await agent.get('/later')).text).to.equal('later');
      const { body } = await send('/posts', JSON_TYPE, '{"title":"taken"}')(agent);
      expect(body).to.deep.equal({ own: 'Another Item has the same title.', codes: ['unique'] });
    });

    it('answers itself where no handler does, without a stack, and logs a failure once', async () => {
      const handlers: readonly (ErrorRequestHandler | null)[] = [
        null,
        (error, _request, _response, next) => next(error),
      ];
      for (const handler of handlers) {
        const { app, agent } = await build('next');
        if (handler) app.use(handler);
        log.clear();
        expectProblem(await agent.get('/posts/broken'), 500, { detail: 'Internal Server Error' });
        expect(log.lines).to.have.lengthOf(1);
        expectProblem(await agent.get('/nowhere'), 404, { detail: 'There is no such path.' });
        const detail = 'Another Item has the same title.';
        const taken = await send('/posts', JSON_TYPE, '{"title":"taken"}')(agent);
        expectIssue(taken, 409, { pointer: '/title', code: 'unique', detail });
      }
    });

    it('answers itself where the handler throws', async () => {
      const { app, agent } = await build('next');
      const thrower: ErrorRequestHandler = (_error, _request, _response, _next) => {
        throw new HttpError(400, 'No handler.');
      };
      app.use(thrower);
      installExceptionHandlers(app);
      expectProblem(await agent.get('/posts/broken'), 400, { detail: 'No handler.' });
    });
  });

  it('is what problemOf says of any error', () => {
    const cases: readonly (readonly [error: unknown, problem: Problem])[] = [
      [new HttpError(402), { status: 402, detail: 'Payment Required' }],
      [null, { status: 500, detail: 'Internal Server Error' }],
      ['text', { status: 500, detail: 'Internal Server Error' }],
      [
        Object.assign(new Error('pool'), { code: 'ECONNREFUSED', parent: { code: 'ECONNREFUSED' } }),
        { status: 503, detail: 'The database is not available; try again.', headers: { 'Retry-After': '1' } },
      ],
    ];
    for (const [error, problem] of cases) expect(problemOf(error)).to.deep.equal(problem);
  });
});
