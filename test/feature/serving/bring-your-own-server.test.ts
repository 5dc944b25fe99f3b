/** Servers that a user makes: the same bytes as from `serve`, with requests that are Express's from birth. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { expect } from 'chai';
import express, { type Express } from 'express';
import { AllowNull, Column, DataType, Table } from 'sequelize-typescript';
import { bootstrap, Crud, requestClasses, serve } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { requestHead } from '../../support/listen.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['name'] })
@Table({ tableName: 'piers', timestamps: false })
class Pier extends NumberedRow {
  @AllowNull(false) @Column(DataType.TEXT) declare name: string;
}

const HOST = '127.0.0.1';
/** TLS with a key that both sides know needs no certificate. */
const SECRET = { identity: 'test', psk: Buffer.alloc(16, 7) };
const TLS = { ciphers: 'PSK', maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } as const;

const listening = async (server: Server): Promise<Server> => {
  if (!server.listening) await once(server, 'listening');
  return server;
};

/** Functions that start a server of an application. */
const SERVERS: Readonly<Record<string, (app: Express) => Promise<Server>>> = {
  serve: (app) => serve(app, { port: 0, host: HOST }),
  'app.listen': (app) => listening(app.listen(0, HOST)),
  'http.createServer': (app) => listening(createServer(app).listen(0, HOST)),
  'http.createServer with the classes': (app) =>
    listening(createServer(requestClasses(app), app).listen(0, HOST)),
  'https.createServer': (app) => listening(secureServer(app).listen(0, HOST)),
  'https.createServer with the classes': (app) =>
    listening(secureServer(app, requestClasses(app)).listen(0, HOST)),
};

function secureServer(app: Express, classes: Partial<ReturnType<typeof requestClasses>> = {}): Server {
  return createSecureServer({ ...TLS, ...classes, pskCallback: () => SECRET.psk }, app);
}

const BODY = '{"name":"Brighton"}';
const JSON_BODY = { 'Content-Type': 'application/json', 'Content-Length': String(BODY.length) };
const REQUESTS: readonly (readonly [line: string, headers?: Record<string, string>, body?: string])[] = [
  ['GET /piers?q=name==Brighton'],
  ['GET /piers/1'],
  ['GET /piers/1', { 'If-None-Match': '*' }],
  ['HEAD /piers/1'],
  ['OPTIONS /piers'],
  ['PUT /piers/1'],
  ['GET /piers/2'],
  ['GET /piers?colour=red'],
  ['PATCH /piers/1', JSON_BODY, BODY],
  ['POST /piers', JSON_BODY, BODY.replace('name', 'nome')],
  ['GET /nowhere'],
  ['GET /health/live'],
];

describe('a server of your own', () => {
  const site = serveTestApp(() => ({
    models: [Pier],
    prepare(app) {
      app.use((request, _response, next) => {
        if (request.headers['x-delay'] === undefined) next();
        else setTimeout(next, 50);
      });
      for (const step of ['first', 'second']) {
        app.use((_request, response, next) => {
          response.append('X-Steps', step);
          next();
        });
      }
    },
  }));
  const servers: Server[] = [];

  before(() => Pier.create({ name: 'Brighton' }));

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    }
  });

  async function start(name: string, app: Express = site.app): Promise<Server> {
    const server = await (SERVERS[name] as (typeof SERVERS)[string])(app);
    servers.push(server);
    return server;
  }

  for (const name of Object.keys(SERVERS).slice(1)) {
    it(`answers with the same bytes as serve: ${name}`, async () => {
      const [expected, server] = [await start('serve'), await start(name)];
      for (const [line, headers, body = ''] of REQUESTS) {
        const request = requestHead(line, { ...headers, Connection: 'close' }) + body;
        const answer = await exchange(server, request);
        expect(answer, line)
          .to.match(/^HTTP\/1\.1 \d{3} /)
          .and.to.contain('X-Steps: first\r\nX-Steps: second\r\n');
        expect(answer, line).to.equal(await exchange(expected, request));
      }
    });
  }

  for (const name of Object.keys(SERVERS)) {
    it(`executes pipelined writes one after the other: ${name}`, async () => {
      const server = await start(name);
      const rename = (to: string, headers: Readonly<Record<string, string>> = {}) => {
        const body = JSON.stringify({ name: to });
        const all = { ...headers, 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
        return requestHead('PATCH /piers/1', all) + body;
      };
      const read = requestHead('GET /piers/1', { Connection: 'close' });
      const answers = await exchange(server, rename('late', { 'X-Delay': '1' }) + rename('Brighton') + read);
      expect(answers.match(/"name":"\w+"/g)).to.deep.equal([
        '"name":"late"',
        '"name":"Brighton"',
        '"name":"Brighton"',
      ]);
      expect((await Pier.findByPk(1))?.name).to.equal('Brighton');
    });

    it(`executes a pipelined write behind the reads before it: ${name}`, async () => {
      const server = await start(name);
      const { id } = await Pier.create({ name: 'Worthing' });
      const read = requestHead(`GET /piers/${id}`, { 'X-Delay': '1' });
      const answers = await exchange(
        server,
        read + requestHead(`DELETE /piers/${id}`, { Connection: 'close' }),
      );
      expect(answers.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 204']);
    });
  }

  // In short that of the library, and one with its classes.
  for (const name of Object.keys(SERVERS).filter((_, index) => index % wholeOr(3, 1) === 0)) {
    it(`executes no more than a client that pipelines has taken: ${name}`, async () => {
      await Pier.bulkCreate(Array.from({ length: 100 }, () => ({ name: 'x'.repeat(2_400) })));
      const server = await start(name);
      let executed = 0;
      server.on('request', (_request, response) => {
        response.once('prefinish', () => {
          executed += 1;
        });
      });
      const page = requestHead('GET /piers?size=100');
      await exchange(server, page.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      const socket = connectTo(server).on('error', () => {});
      socket.pause().write(page.repeat(64));
      // A page may take longer than any pause on a busy machine.
      while (executed < 5) await delay(20);
      for (let before = -1; before !== executed; await delay(150)) before = executed;
      // Sockets on one machine hold some megabytes.
      expect(executed).to.be.at.most(32);
      let answers = 0;
      let rest = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        const parts = `${rest}${chunk}`.split('"has_prev":false}');
        answers += parts.length - 1;
        rest = parts.at(-1) ?? '';
      });
      socket.resume();
      while (answers < 64) await once(socket, 'data');
      socket.destroy();
      await Pier.destroy({ where: { name: 'x'.repeat(2_400) } });
    });
  }

  it('has requests that need no other prototype', async () => {
    for (const name of Object.keys(SERVERS)) {
      const server = await start(name);
      const born: boolean[] = [];
      server.prependListener('request', (request, response) => {
        born.push(Object.getPrototypeOf(request) === site.app.request);
        born.push(Object.getPrototypeOf(response) === site.app.response);
      });
      await exchange(server, requestHead('GET /piers/1', { Connection: 'close' }));
      const isPlain = name.endsWith('createServer');
      expect(born, name).to.deep.equal([!isPlain, !isPlain]);
    }
  });

  it('calls back as the listen of Express', async () => {
    const called = await new Promise<unknown[]>((resolve) => {
      servers.push(site.app.listen(0, HOST, (...args: unknown[]) => resolve(args)));
    });
    expect(called).to.deep.equal([]);
  });

  it('leaves alone the listen of others', async () => {
    const app = express();
    const others: Express['listen'] = () => createServer();
    app.listen = others;
    await bootstrap(app, { models: [] });
    expect(app.listen).to.equal(others);
  });

  it('refuses what is no application', () =>
    expect(() => requestClasses(express.Router() as unknown as Express)).to.throw(
      TypeError,
      /^requestClasses takes an application of Express, and was given .*; use that of express\(\)\.$/,
    ));
});

/** All bytes of the answer to one request, but the time in it. */
async function exchange(server: Server, request: string): Promise<string> {
  const socket = connectTo(server);
  socket.write(request);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  await once(socket, 'close');
  return answer.replace(/^Date: .*\r\n/m, '');
}

function connectTo(server: Server): Socket {
  const { port } = server.address() as AddressInfo;
  if (!('setSecureContext' in server)) return connect(port, HOST);
  const trust = { pskCallback: () => SECRET, checkServerIdentity: () => undefined };
  return connectSecurely({ ...TLS, ...trust, port, host: HOST });
}
