/** A foreign key names a row that its request sees, or is refused as one that names no row. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  filter,
  type ModelClass,
  type UpdateValues,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { startTestApp } from '../../support/test-app.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

let asked = 0;

const tenantOf = async (request: Request) => {
  asked += 1;
  const text = request.get('tenant');
  if (text === 'all') return EVERYTHING;
  return text?.includes(',') ? text.split(',') : text;
};

@Crud({
  scope: { tenantId: tenantOf },
  visible: (request) => (request.get('only') ? filter`name==${request.get('only')}` : EVERYTHING),
})
@Table({ tableName: 'projects', timestamps: false })
class Project extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

@Crud({ scope: { tenantId: (request) => tenantOf(request) } })
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;

  @ForeignKey(() => Project)
  @Column({ type: DataType.BIGINT, field: 'project_id' })
  declare projectId: string | null;

  @BelongsTo(() => Project) declare project?: Project;
  @ForeignKey(() => Task) @Column(DataType.INTEGER) declare parentId: number | null;
  @BelongsTo(() => Task) declare parent?: Task;
}

/** Some of its rows are hidden, and it has no scope. */
@Crud({ visible: (request) => filter`owner==${request.get('owner') ?? 'nobody'}` })
@Table({ tableName: 'folders', timestamps: false })
class Folder extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
}

/** A model without rules of its own, with a reference to one that has rules. */
@Crud()
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;

  @Column({ type: DataType.INTEGER, references: { model: 'projects', key: 'id' } })
  declare projectId: number | null;

  @ForeignKey(() => Folder) @Column(DataType.INTEGER) declare folderId: number | null;
}

class TaskController extends crudController(Task) {
  override async create(values: CreateValues<Task>, context: CrudContext<Task>) {
    return super.create(values, context);
  }
}

class NoteController extends crudController(Note) {
  override async update(id: number, values: UpdateValues<Note>, { repository }: CrudContext<Note>) {
    return unitOfWork((unit) => repository.with(unit).update(id, values));
  }
}

const MISSING = 99;
const WRITES = [
  ['POST', '/notes'],
  ['PATCH', '/notes/1'],
] as const;
const models = [Project, Folder, Task, Note] as unknown as ModelClass[];

async function seed(): Promise<void> {
  await Project.sequelize?.query(`
    DELETE FROM tasks; DELETE FROM notes; DELETE FROM projects; DELETE FROM folders;
    SELECT setval('tasks_id_seq', 1, false), setval('notes_id_seq', 1, false), setval('projects_id_seq', 1, false);
    INSERT INTO folders (id, owner) VALUES (1, 'ada'), (2, 'bob');
    INSERT INTO projects (tenant_id, name) VALUES (1, 'p1'), (2, 'p2'), (1, 'p3');
    INSERT INTO tasks ("tenantId", title, project_id) VALUES (1, 'a', 1), (2, 'b', 2), (1, 'odd', 2);
    INSERT INTO notes (text, "projectId") VALUES ('x', 1)`);
}

describe('a foreign key to rows of tenants', () => {
  for (const overridden of [false, true]) {
    describe(overridden ? 'behind controllers of the application' : 'of generated controllers', () => {
      const controllers = overridden ? [TaskController, NoteController] : [];
      const paths = forSuite(() =>
        TwoPaths.start({ models, bootstrap: { controllers, logger: new CapturedLog() } }),
      );

      async function ask(method: string, path: string, body: object, headers: Record<string, string>) {
        const request: WholeRequest = { method, path, body, headers };
        await seed();
        const answer = await paths.same(request, seed);
        return { status: answer.status, body: JSON.parse(answer.body) };
      }

      it('names a row of the tenant', async () => {
        const of = (tenant: string, body: object) =>
          ask('POST', '/tasks', { title: 'x', ...body }, { tenant });
        expect((await of('1', { projectId: '3' })).body).to.include({ tenantId: 1, projectId: '3' });
        expect((await of('2', { projectId: '2', parentId: 2 })).body).to.include({ parentId: 2 });
        expect((await of('1', { projectId: null })).body).to.include({ projectId: null });
        expect((await of('1,2', { tenantId: 1, projectId: '2' })).body).to.include({ projectId: '2' });
        expect((await of('all', { tenantId: 1, projectId: '2' })).body).to.include({ projectId: '2' });
      });

      for (const [attribute, other] of [
        ['projectId', '2'],
        ['parentId', 2],
      ] as const) {
        it(`[C4 G3] refuses a ${attribute} of another tenant as one that is missing`, async () => {
          const same = async (method: string, path: string, more: object) => {
            const send = (value: unknown, tenant: string) =>
              ask(method, path, { title: 'x', ...more, [attribute]: value }, { tenant });
            const missing = attribute === 'projectId' ? `${MISSING}` : MISSING;
            const refused = await send(other, '1');
            expect(refused).to.deep.equal(await send(missing, '1'));
            return { refused, real: await send(missing, 'all') };
          };
          const created = await same('POST', '/tasks', {});
          const updated = await same('PATCH', '/tasks/1', {});
          // The database itself refuses the reference of a request for all tenants.
          const byDatabase = await ask(
            'POST',
            '/tasks',
            { title: 'x', tenantId: 1, [attribute]: attribute === 'projectId' ? `${MISSING}` : MISSING },
            { tenant: 'all' },
          );
          expect(created.refused).to.deep.equal(byDatabase);
          expect(updated.refused).to.deep.equal(updated.real).and.to.deep.equal(byDatabase);
          expect(byDatabase.status).to.equal(409);
        });
      }

      it('counts a key that the row has already as one that is sent', async () => {
        const change = (path: string, body: object) => ask('PATCH', path, body, { tenant: '1' });
        expect((await change('/tasks/3', { projectId: '2' })).status).to.equal(409);
        expect((await change('/tasks/3', { projectId: '2', title: 'y' })).status).to.equal(409);
        expect((await change('/tasks/3', { title: 'y' })).body).to.include({ title: 'y', projectId: '2' });
        expect((await change('/tasks/3', { projectId: null })).body).to.include({ projectId: null });
        expect((await change('/tasks/1', { projectId: '1' })).body).to.include({
          title: 'a',
          projectId: '1',
        });
        expect((await change('/tasks/1', { projectId: '3' })).body).to.include({ projectId: '3' });
      });

      it('tells of a missing row first', async () => {
        for (const id of [2, MISSING]) {
          const { status } = await ask('PATCH', `/tasks/${id}`, { projectId: '2' }, { tenant: '1' });
          expect(status).to.equal(404);
        }
      });

      it('refuses what is not visible, and what is beyond the range of the key', async () => {
        const create = (projectId: string, only: string) =>
          ask('POST', '/tasks', { title: 'x', projectId }, { tenant: '1', only });
        expect((await create('3', 'p3')).status).to.equal(201);
        expect((await create('1', 'p3')).status).to.equal(409);
        expect((await create('9007199254740991', 'p3')).status).to.equal(409);
      });

      it('holds for a model without rules', async () => {
        const send = (method: string, path: string, body: object, headers: Record<string, string>) =>
          ask(method, path, { text: 'y', ...body }, headers);
        for (const [method, path] of WRITES) {
          expect((await send(method, path, {}, {})).status).to.be.below(300);
          expect((await send(method, path, { projectId: null }, {})).status).to.be.below(300);
          expect((await send(method, path, { projectId: 1 }, {})).status).to.equal(403);
          expect((await send(method, path, { projectId: 1 }, { tenant: '1' })).status).to.be.below(300);
          const refused = await send(method, path, { projectId: 2 }, { tenant: '1' });
          expect(refused).to.deep.equal(await send(method, path, { projectId: MISSING }, { tenant: '1' }));
          expect(refused).to.deep.equal(await send(method, path, { projectId: MISSING }, { tenant: 'all' }));
          expect(refused.status).to.equal(409);
        }
      });

      it('holds where a row is hidden by visible alone', async () => {
        for (const [method, path] of WRITES) {
          const send = (folderId: number) => ask(method, path, { text: 'y', folderId }, { owner: 'ada' });
          expect((await send(1)).status).to.be.below(300);
          const refused = await send(2);
          expect(refused.status).to.equal(409);
          expect(refused).to.deep.equal(await send(MISSING));
        }
      });

      it('asks each rule once', async () => {
        asked = 0;
        await ask('POST', '/tasks', { title: 'x', projectId: '1', parentId: 1 }, { tenant: '1' });
        // Three paths, two rules.
        expect(asked).to.equal(6);
        asked = 0;
        await ask('PATCH', '/tasks/1', { title: 'x' }, { tenant: '1' });
        expect(asked).to.equal(3);
      });
    });
  }

  it('holds for each of the writes that go together', async () => {
    await using site = await startTestApp({
      models,
      engine: { groupCommit: true },
      bootstrap: { logger: new CapturedLog() },
    });
    await seed();
    const requests = Array.from({ length: 24 }, (_, index) => ({
      tenant: 1 + (index % 2),
      projectId: String(1 + (index % 3)),
    }));
    const answers = await Promise.all(
      requests.map(({ tenant, projectId }) =>
        site.agent.post('/tasks').set('tenant', `${tenant}`).send({ title: 'x', projectId }),
      ),
    );
    const owners: Readonly<Record<string, number>> = { 1: 1, 2: 2, 3: 1 };
    expect(answers.map(({ status }) => status)).to.deep.equal(
      requests.map(({ tenant, projectId }) => (owners[projectId] === tenant ? 201 : 409)),
    );
    const tasks = await Task.findAll({ where: { title: 'x' }, include: [Project] });
    expect(tasks.filter(({ tenantId, project }) => tenantId !== project?.tenantId)).to.deep.equal([]);
  });
});
