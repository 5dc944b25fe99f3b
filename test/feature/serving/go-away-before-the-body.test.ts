/** A client that goes away before its body was read, of an application whose requests have a body object from the beginning, as in Express 4. */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { Body, JsonController, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_MANY } from '../../support/combination.js';
import { type Deferred, deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { type Listening, listen } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'delete'],
  ...(SERVES_MANY ? { import: { modes: ['create'] } } : {}),
})
@Table({ tableName: 'postcards', timestamps: false })
class Postcard extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

/** Bodies that methods of the controller were called with. */
const called: unknown[] = [];

@JsonController('/by-hand')
class HandController {
  @Post('/value')
  value(@Body() body: object) {
    called.push(body);
    return {};
  }

  @Post('/options')
  options(@Body({ options: { limit: '1kb' } }) body: object) {
    called.push(body);
    return {};
  }

  @Post('/text')
  text(@Body({ type: 'text' }) body: string) {
    called.push(body);
    return {};
  }
}

/** A request that waits in a middleware until the test opens. */
interface Gate {
  readonly reached: Deferred<void>;
  readonly opened: Deferred<void>;
}

let gate: Gate | undefined;

const placeholder: RequestHandler = (request, _response, next) => {
  request.body ??= {};
  next();
};

const waitAtGate: RequestHandler = async (_request, _response, next) => {
  gate?.reached.resolve();
  await gate?.opened.promise;
  next();
};

describe('a client that goes away before its body was read', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Postcard], bootstrap: { models: [] } }));
  const servers: Listening[] = [];

  before(async () => {
    for (const fastPath of [true, false]) {
      const options = { models: [Postcard], controllers: [HandController], logger, fastPath };
      const { app } = await buildApp(options, (made) => made.use(placeholder, waitAtGate));
      servers.push(await listen(app));
    }
  });

  after(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    called.length = 0;
    logger.clear();
    await emptyTables(site, 'postcards');
  });

  /** Sends a request, goes away while a middleware waits, and has the request go on. */
  const leave = async (server: Listening, method: string, path: string, type: string, body: string) => {
    gate = { reached: deferred(), opened: deferred() };
    const closed = once(server.server, 'request').then(([, response]) => once(response, 'close'));
    const socket = await server.connect();
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await gate.reached.promise;
    socket.destroy();
    await closed;
    gate.opened.resolve();
    gate = undefined;
    await nextTurn();
  };

  const JSON_TYPE = 'application/json';
  const texts = async () => (await Postcard.findAll({ order: ['id'] })).map(({ text }) => text);
  const eachServer = async (test: (server: Listening) => Promise<unknown>) => {
    for (const server of servers) await test(server);
  };

  it('writes nothing by generated routes', () =>
    eachServer(async (server) => {
      const { id } = await Postcard.create({ text: 'kept' });
      await leave(server, 'PUT', `/postcards/${id}`, JSON_TYPE, '{"text":"lost"}');
      await leave(server, 'PATCH', `/postcards/${id}`, JSON_TYPE, '{"text":"lost"}');
      await leave(server, 'POST', '/postcards', JSON_TYPE, '{"text":"lost"}');
      if (SERVES_MANY) await leave(server, 'POST', '/postcards/import', 'text/csv', 'text\r\nlost\r\n');
      // This write goes through the same connections.
      await fetch(`http://127.0.0.1:${server.port}/postcards`, {
        method: 'POST',
        headers: { 'Content-Type': JSON_TYPE },
        body: '{"text":"sent"}',
      });
      expect(await texts()).to.deep.equal(['kept', 'sent']);
      expect(logger.lines).to.deep.equal([]);
      await emptyTables(site, 'postcards');
    }));

  it('calls no method that takes the body', () =>
    eachServer(async (server) => {
      await leave(server, 'POST', '/by-hand/value', JSON_TYPE, '{"text":"lost"}');
      await leave(server, 'POST', '/by-hand/options', JSON_TYPE, '{"text":"lost"}');
      await leave(server, 'POST', '/by-hand/text', 'text/plain', 'lost');
      await fetch(`http://127.0.0.1:${server.port}/by-hand/value`, {
        method: 'POST',
        headers: { 'Content-Type': JSON_TYPE },
        body: '{"text":"sent"}',
      });
      expect(called.splice(0)).to.deep.equal([{ text: 'sent' }]);
      expect(logger.lines).to.deep.equal([]);
    }));
});
