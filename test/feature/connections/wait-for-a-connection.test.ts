/** More requests than connections: a waiting request gets its turn, or a refusal in time, and the rules of the pool hold. */
// @runs once

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from 'pg';
import { BeforeCreate, Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, type EngineOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { expectCalm } from '../../support/calm-answers.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { countHooks } from '../../support/count-hooks.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** Columns of both models. */
abstract class Writing extends NumberedRow {
  @Column(DataType.TEXT) declare text: string | null;
}

/** Written by the fast path. The table fills in who wrote a row. */
@Crud({ prefix: '/notes' })
@Table({ tableName: 'notes', timestamps: false })
class Note extends Writing {}

/** Written by Sequelize. */
@Crud({ prefix: '/letters' })
@Table({ tableName: 'letters', timestamps: false })
class Letter extends Writing {
  @BeforeCreate
  static trim(letter: Letter): void {
    letter.text = letter.text?.trim() ?? null;
  }
}

const SIGN = `
  CREATE FUNCTION sign() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    NEW.text := concat_ws(' of ', NEW.text, current_setting('app.tenant', true));
    RETURN NEW;
  END $f$;
  CREATE TRIGGER sign BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION sign()`;

const ADD_WRITER = 'ALTER TABLE notes ADD COLUMN writer integer DEFAULT pg_backend_pid()';

const PLENTY = 60;
/** The tenant of a request. */
const TENANT = new AsyncLocalStorage<string>();

for (const isTogether of [false, true]) {
  describe(`waiting for a connection ${isTogether ? 'together' : 'one by one'}`, () => {
    let database: TestDatabase;
    let site: TestApp;
    let control: Client;
    let proxy: TcpProxy | null;
    /** Requests so far. */
    let arrived = 0;
    const logger = new CapturedLog();

    const write = async (text = 'a note', tenant = 'nobody'): Promise<Response> =>
      site.agent.post('/notes').set('tenant', tenant).send({ text });

    const sendAll = (count: number): Promise<Response>[] => Array.from({ length: count }, () => write());

    const writeAll = (count: number): Promise<Response[]> => Promise.all(sendAll(count));

    async function start(
      pool: NonNullable<EngineOptions['pool']>,
      options: Pick<EngineOptions, 'dialectOptions' | 'logging'> = {},
      isProxied = false,
    ): Promise<void> {
      database = await freshDatabase('waiting');
      proxy = isProxied ? await TcpProxy.before(database.url) : null;
      site = await startTestApp({
        models: [Note, Letter],
        database: { ...database, url: proxy?.url(database.url) ?? database.url },
        engine: { pool, groupCommit: isTogether, ...options },
        minPool: pool.max ?? 1,
        bootstrap: { fastPath: true, logger },
        prepare: (app) => {
          app.use((request, _response, next) => {
            arrived += 1;
            TENANT.run(request.get('tenant') ?? '', next);
          });
        },
      });
      control = await connectTo(database.url);
      await control.query(ADD_WRITER);
      // Writes of tables with triggers do not go together.
      if (!isTogether) await control.query(SIGN);
    }

    const countOf = async (text: string): Promise<number> => (await control.query(text)).rows.length;
    /** Number of connections that wrote the notes. */
    const writers = () => countOf('SELECT DISTINCT writer FROM notes');
    const notes = () => countOf('SELECT 1 FROM notes');

    /** Runs an action while clients send one request after the other; returns their answers. */
    async function whileBusy(action: () => Promise<unknown>): Promise<Response[]> {
      const answers: Response[] = [];
      let isOver = false;
      const clients = Array.from({ length: 10 }, async () => {
        while (!isOver) answers.push(await write());
      });
      try {
        await action();
      } finally {
        isOver = true;
        await Promise.all(clients);
      }
      return answers;
    }

    const writeLetter = async (): Promise<Response> =>
      site.agent.post('/letters').send({ text: ' a letter ' });

    /** Has so many requests wait for one that waits for a lock, which `unlock` releases. */
    async function writeBehindALock(
      count: number,
    ): Promise<{ answers: Promise<Response>[]; unlock: () => Promise<unknown> }> {
      await write('the first one opens the connection');
      await control.query('BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE');
      arrived = 0;
      const answers = sendAll(count);
      while (arrived < count || (await waitingForLocks()) === 0) await sleep(2);
      return { answers, unlock: () => control.query('COMMIT') };
    }

    const waitingForLocks = () => countOf('SELECT 1 FROM pg_locks WHERE NOT granted');

    afterEach(async () => {
      await control.end();
      await site[Symbol.asyncDispose]();
      await proxy?.[Symbol.asyncDispose]();
    });

    it('serves all of them with the connections of the pool', async () => {
      await start({ max: 2 });
      const lists = Promise.all(
        Array.from({ length: PLENTY }, (_, index) => site.agent.get(`/notes?page=${index + 1}`)),
      );
      for (const { status } of await writeAll(PLENTY)) expect(status).to.equal(201);
      for (const { status } of await lists) expect(status).to.equal(200);
      expect(await notes()).to.equal(PLENTY);
      expect(await writers()).to.be.within(1, 2);
    });

    it('lets those in between who wait in the pool itself', async () => {
      await start({ max: 1 });
      const answers = await whileBusy(async () => {
        for (let count = 0; count < 10; count += 1) {
          expect((await writeLetter()).status).to.equal(201);
        }
      });
      for (const { status } of answers) expect(status).to.equal(201);
      expect(await notes()).to.equal(answers.length);
    });

    it('ends after as long as the pool says, and then nothing is written', async () => {
      await start({ max: 1, acquire: 300 });
      const { answers, unlock } = await writeBehindALock(6);
      const refused: Response[] = [];
      for (const answer of answers) void answer.then((given) => refused.push(given));
      while (refused.length < 5) await sleep(2);
      expectCalm(refused);
      for (const { status } of refused) expect(status).to.equal(503);
      await unlock();
      await Promise.all(answers);
      expect(refused.map(({ status }) => status)).to.include(201);
      expect((await write()).status).to.equal(201);
      expect(await notes()).to.equal(3);
    });

    it('has no end where acquire is 0', async () => {
      await start({ max: 2, acquire: 0 });
      using _hook = addedHook(Letter, 'beforeFind', () => sleep(20));
      const lists = Array.from({ length: 10 }, () => site.agent.get('/letters'));
      for (const { status } of await Promise.all(lists)) expect(status).to.equal(200);
      for (const { status } of await writeAll(10)) expect(status).to.equal(201);
    });

    it('leaves each use to a pool that counts them, and tells its hooks of each', async () => {
      await start({ max: 1, maxUses: 5 });
      await write('the first one reads the triggers of the table');
      const seen = countHooks(site, 'beforePoolAcquire', 'afterPoolAcquire');
      for (const { status } of await writeAll(20)) expect(status).to.equal(201);
      expect(seen).to.deep.equal({ beforePoolAcquire: 20, afterPoolAcquire: 20 });
      expect(await writers()).to.be.at.least(4);
    });

    if (!isTogether) {
      it('gets each request the connection that the hooks of the pool prepared for it', async () => {
        await start({ max: 2 });
        site.engine.sequelize.addHook('afterPoolAcquire', async (connection) => {
          const tenant = TENANT.getStore() ?? '';
          await (connection as unknown as Client).query(`SET app.tenant = '${tenant}'`);
        });
        const tenants = Array.from({ length: PLENTY }, (_, index) => `tenant ${index}`);
        const answers = await Promise.all(tenants.map((tenant) => write('a note', tenant)));
        expect(answers.map(({ body }) => body.text)).to.deep.equal(
          tenants.map((tenant) => `a note of ${tenant}`),
        );
      });
    }

    if (!isTogether) {
      const session = 'a session begins and ends with statements of its own';
      except({ session, records: session }).it(
        'leaves each statement in the context of its request',
        async () => {
          const logged: unknown[] = [];
          const sent: unknown[] = [];
          await start({ max: 1 }, { logging: () => logged.push(TENANT.getStore()) });
          const tenants = Array.from({ length: PLENTY }, (_, index) => `tenant ${index}`).toSorted();
          await write('the first one opens the connection');
          logged.length = 0;
          const { query } = Client.prototype;
          // Wraps the method, as tracers do.
          Client.prototype.query = function traced(this: Client, ...args: unknown[]) {
            sent.push(TENANT.getStore());
            return Reflect.apply(query, this, args);
          } as typeof query;
          try {
            await Promise.all(tenants.map((tenant) => write('a note', tenant)));
          } finally {
            Client.prototype.query = query;
          }
          expect(logged.toSorted()).to.deep.equal(tenants);
          expect(sent.toSorted()).to.deep.equal(tenants);
        },
      );
    }

    it('is not served with a connection that has gone silent', async () => {
      const dialectOptions = { query_timeout: 1_000, statement_timeout: 900 };
      await start({ max: 1 }, { dialectOptions }, true);
      await write();
      proxy?.blackhole();
      proxy?.heal();
      const statuses = (await writeAll(5)).map(({ status }) => status);
      expect(statuses.toSorted()).to.deep.equal([201, 201, 201, 201, 504]);
    });

    it('is not served with a connection that the server ends', async () => {
      await start({ max: 1 });
      const { answers, unlock } = await writeBehindALock(6);
      await control.query('SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted');
      await unlock();
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.toSorted()).to.deep.equal([201, 201, 201, 201, 201, 503]);
    });

    it('goes on behind statements that fail', async () => {
      await start({ max: 1 });
      await control.query("ALTER TABLE notes ADD CONSTRAINT calm CHECK (text <> 'loud')");
      const texts = Array.from({ length: PLENTY }, (_, index) => (index % 2 === 0 ? 'loud' : 'calm'));
      const answers = await Promise.all(texts.map((text) => write(text)));
      expect(answers.map(({ status }) => status)).to.deep.equal(
        texts.map((text) => (text === 'calm' ? 201 : 422)),
      );
    });

    it('ends well for those who wait when the engine is disposed', async () => {
      await start({ max: 1 });
      const { answers, unlock } = await writeBehindALock(PLENTY);
      const disposal = site.engine[Symbol.asyncDispose]();
      await unlock();
      for (const { status } of await Promise.all(answers)) expect(status).to.equal(201);
      await disposal;
    });

    it('does not keep an engine from being disposed while requests come', async () => {
      await start({ max: 2 });
      const answers = await whileBusy(async () => {
        await writeAll(PLENTY);
        await site.engine[Symbol.asyncDispose]();
      });
      expectCalm(answers);
      expect(answers.some(({ status }) => status === 201)).to.equal(true);
    });
  });
}
