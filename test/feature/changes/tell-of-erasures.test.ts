/** An erasure takes the values away by which changes are judged: followers are told to read again, and miss nothing. */
// @runs fast
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, Repository, unitOfWork } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ changes: true, history: { onPurge: 'erase' } })
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud({
  changes: true,
  history: { onPurge: 'erase' },
  scope: { tenant: ({ headers }) => Number(headers['x-tenant']) },
  can: { deleted: true },
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'purge'],
})
@Table({ tableName: 'members', paranoid: true, createdAt: false, updatedAt: false })
class Member extends NumberedRow {
  @Column(DataType.INTEGER) declare tenant: number;
  @Column(DataType.TEXT) declare name: string | null;
}

/** Milliseconds. */
const TICK = 50;

except(OF_FEEDS).describe('an erasure', () => {
  const site = serveTestApp(() => ({
    models: [Guest, Member],
    bootstrap: { changes: { tick: TICK }, indexAdvice: false },
  }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const [one, two] = [{ 'X-Tenant': '1' }, { 'X-Tenant': '2' }];
  const read = async (path: string, headers = {}) => {
    // A request makes a tick where the last one is older than that.
    await delay(TICK);
    return (await site.agent.get(path).set(headers).expect(200)).body;
  };
  /** Operations and ids of the events of some writes. */
  const told = async (path: string, write: () => Promise<unknown>, headers = {}): Promise<string[]> => {
    const { next_cursor } = await read(path, headers);
    await write();
    const { items } = await read(`${path}?after=${next_cursor}`, headers);
    return items.map(({ op, id }: { op: string; id?: string }) => (id === undefined ? op : `${op} ${id}`));
  };

  it('with a delete is one reset, in pages and streams, whoever deletes', async () => {
    const stream = new OpenStream(await requestStream(`${site.server.url}/guests/changes`));
    await stream.until(({ ids }) => ids.length > 0);
    await sql(`INSERT INTO guests VALUES (1, 'Ann'), (2, 'Bea'), (3, 'Cem')`);
    await stream.until(({ events }) => events.length === 3);
    const remove = () => site.agent.delete('/guests/1').expect(204);
    expect(await told('/guests/changes', remove)).to.deep.equal(['reset']);
    await stream.until(({ events }) => events.length === 4);
    expect(await told('/guests/changes', () => sql('DELETE FROM guests'))).to.deep.equal(['reset']);
    await stream.until(({ events }) => events.length === 5);
    expect(stream.events.slice(3).map(({ op }) => op)).to.deep.equal(['reset', 'reset']);
    stream.response.destroy();
  });

  it('with a purge tells of a deletion that nobody has asked for before', async () => {
    await sql(`INSERT INTO members (id, tenant, name) VALUES (1, 1, 'Ann')`);
    const purge = async () => {
      await site.agent.delete('/members/1').set(one).expect(204);
      await site.agent.delete('/members/1/purge').set(one).expect(204);
    };
    expect(await told('/members/changes', purge, one)).to.deep.equal(['reset']);
  });

  it('of values tells of the update that has changed them, between other events', async () => {
    await sql(`INSERT INTO members (id, tenant, name) VALUES (5, 1, 'Ann')`);
    const members = new Repository(Member).unscoped();
    const write = async () => {
      await sql(`INSERT INTO members (id, tenant, name) VALUES (6, 1, 'Bea')`);
      await unitOfWork(async () => {
        await members.update(5, { name: null });
        await members.eraseHistory(5, ['name']);
      });
      await sql(`UPDATE members SET name = 'Cem' WHERE id = 6`);
    };
    expect(await told('/members/changes', write, one)).to.deep.equal(['create 6', 'reset', 'update 6']);
  });

  it('says nothing of its request to those who may not see the record', async () => {
    await sql(`INSERT INTO members (id, tenant, name) VALUES (7, 1, 'Ann')`);
    const { next_cursor } = await read('/members/changes', two);
    await site.agent.delete('/members/7').set(one).expect(204);
    await site.agent.delete('/members/7/purge').set(one).expect(204);
    const { items } = await read(`/members/changes?after=${next_cursor}`, two);
    expect(items).to.have.length(1);
    expect(items[0]).to.deep.equal({ op: 'reset', at: items[0].at, request_id: null });
  });

  it('of an actor is no event', async () => {
    await sql(`UPDATE crud_changes SET context = '{"actor": "42"}'`);
    const write = () => new Repository(Guest).eraseActor('42');
    expect(await told('/guests/changes', write)).to.deep.equal([]);
  });
});
