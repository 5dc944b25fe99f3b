/** Answers whose text is ready, beside those of Express: headers and bytes are the same. */
import { expect } from 'chai';
import express, { type Request, type Response } from 'express';
import supertest, { type Response as Received } from 'supertest';
import { DEFAULT_HEADERS, setDefaultHeaders } from '../../../src/request/standard-headers.js';
import { checkJson, isBytesOrStream, JsonAnswer, writesPlainJson } from '../../../src/respond/json-answer.js';
import { listen } from '../../support/listen.js';

const LONG = { text: 'é'.repeat(3000) };

/** What stands before an answer. */
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

  it('without a text has no body, and no header of one', async () => {
    const empty: Send = (_value, _status, response) =>
      new JsonAnswer('', 204, { 'X-Own': 'a' }, true).pipe(response);
    const prepared = { 'Content-Type': 'text/html', 'Content-Length': '5' };
    const { status, headers, text } = await received(empty, { prepared });
    expect({ status, text }).to.deep.equal({ status: 204, text: '' });
    expect(headers).to.include({ 'x-own': 'a' });
    expect(headers).not.to.have.any.keys('content-type', 'content-length', 'etag');
  });

  it('says when it is written', async () => {
    let written = 0;
    const send: Send = (_value, _status, response) => {
      new JsonAnswer('1', null, {}, true, () => {
        written += response.writableEnded ? 1 : 0;
      }).pipe(response);
    };
    await received(send, {});
    expect(written).to.equal(1);
  });
});

describe('what takes part in writing JSON', () => {
  /** Looks at a response that an application has changed. */
  async function looked<T>(
    look: (response: Response) => T,
    change: (app: express.Express) => void = () => {},
  ) {
    const app = express();
    change(app);
    let found: T | undefined;
    app.use((_request, response) => {
      try {
        found = look(response);
      } finally {
        response.end();
      }
    });
    await using listening = await listen(app);
    await supertest(listening.server).get('/');
    return found;
  }

  const replacing = (app: express.Express): unknown =>
    app.set('json replacer', (_name: string, value: unknown) => (value === 1n ? 1 : value));

  it('is nothing of an ordinary application', async () => {
    expect(await looked(writesPlainJson)).to.equal(true);
    for (const change of [
      (app: express.Express) => app.set('json spaces', 2),
      (app: express.Express) => app.set('json escape', true),
      replacing,
    ]) {
      expect(await looked(writesPlainJson, change)).to.equal(false);
    }
    for (const name of ['json', 'send'] as const) {
      const own = (response: Response): boolean => {
        response[name] = () => response;
        return writesPlainJson(response);
      };
      expect(await looked(own)).to.equal(false);
    }
  });

  it('is checked before anything is sent, where it is Express that writes it', async () => {
    const refuses = (value: unknown) => (response: Response) => {
      try {
        checkJson(value, response);
        return false;
      } catch {
        return true;
      }
    };
    expect(await looked(refuses({ a: 1 }))).to.equal(false);
    expect(await looked(refuses(1n))).to.equal(true);
    expect(await looked(refuses(1n), replacing)).to.equal(false);
    const bytes = Object.assign(Buffer.from('a'), { toJSON: () => 1n });
    expect(await looked(refuses(bytes))).to.equal(false);
    const otherwise = (response: Response): boolean | undefined => {
      response.json = () => response;
      return refuses(1n)(response);
    };
    expect(await looked(otherwise)).to.equal(false);
  });

  it('leaves out bytes and streams', () => {
    for (const value of [Buffer.from('a'), new Uint8Array(1), { pipe: () => {} }]) {
      expect(isBytesOrStream(value)).to.equal(true);
    }
    for (const value of [null, undefined, 'a', {}, { pipe: 1 }, [1]])
      expect(isBytesOrStream(value)).to.equal(false);
  });

  it('has the default headers, but for those that are set', async () => {
    const headers = await looked((response) => {
      response.setHeader('Cache-Control', 'private');
      setDefaultHeaders(response);
      return { ...response.getHeaders() };
    });
    expect(headers).to.include({
      'cache-control': 'private',
      'x-content-type-options': DEFAULT_HEADERS['X-Content-Type-Options'],
    });
  });
});
