/** Tables and columns that the database lacks: the start names them, and so does the log of each failure that they cause. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, engineLifespan } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

const TOWERS = { tableName: 'Tall towers', schema: 'city one', timestamps: false };

@Crud({ sortAllow: ['heightInM'] as never })
@Table(TOWERS)
class Tower extends KeyedRow {
  @Column({ type: DataType.INTEGER, field: 'height in m' }) declare heightInM: number | null;
  @Column(DataType.INTEGER) declare floors: number | null;

  @Column({
    type: DataType.VIRTUAL,
    get() {
      return 'a tower';
    },
  })
  declare label: string;
}

@Crud({ endpoints: ['list', 'read', 'update', 'delete'] })
@Table(TOWERS)
class Mast extends KeyedRow {}

@Crud({ endpoints: ['read', 'replace'] })
@Table(TOWERS)
class Spire extends KeyedRow {}

@Crud({ endpoints: ['read', 'createMany'] })
@Table(TOWERS)
class Aerial extends KeyedRow {}

const TABLE = '"city one"."Tall towers"';
const KEY = 'id integer PRIMARY KEY, "height in m" integer, floors integer';
const INDEX = `CREATE INDEX ON ${TABLE} ("height in m", id)`;

except(OF_MANY).describe('a table', () => {
  const site = serveTestApp(() => ({
    minPool: 2,
    models: [Tower, Mast, Spire, Aerial],
    engine: { createAll: false },
    bootstrap: { logger: new CapturedLog() },
  }));

  beforeEach(() => execute('DROP SCHEMA IF EXISTS "city one" CASCADE; CREATE SCHEMA "city one"'));

  const execute = (sql: string) => site.engine.sequelize.query(sql);

  /** Lines of the log at the start, debug lines included. */
  async function linesFor(...statements: readonly string[]): Promise<string[]> {
    for (const statement of statements) await execute(statement);
    const logger = new CapturedLog();
    await buildApp({ models: [Tower], logger });
    return logger.lines.map(({ level, message }) => `${level} ${message}`);
  }

  it('that is missing is told with both names, and without advice for its indexes', async () => {
    expect(await linesFor()).to.deep.equal([
      `error Tower: there is no table ${TABLE}; create it by a migration, or by createAll: true of engineLifespan.`,
    ]);
  });

  it('without some columns is told with the names of both', async () => {
    expect(await linesFor(`CREATE TABLE ${TABLE} (id integer PRIMARY KEY, floors_ integer)`)).to.deep.equal([
      `error Tower.heightInM: the table ${TABLE} has no column "height in m"; add it by a migration, as createAll changes no table that exists.`,
      `error Tower.floors: the table ${TABLE} has no column "floors"; add it by a migration, as createAll changes no table that exists.`,
      'warn 1 index is missing, and requests without it read a whole table; create it, or set indexAdvice: false in bootstrap ' +
        `where the tables are small:\n  Tower: no index serves the order 'heightInM' (sortAllow); CREATE INDEX ON ${TABLE} ("height in m", "id");`,
    ]);
  });

  it('without a column that was dropped is told', async () => {
    const lines = await linesFor(
      `CREATE TABLE ${TABLE} (${KEY})`,
      INDEX,
      `ALTER TABLE ${TABLE} DROP COLUMN floors`,
    );
    expect(lines).to.have.lengthOf(1);
  });

  it('with all of them is told nothing about', async () => {
    expect(await linesFor(`CREATE TABLE ${TABLE} (${KEY})`, INDEX)).to.deep.equal([]);
  });

  it('may be a view or partitioned', async () => {
    const view = `CREATE VIEW ${TABLE} AS SELECT 1 AS id, 2 AS "height in m", 3 AS floors`;
    // No index can be made on it, and no statement writes it.
    expect(await linesFor(view)).to.deep.equal([
      `warn Tower: the view ${TABLE} takes no create, update, delete, so that PostgreSQL would refuse each, and it is answered 405; ` +
        'write readOnly: true in its @Crud, or write elsewhere by INSTEAD OF triggers or routes of your own.',
    ]);
    const partitioned = `CREATE TABLE ${TABLE} (${KEY}) PARTITION BY RANGE (id)`;
    expect(await linesFor(`DROP VIEW ${TABLE}`, partitioned, INDEX)).to.deep.equal([]);
  });

  describe('that has columns which the model lacks', () => {
    const started = (...parts: readonly string[]) => linesFor(...parts, INDEX);
    const told = (column: string) =>
      `warn Tower: the table ${TABLE} has a column "${column}" that is NOT NULL without a default, and the model lacks it, ` +
      'so no record can be created; declare it, or give it a default by a migration.';

    it('is told with each that every new row needs, in their order', async () => {
      const more = '"own er" text NOT NULL, since date NOT NULL, gone text NOT NULL';
      expect(
        await started(`CREATE TABLE ${TABLE} (${KEY}, ${more})`, `ALTER TABLE ${TABLE} DROP COLUMN gone`),
      ).to.deep.equal([told('own er'), told('since')]);
      const { agent } = await buildApp({ models: [Tower], logger: new CapturedLog() });
      const refused = await agent.post('/towers').send({ id: 1 });
      expectProblem(refused, 422, { detail: 'The database does not accept these values.' });
    });

    it('is told nothing about where the database gives them a value', async () => {
      const filled = [
        'a text',
        'b text NOT NULL DEFAULT 1',
        'c int NOT NULL GENERATED ALWAYS AS IDENTITY',
        'd int NOT NULL GENERATED ALWAYS AS (floors + 1) STORED',
        'e "city one".full NOT NULL',
      ];
      expect(
        await started(
          'CREATE DOMAIN "city one".full AS text DEFAULT 1',
          `CREATE TABLE ${TABLE} (${[KEY, ...filled].join()})`,
        ),
      ).to.deep.equal([]);
      const { agent } = await buildApp({ models: [Tower], logger: new CapturedLog() });
      expect((await agent.post('/towers').send({ id: 1, floors: 2 })).status).to.equal(201);
    });

    it('is told nothing about where a trigger or a rule may, and no other trigger counts', async () => {
      const table = `CREATE TABLE ${TABLE} (${KEY}, since date NOT NULL)`;
      const run = `CREATE FUNCTION "city one".fill() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.since := now(); RETURN NEW; END'`;
      const trigger = (when: string) =>
        `CREATE TRIGGER fill ${when} ON ${TABLE} FOR EACH ROW EXECUTE FUNCTION "city one".fill()`;
      expect(await started(table, run, trigger('BEFORE UPDATE'))).to.deep.equal([told('since')]);
      await execute(`DROP TRIGGER fill ON ${TABLE}`);
      expect(await linesFor(trigger('BEFORE INSERT OR UPDATE'))).to.deep.equal([]);
      const rule = `CREATE RULE keep AS ON INSERT TO ${TABLE} DO INSTEAD NOTHING`;
      expect(await linesFor(`DROP TRIGGER fill ON ${TABLE}`, rule)).to.deep.equal([]);
    });

    it('is told where requests create rows, in any way, and not elsewhere', async () => {
      await execute(`CREATE TABLE ${TABLE} (${KEY}, since date NOT NULL)`);
      const logger = new CapturedLog();
      await buildApp({ models: [Mast, Spire, Aerial], logger });
      expect(logger.lines.map(({ message }) => message.slice(0, message.indexOf(':')))).to.deep.equal([
        'Spire',
        'Aerial',
      ]);
    });
  });

  for (const fastPath of [true, false]) {
    it(`[F15] that is missing is named in the log of a request, fastPath ${fastPath}`, async () => {
      const logger = new CapturedLog();
      const { agent } = await buildApp({ models: [Tower], fastPath, logger });
      logger.clear();
      expectProblem(await agent.get('/towers/1'), 500, { detail: 'Internal Server Error' });
      expect(logger.lines.map(({ details }) => details['reason'])).to.deep.equal([
        'relation "city one.Tall towers" does not exist',
      ]);
      await execute(`CREATE TABLE ${TABLE} (id integer PRIMARY KEY, floors integer)`);
      logger.clear();
      expectProblem(await agent.post('/towers').send({ id: 1 }), 500, { detail: 'Internal Server Error' });
      expect(logger.text).to.include('column \\"height in m\\"');
    });
  }

  describe('on a server that nobody may ask about it', () => {
    const database = forSuite(() => freshDatabase('closed'));

    it('keeps no application from starting', async () => {
      await execute(`CREATE TABLE ${TABLE} (${KEY})`);
      const role = `closed_${process.pid}`;
      await execute(`CREATE ROLE ${role} LOGIN PASSWORD 'closed'`);
      try {
        await site.engine[Symbol.asyncDispose]();
        const url = new URL(site.engine.sequelize.getDatabaseName(), database.url);
        Object.assign(url, { username: role, password: 'closed' });
        await using _engine = await engineLifespan(url.href, { models: [Tower] })();
        const logger = new CapturedLog();
        await buildApp({ models: [Tower], logger });
        expect(logger.lines.map(({ level, message }) => `${level} ${message.split(';')[0]}`)).to.deep.equal([
          `error Tower: there is no table ${TABLE}`,
        ]);
      } finally {
        await using admin = await engineLifespan(database.url, { models: [] })();
        await admin.sequelize.query(`DROP ROLE ${role}`);
      }
    });
  });
});
