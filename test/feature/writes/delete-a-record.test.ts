/** Deleting a record: for good, or marked as deleted where the model is paranoid. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, DeletedAt, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { onPath } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

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
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Ticket, Letter],
    engine: { logging: sql.record, pool: { max: 1 } },
  }));

  const rows = (statement: string) => site.engine.sequelize.query(statement, { type: QueryTypes.SELECT });

  beforeEach(async () => {
    await emptyTables(site, 'tickets', 'letters');
    await Ticket.bulkCreate([{ seat: 'A1' }, { seat: 'A2' }]);
    await Letter.bulkCreate([{ subject: 'Hello' }, { subject: 'Bye' }]);
  });

  describe('of a model that deletes for good', () => {
    it('answers 204 without a body and removes the row', async () => {
      expectNothing(await site.agent.delete('/tickets/1'), 204);
      expect(await rows('SELECT * FROM tickets')).to.deep.equal([{ id: 2, seat: 'A2' }]);
    });

    it('uses one statement', async () => {
      const { statements } = await sql.duringRequest(() => site.agent.delete('/tickets/1'));
      const statement = onPath({
        fast: 'DELETE FROM "tickets" AS "Ticket" WHERE "Ticket"."id" = $1',
        general: 'DELETE FROM "tickets" WHERE "id" = 1',
      });
      expect(statements).to.deep.equal([statement]);
    });

    it('[E6] answers 404 to everything that is asked of the record afterwards', async () => {
      await site.agent.delete('/tickets/1');
      const missing = { detail: 'There is no Ticket with this id.' };
      expectProblem(await site.agent.get('/tickets/1'), 404, missing);
      expectProblem(await site.agent.patch('/tickets/1').send({ seat: 'B1' }), 404, missing);
      expectProblem(await site.agent.delete('/tickets/1'), 404, missing);
    });

    it('lets one of several at the same time succeed', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => site.agent.delete('/tickets/1')));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([204, 404, 404]);
    });

    it('refuses a query parameter and deletes nothing', async () => {
      expectIssue(await site.agent.delete('/tickets/1?force=true'), 400, {
        parameter: 'force',
        code: 'unknown',
        detail: "This route has no parameter 'force'. It accepts none.",
      });
      expect(await rows('SELECT id FROM tickets ORDER BY id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
    });

    it('runs the hooks of the model', async () => {
      const seen: unknown[] = [];
      Ticket.addHook('beforeDestroy', 'see', (ticket) => void seen.push(ticket.get('seat')));
      const response = await site.agent.delete('/tickets/2').then((answer) => answer);
      Ticket.removeHook('beforeDestroy', 'see');
      expectNothing(response, 204);
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
      const missing = { detail: 'There is no Letter with this id.' };
      expectProblem(await site.agent.get('/letters/1'), 404, missing);
      expectProblem(await site.agent.patch('/letters/1').send({ subject: 'Again' }), 404, missing);
      expectProblem(await site.agent.patch('/letters/1').send({}), 404, missing);
      expectProblem(await site.agent.delete('/letters/1'), 404, missing);
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
