/** Feeds where reads go to a replica that is behind: a real server, which follows the other one. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { serveTestApp } from '../../support/test-app.js';

for (const fastPath of [true, false]) {
  @Crud({ prefix: '/parcels', changes: true })
  @Table({ tableName: 'parcels', timestamps: false })
  class Parcel extends NumberedRow {
    @Column(DataType.TEXT) declare name: string;
  }

  except(OF_FEEDS).describe(`a feed whose reads go to a replica, fastPath ${fastPath}`, () => {
    const primary = forSuite(() => OwnPostgres.create('primary'));
    const replica = forSuite(() => primary.createStandby('replica'));
    const site = serveTestApp(() => ({
      models: [Parcel] as ModelClass[],
      database: { url: primary.url('postgres') },
      engine: { replicas: [replica.url('postgres')], pool: { max: 5 } },
      bootstrap: { fastPath, changes: { tick: 50 } },
    }));
    const get = async (path: string) => (await site.agent.get(`/parcels${path}`)).body;
    const names = async () => (await get('')).items.map(({ name }: { name: string }) => name);
    const create = (name: string) => site.agent.post('/parcels').send({ name });
    const ask = (name: string) =>
      site.engine.sequelize.query(`SELECT pg_wal_replay_${name}()`, { type: QueryTypes.SELECT });
    const whileItWaits = async <T>(work: () => Promise<T>): Promise<T> => {
      await ask('pause');
      return work().finally(() => ask('resume'));
    };
    const untilThereAre = async (count: number) => {
      while (((await get(''))?.items ?? []).length < count);
    };

    before(async () => {
      await create('first');
      await untilThereAre(1);
      while ((await site.agent.get('/parcels/changes?after=now')).status !== 200);
    });

    it('misses nothing in a first copy of a replica that is behind', async () => {
      const { cursor, copied } = await whileItWaits(async () => {
        await create('second');
        const { next_cursor } = await get('/changes?after=now');
        return { cursor: next_cursor, copied: await names() };
      });
      expect(copied).to.deep.equal(['first']);
      const { items } = await get(`/changes?after=${cursor}&wait=10`);
      expect(items).to.deep.include({ ...items.at(-1), op: 'create', id: '2' });
      expect(await names()).to.deep.equal(['first', 'second']);
    });

    it('tells of a change when a read sees it', async () => {
      const { next_cursor } = await get('/changes?after=now');
      const { early, answer } = await whileItWaits(async () => {
        await site.agent.patch('/parcels/1').send({ name: 'changed' });
        const { items } = await get(`/changes?after=${next_cursor}&wait=1`);
        return { early: items, answer: get(`/changes?after=${next_cursor}&wait=10`) };
      });
      expect(early).to.deep.equal([]);
      const { items } = await answer;
      expect(items.at(-1)).to.include({ op: 'update', id: '1' });
      expect((await get('/1')).name).to.equal('changed');
    });
  });
}
