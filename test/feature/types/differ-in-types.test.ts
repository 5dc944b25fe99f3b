/** Columns of other types than the attributes of their model: the start names them, and both paths answer in the same way. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { ConfigError, Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';

/** Each attribute is another one than its column. */
@Crud({ filterAllow: ['flag', 'word', 'big', 'token', 'mood'] })
@Table({ tableName: 'odds', timestamps: false })
class Odd extends KeyedRow {
  @Column(DataType.BOOLEAN) declare flag: boolean | null;
  @Column(DataType.TEXT) declare word: string | null;
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.INTEGER) declare big: number | null;
  @Column(DataType.UUID) declare token: string | null;
  @Column(DataType.ENUM('x', 'y')) declare mood: string | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare list: string[] | null;
}

/** Each column is narrower, wider or older than its attribute, and holds just such values. */
@Crud()
@Table({ tableName: 'evens', timestamps: false })
class Even extends Model {
  @PrimaryKey @Column(DataType.BIGINT) declare id: string;
  @Column(DataType.STRING(255)) declare name: string | null;
  @Column(DataType.TEXT) declare code: string | null;
  @Column(DataType.DECIMAL) declare price: string | null;
  @Column(DataType.DOUBLE) declare size: number | null;
  @Column(DataType.JSON) declare data: unknown;
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.ENUM('x', 'y')) declare mood: string | null;
  @Column(DataType.ENUM('b', 'a')) declare kind: string | null;
  @Column(DataType.TEXT) declare host: string | null;
  @Column(DataType.ARRAY(DataType.STRING)) declare list: string[] | null;
  @Column(DataType.ARRAY(DataType.ARRAY(DataType.INTEGER))) declare board: number[][] | null;
}

/** A model whose rows are included, and listed under it. */
@Crud({ include: { oddities: UNGUARDED } })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends KeyedRow {
  @HasMany(() => Oddity) declare oddities?: Oddity[];
}

@Crud()
@Table({ tableName: 'oddities', timestamps: false })
class Oddity extends KeyedRow {
  @ForeignKey(() => Box) @Column(DataType.INTEGER) declare boxId: number | null;
  @Column(DataType.BOOLEAN) declare flag: boolean | null;
  @Column(DataType.INTEGER) declare count: number | null;
  @Column(DataType.DATE) declare at: Date | null;
}

/** Each column has fewer digits than its attribute, as `DATE(0)` says itself. */
@Crud({
  endpoints: ['create', 'update', 'replace', ...(SERVES_MANY ? (['createMany', 'updateMany'] as const) : [])],
})
@Table({ tableName: 'rounds', timestamps: false })
class Round extends KeyedRow {
  @Column(DataType.DECIMAL) declare price: string | null;
  @Column(DataType.DECIMAL(20, 4)) declare rate: string | null;
  @Column(DataType.DECIMAL) declare fee: string | null;
  @Column(DataType.ARRAY(DataType.DECIMAL)) declare list: string[] | null;
  @Column(DataType.TIME) declare opens: string | null;
  @Column(DataType.TIME) declare closes: string | null;
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.DATE) declare since: Date | null;
  @Column(DataType.DATE(0)) declare whole: Date | null;
  @Column(DataType.DATE) declare exact: Date | null;
}

const ROUNDED = `
  CREATE DOMAIN money2 AS numeric(10, 2); CREATE DOMAIN fee AS money2;
  CREATE TABLE rounds (id int PRIMARY KEY, price numeric(10, 2), rate numeric(12, 3), fee fee, list numeric(10, 2)[], opens time(0), closes time(1),
    at timestamptz(0), since timestamp(2), whole timestamptz(0), exact timestamp(3))`;

const TABLES = `
  CREATE TYPE mood AS ENUM ('x', 'z');
  CREATE TYPE kind AS ENUM ('a', 'b');
  CREATE DOMAIN code AS varchar(5);
  CREATE TABLE odds (id int PRIMARY KEY, flag smallint, word int, at text, big bigint, token text, mood mood, list int[]);
  CREATE TABLE evens (id int PRIMARY KEY, name varchar(100), code code, price numeric(9, 2), size real, data jsonb, at timestamp, mood text,
    kind kind, host inet, list text[], board int[][])`;

const STORED =
  'bodies and filters are checked as what the model says, and PostgreSQL stores and compares the other, so that requests may fail, and ' +
  'answers have values of another type';
const TOLD = [
  `Odd.flag is a BOOLEAN, and the column is smallint: ${STORED}; declare it as DataType.SMALLINT.`,
  `Odd.word is a text, and the column is integer: ${STORED}; declare it as DataType.INTEGER.`,
  `Odd.at is a DATE, and the column is text: ${STORED}; declare it as DataType.TEXT.`,
  'Odd.big is an INTEGER, and the column is bigint: larger numbers are refused in bodies, and those beyond 2^53 are rounded by clients; ' +
    'declare it as DataType.BIGINT.',
  `Odd.token is a UUID, and the column is text: ${STORED}; declare it as DataType.TEXT.`,
  "Odd.mood is an ENUM, and the column is mood with other labels: PostgreSQL refuses 'y', which it lacks; rows may have 'z', which bodies and " +
    'filters refuse, as the model lacks it.',
  `Odd.list is an ARRAY, and the column is integer[]: ${STORED}; declare it as DataType.ARRAY(DataType.INTEGER).`,
];

describe('a column of another type', () => {
  const site = serveTestApp(() => ({
    models: [Odd, Even],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  before(() => execute(TABLES));

  const execute = (sql: string) => site.engine.sequelize.query(sql);

  async function start(options: object): Promise<readonly string[]> {
    const logger = new CapturedLog();
    try {
      await buildApp({ models: [Odd, Even], logger, indexAdvice: false, ...options });
      return logger.lines.map(({ level, message }) => `${level} ${message}`);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  }

  it('[P5] is told once at the start, with what follows, and one that holds the same values is not', async () =>
    expect(await start({})).to.deep.equal(TOLD.map((line) => `warn ${line}`)));

  it('is refused with strictTypes', async () => {
    expect(await start({ strictTypes: true })).to.deep.equal(TOLD);
    expect(await start({ strictTypes: true, models: [Even] })).to.deep.equal([]);
    expect(await start({ strictTypes: 'yes' })).to.have.lengthOf(1);
  });

  it('[P5] is answered in one way on both paths', async () => {
    const [fast, general] = await buildBoth({ models: [Odd] });
    const uuid = '7b0a3e0c-0000-4000-8000-0000000000aa';
    const values: Readonly<Record<string, unknown>> = {
      flag: true,
      word: 'abc',
      at: '2020-01-02T03:04:05.000Z',
      big: 7,
      token: uuid,
      mood: 'y',
      list: ['a'],
    };
    const answers = async ({ agent }: BuiltApp) => {
      await execute(
        `TRUNCATE odds; INSERT INTO odds VALUES (1, 1, 7, '2020-01-02', 9007199254740993, '${uuid}', 'z', '{1}')`,
      );
      const sent = [await agent.get('/odds/1'), await agent.get('/odds')];
      for (const [name, value] of Object.entries(values)) {
        sent.push(await agent.post('/odds').send({ id: 2, [name]: value }));
        sent.push(await agent.patch('/odds/1').send({ [name]: value }));
        sent.push(await agent.patch('/odds/9').send({ [name]: value }));
        if (name !== 'at' && name !== 'list') sent.push(await agent.get(`/odds?q=${name}==${value}`));
      }
      sent.push(await agent.delete('/odds/1'), await agent.delete('/odds/1'));
      return sent.map(({ status, text }) => `${status} ${text}`);
    };
    expect(await answers(fast)).to.deep.equal(await answers(general));
  });
});

describe('a column with fewer digits than its attribute', () => {
  const { apps, query } = serveTables(ROUNDED, [Round]);
  const fitting = {
    price: '1.2300',
    rate: '123456789.125',
    fee: '0.5',
    opens: '08:00:00.0',
    closes: '08:00:00.70',
  };
  const stored = {
    price: '1.23',
    rate: '123456789.125',
    fee: '0.50',
    opens: '08:00:00',
    closes: '08:00:00.7',
  };
  const digits = (whole: number, fraction: number) =>
    `must be a string holding a decimal number with at most ${whole} digits before the point and ${fraction} after it, such as "12.5" ` +
    '(JSON numbers would be rounded)';
  const REFUSED = [
    ['price', '1.239', digits(8, 2)],
    ['price', '123456789', digits(8, 2)],
    ['price', 'Infinity', digits(8, 2)],
    ['rate', '1.2345', digits(9, 3)],
    ['rate', '1234567890', digits(9, 3)],
    ['fee', '1.239', digits(8, 2)],
    ['list', ['1', '1.239'], `must hold only values of which each ${digits(8, 2)}`],
    [
      'opens',
      '08:00:00.7',
      'must be a time of day with at most 0 digits behind the point, such as "08:00:00"',
    ],
    [
      'closes',
      '08:00:00.75',
      'must be a time of day with at most 1 digit behind the point, such as "08:00:00"',
    ],
  ] as const;

  it('stores the values that it holds', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE rounds');
      expect((await agent.post('/rounds').send({ id: 1, ...fitting })).status).to.equal(201);
      expect((await agent.put('/rounds/1').send({ ...fitting, list: ['1.20'] })).body).to.include(stored);
    }
  });

  for (const [name, value, text] of REFUSED)
    it(`refuses to round ${name} ${value} in a body`, async () => {
      for (const { agent } of apps) {
        await query('TRUNCATE rounds; INSERT INTO rounds VALUES (1)');
        const body = { [name]: value };
        for (const { status, body: problem } of [
          await agent.post('/rounds').send({ id: 2, ...body }),
          await agent.patch('/rounds/1').send(body),
          await agent.put('/rounds/1').send(body),
          ...(SERVES_MANY
            ? [
                await agent.post('/rounds').send([{ id: 2, ...body }]),
                await agent.patch('/rounds').send([{ id: 1, ...body }]),
              ]
            : []),
        ])
          expect([status, problem.errors[0].detail]).to.deep.equal([422, `${name} ${text}.`]);
      }
    });

  it('is told at the start where it has seconds without milliseconds, which each client sends', async () => {
    const logger = new CapturedLog();
    await buildApp({ models: [Round], logger, indexAdvice: false });
    const rounds = (name: string, type: string, declared: string) =>
      `Round.${name} is a DATE, and the column is ${type}: PostgreSQL rounds the milliseconds of bodies; declare it as DataType.${declared}.`;
    expect(logger.lines.map(({ message }) => message)).to.deep.equal([
      rounds('at', 'timestamp(0) with time zone', 'DATE(0)'),
      rounds('since', 'timestamp(2) without time zone', 'DATE(2)'),
    ]);
  });
});

describe('a column of another type behind a relation', () => {
  const site = serveTestApp(() => ({
    models: [Box, Oddity],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  it('[P5] is included in one way on both paths', async () => {
    await site.engine.sequelize.query(`
      CREATE TABLE boxes (id int PRIMARY KEY);
      CREATE TABLE oddities (id int PRIMARY KEY, "boxId" int, flag smallint, count text, at text);
      INSERT INTO boxes VALUES (1);
      INSERT INTO oddities VALUES (1, 1, 1, '7 or 8', '2020-01-02')`);
    const [fast, general] = await buildBoth({ models: [Box, Oddity] });
    const expected = await general.agent.get('/boxes?include=oddities').expect(200, /7 or 8/);
    await fast.agent.get('/boxes?include=oddities').expect(200, expected.text);
  });
});
