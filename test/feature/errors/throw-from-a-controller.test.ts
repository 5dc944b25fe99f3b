/** Errors in the user's own code: an answer to each, without a word of the error, and a process that goes on. */
// @runs fast
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import {
  BadRequestError,
  HttpError,
  NotFoundError as MissingRoute,
  UnauthorizedError,
} from 'routing-controllers';
import {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
} from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectProblem } from '../../support/expect-answer.js';
import { listen } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';
import {
  Bomb,
  BombController,
  BunkerController,
  THROWING_OPTIONS,
  THROWING_PATHS,
  thrown,
  WRITES,
} from '../../support/throwing-controllers.js';

const INTERNAL = { detail: 'Internal Server Error' };

/** Members that each throw. */
function refusing<T>(names: string, refuse: T): Record<string, T> {
  return Object.fromEntries(names.split(' ').map((name) => [name, refuse]));
}

/** An object that throws whatever is done to it. */
function untouchable(): object {
  const refuse = (): never => {
    throw new Error('do not touch');
  };
  return new Proxy({}, refusing('get has getPrototypeOf ownKeys getOwnPropertyDescriptor', refuse));
}

function withThrowingGetters(): object {
  const refuse = {
    get(): never {
      throw new Error('do not read');
    },
  };
  const error = Object.create(Error.prototype) as object;
  return Object.defineProperties(error, refusing('httpCode status message stack name parent', refuse));
}

const NONSENSE: readonly (readonly [what: string, value: unknown])[] = [
  ['null', null],
  ['undefined', undefined],
  ['a text', 'hidden reason'],
  ["'route'", 'route'],
  ["'router'", 'router'],
  ['zero', 0],
  ['a number', 404],
  ['false', false],
  ['a symbol', Symbol('hidden reason')],
  ['a function', () => 'hidden reason'],
  ['an empty object', {}],
  ['an object with a status', { status: 404, message: 'hidden reason' }],
  ['an error', new Error('hidden reason')],
  ['a frozen error', Object.freeze(new TypeError('hidden reason'))],
  ['an error with a status that is none', Object.assign(new Error('hidden reason'), { httpCode: 200 })],
  ['an error with a status of a server', Object.assign(new Error('hidden reason'), { status: 500 })],
  [
    'an error that reveals its own parts',
    Object.assign(new Error('hidden reason'), { sql: 'hidden reason' }),
  ],
  ['an object with throwing getters', withThrowingGetters()],
  ['an object that cannot be touched', untouchable()],
];

const slow = (expose: boolean) => Object.assign(new Error('Slow down.'), { status: 429, expose });

const MEANT: readonly (readonly [error: object, status: number, detail: string])[] = [
  [new NotFoundError('No such thing.'), 404, 'No such thing.'],
  [new MultipleResultsFound('Too many.'), 409, 'Too many.'],
  [new ConcurrentModificationError('Late.'), 409, 'Late.'],
  [new RelationNotLoaded('Not loaded.'), 500, 'Not loaded.'],
  [new PersistenceError('Broken.'), 500, 'Broken.'],
  [new BadRequestError('Use a star.'), 400, 'Use a star.'],
  [new UnauthorizedError('Who are you?'), 401, 'Who are you?'],
  [new HttpError(418, 'I am a teapot.'), 418, 'I am a teapot.'],
  [new HttpError(402), 402, 'Payment Required'],
  [new MissingRoute(), 404, 'Not Found'],
  [{ httpCode: 409, message: 'Taken.' }, 409, 'Taken.'],
  // Errors of http-errors, with a message for clients, and with none.
  [slow(true), 429, 'Slow down.'],
  [slow(false), 429, 'Too Many Requests'],
];

describe('throwing from a controller', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Bomb],
    bootstrap: {
      logger,
      controllers: [BombController, BunkerController],
      routing: THROWING_OPTIONS,
    },
  }));
  let caughtLater = 0;

  before(async () =>
    site.app.use((_request, _response, next) => {
      caughtLater += 1;
      next();
    }),
  );

  beforeEach(() => {
    logger.clear();
    caughtLater = 0;
  });

  for (const [what, value] of NONSENSE) {
    describe(`throwing ${what}`, () => {
      for (const path of THROWING_PATHS) {
        it(`[G9] answers 500 to ${path} and logs it once`, async () => {
          thrown.value = value;
          expectProblem(await site.agent.get(path), 500, INTERNAL);
          expect(logger.lines.map(({ level, details }) => [level, details['status']])).to.deep.equal([
            ['error', 500],
          ]);
          expect(caughtLater).to.equal(0);
        });
      }
    });
  }

  for (const [error, status, detail] of MEANT) {
    it(`answers ${status} to ${error.constructor.name}, with '${detail}'`, async () => {
      thrown.value = error;
      for (const path of THROWING_PATHS) expectProblem(await site.agent.get(path), status, { detail });
      expect(logger.lines).to.have.lengthOf(status < 500 ? 0 : THROWING_PATHS.length);
    });
  }

  it('answers HEAD as it answers GET, without the body', async () => {
    thrown.value = new Error('hidden reason');
    const { status, headers, text } = await site.agent.head('/bombs/9');
    expect([status, text ?? '']).to.deep.equal([500, '']);
    expect(headers['content-type']).to.equal('application/problem+json');
  });

  it('drops headers of an answer that is not sent', async () => {
    thrown.value = new Error('hidden reason');
    const { headers } = await site.agent.get('/bombs/9');
    expect(headers).to.not.have.any.keys('content-encoding', 'content-disposition');
    expect(headers['content-length']).to.equal(String(JSON.stringify(INTERNAL).length));
  });

  describe('after it has written', () => {
    for (const [what, id] of [
      ['the head of an answer', WRITES.headers],
      ['a part of an answer', WRITES.part],
    ] as const) {
      it(`cuts the connection after ${what}, so that nobody takes it for the whole`, async () => {
        thrown.value = new Error('hidden reason');
        const failure = await fetch(`${site.server.url}/bombs/${id}`)
          .then((response) => response.text())
          .catch((error: unknown) => error);
        expect(failure).to.be.an.instanceOf(Error);
        expect(logger.lines).to.have.lengthOf(1);
        expect((await fetch(`${site.server.url}/bombs?page=2`)).status).to.equal(200);
      });
    }

    for (const [what, id] of [
      ['throws', WRITES.all],
      ['returns a record', WRITES.twice],
    ] as const) {
      it(`leaves a whole answer alone, and the connection open, when it ${what}`, async () => {
        await using server = await listen(site.app);
        thrown.value = null;
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const bodies: string[] = [];
        for (let count = 0; count < 3; count += 1)
          bodies.push((await ask(agent, `${server.url}/bombs/${id}`)).body);
        agent.destroy();
        expect(bodies).to.deep.equal(['{"written":true}', '{"written":true}', '{"written":true}']);
        expect(server.connections()).to.equal(1);
      });
    }
  });

  it('[A23] over and over on one connection keeps the connection open over 50 answers of every kind of failure', async () => {
    await using server = await listen(site.app);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    thrown.value = new MissingRoute();
    const paths = ['/bombs/9', '/bombs/x', '/bombs?page=0', '/bombs/%ff', '/bunkers', '/nowhere'];
    const statuses = new Set<number>();
    for (let count = 0; count < 50; count += 1) {
      statuses.add((await ask(agent, `${server.url}${paths[count % paths.length]}`)).status);
    }
    agent.destroy();
    expect([...statuses].toSorted()).to.deep.equal([400, 404]);
    expect(server.connections()).to.equal(1);
  });
});

async function ask(agent: Agent, url: string): Promise<{ status: number; body: string }> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, body };
}
