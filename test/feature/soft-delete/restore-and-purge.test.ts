/** Soft-deleted records: brought back by `POST /{id}/restore`, removed for good by `DELETE /{id}/purge`, whatever their columns and hooks are, or by a job. */

import { expect } from 'chai';
import { Authorized, Body, Param, Post } from 'routing-controllers';
import type { DestroyOptions, SaveOptions } from 'sequelize';
import {
  AutoIncrement,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  ConfigError,
  Crud,
  type CrudContext,
  crudController,
  NotDeletedError,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const ENDPOINTS = ['list', 'read', 'update', 'delete', 'restore', 'purge'] as const;

@Crud({
  endpoints: ENDPOINTS,
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
  can: { deleted: (request) => request.get('x-guest') === undefined },
})
@Table({
  tableName: 'plots',
  paranoid: true,
  version: 'revision',
  deletedAt: 'removedAt',
  updatedAt: 'movedAt',
})
class Plot extends Model {
  @PrimaryKey @AutoIncrement @Column({ type: DataType.INTEGER, field: 'plot_no' }) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_no' }) declare tenant: number;

  @Column({ type: DataType.STRING(20), allowNull: false, unique: true, field: 'the_name' })
  declare name: string;

  @Column({ type: DataType.INTEGER, field: 'revision_no', allowNull: false, defaultValue: 0 })
  declare revision: number;

  @Column({ type: DataType.DATE, field: 'moved_at' }) declare movedAt: Date;
  @Column({ type: DataType.DATE, field: 'removed_at' }) declare removedAt: Date | null;
}

@Table({ tableName: 'trees', paranoid: true, timestamps: true })
class Tree extends NumberedRow {
  @ForeignKey(() => Plot)
  @Column({ type: DataType.INTEGER, references: { model: 'plots', key: 'plot_no' } })
  declare plotId: number;
}

@Crud({ endpoints: ENDPOINTS })
@DefaultScope(() => ({ where: { isOpen: true } }))
@Table({ tableName: 'gates', paranoid: true, createdAt: false, updatedAt: false })
class Gate extends KeyedRow {
  @Column(DataType.BOOLEAN) declare isOpen: boolean;
}

@Table({ tableName: 'plain_files' })
class PlainFile extends Model {}

const MISSING = { detail: 'There is no Plot with this id.' };
const ALIVE = { detail: 'This Plot is not deleted.' };

describe('a restore and a purge', () => {
  const log = new SqlLog();
  const site = serveTestApp(() => ({
    engine: { logging: log.record },
    models: [Plot, Tree, Gate, PlainFile],
    bootstrap: { models: [Plot, Gate] },
    minPool: 2,
  }));
  const ofPlot = (id: number) => Plot.findByPk(id, { paranoid: false });

  beforeEach(async () => {
    await emptyTables(site, 'trees', 'plots', 'gates');
    await Plot.bulkCreate([
      { tenant: 1, name: 'kept' },
      { tenant: 1, name: 'gone' },
      { tenant: 2, name: 'foreign' },
    ]);
    await Plot.destroy({ where: { id: [2, 3] } });
  });

  it('[S1 S5 S13] bring back a record as it was, in a new state, and write the same columns on every path', async () => {
    const restored: Record<string, unknown>[] = [];
    for (const isHooked of [false, true]) {
      using _hook = isHooked ? addedHook(Plot, 'beforeRestore') : undefined;
      const before = await ofPlot(2);
      const { status, body, headers } = await site.agent.post('/plots/2/restore');
      const after = await ofPlot(2);
      expect(status).to.equal(200);
      expect(after?.movedAt.getTime()).to.be.greaterThan(before?.movedAt.getTime() ?? 0);
      expect(body).to.deep.equal(JSON.parse(JSON.stringify(after)));
      expect(body).to.include({ name: 'gone', removedAt: null, revision: (before?.revision ?? 0) + 1 });
      expect(headers['etag']).to.match(new RegExp(`^"${body.revision}[".]`));
      expectJson(await site.agent.get('/plots/2'), 200, body);
      expectProblem(await site.agent.post('/plots/2/restore'), 409, ALIVE);
      restored.push({ ...body, movedAt: '', revision: 0 });
      await site.agent.delete('/plots/2');
    }
    expect(restored[0]).to.deep.equal(restored[1]);
  });

  it('[S2 S6] are removed for good', async () => {
    expectNothing(await site.agent.delete('/plots/2/purge'), 204);
    expect(await Plot.findByPk(2, { paranoid: false })).to.equal(null);
    expectProblem(await site.agent.delete('/plots/2/purge'), 404, MISSING);
  });

  it('[S5 S6 S8 S11] are neither where they are not deleted, not there, or not of the request', async () => {
    for (const send of [
      (id: number) => site.agent.post(`/plots/${id}/restore`),
      (id: number) => site.agent.delete(`/plots/${id}/purge`),
    ]) {
      expectProblem(await send(1), 409, ALIVE);
      expectProblem(await send(3), 404, MISSING);
      expectProblem(await send(9), 404, MISSING);
      expectProblem(await send(2).set('x-tenant', '2'), 404, MISSING);
      expectProblem(await send(1).set('x-tenant', '2'), 404, MISSING);
      expect((await send(2).set('x-guest', '1')).status).to.equal(403);
    }
    expect(await Plot.count({ paranoid: false })).to.equal(3);
  });

  it('[S5] are restored and purged by one of many requests at the same time', async () => {
    for (const [send, done, late] of [
      [() => site.agent.post('/plots/2/restore'), 200, 409],
      [() => site.agent.delete('/plots/2'), 204, 404],
      [() => site.agent.delete('/plots/2/purge'), 204, 404],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 8 }, send));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.sort((one, other) => one - other)).to.deep.equal([done, ...Array(7).fill(late)]);
    }
  });

  it('[M26] are not among many that are changed or deleted', async () => {
    class Plots extends crudController(Plot, {
      endpoints: ['updateMany', 'deleteMany'],
      filterAllow: ['name'],
    }) {}
    const { agent } = await buildApp({ models: [], controllers: [Plots] });
    const changed = await agent.patch('/plots').send([
      { id: 1, name: 'x' },
      { id: 2, name: 'y' },
    ]);
    expectProblem(changed, 404, { ...MISSING, errors: [{ pointer: '/1', code: 'notFound', ...MISSING }] });
    const found = '/plots?q=name=in=(kept,gone,foreign)&dry_run=true';
    expectJson(await agent.delete(found), 200, { affected: 1 });
    const each = await agent.patch(`${found}&atomic=false`).send({});
    expect(each.body.items.map(({ key }: { key: number }) => key)).to.deep.equal([1]);
    expect((await Plot.findByPk(1))?.name).to.equal('kept');
  });

  it('[S10] have tags, which both may name', async () => {
    for (const send of [
      () => site.agent.post('/plots/2/restore'),
      () => site.agent.delete('/plots/2/purge'),
    ]) {
      const refused = await send().set('if-match', '"7"');
      expect([refused.status, refused.headers['etag']]).to.deep.equal([412, '"0"']);
      expectProblem(await site.agent.post('/plots/1/restore').set('if-match', '"7"'), 409, ALIVE);
    }
    expect((await site.agent.post('/plots/2/restore').set('if-match', '"0"')).status).to.equal(200);
    await site.agent.delete('/plots/2');
    expectNothing(await site.agent.delete('/plots/2/purge').set('if-match', '"1"'), 204);
  });

  it('[S4] stay deleted where another record has their unique value by now', async () => {
    await site.engine.sequelize.query('ALTER TABLE plots DROP CONSTRAINT plots_the_name_key');
    await site.engine.sequelize.query(
      'CREATE UNIQUE INDEX plots_the_name_key ON plots (the_name) WHERE removed_at IS NULL',
    );
    await Plot.create({ tenant: 1, name: 'gone' });
    const refused = await site.agent.post('/plots/2/restore');
    expect([refused.status, refused.body.detail]).to.deep.equal([409, 'Another Plot has the same name.']);
  });

  it('[S17] are restored and purged by repositories, also through overrides', async () => {
    const plots = new Repository(Plot);
    expect((await plots.restore(2)).name).to.equal('gone');
    expect(await plots.purge(2).catch((error: unknown) => error)).to.be.instanceOf(NotDeletedError);
    await plots.delete(2);
    class Plots extends crudController(Plot) {
      override async restore(id: number, context: CrudContext<Plot>) {
        const plot = await super.restore(id, context);
        return context.repository.update(plot.id, { name: 'again' });
      }
    }
    const { agent } = await buildApp({ models: [Plot], controllers: [Plots] });
    expect((await agent.post('/plots/2/restore')).body.name).to.equal('again');
  });

  it('[S2] are no endpoints of models that remove their rows', async () => {
    class PlainFiles extends crudController(PlainFile, { endpoints: ['restore'] }) {}
    const failure = await caughtError(() => buildApp({ models: [], controllers: [PlainFiles] }));
    expect(failure).to.be.instanceOf(ConfigError);
    expect(String(failure)).to.include(
      "PlainFile: endpoints has 'restore', and a delete removes the rows; make the model paranoid, set softDelete, or leave it out.",
    );
  });

  it('are no endpoints where they would go past decorators of update and remove', async () => {
    class Plots extends crudController(Plot) {
      override update(id: number, values: object, context: CrudContext<Plot>) {
        return super.update(id, values, context);
      }
      override remove(id: number, context: CrudContext<Plot>) {
        return super.remove(id, context);
      }
    }
    Authorized('admin')(Plots.prototype, 'update');
    Authorized('admin')(Plots.prototype, 'remove');
    const routing = { authorizationChecker: () => false };
    const failure = await caughtError(() => buildApp({ models: [], controllers: [Plots], routing }));
    expect(failure).to.be.instanceOf(ConfigError);
    for (const [method, endpoint] of [
      ['update', 'restore'],
      ['remove', 'purge'],
    ]) {
      expect(String(failure)).to.include(
        `Plots.${method} has decorators that guard it, and endpoints has '${endpoint}', which would go past them; override ${endpoint}`,
      );
    }
    class Guarded extends Plots {
      override restore(id: number, context: CrudContext<Plot>) {
        return super.restore(id, context);
      }
      override purge(id: number, context: CrudContext<Plot>) {
        return super.purge(id, context);
      }
    }
    Authorized('admin')(Guarded.prototype, 'restore');
    Authorized('admin')(Guarded.prototype, 'purge');
    const { agent } = await buildApp({ models: [], controllers: [Guarded], routing });
    for (const send of [agent.post('/plots/2/restore'), agent.delete('/plots/2/purge')])
      expect((await send).status).to.equal(403);
    expect(await ofPlot(2)).to.not.equal(null);
  });

  except({ general: 'Sequelize locks before it writes' }).it('[S14] are one statement each', async () => {
    for (const [send, status] of [
      [() => site.agent.post('/plots/2/restore'), 200],
      [() => site.agent.delete('/plots/2'), 204],
      [() => site.agent.delete('/plots/2/purge'), 204],
    ] as const) {
      const { result, statements } = await log.duringRequest(send);
      expect(result.status).to.equal(status);
      expect(statements.filter((each) => each.includes('"plots"'))).to.have.length(1);
    }
  });

  it('see what hooks of a restore change, but for what the row belongs to', async () => {
    using _hook = addedHook(Plot, 'beforeRestore', (plot: Plot) => {
      plot.name = 'by hook';
      plot.tenant = 2;
    });
    expect((await site.agent.post('/plots/2/restore')).body).to.include({ name: 'by hook', tenant: 1 });
    expect(await ofPlot(2)).to.include({ name: 'by hook', tenant: 1, removedAt: null });
  });

  it('[S12] are refused by a hook, or where it has changed the row meanwhile', async () => {
    {
      const refuse = () => Promise.reject(new NotDeletedError('Not today.'));
      using _refusing = addedHook(Plot, 'beforeRestore', refuse);
      expectProblem(await site.agent.post('/plots/2/restore'), 409, { detail: 'Not today.' });
      expect(await Plot.findByPk(2)).to.equal(null);
    }
    using _hook = addedHook(Plot, 'beforeRestore', (_plot, { transaction = null }: SaveOptions) =>
      site.engine.sequelize.query('UPDATE plots SET revision_no = 7', { transaction }),
    );
    expect((await site.agent.post('/plots/2/restore')).status).to.equal(409);
    expect(await ofPlot(2))
      .to.include({ revision: 0 })
      .and.to.have.property('removedAt')
      .that.is.not.equal(null);
  });

  it('[S12] run the hooks of a destroy on what is purged, which may refuse', async () => {
    const seen: string[] = [];
    using _bulk = addedHook(Plot, 'beforeBulkDestroy', ({ force }: DestroyOptions) =>
      seen.push(`bulk ${force}`),
    );
    using _before = addedHook(Plot, 'beforeDestroy', ({ name }: Plot) => seen.push(`before ${name}`));
    using _after = addedHook(Plot, 'afterDestroy', ({ name }: Plot) => seen.push(`after ${name}`));
    expectNothing(await site.agent.delete('/plots/2/purge'), 204);
    expect(seen).to.deep.equal(['bulk true', 'before gone', 'after gone']);
    using _refusing = addedHook(Plot, 'beforeDestroy', () => Promise.reject(new Error('Not this one.')));
    const refused = await new Repository(Plot).purge(3).catch((error: unknown) => error);
    expect(String(refused)).to.equal('Error: Not this one.');
    expect(await ofPlot(3)).to.not.equal(null);
  });

  it('[S16] leave the records behind relations as they are', async () => {
    await Tree.bulkCreate([{ plotId: 2 }, { plotId: 2 }]);
    await Tree.destroy({ where: { id: 1 } });
    expect((await site.agent.post('/plots/2/restore')).status).to.equal(200);
    expect(
      (await Tree.findAll({ paranoid: false })).map(({ deletedAt }) => deletedAt === null),
    ).to.have.members([true, false]);
    await site.agent.delete('/plots/2');
    expect((await site.agent.delete('/plots/2/purge')).status).to.equal(409);
    expect(await Tree.count({ paranoid: false })).to.equal(2);
  });

  it('find no row outside of a default scope', async () => {
    await Gate.bulkCreate([
      { id: 1, isOpen: true },
      { id: 2, isOpen: false },
    ]);
    await Gate.unscoped().destroy({ where: { id: [1, 2] } });
    const missing = { detail: 'There is no Gate with this id.' };
    expectProblem(await site.agent.post('/gates/2/restore'), 404, missing);
    expectProblem(await site.agent.delete('/gates/2/purge'), 404, missing);
    expectJson(await site.agent.post('/gates/1/restore'), 200, { id: 1, isOpen: true, deletedAt: null });
    await site.agent.delete('/gates/1');
    expectNothing(await site.agent.delete('/gates/1/purge'), 204);
  });

  it('are methods like any other where the resource does not name them', async () => {
    class Plots extends crudController(Plot, { endpoints: ['read'] }) {
      // @ts-expect-error It is older than the endpoint, and gets something else.
      @Post('/:id/restore') override restore(@Param('id') id: number, @Body() body: object) {
        return { id, body };
      }
      // @ts-expect-error The same.
      @Post('/purge') override purge() {
        return { purged: 3 };
      }
    }
    const { agent, crud } = await buildApp({ models: [], controllers: [Plots] });
    expectJson(await agent.post('/plots/7/restore').send({ from: 'tape' }), 200, {
      id: 7,
      body: { from: 'tape' },
    });
    expectJson(await agent.post('/plots/purge'), 200, { purged: 3 });
    expect(crud.routes.map(({ operation }) => operation)).to.have.members(['read', null, null]);
  });

  it('are described', () => {
    const { paths } = site.crud.openapi();
    const restore = paths['/plots/{id}/restore']?.post;
    const purge = paths['/plots/{id}/purge']?.delete;
    expect([restore?.operationId, purge?.operationId]).to.deep.equal(['restorePlot', 'purgePlot']);
    for (const each of [restore, purge])
      expect(each?.description).to.match(/A record that is not deleted is a 409\.$/);
    expect([restore?.requestBody, purge?.requestBody]).to.deep.equal([undefined, undefined]);
    expect(Object.keys(restore?.responses ?? {})).to.include.members(['200', '403', '404', '409', '412']);
    expect(Object.keys(purge?.responses ?? {})).to.include.members(['204', '403', '404', '409', '412']);
    for (const { parameters = [] } of [restore, purge].flatMap((each) => each ?? []))
      expect(parameters.flatMap((each) => ('name' in each ? each.name : []))).to.deep.equal([
        'id',
        'If-Match',
        'Prefer',
      ]);
  });
});

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
