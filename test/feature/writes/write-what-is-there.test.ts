/** Changes to values that a row has already, of tables whose triggers may leave out a row: each is a success. */
// @runs fast

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { except, OF_MANY, onPath } from '../../support/combination.js';
import { expectJson, expectNothing } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';

const TABLES = `
  CREATE TABLE accounts (id serial PRIMARY KEY, name text, pin text);
  CREATE TRIGGER redundant BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
  CREATE TABLE sensors (id serial PRIMARY KEY, name text, level double precision, span interval, words tsvector);
  CREATE TRIGGER words BEFORE INSERT OR UPDATE ON sensors
    FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(words, 'pg_catalog.english', name)`;

const ENDPOINTS = ['read', 'update', 'updateMany', 'replace'] as const;

@Crud({ prefix: '/accounts', endpoints: [...ENDPOINTS, 'list'], filterAllow: ['name'] })
@Table({ tableName: 'accounts', timestamps: false })
class Account extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Exclude({ toPlainOnly: true }) @Column(DataType.TEXT) declare pin: string | null;
}

/** Its hook has Sequelize write it on either path. */
const Sensor = served(
  'sensors',
  { name: DataType.TEXT, level: DataType.DOUBLE, span: { type: 'INTERVAL', allowNull: true } },
  { crud: { endpoints: ENDPOINTS }, table: { hooks: { beforeUpdate() {} } } },
);

/** No preference is followed where interceptors take part. */
const FOLLOWS_PREFERENCES = onPath({ fast: true, values: false });

except(OF_MANY).describe('a change to values that are there', () => {
  const { apps, query } = serveTables(TABLES, [Account, Sensor]);

  beforeEach(() =>
    query(`TRUNCATE accounts, sensors RESTART IDENTITY; INSERT INTO accounts (name, pin) VALUES ('ann', '0042');
      INSERT INTO sensors (name, level, span) VALUES ('a', 'Infinity', '1 hour')`),
  );

  it('is a success where the table skips updates that change nothing, and tells no hidden value', async () => {
    for (const { agent } of apps)
      for (const pin of ['0042', '0043']) {
        const row = { id: 1, name: 'ann' };
        const send = (path: string, body: object) => agent.patch(`/accounts?dry_run=true${path}`).send(body);
        expectJson(await send('', [{ id: 1, pin }]), 200, { items: [row] });
        expectJson(await send('&q=name==ann', { pin }), 200, { affected: 1 });
      }
  });

  it('is written once, and taken twice', async () => {
    for (const [index, { agent }] of apps.entries()) {
      const pin = String(index);
      for (const name of ['bob', 'bob']) {
        expectJson(await agent.patch('/accounts/1').send({ name, pin }), 200, { id: 1, name });
        expectJson(await agent.put('/accounts/1').send({ name, pin }), 200, { id: 1, name });
        const request = agent.patch('/accounts').set('Prefer', 'return=minimal');
        const minimal = await request.send([{ id: 1, name, pin }]);
        if (FOLLOWS_PREFERENCES) expectNothing(minimal, 204);
        else expectJson(minimal, 200, { items: [{ id: 1, name }] });
      }
      expect(await query('SELECT pin FROM accounts')).to.deep.equal([{ pin }]);
      expect((await agent.patch('/accounts/9').send({ pin })).status).to.equal(404);
    }
  });

  it('is a success in each form of the values', async () => {
    for (const { agent } of apps) {
      const { body } = await agent.get('/sensors/1');
      expect(body).to.deep.equal({ id: 1, name: 'a', level: 'Infinity', span: 'PT1H' });
      for (const name of ['level', 'span'])
        expectJson(await agent.patch('/sensors/1').send({ [name]: body[name] }), 200, body);
      expectJson(await agent.patch('/sensors').send([{ id: 1, level: body.level }]), 200, { items: [body] });
    }
  });
});
