/** A partitioned table: all that a table has, tags of its rows among it, which no INSERT there returns. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { ENDPOINTS_FOR_GOOD } from '../../models/endpoints.js';
import { KeyedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

@Crud({ endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], pagination: 'cursor', etag: 'xmin' })
@Table({ tableName: 'meters', timestamps: false })
class Meter extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

/** Its partition is a part of its key. */
@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace'], etag: 'xmin' })
@Table({ tableName: 'readings', timestamps: false })
class Reading extends Model {
  @PrimaryKey @Column(DataType.STRING(5)) declare region: string;
  @PrimaryKey @Column(DataType.INTEGER) declare no: number;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

/** The second partition has its columns in another order. */
const TABLES = `
  CREATE TABLE meters (id int PRIMARY KEY, name varchar(20) NOT NULL) PARTITION BY RANGE (id);
  CREATE TABLE meters_1 PARTITION OF meters FOR VALUES FROM (1) TO (100);
  CREATE TABLE meters_2 (name varchar(20) NOT NULL, gone int, id int NOT NULL);
  ALTER TABLE meters_2 DROP COLUMN gone;
  ALTER TABLE meters ATTACH PARTITION meters_2 FOR VALUES FROM (100) TO (200);
  CREATE TABLE readings (region varchar(5), no int, name varchar(20) NOT NULL, PRIMARY KEY (region, no)) PARTITION BY LIST (region);
  CREATE TABLE readings_eu PARTITION OF readings FOR VALUES IN ('eu')`;

except(OF_MANY).describe('a partitioned table', () => {
  const { apps, query } = serveTables(TABLES, [Meter, Reading], {
    engine: { createAll: true },
    bootstrap: { idempotency: { principal: () => 'ann' } },
  });
  const tagOf = async (id: number) => {
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
        expect(created.headers).to.include({ etag: await tagOf(id), location: path });
        const changed = await agent.patch(path).set('If-Match', tag(created)).send({ name: 'b' });
        expectJson(changed, 200, { id, name: 'b' });
        expect(changed.headers['etag']).to.equal(await tagOf(id));
        expect((await agent.patch(path).set('If-Match', tag(created)).send({ name: 'c' })).status).to.equal(
          412,
        );
        const replaced = await agent.put(path).set('If-Match', tag(changed)).send({ name: 'd' });
        expectJson(replaced, 200, { id, name: 'd' });
        expect(replaced.headers['etag']).to.equal(await tagOf(id));
        expect((await agent.get(path).set('If-None-Match', tag(replaced))).status).to.equal(304);
        expect((await agent.delete(path).set('If-Match', tag(changed))).status).to.equal(412);
        expectNothing(await agent.delete(path).set('If-Match', tag(replaced)), 204);
        const anew = await agent.put(path).set('If-None-Match', '*').send({ name: 'e' });
        expectJson(anew, 201, { id, name: 'e' });
        expect(anew.headers).to.include({ etag: await tagOf(id), location: path });
      }
    }
  });

  it('takes many records, and keys of requests', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE meters, readings, crud_idempotency');
      const both = [
        { id: 1, name: 'a' },
        { id: 101, name: 'b' },
      ];
      expectJson(await agent.post('/meters').send(both), 201, { items: both });
      const changes = both.map(({ id }) => ({ id, name: 'c' }));
      expectJson(await agent.patch('/meters').send(changes), 200, { items: changes });
      const { body: first } = await agent.get('/meters?size=1');
      expect(first.items).to.deep.equal([changes[0]]);
      expect((await agent.get(`/meters?size=1&after=${first.next_cursor}`)).body.items).to.deep.equal([
        changes[1],
      ]);
      expectJson(await agent.delete('/meters?q=name==c'), 200, { affected: 2 });
      const post = () => agent.post('/meters').set('Idempotency-Key', '"k"').send({ id: 7, name: 'k' });
      const [once, again] = [await post(), await post()];
      expect([once.status, once.headers['etag']]).to.deep.equal([201, await tagOf(7)]);
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
      expect((await agent.get('/readings/eu,1')).headers['etag']).to.equal(changed.headers['etag']);
      const anew = await agent.put('/readings/eu,2').send({ name: 'e' });
      expectJson(anew, 201, { region: 'eu', no: 2, name: 'e' });
      expect((await agent.get('/readings/eu,2')).headers['etag']).to.equal(anew.headers['etag']);
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
