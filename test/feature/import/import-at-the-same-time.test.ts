/** Imports at once whose hooks lock the same things in another order: a deadlock is no fault of a row. */
// @runs fast
import { expect } from 'chai';
import type { Transaction } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { deferred } from '../../support/deferred.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud({ import: { modes: ['update'] } })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @Column(DataType.TEXT) declare note: string | null;
}

except(OF_MANY).describe('imports that lock the same at once, row by row', function () {
  this.timeout(30_000);
  const site = serveTestApp(() => ({
    models: [Shelf],
    minPool: 4,
    bootstrap: { idempotency: { principal: () => 'ann' } },
  }));
  const send = (note: string, id: number, query: string): Promise<Response> =>
    site.agent
      .post(`/shelves/import${query}`)
      .set({ 'Content-Type': 'text/csv', 'Idempotency-Key': note })
      .send(`id,note\n${id},${note}\n`) as never;
  const notes = async () => (await Shelf.findAll({ order: ['id'], useMaster: true })).map(({ note }) => note);

  beforeEach(async () => {
    await emptyTables(site, 'shelves', 'crud_import');
    await Shelf.bulkCreate([{ id: 1 }, { id: 2 }]);
  });

  /** Sends two files, each of which has its first lock before the other waits for it. */
  const sendBoth = async (query: string): Promise<readonly Response[]> => {
    const both = deferred();
    let met = 0;
    const lock = (id: number, transaction: Transaction) =>
      site.engine.sequelize.query(`SELECT pg_advisory_xact_lock(${id})`, { transaction });
    const meet = async ({ id }: Shelf, { transaction }: { transaction: Transaction }) => {
      await lock(id, transaction);
      met += 1;
      if (met === 2) both.resolve();
      await both.promise;
      await lock(3 - id, transaction);
    };
    return withHook(Shelf, 'afterUpdate', meet, () =>
      Promise.all([send('up', 1, query), send('down', 2, query)]),
    );
  };

  const TOGETHER = 'all parts are in the unit of work of its middleware, so that none is stored for itself';
  except({ unit: TOGETHER }).it('are all stored, where each part is stored for itself', async () => {
    for (const { status, body } of await sendBoth('?atomic=false'))
      expect({ status, updated: body.updated, errors: body.errors }).to.deep.equal({
        status: 200,
        updated: 1,
        errors: [],
      });
    expect(await notes()).to.deep.equal(['up', 'down']);
  });

  it('are stored or to be sent again, where all rows are stored or none', async () => {
    const answers = await sendBoth('');
    const [stored, refused] = [...answers].sort((one, other) => one.status - other.status) as [
      Response,
      Response,
    ];
    expect([stored.status, stored.body.updated]).to.deep.equal([200, 1]);
    expectProblem(refused, 409, {
      detail: 'Somebody else changed the data at the same time; try again.',
    });
    const isUp = answers[0] === refused;
    const again = await send(isUp ? 'up' : 'down', isUp ? 1 : 2, '');
    expect([again.status, again.body.updated, again.headers['idempotent-replayed']]).to.deep.equal([
      200,
      1,
      undefined,
    ]);
    expect(await notes()).to.deep.equal(['up', 'down']);
  });
});
