/** Bodies that cannot be read, and those that can in unusual ways. */
// @runs fast
import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { exchange, listen, readToEnd, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.TEXT) declare label: string | null;
  @Column(DataType.JSONB) declare content: unknown;
}

const issue = (code: string, detail: string) => ({ pointer: '', code, detail });
const MALFORMED = issue('malformed', 'The body is not valid JSON.');
const NOT_UTF8 = issue('encoding', 'The body is not valid UTF-8.');
const TOO_DEEP = issue('tooDeep', 'The body is nested more than 32 levels deep.');
const NO_BODY = issue('missing', 'The request has no body; send a JSON object.');
const NO_OBJECT = issue('isObject', 'The body must be a JSON object.');
const NOT_JSON = issue('mediaType', 'The Content-Type must be application/json.');
const NOT_PATCH = issue(
  'mediaType',
  'The Content-Type must be application/json, because content cannot be merged.',
);

describe('sending a body', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({ models: [Parcel], engine: { logging: sql.record } }));

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    site.agent
      .post('/parcels')
      .set({ 'Content-Type': 'application/json', ...headers })
      // Superagent would write a Buffer as JSON.
      .serialize((data: unknown) => data as string)
      .send(body);

  /** `levels` arrays or objects around nothing, inside the object that a body is. */
  const nested = (levels: number, open: string, close: string): string =>
    `{"content":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;

  beforeEach(() => emptyTables(site, 'parcels'));

  describe('that is not JSON', () => {
    const CUT = ['{', '{"label":"a"', '{"label":"a",}'];
    for (const body of [...CUT, 'label', "{'label':'a'}", '{"label":NaN}', ' ', '{}{}', '\u0000', '\ufeff']) {
      it(`[A13] refuses ${JSON.stringify(body)} without repeating it, asking nothing of the database`, async () => {
        const { result, statements } = await sql.during(() => post(body));
        expectIssue(result, 400, MALFORMED);
        expect(statements).to.deep.equal([]);
      });
    }

    it('refuses it in an update too', async () => {
      await Parcel.create({ label: 'a' });
      expectIssue(await site.agent.patch('/parcels/1').type('json').send('{"label":'), 400, MALFORMED);
    });
  });

  describe('that is not UTF-8', () => {
    for (const bytes of ['ff', 'c328', 'eda080', 'c0af', 'f888808080']) {
      it(`[A6] refuses the bytes ${bytes}`, async () => {
        const body = Buffer.concat([Buffer.from('{"label":"'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]);
        expectIssue(await post(body), 400, NOT_UTF8);
      });
    }

    it('[A6] refuses UTF-16', async () =>
      expectIssue(await post(Buffer.from('\ufeff{"label":"a"}', 'utf16le')), 400, NOT_UTF8));

    it('takes a byte order mark', async () =>
      expectJson(await post('\ufeff{"label":"a"}'), 201, { id: 1, label: 'a', content: null }));
  });

  describe('that is nested', () => {
    it('takes 32 levels', async () => {
      const response = await post(nested(32, '[', ']'));
      expect(response.status).to.equal(201);
      expect((await site.agent.get('/parcels/1')).body).to.deep.equal(response.body);
    });

    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      it(`[A4] refuses 33 levels of ${open}`, async () =>
        expectIssue(await post(nested(33, open, close)), 400, TOO_DEEP));
    }

    it('[A4] refuses fifty thousand levels', async () =>
      expectIssue(await post(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), 400, TOO_DEEP));

    it('takes as many values on one level as fit', async () => {
      const content = Array.from({ length: 40_000 }, () => 1);
      const { body, status } = await post(JSON.stringify({ content }));
      expect(status).to.equal(201);
      expect(body.content).to.deep.equal(content);
    });
  });

  describe('that arrives', () => {
    const body = Buffer.from('{"label":"ä"}');
    const head = requestHead('POST /parcels', {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Connection: 'close',
    });
    const created = { id: 1, label: 'ä', content: null };

    it('is taken with the head of its request, and behind it', async () => {
      const together = await exchange(site.server, Buffer.concat([Buffer.from(head), body]));
      expect(together.status).to.equal(201);
      expect(JSON.parse(together.body)).to.deep.equal(created);
      const socket = await site.server.connect();
      socket.write(head);
      await once(site.server.server, 'request');
      // In the middle of a character.
      socket.write(body.subarray(0, 11));
      socket.write(body.subarray(11));
      const apart = await readToEnd(socket);
      expect(apart.status).to.equal(201);
      expect(JSON.parse(apart.body)).to.deep.equal({ ...created, id: 2 });
    });

    it('ends the request for those who wait for it', async () => {
      const ended: string[] = [];
      const { app } = await buildApp({ models: [Parcel] }, (prepared) => {
        prepared.use((request, _response, next) => {
          request.on('end', () => ended.push(request.method));
          next();
        });
      });
      await using server = await listen(app);
      await exchange(server, Buffer.concat([Buffer.from(head), body]));
      expect(ended).to.deep.equal(['POST']);
    });
  });

  describe('that is no object', () => {
    for (const body of ['null', '1', '"text"', 'true', '[]', '[{"label":"a"}]']) {
      it(`refuses ${body}`, async () => {
        expectIssue(await post(body), 422, NO_OBJECT);
        await Parcel.create({ label: 'a' });
        expectIssue(await site.agent.patch('/parcels/1').type('json').send(body), 422, NO_OBJECT);
      });
    }
  });

  describe('that is not there', () => {
    it('[A12] refuses a create and an update', async () => {
      await Parcel.create({ label: 'a' });
      expectIssue(await site.agent.post('/parcels'), 400, NO_BODY);
      expectIssue(await site.agent.post('/parcels').set('Content-Type', 'application/json'), 400, NO_BODY);
      expectIssue(await site.agent.post('/parcels').set('Content-Length', '0'), 400, NO_BODY);
      expectIssue(await site.agent.patch('/parcels/1'), 400, NO_BODY);
    });

    it('[A12] refuses chunks that hold nothing', async () =>
      expectIssue(await post('', { 'Transfer-Encoding': 'chunked' }), 400, MALFORMED));
  });

  describe('of another media type', () => {
    const PLAIN =
      'text/plain text/json application/x-www-form-urlencoded application/xml application/jsonp application/vnd.api+json';
    const ODD = [
      'multipart/form-data; boundary=x',
      'application/merge-patch+json',
      'application/json, text/plain',
    ];
    for (const type of [...PLAIN.split(' '), ...ODD, 'json', '', ';charset=utf-8']) {
      it(`[A10] refuses '${type}' before the body is read`, async () =>
        expectIssue(await post('{"label":"a"}', { 'Content-Type': type }), 415, NOT_JSON));
    }

    it('takes none for an update either where JSON would have to be merged', async () => {
      await Parcel.create({ label: 'a' });
      for (const type of ['application/merge-patch+json', 'text/plain']) {
        const response = await site.agent.patch('/parcels/1').set('Content-Type', type).send('{"label":"b"}');
        expectIssue(response, 415, NOT_PATCH);
      }
      expect((await Parcel.findByPk(1))?.label).to.equal('a');
    });
  });

  describe('of JSON with parameters', () => {
    for (const type of [
      'Application/JSON',
      'application/json;charset=utf-8',
      'application/json; charset=UTF8',
      'application/json ; charset="utf-8"',
      'application/json; profile="x"; charset=utf-8',
    ]) {
      it(`takes ${type}`, async () => {
        const response = await post('{"label":"ä"}', { 'Content-Type': type });
        expectJson(response, 201, { id: 1, label: 'ä', content: null });
      });
    }

    for (const charset of ['latin1', 'utf-16', 'us-ascii', 'nonsense']) {
      it(`[A11] refuses the charset ${charset}`, async () => {
        const headers = { 'Content-Type': `application/json; charset=${charset}` };
        const response = await post('{"label":"a"}', headers);
        expectIssue(response, 415, issue('charset', 'The body must be in UTF-8 (RFC 8259, section 8.1).'));
      });
    }
  });

  describe('that is compressed', () => {
    const body = Buffer.from('{"label":"a"}');
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(body)],
      ['GZIP', gzipSync(body)],
      ['deflate', deflateSync(body)],
      ['br', brotliCompressSync(body)],
      ['identity', body],
    ] as const) {
      it(`takes ${encoding}`, async () => {
        const response = await post(bytes, { 'Content-Encoding': encoding });
        expectJson(response, 201, { id: 1, label: 'a', content: null });
      });
    }

    it('refuses what is not encoded as announced', async () => {
      for (const bytes of [body, gzipSync(body).subarray(0, 20)]) {
        const detail = 'The body could not be read; it is incomplete or not encoded as announced.';
        expectIssue(await post(bytes, { 'Content-Encoding': 'gzip' }), 400, issue('unreadable', detail));
      }
    });

    for (const encoding of ['compress', 'gzip, gzip', 'x']) {
      it(`refuses ${encoding}`, async () => {
        const detail = 'The Content-Encoding must be gzip, deflate, br or identity.';
        expectIssue(await post(body, { 'Content-Encoding': encoding }), 415, issue('encoding', detail));
      });
    }
  });

  it('that a request has which takes none ignores it', async () => {
    await Parcel.create({ label: 'a' });
    const record = { id: 1, label: 'a', content: null };
    expectJson(await site.agent.get('/parcels/1').type('json').send('{"label":'), 200, record);
    expect((await site.agent.delete('/parcels/1').type('json').send('{"label":')).status).to.equal(204);
  });

  describe('to an application that parses bodies itself', () => {
    const serve = (prepare: (app: Express) => void) => buildApp({ models: [Parcel] }, prepare);

    it('takes the parsed body', async () => {
      const { agent } = await serve((app) => app.use(express.json()));
      const response = await agent.post('/parcels').send({ label: 'a', content: { b: 1 } });
      expectJson(response, 201, { id: 1, label: 'a', content: { b: 1 } });
      const changed = { id: 1, label: null, content: { b: 1 } };
      expectJson(await agent.patch('/parcels/1').send({ label: null }), 200, changed);
      expectJson(await agent.post('/parcels').send({}), 201, { id: 2, label: null, content: null });
    });

    it('checks the parsed body as its own', async () => {
      const { agent } = await serve((app) => app.use(express.json()));
      const deep = nested(33, '[', ']');
      expectIssue(await agent.post('/parcels').type('json').send(deep), 400, TOO_DEEP);
      expectIssue(await agent.post('/parcels').send([]), 422, NO_OBJECT);
      expectIssue(await agent.post('/parcels'), 400, NO_BODY);
    });

    it('has the same codes where that parser refuses the body', async () => {
      const { agent } = await serve((app) => app.use(express.json({ limit: 100 })));
      expectIssue(await agent.post('/parcels').type('json').send('{"label":'), 400, MALFORMED);
      const large = await agent.post('/parcels').send({ label: 'a'.repeat(100) });
      expectIssue(large, 413, issue('tooLarge', 'The body is too large.'));
    });

    it('refuses another media type that this parser skips or reads', async () => {
      const { agent } = await serve((app) =>
        app.use(express.json(), express.urlencoded({ extended: false })),
      );
      expectIssue(await agent.post('/parcels').type('text').send('{"label":"a"}'), 415, NOT_JSON);
      expectIssue(await agent.post('/parcels').type('form').send('label=a'), 415, NOT_JSON);
    });

    it('says in the log that a body was read and not kept', async () => {
      const logger = new CapturedLog();
      const { agent } = await buildApp({ models: [Parcel], logger }, (app) => {
        app.use((request, _response, next) => {
          request.resume().on('end', () => next());
        });
      });
      const answer = await agent.post('/parcels').send({ label: 'a' });
      expectProblem(answer, 500, { detail: 'Internal Server Error' });
      expect(logger.text).to.contain('An earlier middleware has read the body');
    });

    it('parses what that parser keeps as text or bytes', async () => {
      for (const parser of [express.text({ type: '*/*' }), express.raw({ type: '*/*' })]) {
        const { agent } = await serve((app) => app.use(parser));
        const { status, body } = await agent.post('/parcels').send({ label: 'a' });
        expect(body).to.include({ label: 'a' });
        expect(status).to.equal(201);
      }
    });
  });
});
