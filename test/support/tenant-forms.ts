/** Models whose keys begin with their tenant, with every feature, and a request for each form of their statements. */
import type { Request } from 'express';
import {
  AutoIncrement,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { BULK_ENDPOINTS, ENDPOINTS, PAST_ENDPOINTS } from '../../src/declare/endpoint.js';
import { BelongsToKey, Crud, HasManyKey, type ModelClass, type Scope } from '../../src/index.js';
import { KeyedRow } from '../models/rows.js';

const scope = { tenantId: (request: Request) => Number(request.get('tenant')) } as unknown as Scope;
const TENANT = { type: DataType.INTEGER, field: 'tenant_id', allowNull: false } as const;

/** A row whose key begins with its tenant, by which engines spread rows. */
abstract class OfTenant extends Model {
  @PrimaryKey @Column(TENANT) declare tenantId: number;
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

@Crud({
  scope,
  include: { tasks: { count: true } },
  subresources: ['tasks'],
  filterAllow: { name: true, tasks: ['name'] },
  sortAllow: ['name'],
} as object)
@Table({ tableName: 'projects', timestamps: false })
class Project extends OfTenant {
  @HasManyKey(() => Task, { tenantId: 'tenantId', id: 'projectId' }) declare tasks?: Task[];
}

@Crud({
  scope,
  endpoints: [...ENDPOINTS, ...BULK_ENDPOINTS, ...PAST_ENDPOINTS],
  pagination: 'cursor',
  include: { project: true },
  filterAllow: { name: true, points: true, project: ['name'] },
  sortAllow: { name: true, 'project.name': true },
  search: ['name'],
  aggregate: { group: ['points'], sum: ['points'] },
  increment: ['points'],
  upsert: [['tenantId', 'name']],
  export: ['ndjson'],
  import: { modes: ['create', 'update', 'upsert'] },
  history: true,
  changes: true,
  can: { list: true, read: true, create: true, update: true, delete: true, deleted: true, history: true },
} as object)
@Table({
  tableName: 'tasks',
  timestamps: true,
  paranoid: true,
  version: true,
  indexes: [{ fields: ['tenant_id', 'name'], unique: true }],
})
class Task extends OfTenant {
  @Column({ type: DataType.BIGINT, field: 'project_id' }) declare projectId: string | null;
  @Column(DataType.INTEGER) declare points: number | null;
  @Column(DataType.DATE) declare due: Date | null;
  @Column(DataType.ENUM('low', 'high')) declare rank: string | null;
  @BelongsToKey(() => Project, { tenantId: 'tenantId', projectId: 'id' }) declare project?: Project | null;
}

/** Its tags are the transactions of its rows. */
@Crud({ scope, etag: 'xmin' } as object)
@Table({ tableName: 'pages', timestamps: false })
class Page extends OfTenant {}

/** Links are of relations by one column: a key of two has none. */
@Crud({ scope, links: { labels: true } } as object)
@Table({ tableName: 'members', timestamps: false })
class Member extends KeyedRow {
  @Column(TENANT) declare tenantId: number;
  @BelongsToMany(
    () => Label,
    () => MemberLabel,
  )
  declare labels?: Label[];
}

@Crud({ scope } as object)
@Table({ tableName: 'labels', timestamps: false })
class Label extends KeyedRow {
  @Column(TENANT) declare tenantId: number;
}

@Table({ tableName: 'member_labels', timestamps: false })
class MemberLabel extends Model {
  @ForeignKey(() => Member) @PrimaryKey @Column(DataType.INTEGER) declare memberId: number;
  @ForeignKey(() => Label) @PrimaryKey @Column(DataType.INTEGER) declare labelId: number;
}

/** Models with a resource. */
export const SERVED = [Project, Task, Page, Member, Label] as unknown as ModelClass[];
/** All of them. */
export const MODELS = [...SERVED, MemberLabel] as unknown as ModelClass[];
/** Statements that put the same rows into their tables, before each request. */
export const ROWS = `
  TRUNCATE projects, tasks, pages, members, labels, member_labels, crud_changes, crud_idempotency, crud_import RESTART IDENTITY;
  SELECT setval('tasks_id_seq', 100);
  INSERT INTO projects VALUES (1, 1, 'house');
  INSERT INTO tasks (tenant_id, id, name, project_id, points, version, "createdAt", "updatedAt")
    SELECT 1, i, format('task %s', i), 1, i, 0, now(), now() FROM generate_series(1, 5) AS i;
  INSERT INTO tasks (tenant_id, id, name, version, "createdAt", "updatedAt", "deletedAt") VALUES (1, 6, 'gone', 0, now(), now(), now());
  UPDATE tasks SET points = 0 WHERE id = 1;
  INSERT INTO pages VALUES (1, 1, 'page');
  INSERT INTO members (id, tenant_id) VALUES (1, 1);
  INSERT INTO labels (id, tenant_id) VALUES (1, 1), (2, 1), (3, 1);
  INSERT INTO member_labels VALUES (1, 1);`;

/** A request. */
export type Ask = readonly [
  method: 'get' | 'post' | 'patch' | 'put' | 'delete',
  path: string,
  body?: unknown,
  headers?: object,
];

/** The requests of each form, by its name on the page. */
export const FORMS: Readonly<Record<string, Ask>> = {
  'list by number, with a total': ['get', '/projects?size=1'],
  'list by cursor': ['get', '/tasks?size=2&sort=name'],
  'list, filtered by a relation to one': ['get', '/tasks?q=project.name==house'],
  'list, filtered by a relation to many': ['get', '/projects?q=tasks=any=(name==x)'],
  'list, sorted by a relation': ['get', '/tasks?sort=-project.name'],
  'list, searched': ['get', '/tasks?search=task'],
  'relation to one, included': ['get', '/tasks?include=project'],
  'relation to many, included and counted': ['get', '/projects?include=tasks'],
  'sub-resource': ['get', '/projects/1,1/tasks'],
  'aggregate of a sub-resource': ['get', '/projects/1,1/tasks/aggregate?group=points&sum=points'],
  read: ['get', '/tasks/1,1'],
  aggregate: ['get', '/tasks/aggregate?group=points&sum=points'],
  export: ['get', '/tasks?format=ndjson'],
  create: ['post', '/tasks', { name: 'new' }],
  'create with a reference': ['post', '/tasks', { name: 'new', projectId: '1' }],
  'create with an Idempotency-Key': ['post', '/tasks', { name: 'new' }, { 'Idempotency-Key': 'k' }],
  'create of many': ['post', '/tasks', [{ name: 'one' }, { name: 'two' }]],
  update: ['patch', '/tasks/1,1', { name: 'changed', points: 7 }],
  'update with a reference': ['patch', '/tasks/1,2', { projectId: '1' }],
  'update of a moment': ['patch', '/tasks/1,1', { due: '2026-01-01T00:00:00Z' }],
  'update of an enum': ['patch', '/tasks/1,1', { rank: 'low' }],
  'update under If-Match': ['patch', '/tasks/1,1', { name: 'changed' }, { 'If-Match': '*' }],
  'update that adds': ['patch', '/tasks/1,1', { points: { $inc: 1 } }],
  'update of many by key': [
    'patch',
    '/tasks',
    [
      { tenantId: 1, id: '1', points: 8 },
      { tenantId: 1, id: '2', points: 9 },
    ],
  ],
  'update of many by filter': ['patch', '/tasks?q=points=ge=4', { points: 3 }],
  'update of many, each for itself': ['patch', '/tasks?atomic=false', [{ tenantId: 1, id: '1', points: 8 }]],
  'update of many, a rehearsal': ['patch', '/tasks?q=points=ge=4&dry_run=true', { points: 3 }],
  replace: ['put', '/tasks/1,1', { name: 'whole' }],
  upsert: ['post', '/tasks?on_conflict=tenantId,name', { name: 'task 1', points: 2 }],
  'upsert of many': ['post', '/tasks?on_conflict=tenantId,name', [{ name: 'task 1' }, { name: 'fresh' }]],
  'delete, soft': ['delete', '/tasks/1,1'],
  'delete, hard': ['delete', '/pages/1,1'],
  'delete of many by filter': ['delete', '/tasks?q=points=ge=4'],
  restore: ['post', '/tasks/1,6/restore'],
  purge: ['delete', '/tasks/1,6/purge'],
  'import that creates': ['post', '/tasks/import?mode=create', '{"name":"from a file"}\n'],
  'import that changes': ['post', '/tasks/import?mode=update', '{"tenantId":1,"id":"1","points":4}\n'],
  'import in parts': [
    'post',
    '/tasks/import?mode=create&atomic=false',
    '{"name":"part"}\n',
    { 'Idempotency-Key': 'i' },
  ],
  history: ['get', '/tasks/1,1/history'],
  revert: ['post', '/tasks/1,1/revert', { to: '2' }],
  changes: ['get', '/tasks/changes?wait=5&after=CURSOR'],
  "read with the tag `etag: 'xmin'`": ['get', '/pages/1,1'],
  "update with the tag `etag: 'xmin'`": ['patch', '/pages/1,1', { name: 'changed' }],
  'links, listed': ['get', '/members/1/labels'],
  'link, set': ['put', '/members/1/labels/3'],
  'link, removed': ['delete', '/members/1/labels/1'],
  'links, added': ['post', '/members/1/labels', [{ id: 2 }]],
  'links, replaced': ['put', '/members/1/labels', [{ id: 2 }]],
};
