/** Connections that are lost at any moment: every answer comes, the process lives, and soon all is well again. */
import { expect } from 'chai';
import type { Client } from 'pg';
import { Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  type EngineOptions,
} from '../../src/index.js';
import { TextRow } from '../models/rows.js';
import { expectCalm, expectRecovery } from '../support/calm-answers.js';
import { CapturedLog } from '../support/captured-log.js';
import { expectProblem } from '../support/expect-answer.js';
import { forSuite } from '../support/for-suite.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { proxiedDatabase } from '../support/proxied-database.js';
import { wholeOr } from '../support/short.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

@Crud()
@Table({ tableName: 'orders', timestamps: false })
class Order extends TextRow {}

@Crud({ pagination: 'cursor' })
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends TextRow {}

/** Its writes are transactions, because it is overridden. */
class ParcelController extends crudController(Parcel) {
  override async create(values: CreateValues<Parcel>, context: CrudContext<Parcel>): Promise<Parcel> {
    const parcel = await super.create(values, context);
    await context.repository.update(parcel.id, { text: `${values.text}!` });
    return parcel;
  }
}

const UNAVAILABLE = { detail: 'The database is not available; try again.' };
/** Short, for what waits until the time is over; not so short that a busy machine needs longer for an answer. */
const IMPATIENT = {
  pool: { max: 5, acquire: 3_000 },
  dialectOptions: {
    connectionTimeoutMillis: 500,
    query_timeout: 800,
    statement_timeout: 750,
    lock_timeout: 700,
  },
};

const logger = new CapturedLog();

function startSite({ url }: { readonly url: string }, engine: EngineOptions): Promise<TestApp> {
  return startTestApp({
    models: [Order, Parcel],
    database: { url },
    engine,
    bootstrap: { models: [Order, Parcel], controllers: [ParcelController], logger },
  });
}

/** Reads and writes of all kinds, as many as asked for, at the same time. */
function mixedRequests({ agent }: TestApp, count: number): Promise<Response>[] {
  const kinds = [
    () => agent.get('/orders'),
    () => agent.post('/orders').send({ text: 'new' }),
    () => agent.get('/parcels?size=2'),
    () => agent.post('/parcels').send({ text: 'new' }),
    () => agent.patch('/orders/1').send({ text: `changed ${Math.random()}` }),
    () => agent.get('/parcels/1'),
  ];
  return Array.from({ length: count }, (_, index) =>
    (kinds[index % kinds.length] ?? expect.fail())().then((response) => response),
  );
}

/** Each kind of request, one after the other. */
async function everyKind(site: TestApp): Promise<Response[]> {
  const answers: Response[] = [];
  for (let kind = 0; kind < 6; kind += 1) {
    const [last] = mixedRequests(site, kind + 1).slice(-1);
    if (last) answers.push(await last);
  }
  return answers;
}

/** Every answer is a 2xx; says what the others were. */
function expectSuccess(answers: readonly Response[]): void {
  const others = answers.filter(({ status }) => status >= 300);
  expect(others.map(({ status, body }) => ({ status, body }))).to.deep.equal([]);
}

describe('losing connections', () => {
  const database = forSuite(() => proxiedDatabase('fault'));
  const site = forSuite(() => startSite(database, IMPATIENT));
  let proxy: TcpProxy;
  let control: Client;

  beforeEach(async () => {
    ({ proxy, control } = database);
    logger.clear();
    await control.query('TRUNCATE orders, parcels RESTART IDENTITY');
    await control.query("INSERT INTO orders (text) SELECT repeat('x', 100) FROM generate_series(1, 30)");
    await control.query("INSERT INTO parcels (text) SELECT repeat('x', 100) FROM generate_series(1, 30)");
  });

  afterEach(async () => {
    proxy.heal();
    await expectAllWell();
  });

  /** Of each kind of request some in a row succeed, within two seconds. */
  async function expectAllWell(): Promise<void> {
    await expectRecovery(() => site.agent.get('/orders/1'));
    await expectRecovery(() => site.agent.patch('/orders/1').send({ text: 'well' }));
    await expectRecovery(() => site.agent.post('/parcels').send({ text: 'well' }), 3);
  }

  it('[F3] ends all of them at the server (57P01), idle or at work, and goes on with new ones', async () => {
    await Promise.all(mixedRequests(site, 12));
    const terminate = () =>
      control.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    proxy.latency(5);
    const requests = mixedRequests(site, 60);
    const answers: Response[] = [];
    for (let round = 0; round < 3; round += 1) {
      answers.push(...(await Promise.all(requests.slice(round * 10, round * 10 + 10))));
      await terminate();
    }
    answers.push(...(await Promise.all(requests)));
    expectCalm(answers);
  });

  it('[F5] has them reset while results are on their way', async () => {
    for (const bytes of [0, 1, 7, 40, 300, 1_500]) {
      await Promise.all(mixedRequests(site, 12));
      proxy.limitMoreData(bytes, 'reset');
      const answers = await Promise.all(mixedRequests(site, 18));
      expectCalm(answers);
      expect(answers.some(({ status }) => status === 503)).to.equal(true);
      proxy.heal();
    }
  });

  it('[F5] has them cut after each number of bytes, from the log-in to the last row', async () => {
    for (let bytes = 0; bytes < 900; bytes += wholeOr(75, 15)) {
      proxy.reset();
      proxy.limitData(bytes);
      expectCalm(await Promise.all(mixedRequests(site, 6)));
    }
  });

  it('[F4] answers 504 on a black hole, 503 where connecting ends in one, and never hangs', async () => {
    await Promise.all(mixedRequests(site, 12));
    proxy.blackhole();
    const answers = await Promise.all(mixedRequests(site, 12));
    expectCalm(answers);
    expect(answers.filter(({ status }) => status < 300)).to.deep.equal([]);
    expect(answers.some(({ status }) => status === 504)).to.equal(true);
    const later = await everyKind(site);
    expectCalm(later);
    expect(later.filter(({ status }) => status < 300)).to.deep.equal([]);
  });

  it('[F6] does not let a black hole that has gone keep a place in the pool', async () => {
    proxy.reset();
    proxy.blackhole();
    await Promise.all(mixedRequests(site, 24));
    proxy.heal();
    await expectAllWell();
    expectCalm(await Promise.all(mixedRequests(site, 24)));
  });

  it('[F13] answers 503 when the reply to a COMMIT is lost, though the row may be there', async () => {
    proxy.loseReplyTo('COMMIT');
    const answer = await site.agent.post('/parcels').send({ text: 'unknown' });
    expectProblem(answer, 503, UNAVAILABLE);
    expect(answer.headers['retry-after']).to.equal('1');
    const { rows } = await control.query("SELECT count(*)::int FROM parcels WHERE text = 'unknown!'");
    expect(rows).to.deep.equal([{ count: 1 }]);
  });

  it('answers 503 while nothing listens, and says what went wrong in the log only', async () => {
    await proxy.down();
    const answers = await everyKind(site);
    await proxy.up();
    expectCalm(answers);
    expect(answers.every(({ status }) => status === 503)).to.equal(true);
    expect(logger.text).to.include('ECONNREFUSED');
    expect(logger.text).to.not.include(new URL(database.direct).password || 'no password');
  });
});

describe('a slow network', () => {
  it('[F14] only makes answers later', async () => {
    await using database = await proxiedDatabase('slow_network');
    await using site = await startSite(database, { pool: { max: 5 } });
    await Order.create({ text: 'first' });
    await Parcel.create({ text: 'first' });
    database.proxy.latency(20);
    expectSuccess(await Promise.all(mixedRequests(site, 30)));
  });
});

describe('a server that crashes and comes back', () => {
  const server = forSuite(() => OwnPostgres.create('crash'));
  const site = forSuite(() => startSite({ url: server.url('postgres') }, { pool: { max: 5 } }));

  it('[F2] leaves every request answered, every row that was promised, and all well within two seconds', async () => {
    await Order.create({ text: 'first' });
    await Parcel.create({ text: 'first' });
    server.proxy.latency(10);
    const requests = mixedRequests(site, 50);
    await Promise.race(requests);
    await server.crash();
    const answers = await Promise.all(requests);
    expectCalm(answers);
    expect(answers.some(({ status }) => status === 503)).to.equal(true);
    expect((await everyKind(site)).map(({ status }) => status)).to.deep.equal(Array(6).fill(503));

    await server.start();
    server.proxy.heal();
    await expectRecovery(() => site.agent.get('/orders/1'));
    await expectRecovery(() => site.agent.post('/parcels').send({ text: 'well' }));
    expectSuccess(await Promise.all(mixedRequests(site, 50)));
    for (const { status, headers } of answers) {
      if (status === 201) expect((await site.agent.get(String(headers['location']))).status).to.equal(200);
    }
  });
});
