/** The catalogue completes the plan of a resource before its first request, and refuses a key that addresses several rows. */
// @runs fast
import { expect } from 'chai';
import express from 'express';
import { Column, DataType, Model, PrimaryKey, Sequelize, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { bootstrap, type Class, ConfigError, Crud, crudController, crudRouter } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { proxiedDatabase } from '../../support/proxied-database.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete'] })
@Table({ tableName: 'Order lines', timestamps: false })
class Line extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'order id' }) declare orderId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
}

/** A model of a second database. */
@Crud({ prefix: '/lines' })
@Table({ tableName: 'Order lines', timestamps: false })
class FarLine extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'order id' }) declare orderId: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
}

/** A key of two columns. */
@Crud({ prefix: '/lines' })
@Table({ tableName: 'Order lines', timestamps: false })
class PairedLine extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'order id' }) declare orderId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare no: number;
}

const TABLE = '"Order lines"';
const COLUMNS = '"order id" int NOT NULL, no int NOT NULL';
const PLAIN = `CREATE TABLE ${TABLE} (${COLUMNS})`;
const DROP = `DO $do$ BEGIN
  IF EXISTS (SELECT FROM pg_class WHERE relname = 'Order lines' AND relkind = 'v') THEN DROP VIEW ${TABLE}; END IF;
  DROP TABLE IF EXISTS ${TABLE};
END $do$`;
const NOT_UNIQUE =
  `Line.orderId: no unique index or constraint of the table ${TABLE} is over "order id" alone, so that a request for one record ` +
  `would read, change or delete several; CREATE UNIQUE INDEX ON ${TABLE} ("order id"); where its values are unique, `;
const UNAVAILABLE = { detail: 'The database is not available; try again.' };

except(OF_MANY).describe('the catalogue', () => {
  const site = serveTestApp(() => ({
    minPool: 2,
    models: [Line, PairedLine],
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  const execute = (sql: string) => site.engine.sequelize.query(sql);

  const dropTable = () => execute(DROP);

  async function problemsWith(...statements: readonly string[]): Promise<readonly string[]> {
    await dropTable();
    for (const statement of statements) await execute(statement);
    return problems();
  }

  async function problems(...controllers: readonly Class[]): Promise<readonly string[]> {
    try {
      await buildApp({
        models: [Line],
        controllers: [...controllers],
        logger: new CapturedLog(),
        indexAdvice: false,
      });
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  }

  describe('refuses a key', () => {
    const choices =
      'or give @PrimaryKey to an attribute whose values are unique, such as a new identity column.';
    const refused: Readonly<Record<string, readonly string[]>> = {
      'that nothing makes unique': [PLAIN],
      'with a unique index over some rows': [
        PLAIN,
        `CREATE UNIQUE INDEX ON ${TABLE} ("order id") WHERE no = 1`,
      ],
      'with a unique index over an expression': [PLAIN, `CREATE UNIQUE INDEX ON ${TABLE} (abs("order id"))`],
      'with a unique index over it and an expression': [
        PLAIN,
        `CREATE UNIQUE INDEX ON ${TABLE} ("order id", abs(no))`,
      ],
      'with an index that is not unique': [PLAIN, `CREATE INDEX ON ${TABLE} ("order id")`],
    };
    for (const [name, statements] of Object.entries(refused)) {
      it(name, async () => {
        expect(await problemsWith(...statements)).to.deep.equal([NOT_UNIQUE + choices]);
      });
    }

    for (const partitioned of ['', ' PARTITION BY RANGE (no)']) {
      it(`that is one column of a primary key${partitioned}, and names all of them`, async () => {
        const table = `CREATE TABLE ${TABLE} (${COLUMNS}, PRIMARY KEY ("order id", no))${partitioned}`;
        expect(await problemsWith(table)).to.deep.equal([
          `${NOT_UNIQUE}or give @PrimaryKey to 'orderId' and 'no', which are unique together.`,
        ]);
      });
    }

    it('[P1] and names an attribute that can be it', async () => {
      const table = `CREATE TABLE ${TABLE} (${COLUMNS}, UNIQUE (no))`;
      expect(await problemsWith(table)).to.deep.equal([
        `${NOT_UNIQUE}give @PrimaryKey to 'no' instead, which is unique.`,
      ]);
    });

    it('that is no column of the table', async () => {
      expect(await problemsWith(`CREATE TABLE ${TABLE} (no int PRIMARY KEY)`)).to.deep.equal([
        `Line.orderId: the table ${TABLE} has no column "order id", which is the key of the model; add it by a migration, or declare ` +
          'another attribute with @PrimaryKey.',
      ]);
    });

    describe('that may be NULL', () => {
      const empty =
        `Line.orderId: the column "order id" of the table ${TABLE}, which is the key of the model, may be NULL, so that no list by cursor and no ` +
        `export would have such records; ALTER TABLE ${TABLE} ALTER COLUMN "order id" SET NOT NULL; or give @PrimaryKey to an attribute that ` +
        'is unique and never NULL.';
      const tables: Readonly<Record<string, string>> = {
        'a table': '"order id" int UNIQUE, no int NOT NULL)',
        'a partitioned table': '"order id" int UNIQUE, no int NOT NULL) PARTITION BY RANGE ("order id")',
        'a table that makes it':
          '"order id" int UNIQUE GENERATED ALWAYS AS (no * 2) STORED, no int NOT NULL)',
      };
      for (const [name, columns] of Object.entries(tables))
        it(`of ${name}`, async () =>
          expect(await problemsWith(`CREATE TABLE ${TABLE} (${columns}`)).to.deep.equal([empty]));

      it('and is not unique either', async () =>
        expect(await problemsWith(`CREATE TABLE ${TABLE} ("order id" int, no int NOT NULL)`)).to.deep.equal([
          NOT_UNIQUE + choices,
          empty,
        ]));

      it('as a part of several columns', async () => {
        await problemsWith(
          `CREATE TABLE ${TABLE} ("order id" int NOT NULL, no int, UNIQUE ("order id", no))`,
        );
        expect(
          await configProblems(() => buildApp({ models: [PairedLine], logger: new CapturedLog() })),
        ).to.deep.equal([
          `PairedLine.orderId,no: the column "no" of the table ${TABLE}, which is a part of the key of the model, may be NULL, so that no list by ` +
            `cursor and no export would have such records; ALTER TABLE ${TABLE} ALTER COLUMN "no" SET NOT NULL; or give @PrimaryKey to an ` +
            'attribute that is unique and never NULL.',
        ]);
      });
    });

    it('whose index is not valid', async () => {
      await problemsWith(PLAIN, `INSERT INTO ${TABLE} VALUES (1, 1), (1, 2)`);
      await execute(`CREATE UNIQUE INDEX CONCURRENTLY broken ON ${TABLE} ("order id")`).catch(() => {});
      expect(await problems()).to.deep.equal([NOT_UNIQUE + choices]);
    });
  });

  describe('asks of the attribute that id names', () => {
    const unique =
      `Line: id names 'no', and no unique index of the table ${TABLE} is over "no" alone, so that a request for one record would read, ` +
      `change or delete several; CREATE UNIQUE INDEX ON ${TABLE} ("no"); where its values are unique, and write unique: true in its @Column. Indexes over some rows, over an ` +
      'expression or over more columns do not promise it, nor DEFERRABLE ones and those of another collation.';
    const filled =
      `Line: id names 'no', and its column "no" of the table ${TABLE} may be NULL, so that some records would have no address; ALTER TABLE ` +
      `${TABLE} ALTER COLUMN "no" SET NOT NULL; and give the attribute @AllowNull(false).`;
    const missing = `Line: id names 'no', and the table ${TABLE} has no column "no"; add it by a migration, or name another attribute.`;
    const index = (rest: string) => `CREATE UNIQUE INDEX ON ${TABLE} ${rest}`;
    const cases: readonly (readonly [table: string, index: string, problems: readonly string[]])[] = [
      ['no int NOT NULL', index('(no)'), []],
      ['no int NOT NULL UNIQUE', 'SELECT 1', []],
      ['no text NOT NULL', index('(no)'), []],
      ['no int NOT NULL', 'SELECT 1', [unique]],
      ['no int NOT NULL', index('(no) WHERE no > 1'), [unique]],
      ['no int NOT NULL', index('(abs(no))'), [unique]],
      ['no int NOT NULL', index('("order id", no)'), [unique]],
      ['no int NOT NULL UNIQUE DEFERRABLE', 'SELECT 1', [unique]],
      ['no text NOT NULL', index('(no COLLATE "POSIX")'), [unique]],
      ['no int UNIQUE', 'SELECT 1', [filled]],
      ['no int', 'SELECT 1', [unique, filled]],
      ['other int', 'SELECT 1', [missing]],
    ];
    for (const [column, statement, expected] of cases) {
      it(`${column}, ${statement}`, async () => {
        await dropTable();
        await execute(`CREATE TABLE ${TABLE} ("order id" int PRIMARY KEY, ${column})`);
        await execute(statement);
        class ByNumber extends crudController(Line, { id: 'no' }) {}
        expect(await problems(ByNumber)).to.deep.equal(expected);
      });
    }

    it('nothing where it is the key of a view', async () => {
      await dropTable();
      await execute(`CREATE VIEW ${TABLE} AS SELECT 1 AS "order id", 1 AS no`);
      class ByNumber extends crudController(Line, { id: 'no' }) {}
      expect(await problems(ByNumber)).to.deep.equal([]);
    });
  });

  const taken: Readonly<Record<string, readonly string[]>> = {
    'a primary key': [`CREATE TABLE ${TABLE} (${COLUMNS}, PRIMARY KEY ("order id"))`],
    'a unique constraint beside the primary key': [
      `CREATE TABLE ${TABLE} (${COLUMNS} PRIMARY KEY, UNIQUE ("order id"))`,
    ],
    'a deferrable constraint': [
      `CREATE TABLE ${TABLE} (${COLUMNS}, UNIQUE ("order id") DEFERRABLE INITIALLY DEFERRED)`,
    ],
    'a unique index with more columns along': [
      PLAIN,
      `CREATE UNIQUE INDEX ON ${TABLE} ("order id") INCLUDE (no)`,
    ],
    'the key of a partitioned table': [
      `CREATE TABLE ${TABLE} (${COLUMNS}, PRIMARY KEY ("order id")) PARTITION BY RANGE ("order id")`,
    ],
    'a unique column of a domain that is never NULL': [
      `CREATE DOMAIN filled AS int NOT NULL; CREATE DOMAIN positive AS filled CHECK (VALUE > 0)`,
      `CREATE TABLE ${TABLE} ("order id" positive UNIQUE, no int NOT NULL)`,
    ],
    'the word of a view': [`CREATE VIEW ${TABLE} AS SELECT 1 AS "order id", 1 AS no`],
  };
  for (const [name, statements] of Object.entries(taken)) {
    it(`takes ${name} for unique`, async () => {
      expect(await problemsWith(...statements)).to.deep.equal([]);
    });
  }

  describe('of a database that cannot be reached at the start', () => {
    /** An application on a port that is closed until the function is called. */
    async function outage(key: string, mount: (logger: CapturedLog) => Promise<express.Express>) {
      const database = await proxiedDatabase('outage');
      await database.control.query(
        `CREATE TABLE ${TABLE} (${COLUMNS}, PRIMARY KEY (${key})); INSERT INTO ${TABLE} VALUES (7, 1)`,
      );
      const sequelize = new Sequelize(database.url, { models: [FarLine], logging: false });
      await database.proxy.down();
      const logger = new CapturedLog();
      const app = await mount(logger);
      return {
        agent: supertest(app),
        logger,
        comeBack: () => database.proxy.up(),
        async [Symbol.asyncDispose]() {
          await sequelize.close();
          await database[Symbol.asyncDispose]();
        },
      };
    }

    const mounts = {
      bootstrap: async (logger: CapturedLog) => {
        const app = express();
        await bootstrap(app, { models: [FarLine], logger, indexAdvice: false });
        return app;
      },
      crudRouter: async (logger: CapturedLog) => express().use('/lines', crudRouter(FarLine, { logger })),
    };
    for (const [name, mount] of Object.entries(mounts)) {
      it(`[P1] is read by a request that comes later, with ${name}`, async () => {
        await using site = await outage('"order id"', mount);
        expectProblem(await site.agent.get('/lines/7'), 503, UNAVAILABLE);
        await site.comeBack();
        const found = await site.agent.get('/lines/7');
        expect([found.status, found.body]).to.deep.equal([200, { orderId: 7, no: 1 }]);
      });

      it(`keeps a resource away whose key is not unique, with ${name}`, async () => {
        await using site = await outage('"order id", no', mount);
        await site.comeBack();
        const requests = [
          () => site.agent.get('/lines/7'),
          () => site.agent.get('/lines'),
          () => site.agent.patch('/lines/7').send({ no: 2 }),
          () => site.agent.delete('/lines/7'),
        ];
        for (const request of requests) expectProblem(await request(), 503, UNAVAILABLE);
        const told = site.logger.lines.filter(({ message }) => message.startsWith(`Far${NOT_UNIQUE}`));
        expect(told.map(({ level }) => level)).to.deep.equal(['error']);
      });
    }
  });

  it('has a table that is made later, as its next request finds it', async () => {
    await dropTable();
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [Line], logger });
    expect((await agent.get('/lines/7')).status).to.equal(500);
    await execute(`CREATE TABLE ${TABLE} (${COLUMNS}); INSERT INTO ${TABLE} VALUES (7, 1), (7, 2)`);
    expectProblem(await agent.delete('/lines/7'), 503, UNAVAILABLE);
    expect(logger.text).to.include('no unique index or constraint');
    expect((await execute(`SELECT count(*)::int AS n FROM ${TABLE}`))[0]).to.deep.equal([{ n: 2 }]);
  });
});
