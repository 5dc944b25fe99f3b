/** `PUT /{id}`: a record with a key that clients give is created, or gets other values. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { IsInt, IsString } from 'class-validator';
import type { Response } from 'express';
import { Authorized, BadRequestError, HttpCode, UseBefore, UseInterceptor } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  type Id,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configError } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { meetingOf } from '../../support/meeting.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

const tenantOf = (request: { get(name: string): string | undefined }) => Number(request.get('x-tenant') ?? 1);

@Crud({ scope: { tenant: tenantOf } })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER }) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
}

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace'],
  scope: { tenant: tenantOf },
  can: {
    create: (request) => request.get('x-no-create') === undefined,
    update: (request) => request.get('x-no-update') === undefined,
  },
  fields: {
    price: { write: (request) => request.get('x-guest') === undefined },
    origin: { create: true, update: (request) => request.get('x-guest') === undefined },
  },
})
@Table({ tableName: 'items', paranoid: true, version: true })
class Item extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(12) }) declare code: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
  @Column(DataType.STRING(20)) declare note: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 5 }) declare stock: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 10 }) declare price: number;
  @Column(DataType.STRING(20)) declare origin: string | null;

  @Exclude({ toClassOnly: true })
  @Column({ type: DataType.STRING(20), allowNull: true, defaultValue: 'inner' })
  declare inner: string | null;

  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number | null;
  @BelongsTo(() => Shelf) declare shelf?: Shelf;
}

/** Without tags, timestamps and rules. */
@Crud({ endpoints: ['read', 'replace'] })
@Table({ tableName: 'plain_items', timestamps: false })
class Plain extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER }) declare id: number;
  @Column(DataType.STRING(20)) declare name: string | null;
}

@Crud({ endpoints: ['read', 'replace'], etag: 'xmin', ifMatch: 'required' })
@Table({ tableName: 'marked_items', timestamps: false })
class Marked extends Model {
  @PrimaryKey @Column({ type: DataType.UUID }) declare id: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
}

const TAKEN = {
  detail: 'Another Item has the same code.',
  errors: [{ pointer: '/code', code: 'unique', detail: 'Another Item has the same code.' }],
};
const GONE = { detail: 'There is no such Item that If-Match could be about, and nothing was done.' };

describe('a PUT of a record', () => {
  const site = serveTestApp(() => ({
    models: [Shelf, Item, Plain, Marked],
    bootstrap: { models: [Shelf, Item, Plain, Marked] },
    minPool: 2,
  }));
  const put = (code: string, body: object = { name: code }) => site.agent.put(`/items/${code}`).send(body);

  beforeEach(async () => {
    await emptyTables(site, 'items', 'shelves', 'plain_items', 'marked_items');
    await Shelf.bulkCreate([
      { id: 1, tenant: 1 },
      { id: 2, tenant: 2 },
    ]);
  });

  it('[M16] creates one that is not there, and says where', async () => {
    const created = await put('a 1', { name: 'one', shelfId: 1 });
    const row = await Item.findByPk('a 1');
    expectJson(created, 201, {
      code: 'a 1',
      tenant: 1,
      name: 'one',
      note: null,
      stock: 5,
      price: 10,
      origin: null,
      inner: 'inner',
      shelfId: 1,
      createdAt: row?.get('createdAt').toJSON(),
      updatedAt: row?.get('updatedAt').toJSON(),
      deletedAt: null,
      version: 0,
    });
    expect(created.headers['location']).to.equal('/items/a%201');
    expect(created.headers['etag']).to.match(/^"0[".]/);
    expectJson(await site.agent.get('/items/a%201'), 200, created.body);
  });

  it('[C8 M10 M16] gives one that is there other values, and defaults for what is left out', async () => {
    await put('a', { name: 'one', note: 'x', stock: 9, price: 9, origin: 'y', shelfId: 1 });
    await Item.update({ inner: 'kept' }, { where: { code: 'a' } });
    const before = await Item.findByPk('a');
    const replaced = await put('a', { code: 'a', name: 'two' });
    const row = await Item.findByPk('a');
    expectJson(replaced, 200, {
      ...(before?.toJSON() as object),
      name: 'two',
      note: null,
      stock: 5,
      price: 10,
      origin: null,
      shelfId: null,
      createdAt: before?.get('createdAt').toJSON(),
      updatedAt: row?.get('updatedAt').toJSON(),
      version: before?.get('version') + 1,
    });
    expect(replaced.headers).not.to.have.property('location');
    expect(row?.get('updatedAt').getTime()).to.be.at.least(before?.get('updatedAt').getTime());
    expectJson(await site.agent.get('/items/a'), 200, replaced.body);
  });

  it('[T15] writes nothing where nothing differs', async () => {
    const created = await put('a', { name: 'one', note: 'x' });
    const same = await put('a', { name: 'one', note: 'x', stock: 5 });
    expectJson(same, 200, created.body);
    expect(same.headers['etag']).to.match(/^"0[".]/);
  });

  it('takes the key in the body only if it is that of the path', async () => {
    const refused = await put('a', { code: 'b', name: 'one' });
    const detail = 'code is that of the path; leave it out, or send the same.';
    expectProblem(refused, 422, { detail, errors: [{ pointer: '/code', code: 'key', detail }] });
    expect(await Item.count()).to.equal(0);
    const id = '0A0b0c0d-0000-4000-8000-000000000001';
    const created = await site.agent.put(`/markeds/${id}`).set('if-none-match', '*').send({ id, name: 'x' });
    expect([created.status, created.body.id]).to.deep.equal([201, id.toLowerCase()]);
  });

  it('is refused as a create or an update would be, and by either of their rules', async () => {
    for (const body of [{}, { name: 'x', stock: 'many' }, []])
      expect((await put('a', body)).status).to.equal(422);
    for (const values of [{ inner: 'mine' }, { tenant: 2 }, { version: 3 }])
      expect((await put('a', { name: 'x', ...values })).body.errors[0].code).to.equal('readOnly');
    expect((await site.agent.put('/items/a')).status).to.equal(400);
    expect(
      (await site.agent.put('/items/a').type('application/merge-patch+json').send('{}')).status,
    ).to.equal(415);
    expectIssue(await site.agent.put('/items/1234567890123').send({ name: 'x' }), 422, {
      pointer: '/code',
      code: 'maxLength',
      detail: 'code must be at most 12 characters long.',
    });
    expect((await site.agent.get('/items/1234567890123')).status).to.equal(404);
    expect((await put('a?x=1')).status).to.equal(400);
    for (const header of ['x-no-create', 'x-no-update'])
      expect((await put('a').set(header, '1')).status).to.equal(403);
    expect(await Item.count()).to.equal(0);
  });

  it('[M10] leaves alone what the request may not write', async () => {
    await put('a', { name: 'one', note: 'x', price: 99, origin: 'y' });
    for (const restricted of ['price', 'origin']) {
      const sent = await put('a', { name: 'two', [restricted]: 1 }).set('x-guest', '1');
      expect([sent.status, sent.body.errors[0].code]).to.deep.equal([422, 'readOnly']);
    }
    const replaced = await put('a', { name: 'two' }).set('x-guest', '1');
    const { name, note, price, origin } = replaced.body;
    expect({ name, note, price, origin }).to.deep.equal({ name: 'two', note: null, price: 99, origin: 'y' });
    const created = await put('b', { name: 'three' }).set('x-guest', '1');
    expect([created.status, created.body.price, created.body.origin]).to.deep.equal([201, 10, null]);
  });

  it('[M32] never reaches the record of another tenant, nor a deleted one', async () => {
    await put('theirs', { name: 'theirs' }).set('x-tenant', '2');
    await put('gone', { name: 'gone' });
    await site.agent.delete('/items/gone');
    const rows = () => Item.findAll({ raw: true, paranoid: false, order: ['code'] });
    const before = await rows();
    for (const code of ['theirs', 'gone']) {
      expectProblem(await put(code, { name: 'new' }), 409, TAKEN);
      expectProblem(await site.agent.post('/items').send({ code, name: 'new' }), 409, TAKEN);
      expectProblem(await put(code, { name: 'new' }).set('if-none-match', '*'), 409, TAKEN);
      expectProblem(await put(code, { name: 'new' }).set('if-match', '"0"'), 412, GONE);
      expectProblem(await put(code, { name: 'new' }).set('if-match', '*'), 412, GONE);
    }
    expect(await rows()).to.deep.equal(before);
  });

  it('names foreign keys within the access only, and tells a unique value that another record has', async () => {
    for (const create of ['a', 'a'])
      expect((await put(create, { name: 'x', shelfId: 1 })).status).to.be.oneOf([201, 200]);
    for (const code of ['a', 'b']) {
      const [foreign, none] = [
        await put(code, { name: 'y', shelfId: 2 }),
        await put(code, { name: 'y', shelfId: 9 }),
      ];
      expect(foreign.status).to.equal(409);
      expect(foreign.body.errors).to.deep.equal(none.body.errors);
    }
    expect((await Item.findByPk('a'))?.shelfId).to.equal(1);
    await put('b', { name: 'two' });
    const detail = 'Another Item has the same name.';
    for (const code of ['b', 'c']) {
      const refused = await put(code, { name: 'x' });
      expectProblem(refused, 409, { detail, errors: [{ pointer: '/name', code: 'unique', detail }] });
    }
    expect(await Item.count()).to.equal(2);
  });

  it('[T2] is the one that the client has seen, with If-Match', async () => {
    expectProblem(await put('a').set('if-match', '"0"'), 412, GONE);
    expectProblem(await put('a').set('if-match', '*'), 412, GONE);
    expect(await Item.count()).to.equal(0);
    await put('a');
    const refused = await put('a', { name: 'two' }).set('if-match', '"7"');
    expectProblem(refused, 412, {
      detail: 'The Item has been changed since; read it again, and repeat the change.',
    });
    expect(refused.headers['etag']).to.equal('"0"');
    expect((await put('a', { name: 'two' }).set('if-match', '"0"')).status).to.equal(200);
    const replaced = await put('a', { name: 'three' }).set('if-match', '*');
    expect([replaced.status, replaced.body.version]).to.deep.equal([200, 2]);
    expect((await put('a').set('if-match', 'seven')).status).to.equal(400);
  });

  it('[T16] creates only, with If-None-Match: *', async () => {
    const created = await put('a').set('if-none-match', '*');
    expect([created.status, created.headers['location']]).to.deep.equal([201, '/items/a']);
    const refused = await put('a', { name: 'two' }).set('if-none-match', '*');
    expectProblem(refused, 412, { detail: 'The Item is there already, and nothing was done.' });
    expect(refused.headers['etag']).to.equal('"0"');
    expect((await put('a').set('if-none-match', '"0"')).status).to.equal(400);
    expect((await put('a').set({ 'if-none-match': '*', 'if-match': '"0"' })).status).to.equal(412);
    expect((await Item.findByPk('a'))?.name).to.equal('a');
  });

  it('creates only, also where another request has created it meanwhile', async () => {
    class Items extends crudController(Item) {
      override async replace(id: Id, values: CreateValues<Item>, context: CrudContext<Item>) {
        await put('a', { name: 'first' });
        return super.replace(id, values, context);
      }
    }
    const { agent } = await buildApp({ models: [Item], controllers: [Items] });
    const refused = await agent.put('/items/a').set('if-none-match', '*').send({ name: 'second' });
    expectProblem(refused, 412, { detail: 'The Item is there already, and nothing was done.' });
    expect((await Item.findByPk('a'))?.name).to.equal('first');
  });

  it('[T14] needs no tags to create only', async () => {
    const send = (name: string) => site.agent.put('/plains/3').send({ name });
    expect((await send('a').set('if-match', '"0"')).status).to.equal(412);
    expectJson(await send('a').set('if-none-match', '*'), 201, { id: 3, name: 'a' });
    const refused = await send('b').set('if-none-match', '*');
    expectProblem(refused, 412, { detail: 'The Plain is there already, and nothing was done.' });
    expect(refused.headers['etag'] ?? 'W/').to.match(/^W\//);
    expectJson(await send('b'), 200, { id: 3, name: 'b' });
    expectJson(await site.agent.put('/plains/3').send({}), 200, { id: 3, name: null });
  });

  it('[T13] needs a condition where the resource requires one', async () => {
    const path = '/markeds/00000000-0000-4000-8000-000000000001';
    expect((await site.agent.put(path).send({ name: 'a' })).status).to.equal(428);
    const created = await site.agent.put(path).set('if-none-match', '*').send({ name: 'a' });
    expect([created.status, /^"x\d+/.test(created.headers['etag'] ?? '')]).to.deep.equal([201, true]);
    expect((await site.agent.put(path).send({ name: 'b' })).status).to.equal(428);
    const tag = created.headers['etag'] as string;
    const replaced = await site.agent.put(path).set('if-match', tag).send({ name: 'b' });
    expect([replaced.status, replaced.body.name]).to.deep.equal([200, 'b']);
    const late = await site.agent.put(path).set('if-match', tag).send({ name: 'c' });
    expect([late.status, late.headers['etag']?.split(/[".]/)[1]]).to.deep.equal([
      412,
      replaced.headers['etag']?.split(/[".]/)[1],
    ]);
  });

  for (const [what, headers, status] of [
    ['[M32] creates one of twenty at the same moment, and replaces it with the others', {}, 200],
    ['[T16] creates one of twenty that only create', { 'if-none-match': '*' }, 412],
  ] as const)
    it(what, async () => {
      const sent = Array.from({ length: 20 }, (_, index) => put('race', { name: `n${index}` }).set(headers));
      const answers = await Promise.all(sent);
      const statuses = answers.map((answer) => answer.status).sort();
      expect(statuses).to.deep.equal([...Array(19).fill(status), 201].sort());
      const done = answers.filter((answer) => answer.status < 300);
      const versions = done.map(({ body }) => body.version).sort((first, second) => first - second);
      expect(versions).to.deep.equal(done.map((_, index) => index));
      const last = done.find(({ body }) => body.version === done.length - 1);
      expectJson(await site.agent.get('/items/race'), 200, last?.body);
    });

  it('is a method of its path', async () => {
    expect((await site.agent.options('/items/a')).headers['allow']).to.equal(
      'GET, HEAD, PATCH, DELETE, PUT, OPTIONS',
    );
    expect((await site.agent.put('/shelves/1').send({})).status).to.equal(405);
  });

  it('is seen by overrides of create and update', async () => {
    const seen: unknown[] = [];
    class Items extends crudController(Item) {
      override create(values: CreateValues<Item>, context: CrudContext<Item>) {
        seen.push(['create', values]);
        return super.create(values, context);
      }
      override update(id: Id, values: UpdateValues<Item>, context: CrudContext<Item>) {
        seen.push(['update', id, values]);
        return super.update(id, values, context);
      }
    }
    const { agent } = await buildApp({ models: [Item], controllers: [Items] });
    const created = await agent.put('/items/a').send({ name: 'one' });
    expect([created.status, created.headers['location']]).to.deep.equal([201, '/items/a']);
    expect((await agent.put('/items/a').send({ name: 'two' })).status).to.equal(200);
    const whole = { note: null, stock: 5, price: 10, origin: null, shelfId: null };
    expect(seen).to.deep.equal([
      ['create', { code: 'a', name: 'one', ...whole }],
      ['update', 'a', { name: 'two', ...whole }],
    ]);
  });

  it('runs hooks, which may refuse, and undoes what they did in a race', async () => {
    const created: string[] = [];
    const note = ({ name }: Item) => created.push(name);
    const answers = await withHook(Item, 'beforeCreate', note, () =>
      Promise.all(['x', 'y'].map((name) => put('hooked', { name }))),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 201]);
    expect(created.length).to.be.within(1, 2);
    expect((await Item.findByPk('hooked'))?.get('version')).to.equal(1);
  });

  it('is tried again after a lost race where an override has parameters of its own, too', async () => {
    class Items extends crudController(Item) {
      override replace(
        id: Id,
        values: CreateValues<Item>,
        context: CrudContext<Item>,
        @InjectUnitOfWork() _unit?: UnitOfWork,
      ) {
        return super.replace(id, values, context);
      }
    }
    const { agent } = await buildApp({ models: [Item], controllers: [Items] });
    const answers = await withHook(Item, 'beforeCreate', meetingOf(2), () =>
      Promise.all(['x', 'y'].map((name) => agent.put('/items/met').send({ name }))),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 201]);
  });

  it('runs hooks once where no race is lost', async () => {
    await put('a', { name: 'one' });
    let ran = 0;
    const count = () => {
      ran += 1;
    };
    const refuse = () => {
      count();
      throw new BadRequestError('Not today.');
    };
    // Another record has the name, and there is none under the key.
    const created = await withHook(Item, 'beforeCreate', count, () => put('b', { name: 'one' }));
    expect([created.status, ran]).to.deep.equal([409, 1]);
    const changed = await withHook(Item, 'beforeUpdate', refuse, () => put('a', { name: 'two' }));
    expect([changed.status, ran]).to.deep.equal([400, 2]);
  });

  it('runs hooks and overrides of a change once where another record has a unique value', async () => {
    const ran: string[] = [];
    class Items extends crudController(Item) {
      override update(id: Id, values: UpdateValues<Item>, context: CrudContext<Item>) {
        ran.push('override');
        return super.update(id, values, context);
      }
    }
    const { agent } = await buildApp({ models: [Item], controllers: [Items] });
    await put('a', { name: 'one' });
    await put('b', { name: 'two' });
    const taken = await withHook(
      Item,
      'beforeUpdate',
      () => ran.push('hook'),
      () => agent.put('/items/b').send({ name: 'one' }),
    );
    expectIssue(taken, 409, {
      pointer: '/name',
      code: 'unique',
      detail: 'Another Item has the same name.',
    });
    expect(ran).to.deep.equal(['override', 'hook']);
  });

  it('is tried again after a lost race where an override finds the record by itself, and only then', async () => {
    let ran = 0;
    class Items extends crudController(Item) {
      override async replace(id: Id, values: CreateValues<Item>, { repository }: CrudContext<Item>) {
        ran += 1;
        const found = await repository.find(id);
        return found
          ? repository.update(id, values as UpdateValues<Item>)
          : repository.create({ ...values, code: String(id) });
      }
    }
    const { agent } = await buildApp({ models: [Item], controllers: [Items] });
    const answers = await withHook(Item, 'beforeCreate', meetingOf(2), () =>
      Promise.all(['x', 'y'].map((name) => agent.put('/items/met').send({ name }))),
    );
    expect([answers.map(({ status }) => status), ran]).to.deep.equal([[200, 200], 3]);
    await put('other', { name: 'z' });
    expect([(await agent.put('/items/met').send({ name: 'z' })).status, ran]).to.deep.equal([409, 4]);
  });

  it('goes through an override of its own, and through repositories', async () => {
    class Items extends Repository<Plain> {
      static override model = Plain;
      override create(values: CreateValues<Plain>) {
        return super.create({ ...values, name: `new ${values.name}` });
      }
    }
    class Plains extends crudController(Items) {
      override replace(id: Id, values: CreateValues<Plain>, context: CrudContext<Plain>) {
        return super.replace(id, { ...values, name: `${values.name}!` }, context);
      }
    }
    const { agent } = await buildApp({ models: [], controllers: [Plains] });
    expectJson(await agent.put('/plains/1').send({ name: 'a' }), 201, { id: 1, name: 'new a!' });
    expectJson(await agent.put('/plains/1').send({ name: 'a' }), 200, { id: 1, name: 'a!' });
  });

  it('fails where an override gives nothing back, and writes nothing', async () => {
    class Plains extends crudController(Plain) {
      override async replace(id: Id, values: CreateValues<Plain>, context: CrudContext<Plain>) {
        await super.replace(id, values, context);
        return undefined as unknown as Plain;
      }
    }
    const logger = new CapturedLog();
    const { agent } = await buildApp({ models: [], controllers: [Plains], logger });
    expectProblem(await agent.put('/plains/8').send({ name: 'a' }), 500, { detail: 'Internal Server Error' });
    expect(logger.text).to.contain('The replace method of the Plain controller must return the record');
    expect(await Plain.findByPk(8)).to.equal(null);
  });

  it('is no endpoint where its body cannot be right for both writes', async () => {
    class Body {
      @IsInt() declare id: number;
      @IsString() declare name: string;
    }
    class Other {
      @IsString() declare name: string;
    }
    const options = { endpoints: ['replace'], createSchema: Body, updateSchema: Other } as const;
    class Controller extends crudController(Plain, options as object) {}
    const start = () => buildApp({ models: [], controllers: [Controller] });
    expect(await configError(start)).to.include('updateSchema Other is not');
    class Both extends crudController(Plain, { createSchema: Body, updateSchema: Body }) {}
    const { agent } = await buildApp({ models: [], controllers: [Both] });
    expectJson(await agent.put('/plains/1').send({ name: 'a' }), 201, { id: 1, name: 'a' });
    expect((await agent.put('/plains/1').send({})).status).to.equal(422);
  });

  it('is no endpoint where it would go past decorators of create and update', async () => {
    const guard = UseBefore((_request: unknown, response: Response) => response.sendStatus(418));
    class Plains extends passingController(crudController(Plain)) {}
    guard(Plains.prototype, 'create');
    Authorized('editor')(Plains.prototype, 'update');
    const error = await configError(() => buildApp({ models: [], controllers: [Plains] }));
    expect(error).to.include("Plains.create has decorators that guard it, and endpoints has 'replace'");
    expect(error).to.include('Plains.update has');
    class Guarded extends Plains {
      override replace(id: Id, values: CreateValues<Plain>, context: CrudContext<Plain>) {
        return super.replace(id, values, context);
      }
    }
    guard(Guarded.prototype, 'replace');
    const { agent } = await buildApp({ models: [], controllers: [Guarded] });
    expect((await agent.put('/plains/1').send({ name: 'a' })).status).to.equal(418);
    expect(await Plain.count()).to.equal(0);
    class Seen extends passingController(crudController(Plain)) {}
    UseInterceptor((_action: unknown, content: unknown) => content)(Seen.prototype, 'create');
    expect(await configError(() => buildApp({ models: [], controllers: [Seen] }))).to.include(
      'Seen.create has decorators that guard it',
    );
  });

  it('is an endpoint beside decorators that it does not go past', async () => {
    class Plains extends passingController(crudController(Plain)) {}
    Authorized('editor')(Plains.prototype, 'create');
    HttpCode(202)(Plains.prototype, 'update');
    class Own extends Plains {
      override replace(id: Id, values: CreateValues<Plain>, context: CrudContext<Plain>) {
        return super.replace(id, values, context);
      }
    }
    const routing = { authorizationChecker: () => false };
    const { agent } = await buildApp({ models: [], controllers: [Own], routing });
    expectJson(await agent.put('/plains/1').send({ name: 'a' }), 201, { id: 1, name: 'a' });
    class Updating extends passingController(crudController(Plain)) {}
    HttpCode(202)(Updating.prototype, 'update');
    await buildApp({ models: [], controllers: [Updating] });
  });
});
