/** Reads on two replicas, one of which is behind: an answer of several statements is of one of them. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { UNGUARDED } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { execute } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'lands', timestamps: false })
class Land extends NamedRow {}

@Crud({ include: { land: UNGUARDED }, filterAllow: ['name'] })
@Table({ tableName: 'ports', timestamps: false })
class Port extends NamedRow {
  @ForeignKey(() => Land) @Column({ type: DataType.INTEGER, allowNull: false }) declare landId: number;
  @BelongsTo(() => Land) declare land?: Land;
}

describe('with several replicas', () => {
  const primary = forSuite(() => OwnPostgres.create('primary'));
  const ahead = forSuite(() => primary.createStandby('ahead'));
  const behind = forSuite(() => primary.createStandby('behind'));
  serveTestApp(() => ({
    models: [Land, Port] as ModelClass[],
    database: { url: primary.url('postgres') },
    engine: { replicas: [ahead.url('postgres'), behind.url('postgres')], pool: { max: 6 } },
    minPool: 6,
  }));

  const countOn = async (server: OwnPostgres) => {
    const [row] = await execute(server.url('postgres'), 'SELECT count(*)::int AS n FROM ports').catch(
      () => [],
    );
    return row?.['n'];
  };

  before(async () => {
    await execute(primary.url('postgres'), "INSERT INTO lands (name) VALUES ('old')");
    await execute(primary.url('postgres'), `INSERT INTO ports (name, "landId") VALUES ('old', 1)`);
    for (const server of [ahead, behind]) while ((await countOn(server)) !== 1);
    await execute(behind.url('postgres'), 'SELECT pg_wal_replay_pause()');
    await execute(primary.url('postgres'), "INSERT INTO lands (name) VALUES ('new')");
    await execute(primary.url('postgres'), `INSERT INTO ports (name, "landId") VALUES ('new', 2)`);
    while ((await countOn(ahead)) !== 2);
  });

  for (const fastPath of [true, false]) {
    it(`an answer is of one of them, fastPath ${fastPath}`, async () => {
      const { agent } = await buildApp({ models: [Land, Port], fastPath });
      const seen = new Set<number>();
      for (let round = 0; round < 24; round += 1) {
        const { body } = await agent.get('/ports?q=name==new&include=land');
        expect(body.total).to.equal(body.items.length);
        for (const { land } of body.items) expect(land).to.deep.equal({ id: 2, name: 'new' });
        seen.add(body.total);
        // Each server in turn would have the same of these requests.
        if (round % 2 === 0) await agent.get('/lands/1');
        const { body: one, status } = await agent.get('/ports/2?include=land');
        if (status === 200) expect(one.land).to.deep.equal({ id: 2, name: 'new' });
        else expect(status).to.equal(404);
      }
      expect([...seen].sort()).to.deep.equal([0, 1]);
    });
  }
});
