/** Soft-deleted records: brought back by `POST /{id}/restore`, removed for good by `DELETE /{id}/purge`. */
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  ConfigError,
  Crud,
  type CrudContext,
  crudController,
  NotDeletedError,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge'],
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
  can: { deleted: (request) => request.get('x-guest') === undefined },
})
@Table({ tableName: 'files', paranoid: true, version: true })
class File extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
}

@Table({ tableName: 'plain_files' })
class PlainFile extends Model {}

const MISSING = { detail: 'There is no File with this id.' };
const ALIVE = { detail: 'This File is not deleted.' };

describe('soft-deleted records', () => {
  const site = serveTestApp(() => ({ models: [File, PlainFile], bootstrap: { models: [File] }, minPool: 2 }));

  beforeEach(async () => {
    await emptyTables(site, 'files');
    await File.bulkCreate([
      { tenant: 1, name: 'kept' },
      { tenant: 1, name: 'gone' },
      { tenant: 2, name: 'foreign' },
    ]);
    await File.destroy({ where: { id: [2, 3] } });
  });

  it('[S1 S5 S13] come back as they were, in a new state', async () => {
    const before = await File.findByPk(2, { paranoid: false });
    const restored = await site.agent.post('/files/2/restore');
    expectJson(restored, 200, {
      id: 2,
      tenant: 1,
      name: 'gone',
      createdAt: before?.get('createdAt').toJSON(),
      updatedAt: (await File.findByPk(2))?.get('updatedAt').toJSON(),
      deletedAt: null,
      version: 1,
    });
    expect(restored.headers['etag']).to.match(/^"1[".]/);
    expectJson(await site.agent.get('/files/2'), 200, restored.body);
    expectProblem(await site.agent.post('/files/2/restore'), 409, ALIVE);
  });

  it('[S2 S6] are removed for good', async () => {
    expectNothing(await site.agent.delete('/files/2/purge'), 204);
    expect(await File.findByPk(2, { paranoid: false })).to.equal(null);
    expectProblem(await site.agent.delete('/files/2/purge'), 404, MISSING);
  });

  it('[S5 S6 S8 S11] are neither where they are not deleted, not there, or not of the request', async () => {
    for (const send of [
      (id: number) => site.agent.post(`/files/${id}/restore`),
      (id: number) => site.agent.delete(`/files/${id}/purge`),
    ]) {
      expectProblem(await send(1), 409, ALIVE);
      expectProblem(await send(3), 404, MISSING);
      expectProblem(await send(9), 404, MISSING);
      expectProblem(await send(2).set('x-tenant', '2'), 404, MISSING);
      expectProblem(await send(1).set('x-tenant', '2'), 404, MISSING);
      expect((await send(2).set('x-guest', '1')).status).to.equal(403);
    }
    expect(await File.count({ paranoid: false })).to.equal(3);
  });

  it('[S5] are restored and purged by one of many requests at the same time', async () => {
    for (const [send, done, late] of [
      [() => site.agent.post('/files/2/restore'), 200, 409],
      [() => site.agent.delete('/files/2'), 204, 404],
      [() => site.agent.delete('/files/2/purge'), 204, 404],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 8 }, send));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.sort((one, other) => one - other)).to.deep.equal([done, ...Array(7).fill(late)]);
    }
  });

  it('[M26] are not among many that are changed or deleted', async () => {
    class Files extends crudController(File, {
      endpoints: ['updateMany', 'deleteMany'],
      filterAllow: ['name'],
    }) {}
    const { agent } = await buildApp({ models: [], controllers: [Files] });
    const changed = await agent.patch('/files').send([
      { id: 1, name: 'x' },
      { id: 2, name: 'y' },
    ]);
    expectProblem(changed, 404, { ...MISSING, errors: [{ pointer: '/1', code: 'notFound', ...MISSING }] });
    const found = '/files?q=name=in=(kept,gone,foreign)&dry_run=true';
    expectJson(await agent.delete(found), 200, { affected: 1 });
    const each = await agent.patch(`${found}&atomic=false`).send({});
    expect(each.body.items.map(({ key }: { key: number }) => key)).to.deep.equal([1]);
    expect((await File.findByPk(1))?.name).to.equal('kept');
  });

  it('[S10] have tags, which both may name', async () => {
    for (const send of [
      () => site.agent.post('/files/2/restore'),
      () => site.agent.delete('/files/2/purge'),
    ]) {
      const refused = await send().set('if-match', '"7"');
      expect([refused.status, refused.headers['etag']]).to.deep.equal([412, '"0"']);
      expectProblem(await site.agent.post('/files/1/restore').set('if-match', '"7"'), 409, ALIVE);
    }
    expect((await site.agent.post('/files/2/restore').set('if-match', '"0"')).status).to.equal(200);
    await site.agent.delete('/files/2');
    expectNothing(await site.agent.delete('/files/2/purge').set('if-match', '"1"'), 204);
  });

  it('[S4] stay deleted where another record has their unique value by now', async () => {
    await site.engine.sequelize.query('ALTER TABLE files DROP CONSTRAINT files_name_key');
    await site.engine.sequelize.query(
      'CREATE UNIQUE INDEX files_name_key ON files (name) WHERE "deletedAt" IS NULL',
    );
    await File.create({ tenant: 1, name: 'gone' });
    const refused = await site.agent.post('/files/2/restore');
    expect([refused.status, refused.body.detail]).to.deep.equal([409, 'Another File has the same name.']);
  });

  it('[S12] are restored through hooks, which may refuse', async () => {
    using _refusing = addedHook(File, 'beforeRestore', () =>
      Promise.reject(new NotDeletedError('Not today.')),
    );
    expectProblem(await site.agent.post('/files/2/restore'), 409, { detail: 'Not today.' });
    expect(await File.findByPk(2)).to.equal(null);
  });

  it('[S17] are restored and purged by repositories, also through overrides', async () => {
    const files = new Repository(File);
    expect((await files.restore(2)).name).to.equal('gone');
    expect(await files.purge(2).catch((error: unknown) => error)).to.be.instanceOf(NotDeletedError);
    await files.delete(2);
    class Files extends crudController(File) {
      override async restore(id: number, context: CrudContext<File>) {
        const file = await super.restore(id, context);
        return context.repository.update(file.id, { name: 'again' });
      }
    }
    const { agent } = await buildApp({ models: [File], controllers: [Files] });
    expect((await agent.post('/files/2/restore')).body.name).to.equal('again');
  });

  it('[S2] are no endpoints of models that remove their rows', async () => {
    class PlainFiles extends crudController(PlainFile, { endpoints: ['restore'] }) {}
    const failure = await caughtError(() => buildApp({ models: [], controllers: [PlainFiles] }));
    expect(failure).to.be.instanceOf(ConfigError);
    expect(String(failure)).to.include(
      "PlainFile: endpoints has 'restore', and a delete removes the rows; make the model paranoid, set softDelete, or leave it out.",
    );
  });
});
