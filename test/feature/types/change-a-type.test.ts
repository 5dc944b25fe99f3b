/** A migration changes the type of a column while an application runs: statements that connections have prepared are prepared again. */
// @runs fast
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BootstrapOptions, Crud } from '../../../src/index.js';
import { type BuiltApp, buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { PATIENCE } from '../../support/patience.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = {
  prefix: '/kinds',
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'] as const,
};

let count = 0;

function kind(type: Parameters<typeof Column>[0], filterAllow: string[] = ['v']) {
  @Crud({ ...OPTIONS, endpoints: [...OPTIONS.endpoints], filterAllow } as object)
  @Table({ tableName: 'kinds', modelName: `Kind${++count}`, timestamps: false })
  class Kind extends Model {
    @PrimaryKey @Column(DataType.INTEGER) declare id: number;

    declare v: unknown;
  }
  Column(type as never)(Kind.prototype, 'v');
  return Kind;
}

const UNPREPARED = 'without prepared statements no error of a stale one shows that a type is another one';

const two = (v: string) => [1, 2].map((id) => ({ id, v }));
const UUID = '7b0a3e0c-0000-4000-8000-0000000000aa';

/** From and to which type, the model's, a value, and one that only the new type has. */
const CHANGES = [
  ['json', 'jsonb', kind(DataType.JSONB, []), { a: 1 }, { a: 2 }],
  ['one', 'two', kind(DataType.ENUM('x', 'z')), 'x', 'z'],
  ['one', 'text', kind(DataType.TEXT), 'x', 'any'],
  ['text', 'uuid', kind(DataType.UUID), UUID, UUID.replace('aa', 'bb')],
  ['uuid', 'text', kind(DataType.TEXT), UUID, 'any'],
  ['integer', 'bigint', kind(DataType.BIGINT), '7', '3000000000'],
  ['text[]', 'varchar(9)[]', kind(DataType.ARRAY(DataType.TEXT), []), ['a'], ['b']],
  ['varchar(3)', 'varchar(9)', kind(DataType.STRING(9)), 'abc', 'abcdef'],
] as const;

/** Changes after which rows have values of another type than the model's. */
const DEPARTURES = [
  ['boolean', 'smallint', kind(DataType.BOOLEAN), 'v::int', true],
  ['bytea', 'text', kind(DataType.BLOB, []), "encode(v, 'escape')", 'QUJD'],
  ['boolean', 'text', kind(DataType.BOOLEAN), 'v::text', false],
  ['text', 'bigint', kind(DataType.TEXT), 'v::bigint', '8'],
] as const;

@Crud({ prefix: '/kinds', endpoints: ['create', 'createMany'] })
@Table({ tableName: 'kinds', timestamps: false })
class Counted extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @Column(DataType.TEXT) declare v: string | null;
}

except(OF_MANY).describe('a type that is changed', () => {
  const site = serveTestApp(() => ({
    models: [...[...CHANGES, ...DEPARTURES].map(([, , model]) => model), Counted],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  const execute = (sql: string) => site.engine.sequelize.query(sql);
  const serve = async (options: BootstrapOptions) =>
    (await buildApp({ logger: new CapturedLog(), indexAdvice: false, ...options })).agent;

  for (const [from, to, model, value, other] of CHANGES) {
    for (const fastPath of [true, false]) {
      it(`[P6] from ${from} to ${to} is taken over by every connection, fastPath ${fastPath}`, async () => {
        await execute(`DROP TABLE IF EXISTS kinds; DROP TYPE IF EXISTS one, two; CREATE TYPE one AS ENUM ('x', 'y');
          CREATE TYPE two AS ENUM ('x', 'y', 'z'); CREATE TABLE kinds (id int PRIMARY KEY, v ${from})`);
        const agent = await serve({ models: [model], fastPath });
        const filter = typeof value === 'string' ? `?q=v==${value}` : '';
        const all = async (v: unknown) => {
          await execute('TRUNCATE kinds');
          return [
            await agent.post('/kinds').send({ id: 1, v }),
            await agent.post('/kinds').send([{ id: 2, v }]),
            await agent.patch('/kinds/1').send({ v }),
            await agent.patch('/kinds').send([{ id: 1, v }]),
            await agent.put('/kinds/1').send({ v }),
            await agent.put('/kinds/3').send({ v }),
            await agent.get('/kinds/1'),
            await agent.get(`/kinds${filter}`),
          ].map(({ status, body }) => [status, body.v ?? body.items?.[0]?.v ?? null]);
        };
        const expected = (v: unknown) => [201, 201, 200, 200, 200, 201, 200].map((status) => [status, v]);
        for (let round = 0; round < 2; round += 1)
          expect((await all(value)).slice(0, 7)).to.deep.equal(expected(value));
        await execute(`ALTER TABLE kinds ALTER v TYPE ${to} USING v::text::${to}`);
        // The new value first: statements that connections have prepared could not have it.
        expect((await all(other)).slice(0, 7)).to.deep.equal(expected(other));
        const after = await all(value);
        expect(after.slice(0, 7)).to.deep.equal(expected(value));
        expect(after[7]).to.deep.equal([200, value]);
      });
    }
  }

  for (const fastPath of [true, false]) {
    it(`of a table that is made anew, with another sequence for its keys, is taken over, too, fastPath ${fastPath}`, async () => {
      const table = 'DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id serial PRIMARY KEY, v text)';
      const agent = await serve({ models: [Counted], fastPath });
      for (let round = 0; round < 2; round += 1) {
        await execute(table);
        const many = await agent.post('/kinds').send([{ v: 'a' }, { v: 'a' }]);
        expect([many.status, many.body.items]).to.deep.equal([201, two('a')]);
        expect((await agent.post('/kinds').send({ v: 'c' })).body).to.deep.equal({ id: 3, v: 'c' });
      }
    });
  }

  for (const [from, to, model, using, value] of DEPARTURES) {
    except({ pgbouncer: UNPREPARED }).it(
      `[P5] from ${from} to ${to}, which is not the model's, is answered in one way on both paths soon`,
      async () => {
        const stored = { boolean: 'true', bytea: "'ABC'", text: "'7'" }[from];
        await execute(
          `DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id int PRIMARY KEY, v ${from}); INSERT INTO kinds VALUES (1, ${stored})`,
        );
        const [fast, general] = await buildBoth({ models: [model] });
        for (const { agent } of [fast, general]) await agent.get('/kinds/1');
        await execute(`ALTER TABLE kinds ALTER v TYPE ${to} USING ${using}`);
        const answers = async ({ agent }: BuiltApp) => {
          await execute(`TRUNCATE kinds; INSERT INTO kinds VALUES (1, '1')`);
          const sent = [
            await agent.get('/kinds/1'),
            await agent.patch('/kinds/1').send({ v: value }),
            await agent.post('/kinds').send({ id: 2, v: value }),
            await agent.get('/kinds'),
          ];
          return sent.map(({ status, text }) => `${status} ${text}`);
        };
        await fast.agent.get('/kinds/1');
        const expected = await answers(general);
        const until = performance.now() + PATIENCE;
        let found = await answers(fast);
        while (!isDeepStrictEqual(found, expected) && performance.now() < until) {
          await delay(50);
          found = await answers(fast);
        }
        expect(found).to.deep.equal(expected);
      },
    );
  }

  for (const fastPath of [true, false]) {
    it(`[P6] of a table that a view replaces is answered, or 503 once, fastPath ${fastPath}`, async () => {
      await execute('DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id int PRIMARY KEY, v text)');
      const [, , model] = CHANGES[4];
      const agent = await serve({ models: [model], fastPath });
      await agent.post('/kinds').send(two('a'));
      await agent.patch('/kinds/1').send({ v: 'b' });
      await execute('ALTER TABLE kinds RENAME TO kind_rows; CREATE VIEW kinds AS SELECT * FROM kind_rows');
      try {
        const changed = (v: string) => agent.patch('/kinds').send(two(v));
        const first = await changed('c');
        expect(first.status).to.be.oneOf([200, 503]);
        if (first.status === 503) expect(first.headers['retry-after']).to.equal('1');
        const second = await changed('d');
        expect([second.status, second.body.items]).to.deep.equal([200, two('d')]);
        const one = await agent.patch('/kinds/1').send({ v: 'e' });
        expect([one.status, one.body]).to.deep.equal([200, { id: 1, v: 'e' }]);
      } finally {
        await execute('DROP VIEW kinds; DROP TABLE kind_rows');
      }
    });
  }

  it('[P6] of a table that a view replaces is answered after the catalogue is read again', async () => {
    await execute('DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id int PRIMARY KEY, v text)');
    const [, , model] = CHANGES[4];
    const agent = await serve({ models: [model], fastPath: true });
    await agent.post('/kinds').send(two('a'));
    await agent.get('/kinds/1');
    // The read meets this change, and has the catalogue read a moment later. The write reads the triggers of the table before that.
    await execute('ALTER TABLE kinds ALTER v TYPE varchar(9)');
    await agent.get('/kinds/1');
    await agent.patch('/kinds/1').send({ v: 'b' });
    await execute('ALTER TABLE kinds RENAME TO kind_rows; CREATE VIEW kinds AS SELECT * FROM kind_rows');
    try {
      await delay(500);
      const many = await agent.patch('/kinds').send(two('c'));
      expect([many.status, many.body.items]).to.deep.equal([200, two('c')]);
      const one = await agent.patch('/kinds/1').send({ v: 'd' });
      expect([one.status, one.body]).to.deep.equal([200, { id: 1, v: 'd' }]);
    } finally {
      await execute('DROP VIEW kinds; DROP TABLE kind_rows');
    }
  });

  it('is no reason to repeat what a client or a trigger is to blame for', async () => {
    await execute('DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id int PRIMARY KEY, v text)');
    await execute(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $f$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '42804'; END $f$`);
    await execute('CREATE TRIGGER refuse BEFORE UPDATE ON kinds FOR EACH ROW EXECUTE FUNCTION refuse()');
    const [, , model] = CHANGES[2];
    const agent = await serve({ models: [model] });
    await agent.post('/kinds').send({ id: 1, v: 'a' });
    const statuses = [];
    for (let round = 0; round < 3; round += 1)
      statuses.push((await agent.patch('/kinds/1').send({ v: 'b' })).status);
    expect(statuses).to.deep.equal([500, 500, 500]);
  });
});
