/** Methods that return streams: the answer is whole, or a problem, or visibly cut, and no stream outlives its request. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Duplex, PassThrough, Readable, Stream } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { expect } from 'chai';
import compression from 'compression';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import {
  ContentType,
  Get,
  Header,
  HttpCode,
  HttpError,
  JsonController,
  Param,
  Post,
  Res,
  UseBefore,
  UseInterceptor,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController, InjectUnitOfWork, type UnitOfWork } from '../../../src/index.js';
import { TextRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { exchange, requestHead } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'tapes', timestamps: false })
class Tape extends TextRow {}

const MISSING = join(__dirname, 'there-is-no-such-file');

/** Streams that tests watch, by their names, until they are closed. */
const closed: string[] = [];

function watched<S extends Stream>(name: string, stream: S): S {
  stream.once('close', () => closed.push(name));
  return stream;
}

/** Yields texts, and notes that it was ended. */
async function* pieces(name: string, ...texts: readonly unknown[]): AsyncGenerator<unknown> {
  try {
    for (const text of texts) {
      if (text instanceof Error) throw text;
      yield text;
      // A piece of its own on the wire, also on a busy machine.
      await sleep(50);
    }
  } finally {
    closed.push(name);
  }
}

/** Yields until its reader ends. */
async function* endless(name: string): AsyncGenerator<Buffer> {
  try {
    for (;;) yield Buffer.alloc(64 * 1024, 'x');
  } finally {
    closed.push(name);
  }
}

/** A stream as they were before Node had states of them. */
function oldStream(work: (stream: Stream & { readable?: boolean }) => void): Stream {
  const stream: Stream & { readable?: boolean } = new Stream();
  stream.readable = true;
  setImmediate(() => work(stream));
  return stream;
}

const broken = () => new Error('The tape is torn.');

const LARGE = 'x'.repeat(5_000_000);

/** Streams by the end of their path, and the text that each sends. */
const WHOLE: Readonly<Record<string, readonly [make: () => unknown, text: string]>> = {
  texts: [() => Readable.from(pieces('texts', 'a', 'b')), 'ab'],
  empty: [() => Readable.from([]), ''],
  large: [() => Readable.from(Array.from({ length: 100 }, () => LARGE.slice(0, 50_000))), LARGE],
  pass: [() => Readable.from(['a', 'b']).pipe(new PassThrough()), 'ab'],
  duplex: [
    () => {
      const duplex = new Duplex({ read() {}, write() {} });
      duplex.push('ab');
      duplex.push(null);
      return duplex;
    },
    'ab',
  ],
  old: [
    () =>
      oldStream((stream) => {
        stream.emit('data', 'a');
        stream.emit('data', Buffer.from('b'));
        stream.emit('end');
        stream.emit('close');
      }),
    'ab',
  ],
  like: [() => ({ pipe: (target: Response) => void target.end('ab') }), 'ab'],
};

/** Streams that fail before they have sent anything. */
const FAILING: Readonly<Record<string, () => unknown>> = {
  missing: () => createReadStream(MISSING),
  thrown: () => Readable.from(pieces('thrown', broken())),
  sync: () =>
    new Readable({
      read() {
        throw broken();
      },
    }),
  destroyed: () => Readable.from(['a']).destroy(),
  torn: () => Readable.from(['a']).destroy(broken()),
  closed: () => {
    const stream = new PassThrough();
    setImmediate(() => stream.destroy());
    return stream;
  },
  objects: () => watched('objects', Readable.from([{ id: 1 }, { id: 2 }])),
  old: () => oldStream((stream) => stream.emit('error', broken())),
  piped: () => ({
    pipe() {
      throw broken();
    },
  }),
};

/** Streams that fail later. */
const CUT: Readonly<Record<string, () => unknown>> = {
  thrown: () => Readable.from(pieces('thrown', 'half', broken())),
  refused: () => Readable.from(pieces('refused', 'half', new HttpError(404, 'No more.'))),
  objects: () => Readable.from(pieces('objects', 'half', { id: 1 })),
  closed: () => {
    const stream = new PassThrough();
    stream.write('half');
    setTimeout(() => stream.destroy(), 50);
    return stream;
  },
  old: () =>
    oldStream((stream) => {
      stream.emit('data', 'half');
      setImmediate(() => stream.emit('error', broken()));
    }),
};

/** Streams without an end. */
const LONG: Readonly<Record<string, () => unknown>> = {
  endless: () => watched('file', Readable.from(endless('generator'))),
  idle: () => {
    const stream = watched('file', new PassThrough());
    stream.once('close', () => closed.push('generator'));
    stream.write('a');
    return stream;
  },
  zipped: () => {
    const source = Readable.from(endless('generator'));
    const zipped = watched('file', createGzip());
    zipped.once('close', () => source.destroy());
    return source.pipe(zipped);
  },
};

const failHead: RequestHandler = (_request, response, next) => {
  const { writeHead } = response;
  response.writeHead = () => {
    response.writeHead = writeHead;
    throw broken();
  };
  next();
};

/** Answers while the stream is being written. */
const answerEarly: RequestHandler = (_request, response, next) => {
  setTimeout(() => response.end('early'), 20);
  next();
};

class TapeController extends crudController(Tape) {
  @Get('/whole/:name')
  @ContentType('text/plain')
  @Header('Cache-Control', 'public, max-age=60')
  whole(@Param('name') name: string) {
    return WHOLE[name]?.[0]();
  }

  @Get('/failing/:name')
  @HttpCode(206)
  @Header('Cache-Control', 'public, max-age=60')
  @Header('Content-Type', 'image/png')
  @Header('Content-Length', '4')
  @Header('Content-Disposition', 'attachment')
  failing(@Param('name') name: string) {
    return FAILING[name]?.();
  }

  @Get('/cut/:name')
  cut(@Param('name') name: string) {
    return CUT[name]?.();
  }

  /** Fails when the client has read a part. */
  @Get('/held')
  held(@Res() response: Response) {
    const stream = new PassThrough();
    stream.write('half');
    response.app.once('read', () => stream.destroy(broken()));
    return stream;
  }

  @Get('/long/:name')
  long(@Param('name') name: string) {
    return LONG[name]?.();
  }

  @Get('/refused')
  refused() {
    return Readable.from(pieces('refused', new HttpError(404, 'No such tape.')));
  }

  @Get('/late')
  async late(@Res() response: Response) {
    response.app.emit('waits');
    await once(response, 'close');
    return watched('late', Readable.from(endless('generator')));
  }

  @Get('/hooked')
  @UseBefore(failHead)
  hooked() {
    return watched('hooked', Readable.from(['a', 'b']));
  }

  @Get('/hooked/empty')
  @UseBefore(failHead)
  hookedEmpty() {
    return Readable.from([]);
  }

  @Get('/early')
  @UseBefore(answerEarly)
  early() {
    return Readable.from(
      (async function* slow() {
        try {
          for (;;) {
            await sleep(10);
            yield 'a';
          }
        } finally {
          closed.push('early');
        }
      })(),
    );
  }

  @Get('/intercepted')
  @UseInterceptor(async (_action: unknown, stream: Readable) => {
    await sleep(30);
    return stream;
  })
  intercepted() {
    return createReadStream(MISSING);
  }

  @Post('/:text/unit')
  async unit(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Tape).create({ text });
    return createReadStream(MISSING);
  }

  @Post('/:text/undone')
  async undone(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork) {
    await uow.repository(Tape).create({ text });
    await Tape.sequelize?.query('INSERT INTO loops (id, other) VALUES (1, 2)', {
      transaction: uow.transaction,
    });
    return watched('undone', createReadStream(__filename));
  }
}

@JsonController('/by-hand')
class HandController {
  @Get('/failing/:name')
  failing(@Param('name') name: string) {
    return FAILING[name]?.();
  }
}

const FAILED = { detail: 'Internal Server Error' };

describe('returning a stream', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Tape],
    bootstrap: { logger, controllers: [TapeController, HandController] },
  }));

  before(async () => {
    await Tape.sequelize?.query(
      'CREATE TABLE loops (id integer PRIMARY KEY, other integer REFERENCES loops DEFERRABLE INITIALLY DEFERRED)',
    );
  });

  beforeEach(async () => {
    await emptyTables(site, 'tapes');
    closed.length = 0;
    logger.clear();
  });

  const until = async (...names: readonly string[]): Promise<void> => {
    while (!names.every((name) => closed.includes(name))) await sleep(5);
  };
  const reasons = () => logger.lines.map(({ level, details }) => [level, details['status']]);

  for (const [name, [, text]] of Object.entries(WHOLE)) {
    it(`sends a whole one: ${name}`, async () => {
      const sent = await fetch(`${site.server.url}/tapes/whole/${name}`);
      const { headers } = sent;
      expect([sent.status, await sent.text()]).to.deep.equal([200, text]);
      expect(headers.get('content-type')).to.match(/^text\/plain/);
      expect(headers.get('cache-control')).to.equal('public, max-age=60');
      const { status, headers: head } = await site.agent.head(`/tapes/whole/${name}`);
      expect([status, head['cache-control']]).to.deep.equal([200, 'public, max-age=60']);
      expect(logger.lines).to.deep.equal([]);
    });
  }

  it('sends and refuses them behind a middleware that compresses', async () => {
    const options = { models: [Tape], controllers: [TapeController], logger };
    const { agent } = await buildApp(options, (app) => app.use(compression({ threshold: 0 })));
    const { headers, text } = await agent.get('/tapes/whole/large');
    expect([headers['content-encoding'], text.length]).to.deep.equal(['gzip', LARGE.length]);
    expectProblem(await agent.get('/tapes/failing/missing'), 500, FAILED);
    expectProblem(await agent.get('/tapes/failing/objects'), 500, FAILED);
  });

  for (const name of Object.keys(FAILING)) {
    it(`answers 500 for one that fails before it has sent anything, and logs it: ${name}`, async () => {
      for (const [verb, prefix] of [
        ['get', '/tapes'],
        ['head', '/tapes'],
        ['get', '/by-hand'],
      ] as const) {
        logger.clear();
        const answer = await site.agent[verb](`${prefix}/failing/${name}`);
        if (verb === 'get') expectProblem(answer, 500, FAILED);
        else expect(answer.status).to.equal(500);
        expect(answer.headers).to.not.have.property('content-disposition');
        expect(answer.headers['cache-control']).to.equal('no-store');
        expect(reasons()).to.deep.equal([['error', 500]]);
      }
      if (name === 'objects') await until('objects');
    });
  }

  it('answers the error that it fails with', async () => {
    expectProblem(await site.agent.get('/tapes/refused'), 404, { detail: 'No such tape.' });
    expect(logger.lines).to.deep.equal([]);
  });

  it('hands such a failure on to the error handlers of the application', async () => {
    const { app, agent } = await buildApp({
      models: [Tape],
      controllers: [TapeController],
      problem: 'next',
      logger,
    });
    const answer: ErrorRequestHandler = (error, _request, response, _next) =>
      response.status(503).json({ own: error.code });
    app.use(answer);
    const { status, body, headers } = await agent.get('/tapes/failing/missing');
    expect([status, body]).to.deep.equal([503, { own: 'ENOENT' }]);
    expect(headers).to.not.have.property('content-disposition');
    expect(headers).to.include({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  for (const name of Object.keys(CUT)) {
    it(`cuts the connection of one that fails later, and logs it: ${name}`, async () => {
      const sent = await fetch(`${site.server.url}/tapes/cut/${name}`);
      expect(sent.status).to.equal(200);
      expect(await sent.text().catch(() => 'cut')).to.equal('cut');
      expect(reasons()).to.deep.equal([['error', name === 'refused' ? 404 : 500]]);
    });
  }

  it('resets the connection where an answer has no other end', async () => {
    const socket = await site.server.connect();
    const failed = once(socket, 'error');
    socket.write('GET /tapes/held HTTP/1.0\r\n\r\n');
    await once(socket, 'data');
    site.app.emit('read');
    const [error] = await failed;
    expect(error.code).to.equal('ECONNRESET');
  });

  for (const name of Object.keys(LONG)) {
    it(`ends one whose client has left, and says nothing of it: ${name}`, async () => {
      const socket = await site.server.connect();
      socket.write(requestHead(`GET /tapes/long/${name}`));
      await once(socket, 'data');
      socket.destroy();
      await until('file', 'generator');
      expect(logger.lines).to.deep.equal([]);
    });
  }

  it('ends one that is returned when the client has left', async () => {
    const socket = await site.server.connect();
    const waits = once(site.app, 'waits');
    socket.write(requestHead('GET /tapes/late'));
    await waits;
    socket.destroy();
    await until('late');
    expect(logger.lines).to.deep.equal([]);
  });

  for (const path of ['/tapes/hooked', '/tapes/hooked/empty']) {
    it(`answers 500 where the head of its answer cannot be written: ${path}`, async () => {
      expectProblem(await site.agent.get(path), 500, FAILED);
      expect(reasons()).to.deep.equal([['error', 500]]);
      if (path === '/tapes/hooked') await until('hooked');
    });
  }

  it('ends one whose request was answered by other code', async () => {
    const { body } = await exchange(site.server, requestHead('GET /tapes/early', { Connection: 'close' }));
    expect(body).to.contain('early');
    await until('early');
    expect(logger.lines).to.deep.equal([]);
  });

  it('answers 500 where one has failed while an interceptor was waited for', async () => {
    expectProblem(await site.agent.get('/tapes/intercepted'), 500, FAILED);
  });

  except({ unit: 'the middleware of the combination rolls back what is answered with an error' }).it(
    'answers 500 where one has failed while the unit of work was committed',
    async () => {
      expectProblem(await site.agent.post('/tapes/a/unit'), 500, FAILED);
      expect(await Tape.count()).to.equal(1);
    },
  );

  except({ unit: 'the middleware of the combination commits when the stream has ended' }).it(
    'ends one whose unit of work could not be committed',
    async () => {
      expect((await site.agent.post('/tapes/a/undone')).status).to.equal(409);
      await until('undone');
      expect(await Tape.count()).to.equal(0);
    },
  );
});
