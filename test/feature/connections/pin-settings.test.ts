/** A role or a database with settings of its own: values are answered, written and compared as without them. */
import { expect } from 'chai';
import express from 'express';
import type { Client } from 'pg';
import { Column, DataType, Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { bootstrap, Crud, configureEngine, disposeEngine, engineLifespan } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, inCombination } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { expectJson } from '../../support/expect-answer.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import { connectTo, freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ pagination: 'cursor', sortAllow: ['at', 'score'], filterAllow: ['at', 'score'] })
@Table({ tableName: 'gauges', timestamps: false })
class Gauge extends NumberedRow {
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.DOUBLE) declare score: number | null;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare words: string[] | null;
}

const SENT = {
  at: '2026-03-29T01:30:00.123Z',
  day: '2026-03-02',
  score: 0.30000000000000004,
  bytes: 'AP+AYQ==',
  words: ['a', 'NULL'],
};
const STRANGE: readonly string[] = [
  "DateStyle = 'German, DMY'",
  "IntervalStyle = 'iso_8601'",
  'extra_float_digits = -3',
  "bytea_output = 'escape'",
  'standard_conforming_strings = off',
  'array_nulls = off',
  'quote_all_identifiers = on',
  "TimeZone = 'Asia/Kolkata'",
];
const PING = {
  ignore_startup_parameters: 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout, options',
};

const REFUSED =
  'a pooler cannot keep settings for each of its clients, so that the start refuses those of the role';

/** An option of Sequelize that its types lack. */
const KEPT: object = { keepDefaultTimezone: true };

describe('settings of a role', () => {
  let database: TestDatabase;
  let control: Client;

  const alter = async (settings: readonly string[]) => {
    const name = new URL(database.url).pathname.slice(1);
    for (const each of settings) await control.query(`ALTER DATABASE ${name} SET ${each}`);
  };

  const expectSame = async (agent: ReturnType<typeof supertest>) => {
    expectJson(await agent.post('/gauges').send(SENT), 201, { id: 1, ...SENT });
    for (const sent of [{ ...SENT, score: 1.5 }, SENT])
      expectJson(await agent.patch('/gauges/1').send(sent), 200, { id: 1, ...sent });
    const later = { ...SENT, at: '2026-03-29T01:30:00.124Z' };
    expectJson(await agent.post('/gauges').send(later), 201, { id: 2, ...later });
    const first = await agent.get('/gauges?sort=-at&size=1');
    expect(first.body.items[0].id).to.equal(2);
    const second = await agent.get(`/gauges?sort=-at&size=1&after=${first.body.next_cursor}`);
    expect(second.body.items).to.deep.equal([{ id: 1, ...SENT }]);
    const found = await agent.get(`/gauges?q=at==${SENT.at};score==${SENT.score}`);
    expect(found.body.items).to.deep.equal([{ id: 1, ...SENT }]);
  };

  beforeEach(async () => {
    database = await freshDatabase('strange');
    control = await connectTo(database.url);
    await control.query(
      'CREATE TABLE gauges (id serial PRIMARY KEY, at timestamptz, day date, score float8, bytes bytea, words text[])',
    );
  });

  afterEach(async () => {
    await disposeEngine();
    await control.end();
    await database.drop();
  });

  for (const [where, options] of [
    ['for an engine, on its primary and its connections for reads', {}],
    ["where Sequelize leaves the role's time zone", KEPT],
  ] as const) {
    except({ pgbouncer: REFUSED }).it(`change nothing ${where}`, async () => {
      await alter(STRANGE);
      await using site = await startTestApp({
        models: [Gauge],
        database: { url: database.url },
        engine: { createAll: false, ...options },
        bootstrap: { indexAdvice: false, strictTypes: true },
      });
      await expectSame(site.agent);
    });
  }

  for (const isConfigured of [true, false]) {
    const how = isConfigured ? 'that the engine is configured with' : 'that only has the models';
    it(`change nothing for an instance of the user's ${how}, whose connections were open before`, async () => {
      await alter(STRANGE);
      const sequelize = new Sequelize(database.url, { models: [Gauge], logging: false, pool: { max: 2 } });
      await Gauge.findAll();
      if (isConfigured) configureEngine({ sequelize });
      const app = express();
      await bootstrap(app, inCombination({ models: [Gauge], health: false, indexAdvice: false }));
      try {
        await expectSame(supertest(app));
      } finally {
        await sequelize.close();
      }
    });
  }

  describe('behind a pooler', function () {
    // PgBouncer may have to be installed.
    this.timeout(120_000);

    it('change nothing where the pooler keeps what is set for each client', async () => {
      await alter([
        "DateStyle = 'German, DMY'",
        'standard_conforming_strings = off',
        "TimeZone = 'Asia/Kolkata'",
      ]);
      await using pooler = await startPgBouncer(database.url, PING);
      await using site = await startTestApp({
        models: [Gauge],
        database: { url: pooler.url },
        engine: { createAll: false },
        bootstrap: { logger: new CapturedLog() },
      });
      await expectSame(site.agent);
    });

    it('are refused at the start where the pooler cannot keep another value', async () => {
      await alter(['extra_float_digits = 0', "bytea_output = 'escape'", "IntervalStyle = 'iso_8601'"]);
      await using pooler = await startPgBouncer(database.url, PING);
      for (const options of [{}, { replicas: [pooler.url] }]) {
        const dsn = 'replicas' in options ? database.url : pooler.url;
        expect(await configError(engineLifespan(dsn, { models: [], ...options })))
          .to.match(/Connections lead to a pooler, and PostgreSQL gives them .*extra_float_digits = 0/)
          .and.match(/Write: .*ALTER ROLE postgres SET extra_float_digits = 1;/)
          .and.include('SET bytea_output = hex;')
          .and.include('SET IntervalStyle = postgres;');
      }
    });
  });
});
