/** Feeds as Server-Sent Events: places that move on, limits, guards, and clients that read slowly or go away. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import compression from 'compression';
import type { RequestHandler } from 'express';
import { Interceptor, type InterceptorInterface } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { startDraining } from '../../../src/express/server/express-server.js';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

const guard: RequestHandler = (request, response, next) => {
  if (request.headers['x-key'] === 'wrong') response.status(401).json({ detail: 'No.' });
  else setTimeout(next, 1);
};

@Crud({ changes: true, filterAllow: ['size'] })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends NumberedRow {
  @Column(DataType.INTEGER) declare size: number;
}

@Crud({
  changes: { path: '/_feed' },
  dependencies: [guard],
  scope: { tenant: ({ headers }) => Number(headers['x-tenant'] ?? 1) },
})
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends NumberedRow {
  @Column(DataType.INTEGER) declare tenant: number;
}

except(OF_FEEDS).describe('a stream of changes', () => {
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Box, Shelf],
    database: { url: database.url },
    bootstrap: { changes: { path: '/changes', tick: 50, heartbeat: 1, maxAge: 5, maxStreams: 20 } },
    prepare: (app) => app.use(compression({ threshold: 0 })),
  }));
  const other = forSuite(() => connectTo(database.url));
  const streams: IncomingMessage[] = [];

  const request = async (path: string, headers = {}, method = 'GET'): Promise<IncomingMessage> => {
    const response = await requestStream(`${site.server.url}${path}`, headers, method);
    streams.push(response);
    return response;
  };
  const open = async (path: string, headers = {}): Promise<OpenStream> => {
    const response = await request(path, headers);
    expect(response.statusCode).to.equal(200);
    return new OpenStream(response).until(({ ids }) => ids.length > 0);
  };
  const bodyOf = async (response: IncomingMessage) => {
    let text = '';
    for await (const part of response) text += part;
    return JSON.parse(text);
  };

  afterEach(async () => {
    for (const response of streams.splice(0)) response.destroy();
    await delay(20);
  });

  it('begins with a place and a time to come back, and has no cache and no buffer', async () => {
    const stream = await open('/boxes/changes', { 'Accept-Encoding': 'gzip' });
    expect(stream.text).to.match(/^retry: [2-5]\d{3}\nid: [\w.-]+\n\n$/);
    const {
      'content-type': type,
      'cache-control': cache,
      'x-accel-buffering': buffer,
      'content-encoding': encoding,
    } = stream.response.headers;
    expect([type, cache, buffer, encoding]).to.deep.equal([
      'text/event-stream',
      'no-store, no-transform',
      'no',
      undefined,
    ]);
    const head = await request('/boxes/changes', {}, 'HEAD');
    expect([head.statusCode, head.headers['content-type']]).to.deep.equal([200, 'text/event-stream']);
    await once(head.resume(), 'end');
  });

  it('has each event once for all that follow, each by its own condition', async () => {
    const all = await open('/boxes/changes');
    const also = await open('/boxes/changes');
    const large = await open('/boxes/changes?q=size>5');
    await site.agent.post('/boxes').send({ size: 1 }).expect(201);
    const { body } = await site.agent.post('/boxes').send({ size: 9 }).expect(201);
    await site.agent.delete(`/boxes/${body.id}`).expect(204);
    await Promise.all([all, also].map((each) => each.until(({ events }) => events.length === 3)));
    await large.until(({ events }) => events.length === 2);
    expect(all.events.map(({ resource, op }) => `${resource} ${op}`)).to.deep.equal([
      'boxes create',
      'boxes create',
      'boxes delete',
    ]);
    expect(also.text.split('\n').slice(2)).to.deep.equal(all.text.split('\n').slice(2));
    expect(large.events.map(({ op, id }) => `${op} ${id}`)).to.deep.equal([
      `create ${body.id}`,
      `delete ${body.id}`,
    ]);
  });

  it('goes on behind the last event, in the middle of a tick, as pages do', async () => {
    const first = await open('/boxes/changes');
    await other.query('INSERT INTO boxes (size) SELECT n FROM generate_series(1, 9) AS n');
    await first.until(({ events }) => events.length === 9);
    const middle = first.ids.at(-6) ?? '';
    const rest = first.events.slice(4).map(({ id }) => id);
    const again = await open('/boxes/changes?after=now', { 'Last-Event-ID': middle });
    await again.until(({ events }) => events.length === 5);
    expect(again.events.map(({ id }) => id)).to.deep.equal(rest);
    const { body } = await site.agent.get(`/boxes/changes?after=${middle}`);
    expect(body.items.map(({ id }: { id: string }) => id)).to.deep.equal(rest);
    const refused = await request('/boxes/changes?q=size>5', { 'Last-Event-ID': middle });
    expect([refused.statusCode, (await bodyOf(refused)).errors[0].code]).to.deep.equal([
      410,
      'changes.expired',
    ]);
  });

  it('writes something while nothing happens, moves the place on, and ends by itself', async () => {
    const stream = await open('/boxes/changes?q=size==77');
    const begun = performance.now();
    await stream.until(({ text }) => text.includes(': heartbeat'));
    await other.query('INSERT INTO boxes (size) VALUES (1)');
    await stream.until(({ ids }) => ids.length > 1);
    expect(stream.events).to.deep.equal([]);
    await stream.until(({ isEnded }) => isEnded, 8_000);
    expect(performance.now() - begun).to.be.within(4_000, 7_000);
    expect(stream.text).to.match(/\nretry: [2-5]\d{3}\n\n$/);
    expect(stream.response.complete).to.equal(true);
  });

  it('is one for several resources, inside the guards and rules of each', async () => {
    const stream = await open('/changes?resources=boxes,shelves');
    const foreign = await open('/changes?resources=shelves,boxes', { 'X-Tenant': '2' });
    await other.query('INSERT INTO boxes (size) VALUES (1); INSERT INTO shelves (tenant) VALUES (1)');
    await other.query('INSERT INTO shelves (tenant) VALUES (2)');
    await stream.until(({ events }) => events.length === 2);
    await foreign.until(({ events }) => events.length === 2);
    expect(stream.events.map(({ resource, op }) => `${resource} ${op}`)).to.deep.equal([
      'boxes create',
      'shelves create',
    ]);
    expect(foreign.events.map(({ resource, op }) => `${resource} ${op}`)).to.deep.equal([
      'boxes create',
      'shelves create',
    ]);
    expect(stream.events[1]?.id).to.not.equal(foreign.events[1]?.id);
    const again = await open(`/changes?resources=boxes,shelves&after=${stream.ids.at(-2)}`);
    await again.until(({ events }) => events.length === 1);
    expect(again.events[0]).to.deep.equal(stream.events[1]);
    const statusOf = async (path: string, headers = {}) => {
      const response = await request(path, headers);
      return [response.statusCode, (await bodyOf(response)).errors?.[0]?.code];
    };
    expect(await statusOf('/changes?resources=boxes,shelves', { 'X-Key': 'wrong' })).to.deep.equal([
      401,
      undefined,
    ]);
    expect(await statusOf('/changes?resources=boxes', { Accept: 'application/json' })).to.deep.equal([
      400,
      'changes.accept',
    ]);
    expect(await statusOf('/changes')).to.deep.equal([400, 'changes.resources']);
    expect(await statusOf('/changes?resources=boxes,stars')).to.deep.equal([400, 'changes.resources']);
    expect(await statusOf('/changes?resources=boxes,boxes')).to.deep.equal([400, 'repeated']);
    expect(await statusOf('/changes?resources=boxes&q=x')).to.deep.equal([400, 'unknown']);
    await site.agent.post('/changes').expect(405);
    await site.agent.get('/shelves/_feed').set('X-Key', 'wrong').expect(401);
  });

  it('is refused where too many are open, and opened again where one has gone', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, () => open('/boxes/changes')));
    const refused = await request('/boxes/changes');
    expect([refused.statusCode, refused.headers['retry-after']]).to.deep.equal([503, '5']);
    expect((await bodyOf(refused)).detail).to.equal('Too many streams are open. Try again.');
    const { status } = await site.agent.get('/boxes/changes?wait=1');
    expect(status).to.equal(503);
    await site.agent.get('/boxes/changes').expect(200);
    opened[0]?.response.destroy();
    await delay(50);
    await open('/boxes/changes');
  });

  it('ends when the server is about to stop, as a request that waits does', async () => {
    const stream = await open('/boxes/changes');
    const waiting = site.agent.get('/boxes/changes?wait=20');
    const answered = waiting.then(({ status, body }) => [status, body.items]);
    await delay(100);
    startDraining(site.app);
    await stream.until(({ isEnded }) => isEnded);
    expect(stream.response.complete).to.equal(true);
    expect(await answered).to.deep.equal([200, []]);
  });
});

@Interceptor()
class Wrapping implements InterceptorInterface {
  intercept(_action: unknown, content: unknown): object {
    return { data: content };
  }
}

except(OF_FEEDS).describe('a stream of changes, where an interceptor changes results', () => {
  const site = serveTestApp(() => ({
    models: [Box],
    bootstrap: { changes: { path: '/changes', tick: 50 }, routing: { interceptors: [Wrapping] } },
  }));

  it('goes on, of one resource and of several', async () => {
    for (const path of ['/boxes/changes', '/changes?resources=boxes']) {
      const stream = new OpenStream(await requestStream(`${site.server.url}${path}`));
      await stream.until(({ ids }) => ids.length > 0);
      await site.agent.post('/boxes').send({ size: 1 }).expect(201);
      await stream.until(({ events }) => events.length === 1);
      expect(stream.isEnded).to.equal(false);
      stream.response.destroy();
    }
    const page = await site.agent.get('/boxes/changes').expect(200);
    expect(page.body.data.items).to.deep.equal([]);
  });
});
