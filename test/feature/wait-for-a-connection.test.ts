/** More requests than connections: whoever waits is served in turn, or told in time, and the rules of the pool hold. */
import { expect } from 'chai';
import { Client } from 'pg';
import {
  AutoIncrement,
  BeforeCreate,
  Column,
  DataType,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, type EngineOptions } from '../../src/index.js';
import { expectCalm, expectRecovery } from '../support/calm-answers.js';
import { CapturedLog } from '../support/captured-log.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Written by the fast path. The table fills in who wrote a row. */
@Crud({ prefix: '/notes' })
@Table({ tableName: 'notes', timestamps: false })
class Note extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column(DataType.TEXT)
  declare text: string | null;

  @Column(DataType.INTEGER)
  declare writer: number | null;
}

/** Written by Sequelize. */
@Crud({ prefix: '/letters' })
@Table({ tableName: 'letters', timestamps: false })
class Letter extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column(DataType.TEXT)
  declare text: string | null;

  @BeforeCreate
  static trim(letter: Letter): void {
    letter.text = letter.text?.trim() ?? null;
  }
}

const SIGN = `
  CREATE FUNCTION sign() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    NEW.writer := pg_backend_pid();
    RETURN NEW;
  END $f$;
  CREATE TRIGGER sign BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION sign()`;

const PLENTY = 60;

describe('waiting for a connection', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  let site: TestApp;
  let control: Client;
  let proxy: TcpProxy;
  const logger = new CapturedLog();

  const write = (text = 'a note'): Promise<Response> =>
    site.agent
      .post('/notes')
      .send({ text })
      .then((response: Response) => response);

  const writeAll = (count: number): Promise<Response[]> =>
    Promise.all(Array.from({ length: count }, () => write()));

  async function start(
    pool: NonNullable<EngineOptions['pool']>,
    dialectOptions: EngineOptions['dialectOptions'] = {},
  ): Promise<void> {
    database = await freshDatabase('waiting');
    proxy = await TcpProxy.start(Number(new URL(database.url).port || 5432));
    site = await startTestApp({
      models: [Note, Letter],
      database: { ...database, url: proxy.url(database.url) },
      engine: { pool, dialectOptions },
      minPool: pool.max ?? 1,
      bootstrap: { fastPath: true, logger },
    });
    control = new Client({ connectionString: database.url });
    await control.connect();
    await control.query(SIGN);
  }

  /** How many connections wrote the notes. */
  async function writers(): Promise<number> {
    const { rows } = await control.query('SELECT count(DISTINCT writer)::int AS count FROM notes');
    return rows[0].count;
  }

  async function notes(): Promise<number> {
    const { rows } = await control.query('SELECT count(*)::int AS count FROM notes');
    return rows[0].count;
  }

  /** Runs an action while clients write one note after the other; gives the answers that they had. */
  async function whileWriting(action: () => Promise<void>): Promise<Response[]> {
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

  afterEach(async () => {
    await control.end();
    await site[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
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
    const answers = await whileWriting(async () => {
      for (let count = 0; count < 10; count += 1) {
        const { status } = await site.agent.post('/letters').send({ text: ' a letter ' });
        expect(status).to.equal(201);
      }
    });
    for (const { status } of answers) expect(status).to.equal(201);
    expect(await notes()).to.equal(answers.length);
  });

  it('ends after as long as the pool says, and then nothing is written', async () => {
    await start({ max: 1, acquire: 300 });
    await write('the first one opens the connection');
    await control.query('BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE');
    const begun = write();
    while ((await waitingForLocks()) === 0) await new Promise(setImmediate);
    const started = performance.now();
    const refused = await writeAll(5);
    expect(performance.now() - started).to.be.within(290, 2_000);
    expectCalm(refused);
    for (const { status } of refused) expect(status).to.equal(503);
    await control.query('COMMIT');
    expect((await begun).status).to.equal(201);
    expect((await write()).status).to.equal(201);
    expect(await notes()).to.equal(3);
  });

  async function waitingForLocks(): Promise<number> {
    const { rows } = await control.query('SELECT 1 FROM pg_locks WHERE NOT granted');
    return rows.length;
  }

  it('leaves each use to a pool that counts them', async () => {
    await start({ max: 1, maxUses: 5 });
    for (const { status } of await writeAll(20)) expect(status).to.equal(201);
    expect(await writers()).to.be.at.least(4);
  });

  it('tells the hooks of the pool of each use', async () => {
    await start({ max: 1 });
    const seen = { before: 0, after: 0 };
    site.engine.sequelize.addHook('beforePoolAcquire', () => {
      seen.before += 1;
    });
    site.engine.sequelize.addHook('afterPoolAcquire', () => {
      seen.after += 1;
    });
    await writeAll(20);
    expect(seen).to.deep.equal({ before: 20, after: 20 });
  });

  it('survives the end of all connections, and loses nothing that was acknowledged', async () => {
    await start({ max: 2 });
    const answers = await whileWriting(async () => {
      for (let round = 0; round < 5; round += 1) {
        await writeAll(20).then(expectCalm);
        await control.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        );
      }
    });
    expectCalm(answers);
    await expectRecovery(() => write());
    expect(await notes()).to.be.at.least(answers.filter(({ status }) => status === 201).length);
  });

  it('is not served with a connection that has gone silent', async () => {
    await start({ max: 1 }, { query_timeout: 500, statement_timeout: 450 });
    await write();
    proxy.blackhole();
    proxy.heal();
    const statuses = (await writeAll(5)).map(({ status }) => status);
    expect(statuses.toSorted()).to.deep.equal([201, 201, 201, 201, 504]);
  });

  it('goes on behind statements that fail', async () => {
    await start({ max: 1 });
    await control.query("ALTER TABLE notes ADD CONSTRAINT calm CHECK (text <> 'loud')");
    const texts = Array.from({ length: PLENTY }, (_, index) => (index % 2 === 0 ? 'loud' : 'calm'));
    const answers = await Promise.all(texts.map(write));
    expect(answers.map(({ status }) => status)).to.deep.equal(
      texts.map((text) => (text === 'calm' ? 201 : 422)),
    );
  });

  it('is over for everybody when the engine is disposed', async () => {
    await start({ max: 1 });
    const answers = writeAll(PLENTY);
    await site.engine[Symbol.asyncDispose]();
    for (const { status } of await answers) expect(status).to.be.oneOf([201, 500, 503]);
  });
});
