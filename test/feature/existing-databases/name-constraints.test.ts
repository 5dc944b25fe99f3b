/** Names that only the database has: refusals by its constraints and indexes name the attributes, and names of more than 63 bytes are found. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, HasMany, Model, Table, Unique } from 'sequelize-typescript';
import { nameProblems } from '../../../src/describe/describe-model.js';
import { type ConfigError, Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY, UNGUARDED } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { attach } from '../../support/offline-models.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['create', 'update', 'replace', 'createMany', 'delete'],
  fields: { salary: { read: () => false } },
})
@Table({ tableName: 'staff', timestamps: false })
class Employee extends KeyedRow {
  @Column({ type: DataType.TEXT, field: 'e-mail' }) declare mail: string | null;
  @Column(DataType.TEXT) declare first: string | null;
  @Column(DataType.TEXT) declare last: string | null;
  @Column(DataType.TEXT) declare nick: string | null;
  @Column(DataType.INTEGER) declare room: number | null;
  @Column(DataType.INTEGER) declare desk: number | null;
  @Column(DataType.INTEGER) declare boss: number | null;
  @Column(DataType.INTEGER) declare salary: number | null;
  @Exclude() @Column({ type: DataType.TEXT, defaultValue: 'same' }) declare badge: string | null;
}

@Crud({ endpoints: ['create'] })
@Table({ tableName: 'visits', timestamps: false })
class Visit extends KeyedRow {
  @Column(DataType.INTEGER) declare year: number;
  @Column(DataType.TEXT) declare code: string;
  @Column(DataType.INTEGER) declare staff: number | null;
}

/** The columns of the second partition have another order; each has an index of its own. */
const PARTITIONS = `
  CREATE TABLE visits (id int PRIMARY KEY, year int, code text, staff int REFERENCES staff, CONSTRAINT real_year CHECK (year > 1900))
    PARTITION BY RANGE (id);
  CREATE TABLE visits_old PARTITION OF visits FOR VALUES FROM (MINVALUE) TO (100);
  CREATE UNIQUE INDEX "old codes" ON visits_old (code, year);
  CREATE TABLE visits_new (code text, staff int, year int, id int NOT NULL, CONSTRAINT real_year CHECK (year > 1900));
  ALTER TABLE visits ATTACH PARTITION visits_new FOR VALUES FROM (100) TO (MAXVALUE);
  CREATE UNIQUE INDEX "new codes" ON visits_new (lower(code));
  INSERT INTO visits VALUES (1, 1990, 'a', NULL), (101, 2020, 'a', NULL)`;

const TABLE = `
  CREATE TABLE staff (id int PRIMARY KEY, "e-mail" text, first text, last text, nick text, room int, desk int, boss int, salary int, badge text);
  CREATE UNIQUE INDEX "no two" ON staff ("e-mail") INCLUDE (nick) WHERE room IS NULL;
  ALTER TABLE staff ADD CONSTRAINT whole_name UNIQUE (last, first);
  CREATE UNIQUE INDEX nicks ON staff (lower(nick));
  CREATE UNIQUE INDEX badges ON staff (badge) WHERE desk = 7;
  CREATE UNIQUE INDEX salaries ON staff (salary);
  ALTER TABLE staff ADD CONSTRAINT small_room CHECK (room < 100), ADD CONSTRAINT one_desk EXCLUDE USING btree (desk WITH =),
    ADD CONSTRAINT reports_to FOREIGN KEY (boss) REFERENCES staff;
  INSERT INTO staff VALUES (1, 'a@x', 'A', 'B', 'Al', NULL, NULL, NULL, 100, 'none')`;

except(OF_MANY).describe('a constraint that only the database has', () => {
  const { apps, query } = serveTables(`${TABLE};${PARTITIONS}`, [Employee, Visit]);

  const refused = async (send: (app: BuiltApp) => Promise<{ status: number; body: object }>) => {
    const answers = [];
    for (const app of apps) {
      const { status, body } = await send(app);
      const { detail, errors = [] } = body as { detail: string; errors?: readonly object[] };
      answers.push([status, detail, errors.map((each) => (each as { pointer: string }).pointer)]);
    }
    expect(answers[0]).to.deep.equal(answers[1]);
    return answers[0];
  };
  const creating = (values: object) =>
    refused(async ({ agent }) => agent.post('/employees').send({ id: 2, ...values }));

  const CASES: Readonly<Record<string, readonly [values: object, status: number, names: readonly string[]]>> =
    {
      'a unique index over some rows': [{ mail: 'a@x' }, 409, ['/mail']],
      'a unique constraint over several columns': [{ first: 'A', last: 'B' }, 409, ['/first', '/last']],
      'a unique index over an expression': [{ nick: 'AL' }, 409, ['/nick']],
      'an exclusion': [{ desk: 7 }, 409, ['/desk']],
      'a check': [{ room: 100 }, 422, ['/room']],
      'a foreign key': [{ boss: 77 }, 409, ['/boss']],
    };
  for (const [name, [values, status, names]] of Object.entries(CASES)) {
    it(`[P5] names the attributes of ${name}`, async () => {
      await query('UPDATE staff SET desk = 7 WHERE id = 1');
      const [found, , pointers] = (await creating(values)) ?? [];
      expect([found, pointers]).to.deep.equal([status, names]);
    });
  }

  const OF_PARTITIONS: Readonly<
    Record<string, readonly [values: object, status: number, names: readonly string[]]>
  > = {
    'a unique index': [{ id: 2, year: 1990, code: 'a' }, 409, ['/year', '/code']],
    'a unique index over an expression': [{ id: 102, code: 'A' }, 409, ['/code']],
    'the primary key': [{ id: 1, code: 'b' }, 409, ['/id']],
    'the primary key in another order of columns': [{ id: 101, code: 'b' }, 409, ['/id']],
    'a check': [{ id: 3, year: 1800 }, 422, ['/year']],
    'a foreign key': [{ id: 103, staff: 77 }, 409, ['/staff']],
  };
  for (const [name, [values, status, names]] of Object.entries(OF_PARTITIONS)) {
    it(`[P5] names the attributes of ${name} of a partition`, async () => {
      const [found, , pointers] =
        (await refused(async ({ agent }) => agent.post('/visits').send(values))) ?? [];
      expect([found, pointers]).to.deep.equal([status, names]);
    });
  }

  it('[P5] is named in an update, a replacement and many at once, too', async () => {
    await query("INSERT INTO staff (id, badge) VALUES (3, 'other')");
    const told = [409, 'Another Employee has the same mail.'];
    const body = { mail: 'a@x' };
    expect(await refused(async ({ agent }) => agent.patch('/employees/3').send(body))).to.deep.equal([
      ...told,
      ['/mail'],
    ]);
    expect(await refused(async ({ agent }) => agent.put('/employees/3').send(body))).to.deep.equal([
      ...told,
      ['/mail'],
    ]);
    expect(
      await refused(async ({ agent }) => agent.post('/employees').send([{ id: 4 }, { id: 5, ...body }])),
    ).to.deep.equal([...told, ['/1/mail']]);
  });

  it('[P5] names no attribute that the request cannot see, unless it has sent it', async () => {
    const nameless = [409, 'Another record has the same unique value.', []];
    await query("UPDATE staff SET badge = 'same', desk = NULL");
    await query('ALTER TABLE staff DROP CONSTRAINT one_desk');
    await query('DELETE FROM staff WHERE id = 3; UPDATE staff SET desk = 7');
    expect(await creating({ desk: 7 })).to.deep.equal(nameless);
    expect(await creating({ salary: 100 })).to.deep.equal([
      409,
      'Another Employee has the same salary.',
      ['/salary'],
    ]);
  });
});

const LONG = 'x'.repeat(70);
/** Letters of two bytes: the 63rd byte is the first one of a letter. */
const ACCENTS = 'é'.repeat(40);

@Crud({ sortAllow: ['longest'] as never, filterAllow: ['longest', 'accents'] as never })
@Table({
  tableName: `t${LONG}`,
  timestamps: false,
  indexes: [
    { name: `a${LONG}`, unique: true, fields: ['code'] },
    { name: `b${LONG}`, fields: [LONG, 'id'] },
    { name: `c${LONG}`, fields: [ACCENTS, 'id'] },
  ],
})
class Long extends Model {
  @Unique @Column({ type: DataType.TEXT, field: LONG }) declare longest: string | null;
  @Column({ type: DataType.TEXT, field: ACCENTS }) declare accents: string | null;
  @Column(DataType.TEXT) declare code: string | null;
}

const ROW = { longest: 'L', accents: 'A', code: 'C' };

describe('names that PostgreSQL cuts', () => {
  const site = serveTestApp(() => ({ models: [Long], bootstrap: { logger } }));
  const logger = new CapturedLog();

  it('[P7] are found in the catalogue, with their indexes', async () => {
    expect(logger.lines).to.deep.equal([]);
    await buildApp({ models: [Long], logger });
    expect(logger.lines).to.deep.equal([]);
  });

  it('are those of the rows that are written and read', async () => {
    const { agent } = site;
    expect((await agent.post('/longs').send(ROW)).body).to.deep.equal({ id: 1, ...ROW });
    expect((await agent.get('/longs?q=longest==L;accents==A&sort=longest')).body.items).to.deep.equal([
      { id: 1, ...ROW },
    ]);
    expect((await agent.patch('/longs/1').send({ accents: 'B' })).body).to.deep.equal({
      id: 1,
      ...ROW,
      accents: 'B',
    });
  });

  it('of constraints and indexes name the attributes of a conflict', async () => {
    for (const [name, other] of [
      ['longest', { code: 'other' }],
      ['code', { longest: 'other' }],
    ] as const) {
      const detail = `Another Long has the same ${name}.`;
      expectProblem(await site.agent.post('/longs').send({ ...ROW, ...other }), 409, {
        detail,
        errors: [{ pointer: `/${name}`, code: 'unique', detail }],
      });
    }
  });

  it('are refused for attributes, which Sequelize would not find again', async () => {
    @Crud()
    @Table({ tableName: 'short' })
    class Short extends Model {}
    Column(DataType.TEXT)(Short.prototype, LONG);
    attach(Short);
    const problem =
      `Short.${LONG} has a name of more than 63 bytes, which PostgreSQL cuts where Sequelize reads it back; rename the attribute ` +
      `(its column keeps its name with @Column({ field: '${LONG.slice(0, 63)}' })).`;
    expect(nameProblems(Short)).to.deep.equal([problem]);
    const error = await caughtError(() => buildApp({ models: [Short], logger }));
    expect((error as ConfigError).problems).to.deep.equal([problem]);
  });
});

/** Names of columns with signs. */
const SIGNS = [
  'price (EUR)',
  '(',
  'count(*)',
  'a.b',

  ':a',
  '?',
  "it's",
  'a\\b',
  'a->>b',
  'a::int',
  '%',
  '--',
  '日本',
];

@Crud({ filterAllow: '*', sortAllow: '*', pagination: 'cursor', include: { children: UNGUARDED } })
@Table({ tableName: 'signs', timestamps: false })
class Sign extends Model {
  @HasMany(() => Sign, 'c0') declare children?: Sign[];
}
SIGNS.forEach((field, at) => {
  Column({ type: DataType.INTEGER, field })(Sign.prototype, `c${at}`);
});

describe('names of columns with signs that mean something elsewhere', () => {
  const columns = SIGNS.map((name) => `, "${name}" int`).join('');
  const { apps } = serveTables(`CREATE TABLE signs (id serial PRIMARY KEY${columns})`, [Sign]);

  it('are those of columns on both paths', async () => {
    for (const { agent } of apps) {
      const values = Object.fromEntries(SIGNS.map((_, at) => [`c${at}`, at]));
      const created = await agent.post('/signs').send({ ...values, c0: null });
      const record = { id: created.body.id, ...values, c0: null };
      expectJson(created, 201, record);
      for (const name of Object.keys(values)) {
        const path = `/signs/${record.id}`;
        const changed = await agent.patch(path).send({ [name]: record.id });
        expectJson(changed, 200, { ...record, [name]: record.id });
        const q = encodeURIComponent(`${name}==${record.id}`);
        const { body } = await agent.get(`/signs?q=${q}&sort=-${name}&include=children`).expect(200);
        const own = { ...record, [name]: record.id };
        const children = { items: name === 'c0' ? [own] : [], has_next: false };
        expect(body.items).to.deep.equal([{ ...own, children }]);
        await agent
          .patch(path)
          .send({ [name]: record[name as 'c0'] })
          .expect(200);
      }
      expectNothing(await agent.delete(`/signs/${record.id}`), 204);
    }
  });
});
