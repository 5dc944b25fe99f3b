/** Long answers: the bytes of short ones. */
import { expect } from 'chai';
import express, { type Express } from 'express';
import { JsonAnswer } from '../../../src/respond/json-answer.js';
import { JsonBytes } from '../../../src/respond/json-bytes.js';
import { LongJsonAnswer } from '../../../src/respond/long-json-answer.js';
import { exchange, listen, type RawAnswer, requestHead } from '../../support/listen.js';

/** Bytes that are a text nowhere. */
class KeptBytes extends JsonBytes {
  override toString(): string {
    throw new TypeError('A long answer was made a text.');
  }
}

function bytesOf(value: string, bytes: JsonBytes = new KeptBytes()): JsonBytes {
  bytes.add(value.slice(0, 9));
  bytes.add(value.slice(9));
  return bytes;
}

describe('a long answer', () => {
  const TEXT = '{"items":["é 漢"]}';

  async function ask(app: Express, line: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
    await using target = await listen(app);
    const answer = await exchange(target, requestHead(line, { Connection: 'close', ...headers }));
    const { date: _, ...others } = answer.headers;
    return { ...answer, headers: others };
  }

  for (const etag of ['weak', 'strong', true, false]) {
    it(`is as a short one where the setting etag is ${etag}, and never a text`, async () => {
      const app = express();
      app.set('etag', etag);
      app.get('/short', (_request, response) => {
        new JsonAnswer(TEXT, null, { 'X-Own': '1' }, true).pipe(response);
      });
      app.get('/long', (_request, response) => {
        new LongJsonAnswer(bytesOf(TEXT), null, { 'X-Own': '1' }).pipe(response);
      });
      const { etag: tag = '"none"' } = (await ask(app, 'GET /short')).headers;
      for (const headers of [
        {},
        { 'If-None-Match': tag },
        { 'If-None-Match': '"other"' },
        { 'If-None-Match': '*' },
        { 'If-None-Match': tag, 'Cache-Control': 'no-cache' },
        { 'If-Modified-Since': 'Sat, 31 Jan 2026 08:00:00 GMT' },
      ]) {
        for (const method of ['GET', 'HEAD']) {
          const short = await ask(app, `${method} /short`, headers);
          expect(await ask(app, `${method} /long`, headers)).to.deep.equal(short);
          expect(short.status).to.be.oneOf([200, 304]);
        }
      }
    });
  }

  it("leaves headers that are not Express's own to Express", async () => {
    const app = express();
    app.get('/', (_request, response) => {
      response.setHeader('Content-Type', 'application/vnd.own+json');
      new LongJsonAnswer(bytesOf(TEXT, new JsonBytes()), null, {}).pipe(response);
    });
    const { headers, body } = await ask(app, 'GET /');
    expect(headers['content-type']).to.equal('application/vnd.own+json; charset=utf-8');
    expect(body).to.equal(TEXT);
  });
});
