/** `softDelete`: a delete sets a flag, a status or a number, and each rule of `paranoid` holds for the rows. */
// @runs fast

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Get } from 'routing-controllers';
import {
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  type ModelCtor,
  Sequelize,
  Table,
} from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  Crud,
  type CrudContext,
  type CrudOptions,
  crudController,
  InjectRecord,
  NotDeletedError,
  NotFoundError,
  Repository,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** A way to mark deleted rows. */
interface Way {
  readonly mark: string;
  /** Left out where Sequelize deletes: it is the way that the others are compared with. */
  readonly softDelete?: NonNullable<CrudOptions['softDelete']>;
  readonly deleted: unknown;
  /** Values of the mark in rows that are not deleted. */
  readonly others: readonly unknown[];
}

const WAYS: readonly Way[] = [
  { mark: 'deletedAt', deleted: new Date(), others: [null] },
  {
    mark: 'isDeleted',
    softDelete: { attribute: 'isDeleted', deleted: true, alive: false },
    deleted: true,
    others: [false, null],
  },
  {
    mark: 'status',
    softDelete: { attribute: 'status', deleted: 'archived', alive: 'active' },
    deleted: 'archived',
    others: ['active', null, 'draft'],
  },
  {
    mark: 'state',
    softDelete: { attribute: 'state', deleted: -1, alive: null },
    deleted: -1,
    others: [null, 7],
  },
];

const TYPES: Readonly<Record<string, Parameters<typeof Column>[0]>> = {
  deletedAt: DataType.DATE,
  isDeleted: DataType.BOOLEAN,
  status: DataType.ENUM('active', 'draft', 'archived'),
  state: DataType.INTEGER,
};

const MANY = SERVES_MANY ? (['createMany', 'updateMany', 'deleteMany'] as const) : [];

/** The models of a way, in tables of their own. */
function library({ mark, softDelete }: Way) {
  const options: CrudOptions = {
    endpoints: ['list', 'read', 'create', 'update', 'replace', 'delete', 'restore', 'purge', ...MANY],
    can: { deleted: true },
    ...(softDelete ? { softDelete } : {}),
  };
  const table = { timestamps: true, createdAt: false, updatedAt: false, paranoid: !softDelete } as const;

  @Table({ ...table, tableName: `${mark}_authors`, modelName: 'Author' })
  class Author extends KeyedRow {
    @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
    @HasMany(() => Book) declare books?: Book[];
  }

  @Table({ ...table, tableName: `${mark}_books`, modelName: 'Book' })
  class Book extends NumberedRow {
    @Column({ type: DataType.STRING(20), allowNull: false }) declare title: string;
    @ForeignKey(() => Author) @Column(DataType.INTEGER) declare authorId: number | null;
    @BelongsTo(() => Author) declare author?: Author;
  }

  for (const model of [Author, Book]) Column(TYPES[mark] as never)(model.prototype, mark);
  Crud({
    ...options,
    filterAllow: { name: true, books: ['title'] },
    sortAllow: ['name'],
    include: { books: UNGUARDED },
    subresources: { books: UNGUARDED },
    count: true,
  })(Author);
  Crud({ ...options, filterAllow: { 'author.name': true }, include: { author: UNGUARDED } })(Book);
  return [Author, Book] as [ModelCtor, ModelCtor];
}

interface Request {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  readonly path: string;
  readonly body?: object;
}

const read = (path: string, status = 200) => [{ method: 'get', path }, status] as const;
const write = (method: Request['method'], path: string, status: number, body?: object) =>
  [{ method, path, ...(body && { body }) }, status] as const;

/** Ann has three books, of which one is deleted; Dora is deleted, and has one. */
const STEPS: readonly (readonly [Request, number])[] = [
  ...['', '?deleted=only', '?deleted=with', '?size=1&page=2', '?sort=-name&deleted=with'].map((query) =>
    read(`/authors${query}`),
  ),
  ...['include=books', 'q=books=any=(title==b*)', 'q=books=isempty=true', 'q=name==Dora'].map((query) =>
    read(`/authors?${query}`),
  ),
  read('/authors/1'),
  read('/authors/4', 404),
  read('/authors/4?deleted=only'),
  read('/authors/1?deleted=only', 404),
  read('/authors/1/books'),
  read('/authors/1/books?deleted=only'),
  read('/authors/4/books', 404),
  read('/books?include=author'),
  read('/books?q=author.name==Dora'),
  // A foreign key names a live row.
  write('post', '/books', 409, { title: 'new', authorId: 4 }),
  write('post', '/books', 201, { title: 'new', authorId: 1 }),
  write('patch', '/books/1', 409, { authorId: 4 }),
  // A deleted row is as missing as one that was never there.
  write('patch', '/authors/4', 404, { name: 'Dot' }),
  write('put', '/authors/4', 409, { name: 'Dot' }),
  write('delete', '/authors/4', 404),
  write('post', '/authors/1/restore', 409),
  write('delete', '/authors/1/purge', 409),
  write('put', '/authors/1', 200, { name: 'Anna' }),
  write('put', '/authors/9', 201, { name: 'Ida' }),
  write('patch', '/authors/9', 200, { name: 'Iris' }),
  ...(SERVES_MANY
    ? [
        write('patch', '/authors', 404, [
          { id: 1, name: 'A' },
          { id: 4, name: 'D' },
        ]),
        write('patch', '/authors', 200, [{ id: 1, name: 'Amy' }]),
        write('patch', '/authors?q=name=in=(Amy,Dora)', 200, { name: 'Eve' }),
        write('post', '/authors', 201, [
          { id: 10, name: 'Kim' },
          { id: 11, name: 'Leo' },
        ]),
        write('delete', '/authors?q=name=in=(Kim,Leo,Dora)', 200),
        read('/authors?deleted=only'),
        write('delete', '/authors?q=name=in=(Kim,Leo,Dora)', 200),
      ]
    : []),
  write('delete', '/authors/2', 204),
  write('delete', '/authors/2', 404),
  read('/authors/2', 404),
  read('/books?include=author'),
  write('post', '/books', 409, { title: 'more', authorId: 2 }),
  write('post', '/authors/2/restore', 200),
  write('post', '/authors/2/restore', 409),
  read('/authors/2'),
  write('delete', '/authors/2', 204),
  write('delete', '/authors/2/purge', 204),
  write('delete', '/authors/9', 204),
  write('delete', '/authors/9/purge', 204),
  write('delete', '/authors/9/purge', 404),
  read('/authors?deleted=with'),
  read('/books?deleted=with&include=author'),
];

/** The same without the marks. */
function withoutMark(value: unknown, mark: string): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (name, each) => (name === mark ? undefined : each));
}

describe('rows that a value marks as deleted', () => {
  const served = WAYS.map((way) => {
    const models = library(way);
    const site = serveTestApp(() => ({ models, minPool: 2 }));
    return { way, models, site };
  });

  async function fill({ way, models: [Author, Book], site }: (typeof served)[number]): Promise<void> {
    await emptyTables(site, Book.tableName, Author.tableName);
    const { mark, deleted, others } = way;
    const rows = <R extends object>(all: readonly R[], gone: readonly number[]) =>
      all.map((row, index) => ({
        ...row,
        [mark]: gone.includes(index) ? deleted : others[index % others.length],
      }));
    const authors = ['Ann', 'Bea', 'Cid', 'Dora'].map((name, index) => ({ id: index + 1, name }));
    const titles = ['alpha', 'beta', 'boat', 'delta', 'echo'];
    await Author.bulkCreate(rows(authors, [3]));
    await Book.bulkCreate(
      rows(
        titles.map((title, index) => ({ title, authorId: [1, 1, 1, 4, 2][index] })),
        [1],
      ),
    );
  }

  async function answers({ site, way, models }: (typeof served)[number]): Promise<unknown[]> {
    const found: unknown[] = [];
    for (const [{ method, path, body }, status] of STEPS) {
      const answer = await site.agent[method](path).send(body);
      expect(answer.status, `${way.mark} ${method} ${path} ${answer.text}`).to.equal(status);
      found.push({ method, path, body: withoutMark(answer.body, way.mark) });
    }
    for (const model of models) {
      const rows = await model.findAll({ paranoid: false, order: ['id'], raw: true });
      for (const row of rows as unknown as Record<string, unknown>[]) {
        const { [way.mark]: value, ...others } = row;
        found.push({ ...others, isDeleted: way.softDelete ? value === way.deleted : value !== null });
      }
    }
    return found;
  }

  for (const isHooked of [false, true])
    except(isHooked ? { general: 'Sequelize runs all without a hook, too' } : {}).it(
      `are answered as those of a paranoid model${isHooked ? ' behind a hook' : ''}, whatever is sent`,
      async () => {
        const all: unknown[][] = [];
        for (const each of served) {
          await fill(each);
          const hooks = isHooked
            ? each.models.map((model) => addedHook(model, ['beforeSave', 'beforeDestroy']))
            : [];
          all.push(await answers(each));
          for (const hook of hooks) hook[Symbol.dispose]();
        }
        const [paranoid, ...others] = all;
        for (const other of others) expect(other).to.deep.equal(paranoid);
      },
    );
});

const TICKETS = { tableName: 'tickets', timestamps: true, createdAt: false, version: true } as const;

abstract class Tickets extends NumberedRow {
  @Column({ type: DataType.STRING(10), unique: true }) declare code: string;
  @Column({ type: DataType.STRING(10), allowNull: false }) declare status: string;

  declare updatedAt: Date;
}

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge'],
  can: { deleted: true },
  softDelete: { attribute: 'status', deleted: 'archived', alive: 'active' },
  filterAllow: ['status'],
})
@Table(TICKETS)
class Ticket extends Tickets {
  @Column({ type: DataType.STRING(10), defaultValue: 'draft' }) declare stage: string;
}

/** The same table, whose rows begin as drafts, and whose answers do not show the mark. */
@Crud({ softDelete: { attribute: 'stage', deleted: 'gone', alive: 'back' }, prefix: '/drafts' })
@Table(TICKETS)
class Draft extends Tickets {
  @Exclude() @Column({ type: DataType.STRING(10), defaultValue: 'draft' }) declare stage: string;
}

@Crud({
  endpoints: ['delete', 'restore', 'purge'],
  softDelete: { attribute: 'isGone', deleted: true, alive: false },
  prefix: '/stuck',
})
@Table({ tableName: 'stuck', timestamps: false })
class Stuck extends KeyedRow {
  @Column({ type: DataType.BOOLEAN, field: 'is gone' }) declare isGone: boolean;
}

describe('the attribute that marks deleted rows', () => {
  const site = serveTestApp(() => ({
    models: [Ticket, Draft, Stuck],
    bootstrap: { idempotency: { principal: () => 'all' } },
    minPool: 2,
  }));

  beforeEach(() => emptyTables(site, 'tickets'));

  it('is in answers and filters, in no body, and is set in a new row where nothing else does', async () => {
    const made = await site.agent.post('/tickets').send({ code: 'a' });
    const { updatedAt } = made.body;
    expectJson(made, 201, { id: 1, code: 'a', status: 'active', stage: 'draft', updatedAt, version: 0 });
    expect((await site.agent.get('/tickets?q=status==active')).body.items).to.deep.equal([made.body]);
    const readOnly = { pointer: '/status', code: 'readOnly', detail: 'status cannot be set.' };
    expectIssue(await site.agent.post('/tickets').send({ code: 'b', status: 'active' }), 422, readOnly);
    expectIssue(await site.agent.patch('/tickets/1').send({ status: 'archived' }), 422, readOnly);
    const draft = await site.agent.post('/drafts').send({ code: 'b', status: 'x' });
    expect(draft.status).to.equal(201);
    expect(draft.body).to.include({ id: 2, status: 'x' }).and.not.have.property('stage');
    expect((await Draft.findByPk(2))?.stage).to.equal('draft');
    expect((await site.agent.delete('/drafts/2')).status).to.equal(204);
    expect((await Draft.findByPk(2))?.stage).to.equal('gone');
    expect((await site.agent.get('/drafts/2')).status).to.equal(404);
    // Another model of the table has another mark.
    expect((await site.agent.get('/tickets/2')).body).to.include({ stage: 'gone' });
    const { TicketCreate, TicketUpdate } = site.crud.openapi().components?.schemas ?? {};
    for (const schema of [TicketCreate, TicketUpdate])
      expect(Object.keys((schema as { properties: object }).properties)).to.deep.equal(['code', 'stage']);
  });

  it('counts as a change, under the condition of the request, and once for a key', async () => {
    await site.agent.post('/tickets').send({ code: 'a' });
    const remove = (tag: string, key: string) =>
      site.agent.delete('/tickets/1').set('if-match', tag).set('idempotency-key', key);
    const refused = await remove('"7"', 'one');
    expect([refused.status, refused.headers['etag']]).to.deep.equal([412, '"0"']);
    expectNothing(await remove('"0"', 'two'), 204);
    expect((await remove('"0"', 'two')).headers['idempotent-replayed']).to.equal('true');
    expect((await remove('"0"', 'three')).status).to.equal(404);
    expect((await site.agent.post('/tickets/1/restore').set('if-match', '"0"')).status).to.equal(412);
    const before = await Ticket.findByPk(1);
    const restored = await site.agent.post('/tickets/1/restore').set('if-match', '"1"');
    expect(restored.body).to.include({ status: 'active', version: 2 });
    expect(restored.headers['etag']).to.match(/^"2[".]/);
    expect(Date.parse(restored.body.updatedAt)).to.be.greaterThan(before?.updatedAt.getTime() ?? 0);
    expectNothing(await site.agent.delete('/tickets/1').set('if-match', '"2"'), 204);
    expect((await site.agent.delete('/tickets/1/purge').set('if-match', '"2"')).status).to.equal(412);
    expectNothing(await site.agent.delete('/tickets/1/purge').set('if-match', '"3"'), 204);
  });

  it('is written within the hooks of a destroy and of an update, each of which may refuse', async () => {
    await Ticket.create({ code: 'a', status: 'draft' });
    const names = ['BulkDestroy', 'Destroy', 'Restore', 'Save', 'Update'].flatMap((each) => [
      `before${each}`,
      `after${each}`,
    ]);
    const seen: string[] = [];
    const hooks = names.map((name) => addedHook(Ticket, name, () => seen.push(name)));
    for (const [send, status, order] of [
      [
        () => site.agent.delete('/tickets/1'),
        204,
        'beforeBulkDestroy beforeDestroy beforeSave beforeUpdate afterSave afterUpdate afterDestroy afterBulkDestroy',
      ],
      [
        () => site.agent.post('/tickets/1/restore'),
        200,
        'beforeRestore beforeSave beforeUpdate afterSave afterUpdate afterRestore',
      ],
      [
        () => new Repository(Ticket).delete(1),
        undefined,
        'beforeBulkDestroy beforeDestroy beforeSave beforeUpdate afterSave afterUpdate afterDestroy afterBulkDestroy',
      ],
      [
        () => site.agent.delete('/tickets/1/purge'),
        204,
        'beforeBulkDestroy beforeDestroy afterDestroy afterBulkDestroy',
      ],
    ] as const) {
      seen.length = 0;
      expect(((await send()) as Response | undefined)?.status).to.equal(status);
      expect(seen.join(' ')).to.equal(order);
    }
    for (const hook of hooks) hook[Symbol.dispose]();
    const { id } = await Ticket.create({ code: 'b', status: 'active' });
    for (const name of ['beforeDestroy', 'beforeUpdate', 'afterDestroy']) {
      using _hook = addedHook(Ticket, name, () => Promise.reject(new NotDeletedError(`Not in ${name}.`)));
      expectProblem(await site.agent.delete(`/tickets/${id}`), 409, { detail: `Not in ${name}.` });
      expect((await Ticket.findByPk(id))?.status).to.equal('active');
    }
  });

  it('is told from others by repositories, overrides and injected records', async () => {
    const tickets = new Repository(Ticket);
    for (const status of ['active', 'archived', 'third']) await Ticket.create({ code: status, status });
    const ids = (records: readonly Ticket[]) => records.map(({ id }) => id);
    expect(ids(await tickets.list())).to.deep.equal([1, 3]);
    expect(ids(await tickets.list({ deleted: 'only', where: { code: 'archived' } }))).to.deep.equal([2]);
    expect(await tickets.count()).to.equal(2);
    expect(await tickets.count({ deleted: 'with' })).to.equal(3);
    expect(await caughtError(() => tickets.get(2))).to.be.instanceOf(NotFoundError);
    expect(await caughtError(() => tickets.update(2, { stage: 'x' }))).to.be.instanceOf(NotFoundError);
    expect(await caughtError(() => tickets.delete(2))).to.be.instanceOf(NotFoundError);
    expect(await caughtError(() => tickets.restore(1))).to.be.instanceOf(NotDeletedError);
    expect((await tickets.restore(2)).status).to.equal('active');
    await tickets.delete(2);
    expect(String(await caughtError(() => tickets.purge({ before: new Date() })))).to.equal(
      "TypeError: Ticket marks deleted rows by status, which has no moment, so none was deleted before one; purge each by its key, such as those of list({ deleted: 'only' }).",
    );
    class Tickets extends crudController(Ticket) {
      override async remove(id: number, context: CrudContext<Ticket>) {
        await context.repository.get(id);
        return super.remove(id, context);
      }
      @Get('/:id/code') code(@InjectRecord() { code }: Ticket) {
        return { code };
      }
    }
    const { agent } = await buildApp({ models: [], controllers: [Tickets] });
    expectJson(await agent.get('/tickets/3/code'), 200, { code: 'third' });
    expect((await agent.get('/tickets/2/code')).status).to.equal(404);
    expectNothing(await agent.delete('/tickets/3'), 204);
    expect((await agent.delete('/tickets/3')).status).to.equal(404);
    await tickets.purge(3);
    expect(await Ticket.count()).to.equal(2);
  });

  it('is not said to be set where a trigger leaves the row as it was', async () => {
    await site.engine.sequelize.query(`INSERT INTO stuck VALUES (1, false), (2, true);
      CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER keep BEFORE UPDATE ON stuck FOR EACH ROW EXECUTE FUNCTION keep()`);
    const detail = 'The database did not store the record, and nothing was done.';
    expectProblem(await site.agent.delete('/stuck/1'), 409, { detail });
    expectProblem(await site.agent.post('/stuck/2/restore'), 409, { detail });
    expectNothing(await site.agent.delete('/stuck/2/purge'), 204);
  });

  it('is in the condition of partial indexes, which the advice knows', async () => {
    const { sequelize } = site.engine;
    const told = async (made: string) => {
      await sequelize.query(made);
      const logger = new CapturedLog();
      await buildApp({ models: [Ticket], logger });
      return logger.lines.map(({ message }) => message).join('\n');
    };
    const first = await told('SELECT 1');
    expect(first).to.include("no index serves a filter by 'status'");
    const [, mend = ''] = /tickets_code_key; (BEGIN; .*; COMMIT;)/.exec(first) ?? [];
    expect(mend).to.include(`WHERE "status" IS DISTINCT FROM 'archived'; COMMIT;`);
    const alive = `"status" IS DISTINCT FROM 'archived'`;
    const quiet = await told(`${mend} CREATE INDEX by_status ON tickets (status, id) WHERE ${alive}`);
    expect(quiet).to.equal('');
    expect(
      await told(
        'DROP INDEX by_status; CREATE INDEX by_status ON tickets (status, id) WHERE status <> $$draft$$',
      ),
    ).to.include("no index serves a filter by 'status'");
    await sequelize.query('DROP INDEX by_status');
  });
});

describe('the option softDelete', () => {
  useEmptyRegistry();

  const ATTRIBUTES = 'id, status, rank, data, updatedAt';

  async function problemOf(
    softDelete: unknown,
    more: {
      readonly paranoid?: true;
      readonly options?: object;
      readonly change?: (model: ModelCtor) => void;
    } = {},
  ): Promise<string> {
    const { options = {}, change = () => {}, ...table } = more;
    @Crud({ ...options, ...(softDelete === undefined ? {} : { softDelete }) } as CrudOptions)
    @Table({ tableName: 'wrong', createdAt: false, ...table })
    class Wrong extends NumberedRow {
      @Column({ type: DataType.STRING(5), defaultValue: 'new' }) declare status: string;
      @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare rank: number;
      @Column(DataType.JSONB) declare data: unknown;
    }
    change(Wrong);
    new Sequelize({ dialect: 'postgres', models: [Wrong] });
    return configError(() => buildApp({ models: [Wrong] }));
  }

  for (const [softDelete, problem] of [
    [true, " is true; use an object such as { attribute: 'isDeleted', deleted: true, alive: false }."],
    [
      { attribute: 'staus', deleted: 'x', alive: 'y' },
      `.attribute is "staus", which is no attribute. Did you mean 'status'? The attributes are ${ATTRIBUTES}.`,
    ],
    [
      { deleted: 'x', alive: 'y' },
      `.attribute is undefined, which is no attribute. The attributes are ${ATTRIBUTES}.`,
    ],
    [
      { attribute: 'id', deleted: 1, alive: 2 },
      ".attribute is 'id', which is part of the key or written by Sequelize; use another attribute.",
    ],
    [
      { attribute: 'data', deleted: 1, alive: 2 },
      ".attribute is 'data', of type json; use one of boolean, integer, bigint, decimal, string, enum, uuid.",
    ],
    [
      { attribute: 'status', deleted: 'x', alive: 'x' },
      '.deleted and softDelete.alive are both "x"; give them different values.',
    ],
    [
      { attribute: 'status', deleted: null, alive: 'x' },
      '.deleted is null; give it the value of deleted rows. Rows with NULL are alive.',
    ],
    [
      { attribute: 'status', deleted: 'x' },
      '.alive is missing; give it the value of a row that is brought back.',
    ],
    [
      { attribute: 'rank', deleted: 0, alive: null },
      '.alive is null, and rank may not be NULL; give it a value, or allow NULL.',
    ],
    [
      { attribute: 'status', deleted: 'new', alive: 'x' },
      '.deleted is the default of status, so that each new row would be deleted; give one of them another value.',
    ],
    [
      { attribute: 'status', deleted: 'x', alive: 'y', at: 1 },
      " has no 'at'; use attribute, deleted and alive.",
    ],
    [{ attribute: 'rank', deleted: 'x', alive: 1 }, '.deleted is "x", and rank must be an integer.'],
    [
      { attribute: 'status', deleted: 'x', alive: 'too long' },
      '.alive is "too long", and status must be at most 5 characters long.',
    ],
  ] as const)
    it(`is refused as ${JSON.stringify(softDelete)}`, async () => {
      expect(await problemOf(softDelete)).to.equal(`Wrong: softDelete${problem}`);
    });

  it('is refused where something else deletes rows, or writes the attribute', async () => {
    const softDelete = { attribute: 'status', deleted: 'x', alive: 'y' };
    expect(await problemOf(softDelete, { paranoid: true })).to.equal(
      'Wrong: softDelete is set, and the model is paranoid, which marks its rows by deletedAt; remove one of the two.',
    );
    expect(
      await problemOf(softDelete, {
        change: (model) => Object.assign(model.prototype, { destroy: async () => {} }),
      }),
    ).to.equal(
      'Wrong: softDelete is set, and the model has destroy() of its own, which is not called where status marks the row; write what it ' +
        'does as a hook beforeDestroy, or leave softDelete out.',
    );
    for (const option of ['scope', 'set'])
      expect(await problemOf(softDelete, { options: { [option]: { status: () => 'y' } } })).to.match(
        new RegExp(`^Wrong: ${option} names 'status', which (?:a delete|no request) writes; use `),
      );
    expect(await problemOf(softDelete, { options: { fields: { status: { update: true } } } })).to.equal(
      "Wrong: softDelete writes 'status', which no body may set, and fields has a rule for writing it; remove the rule.",
    );
    expect(await problemOf(softDelete, { options: { readOnly: ['status'] } })).to.equal(
      "Wrong: softDelete.attribute is 'status', which readOnly names, so that nothing writes it; take it out of readOnly.",
    );
    expect(await problemOf(softDelete, { options: { id: 'status' } })).to.equal(
      "Wrong: id names 'status', which a delete writes; use another attribute.",
    );
  });

  it('is that of the model, whatever serves it', async () => {
    @Crud()
    @Table({ tableName: 'fine', timestamps: false })
    class Fine extends NumberedRow {
      @Column(DataType.STRING(5)) declare status: string;
    }
    class Fines extends crudController(Fine, {
      softDelete: { attribute: 'status', deleted: 'x', alive: 'y' },
    }) {}
    new Sequelize({ dialect: 'postgres', models: [Fine] });
    expect(await configError(() => buildApp({ models: [], controllers: [Fines] }))).to.equal(
      'Fine: softDelete is given to a route, or is another one than that of the model; write it in @Crud above the class, so ' +
        'that relations and foreign keys that lead to it know it, too.',
    );
  });
});
