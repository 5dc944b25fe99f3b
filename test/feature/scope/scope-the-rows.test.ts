/** Rows of one tenant are missing for another, on every generated route, in totals and in cursors. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController, EVERYTHING, filter, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

/** What a test says of a request. */
const tenantOf = (text: string | undefined): unknown => {
  if (text === undefined) return undefined;
  if (text === 'all') return EVERYTHING;
  return text.includes(',') ? text.split(',').map(Number) : Number(text);
};

@Crud({
  scope: { tenantId: (request) => tenantOf(request.get('tenant')) as number },
  visible: (request) =>
    request.get('only') ? filter`title==${request.get('only')},title==shared` : EVERYTHING,
  filterAllow: ['title'],
  sortAllow: ['title', 'id'],
})
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

class TaskController extends crudController(Task) {}

describe('a scope', () => {
  for (const overridden of [false, true]) {
    describe(overridden ? 'behind a controller of the application' : 'of a generated controller', () => {
      const paths = forSuite(() =>
        TwoPaths.start({
          models: [Task] as ModelClass[],
          bootstrap: overridden ? { controllers: [TaskController] } : {},
        }),
      );

      beforeEach(undo);

      async function undo(): Promise<void> {
        await Task.destroy({ truncate: true, restartIdentity: true });
        const titles = ['a', 'b', 'shared', 'c', 'd', 'e'];
        await Task.bulkCreate(titles.map((title, index) => ({ title, tenantId: 1 + (index % 2) })));
      }

      async function ask(path: string, headers: Record<string, string>, more: Partial<WholeRequest> = {}) {
        const { status, body } = await paths.same({ path, headers, ...more }, undo);
        return { status, body: body === '' ? null : JSON.parse(body) };
      }

      it('lists and counts the rows of the tenant', async () => {
        const { body } = await ask('/tasks?size=2', { tenant: '1' });
        expect(body.items.map(({ title }: Task) => title)).to.deep.equal(['a', 'shared']);
        expect(body.total).to.equal(3);
        expect((await ask('/tasks?q=title==a,title==b', { tenant: '1' })).body.total).to.equal(1);
        expect((await ask('/tasks', { tenant: '1,2' })).body.total).to.equal(6);
        expect((await ask('/tasks', { tenant: 'all' })).body.total).to.equal(6);
        expect((await ask('/tasks', { tenant: '1', only: 'a' })).body.total).to.equal(2);
        expect((await ask('/tasks', { tenant: '2', only: 'a' })).body.total).to.equal(0);
      });

      it('[G4] reads, changes and deletes no other row', async () => {
        expect((await ask('/tasks/1', { tenant: '1' })).status).to.equal(200);
        const missing = await ask('/tasks/99', { tenant: '2' });
        expect(await ask('/tasks/1', { tenant: '2' })).to.deep.equal(missing);
        const change = { method: 'PATCH', body: { title: 'x' } };
        expect(await ask('/tasks/1', { tenant: '2' }, change)).to.deep.equal(missing);
        expect(await ask('/tasks/1', { tenant: '2' }, { method: 'DELETE' })).to.deep.equal(missing);
        expect((await ask('/tasks/1', { tenant: '1' }, change)).body).to.deep.equal({
          id: 1,
          tenantId: 1,
          title: 'x',
        });
        expect((await ask('/tasks/1', { tenant: '1' }, { method: 'DELETE' })).status).to.equal(204);
      });

      it('gives a new row to the tenant', async () => {
        const create = (tenant: string, body: object) => ask('/tasks', { tenant }, { method: 'POST', body });
        expect((await create('2', { title: 'x' })).body).to.deep.equal({ id: 7, tenantId: 2, title: 'x' });
        expect((await create('2', { title: 'x', tenantId: 1 })).body.errors[0]).to.include({
          code: 'readOnly',
          pointer: '/tenantId',
        });
        expect((await create('1,2', { title: 'x', tenantId: 2 })).body).to.include({ tenantId: 2 });
        expect((await create('1,2', { title: 'x', tenantId: 3 })).status).to.equal(422);
        expect((await create('1,2', { title: 'x' })).status).to.equal(422);
        expect((await create('all', { title: 'x', tenantId: 3 })).body).to.include({ tenantId: 3 });
      });

      it('refuses a request without a tenant', async () => {
        for (const path of ['/tasks', '/tasks/1']) expect((await ask(path, {})).status).to.equal(403);
        expect((await ask('/tasks', {}, { method: 'POST', body: 'no object' })).status).to.equal(403);
        expect((await ask('/tasks/1', {}, { method: 'PATCH', body: {} })).status).to.equal(403);
        expect((await ask('/tasks/1', {}, { method: 'DELETE' })).status).to.equal(403);
      });
    });
  }
});
