import { once } from 'node:events';
import { expect } from 'chai';
import express, { type Express, type RequestHandler } from 'express';
import supertest from 'supertest';
import { layersOf } from '../../../src/request/express-internals.js';
import { installLastHandler } from '../../../src/respond/exception-handler.js';
import { BodyError } from '../../../src/schema/request-issue.js';
import { defaultLogger, type Logger } from '../../../src/util/logger.js';
import { listen, requestHead } from '../../support/listen.js';

const tooLarge: RequestHandler = () => {
  throw new BodyError(413, 'tooLarge', 'The body is too large.');
};

/** An application that fails, and what it logs. */
function failing(fail: RequestHandler): { readonly app: Express; readonly lines: string[] } {
  const lines: string[] = [];
  const logger: Logger = { ...defaultLogger, error: (message) => void lines.push(message) };
  const app = express();
  app.use('/fail', fail);
  installLastHandler(app, logger, null);
  return { app, lines };
}

/** The answer to a request; status 0 where the connection was cut. */
async function asked(app: Express, method: 'get' | 'head' = 'get') {
  await using listening = await listen(app);
  const none = { status: 0, type: '', text: '' };
  return await supertest(listening.server)
    [method]('/fail')
    .then(
      ({ status, type, text }) => ({ status, type, text }),
      () => none,
    );
}

describe('the last error handler', () => {
  it('is there once for all requests, and again behind what is mounted later', async () => {
    const { app } = failing(tooLarge);
    const count = layersOf(app).length;
    for (let index = 0; index < 3; index += 1) expect((await asked(app)).status).to.equal(413);
    expect(layersOf(app)).to.have.lengthOf(count);
    app.get('/later', tooLarge);
    await using listening = await listen(app);
    for (let index = 0; index < 3; index += 1) {
      expect((await supertest(listening.server).get('/later')).body).to.have.property('errors');
    }
    expect(layersOf(app)).to.have.lengthOf(count + 2);
  });

  it('closes the connection of a body that is too large, unless it was read', async () => {
    const head = requestHead('POST /fail', { 'Content-Length': '10' });
    await using unread = await listen(failing(tooLarge).app);
    const socket = await unread.connect();
    socket.write(`${head}x`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    expect(String(answer)).to.include('HTTP/1.1 413').and.to.include('\r\nConnection: close\r\n');
    const { app } = failing((request, _response, next) => {
      request.resume().once('end', () => next(new BodyError(413, 'tooLarge', 'The body is too large.')));
    });
    await using read = await listen(app);
    const { status, headers } = await fetch(`${read.url}/fail`, { method: 'POST', body: 'x'.repeat(10) });
    expect([status, headers.get('connection')]).to.deep.equal([413, 'keep-alive']);
  });

  for (const [label, spoil] of Object.entries({
    'a header': (response: express.Response) => {
      response.setHeader = () => {
        throw new Error('spoilt');
      };
    },
    'the end': (response: express.Response) => {
      response.end = () => {
        throw new Error('spoilt');
      };
    },
  })) {
    it(`answers by itself where ${label} cannot be written`, async () => {
      const { app, lines } = failing((_request, response) => {
        response.setHeader('X-Own', 'a');
        spoil(response);
        throw new Error('first');
      });
      const answer = await asked(app);
      expect(answer).to.include({ status: 500, type: 'application/problem+json' });
      expect(JSON.parse(answer.text)).to.deep.equal({ detail: 'Internal Server Error' });
      expect(await asked(app, 'head')).to.include({ status: 500, type: 'application/problem+json' });
      expect(lines).to.have.lengthOf(4);
    });
  }

  it('cuts the connection where half of an answer went out', async () => {
    const { app, lines } = failing((_request, response) => {
      response.setHeader('Content-Length', '10').write('half');
      throw new Error('first');
    });
    expect((await asked(app)).status).to.equal(0);
    expect(lines).to.have.lengthOf(1);
  });

  it('leaves an answer that is whole as it is', async () => {
    const { app, lines } = failing((_request, response) => {
      response.status(201).json({ a: 1 });
      throw new Error('afterwards');
    });
    expect(await asked(app)).to.include({ status: 201, text: '{"a":1}' });
    expect(lines).to.have.lengthOf(1);
  });
});
