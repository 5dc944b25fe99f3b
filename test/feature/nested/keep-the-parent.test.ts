/** New children whose foreign key has a value of the server's, too: by `scope`, or by `set`. They are those of their parent, or refused. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, EVERYTHING } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

const { INTEGER } = DataType;
const required = { type: INTEGER, allowNull: false } as const;

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  nested: { projects: { replace: true }, 'projects.tasks': true },
} as CrudOptions)
@Table({ tableName: 'tenants', timestamps: false })
class Tenant extends NamedRow {
  @HasMany(() => Project) declare projects: Project[];
}

@Crud()
@Table({ tableName: 'projects', timestamps: false })
class Project extends NamedRow {
  @ForeignKey(() => Tenant) @Column(required) declare tenantId: number;
  @HasMany(() => Task) declare tasks: Task[];
}

@Crud()
@Table({ tableName: 'tasks', timestamps: false })
class Task extends NamedRow {
  @ForeignKey(() => Project) @Column(required) declare projectId: number;
  @Column(required) declare tenantId: number;
}

@Crud({ nested: { comments: true } })
@Table({ tableName: 'authors', timestamps: false })
class Author extends NamedRow {
  @HasMany(() => Comment) declare comments: Comment[];
}

@Crud({
  set: { authorId: { value: (request: Request) => Number(request.get('user')), on: 'both' } },
} as CrudOptions)
@Table({ tableName: 'comments', timestamps: false })
class Comment extends NamedRow {
  @ForeignKey(() => Author) @Column(required) declare authorId: number;
}

/** `all`, one number, or several. */
function tenantsOf(request: Request): typeof EVERYTHING | number | readonly number[] {
  const text = request.get('tenant') ?? '1';
  if (text === 'all') return EVERYTHING;
  return text.includes(',') ? text.split(',').map(Number) : Number(text);
}

describeNested('new children whose foreign key the server sets', () => {
  const site = serveTestApp(() => ({
    models: [Tenant, Project, Task, Author, Comment],
    bootstrap: { indexAdvice: false, scope: { tenantId: tenantsOf } },
  }));
  const rowsOf = async (text: string) => (await site.engine.sequelize.query(text))[0];
  const projects = () => rowsOf('SELECT "tenantId", name FROM projects ORDER BY id');
  const send = (verb: 'post' | 'patch' | 'put', path: string, body: object, tenant = '1') =>
    site.agent[verb](path).set({ tenant, user: '2' }).send(body);

  beforeEach(async () => {
    await emptyTables(site, 'tasks', 'projects', 'tenants', 'comments', 'authors');
    await rowsOf(`INSERT INTO tenants (id, name) VALUES (1, 'one'), (7, 'seven'), (8, 'eight')`);
    await rowsOf(`INSERT INTO authors (id, name) VALUES (1, 'Ann'), (2, 'Bob')`);
    await rowsOf(`SELECT setval('tenants_id_seq', 20), setval('authors_id_seq', 20)`);
  });

  describe('by the scope', () => {
    const A = { name: 'A' };
    const cells: readonly (readonly [
      verb: 'post' | 'patch' | 'put',
      path: string,
      body: object,
      tenant: string,
      pointer: string | number,
    ])[] = [
      ['post', '/tenants', { name: 'new', projects: [A] }, '1', '/projects/0'],
      ['post', '/tenants', { name: 'new', projects: [A] }, '1,7', '/projects/0'],
      ['post', '/tenants', { name: 'new', projects: [A] }, 'all', 21],
      ['post', '/tenants/many', [{ name: 'new', projects: [A] }], '1', '/0/projects/0'],
      ['patch', '/tenants/7', { projects: { create: [A] } }, '1', '/projects/create/0'],
      ['patch', '/tenants/7', { projects: { create: [A] } }, '7', 7],
      ['patch', '/tenants/7', { projects: { create: [A] } }, '1,7', 7],
      ['patch', '/tenants/8', { projects: { create: [A] } }, '1,7', '/projects/create/0'],
      ['patch', '/tenants/8', { projects: { create: [A] } }, 'all', 8],
      ['patch', '/tenants', [{ id: 7, projects: { create: [A] } }], '1', '/0/projects/create/0'],
      ['patch', '/tenants', [{ id: 7, projects: { create: [A] } }], '1,7', 7],
      ['put', '/tenants/7', { name: 'x', projects: [A] }, '1', '/projects/0'],
      ['put', '/tenants/7', { name: 'x', projects: [A] }, '7', 7],
    ];
    for (const [verb, path, body, tenant, expected] of cells) {
      const isRefused = typeof expected === 'string';
      it(`${verb} ${path} is ${isRefused ? 'refused' : 'done'} for ${tenant}`, async () => {
        const answer = await send(verb, path, body, tenant);
        if (isRefused) {
          expect(answer.status, JSON.stringify(answer.body)).to.equal(422);
          const detail = 'A Project has the tenantId of its parent, and this request writes another one.';
          expect(answer.body.errors).to.deep.equal([{ pointer: expected, code: 'scope', detail }]);
        } else expect(answer.status, JSON.stringify(answer.body)).to.equal(verb === 'post' ? 201 : 200);
        expect(await projects()).to.deep.equal(isRefused ? [] : [{ tenantId: expected, name: 'A' }]);
        expect(await rowsOf(`SELECT name FROM tenants WHERE id IN (7, 8) ORDER BY id`)).to.deep.equal([
          { name: verb === 'put' && !isRefused ? 'x' : 'seven' },
          { name: 'eight' },
        ]);
      });
    }

    it('is no member of a body', async () => {
      for (const tenant of ['1', '1,7', 'all']) {
        const { body, status } = await send(
          'patch',
          '/tenants/1',
          { projects: { create: [{ name: 'A', tenantId: 1 }] } },
          tenant,
        );
        expect(status).to.equal(422);
        expect(body.errors[0]).to.include({
          pointer: '/projects/create/0/tenantId',
          code: 'readOnly',
        });
      }
    });

    it('is that of children of children, which have the attribute', async () => {
      const of = (tenantId?: number) => ({
        projects: { create: [{ name: 'A', tasks: [{ name: 't', ...(tenantId && { tenantId }) }] }] },
      });
      expect((await send('patch', '/tenants/7', of(), '7')).status).to.equal(200);
      expect((await send('patch', '/tenants/7', of(7), '1,7')).status).to.equal(200);
      const other = await send('patch', '/tenants/7', of(1), '1,7');
      expect(other.status).to.equal(422);
      expect(other.body.errors[0]).to.include({ pointer: '/projects/create/0/tasks/0', code: 'scope' });
      expect(await rowsOf('SELECT "tenantId" FROM tasks')).to.deep.equal([{ tenantId: 7 }, { tenantId: 7 }]);
    });

    it('finds no child of another one', async () => {
      await rowsOf(`INSERT INTO projects (id, "tenantId", name) VALUES (1, 7, 'A')`);
      for (const projects of [{ update: [{ id: 1, name: 'x' }] }, { delete: [1] }])
        expect((await send('patch', '/tenants/7', { projects })).status).to.equal(404);
      expect(await projects()).to.deep.equal([{ tenantId: 7, name: 'A' }]);
    });
  });

  describe('by set', () => {
    const comments = () => rowsOf('SELECT "authorId", name FROM comments ORDER BY id');

    it('have the parent that they are written with', async () => {
      const created = await send('post', '/authors', { name: 'Eve', comments: [{ name: 'A' }] });
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      expect(created.body.comments.items[0]).to.include({ authorId: 21, name: 'A' });
      const changed = await send('patch', '/authors/1', { comments: { create: [{ name: 'B' }] } });
      expect(changed.status).to.equal(200);
      expect(await comments()).to.deep.equal([
        { authorId: 21, name: 'A' },
        { authorId: 1, name: 'B' },
      ]);
      const alone = await send('post', '/comments', { name: 'C' });
      expect(alone.body.authorId).to.equal(2);
    });

    it('stay with it where they are changed', async () => {
      await rowsOf(`INSERT INTO comments (id, "authorId", name) VALUES (1, 1, 'A')`);
      const { status, body } = await send('patch', '/authors/1', {
        comments: { update: [{ id: 1, name: 'x' }] },
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(await comments()).to.deep.equal([{ authorId: 1, name: 'x' }]);
    });
  });
});

@Crud({
  endpoints: ['read', 'create', 'update', 'updateMany'],
  nested: { parts: true },
  set: { editedBy: { value: (request: Request) => Number(request.get('user')), on: 'update' } },
} as CrudOptions)
@Table({ tableName: 'machines', timestamps: false, version: true })
class Machine extends NamedRow {
  @Column(INTEGER) declare editedBy: number | null;
  @HasMany(() => Part) declare parts: Part[];
}

@Crud()
@Table({ tableName: 'parts', timestamps: false })
class Part extends NamedRow {
  @ForeignKey(() => Machine) @Column(required) declare machineId: number;
}

describeNested('a record whose children change', () => {
  const site = serveTestApp(() => ({ models: [Machine, Part], bootstrap: { indexAdvice: false } }));

  it('gets the values of the server together with its version', async () => {
    const { body: machine } = await site.agent.post('/machines').set('user', '1').send({ name: 'press' });
    expect(machine.editedBy).to.equal(null);
    const states: unknown[] = [];
    const parts = { create: [{ name: 'screw' }] };
    for (const [path, body] of [
      [`/machines/${machine.id}`, { parts }],
      ['/machines', [{ id: machine.id, parts }]],
      [`/machines/${machine.id}`, { parts: {} }],
    ] as const) {
      const user = String(7 + states.length);
      const { status, text } = await site.agent.patch(path).set('user', user).send(body);
      expect(status, text).to.equal(200);
      const { editedBy, version } = (await site.agent.get(`/machines/${machine.id}`)).body;
      states.push([editedBy, version - machine.version]);
    }
    expect(states).to.deep.equal([
      [7, 1],
      [8, 2],
      [8, 2],
    ]);
  });
});
