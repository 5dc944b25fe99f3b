/**
 * Writes that wait for a connection go together, and each fares as it would alone: with group commit in one transaction, and without it
 * one behind the other.
 */
// @runs once

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from 'pg';
import { type QueryOptionsWithType, QueryTypes } from 'sequelize';
import { Column, DataType, Default, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, type EngineOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { untilConnectionsRest } from '../../support/connections-at-rest.js';
import { expectJson } from '../../support/expect-answer.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

abstract class Piece extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Default(0) @Column(DataType.INTEGER) declare worth: number;
  @Column(DataType.INTEGER) declare place: number | null;
}

@Crud({ prefix: '/coins' })
@Table({ tableName: 'coins', timestamps: false })
class Coin extends Piece {}

/** The transaction that has written a row is its tag. */
@Crud({ prefix: '/stamps', etag: 'xmin' })
@Table({ tableName: 'coins', timestamps: false })
class Stamp extends Piece {}

/** Its table has a trigger. */
@Crud({ prefix: '/notes' })
@Table({ tableName: 'notes', timestamps: false })
class Note extends Piece {}

/** Checks that wait, that take long, one that ends the connection and one that refuses. */
const RULES = `
  CREATE FUNCTION is_lucky(worth integer) RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN
    IF worth = 7 THEN PERFORM pg_advisory_xact_lock_shared(7); END IF;
    IF worth = 8 THEN PERFORM pg_sleep(0.6); END IF;
    IF worth = 9 THEN PERFORM pg_sleep(0.35); END IF;
    IF worth = 11 THEN PERFORM pg_advisory_xact_lock_shared(11); END IF;
    IF worth = 10 THEN PERFORM pg_cancel_backend(pg_backend_pid()); END IF;
    IF worth = 15 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RETURN worth <> 13;
  END $f$;
  ALTER TABLE coins ADD CONSTRAINT lucky CHECK (is_lucky(worth));
  CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NEW; END $f$;
  CREATE TRIGGER keep BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION keep()`;

/** A constraint that PostgreSQL checks at the commit. */
const PLACED = 'ALTER TABLE coins ADD CONSTRAINT placed UNIQUE (place) DEFERRABLE INITIALLY DEFERRED';

/** Name of the request that is under way. */
const NAME = new AsyncLocalStorage<string>();

/** Name of the writes that take the connections. */
const FIRST = 'a first one';
const PLENTY = Array.from({ length: 40 }, (_, index) => index + 1);

describe('writing together', () => {
  let database: TestDatabase;
  let site: TestApp;
  let control: Client;
  /** Number of writes that have requested a connection so far. */
  let asked = 0;
  /** Number of requests that have come so far. */
  let come = 0;
  /** Requests go on when it is fulfilled. */
  let gate: Promise<void> | null = null;
  const logger = new CapturedLog();

  const create = async (body: object, path = '/coins'): Promise<Response> =>
    site.agent
      .post(path)
      .set('name', 'name' in body ? `${body.name}` : 'nobody')
      .send(body);
  const change = async (id: number, body: object, path = '/coins'): Promise<Response> =>
    site.agent.patch(`${path}/${id}`).send(body);

  /**
   * Sends requests while all connections for writes are in use, so that they wait in line when one is free. Returns their
   * answers. The connections are taken when all requests have come: PostgreSQL ends a statement that waits for long.
   */
  async function together(
    send: (number: number) => Promise<Response>,
    whenAllWait: () => void = () => {},
  ): Promise<Response[]> {
    const { options } = site.engine.sequelize as unknown as { options: { pool: { max: number } } };
    const { max } = options.pool;
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    come = 0;
    const answers = PLENTY.map(send);
    while (come < PLENTY.length) await sleep(2);
    await control.query('SELECT pg_advisory_lock(7)');
    const first = Array.from({ length: max }, () => create({ name: FIRST, worth: 7 }));
    while ((await waiting('advisory')) < max) await sleep(2);
    asked = 0;
    gate = null;
    open();
    while (asked < PLENTY.length) await sleep(2);
    whenAllWait();
    await control.query('SELECT pg_advisory_unlock(7)');
    for (const { status } of await Promise.all(first)) expect(status).to.equal(201);
    return Promise.all(answers);
  }

  /** Number of requests that wait for locks of these types. */
  async function waiting(...types: readonly string[]): Promise<number> {
    const text = 'SELECT 1 FROM pg_locks WHERE locktype = ANY ($1) AND NOT granted';
    return (await control.query(text, [types])).rows.length;
  }

  async function start(engine: EngineOptions = {}, rules = ''): Promise<void> {
    database = await freshDatabase('together');
    const pool = { max: 2, ...engine.pool };
    site = await startTestApp({
      models: [Coin, Stamp, Note],
      database,
      // The test holds a lock until all requests have come, which may take longer than its usual two seconds.
      engine: {
        groupCommit: true,
        dialectOptions: { lock_timeout: 4_500 },
        ...engine,
        pool,
        logging: countWrites,
      },
      minPool: pool.max,
      bootstrap: { fastPath: true, logger },
      prepare: (app) => {
        app.use(async (request, _response, next) => {
          const name = request.get('name') ?? 'nobody';
          come += 1;
          if (name !== FIRST) await gate;
          NAME.run(name, next);
        });
      },
    });
    control = await connectTo(database.url);
    await control.query(`${RULES}; ${rules}`);
    await control.query(
      "INSERT INTO coins (name, worth) SELECT 'coin ' || n, 0 FROM generate_series(1, 40) AS t (n)",
    );
    // The library examines a table once, before its first write.
    expect((await create({ name: 'first' })).status).to.equal(201);
    expect((await create({ name: 'first' }, '/notes')).status).to.equal(201);
    await control.query("DELETE FROM coins WHERE name = 'first'; DELETE FROM notes");
  }

  afterEach(async () => {
    await untilConnectionsRest();
    await control.end();
    await site[Symbol.asyncDispose]();
    logger.clear();
  });

  async function transactions(table: string): Promise<number> {
    const { rows } = await control.query(`SELECT DISTINCT xmin::text FROM ${table} WHERE name LIKE 'new %'`);
    return rows.length;
  }

  async function names(): Promise<string[]> {
    const { rows } = await control.query("SELECT name FROM coins WHERE name LIKE 'new %' ORDER BY id");
    return rows.map(({ name }) => name);
  }

  function countWrites(sql: string): void {
    if (/: (?:INSERT|UPDATE) /.test(sql)) asked += 1;
  }

  const newOne = (number: number) => `new ${number}`;
  const byNumber = (one: string, other: string) => Number(one.slice(4)) - Number(other.slice(4));

  it('creates and changes many with few transactions, and gives each client what it sent', async () => {
    await start();
    const created = await together((number) => create({ name: newOne(number), worth: 100 + number }));
    created.forEach((answer, index) => {
      const { id } = answer.body;
      expect(answer.headers['location']).to.match(new RegExp(`/coins/${id}$`));
      expectJson(answer, 201, { id, name: newOne(index + 1), worth: 101 + index, place: null });
    });
    expect((await names()).toSorted(byNumber)).to.deep.equal(PLENTY.map(newOne));
    const changed = await together((id) => change(id, { name: newOne(100 + id) }));
    changed.forEach((answer, index) => {
      expectJson(answer, 200, { id: index + 1, name: newOne(101 + index), worth: 0, place: null });
    });
    expect(await transactions('coins')).to.be.below(PLENTY.length);
  });

  it('is asked for: without it each has a transaction of its own', async () => {
    await start({ groupCommit: false });
    // The library examines a table once, before its first change.
    await change(1, { worth: 1 });
    for (const { status } of await together((number) => create({ name: newOne(number) })))
      expect(status).to.equal(201);
    for (const { status } of await together((id) => change(id, { name: newOne(100 + id) })))
      expect(status).to.equal(200);
    expect(await transactions('coins')).to.equal(2 * PLENTY.length);
  });

  it('tells each what became of its own write when all have become slow', async () => {
    await start({ pool: { max: 8 }, dialectOptions: { statement_timeout: 2_500, query_timeout: 2_600 } });
    // Known to be cheap.
    for (let round = 0; round < 5; round += 1) await create({ name: 'a cheap one' });
    const answers = await together((number) => create({ name: newOne(number), worth: 9 }));
    expect(answers.map(({ status }) => status)).to.deep.equal(PLENTY.map(() => 201));
    expect((await names()).toSorted(byNumber)).to.deep.equal(PLENTY.map(newOne));
  });

  it('keeps those that are fast from waiting for one that is slow', async () => {
    await start();
    await control.query('SELECT pg_advisory_lock(11)');
    let answered = 0;
    const answers = await together(async (number) => {
      const answer = await create({ name: newOne(number), worth: number === 3 ? 11 : 0 });
      answered += 1;
      // All but the slow one.
      if (answered === PLENTY.length - 1) await control.query('SELECT pg_advisory_unlock(11)');
      return answer;
    });
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(await names()).to.have.length(PLENTY.length);
  });

  it('executes again none that somebody has ended', async () => {
    await start();
    const answers = await together((number) =>
      create({ name: newOne(number), worth: number % 10 === 0 ? 10 : 0 }),
    );
    const accepted = PLENTY.filter((number) => number % 10 !== 0);
    expect(answers.map(({ status }) => status)).to.deep.equal(PLENTY.map((n) => (n % 10 === 0 ? 504 : 201)));
    expect((await names()).toSorted(byNumber)).to.deep.equal(accepted.map(newOne));
  });

  it('gives each state of a row a tag of its own, where that is the transaction', async () => {
    await start();
    const answers = await together((worth) => change(1, { worth: 100 + worth }, '/stamps'));
    expect(answers.map(({ status }) => status)).to.deep.equal(PLENTY.map(() => 200));
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).to.equal(PLENTY.length);
  });

  it('answers each of those who change one row, or find none', async () => {
    await start();
    const answers = await together((worth) => change(worth % 4 === 0 ? 999 : 1, { worth: 100 + worth }));
    answers.forEach(({ status, body }, index) => {
      if ((index + 1) % 4 === 0) expect(status).to.equal(404);
      else expect([status, body.worth]).to.deep.equal([200, 101 + index]);
    });
  });

  it('leaves the limits of the connections as they were', async () => {
    await start({ pool: { max: 1 }, dialectOptions: {} });
    await together((number) => create({ name: newOne(number) }));
    const shown = await site.engine.sequelize.query(
      "SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement",
      { type: QueryTypes.SELECT, useMaster: true } as QueryOptionsWithType<QueryTypes.SELECT>,
    );
    expect(shown).to.deep.equal([{ lock: '2s', statement: '5s' }]);
  });

  for (const [what, table, rules] of [
    ['triggers', 'notes', ''],
    ['constraints that are checked at the commit', 'coins', PLACED],
  ] as const) {
    it(`leaves tables with ${what} alone`, async () => {
      await start({}, rules);
      await together((number) => create({ name: newOne(number), place: number }, `/${table}`));
      expect(await transactions(table)).to.equal(PLENTY.length);
    });
  }

  for (const groupCommit of [true, false]) {
    it(`refuses what the database refuses, and nothing else, ${groupCommit ? 'with' : 'without'} group commit`, async () => {
      await start({ groupCommit });
      const alone = await create({ name: 'new 13', worth: 13 });
      const answers = await together((number) =>
        create({ name: newOne(number), worth: number % 5 === 0 ? 13 : number + 100 }),
      );
      answers.forEach((answer, index) => {
        if ((index + 1) % 5 === 0)
          expect([answer.status, answer.body]).to.deep.equal([alone.status, alone.body]);
        else expect(answer.status).to.equal(201);
      });
      const accepted = PLENTY.filter((number) => number % 5 !== 0).map(newOne);
      expect((await names()).toSorted(byNumber)).to.deep.equal(accepted);
    });
  }

  it('refuses what the database refuses at the commit, and nothing else', async () => {
    await start();
    // The library has examined the table, and does not examine it again.
    await control.query(PLACED);
    const answers = await together((number) =>
      create({ name: newOne(number), place: number <= 5 ? 1 : number }),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.slice(0, 5).toSorted()).to.deep.equal([201, 409, 409, 409, 409]);
    expect(new Set(statuses.slice(5))).to.deep.equal(new Set([201]));
    expect(await names()).to.have.length(36);
  });

  it('needs no second place in line for what is executed again', async () => {
    await start({ pool: { max: 1, acquire: 1_500 } });
    const answers = await together((number) => {
      if (number <= 3) return create({ name: newOne(number), worth: number === 2 ? 13 : 0 });
      return number <= 6 ? change(number, { worth: 8 }) : change(number, { place: number });
    });
    expect(answers.slice(0, 3).map(({ status }) => status)).to.deep.equal([201, 422, 201]);
  });

  it('executes again with all connections what waits for locks', async () => {
    await start({ pool: { max: 4 } });
    await control.query('BEGIN; UPDATE coins SET worth = 1 WHERE id <= 8');
    const answers = together((id) => change(id, { worth: 100 + id }));
    // A transaction waits with one connection only, and not for long.
    while ((await waiting('transactionid', 'tuple')) < 3) await sleep(2);
    await control.query('COMMIT');
    expect((await answers).map(({ body }) => body.worth - 100)).to.deep.equal(PLENTY);
  });

  it('executes again what was together when the engine is disposed', async () => {
    await start({ pool: { max: 1 } });
    let disposal: PromiseLike<unknown> | undefined;
    const answers = await together(
      (number) => create({ name: newOne(number), worth: number === 2 ? 13 : 0 }),
      () => {
        disposal = site.engine[Symbol.asyncDispose]();
      },
    );
    await disposal;
    expect(answers.map(({ status }) => status)).to.deep.equal(PLENTY.map((n) => (n === 2 ? 422 : 201)));
  });

  it('executes again in the context of each request', async () => {
    await start({ pool: { max: 1 } });
    const sent: (string | undefined)[] = [];
    const { query } = Client.prototype;
    // Wraps the method, as tracers do.
    Client.prototype.query = function traced(this: Client, ...args: unknown[]) {
      sent.push(NAME.getStore());
      return Reflect.apply(query, this, args);
    } as typeof query;
    try {
      await together((number) => create({ name: newOne(number), worth: number % 8 === 0 ? 13 : 0 }));
    } finally {
      Client.prototype.query = query;
    }
    // The first of each transaction, and those that are executed again.
    const names = sent.filter((name) => name?.startsWith('new'));
    expect(new Set(names).size).to.be.above(PLENTY.length / 2);
  });

  it('does not wait for the lock that one of them waits for', async () => {
    await start();
    await control.query('BEGIN; UPDATE coins SET worth = 1 WHERE id = 7');
    let isAnswered = false;
    let locked: Promise<Response> | undefined;
    const answers = await together((id) => {
      const answer = change(id, { worth: 100 + id });
      if (id !== 7) return answer;
      locked = answer.finally(() => {
        isAnswered = true;
      });
      return Promise.resolve({ status: 200 } as Response);
    });
    expect(answers.map(({ status }) => status)).to.deep.equal(PLENTY.map(() => 200));
    expect(isAnswered).to.equal(false);
    await control.query('COMMIT');
    expect((await locked)?.body).to.deep.equal({ id: 7, name: 'coin 7', worth: 107, place: null });
  });

  for (const groupCommit of [true, false]) {
    it(`writes nothing twice, and nothing without saying so, when a connection ends, ${groupCommit ? 'with' : 'without'} group commit`, async () => {
      await start({ groupCommit });
      const answers = await together((number) =>
        create({ name: newOne(number), worth: number === 20 ? 15 : 0 }),
      );
      const created = PLENTY.map(newOne).filter((_, index) => answers[index]?.status === 201);
      expect((await names()).toSorted(byNumber)).to.deep.equal(created);
      expect(created).not.to.include('new 20');
      const others = answers.filter(({ status }) => status !== 201);
      expect(new Set(others.map(({ status }) => status))).to.deep.equal(new Set([503]));
      // It may be the last of those that use its connection.
      if (!groupCommit) expect(others.length).to.be.within(1, 4);
      expect((await create({ name: 'new 41' })).status).to.equal(201);
    });
  }

  it('tells all of them when no connection comes in time, and writes nothing of theirs', async () => {
    await start({ pool: { max: 2, acquire: 300 }, dialectOptions: { lock_timeout: 400 } });
    await control.query('BEGIN; LOCK TABLE coins IN EXCLUSIVE MODE');
    const answers = await Promise.all(PLENTY.map((number) => create({ name: newOne(number) })));
    // 409 is for those who have a connection, and wait for the lock.
    for (const { status } of answers) expect(status).to.be.oneOf([409, 503]);
    expect(answers.map(({ status }) => status)).to.include(503);
    await control.query('ROLLBACK');
    await untilConnectionsRest();
    expect(await names()).to.deep.equal([]);
    expect((await create({ name: 'new 41' })).status).to.equal(201);
  });

  for (const statement of ['DISCARD ALL', 'DEALLOCATE ALL']) {
    it(`goes on after ${statement}`, async () => {
      await start({ pool: { max: 1 } });
      for (let round = 0; round < 3; round += 1) {
        const answers = await together((number) => create({ name: newOne(number + 100 * round) }));
        expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
        await site.engine.sequelize.query(statement);
      }
      expect(await names()).to.have.length(3 * PLENTY.length);
      expect(await transactions('coins')).to.be.below((3 * PLENTY.length) / 2);
    });
  }
});
