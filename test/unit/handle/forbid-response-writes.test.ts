import { expect } from 'chai';
import express, { type Response } from 'express';
import supertest from 'supertest';
import { withoutAnswer } from '../../../src/features/bulk/write-in-turn.js';
import { caughtError } from '../../support/caught-error.js';
import { listen } from '../../support/listen.js';

/** Runs work with a real response, which is answered with what the work has given. */
async function answered(work: (response: Response) => Promise<unknown>) {
  const app = express();
  app.get('/', async (_request, response) => {
    const given = await work(response).catch((error: Error) => error.message);
    response.status(201).json(given);
  });
  await using listening = await listen(app);
  const { status, body } = await supertest(listening.server).get('/');
  return { status, body };
}

const REFUSED = 'A method that runs for each of many records cannot answer by itself; return the record.';

describe('work that must not answer', () => {
  for (const [name, answer] of Object.entries({
    end: (response: Response) => response.end(),
    write: (response: Response) => response.write('a'),
    writeHead: (response: Response) => response.writeHead(200),
    json: (response: Response) => response.json({}),
  })) {
    it(`is refused to call ${name}, and what comes after may`, async () => {
      const refused = await answered((response) => withoutAnswer(response, async () => answer(response)));
      expect(refused).to.deep.equal({ status: 201, body: REFUSED });
    });
  }

  it('gives what it gives, and leaves the response as it was', async () => {
    const result = await answered(async (response) => {
      const own = () => response;
      response.end = own;
      const given = await withoutAnswer(response, async () => 'given');
      expect(response.end).to.equal(own);
      Reflect.deleteProperty(response, 'end');
      expect(Object.hasOwn(response, 'write')).to.equal(false);
      return given;
    });
    expect(result).to.deep.equal({ status: 201, body: 'given' });
  });

  it('fails as it fails', async () => {
    const error = new Error('own');
    const response = {} as Response;
    expect(await caughtError(() => withoutAnswer(response, () => Promise.reject(error)))).to.equal(error);
    expect(response).to.deep.equal({});
  });
});
