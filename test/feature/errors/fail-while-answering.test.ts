/** Answers that cannot be written: hooks of middlewares that throw, and problems that are no JSON. The process goes on. */
import { expect } from 'chai';
import type { RequestHandler, Response } from 'express';
import { BadRequestError, Get, HttpError, JsonController } from 'routing-controllers';
import type supertest from 'supertest';
import { NotFoundError, PersistenceError } from '../../../src/index.js';
import { Name } from '../../models/names.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** Parts of a response that a hook breaks; those of `once` throw the first time only, as the package on-headers lets them. */
const HOOKS: Readonly<Record<string, (response: Response) => void>> = {
  writeHead: (response) => {
    response.writeHead = () => fail();
  },
  once: (response) => {
    const { writeHead } = response;
    response.writeHead = () => {
      response.writeHead = writeHead;
      return fail();
    };
  },
  end: (response) => {
    response.end = () => fail();
  },
  setHeader: (response) => {
    response.setHeader = () => fail();
  },
};

const END_FIRST = (response: Response): void => {
  const { end } = response;
  response.end = (...args: unknown[]) => {
    Reflect.apply(end, response, args);
    return fail();
  };
};

const hook: RequestHandler = ({ headers }, response, next) => {
  const name = String(headers['x-hook']);
  (name === 'afterEnd' ? END_FIRST : HOOKS[name])?.(response);
  next();
};

function fail(): never {
  throw new Error('On purpose');
}

/** Errors whose problem is no JSON; a member of one of them has another value at each read. */
const UNWRITABLE: Readonly<Record<string, () => unknown>> = {
  'a number that JSON does not have': () => Object.assign(new NotFoundError('x'), { message: 1n }),
  'a ring': () => {
    const ring: { self?: unknown } = {};
    ring.self = ring;
    return Object.assign(new PersistenceError('x'), { message: ring });
  },
  'a text that throws': () => Object.assign(new NotFoundError('x'), { message: { toJSON: fail } }),
  'a getter that throws': () => Object.defineProperty(new HttpError(400), 'message', { get: fail }),
  'a text with half a character': () => new BadRequestError('half \ud800'),
};

@JsonController('/unwritable')
class UnwritableController {
  @Get('/:what')
  get(): never {
    throw UNWRITABLE[thrown]?.();
  }
}

let thrown = '';

const FAILED = { detail: 'Internal Server Error' };

const REQUESTS = [
  ['a record', 'get', '/names/1'],
  ['a list', 'get', '/names'],
  ['a record that is not there', 'get', '/names/9'],
  ['a bad request', 'get', '/names/x'],
  ['a create', 'post', '/names'],
  ['an update', 'patch', '/names/1'],
  ['a delete', 'delete', '/names/1'],
  ['a method that there is not', 'put', '/names/1'],
  ['OPTIONS', 'options', '/names/1'],
  ['the health', 'get', '/health/ready'],
  ['the document', 'get', '/openapi.json'],
] as const;

describe('failing while answering', () => {
  const site = serveTestApp(() => ({ models: [Name], bootstrap: { models: [] } }));
  let agent: ReturnType<typeof supertest>;
  const log = new CapturedLog();

  before(async () => {
    const options = { models: [Name], controllers: [UnwritableController], logger: log };
    ({ agent } = await buildApp(options, (app) => app.use(hook)));
  });

  beforeEach(async () => {
    await emptyTables(site, 'names');
    await Name.create({ name: 'red' });
    log.clear();
  });

  for (const [what, verb, path] of REQUESTS) {
    for (const name of Object.keys(HOOKS)) {
      it(`answers 500 to ${what} when a hook of ${name} throws, and logs it`, async () => {
        const sent = agent[verb](path).set('x-hook', name);
        const response = await (verb === 'post' || verb === 'patch' ? sent.send({ name: 'blue' }) : sent);
        expectProblem(response, 500, FAILED);
        expect(log.lines.map(({ details }) => details['error'])).to.include('Error');
        expectJson(await agent.get('/health/live'), 200, { status: 'alive' });
      });
    }
  }

  for (const [what, make] of Object.entries(UNWRITABLE)) {
    it(`answers an error whose message is ${what}`, async () => {
      thrown = what;
      const isText = make() instanceof BadRequestError;
      const response = await agent.get('/unwritable/it');
      if (isText) expectProblem(response, 400, { detail: 'half \ud800' });
      else expectProblem(response, 500, FAILED);
      expectJson(await agent.get('/health/live'), 200, { status: 'alive' });
    });
  }

  it('does not cut off an answer whose hook throws after its end', async () => {
    const response = await agent.get('/names/9').set('x-hook', 'afterEnd');
    expectProblem(response, 404, { detail: 'There is no Name with this id.' });
  });
});
