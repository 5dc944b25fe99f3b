import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Request } from 'express';
import { type BodyLimits, readBody, sentBody } from '../../../src/request/read-body.js';
import { BodyError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';

const LIMITS: BodyLimits = { limit: 100, mediaTypes: ['application/json', 'application/merge-patch+json'] };
const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' };
const NO_TYPE = { 'content-type': '' };

/** With its whole body, or in pieces of which none has come yet, and nothing says how many will. */
function sending(body: string | Buffer, headers = JSON_TYPE, isChunked = false): Request {
  const bytes = Buffer.from(body);
  const stream = new Readable({ read: () => {} });
  const push = (): void => {
    stream.push(bytes);
    stream.push(null);
  };
  if (isChunked) setImmediate(push);
  else push();
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) };
  const all: Readonly<Record<string, string>> = { ...length, 'content-type': 'application/json', ...headers };
  const get = (name: string): string | undefined => all[name.toLowerCase()];
  return Object.assign(stream, { url: '/', params: {}, headers: all, get }) as unknown as Request;
}

/** What a middleware has made of a body. */
async function readAlready(body: unknown): Promise<Request> {
  const request = sending('{}');
  await request.resume().toArray();
  return Object.assign(request, { body });
}

async function refusal(request: Request, limits = LIMITS): Promise<unknown> {
  const error = await caughtError(() => readBody(request, limits));
  if (!(error instanceof BodyError)) throw error;
  return [error.status, error.errors[0]?.code];
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const sized = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;

describe('readBody', () => {
  for (const [label, headers] of [
    ['JSON', {}],
    ['JSON in other letters', { 'content-type': ' Application/JSON ; Charset="UTF-8"' }],
    ['JSON in UTF8', { 'content-type': 'application/json;a=b; charset=utf8' }],
    ['a merge patch', { 'content-type': 'application/merge-patch+json; x=1' }],
    ['what is not compressed', { 'content-encoding': 'Identity' }],
  ] as const) {
    it(`reads ${label}, whole or in pieces`, async () => {
      for (const isChunked of [false, true]) {
        const request = sending('{"a":["é"]}', { ...JSON_TYPE, ...headers }, isChunked);
        expect(await readBody(request, LIMITS)).to.deep.equal({ a: ['é'] });
        expect(sentBody(request)).to.equal('{"a":["é"]}');
      }
    });
  }

  it('reads what is compressed', async () => {
    for (const [encoding, compress] of [
      ['gzip', gzipSync],
      ['GZIP', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      const request = sending(compress('{"a":1}'), { ...JSON_TYPE, 'content-encoding': encoding });
      expect(await readBody(request, LIMITS)).to.deep.equal({ a: 1 });
    }
  });

  it('ends the request, for those who wait for that', async () => {
    const request = sending('{}');
    const ended = new Promise((resolve) => request.once('end', resolve));
    await readBody(request, LIMITS);
    await ended;
  });

  it('takes as many bytes and levels as are allowed', async () => {
    for (const isChunked of [false, true]) {
      expect(await readBody(sending(sized(100), JSON_TYPE, isChunked), LIMITS)).to.have.lengthOf(98);
      expect(await refusal(sending(sized(101), JSON_TYPE, isChunked))).to.deep.equal([413, 'tooLarge']);
      expect(await readBody(sending(nested(32), JSON_TYPE, isChunked), LIMITS)).to.be.an('array');
      expect(await refusal(sending(nested(33), JSON_TYPE, isChunked))).to.deep.equal([400, 'tooDeep']);
    }
    expect(await refusal(sending(`{"a":{"b":${nested(31)}}}`, JSON_TYPE))).to.deep.equal([400, 'tooDeep']);
  });

  it('bounds what is sent and what it becomes where it is compressed', async () => {
    const encoded = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expect(await refusal(sending(gzipSync(sized(1_000)), encoded))).to.deep.equal([413, 'tooLarge']);
    const empty = Buffer.concat(Array.from({ length: 6 }, () => gzipSync('')));
    expect(empty.length).to.be.above(100);
    for (const isChunked of [false, true]) {
      expect(await refusal(sending(empty, encoded, isChunked))).to.deep.equal([413, 'tooLarge']);
    }
  });

  for (const [label, request, code] of [
    ['no body', () => sending('', NO_TYPE), [400, 'missing']],
    ['a body without a type', () => sending('{}', NO_TYPE), [415, 'mediaType']],
    ['another type', () => sending('{}', { 'content-type': 'text/json' }), [415, 'mediaType']],
    [
      'a type that only begins so',
      () => sending('{}', { 'content-type': 'application/jsonx' }),
      [415, 'mediaType'],
    ],
    [
      'another character set',
      () => sending('{}', { 'content-type': 'application/json; charset=latin1' }),
      [415, 'charset'],
    ],
    [
      'another compression',
      () => sending('{}', { ...JSON_TYPE, 'content-encoding': 'zstd' }),
      [415, 'encoding'],
    ],
    [
      'a compression that it has not',
      () => sending('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      [400, 'unreadable'],
    ],
    [
      'half of what is compressed',
      () => sending(gzipSync('{"a":1}').subarray(0, 15), { ...JSON_TYPE, 'content-encoding': 'gzip' }),
      [400, 'unreadable'],
    ],
    [
      'less than is announced',
      () => sending('{}', { ...JSON_TYPE, 'content-length': '3' }),
      [400, 'unreadable'],
    ],
    ['what is not UTF-8', () => sending(Buffer.from([0x22, 0xff, 0x22])), [400, 'encoding']],
    ['what is not JSON', () => sending('{a:1}'), [400, 'malformed']],
  ] as const) {
    it(`refuses ${label}`, async () => {
      expect(await refusal(request())).to.deep.equal(code);
    });
  }

  it('says which types there are, and why there are no more', async () => {
    const detail = async (unmerged: readonly string[]) => {
      const error = await caughtError(() => readBody(sending('{}', NO_TYPE), { ...LIMITS, unmerged }));
      return (error as Error).message;
    };
    const types = 'The Content-Type must be application/json or application/merge-patch+json';
    expect(await detail([])).to.equal(`${types}.`);
    expect(await detail(['a', 'b'])).to.equal(`${types}, because a, b cannot be merged.`);
  });

  it('reads any value of JSON', async () => {
    for (const value of [null, [null], { a: null }, 1, 'a', false]) {
      expect(await readBody(sending(JSON.stringify(value)), LIMITS)).to.deep.equal(value);
    }
  });

  it('ignores the mark of a byte order', async () => {
    expect(await readBody(sending('\ufeff{"a":1}'), LIMITS)).to.deep.equal({ a: 1 });
  });

  it('takes what a middleware has read', async () => {
    const value = { a: 1 };
    for (const body of [value, '{"a":1}', Buffer.from('{"a":1}')]) {
      const request = await readAlready(body);
      expect(await readBody(request, LIMITS)).to.deep.equal(value);
      expect(sentBody(request)).to.equal('{"a":1}');
    }
    expect(sentBody(await readAlready(undefined))).to.equal('');
    const error = await caughtError(async () => readBody(await readAlready(undefined), LIMITS));
    expect((error as Error).message).to.equal(
      'An earlier middleware has read the body of the request and left no request.body.',
    );
  });
});
