/** Links of a `hasMany` whose foreign key may be null: a link is an update of the child. */
import { expect } from 'chai';
import type { Request } from 'express';
import { QueryTypes } from 'sequelize';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { OVERRIDDEN } from './people.js';

const tenant = (request: Request): string => request.get('tenant') ?? 'A';

@Crud({ scope: { tenant }, links: { tasks: true, chores: { steal: true } } })
@Table({ tableName: 'boards', timestamps: false })
class Board extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @HasMany(() => Task, 'boardId') declare tasks?: Task[];
  @HasMany(() => Chore, 'boardId') declare chores?: Chore[];
}

@Crud({
  scope: { tenant },
  visible: () => filter`isHidden==false`,
  can: { update: (request) => (request.get('user') === 'guest' ? filter`isOpen==true` : true) },
})
@Table({ tableName: 'tasks', createdAt: false, updatedAt: true, version: true })
class Task extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isHidden: boolean;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isOpen: boolean;
  @ForeignKey(() => Board) @Column(DataType.INTEGER) declare boardId: number | null;
  @BelongsTo(() => Board, 'boardId') declare board?: Board;
}

/** Each change passes code of the user's. */
@Crud({ fields: { boardId: { update: (request) => request.get('user') !== 'guest' } } })
@Table({ tableName: 'chores', timestamps: false })
class Chore extends NumberedRow {
  @Column(DataType.TEXT) declare note: string | null;
  @ForeignKey(() => Board) @Column(DataType.INTEGER) declare boardId: number | null;
  @BelongsTo(() => Board, 'boardId') declare board?: Board;
}

class ChoreController extends crudController(Chore) {
  override async update(id: number, values: object, context: CrudContext): Promise<Chore> {
    return super.update(id, { ...values, note: 'moved' } as never, context) as Promise<Chore>;
  }
}

const NO_TASK = { detail: 'There is no Task with this id.' };

except(OVERRIDDEN).describe('links of children', () => {
  const site = serveTestApp(() => ({
    models: [Board, Task, Chore],
    bootstrap: { models: [Board, Task, Chore], controllers: [ChoreController] },
  }));
  const rows = (text: string) => site.engine.sequelize.query(text, { type: QueryTypes.SELECT });
  const tasks = () => rows('SELECT id, "boardId" AS board, version FROM tasks ORDER BY 1');

  beforeEach(() =>
    site.engine.sequelize.query(`
      TRUNCATE boards, tasks, chores;
      INSERT INTO boards (id, tenant) VALUES (1, 'A'), (2, 'A'), (3, 'B');
      INSERT INTO tasks (id, tenant, "isHidden", "isOpen", "boardId", "updatedAt", version) VALUES
        (1, 'A', false, true, NULL, now(), 0), (2, 'A', false, false, 2, now(), 0),
        (3, 'A', true, false, 1, now(), 0), (4, 'B', false, false, NULL, now(), 0), (5, 'A', false, false, 1, now(), 0);
      INSERT INTO chores (id, "boardId") VALUES (1, NULL), (2, 2)`),
  );

  it('set and unset the key of the child, as an update of it', async () => {
    expectJson(await site.agent.put('/boards/1/tasks/1'), 201, { id: '1' });
    expectJson(await site.agent.put('/boards/1/tasks/1'), 200, { id: '1' });
    expect((await tasks())[0]).to.deep.equal({ id: 1, board: 1, version: 1 });
    expectNothing(await site.agent.delete('/boards/1/tasks/1'), 204);
    expectProblem(await site.agent.delete('/boards/1/tasks/1'), 404, {
      detail: 'There is no such link of this Board.',
    });
    expectNothing(await site.agent.delete('/boards/1/tasks/1?missing=ok'), 204);
    expect((await tasks())[0]).to.deep.equal({ id: 1, board: null, version: 2 });
  });

  it('take no child of another record', async () => {
    expectProblem(await site.agent.put('/boards/1/tasks/2'), 409, {
      detail: 'This Task belongs to another Board.',
    });
    expectProblem(await site.agent.post('/boards/1/tasks').send([{ id: 1 }, { id: 2 }]), 409, {
      detail: 'This Task belongs to another Board.',
      errors: [{ pointer: '/1/id', code: 'linked', detail: 'This Task belongs to another Board.' }],
    });
    expectProblem(await site.agent.delete('/boards/1/tasks/2'), 404, {
      detail: 'There is no such link of this Board.',
    });
    expect((await tasks()).map((each) => (each as { board: number }).board)).to.deep.equal([
      null,
      2,
      1,
      null,
      1,
    ]);
  });

  it('tell nothing of children that are hidden, of another tenant, or of nobody', async () => {
    for (const id of [3, 4, 99]) expectProblem(await site.agent.put(`/boards/2/tasks/${id}`), 409, NO_TASK);
    expectProblem(await site.agent.put('/boards/3/tasks/1'), 404, {
      detail: 'There is no Board with this id.',
    });
  });

  it('are replaced, but for those that the request does not see', async () => {
    expectJson(await site.agent.put('/boards/1/tasks').send([{ id: 1 }]), 200, {
      items: [{ id: '1' }],
      added: 1,
      removed: 1,
    });
    expect(await tasks()).to.deep.equal([
      { id: 1, board: 1, version: 1 },
      { id: 2, board: 2, version: 0 },
      { id: 3, board: 1, version: 0 },
      { id: 4, board: null, version: 0 },
      { id: 5, board: null, version: 1 },
    ]);
  });

  it('need the rules of the child, too', async () => {
    expect((await site.agent.put('/boards/1/tasks/1').set('user', 'guest')).status).to.equal(201);
    expectProblem(await site.agent.delete('/boards/1/tasks/5').set('user', 'guest'), 403, {
      detail: 'This request may not update this Task.',
    });
    expectProblem(await site.agent.put('/boards/1/chores/1').set('user', 'guest'), 403, {
      detail: 'This request may not change chores of Board.',
    });
    expectIssue(await site.agent.put('/boards/1/tasks/1').send({ note: 'x' }), 422, {
      pointer: '/note',
      code: 'unknownProperty',
      detail: 'These links have no properties.',
    });
  });

  it('pass the overrides of the child, and steal where the option says so', async () => {
    expectJson(await site.agent.put('/boards/1/chores').send([{ id: 2 }, { id: 1 }]), 200, {
      items: [{ id: '2' }, { id: '1' }],
      added: 2,
      removed: 0,
    });
    expect(await rows('SELECT * FROM chores ORDER BY 1')).to.deep.equal([
      { id: 1, note: 'moved', boardId: 1 },
      { id: 2, note: 'moved', boardId: 1 },
    ]);
  });

  it('have no attributes in their list', async () => {
    const { body } = await site.agent.get('/boards/1/tasks');
    expect(body.items.map((item: object) => Object.keys(item))).to.deep.equal([
      ['id', 'tenant', 'isHidden', 'isOpen', 'boardId', 'updatedAt', 'version'],
    ]);
  });

  it('move between records at once without a deadlock', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        site.agent
          .put(`/boards/${1 + (index % 2)}/chores`)
          .send(index % 4 < 2 ? [{ id: 1 }, { id: 2 }] : [{ id: 2 }]),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(16).fill(200));
  });
});
