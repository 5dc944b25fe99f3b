/** PgBouncer in transaction mode: the start names the features that are missing, and a GET writes nothing all the same. */
// @runs fast
// @runs unpooled: it starts poolers of its own, each with other settings
import { expect } from 'chai';
import type { Client } from 'pg';
import { QueryTypes } from 'sequelize';
import { Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type BootstrapOptions,
  Crud,
  dbSession,
  type EngineOptions,
  engineLifespan,
  unitOfWork,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { onPath } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { expectJson } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { type PgBouncer, startPgBouncer } from '../../support/pgbouncer.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { startTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { writeAttempts } from '../../support/write-attempts.js';

@Crud({ pagination: 'cursor' })
@Table({ tableName: 'ponds', timestamps: false })
class Pond extends NamedRow {}

const TIMEOUTS = 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout';
const IGNORED = `${TIMEOUTS}, options`;
const INSERT = "INSERT INTO ponds (name) VALUES ('written')";

describe('over a pooler', () => {
  let database: TestDatabase;
  let control: Client;
  let pooler: PgBouncer;

  const start = (engine: EngineOptions = {}, url = pooler.url, bootstrap: BootstrapOptions = {}) => {
    const logger = new CapturedLog();
    return startTestApp({
      models: [Pond],
      database: { url },
      minPool: 6,
      engine: { createAll: false, ...engine },
      bootstrap: { logger, ...bootstrap },
    }).then((site) => ({ site, logger, warnings: () => logger.lines.map(({ message }) => message) }));
  };

  before(async function () {
    // PgBouncer may have to be installed.
    this.timeout(120_000);
    database = await freshDatabase('pooled');
    control = await connectTo(database.url);
    await control.query('CREATE TABLE ponds (id serial PRIMARY KEY, name varchar(20) NOT NULL)');
    pooler = await startPgBouncer(database.url, { default_pool_size: 3, ignore_startup_parameters: IGNORED });
  });

  beforeEach(() =>
    control.query("TRUNCATE ponds RESTART IDENTITY; INSERT INTO ponds (name) VALUES ('first')"),
  );

  after(async () => {
    await control.end();
    await pooler[Symbol.asyncDispose]();
    await database.drop();
  });

  it('does not start where the pooler refuses what connections are asked for, and tells what to set', async () => {
    await using strict = await startPgBouncer(database.url);
    const { password } = new URL(strict.url);
    for (const options of [{}, { replicas: [strict.url] }]) {
      const dsn = 'replicas' in options ? database.url : strict.url;
      expect(await configError(engineLifespan(dsn, { models: [], ...options })))
        .to.match(/a pooler refuses what its connections are asked for \(unsupported startup parameter/)
        .and.include(`set ignore_startup_parameters = ${IGNORED} in PgBouncer`)
        .and.include('ALTER ROLE … SET')
        .and.include('preparedStatements: false')
        .and.not.include(password);
    }
  });

  it('tells once, at the start, what the pooler ignores', async () => {
    const { site, warnings } = await start();
    await using _site = site;
    expectJson(await site.agent.get('/ponds/1'), 200, { id: 1, name: 'first' });
    expect(warnings()).to.have.length(1);
    expect(warnings()[0])
      .to.include(`${TIMEOUTS}, default_transaction_read_only are not as configured`)
      .and.include('ALTER ROLE … SET')
      .and.include('preparedStatements: false');
  });

  it('tells of a replica what it tells of the primary', async () => {
    const { site, warnings } = await start(
      { replicas: [pooler.url], preparedStatements: false },
      database.url,
    );
    await using _site = site;
    expect(warnings()).to.have.length(1);
    expect(warnings()[0])
      .to.include('default_transaction_read_only = on')
      .and.not.include('preparedStatements');
  });

  it('tells nothing where roles have the settings, and reads as without a pooler', async () => {
    const { pathname, password } = new URL(database.url);
    const name = pathname.slice(1);
    const reader = `reader_of_${name}`;
    const timeouts = {
      lock_timeout: 2_000,
      statement_timeout: 5_000,
      idle_in_transaction_session_timeout: 10_000,
    };
    await control.query(`CREATE ROLE ${reader} LOGIN PASSWORD '${decodeURIComponent(password)}'`);
    await control.query(`GRANT SELECT ON ponds TO ${reader}`);
    await control.query(`ALTER ROLE ${reader} SET default_transaction_read_only = on`);
    for (const [timeout, value] of Object.entries(timeouts))
      await control.query(`ALTER DATABASE ${name} SET ${timeout} = ${value}`);
    try {
      const reads = Object.assign(new URL(database.url), { username: reader }).href;
      const settings = { ignore_startup_parameters: IGNORED };
      await using writable = await startPgBouncer(database.url, settings);
      await using readable = await startPgBouncer(reads, settings);
      const sql = new SqlLog();
      const { site, warnings } = await start({ replicas: [readable.url], logging: sql.record }, writable.url);
      await using _site = site;
      expect(warnings()).to.deep.equal([]);
      using _hook = addedHook(Pond, 'afterFind');
      const { result, statements } = await sql.during(() => site.agent.get('/ponds/1'));
      expectJson(result, 200, { id: 1, name: 'first' });
      const expected = onPath({ fast: ['SELECT'], session: ['START', 'SELECT', 'COMMIT;'] });
      expect(statements.map((text) => text.split(' ')[0])).to.deep.equal(expected);
    } finally {
      await control.query(`ALTER DATABASE ${name} RESET ALL`);
      await control.query(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
    }
  });

  describe('that ignores what connections are asked for', () => {
    const site = forSuite(async () => (await start()).site);

    const stored = async () => (await control.query('SELECT name FROM ponds')).rows;

    for (const [attempt, work] of Object.entries(writeAttempts(Pond, { name: 'written' }))) {
      it(`writes nothing in a GET where a hook ${attempt}`, async () => {
        let refused: unknown;
        const fail = async () => {
          refused = await caughtError(work);
          throw refused;
        };
        for (const path of ['/ponds', '/ponds/1']) {
          expect((await withHook(Pond, 'beforeFind', fail, () => site.agent.get(path))).status).to.equal(500);
          expect(refused).to.have.nested.property('parent.code', '25006');
        }
        expect(await stored()).to.deep.equal([{ name: 'first' }]);
      });
    }

    it('writes nothing in a session for reads, and everything in a unit of work', async () => {
      const error = await caughtError(() =>
        dbSession(({ transaction }) =>
          site.engine.sequelize.query(`${INSERT} RETURNING id`, { transaction, type: QueryTypes.SELECT }),
        ),
      );
      expect(error).to.have.nested.property('parent.code', '25006');
      await unitOfWork((uow) => uow.repository(Pond).create({ name: 'second' }));
      expect(await stored()).to.deep.equal([{ name: 'first' }, { name: 'second' }]);
    });
  });

  /** The status and body of a wrong answer; `as expected` for a right one. */
  const told =
    (expected: number, isRight: (body: Response['body']) => boolean) =>
    ({ status, body }: Response) =>
      status === expected && isRight(body) ? 'as expected' : `${status} ${JSON.stringify(body)}`;

  it('keeps no statements once it has shown that it does not know them, and says so', async () => {
    const { site, logger, warnings } = await start({ pool: { max: 6 }, groupCommit: true }, pooler.url, {
      fastPath: true,
    });
    await using _site = site;
    const all = Array.from({ length: 12 }, (_, index) => index);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([
        ...all.map(() => site.agent.get('/ponds/1').then(told(200, ({ id }) => id === 1))),
        ...all.map(() => site.agent.get('/ponds').then(told(200, ({ items }) => items[0].id === 1))),
        ...all.map((index) =>
          site.agent
            .patch('/ponds/1')
            .send({ name: `${index}` })
            .then(told(200, ({ name }) => name === `${index}`)),
        ),
        ...all.map(() =>
          site.agent
            .post('/ponds')
            .send({ name: 'new' })
            .then(told(201, ({ name }) => name === 'new')),
        ),
      ]);
      expect(answers, JSON.stringify(logger.lines)).to.deep.equal(answers.map(() => 'as expected'));
    }
    expect(warnings()).to.have.length(2);
    expect(warnings()[1]).to.include('set preparedStatements: false').and.include('PgBouncer since 1.21');
    const { rows } = await control.query('SELECT name, count(*)::int FROM ponds WHERE id > 1 GROUP BY name');
    expect(rows).to.deep.equal([{ name: 'new', count: 36 }]);
  });
});
