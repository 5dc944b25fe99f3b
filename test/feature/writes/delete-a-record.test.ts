/** Deleting a record: for good, or marked as deleted where the model is paranoid. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, DeletedAt, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare seat: string;
}

@Crud({ prefix: '/letters' })
@Table({ tableName: 'letters', paranoid: true, createdAt: false, updatedAt: false, underscored: true })
class Letter extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare subject: string;
  @DeletedAt declare binnedAt: Date | null;
}

describe('deleting a record', () => {
  const site = serveTestApp(() => ({ models: [Ticket, Letter], engine: { pool: { max: 1 } } }));

  const rows = (statement: string) => site.engine.sequelize.query(statement, { type: QueryTypes.SELECT });

  beforeEach(async () => {
    await emptyTables(site, 'tickets', 'letters');
    await Ticket.bulkCreate([{ seat: 'A1' }, { seat: 'A2' }]);
    await Letter.bulkCreate([{ subject: 'Hello' }, { subject: 'Bye' }]);
  });

  /** Expects a record to be missing for each method. */
  async function expectMissing(path: string, { name }: { readonly name: string }, body: object) {
    const { agent } = site;
    const requests = [
      agent.get(path),
      agent.patch(path).send(body),
      agent.patch(path).send({}),
      agent.delete(path),
    ];
    for (const request of requests)
      expectProblem(await request, 404, { detail: `There is no ${name} with this id.` });
  }

  describe('of a model that deletes for good', () => {
    it('answers 204 without a body and removes the row', async () => {
      expectNothing(await site.agent.delete('/tickets/1'), 204);
      expect(await rows('SELECT * FROM tickets')).to.deep.equal([{ id: 2, seat: 'A2' }]);
    });

    it('[E6] answers 404 to everything that is asked of the record afterwards', async () => {
      await site.agent.delete('/tickets/1');
      await expectMissing('/tickets/1', Ticket, { seat: 'B1' });
    });

    it('runs the hooks of the model', async () => {
      const seen: unknown[] = [];
      const see = (ticket: Ticket) => seen.push(ticket.seat);
      expectNothing(await withHook(Ticket, 'beforeDestroy', see, () => site.agent.delete('/tickets/2')), 204);
      expect(seen).to.deep.equal(['A2']);
      expect(await rows('SELECT * FROM tickets')).to.deep.equal([{ id: 1, seat: 'A1' }]);
    });
  });

  describe('of a model that marks rows as deleted', () => {
    beforeEach(async () => {
      expectNothing(await site.agent.delete('/letters/1'), 204);
    });

    it('keeps the row and says when it was deleted', async () => {
      const [row] = (await rows('SELECT * FROM letters WHERE id = 1')) as [Record<string, unknown>];
      const { binned_at, ...rest } = row;
      expect(rest).to.deep.equal({ id: 1, subject: 'Hello' });
      expect(binned_at).to.be.an.instanceOf(Date);
    });

    it('answers 404 to everything that is asked of the record afterwards', async () => {
      await expectMissing('/letters/1', Letter, { subject: 'Again' });
    });

    it('[E6] does not list or count the record any more', async () => {
      expectJson(await site.agent.get('/letters'), 200, {
        items: [{ id: 2, subject: 'Bye', binnedAt: null }],
        total: 1,
        page: 1,
        size: 20,
        pages: 1,
        has_next: false,
        has_prev: false,
      });
      const { body } = await site.agent.get('/letters?size=1');
      expect(body).to.include({ total: 1, has_next: false });
    });

    it('does not touch a record that was deleted before', async () => {
      const before = await rows('SELECT * FROM letters WHERE id = 1');
      await site.agent.delete('/letters/1');
      expect(await rows('SELECT * FROM letters WHERE id = 1')).to.deep.equal(before);
    });
  });
});
