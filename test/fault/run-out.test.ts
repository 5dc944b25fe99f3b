/** Running out of time and of connections: who waits too long is told so, and who needs neither is served. */
import { expect } from 'chai';
import { Get } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  type Id,
  InjectSession,
  type ReadSession,
  type UpdateValues,
} from '../../src/index.js';
import { NamedRow, NumberedRow } from '../models/rows.js';
import { type BuiltApp, buildApp } from '../support/build-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { expectProblem } from '../support/expect-answer.js';
import { forSuite } from '../support/for-suite.js';
import { connectTo, freshDatabase } from '../support/postgres.js';
import { serveTestApp, startTestApp, type TestApp } from '../support/test-app.js';

@Crud({ filterAllow: ['name'] })
@Table({ tableName: 'jobs', timestamps: false })
class Job extends NamedRow {}

@Crud()
@Table({ tableName: 'slow_jobs', timestamps: false })
class SlowJob extends NamedRow {}

/** Its writes are transactions. */
class SlowJobController extends crudController(SlowJob) {
  override update(id: Id, values: UpdateValues<SlowJob>, context: CrudContext<SlowJob>): Promise<SlowJob> {
    return super.update(id, values, context);
  }

  @Get('/waiting')
  async countJobs(@InjectSession() { repository }: ReadSession) {
    return { jobs: await repository(Job).list() };
  }
}

const SCHEMA = `
  CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(CASE WHEN NEW.name = 'slow' THEN 3 ELSE 0 END); RETURN NEW; END $$;
  CREATE TRIGGER sleep BEFORE INSERT OR UPDATE ON slow_jobs FOR EACH ROW EXECUTE FUNCTION sleep();
  ALTER TABLE slow_jobs RENAME TO all_slow_jobs;
  CREATE VIEW slow_jobs AS SELECT * FROM all_slow_jobs;
`;

describe('running out', () => {
  const logger = new CapturedLog();
  const ROUTES = { models: [Job, SlowJob], controllers: [SlowJobController], logger };
  const database = forSuite(() => freshDatabase('run_out'));
  const control = forSuite(() => connectTo(database.url));
  const site = serveTestApp(() => ({
    models: [Job, SlowJob],
    database: { url: database.url },
    engine: {
      // Short, as tests wait for each to end; not so short that a busy machine needs longer for a statement.
      pool: { max: 2, acquire: 1_000 },
      dialectOptions: { statement_timeout: 500, lock_timeout: 200, idle_in_transaction_session_timeout: 800 },
    },
    minPool: 2,
    bootstrap: ROUTES,
  }));
  let general: BuiltApp;

  before(async () => {
    general = await buildApp({ ...ROUTES, fastPath: false });
    await site.engine.sequelize.query(SCHEMA);
  });

  beforeEach(async () => {
    logger.clear();
    await control.query('TRUNCATE jobs, all_slow_jobs RESTART IDENTITY');
    await control.query("INSERT INTO jobs (name) VALUES ('one'), ('two')");
    await control.query("INSERT INTO all_slow_jobs (name) VALUES ('one')");
  });

  describe('of time for a statement', () => {
    const TIMEOUT = { detail: 'The database did not answer in time.' };

    it('[F8] answers 504, and leaves no row', async () => {
      const answers = await Promise.all([
        site.agent.post('/slow-jobs').send({ name: 'slow' }),
        site.agent.patch('/slow-jobs/1').send({ name: 'slow' }),
      ]);
      for (const answer of answers) expectProblem(answer, 504, TIMEOUT);
      const { rows } = await control.query('SELECT name FROM all_slow_jobs');
      expect(rows).to.deep.equal([{ name: 'one' }]);
      expect(logger.codes).to.deep.equal(['57014']);
    });

    it('[F8] keeps the connection, which is as good as before', async () => {
      const before = await backends();
      expect((await site.agent.post('/slow-jobs').send({ name: 'slow' })).status).to.equal(504);
      expect((await site.agent.patch('/slow-jobs/1').send({ name: 'slow' })).status).to.equal(504);
      expect((await site.agent.patch('/slow-jobs/1').send({ name: 'fast' })).status).to.equal(200);
      expect(await backends()).to.deep.equal(before);
    });

    it('answers 504 to reads as well', async () => {
      try {
        await control.query(
          "CREATE OR REPLACE VIEW slow_jobs AS SELECT * FROM all_slow_jobs WHERE pg_sleep(3)::text = ''",
        );
        const answers = await Promise.all([site.agent.get('/slow-jobs'), site.agent.get('/slow-jobs/1')]);
        for (const answer of answers) expectProblem(answer, 504, TIMEOUT);
      } finally {
        await control.query('CREATE OR REPLACE VIEW slow_jobs AS SELECT * FROM all_slow_jobs');
      }
      expect((await site.agent.get('/slow-jobs/1')).status).to.equal(200);
    });
  });

  describe('of time for a lock', () => {
    const expectBusy = (answer: Response) => {
      expectProblem(answer, 503, { detail: 'The database is busy; try again.' });
      expect(answer.headers['retry-after']).to.equal('1');
    };

    /** At the same time, as each waits most of it. */
    const onBoth = (work: (agent: TestApp['agent']) => Promise<void>) =>
      Promise.all([site, general].map(({ agent }) => work(agent)));

    beforeEach(() =>
      control.query('BEGIN; UPDATE jobs SET name = name; UPDATE all_slow_jobs SET name = name'),
    );
    afterEach(() => control.query('ROLLBACK'));

    it('[F9] answers 503 to what changes a row that something else holds, and logs it', async () => {
      await onBoth(async (agent) => {
        expectBusy(await agent.patch('/jobs/1').send({ name: 'x' }));
        expectBusy(await agent.delete('/jobs/1'));
        expectBusy(await agent.patch('/slow-jobs/1').send({ name: 'x' }));
        expect((await agent.patch('/jobs/2').send({})).status).to.equal(200);
      });
      expect(logger.codes).to.deep.equal(['55P03']);
    });

    it('[F7] reads all the same', async () =>
      expect((await site.agent.get('/jobs/1')).body).to.deep.equal({ id: 1, name: 'one' }));

    it('answers 503 to all that needs a table that is locked', async () => {
      await control.query('LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE');
      await onBoth(async (agent) => {
        const requests = [
          agent.get('/jobs/1'),
          agent.get('/jobs'),
          agent.get('/jobs?q=name==one'),
          agent.get('/slow-jobs/waiting'),
          agent.post('/jobs').send({ name: 'three' }),
          agent.patch('/jobs/1').send({ name: 'x' }),
          agent.delete('/jobs/1'),
        ];
        for (const request of requests) expectBusy(await request);
      });
    });
  });

  describe('of connections', () => {
    const FULL = { detail: 'Too many requests wait for the database; try again.' };
    let release: () => Promise<void>;

    /** Takes every connection of both pools. */
    beforeEach(async () => {
      const { connectionManager } = site.engine.sequelize;
      const take = async (type: 'SELECT' | 'INSERT') => connectionManager.getConnection({ type } as never);
      const taken = await Promise.all([take('SELECT'), take('SELECT'), take('INSERT'), take('INSERT')]);
      release = async () => {
        for (const connection of taken) connectionManager.releaseConnection(connection);
      };
    });

    afterEach(() => release());

    it('[F7] answers 503 to what needs one, after the time that the pool waits', async () => {
      const answers = await Promise.all([
        site.agent.get('/jobs'),
        site.agent.get('/jobs/1'),
        site.agent.post('/jobs').send({ name: 'three' }),
        site.agent.patch('/slow-jobs/1').send({ name: 'x' }),
        site.agent.delete('/jobs/1'),
      ]);
      for (const answer of answers) {
        expectProblem(answer, 503, FULL);
        expect(answer.headers['retry-after']).to.equal('1');
      }
    });

    const NEED_NONE = [
      ['a wrong id', 400, () => site.agent.get('/jobs/x')],
      ['a wrong parameter', 400, () => site.agent.get('/jobs?size=0')],
      ['a wrong filter', 400, () => site.agent.get('/jobs?q=nme==x')],
      ['a wrong order', 400, () => site.agent.get('/jobs?sort=nme')],
      ['malformed JSON', 400, () => site.agent.post('/jobs').type('json').send('{')],
      ['a wrong body', 422, () => site.agent.post('/jobs').send({ nme: 'x' })],
      ['a wrong body of a change', 422, () => site.agent.patch('/slow-jobs/1').send({ nme: 'x' })],
      ['another media type', 415, () => site.agent.post('/jobs').type('text').send('x')],
      ['a body that is too large', 413, () => site.agent.post('/jobs').send({ name: 'x'.repeat(200_000) })],
      ['a path that is not there', 404, () => site.agent.get('/nothing')],
      ['a method that is not there', 405, () => site.agent.put('/jobs/1').send({})],
      ['a question for the methods', 204, () => site.agent.options('/jobs')],
    ] as const;
    for (const [kind, status, request] of NEED_NONE) {
      it(`answers ${status} to ${kind} all the same`, async () => {
        expect((await request()).status).to.equal(status);
        expect(logger.lines).to.deep.equal([]);
      });
    }

    it('serves again as soon as there is one', async () => {
      const answer = site.agent.get('/jobs/1').then((response) => response);
      await new Promise(setImmediate);
      await release();
      expect((await answer).status).to.equal(200);
      release = async () => {};
    });
  });

  it('[F10] answers 503 where the server ends a transaction that was idle for too long', async () => {
    const idle = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`;
    SlowJob.addHook('beforeUpdate', 'wait', async () => {
      // Until the server has ended it.
      while ((await control.query(idle)).rows.length > 0);
    });
    const answer = await site.agent.patch('/slow-jobs/1').send({ name: 'late' });
    SlowJob.removeHook('beforeUpdate', 'wait');
    expectProblem(answer, 503, { detail: 'The database is not available; try again.' });
    expect((await site.agent.patch('/slow-jobs/1').send({ name: 'early' })).status).to.equal(200);
  });

  /** The server processes of the engine's connections. */
  async function backends(): Promise<number[]> {
    const { rows } = await control.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid`,
    );
    return rows.map(({ pid }) => pid);
  }
});

@Crud()
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends NumberedRow {}

describe('a server that has no connection left', () => {
  it('[F11] is answered with 503 until it has one', async () => {
    const database = await freshDatabase('full');
    const role = new URL(database.url).pathname.slice(1);
    const control = await connectTo(database.url);
    await control.query(
      `CREATE ROLE ${role} LOGIN PASSWORD 'limited'; GRANT ALL ON SCHEMA public TO ${role}`,
    );
    const url = Object.assign(new URL(database.url), { username: role, password: 'limited' }).href;
    const drop = async () => {
      await control.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await control.end();
      await database.drop();
    };
    const logger = new CapturedLog();
    await using site = await startTestApp({
      models: [Ticket],
      database: { url, drop },
      bootstrap: { logger },
    });
    const requests = () => [
      site.agent.get('/tickets'),
      site.agent.get('/tickets/900'),
      site.agent.post('/tickets').send({}),
    ];
    expect((await Promise.all(requests())).map(({ status }) => status)).to.deep.equal([200, 404, 201]);
    logger.clear();

    await control.query(`ALTER ROLE ${role} CONNECTION LIMIT 0`);
    await control.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    for (const answer of await Promise.all(requests())) {
      expectProblem(answer, 503, { detail: 'The database is not available; try again.' });
      expect(answer.headers['retry-after']).to.equal('1');
    }
    expect(logger.text).to.include('53300');

    await control.query(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    expect((await Promise.all(requests())).map(({ status }) => status)).to.deep.equal([200, 404, 201]);
  });
});
