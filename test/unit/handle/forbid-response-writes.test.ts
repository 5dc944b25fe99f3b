import { expect } from 'chai';
import express, { type Response } from 'express';
import supertest from 'supertest';
import { withoutAnswer } from '../../../src/features/bulk/write-in-turn.js';
import { listen } from '../../support/listen.js';

/** Runs work with a real response, which answers with the result of the work. */
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
});
