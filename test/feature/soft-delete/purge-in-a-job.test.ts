/** `Repository.purge({ before, limit })`: jobs remove what was soft-deleted long ago, in batches. */
import { expect } from 'chai';
import type { DestroyOptions } from 'sequelize';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, Repository, unitOfWork } from '../../../src/index.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list'] })
@Table({ tableName: 'mails', paranoid: true, updatedAt: false, createdAt: false })
class Mail extends Model {
  @PrimaryKey @AutoIncrement @Column({ type: DataType.INTEGER, field: 'mail_no' }) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.DATE, field: 'deleted_at' }) declare deletedAt: Date | null;
}

const day = (number: number) => new Date(Date.UTC(2026, 0, number));

describe('a purge of old rows', () => {
  const site = serveTestApp(() => ({ models: [Mail], minPool: 3 }));
  const mails = new Repository(Mail);
  const left = async () => (await mails.list({ deleted: 'with' })).map(({ id }) => id);

  beforeEach(async () => {
    await emptyTables(site, 'mails');
    const moments = [day(5), null, day(1), day(2), day(3), day(9)];
    await Mail.bulkCreate(moments.map((deletedAt, index) => ({ tenant: 1 + (index % 2), deletedAt })));
  });

  it('[S17] takes those that were deleted before the moment, by key, until there are none', async () => {
    expect(await mails.purge({ before: day(5), limit: 2 })).to.equal(2);
    expect(await left()).to.deep.equal([1, 2, 5, 6]);
    expect(await mails.purge({ before: day(5), limit: 2 })).to.equal(1);
    expect(await mails.purge({ before: day(5) })).to.equal(0);
    expect(await mails.purge({ before: day(99) })).to.equal(2);
    expect(await left()).to.deep.equal([2]);
  });

  it('runs the hooks of a destroy, which may refuse all of it', async () => {
    const seen: string[] = [];
    using _bulk = addedHook(Mail, 'beforeBulkDestroy', ({ force }: DestroyOptions) =>
      seen.push(`bulk ${force}`),
    );
    using _before = addedHook(Mail, 'beforeDestroy', ({ id }: Mail) => seen.push(`before ${id}`));
    using _after = addedHook(Mail, 'afterDestroy', ({ id }: Mail) => {
      if (id === 5) throw new Error('Not this one.');
    });
    const failure = await caughtError(() => mails.purge({ before: day(5) }));
    expect(String(failure)).to.equal('Error: Not this one.');
    expect(seen).to.have.members(['bulk true', 'before 3', 'before 4', 'before 5']);
    expect(await left()).to.have.lengthOf(6);
    expect(await mails.purge({ before: day(3) })).to.equal(2);
  });

  it('[S17] passes rows that something else is changing, and joins the transaction of its session', async () => {
    await unitOfWork(async (uow) => {
      await mails.with(uow).restore(3);
      expect(await mails.purge({ before: day(4) }), 'in the same unit').to.equal(2);
    });
    expect(await left()).to.deep.equal([1, 2, 3, 6]);
    const waiting = await site.engine.sequelize.transaction();
    try {
      await Mail.findByPk(1, { paranoid: false, transaction: waiting, lock: true });
      const alone = site.engine.sequelize.transaction((transaction) =>
        mails.with({ transaction } as never).purge({ before: day(99) }),
      );
      expect(await alone).to.equal(1);
    } finally {
      await waiting.rollback();
    }
    expect(await left()).to.deep.equal([1, 2, 3]);
  });

  it('takes only rows that the request may see, where a request starts it', async () => {
    class Mails extends crudController(Mail, { endpoints: ['delete'], scope: { tenant: () => 1 } }) {
      override async remove(_id: number, { repository }: CrudContext<Mail>) {
        expect(await repository.purge({ before: day(99) })).to.equal(3);
      }
    }
    const { agent } = await buildApp({ models: [], controllers: [Mails] });
    expect((await agent.delete('/mails/2')).status).to.equal(204);
    expect(await left()).to.deep.equal([2, 4, 6]);
  });

  it('tells what is wrong with its arguments', async () => {
    const wrong: readonly (readonly [object, typeof TypeError, string])[] = [
      [{}, TypeError, 'purge.before is undefined; use a Date'],
      [{ before: '2026-01-01' }, TypeError, 'purge.before is "2026-01-01"; use a Date'],
      [{ befor: day(1) }, TypeError, "purge has no option 'befor'. Did you mean 'before'?"],
      [{ before: new Date(Number.NaN) }, RangeError, 'purge.before is an invalid Date'],
      [{ before: day(1), limit: 0 }, RangeError, 'purge.limit is 0; use an integer from 1.'],
      [{ before: day(1), limit: 1.5 }, RangeError, 'purge.limit is 1.5; use an integer from 1.'],
      [{ before: day(1), limit: '5' }, RangeError, 'purge.limit is "5"; use an integer from 1.'],
    ];
    for (const [options, kind, text] of wrong) {
      const failure = await caughtError(() => mails.purge(options as { before: Date }));
      expect(failure).to.be.instanceOf(kind);
      expect(String(failure)).to.include(text);
    }
    expect(await left()).to.have.lengthOf(6);
  });
});
