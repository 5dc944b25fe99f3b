/** `q` with relations to rows that a request may not see: they are as if they were not there. */
import { expect } from 'chai';
import type { Request } from 'express';
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

let asked = 0;
const tenantOf = (request: Request) => {
  asked += 1;
  return request.get('tenant');
};
const allows = (name: string) => (request: Request) => request.get('without') !== name;

abstract class Row extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.TEXT) declare name: string;
}

@Crud<Project>({
  scope: { tenant: tenantOf },
  can: { read: allows('projects') },
  fields: { budget: { read: (request) => request.get('hr') === 'yes' } },
  include: { led: { ...UNGUARDED, size: { max: 5 } } },
  filterAllow: { id: true, led: ['name'] },
})
@Table({ tableName: 'projects', timestamps: false })
class Project extends Row {
  @HasMany(() => Task, { foreignKey: 'leadId', constraints: false }) declare led?: Task[];
  @Column(DataType.INTEGER) declare budget: number | null;
}

@Crud<Note>({
  scope: { tenant: tenantOf },
  visible: (request) => filter`isPublic==true,owner==${request.get('user') ?? 'nobody'}`,
  can: { list: allows('notes') },
  fields: { taskId: { read: allows('links') } },
})
@Table({ tableName: 'notes', timestamps: false })
class Note extends Row {
  @Column(DataType.BOOLEAN) declare isPublic: boolean;
  @Column(DataType.TEXT) declare owner: string;
  @Column(DataType.INTEGER) declare taskId: number;
}

@Crud({
  scope: { tenant: tenantOf },
  can: { list: allows('list'), read: allows('read') },
  include: { wider: UNGUARDED },
  filterAllow: { 'wider.name': true },
} as object)
@Table({ tableName: 'labels', timestamps: false })
class Label extends Row {
  @Column(DataType.INTEGER) declare widerId: number | null;

  @BelongsTo(() => Label, { foreignKey: 'widerId', constraints: false })
  declare wider?: Loaded<Label> | null;
}

/** Not served; the scope of `bootstrap` is its only rule of rows. */
@Crud({ fields: { labelId: { read: allows('joins') } } })
@Table({ tableName: 'task_labels', timestamps: false })
class TaskLabel extends NumberedRow {
  @ForeignKey(() => Task) @Column(DataType.INTEGER) declare taskId: number;
  @ForeignKey(() => Label) @Column(DataType.INTEGER) declare labelId: number;
  @Column(DataType.TEXT) declare tenant: string;
}

const SIZE = { size: { max: 5 } };

@Crud<Task>({
  scope: { tenant: tenantOf },
  fields: { leadId: { read: (request) => request.get('hr') === 'yes' } },
  include: {
    project: UNGUARDED,
    lead: UNGUARDED,
    notes: { ...UNGUARDED, ...SIZE },
    labels: { ...UNGUARDED, ...SIZE },
    // Only notes about work may be seen through a task.
    work: { ...SIZE, where: () => filter`name!=private` },
  },
  filterAllow: {
    ...{ id: true, 'project.name': true, 'project.budget': true, 'lead.name': true },
    ...{ notes: ['name'], labels: ['name'], work: ['name'] },
  },
})
@Table({ tableName: 'tasks', timestamps: false })
class Task extends Row {
  @Column(DataType.INTEGER) declare projectId: number | null;

  @BelongsTo(() => Project, { foreignKey: 'projectId', constraints: false })
  declare project?: Loaded<Project> | null;

  @Column(DataType.INTEGER) declare leadId: number | null;

  @BelongsTo(() => Project, { foreignKey: 'leadId', constraints: false })
  declare lead?: Loaded<Project> | null;

  @HasMany(() => Note, { foreignKey: 'taskId', constraints: false }) declare notes?: Note[];
  @HasMany(() => Note, { foreignKey: 'taskId', constraints: false }) declare work?: Note[];
  @BelongsToMany(() => Label, { through: () => TaskLabel }) declare labels?: Label[];
  @Column(DataType.INTEGER) declare boardId: number | null;
}

/** For everybody; its tasks are not. */
@Crud<Board>({
  pagination: 'cursor',
  include: { tasks: { ...UNGUARDED, ...SIZE } },
  subresources: { tasks: UNGUARDED },
  filterAllow: { tasks: ['name'] },
})
@Table({ tableName: 'boards', timestamps: false })
class Board extends NumberedRow {
  @HasMany(() => Task, { foreignKey: 'boardId', constraints: false }) declare tasks?: Task[];
}

const MODELS = [Project, Note, Label, Task, Board];

/** Filters with the tasks that they find. */
const FOUND = {
  'project.name==Mine': 'own',
  'project.name!=Mine': '',
  'project.name=like=S*': '',
  'project=isnull=true': 'foreign alone',
  'project=isnull=false': 'own',
  'notes=any=(name==good)': 'own',
  'notes=none=(name==good)': 'foreign alone',
  'notes=none=(name!=good)': 'own foreign',
  'notes=isempty=true': 'foreign',
  'notes=isempty=false': 'own alone',
  'labels=any=(name==red)': 'own',
  'labels=none=(name==red)': 'foreign alone',
  'labels=isempty=true': 'foreign alone',
  'work=any=(name==private)': '',
  'work=isempty=true': 'foreign alone',
};
const FILTERS = Object.keys(FOUND);

describe('a filter by relations to rows of others', () => {
  const site = serveTestApp(() => {
    const logger = new CapturedLog();
    const bootstrap = { logger, models: MODELS, scope: { tenant: tenantOf } };
    return { models: MODELS, bootstrap, engine: { models: [...MODELS, TaskLabel] } };
  });

  before(async () => {
    await Project.bulkCreate([
      { tenant: 'A', name: 'Mine', budget: 5 },
      { tenant: 'B', name: 'Secret', budget: 9 },
    ] as never);
    await Board.bulkCreate([{}, {}, {}] as never);
    await Task.bulkCreate([
      { tenant: 'A', name: 'own', projectId: 1, leadId: 1, boardId: 1 },
      { tenant: 'A', name: 'foreign', projectId: 2, leadId: 2, boardId: 2 },
      { tenant: 'A', name: 'alone', boardId: 2 },
      { tenant: 'B', name: 'theirs', projectId: 2, boardId: 3 },
    ] as never);
    const note = { tenant: 'A', isPublic: true, owner: 'ann' };
    await Note.bulkCreate([
      { ...note, name: 'good', taskId: 1 },
      { ...note, name: 'good', taskId: 2, isPublic: false },
      { ...note, name: 'good', taskId: 3, tenant: 'B' },
      { ...note, name: 'private', taskId: 3 },
    ] as never);
    await Label.bulkCreate([
      { tenant: 'A', name: 'red' },
      { tenant: 'B', name: 'red' },
    ] as never);
    await TaskLabel.bulkCreate([
      { taskId: 1, labelId: 1, tenant: 'A' },
      { taskId: 2, labelId: 2, tenant: 'A' },
      { taskId: 3, labelId: 1, tenant: 'B' },
    ] as never);
  });

  const get = (path: string, q: string, headers: Readonly<Record<string, string>> = {}) =>
    site.agent.get(`${path}?q=${encodeURIComponent(q)}`).set({ tenant: 'A', user: 'bob', ...headers });
  const names = async (q: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { body } = await get('/tasks', q, headers).expect(200);
    expect(body.total).to.equal(body.items.length);
    return body.items.map(({ name }: Task) => name).join(' ');
  };

  /** Expects a name to be as unknown as one that there is not. */
  async function expectUnknown(name: string, q: string, headers = {}, path = '/tasks'): Promise<string> {
    const typo = `${name.slice(0, -1)}1`;
    const hidden = await get(path, q, headers).expect(400);
    const unknown = await get(path, q.replace(name, typo), headers).expect(400);
    expect(hidden.text.replaceAll(name, '')).to.equal(unknown.text.replaceAll(typo, ''));
    return hidden.text;
  }

  it('finds no row of another tenant, and none that is not visible', async () => {
    for (const [q, found] of Object.entries(FOUND)) expect(await names(q), q).to.equal(found);
    expect(await names('notes=any=(name==good)', { user: 'ann' })).to.equal('own foreign');
    expect(await names('project.name==Secret', { tenant: 'B' })).to.equal('theirs');
  });

  it('answers with the same bytes whatever the rows of others hold', async () => {
    const answers = async () => {
      const texts = [];
      for (const q of FILTERS) texts.push((await get('/tasks', q).expect(200)).text);
      return texts;
    };
    const before = await answers();
    await Project.update({ name: 'Mine' }, { where: { tenant: 'B' } });
    await Note.update({ name: 'bad' }, { where: { tenant: 'B' } });
    await Note.update({ name: 'bad' }, { where: { isPublic: false } });
    await Label.update({ name: 'blue' }, { where: { tenant: 'B' } });
    expect(await answers()).to.deep.equal(before);
    await Project.update({ name: 'Secret' }, { where: { tenant: 'B' } });
    await Note.update({ name: 'good' }, { where: { name: 'bad' } });
    await Label.update({ name: 'red' }, { where: { tenant: 'B' } });
  });

  it('does not tell an attribute that the request may not read from one that is not there', async () => {
    expect(await names('project.budget==5', { hr: 'yes' })).to.equal('own');
    expect(await names('lead.name==Mine', { hr: 'yes' })).to.equal('own');
    await expectUnknown('budget', 'project.budget==5');
    // A rule restricts the lead of a task, so no attribute of the lead may be in a filter.
    await expectUnknown('lead', 'lead.name==Mine');
    const leading = await expectUnknown('led', 'led=any=(name==own)', {}, '/projects');
    expect(leading).to.equal((await get('/projects', 'led=isempty=true').expect(400)).text);
    expect((await get('/projects', 'led=any=(name==own)', { hr: 'yes' }).expect(200)).body.total).to.equal(1);
    // A filter for tasks with this note would reveal the task of a note.
    for (const q of ['notes=any=(name==good)', 'notes=isempty=true'])
      await expectUnknown('notes', q, { without: 'links' });
    await get('/tasks', 'project.name==Mine', { without: 'links' }).expect(200);
  });

  it('asks no rule of a relation that the request may not know of, also under a record', async () => {
    for (const path of ['/tasks', '/boards/1/tasks'])
      await expectUnknown('lead', 'lead.name==Mine', { without: 'projects' }, path);
  });

  it('knows no relation over a table whose keys the request may not read', async () => {
    await expectUnknown('labels', 'labels=isempty=true', { without: 'joins' });
    await get('/tasks', 'labels=isempty=true').expect(200);
  });

  it('asks whether the request may read the other model only where it is named', async () => {
    for (const [without, refused, allowed] of [
      ['projects', 'project.name==x', 'notes=any=(name==project)'],
      ['notes', 'notes=isempty=true', 'project.name==notes'],
    ] as const) {
      await get('/tasks', refused, { without }).expect(403);
      await get('/tasks', allowed, { without }).expect(200);
      await get('/tasks', `${refused};`, { without }).expect(400);
    }
    await site.agent.get('/tasks').set({ tenant: 'A', without: 'projects' }).expect(200);
  });

  it('fails where a scope has come to hide rows by joining them', async () => {
    Project.hasOne(Note, { as: 'proof', foreignKey: 'taskId', constraints: false });
    const joining = { include: [{ association: 'proof', required: true }] };
    Project.addScope('defaultScope', joining, { override: true });
    await get('/tasks', 'project.name==Mine').expect(500);
    Project.addScope('defaultScope', {}, { override: true });
    await get('/tasks', 'project.name==Mine').expect(200);
  });

  it('asks for the rows of a model once, and for each of its operations', async () => {
    asked = 0;
    await get('/labels', 'wider.name==red').expect(200);
    expect(asked).to.equal(1);
    for (const without of ['list', 'read']) await get('/labels', 'wider.name==red', { without }).expect(403);
  });

  it('is documented with the answer to what it may not read', async () => {
    const { body } = await site.agent.get('/openapi.json').expect(200);
    expect(body.paths['/boards'].get.responses).to.include.keys('403');
  });

  it('makes cursors that are good for the same rows only', async () => {
    const q = 'tasks=isempty=false';
    const first = await get('/boards', q).query({ size: 1 }).expect(200);
    expect(first.body.items).to.deep.equal([{ id: 1 }]);
    const page = { size: 1, after: first.body.next_cursor };
    const { body } = await get('/boards', q).query(page).expect(200);
    expect(body).to.deep.include({ items: [{ id: 2 }], next_cursor: null });
    await get('/boards', q, { tenant: 'B' }).query(page).expect(400);
    expect((await get('/boards', q, { tenant: 'B' }).expect(200)).body.items).to.deep.equal([{ id: 3 }]);
  });
});
