/** A table from which others inherit: `only: true` has its own rows alone, whoever sends the statement, and leaves the others as they are. */
// @runs fast

import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, crudRouter, Repository } from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

const TABLE = { createdAt: false, updatedAt: false, paranoid: true, deletedAt: 'gone' } as const;

class Named extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
  @Column(DataType.DATE) declare gone: Date | null;
}

@Crud({
  prefix: '/cities',
  endpoints: EVERY_ENDPOINT,
  only: true,
  filterAllow: ['name'],
  include: { visits: true },
})
@Table({ tableName: 'cities', ...TABLE })
class City extends Named {
  @HasMany(() => Visit, 'cityId') declare visits?: Visit[];
}

/** Its hooks have Sequelize write and read it. */
@Crud({ prefix: '/hooked', endpoints: EVERY_ENDPOINT, only: true, filterAllow: ['name'] })
@Table({
  tableName: 'hooked',
  ...TABLE,
  hooks: { beforeUpdate() {}, beforeCreate() {}, beforeDestroy() {}, beforeFind() {} },
})
class Hooked extends Named {}

@Crud({
  prefix: '/visits',
  endpoints: ['list', 'read'],
  include: { city: true },
  filterAllow: { 'city.name': true },
})
@Table({ tableName: 'visits', timestamps: false })
class Visit extends NumberedRow {
  @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @BelongsTo(() => City, 'cityId') declare city?: City;
}

/** The same table, heirs and all. */
@Crud({ prefix: '/all' })
@Table({ tableName: 'cities', ...TABLE })
class All extends Named {}

@Crud({ prefix: '/parted', only: true })
@Table({ tableName: 'parted', ...TABLE })
class Parted extends Named {}

const COLUMNS = 'id int PRIMARY KEY, name text NOT NULL, gone timestamptz';
const TABLES = `
  CREATE TABLE cities (${COLUMNS}); CREATE TABLE capitals (PRIMARY KEY (id)) INHERITS (cities);
  CREATE TABLE hooked (${COLUMNS}); CREATE TABLE heirs (PRIMARY KEY (id)) INHERITS (hooked);
  CREATE TABLE visits (id serial PRIMARY KEY, "cityId" int);
  CREATE TABLE parted (${COLUMNS}) PARTITION BY HASH (id)`;

except(OF_MANY).describe('a table with heirs', () => {
  const { apps, query } = serveTables(TABLES, [City, Hooked, Visit], { others: [All, Parted] });
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
