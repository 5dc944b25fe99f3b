/** A trigger that gives rows their version: each answer and tag is that of the row as it is, on both paths. */
// @runs fast

import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import type { BuiltApp } from '../../support/build-app.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTables } from '../../support/serve-tables.js';

@Crud({
  prefix: '/leaves',
  endpoints: ['read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  filterAllow: ['id'],
})
@Table({ tableName: 'leaves', timestamps: false, version: true })
class Leaf extends KeyedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
}

const TABLE = `
  CREATE TABLE leaves (id int PRIMARY KEY, name text, size int, version int);
  CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN NEW.version := CASE TG_OP WHEN 'INSERT' THEN 100 ELSE OLD.version + 10 END; RETURN NEW; END $f$;
  CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON leaves FOR EACH ROW EXECUTE FUNCTION stamp();
  CREATE FUNCTION shrink() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.size := -1; RETURN NEW; END $f$;
  CREATE TRIGGER shrink BEFORE UPDATE OF name ON leaves FOR EACH ROW EXECUTE FUNCTION shrink()`;

except(OF_MANY).describe('a version that a trigger gives', () => {
  const { apps, query } = serveTables(TABLE, [Leaf]);

  beforeEach(() => query('TRUNCATE leaves'));

  for (const [index, path] of ['fast', 'general'].entries()) {
    const agent = () => (apps[index] as BuiltApp).agent;

    it(`is that of the answer to a write, on the ${path} path`, async () => {
      const leaf = (name: string, version: number) => ({ id: 1, name, size: name === 'a' ? 1 : -1, version });
      for (const [sent, expected] of [
        [agent().post('/leaves').send({ id: 1, name: 'a', size: 1 }), leaf('a', 100)],
        [agent().patch('/leaves/1').send({ name: 'b' }), leaf('b', 110)],
        [agent().put('/leaves/1').send({ name: 'c', size: 4 }), leaf('c', 120)],
      ] as const) {
        const { status, body, headers } = await sent;
        expect([status < 300, body, headers['etag']]).to.deep.equal([
          true,
          expected,
          `"${expected.version}"`,
        ]);
        const read = await agent().get('/leaves/1');
        expect([read.body, read.headers['etag']]).to.deep.equal([body, headers['etag']]);
      }
      const many = await agent()
        .post('/leaves')
        .send([{ id: 2 }, { id: 3 }]);
      expect(many.body.items.map(({ version }: Leaf) => version)).to.deep.equal([100, 100]);
      const changed = await agent()
        .patch('/leaves')
        .send([
          { id: 2, size: 7 },
          { id: 3, size: 7 },
        ]);
      expect(changed.body.items.map(({ version }: Leaf) => version)).to.deep.equal([110, 110]);
    });

    it(`lets a trigger on one column run for rows whose value changes, on the ${path} path`, async () => {
      await agent()
        .post('/leaves')
        .send([
          { id: 1, name: 'a', size: 1 },
          { id: 2, name: 'b', size: 2 },
        ]);
      const { status, body } = await agent().patch('/leaves?q=id=le=2').send({ name: 'a', size: 5 });
      expect([status, body]).to.deep.equal([200, { affected: 2 }]);
      expect((await agent().get('/leaves/1')).body.size).to.equal(5);
      expect((await agent().get('/leaves/2')).body.size).to.equal(-1);
    });
  }
});
