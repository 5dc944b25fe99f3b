/** A foreign table: as a table, but that nothing proves its key unique, and that it has no tags of its own. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Test } from 'supertest';
import { Crud } from '../../../src/index.js';
import { ENDPOINTS_FOR_GOOD } from '../../models/endpoints.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

class Named extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

@Crud({ prefix: '/far', endpoints: ENDPOINTS_FOR_GOOD, filterAllow: ['name'], pagination: 'cursor' })
@Table({ tableName: 'far', timestamps: false })
class Far extends Named {}

/** Its server takes no writes. */
@Crud({ prefix: '/kept' })
@Table({ tableName: 'kept', timestamps: false })
class Kept extends Named {}

@Crud({ prefix: '/tagged', etag: 'xmin' })
@Table({ tableName: 'far', timestamps: false })
class Tagged extends Named {}

const tables = ({ hostname, port, pathname, username, password }: URL) => `
  CREATE EXTENSION postgres_fdw;
  CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw
    OPTIONS (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}');
  CREATE USER MAPPING FOR CURRENT_USER SERVER loop OPTIONS (user '${username}', password '${password}');
  CREATE TABLE near (id int NOT NULL, name varchar(20) NOT NULL CHECK (name <> 'no'));
  CREATE FOREIGN TABLE far (id int NOT NULL, name varchar(20) NOT NULL) SERVER loop OPTIONS (table_name 'near');
  CREATE FOREIGN TABLE kept (id int NOT NULL, name varchar(20) NOT NULL) SERVER loop
    OPTIONS (table_name 'near', updatable 'false')`;

except(OF_MANY).describe('a foreign table', () => {
  const { apps, query } = serveTables((url) => tables(new URL(url)), [Far, Kept], { others: [Tagged] });
  const rows = () => query('TABLE near ORDER BY id, name');

  beforeEach(() => query(`TRUNCATE near; INSERT INTO near VALUES (7, 'one'), (7, 'two'), (8, 'three')`));

  it('is read and written', async () => {
    for (const { agent } of apps) {
      expectJson(await agent.post('/far').send({ id: 1, name: 'a' }), 201, { id: 1, name: 'a' });
      expectJson(await agent.get('/far/1'), 200, { id: 1, name: 'a' });
      expectJson(await agent.patch('/far/1').send({ name: 'b' }), 200, { id: 1, name: 'b' });
      expectJson(await agent.put('/far/1').send({ name: 'c' }), 200, { id: 1, name: 'c' });
      expectJson(await agent.put('/far/2').send({ name: 'd' }), 201, { id: 2, name: 'd' });
      const changes = [1, 2].map((id) => ({ id, name: 'e' }));
      expectJson(await agent.patch('/far').send(changes), 200, { items: changes });
      const first = (await agent.get('/far?size=1&q=name==e')).body;
      const second = (await agent.get(`/far?size=1&q=name==e&after=${first.next_cursor}`)).body;
      expect([...first.items, ...second.items]).to.deep.equal(changes);
      expectNothing(await agent.delete('/far/1'), 204);
      expectJson(await agent.delete('/far?q=name==e'), 200, { affected: 1 });
      expect((await agent.get('/far/1')).status).to.equal(404);
      expect((await agent.post('/far').send({ id: 3, name: 'no' })).status).to.equal(422);
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

  it('has no tags of its own', async () => {
    const failure = await caughtError(() => buildApp({ models: [Tagged], logger: new CapturedLog() }));
    expect(Object(failure).problems).to.deep.equal([
      `Tagged: etag is 'xmin', and the foreign table "far" has no such column of its own; give the model a version, or leave etag out.`,
    ]);
  });
});
