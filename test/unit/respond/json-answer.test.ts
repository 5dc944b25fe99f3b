/** Answers whose text is ready, beside those of Express: headers and bytes are the same. */
import { expect } from 'chai';
import express, { type Request, type Response } from 'express';
import supertest, { type Response as Received } from 'supertest';
import { JsonAnswer } from '../../../src/respond/json-answer.js';
import { listen } from '../../support/listen.js';

const LONG = { text: 'é'.repeat(3000) };

/** State of a response before its answer. */
interface Before {
  readonly etag?: unknown;
  readonly status?: number;
  readonly value?: unknown;
  readonly prepared?: Readonly<Record<string, string>>;
}

type Send = (value: unknown, status: number | null, response: Response) => void;

const byExpress: Send = (value, status, response) => {
  if (status !== null) response.status(status);
  response.json(value);
};
const byUs: Send = (value, status, response) =>
  new JsonAnswer(JSON.stringify(value), status, {}, true).pipe(response);

/** Sends one request to an application that answers so. */
async function received(
  send: Send,
  { etag, status, value = { a: 1 }, prepared = {} }: Before,
  ask: (agent: ReturnType<typeof supertest>) => supertest.Test = (agent) => agent.get('/'),
) {
  const app = express();
  if (etag !== undefined) app.set('etag', etag);
  app.use((_request: Request, response: Response) => {
    for (const [name, text] of Object.entries(prepared)) response.setHeader(name, text);
    send(value, status ?? null, response);
  });
  await using listening = await listen(app);
  return told(await ask(supertest(listening.server)));
}

function told({ status, headers, text }: Received) {
  const { date: _, ...others } = headers as Readonly<Record<string, string>>;
  return { status, headers: others, text: text ?? '' };
}

const ETAGS = {
  weak: undefined,
  strong: 'strong',
  none: false,
  own: (body: unknown) => `"${Buffer.isBuffer(body)}-${String(body).length}"`,
};

describe('an answer whose text is ready', () => {
  for (const [name, etag] of Object.entries(ETAGS)) {
    it(`is that of Express with ${name} tags`, async () => {
      const tag = (await received(byExpress, { etag })).headers['etag'] ?? '"x"';
      for (const [before, ask] of [
        [{}, undefined],
        [{ value: LONG }, undefined],
        [{ value: null }, undefined],
        [{ status: 201 }, undefined],
        [{ status: 204 }, undefined],
        [{ status: 205 }, undefined],
        [{ status: 404 }, undefined],
        [{ prepared: { 'Content-Type': 'application/problem+json' } }, undefined],
        [{ prepared: { ETag: '"own"' } }, undefined],
        [{}, (agent) => agent.head('/')],
        [{}, (agent) => agent.get('/').set('If-None-Match', tag)],
        [{}, (agent) => agent.get('/').set('If-None-Match', '"other"')],
        [{ value: LONG }, (agent) => agent.post('/')],
        [
          { prepared: { 'Last-Modified': 'Sat, 31 Jan 2026 08:00:00 GMT' } },
          (agent) => agent.get('/').set('If-Modified-Since', 'Sat, 31 Jan 2026 08:00:00 GMT'),
        ],
      ] satisfies [Before, ((agent: ReturnType<typeof supertest>) => supertest.Test) | undefined][]) {
        const [theirs, ours] = [
          await received(byExpress, { etag, ...before }, ask),
          await received(byUs, { etag, ...before }, ask),
        ];
        expect(ours, JSON.stringify(before)).to.deep.equal(theirs);
      }
    });

    it(`has no tag of its bytes where it is about the state of no resource, with ${name} ones`, async () => {
      const untagged: Send = (value, status, response) =>
        new JsonAnswer(JSON.stringify(value), status, {}, false).pipe(response);
      for (const status of [200, 404]) {
        expect((await received(untagged, { etag, status })).headers).not.to.have.property('etag');
      }
    });

    it(`may have a tag of its own, with ${name} ones`, async () => {
      const own: Send = (value, status, response) =>
        new JsonAnswer(JSON.stringify(value), status, { ETag: '"7"', 'X-Own': 'a' }, true).pipe(response);
      expect((await received(own, { etag })).headers).to.include({ etag: '"7"', 'x-own': 'a' });
    });
  }
});
