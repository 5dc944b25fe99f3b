/** Names of rows in `crud_changes`: a history finds the changes of each key, in any zone and by any name of a column. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const PAST = {
  history: true,
  can: { history: true, deleted: true },
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'revert'],
} as const satisfies CrudOptions;

@Crud(PAST)
@Table({ tableName: 'readings', timestamps: false })
class Reading extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare sensor: number;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.INTEGER) declare value: number | null;
}

@Crud(PAST)
@Table({ tableName: 'moments', timestamps: false })
class Moment extends Model {
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.INTEGER) declare value: number | null;
}

/** Addressed by a text that PostgreSQL pads. */
@Crud({ ...PAST, id: 'code' })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @Column({ type: DataType.CHAR(5), allowNull: false, unique: true }) declare code: string;
}

/** Columns with the names of rows in statements. */
@Crud(PAST)
@Table({ tableName: 'genres', timestamps: false })
class Genre extends NumberedRow {
  @Column({ type: DataType.TEXT, field: 'Genre' }) declare name: string;
  @Column({ type: DataType.TEXT, field: 'k' }) declare key: string | null;
  @Column({ type: DataType.TEXT, field: 'now' }) declare state: string | null;
}

const REASON = 'it has a method read, with which no application has histories';

for (const timezone of ['+00:00', '+02:00', 'America/St_Johns'])
  except({ session: REASON, records: REASON }).describe(`the name of a row, in the zone ${timezone}`, () => {
    const site = serveTestApp(() => ({
      models: [Reading, Moment, Shelf, Genre],
      engine: { timezone },
      bootstrap: { indexAdvice: false },
    }));
    const sql = (text: string) => site.engine.sequelize.query(text);
    const operations = async (path: string): Promise<string[]> => {
      const { body, status } = await site.agent.get(`${path}/history`);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.items.map(({ op }: { op: string }) => op);
    };

    beforeEach(() => emptyTables(site, 'readings', 'moments', 'shelves', 'genres', 'crud_changes'));

    for (const [path, key] of [
      ['/readings', { sensor: 1 }],
      ['/moments', {}],
    ] as const)
      it(`with a moment in its key is that of its changes: ${path}`, async () => {
        const at = '2026-01-31T08:00:00.250Z';
        await site.agent
          .post(path)
          .send({ ...key, at, value: 1 })
          .expect(201);
        const record = `${path}/${'sensor' in key ? `1,${at}` : at}`;
        await site.agent.patch(record).send({ value: 2 }).expect(200);
        expect(await operations(record)).to.deep.equal(['update', 'create']);
        const { body } = await site.agent.get(`${record}/history`);
        const reverted = await site.agent.post(`${record}/revert`).send({ to: body.items[1].id });
        expect([reverted.status, reverted.body.value]).to.deep.equal([200, 1]);
        await site.agent.delete(record).expect(204);
        expect(await operations(record)).to.deep.equal(['delete', 'update', 'update', 'create']);
      });

    for (const [at, id] of [
      ['infinity', 'infinity'],
      ['-infinity', '-infinity'],
      ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
      ['12026-01-31 08:00:00+00', '+012026-01-31T08:00:00.000Z'],
      ['2026-01-31 08:00:00.000001+00', '2026-01-31T08:00:00.000001Z'],
    ])
      it(`is that of its changes: ${at}`, async () => {
        await sql(`INSERT INTO readings VALUES (1, '${at}')`);
        expect(await operations(`/readings/1,${encodeURIComponent(id ?? '')}`)).to.deep.equal(['create']);
      });

    it('is found by an address that PostgreSQL pads, also of a row that is gone', async () => {
      await sql(`INSERT INTO shelves VALUES (7, 'ab')`);
      expect(await operations('/shelves/ab')).to.deep.equal(['create']);
      await sql('DELETE FROM shelves');
      expect(await operations('/shelves/ab')).to.deep.equal(['delete', 'create']);
    });

    it('needs no other names of columns', async () => {
      await sql(`INSERT INTO genres VALUES (1, 'a', 'x', 'y'); UPDATE genres SET k = 'z'`);
      expect(await operations('/genres/1')).to.deep.equal(['update', 'create']);
      await sql('DELETE FROM genres');
      expect(await operations('/genres/1')).to.deep.equal(['delete', 'update', 'create']);
    });
  });
