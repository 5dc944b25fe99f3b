/** The changes of `serve` to the process that calls it. The end of a process is tested in test/process. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import express, { type Express } from 'express';
import {
  createExpressServer,
  type ServerTimeouts,
  startDraining,
  TIMEOUTS,
} from '../../../src/express/server/express-server.js';
import { bootstrap, type ServeOptions, serve } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { configError, configProblems } from '../../support/config-error.js';
import { deferred } from '../../support/deferred.js';
import { requestHead } from '../../support/listen.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const OPTIONS = 'port, host, lifespan, drainDelay, shutdownTimeout';

/** The result of a close that cut off nothing. */
const NOTHING_CUT = { requests: [], connections: 0 };

describe('serve', () => {
  let app: Express;
  let servers: Server[];

  beforeEach(() => {
    app = express();
    servers = [];
  });

  afterEach(async () => {
    for (const server of servers) {
      if (server.listening) server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    }
  });

  async function start(options: Partial<ServeOptions> = {}): Promise<Server> {
    const server = await serve(app, { port: 0, host: '127.0.0.1', ...options });
    servers.push(server);
    return server;
  }

  /** The server of `serve`, without the end of the process. */
  async function listenAlone(timeouts?: ServerTimeouts) {
    const made = createExpressServer(app, timeouts);
    servers.push(made.server.listen(0, '127.0.0.1'));
    await once(made.server, 'listening');
    return made;
  }

  it('tells the logger of the application where it listens', async () => {
    const log = new CapturedLog();
    await bootstrap(app, { models: [], logger: log });
    const server = await start();
    const byDefault = await start({ host: undefined });
    const all = await start({ host: '0.0.0.0' });
    const hasSix = Object.values(networkInterfaces())
      .flat()
      .some((each) => each?.family === 'IPv6');
    const six = hasSix ? await start({ host: '::1' }) : null;
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      `info Listening on http://127.0.0.1:${portOf(server)}`,
      `info Listening on http://127.0.0.1:${portOf(byDefault)}, for this machine alone; host: '0.0.0.0' takes requests of others`,
      `info Listening on http://localhost:${portOf(all)}, and on all addresses of this machine`,
      ...(six ? [`info Listening on http://[::1]:${portOf(six)}`] : []),
    ]);
    expect(byDefault.address()).to.include({ address: '127.0.0.1' });
  });

  it('says on Bun that it needs Node, and what to do', async () => {
    const versions = Object.getOwnPropertyDescriptor(process, 'versions') ?? {};
    Object.defineProperty(process, 'versions', { ...versions, value: { ...process.versions, bun: '1.4.5' } });
    try {
      expect(await configError(() => start())).to.equal(
        'serve needs the HTTP server of Node, and this is Bun 1.4.5; start the application with node, or use ' +
          'app.listen(port), which cuts off requests when the process is stopped.',
      );
    } finally {
      Object.defineProperty(process, 'versions', versions);
    }
  });

  it('[A16] limits how long headers, requests and idle connections may take', async () => {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = await start();
    expect([headersTimeout, requestTimeout, keepAliveTimeout]).to.deep.equal([15_000, 30_000, 65_000]);
  });

  it('looks at these times once a second', () =>
    expect(TIMEOUTS.connectionsCheckingInterval).to.equal(1_000));

  for (const [part, bytes] of [
    ['headers', 'GET / HTTP/1.1\r\n'],
    ['bodies', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{'],
  ] as const) {
    it(`answers 408 where ${part} are late, and closes the connection`, async () => {
      const { server } = await listenAlone({
        headersTimeout: 20,
        requestTimeout: 40,
        keepAliveTimeout: 60_000,
        connectionsCheckingInterval: 5,
      });
      app.post('/', () => {});
      const socket = connect(portOf(server), '127.0.0.1');
      socket.write(bytes);
      expect(await text(socket)).to.match(/^HTTP\/1.1 408 Request Timeout\r\nConnection: close\r\n/);
    });
  }

  describe('with many requests on one connection at once', () => {
    const MAX_OPEN = 64;
    const pipelined = (count: number) =>
      Array.from({ length: count }, (_, index) => requestHead(`GET /${index}`)).join('');

    it('executes each in its own async context', async () => {
      const storage = new AsyncLocalStorage<string>();
      const contexts: unknown[] = [];
      app.use(({ url }, _response, next) => {
        contexts.push(storage.getStore());
        storage.run(url, next);
      });
      app.use((_request, response) => void setImmediate(() => response.end()));
      const socket = connect(portOf(await start()), '127.0.0.1');
      socket.write(pipelined(3 * MAX_OPEN) + requestHead('GET /', { Connection: 'close' }));
      expect((await text(socket)).match(/^HTTP\/1.1 200 OK$/gm)).to.have.lengthOf(3 * MAX_OPEN + 1);
      expect(contexts).to.deep.equal(Array.from({ length: 3 * MAX_OPEN + 1 }));
    });

    it('does not execute those that wait when the client has gone', async () => {
      const executed: ServerResponse[] = [];
      const closed: Promise<unknown>[] = [];
      let ends = 0;
      const { promise, resolve } = deferred();
      app.use((_request, response) => {
        executed.push(response);
        closed.push(once(response, 'close'));
        response.on('close', () => {
          ends += 1;
        });
        if (executed.length === MAX_OPEN) resolve();
      });
      const socket = connect(portOf(await start()), '127.0.0.1');
      socket.write(pipelined(2 * MAX_OPEN));
      await promise;
      socket.resetAndDestroy();
      await once(socket, 'close');
      // The process notices a closed connection by a write, because it reads no more.
      executed[0]?.end();
      await Promise.all(closed);
      await nextTurn();
      expect(executed).to.have.lengthOf(MAX_OPEN);
      // Each hears of it once, also those whose turn it was not.
      expect(ends).to.equal(MAX_OPEN);
      expect(executed.every(({ destroyed }) => destroyed)).to.equal(true);
    });
  });

  it('executes nothing that comes on a connection when it has been ended', async () => {
    const executed: string[] = [];
    app.use(({ url }, response) => {
      executed.push(url);
      response.end();
    });
    const { server, connections } = await listenAlone();
    const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
    socket.write('GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    const closed = connections.close(5_000);
    await once(socket, 'end');
    socket.end('POST /late HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    expect(await closed).to.deep.equal(NOTHING_CUT);
    expect(executed).to.deep.equal(['/first']);
  });

  it('waits a second for a client that does not close its side', async () => {
    const { server, connections } = await listenAlone();
    const socket = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
    socket.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    expect(await connections.close(600_000)).to.deep.equal(NOTHING_CUT);
    socket.destroy();
  });

  it('leaves a connection open while it listens, whose answer had begun when it was to tell of the end', async () => {
    let finish = (): void => {};
    app.get('/first', (_request, response) => {
      response.write('begun');
      finish = () => void response.end('done');
    });
    app.get('/second', (_request, response) => void response.end('later'));
    const { server, connections } = await listenAlone();
    const socket = connect(portOf(server), '127.0.0.1').setEncoding('utf8');
    socket.write('GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let answers = '';
    const read = async (end: string) => {
      while (!answers.includes(end)) answers += (await once(socket, 'data'))[0];
    };
    await read('begun');
    startDraining(app);
    connections.announceEnd();
    finish();
    await read('0\r\n\r\n');
    socket.write('GET /second HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await read('later');
    const ends = answers.match(/(?<=^Connection: ).*$/gm);
    expect(ends).to.deep.equal(['keep-alive', 'close']);
  });

  it('hooks the signals once for all servers, and unhooks them when all have closed', async () => {
    const before = listenerCounts();
    const [first, second] = [await start(), await start()];
    const during = listenerCounts();
    const after: number[][] = [];
    for (const server of [first, second]) {
      server.close();
      await once(server, 'close');
      after.push(listenerCounts());
    }
    expect(during).to.deep.equal(before.map((count) => count + 1));
    expect(after).to.deep.equal([during, before]);
  });

  it('is the only one that hooks them', async () => {
    const before = listenerCounts();
    await bootstrap(app, { models: [] });
    expect(listenerCounts()).to.deep.equal(before);
  });

  it('runs its lifespan before it listens', async () => {
    const events: unknown[] = [];
    const server = await start({
      lifespan: async (given) => {
        events.push(given === app);
        return { [Symbol.asyncDispose]: async () => void events.push('disposed') };
      },
    });
    expect(server.listening).to.equal(true);
    expect(events).to.deep.equal([true]);
  });

  it('does not listen when its lifespan fails', async () => {
    const before = listenerCounts();
    const failure = new Error('On purpose');
    expect(await caughtError(() => start({ lifespan: () => Promise.reject(failure) }))).to.equal(failure);
    expect(listenerCounts()).to.deep.equal(before);
  });

  it('says in one line that the port is taken, and disposes what its lifespan gave', async () => {
    const port = portOf(await start());
    const before = listenerCounts();
    const events: string[] = [];
    const lifespan = async () => ({ [Symbol.asyncDispose]: async () => void events.push('disposed') });
    expect(await configError(() => start({ port, lifespan }))).to.equal(
      `Port ${port} is in use; stop what listens there, or choose another one.`,
    );
    expect(events).to.deep.equal(['disposed']);
    expect(listenerCounts()).to.deep.equal(before);
  });

  const PORT = 'use an integer from 0 to 65535.';
  const TIME = 'use a number of milliseconds from 0 to 2000000000.';
  const LIFESPAN = 'use a function such as engineLifespan(dsn).';
  const HOST = 'use a name or an address of this machine, or leave it out.';
  const bad: readonly (readonly [options: object, ...problems: string[]])[] = [
    [{ port: 65_536 }, `The port is 65536; ${PORT}`],
    [{ port: -1 }, `The port is -1; ${PORT}`],
    [{ port: '80' }, `The port is '80'; ${PORT}`],
    [
      { drainDelay: '5', shutdownTimeout: 2_000_000_001 },
      `drainDelay is '5'; ${TIME}`,
      `shutdownTimeout is 2000000001; ${TIME}`,
    ],
    [
      { drainDelay: -1, shutdownTimeout: Number.NaN },
      `drainDelay is -1; ${TIME}`,
      `shutdownTimeout is NaN; ${TIME}`,
    ],
    [
      { drainDelai: 5, constructor: 1 },
      `serve has no option 'drainDelai'. Did you mean 'drainDelay'? The options are ${OPTIONS}.`,
      `serve has no option 'constructor'. The options are ${OPTIONS}.`,
    ],
    [{ host: 127, lifespan: {} }, `host is 127; ${HOST}`, `lifespan is {}; ${LIFESPAN}`],
    // Node would listen on all addresses.
    [{ host: '' }, `host is ''; ${HOST}`],
    [
      { host: '192.0.2.1' },
      'Port 0 cannot be had, because host is no address of this machine; correct it or leave it out.',
    ],
  ];
  for (const [options, ...problems] of bad) {
    it(`refuses ${JSON.stringify(options)}`, async () =>
      expect(await configProblems(() => start(options))).to.deep.equal(problems));
  }

  it('refuses an application that is none of Express, before it runs its lifespan', async () => {
    let hasBegun = false;
    const lifespan = async () => {
      hasBegun = true;
      return { async [Symbol.asyncDispose]() {} };
    };
    for (const made of [await bootstrap(app, { models: [] }), undefined])
      expect(await configError(() => serve(made as never, { port: 0, lifespan }))).to.match(
        /^serve got .+ as its application; pass it what express\(\) gives\.$/,
      );
    expect(hasBegun).to.equal(false);
  });

  it('refuses to listen without options', async () => {
    const untyped = serve as (app: Express) => Promise<Server>;
    expect(await configError(() => untyped(express()))).to.equal(`The port is undefined; ${PORT}`);
  });
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function listenerCounts(): number[] {
  return SIGNALS.map((signal) => process.listenerCount(signal));
}
