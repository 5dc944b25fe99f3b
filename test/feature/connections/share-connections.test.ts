/** Reads that share connections: none waits without end for another's, or fails with it, and the limits of the pools hold. */
// @runs once

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from 'pg';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, type EngineOptions } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { expectCalm, expectRecovery } from '../../support/calm-answers.js';
import { CapturedLog } from '../../support/captured-log.js';
import { untilConnectionsRest } from '../../support/connections-at-rest.js';
import { countHooks } from '../../support/count-hooks.js';
import { expectJson } from '../../support/expect-answer.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { wholeOr } from '../../support/short.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** A table; others lock it. */
@Crud({ prefix: '/books' })
@Table({ tableName: 'books', timestamps: false })
class Book extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
}

/** A table without locks. */
@Crud({ prefix: '/pens' })
@Table({ tableName: 'pens', timestamps: false })
class Pen extends KeyedRow {}

/** Views of SQL that reads its own rows. */
@Crud<View>({ prefix: '/views', filterAllow: ['id', 'title'] })
@Table({ tableName: 'views', timestamps: false })
class View extends KeyedRow {
  @Column(DataType.TEXT) declare title: string;
}

const VIEW = `
  CREATE TABLE gates (id integer);
  CREATE FUNCTION look(id integer) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
    IF id = 0 THEN PERFORM pg_advisory_lock_shared(7); PERFORM pg_advisory_unlock_shared(7); END IF;
    IF id = 13 THEN RAISE 'unlucky' USING ERRCODE = '22P02'; END IF;
    IF id = 14 THEN INSERT INTO books VALUES (99, 'written'); END IF;
    IF id = 15 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    IF id = 16 THEN WHILE EXISTS (SELECT FROM gates) LOOP PERFORM pg_sleep(0.02); END LOOP; END IF;
    RETURN 'view ' || id;
  END $f$;
  DROP TABLE views;
  CREATE VIEW views AS SELECT id, look(id) AS title FROM generate_series(0, 1000) AS t (id)`;

/** For reads that wait until a test has found them: it may take longer than the two seconds of a lock. */
const UNHURRIED = { lock_timeout: 20_000, statement_timeout: 25_000, query_timeout: 30_000 };
const ACQUIRE = 20_000;
/** The connections of the engine. */
const OTHERS =
  'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

const FAST = Array.from({ length: 40 }, (_, index) => index + 100);

describe('sharing connections', () => {
  let database: TestDatabase;
  let site: TestApp;
  let control: Client;
  let proxy: TcpProxy;
  const logger = new CapturedLog();

  const get = async (path: string): Promise<Response> => site.agent.get(path);
  const view = (id: number) => get(`/views/${id}`);
  const book = (id: number) => get(`/books/${id}`);

  function expectViews(answers: readonly Response[], ids: readonly number[]): void {
    answers.forEach((answer, index) => {
      expectJson(answer, 200, { id: ids[index], title: `view ${ids[index]}` });
    });
  }

  /** Returns a function that is true once one of these has its answer. */
  function watch(answers: readonly Promise<Response>[]): () => boolean {
    let isAnswered = false;
    for (const answer of answers)
      void answer.then(() => {
        isAnswered = true;
      });
    return () => isAnswered;
  }

  async function start(engine: EngineOptions = {}, { fastPath = true } = {}): Promise<void> {
    database = await freshDatabase('sharing');
    proxy = await TcpProxy.before(database.url);
    site = await startTestApp({
      models: [Book, Pen, View],
      database: { ...database, url: proxy.url(database.url) },
      engine: { pool: { max: 4 }, ...engine },
      minPool: engine.pool?.max ?? 4,
      bootstrap: { fastPath, logger },
    });
    control = await connectTo(database.url);
    await control.query(VIEW);
    await control.query("INSERT INTO books SELECT id, 'book ' || id FROM generate_series(1, 1000) AS t (id)");
    // Known to be cheap from here on.
    for (let round = 0; round < 10; round += 1) await Promise.all([view(1), view(2), book(1), book(2)]);
  }

  afterEach(async () => {
    // A read that was repeated on another connection also ends on the shared one, where nothing waits for it.
    await untilConnectionsRest();
    await control.end();
    await site[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    logger.clear();
  });

  const countOf = async (text: string): Promise<number> => (await control.query(text)).rows.length;

  /** Number of reads of the view that wait for the lock. */
  const waiting = () => countOf("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");

  async function locks(state: 'granted' | 'NOT granted'): Promise<{ pid: number; name: string }[]> {
    const { rows } = await control.query(
      `SELECT pid, relation::regclass AS name FROM pg_locks
       WHERE ${state} AND locktype = 'relation' AND pid <> pg_backend_pid()`,
    );
    return rows;
  }

  describe('of which one is slow', () => {
    beforeEach(() => start({ pool: { max: 4, acquire: ACQUIRE }, dialectOptions: UNHURRIED }));

    it('answers all others while it is under way', async () => {
      await control.query('SELECT pg_advisory_lock(7)');
      const slow = view(0);
      const isAnswered = watch([slow]);
      expectViews(await Promise.all(FAST.map(view)), FAST);
      while ((await waiting()) === 0) await sleep(2);
      expectViews(await Promise.all(FAST.map(view)), FAST);
      expect(isAnswered()).to.equal(false);
      await control.query('SELECT pg_advisory_unlock(7)');
      expectViews([await slow], [0]);
    });

    it('holds no lock of one table while it waits for one of another', async () => {
      await control.query('BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE');
      const mixed = Promise.all(FAST.flatMap((id) => [view(id), book(id)]));
      while ((await locks('NOT granted')).length === 0) await sleep(2);
      const waiting = new Set((await locks('NOT granted')).map(({ pid }) => pid));
      const held = (await locks('granted')).filter(({ pid }) => waiting.has(pid));
      await control.query('COMMIT');
      expect(held).to.deep.equal([]);
      expectCalm(await mixed);
    });

    it('answers all in the end when a table is locked, and those of other tables meanwhile', async () => {
      await control.query('BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE');
      const locked = [book(1), book(2)];
      expectViews(await Promise.all(FAST.map(view)), FAST);
      await control.query('COMMIT');
      for (const [index, answer] of (await Promise.all(locked)).entries()) {
        expectJson(answer, 200, { id: index + 1, title: `book ${index + 1}` });
      }
    });
  });

  it('answers others, too, when as many are slow as there are lanes', async () => {
    // A busy machine makes reads wait long enough to be executed again. Half of the pool is more than all of these, so that the
    // table never counts as locked.
    await start({ pool: { max: 16, acquire: ACQUIRE }, dialectOptions: UNHURRIED });
    await control.query('SELECT pg_advisory_lock(7)');
    const slow = [view(0), view(0)];
    const before = Promise.all(FAST.map(view));
    while ((await waiting()) < 2) await sleep(2);
    expectViews(await before, FAST);
    expectViews(await Promise.all(FAST.map(view)), FAST);
    await control.query('SELECT pg_advisory_unlock(7)');
    expectViews(await Promise.all(slow), [0, 0]);
  });

  describe('of which those of one table wait', () => {
    const books = (page: number) => get(`/books?size=2&page=${page}`);
    const pens = (page: number) => get(`/pens?size=2&page=${page}`);

    for (const [max, preparedStatements] of [
      [2, false] as const,
      [4, true] as const,
      ...wholeOr([], [[2, true] as const, [10, true] as const]),
    ]) {
      it(`leaves connections to others, of ${max}${preparedStatements ? '' : ' that no reads share'}`, async () => {
        await start({ pool: { max, acquire: ACQUIRE }, dialectOptions: UNHURRIED, preparedStatements });
        await control.query('BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE');
        const locked = FAST.flatMap((id) => [book(id), books(id)]);
        const isAnswered = watch(locked);
        while ((await locks('NOT granted')).length < max / 2) await sleep(2);
        expectViews(await Promise.all(FAST.map(view)), FAST);
        for (const { status } of await Promise.all(FAST.map(pens))) expect(status).to.equal(200);
        expect((await locks('NOT granted')).length).to.be.at.most(max === 2 ? 1 : max / 2 + 1);
        expect(isAnswered()).to.equal(false);
        await control.query('COMMIT');
        for (const { status } of await Promise.all(locked)) expect(status).to.equal(200);
      });
    }

    it('leaves one to others on the general path', async () => {
      await start({ pool: { max: 3, acquire: ACQUIRE }, dialectOptions: UNHURRIED }, { fastPath: false });
      await control.query('BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE');
      const locked = Promise.all(FAST.map(book));
      while ((await locks('NOT granted')).length < 2) await sleep(2);
      expectViews(await Promise.all(FAST.map(view)), FAST);
      expect((await locks('NOT granted')).length).to.equal(2);
      await control.query('COMMIT');
      for (const { status } of await locked) expect(status).to.equal(200);
    });

    it('begins one that was held back when those before it have waited in vain', async () => {
      const dialectOptions = { ...UNHURRIED, lock_timeout: 1_500 };
      await start({ pool: { max: 3, acquire: ACQUIRE }, dialectOptions });
      await control.query('BEGIN; LOCK TABLE books IN ACCESS EXCLUSIVE MODE');
      const first = book(1);
      while ((await locks('NOT granted')).length < 1) await sleep(2);
      // It is known to be slow.
      await sleep(100);
      const second = book(2);
      const isAnswered = watch([second]);
      expect((await first).status).to.equal(503);
      expect(isAnswered()).to.equal(false);
      await control.query('COMMIT');
      const begun = performance.now();
      expectJson(await second, 200, { id: 2, title: 'book 2' });
      expect(performance.now() - begun).to.be.below(ACQUIRE / 4);
    });

    it('gives a table all connections that is not locked', async () => {
      await start({ pool: { max: 4, acquire: ACQUIRE }, dialectOptions: UNHURRIED });
      await control.query('SELECT pg_advisory_lock(7)');
      const slow = [view(0), view(0), view(0)];
      while ((await waiting()) < 3) await sleep(2);
      await control.query('SELECT pg_advisory_unlock(7)');
      expectViews(await Promise.all(slow), [0, 0, 0]);
    });
  });

  describe('of which filters take long', () => {
    /** Queries of two shapes, for a row that is there when the gate is open. */
    const filtered = (index: number) =>
      get(`/views?fields=id&q=title=ilike=*16;${index % 2 ? 'id==16' : 'id=ge=16;id=le=16'}`);

    const underway = () => countOf(`${OTHERS} AND state = 'active'`);

    for (const max of wholeOr([2], [2, 4])) {
      it(`leaves a connection of ${max} to others`, async () => {
        await start({ pool: { max } });
        await control.query('INSERT INTO gates VALUES (1)');
        const slow = FAST.map(filtered);
        const isAnswered = watch(slow);
        while ((await underway()) < max - 1) await sleep(2);
        expectViews(await Promise.all(FAST.map(view)), FAST);
        for (const answer of [site.agent.get('/pens'), site.agent.get('/books?size=1'), book(1)])
          expect((await answer).status).to.equal(200);
        expect([isAnswered(), await underway()]).to.deep.equal([false, max - 1]);
        await control.query('DELETE FROM gates');
        for (const { body } of await Promise.all(slow)) expect(body.items).to.deep.equal([{ id: 16 }]);
      });
    }

    it('answers the others behind a filter that was fast and is slow', async () => {
      await start();
      const byId = (id: number) => get(`/views?q=id==${id}`);
      for (let round = 0; round < 20; round += 1) await Promise.all([1, 2, 3].map(byId));
      await control.query('SELECT pg_advisory_lock(7)');
      const slow = byId(0);
      const others = Promise.all(FAST.map(byId));
      for (const [index, { body }] of (await others).entries())
        expect(body.items).to.deep.equal([{ id: FAST[index], title: `view ${FAST[index]}` }]);
      await control.query('SELECT pg_advisory_unlock(7)');
      expect((await slow).body.items).to.deep.equal([{ id: 0, title: 'view 0' }]);
    });
  });

  describe('of which one fails', () => {
    beforeEach(() => start());

    it('answers the others', async () => {
      const ids = FAST.flatMap((id) => (id % 4 === 0 ? [13, id] : [id]));
      const answers = await Promise.all(ids.map(view));
      expectViews(
        answers.filter((_, index) => ids[index] !== 13),
        FAST,
      );
      for (const answer of answers.filter((_, index) => ids[index] === 13))
        expect(answer.status).to.be.above(399);
    });

    it('refuses to write', async () => {
      const ids = [14, ...FAST];
      const [refused, ...answers] = await Promise.all(ids.map(view));
      expect(refused?.status).to.equal(500);
      expect(logger.text).to.include('25006');
      expectViews(answers, FAST);
      expect((await book(99)).body.title).to.equal('book 99');
    });

    it('answers the others, too, when it ends the connection', async () => {
      const ids = [...FAST, 15, ...FAST];
      const answers = await Promise.all(ids.map(view));
      expectCalm(answers);
      expect(answers[FAST.length]?.status).to.equal(503);
      expectViews(
        answers.filter((_, index) => ids[index] !== 15),
        [...FAST, ...FAST],
      );
      await expectRecovery(() => view(1));
      expectViews(await Promise.all(FAST.map(view)), FAST);
    });
  });

  it('does not give a database that stalls twice the load', async () => {
    await start({ pool: { max: 42 }, dialectOptions: { options: '-c track_functions=pl' } });
    proxy.latency(25);
    for (let round = 0; round < 10; round += 1) expectViews(await Promise.all(FAST.map(view)), FAST);
    const sent = 4 * 10 + 10 * FAST.length;
    await site.engine[Symbol.asyncDispose]();
    while ((await countOf(OTHERS)) > 0) await sleep(2);
    // The calls of a connection are counted when it ends.
    const { rows } = await control.query('SELECT sum(calls)::int AS calls FROM pg_stat_user_functions');
    expect(rows[0].calls).to.be.within(sent - 20, sent * 1.1 + 110);
  });

  it('gives 504 to what takes too long, and answers the others', async () => {
    await start({ dialectOptions: { statement_timeout: 1_000, lock_timeout: 2_000 } });
    await control.query('SELECT pg_advisory_lock(7)');
    const slow = [view(0), view(0), view(0)];
    expectViews(await Promise.all(FAST.map(view)), FAST);
    for (const answer of await Promise.all(slow)) expect(answer.status).to.equal(504);
    await control.query('SELECT pg_advisory_unlock(7)');
    expectViews(await Promise.all(FAST.map(view)), FAST);
  });

  it('does not keep a connection that has gone silent', async () => {
    await start({ pool: { max: 1 }, dialectOptions: { query_timeout: 1_000, statement_timeout: 900 } });
    proxy.blackhole();
    expect((await view(1)).status).to.equal(504);
    proxy.heal();
    expectViews(await Promise.all(FAST.map(view)), FAST);
  });

  it('needs no second connection', async () => {
    await start({ pool: { max: 1 } });
    for (let round = 0; round < 3; round += 1) {
      const lists = Promise.all(FAST.map(() => site.agent.get('/books?page=2&size=2')));
      expectViews(await Promise.all(FAST.map(view)), FAST);
      for (const { body } of await lists) expect(body.items).to.have.length(2);
    }
  });

  it('takes no more connections than the pool has', async () => {
    await start({ pool: { max: 3 } });
    await Promise.all([...FAST, ...FAST].map(view));
    expect(await countOf(OTHERS)).to.be.at.most(6);
  });

  it('leaves each read to a pool that counts its uses, and tells its hooks of each', async () => {
    await start({ pool: { max: 2, maxUses: 5 } });
    const seen = countHooks(site, 'afterConnect', 'beforePoolAcquire', 'afterPoolAcquire');
    expectViews(await Promise.all(FAST.map(view)), FAST);
    expect(seen['afterConnect']).to.be.at.least(FAST.length / 5 - 2);
    expect([seen['beforePoolAcquire'], seen['afterPoolAcquire']]).to.deep.equal([FAST.length, FAST.length]);
  });

  it('answers every request when the engine is disposed meanwhile', async () => {
    await start();
    const answers = FAST.map(view);
    await site.engine[Symbol.asyncDispose]();
    for (const { status } of await Promise.all(answers)) expect(status).to.be.oneOf([200, 500, 503]);
  });
});
