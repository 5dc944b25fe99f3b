/** Tables of other kinds: foreign ones, whose keys nothing proves unique; partitioned ones, with tags of their rows; and those with heirs. */
// @runs fast

import { expect } from 'chai';
import {
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import type { Response, Test } from 'supertest';
import { Crud, crudRouter, Repository } from '../../../src/index.js';
import { ENDPOINTS_FOR_GOOD, EVERY_ENDPOINT } from '../../models/endpoints.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY, onPath, SERVES_EXPORTS, UNGUARDED } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem, tagOf } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

class Named extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

@Crud({ prefix: '/far', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], pagination: 'cursor' })
@Table({ tableName: 'far', timestamps: false })
class Far extends Named {}

/** A foreign table whose server refuses writes. */
@Crud({ prefix: '/kept' })
@Table({ tableName: 'kept', timestamps: false })
class Kept extends Named {}

@Crud({ prefix: '/tagged', etag: 'xmin' })
@Table({ tableName: 'far', timestamps: false })
class Tagged extends Named {}

/** A partitioned table, a partition of which is foreign. */
@Crud({ prefix: '/spread', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], pagination: 'cursor' })
@Table({ tableName: 'spread', timestamps: false })
class Spread extends Named {}

@Crud({ prefix: '/spread-tagged', etag: 'xmin' })
@Table({ tableName: 'spread', timestamps: false })
class SpreadTagged extends Named {}

@Crud({ prefix: '/spread-upserted', endpoints: ['create', 'upsert'], upsert: [['id']] })
@Table({ tableName: 'spread', timestamps: false })
class SpreadUpserted extends Named {}

@Crud({ prefix: '/spread-history', history: true })
@Table({ tableName: 'spread', timestamps: false })
class SpreadHistory extends Named {}

@Crud({ prefix: '/spread-changes', changes: true })
@Table({ tableName: 'spread', timestamps: false })
class SpreadChanges extends Named {}

@Crud({
  prefix: '/spread-rows',
  endpoints: ['create', 'update', 'history'],
  can: { history: true },
  history: { capture: 'row' },
})
@Table({ tableName: 'spread', timestamps: false })
class SpreadRows extends Named {}

const foreign = ({ hostname, port, pathname, username, password }: URL) => `
  CREATE EXTENSION postgres_fdw;
  CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}');
  CREATE USER MAPPING FOR CURRENT_USER SERVER loop OPTIONS (user '${username}', password '${password}');
  CREATE TABLE near (id int NOT NULL, name varchar(20) NOT NULL CHECK (name <> 'no'));
  CREATE FOREIGN TABLE far (id int NOT NULL, name varchar(20) NOT NULL) SERVER loop OPTIONS (table_name 'near');
  CREATE FOREIGN TABLE kept (id int NOT NULL, name varchar(20) NOT NULL) SERVER loop
    OPTIONS (table_name 'near', updatable 'false');
  CREATE TABLE spread (id int NOT NULL, name varchar(20) NOT NULL) PARTITION BY RANGE (id);
  CREATE TABLE spread_here PARTITION OF spread FOR VALUES FROM (1000) TO (2000);
  CREATE FOREIGN TABLE spread_far PARTITION OF spread DEFAULT SERVER loop OPTIONS (table_name 'near')`;

/** Expects rows to be created, read, changed, replaced, listed and deleted, one by one and many at once. */
async function expectWritten(
  agent: BuiltApp['agent'],
  path: string,
  id: number,
  other: number,
): Promise<void> {
  const one = `${path}/${id}`;
  expectJson(await agent.post(path).send([{ id, name: 'a' }]), 201, { items: [{ id, name: 'a' }] });
  expectJson(await agent.get(one), 200, { id, name: 'a' });
  expectJson(await agent.patch(one).send({ name: 'b' }), 200, { id, name: 'b' });
  expectJson(await agent.put(one).send({ name: 'c' }), 200, { id, name: 'c' });
  expectJson(await agent.put(`${path}/${other}`).send({ name: 'd' }), 201, { id: other, name: 'd' });
  const changes = [id, other].map((each) => ({ id: each, name: 'e' }));
  expectJson(await agent.patch(path).send(changes), 200, { items: changes });
  const first = (await agent.get(`${path}?size=1&q=name==e`)).body;
  const second = (await agent.get(`${path}?size=1&q=name==e&after=${first.next_cursor}`)).body;
  expect([...first.items, ...second.items]).to.deep.equal(changes);
  expectNothing(await agent.delete(one), 204);
  expectJson(await agent.delete(`${path}?q=name==e`), 200, { affected: 1 });
}

const OVERRIDES = 'it has methods list and read, with which no application has feeds and histories';

except(OF_MANY).describe('a foreign table', () => {
  const { apps, query } = serveTables((url) => foreign(new URL(url)), [Far, Kept, Spread], {
    others: [Tagged, SpreadTagged, SpreadUpserted, SpreadHistory, SpreadChanges],
  });
  const rows = () => query('TABLE near ORDER BY id, name');

  beforeEach(() => query(`TRUNCATE near; INSERT INTO near VALUES (7, 'one'), (7, 'two'), (8, 'three')`));

  it('is read and written', async () => {
    for (const { agent } of apps) {
      await expectWritten(agent, '/far', 1, 2);
      expect((await agent.get('/far/1')).status).to.equal(404);
      expect((await agent.post('/far').send({ id: 3, name: 'no' })).status).to.equal(422);
    }
  });

  it('is one where a partition is foreign', async () => {
    for (const { agent } of apps) {
      await expectWritten(agent, '/spread', 1, 2);
      await expectWritten(agent, '/spread', 1001, 1002);
      await query('TRUNCATE spread_here');
      for (const each of [agent.get('/spread/7'), agent.delete('/spread/7')])
        expectProblem(await each, 409, { detail: 'There is more than one Spread with this id.' });
    }
  });

  it('refuses an id of two rows, and writes nothing', async () => {
    const before = await rows();
    for (const { agent } of apps) {
      const requests: readonly Test[] = [
        agent.get('/far/7'),
        agent.patch('/far/7').send({ name: 'x' }),
        agent.put('/far/7').send({ name: 'x' }),
        agent.delete('/far/7'),
        agent.delete('/far?q=name==one'),
      ];
      for (const each of requests)
        expectProblem(await each, 409, { detail: 'There is more than one Far with this id.' });
      expect(await rows()).to.deep.equal(before);
    }
  });

  it('has no method that its server refuses', async () => {
    for (const { agent } of apps) {
      expectJson(await agent.get('/kept/8'), 200, { id: 8, name: 'three' });
      const answer = await agent.patch('/kept/8').send({ name: 'x' });
      expect([answer.status, answer.headers['allow']]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it('warns of plans that are kept, where a partition is foreign', async () => {
    const logger = new CapturedLog();
    await buildApp({ models: [Far, Spread], logger, indexAdvice: false });
    const warned = logger.lines.map(({ message }) => message).filter((each) => /plan_cache_mode/.test(each));
    expect(warned).to.deep.equal([
      'Spread: "spread" has a foreign partition, and a plan that PostgreSQL keeps for an UPDATE or a DELETE of it may end all connections of ' +
        'the server; set plan_cache_mode = force_custom_plan for the database or the role.',
    ]);
  });

  except({ records: OVERRIDES }).it(
    'has no upsert, and no capture of statements, where a partition is foreign',
    async () => {
      const models = [SpreadUpserted, SpreadHistory, SpreadChanges];
      const failure = await caughtError(() => buildApp({ models, logger: new CapturedLog() }));
      const untriggered =
        "its table is a foreign table, which has no triggers that history needs; set history: { capture: 'row' }, or leave it out.";
      expect(Object(failure).problems).to.deep.equal([
        `SpreadUpserted: upsert names ['id'], and no index proves a key of the foreign table "spread" unique; leave it out.`,
        `SpreadHistory: ${untriggered}`,
        `SpreadChanges: ${untriggered}`,
      ]);
    },
  );

  it('has no tags of its own', async () => {
    const failure = await caughtError(() =>
      buildApp({ models: [Tagged, SpreadTagged], logger: new CapturedLog() }),
    );
    expect(Object(failure).problems).to.deep.equal([
      `Tagged: etag is 'xmin', and the foreign table "far" has no such column of its own; give the model a version, or leave etag out.`,
      `SpreadTagged: etag is 'xmin', and the foreign table "spread" has no such column of its own; give the model a version, or leave etag out.`,
    ]);
  });
});

except({ ...OF_MANY, records: OVERRIDES }).describe(
  'a partitioned table, a partition of which is foreign',
  () => {
    const { apps, query } = serveTables((url) => foreign(new URL(url)), [SpreadRows], {
      engine: { createAll: true },
    });

    it('captures rows that this server writes', async () => {
      for (const { agent } of apps) {
        await query('TRUNCATE near, spread_here');
        for (const id of [1, 1001]) {
          expectJson(await agent.post('/spread-rows').send({ id, name: 'a' }), 201, { id, name: 'a' });
          expectJson(await agent.patch(`/spread-rows/${id}`).send({ name: 'b' }), 200, { id, name: 'b' });
          // A write at the far server is none of this one.
          await query(`UPDATE near SET name = 'c'`);
          const { items } = (await agent.get(`/spread-rows/${id}/history?size=2`)).body;
          expect(items.map(({ changes }: { changes: object }) => changes)).to.deep.equal([
            { name: { from: 'a', to: 'b' } },
            { id: { to: id }, name: { to: 'a' } },
          ]);
        }
      }
    });
  },
);

@Crud({ endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], pagination: 'cursor', etag: 'xmin' })
@Table({ tableName: 'meters', timestamps: false })
class Meter extends Named {}

/** A partitioned table, with the partition in its key. */
@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace'], etag: 'xmin' })
@Table({ tableName: 'readings', timestamps: false })
class Reading extends Model {
  @PrimaryKey @Column(DataType.STRING(5)) declare region: string;
  @PrimaryKey @Column(DataType.INTEGER) declare no: number;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

/** The second partition has its columns in another order. */
const PARTITIONS = `
  CREATE TABLE meters (id int PRIMARY KEY, name varchar(20) NOT NULL) PARTITION BY RANGE (id);
  CREATE TABLE meters_1 PARTITION OF meters FOR VALUES FROM (1) TO (100);
  CREATE TABLE meters_2 (name varchar(20) NOT NULL, gone int, id int NOT NULL);
  ALTER TABLE meters_2 DROP COLUMN gone;
  ALTER TABLE meters ATTACH PARTITION meters_2 FOR VALUES FROM (100) TO (200);
  CREATE TABLE readings (region varchar(5), no int, name varchar(20) NOT NULL, PRIMARY KEY (region, no)) PARTITION BY LIST (region);
  CREATE TABLE readings_eu PARTITION OF readings FOR VALUES IN ('eu')`;

except(OF_MANY).describe('a partitioned table', () => {
  const { apps, query } = serveTables(PARTITIONS, [Meter, Reading], {
    engine: { createAll: true },
    bootstrap: { idempotency: { principal: () => 'ann' } },
  });
  const tagInTable = async (id: number) => {
    const [row] = await query(`SELECT xmin FROM meters WHERE id = ${id}`);
    return `"x${Object(row).xmin}"`;
  };

  beforeEach(() => query('TRUNCATE meters, readings, crud_idempotency'));

  it('has tags that its writes answer', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE meters');
      for (const id of [1, 101]) {
        const path = `/meters/${id}`;
        const created = await agent.post('/meters').send({ id, name: 'a' });
        const tag = (answer: Response) => answer.headers['etag'] ?? '';
        expectJson(created, 201, { id, name: 'a' });
        expect([tagOf(created), created.headers['location']]).to.deep.equal([await tagInTable(id), path]);
        const changed = await agent.patch(path).set('If-Match', tag(created)).send({ name: 'b' });
        expectJson(changed, 200, { id, name: 'b' });
        expect(tagOf(changed)).to.equal(await tagInTable(id));
        expect((await agent.patch(path).set('If-Match', tag(created)).send({ name: 'c' })).status).to.equal(
          412,
        );
        const replaced = await agent.put(path).set('If-Match', tag(changed)).send({ name: 'd' });
        expectJson(replaced, 200, { id, name: 'd' });
        expect(tagOf(replaced)).to.equal(await tagInTable(id));
        expect((await agent.get(path).set('If-None-Match', tag(replaced))).status).to.equal(
          onPath({ fast: 304, values: 200 }),
        );
        expect((await agent.delete(path).set('If-Match', tag(changed))).status).to.equal(412);
        expectNothing(await agent.delete(path).set('If-Match', tag(replaced)), 204);
        const anew = await agent.put(path).set('If-None-Match', '*').send({ name: 'e' });
        expectJson(anew, 201, { id, name: 'e' });
        expect([tagOf(anew), anew.headers['location']]).to.deep.equal([await tagInTable(id), path]);
      }
    }
  });

  it('takes many records, and keys of requests', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE meters, readings, crud_idempotency');
      await expectWritten(agent, '/meters', 1, 101);
      const post = () => agent.post('/meters').set('Idempotency-Key', '"k"').send({ id: 7, name: 'k' });
      const [once, again] = [await post(), await post()];
      expect([once.status, tagOf(once)]).to.deep.equal([201, await tagInTable(7)]);
      expect([again.status, again.headers['etag']]).to.deep.equal([201, once.headers['etag']]);
      expect(again.headers).to.include({ 'idempotent-replayed': 'true' });
    }
  });

  it('has tags by a key of several columns', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE readings');
      const created = await agent.post('/readings').send({ region: 'eu', no: 1, name: 'a' });
      expectJson(created, 201, { region: 'eu', no: 1, name: 'a' });
      expect(created.headers['location']).to.equal('/readings/eu,1');
      const tag = created.headers['etag'] ?? '';
      const changed = await agent.patch('/readings/eu,1').set('If-Match', tag).send({ name: 'b' });
      expectJson(changed, 200, { region: 'eu', no: 1, name: 'b' });
      expect((await agent.patch('/readings/eu,1').set('If-Match', tag).send({ name: 'c' })).status).to.equal(
        412,
      );
      expect(tagOf(await agent.get('/readings/eu,1'))).to.equal(tagOf(changed));
      const anew = await agent.put('/readings/eu,2').send({ name: 'e' });
      expectJson(anew, 201, { region: 'eu', no: 2, name: 'e' });
      expect(tagOf(await agent.get('/readings/eu,2'))).to.equal(tagOf(anew));
      expect((await agent.put('/readings/us,2').send({ name: 'e' })).status).to.equal(422);
    }
  });

  it('refuses a row that no partition takes', async () => {
    for (const { agent } of apps) {
      const detail = 'The database does not accept these values.';
      expectProblem(await agent.post('/meters').send({ id: 200, name: 'a' }), 422, { detail });
      expectProblem(await agent.put('/meters/200').send({ name: 'a' }), 422, { detail });
      const many = await agent.post('/meters').send([
        { id: 1, name: 'a' },
        { id: 200, name: 'a' },
      ]);
      expect([many.status, many.body.detail]).to.deep.equal([422, detail]);
      expect(await query('SELECT FROM meters')).to.deep.equal([]);
    }
  });
});

const HEIRED = { createdAt: false, updatedAt: false, paranoid: true, deletedAt: 'gone' } as const;

class Heired extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
  @Column(DataType.DATE) declare gone: Date | null;
}

@Crud({
  prefix: '/cities',
  endpoints: EVERY_ENDPOINT,
  only: true,
  filterAllow: ['name'],
  include: { visits: UNGUARDED },
})
@Table({ tableName: 'cities', ...HEIRED })
class City extends Heired {
  @HasMany(() => Visit, 'cityId') declare visits?: Visit[];
}

/** A model with hooks, so that Sequelize writes and reads it. */
@Crud({ prefix: '/hooked', endpoints: EVERY_ENDPOINT, only: true, filterAllow: ['name'] })
@Table({
  tableName: 'hooked',
  ...HEIRED,
  hooks: { beforeUpdate() {}, beforeCreate() {}, beforeDestroy() {}, beforeFind() {} },
})
class Hooked extends Heired {}

@Crud({
  prefix: '/visits',
  endpoints: ['list', 'read'],
  include: { city: UNGUARDED },
  filterAllow: { 'city.name': true },
})
@Table({ tableName: 'visits', timestamps: false })
class Visit extends NumberedRow {
  @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @BelongsTo(() => City, 'cityId') declare city?: City;
}

/** The same table, heirs and all. */
@Crud({ prefix: '/all', pagination: 'cursor', ...(SERVES_EXPORTS ? { export: ['ndjson'] } : {}) })
@Table({ tableName: 'cities', ...HEIRED })
class All extends Heired {}

@Crud({ prefix: '/parted', only: true })
@Table({ tableName: 'parted', ...HEIRED })
class Parted extends Heired {}

const COLUMNS = 'id int PRIMARY KEY, name text NOT NULL, gone timestamptz';
const HEIRS = `
  CREATE TABLE cities (${COLUMNS}); CREATE TABLE capitals (PRIMARY KEY (id)) INHERITS (cities);
  CREATE TABLE hooked (${COLUMNS}); CREATE TABLE heirs (PRIMARY KEY (id)) INHERITS (hooked);
  CREATE TABLE visits (id serial PRIMARY KEY, "cityId" int);
  CREATE TABLE parted (${COLUMNS}) PARTITION BY HASH (id)`;

except(OF_MANY).describe('a table with heirs', () => {
  const { apps, query } = serveTables(HEIRS, [City, Hooked, Visit], { others: [All, Parted] });
  const heirs = () => query('TABLE capitals UNION ALL TABLE heirs ORDER BY 1, 2');
  const fill = () =>
    query(`TRUNCATE cities, capitals, hooked, heirs, visits RESTART IDENTITY;
      INSERT INTO cities VALUES (1, 'own'), (2, 'other'); INSERT INTO capitals VALUES (1, 'heir', NULL), (3, 'heir', NULL), (4, 'old', now());
      INSERT INTO hooked VALUES (1, 'own'), (2, 'other'); INSERT INTO heirs VALUES (1, 'heir', NULL), (3, 'heir', NULL), (4, 'old', now());
      INSERT INTO visits ("cityId") VALUES (1), (3)`);

  for (const path of ['/cities', '/hooked']) {
    it(`has no rows of heirs, and writes none, at ${path}`, async () => {
      for (const { agent } of apps) {
        await fill();
        const before = await heirs();
        const city = (id: number, name: string) => ({ id, name, gone: null });
        const { items, total } = (await agent.get(path)).body;
        expect([items, total]).to.deep.equal([[city(1, 'own'), city(2, 'other')], 2]);
        expect((await agent.get(`${path}?q=name==heir`)).body.items).to.deep.equal([]);
        expectJson(await agent.get(`${path}/1`), 200, city(1, 'own'));
        const missing = [
          agent.get(`${path}/3`),
          agent.patch(`${path}/3`).send({ name: 'x' }),
          agent.delete(`${path}/3`),
          agent.post(`${path}/4/restore`),
          agent.delete(`${path}/4/purge`),
        ];
        for (const each of missing) expect((await each).status).to.equal(404);
        expectJson(await agent.patch(`${path}/1`).send({ name: 'a' }), 200, city(1, 'a'));
        expectJson(await agent.put(`${path}/1`).send({ name: 'b' }), 200, city(1, 'b'));
        expectJson(await agent.patch(path).send([{ id: 1, name: 'c' }]), 200, { items: [city(1, 'c')] });
        expectJson(await agent.patch(`${path}?q=name=in=(c,heir)`).send({ name: 'd' }), 200, { affected: 1 });
        expectNothing(await agent.delete(`${path}/1`), 204);
        expectJson(await agent.post(`${path}/1/restore`), 200, city(1, 'd'));
        expectJson(await agent.delete(`${path}?q=name=in=(d,heir)`), 200, { affected: 1 });
        expectNothing(await agent.delete(`${path}/1/purge`), 204);
        expectJson(await agent.put(`${path}/3`).send({ name: 'new' }), 201, city(3, 'new'));
        expectJson(await agent.post(path).send({ id: 4, name: 'new' }), 201, city(4, 'new'));
        expect(await heirs()).to.deep.equal(before);
      }
    });
  }

  it('is joined without them', async () => {
    for (const { agent } of apps) {
      await fill();
      const { items } = (await agent.get('/visits?include=city')).body;
      expect(items).to.deep.equal([
        { id: 1, cityId: 1, city: { id: 1, name: 'own', gone: null } },
        { id: 2, cityId: 3, city: null },
      ]);
      expect((await agent.get('/visits?q=city.name==heir')).body.items).to.deep.equal([]);
      const cities = (await agent.get('/cities?include=visits')).body.items;
      expect(cities.map(({ visits }: { visits: { items: object[] } }) => visits.items)).to.deep.equal([
        [{ id: 1, cityId: 1 }],
        [],
      ]);
    }
  });

  it('has none in methods of Sequelize either', async () => {
    await fill();
    const before = await heirs();
    const record = await new Repository(City).get(1);
    await record.update({ name: 'x' });
    expect(await City.count()).to.equal(2);
    expect(
      (await City.findAll({ include: [Visit], order: ['id'], limit: 1 })).map(({ name }) => name),
    ).to.deep.equal(['x']);
    await City.increment('id', { by: 10, where: { id: 2 } });
    await City.update({ name: 'y' }, { where: {} });
    await City.destroy({ where: {}, force: true, limit: 1 });
    await City.destroy({ where: {}, force: true });
    expect(await heirs()).to.deep.equal(before);
    expect(await query('TABLE ONLY cities')).to.deep.equal([]);
  });

  it('is told at the start without it, and is a conflict then', async () => {
    await fill();
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [All], logger, indexAdvice: false });
    const told = logger.lines.map(({ message }) => message).filter((each) => each.startsWith('All:'));
    expect(told).to.deep.equal([
      'All: other tables inherit from "cities", whose rows are records, too, so that an id may be that of several, which is 409; write ' +
        'only: true in its @Crud to leave them out.',
    ]);
    const detail = 'There is more than one All with this id.';
    expectProblem(await agent.patch('/all/1').send({ name: 'x' }), 409, { detail });
    expect((await agent.get('/all/3')).body.name).to.equal('heir');
  });

  it('has no page that would begin between two rows with one key', async () => {
    await fill();
    const detail = 'More than one record has the same key, and no page can begin between them.';
    for (const fastPath of [true, false]) {
      const { agent } = await buildApp({
        models: [All],
        fastPath,
        logger: new CapturedLog(),
        indexAdvice: false,
      });
      const namesOf = ({ body }: Response) => body.items.map(({ name }: Heired) => name);
      expectProblem(await agent.get('/all?size=1'), 409, { detail });
      const first = await agent.get('/all?size=2').expect(200);
      expect(namesOf(first)).to.have.members(['own', 'heir']);
      const last = await agent.get(`/all?size=2&after=${first.body.next_cursor}`);
      expectProblem(last, 409, { detail });
      const all = await agent.get('/all?size=4').expect(200);
      expect(namesOf(all)).to.have.members(['own', 'heir', 'other', 'heir']);
      // One that came after the cursor was made.
      const { body } = await agent.get('/all?size=3').expect(200);
      await query("INSERT INTO capitals VALUES (2, 'late', NULL)");
      for (const place of [`after=${body.next_cursor}`, `before=${body.next_cursor}`])
        expectProblem(await agent.get(`/all?size=1&${place}`), 409, { detail });
      await query("DELETE FROM capitals WHERE name = 'late'");
    }
  });

  it('is refused where no table inherits, and beside @Crud', async () => {
    const parted = await caughtError(() => buildApp({ models: [Parted], logger: new CapturedLog() }));
    expect(Object(parted).problems).to.deep.equal([
      'Parted: only is true, and "parted" is a partitioned table, from which no table inherits; leave it out. The rows of a partitioned ' +
        'table are in its partitions.',
    ]);
    const elsewhere = await caughtError(async () => crudRouter(All, { only: true }));
    expect(Object(elsewhere).problems).to.deep.equal([
      'All: only is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
    ]);
  });
});
