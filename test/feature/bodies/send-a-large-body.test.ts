/** Bodies beyond the limit: they are refused before they are read, and never kept. */
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BeforeCreate, Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configError } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { exchange, listen, type RawAnswer, readToEnd, requestHead } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'uploads', timestamps: false })
class Upload extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

/** Emits `write` when a record is being written, and waits for `end`. */
const pause = new EventEmitter();

@Crud()
@Table({ tableName: 'pauses', timestamps: false })
class Pause extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;

  @BeforeCreate
  static async wait(): Promise<void> {
    const ended = once(pause, 'end');
    pause.emit('write');
    await ended;
  }
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const POST = 'POST /uploads';
const DEFAULT_LIMIT = 102_400;
const ZIPPED = gzipSync('{"text":"a"}');

const tooLarge = (limit: number) => {
  const detail = `The body is larger than ${limit} bytes.`;
  return { detail, errors: [{ pointer: '', code: 'tooLarge', detail }] };
};

function expectClosed413(answer: RawAnswer, limit: number): void {
  expect(JSON.parse(answer.body)).to.deep.equal(tooLarge(limit));
  expect(answer.status).to.equal(413);
  expect(answer.headers['connection']).to.equal('close');
  expect(answer.headers['content-type']).to.equal('application/problem+json');
}

/** A body of exactly so many bytes. */
function bodyOf(bytes: number): string {
  return `{"text":"${'a'.repeat(bytes - '{"text":""}'.length)}"}`;
}

/** An aborted request has an error before its end, which is no error of the test. */
function closed(request: IncomingMessage): Promise<unknown> {
  return new Promise((resolve) => request.once('close', resolve));
}

describe('sending a large body', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Upload, Pause], bootstrap: { logger } }));

  const serve = (bodyLimit: string | number): Promise<BuiltApp> =>
    buildApp({ models: [Upload], logger, bodyLimit });

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'uploads');
  });

  describe('whose length is announced', () => {
    for (const [title, line, headers, ...parts] of [
      ['[A1] is refused before a byte of it was sent, and the connection is closed', POST, {}],
      ['is refused while it is being sent', POST, {}, '{'],
      ['is refused where it would be compressed', POST, { 'Content-Encoding': 'gzip' }],
      ['is refused by an update', 'PATCH /uploads/1', {}],
    ] as const) {
      it(title, async () => {
        await Upload.create({ text: 'a' });
        const head = requestHead(line, { ...JSON_TYPE, ...headers, 'Content-Length': '1000000000' });
        expectClosed413(await exchange(site.server, head, ...parts), DEFAULT_LIMIT);
      });
    }

    it('is taken up to the limit of 100 kB and refused one byte beyond', async () => {
      const fits = await site.agent.post('/uploads').type('json').send(bodyOf(DEFAULT_LIMIT));
      expect(fits.status).to.equal(201);
      const long = bodyOf(DEFAULT_LIMIT + 1);
      const beyond = await site.agent.post('/uploads').type('json').send(long);
      expectProblem(beyond, 413, tooLarge(DEFAULT_LIMIT));
      expect(await Upload.count()).to.equal(1);
    });

    it('is refused for its media type first', async () => {
      const head = requestHead(POST, { 'Content-Type': 'text/plain', 'Content-Length': '1000000000' });
      const answer = await exchange(site.server, head.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      expect(answer.status).to.equal(415);
    });
  });

  describe('that comes in chunks', () => {
    const chunk = `${(65_536).toString(16)}\r\n${'a'.repeat(65_536)}\r\n`;

    it('[A2] is refused at the limit, and the rest is not read', async () => {
      const head = requestHead(POST, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' });
      // The end of the body is never sent.
      expectClosed413(await exchange(site.server, head, chunk, chunk), DEFAULT_LIMIT);
    });

    it('is taken below the limit', async () => {
      const body = '{"text":"a"}';
      const head = requestHead(POST, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked', Connection: 'close' });
      const answer = await exchange(site.server, head, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
      expect(answer.status).to.equal(201);
    });
  });

  describe('that is compressed', () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const encoded = { ...JSON_TYPE, 'Content-Encoding': 'gzip' };
    const gzipped = ({ length }: Buffer) => ({ ...encoded, 'Content-Length': String(length) });

    it('[A3] is refused by its size after decompression', async () => {
      expect(bomb.length).to.be.below(DEFAULT_LIMIT);
      const response = await site.agent
        .post('/uploads')
        .set(encoded)
        .serialize((data: unknown) => data as string)
        .send(bomb);
      expectProblem(response, 413, tooLarge(DEFAULT_LIMIT));
    });

    it('[A3] does not cost what it would decompress to', async () => {
      const head = requestHead(POST, { ...gzipped(bomb), Connection: 'close' });
      const before = process.memoryUsage().rss;
      const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(site.server, head, bomb)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 413));
      expect(process.memoryUsage().rss - before).to.be.below(200 * 1024 * 1024);
    });

    // Each has a head, and a block without content that may come again without end.
    const NOTHING = {
      gzip: ['1f8b0800000000000003', '000000ffff'],
      deflate: ['789c', '000000ffff'],
      br: ['0c', '06'],
    } as const;

    for (const [encoding, [head, block]] of Object.entries(NOTHING)) {
      it(`is refused by the bytes that were sent, where ${encoding} inflates to nothing`, async () => {
        const repeated = Math.ceil(65_536 / (block.length / 2));
        const blocks = Buffer.from(block.repeat(repeated), 'hex');
        const piece = (bytes: Buffer) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'];
        const answer = await exchange(
          site.server,
          requestHead(POST, { ...JSON_TYPE, 'Content-Encoding': encoding, 'Transfer-Encoding': 'chunked' }),
          // The end of the body is never sent.
          ...[Buffer.from(head, 'hex'), blocks, blocks].flatMap(piece),
        );
        expectClosed413(answer, DEFAULT_LIMIT);
      });
    }

    describe('with bytes behind its end', () => {
      const WHOLE = {
        gzip: Buffer.concat([ZIPPED, Buffer.of(0)]),
        deflate: Buffer.concat([deflateSync('{"text":"a"}'), Buffer.from('x')]),
        br: Buffer.concat([brotliCompressSync('{"text":"a"}'), Buffer.from('x')]),
      };
      const chunk = (bytes: Buffer) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
      const head = (route: string, encoding: string) =>
        requestHead(route, { ...JSON_TYPE, 'Content-Encoding': encoding, 'Transfer-Encoding': 'chunked' });
      const send = async (encoding: string, bytes: Buffer) => {
        const socket = await site.server.connect();
        socket.write(head(POST, encoding));
        socket.write(chunk(bytes));
        const [first] = (await once(socket, 'data')) as [Buffer];
        expect(first.toString()).to.match(/^HTTP\/1.1 201 /);
        return socket;
      };
      const expectAlive = async () => {
        await nextTurn();
        expect((await fetch(`${site.server.url}/uploads`)).status).to.equal(200);
        expect(logger.lines).to.deep.equal([]);
      };

      for (const [encoding, bytes] of Object.entries(WHOLE)) {
        it(`is read where ${encoding} has ended, and more than the limit behind it is no failure`, async () => {
          const socket = await send(encoding, bytes);
          for (let sent = 0; sent <= 2 * DEFAULT_LIMIT; sent += 16_384)
            socket.write(chunk(Buffer.alloc(16_384, 1)));
          socket.write('0\r\n\r\n');
          socket.write(requestHead('GET /uploads', { Connection: 'close' }));
          expect((await readToEnd(socket)).status).to.equal(200);
          await expectAlive();
        });

        it(`is read where ${encoding} has ended, and a client that goes away then is no failure`, async () => {
          const socket = await site.server.connect();
          const writes = once(pause, 'write');
          socket.write(head('POST /pauses', encoding));
          socket.write(chunk(bytes));
          const [request] = (await once(site.server.server, 'request')) as [IncomingMessage];
          await writes;
          socket.destroy();
          await closed(request);
          pause.emit('end');
          await expectAlive();
        });
      }
    });

    it('that is not compressed at all is refused, and its connection goes on', async () => {
      const { app } = await serve('1mb');
      await using server = await listen(app);
      const socket = await server.connect();
      const body = Buffer.from(bodyOf(500_000));
      const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip', 'Content-Length': String(body.length) };
      socket.write(requestHead(POST, headers));
      socket.write(body);
      socket.write(requestHead('GET /uploads', { Connection: 'close' }));
      let text = '';
      socket.on('data', (part: Buffer) => {
        text += part.toString();
      });
      await once(socket, 'end');
      expect(text).to.match(/^HTTP\/1.1 400 /);
      expect(text).to.contain('HTTP/1.1 200 ');
    });

    it('leaves the connection in a state in which the next request is answered, or closes it', async () => {
      const small = gzipSync(Buffer.alloc(DEFAULT_LIMIT + 1));
      const socket = await site.server.connect();
      socket.write(requestHead(POST, gzipped(small)));
      socket.write(small);
      const [first] = (await once(socket, 'data')) as [Buffer];
      expect(first.toString()).to.match(/^HTTP\/1.1 413 /);
      if (/\r\nConnection: close\r\n/i.test(first.toString())) {
        await readToEnd(socket);
        return;
      }
      socket.write(requestHead('GET /uploads', { Connection: 'close' }));
      expect((await readToEnd(socket)).status).to.equal(200);
    });
  });

  describe('with a limit of its own', () => {
    for (const [limit, bytes] of [
      ['1kb', 1024],
      ['500', 500],
      [50, 50],
      ['2mb', 2 * 1024 * 1024],
    ] as const) {
      it(`is refused beyond ${limit}`, async () => {
        const { agent } = await serve(limit);
        expect((await agent.post('/uploads').type('json').send(bodyOf(bytes))).status).to.equal(201);
        const long = bodyOf(bytes + 1);
        const beyond = await agent.post('/uploads').type('json').send(long);
        expectProblem(beyond, 413, tooLarge(bytes));
      });
    }

    const texts = ['many', '', '-1kb', '0'];
    for (const limit of [...texts, -1, 0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, null, 5n, ['1kb']]) {
      it(`refuses to begin with a limit of ${String(limit)}`, async () =>
        expect(await configError(() => serve(limit as never))).to.contain('bodyLimit'));
    }
  });

  describe('that is cut off', () => {
    for (const [what, headers, part] of [
      ['without a log line', {}, '{"text":'],
      ['while it is being decompressed', { 'Content-Encoding': 'gzip' }, ZIPPED.subarray(0, 15)],
    ] as const) {
      it(`[A14] is given up ${what}, and the application goes on`, async () => {
        const socket = await site.server.connect();
        socket.write(requestHead(POST, { ...JSON_TYPE, ...headers, 'Content-Length': '1000' }));
        socket.write(part);
        const [request] = (await once(site.server.server, 'request')) as [IncomingMessage];
        // Behind new connections a request is executed in one of the next turns.
        while (request.listenerCount('data') === 0) await nextTurn();
        socket.destroy();
        await closed(request);
        const { status } = await fetch(`${site.server.url}/uploads`);
        expect(status).to.equal(200);
        expect(logger.lines).to.deep.equal([]);
        expect(await Upload.count()).to.equal(0);
      });
    }

    it('is incomplete where the client ends its half of the connection', async () => {
      const socket = await site.server.connect();
      socket.write(requestHead(POST, { ...JSON_TYPE, 'Content-Length': '1000' }));
      socket.end('{"text":"a"}');
      await readToEnd(socket);
      expect(await Upload.count()).to.equal(0);
      expect(logger.lines).to.deep.equal([]);
    });
  });
});
