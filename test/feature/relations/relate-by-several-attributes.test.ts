/** Relations by foreign keys of several columns: `@BelongsToKey` and `@HasManyKey` lead to the same rows as a join over all of them. */
import { expect } from 'chai';
import type { Request } from 'express';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  BelongsToKey,
  ConfigError,
  Crud,
  HasManyKey,
  type ModelClass,
  Repository,
  type Scope,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_MANY, UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const scope = { tenantId: (request: Request) => Number(request.get('tenant')) } as unknown as Scope;

@Crud({
  scope,
  include: { notes: { count: true, size: { max: 5 }, ...UNGUARDED } },
  subresources: { notes: UNGUARDED },
  filterAllow: { title: true, notes: ['text'] },
  sortAllow: ['title'],
} as object)
@Table({ tableName: 'lines', timestamps: false })
class Line extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare orderId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare lineNo: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
  @HasManyKey(() => Note, { lineNo: 'lineNo', orderId: 'orderId' }) declare notes?: Note[];
}

@Crud({
  scope,
  pagination: 'cursor',
  pageSize: { max: 500 },
  include: { line: UNGUARDED },
  filterAllow: { text: true, line: ['title'] },
  sortAllow: ['text', 'line.title'],
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    'delete',
    ...(SERVES_MANY ? ['createMany', 'updateMany'] : []),
  ],
} as object)
@Table({ tableName: 'notes', timestamps: false })
class Note extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column(DataType.INTEGER) declare orderId: number | null;
  @Column(DataType.INTEGER) declare lineNo: number | null;
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
  @BelongsToKey(() => Line, { orderId: 'orderId', lineNo: 'lineNo' }) declare line?: Line | null;
}

/** Its key has the tenant in it, which the server sets. */
@Crud({ scope, id: ['id'], include: { invoices: UNGUARDED } } as object)
@Table({ tableName: 'customers', timestamps: false })
class Customer extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare tenantId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @HasManyKey(() => Invoice, { tenantId: 'tenantId', id: 'customerId' }) declare invoices?: Invoice[];
}

@Crud({ scope, include: { customer: UNGUARDED } } as object)
@Table({ tableName: 'invoices', timestamps: false })
class Invoice extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column(DataType.INTEGER) declare customerId: number | null;
  @BelongsToKey(() => Customer, { tenantId: 'tenantId', customerId: 'id' })
  declare customer?: Customer | null;
}

@Table({ tableName: 'lines', timestamps: false })
class Linked extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare orderId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare lineNo: number;
  @HasManyKey(() => Note, { lineNo: 'lineNo', orderId: 'orderId' }) declare notes?: Note[];
}

const MODELS = [Line, Note, Customer, Invoice] as unknown as ModelClass[];

/** The body of an answer that has a status. */
function bodyOf<T = Record<string, unknown>>({ status, body }: Response, wanted: number): T {
  expect([status, status === wanted ? null : body]).to.deep.equal([wanted, null]);
  return body as T;
}

interface Answered {
  readonly items: readonly Record<string, unknown>[];
  readonly next_cursor?: string | null;
}

describe('relations by several attributes', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { logger: new CapturedLog() } }));

  beforeEach(async () => {
    await site.engine.sequelize.query(`
      TRUNCATE lines, notes, customers, invoices RESTART IDENTITY;
      INSERT INTO lines ("orderId", "lineNo", "tenantId", title)
        SELECT o, l, CASE WHEN o = 3 THEN 2 ELSE 1 END, format('%s of %s', l, o) FROM generate_series(1, 3) o, generate_series(1, 12) l;
      INSERT INTO notes ("tenantId", "orderId", "lineNo", text) VALUES
        (1, 1, 11, 'a'), (1, 1, 1, 'b'), (1, 11, 1, 'c'), (1, 1, 11, 'd'), (1, 1, NULL, 'e'), (1, NULL, 11, 'f'), (1, 3, 1, 'of the other'),
        (1, 99, 99, 'of nobody'), (2, 3, 1, 'theirs'), (2, 1, 11, 'hidden');
      INSERT INTO customers ("tenantId", id, name) VALUES (1, 7, 'ours'), (2, 7, 'theirs'), (2, 8, 'alone');
      INSERT INTO invoices ("tenantId", "customerId") VALUES (1, 7), (1, NULL), (2, 7), (2, 8);`);
  });

  const ask = (method: 'get' | 'post' | 'patch', path: string, tenant = 1) =>
    site.agent[method](path).set('tenant', String(tenant));
  const list = async (path: string, tenant = 1) =>
    bodyOf<Answered>(await ask('get', path, tenant), 200).items;

  it('include the one record that all of them name, and none where one of them is NULL', async () => {
    const notes = await list('/notes?include=line&sort=text');
    expect(notes.map(({ text, line }) => [text, (line as Line | null)?.title ?? null])).to.deep.equal([
      ['a', '11 of 1'],
      ['b', '1 of 1'],
      ['c', null],
      ['d', '11 of 1'],
      ['e', null],
      ['f', null],
      ['of nobody', null],
      ['of the other', null],
    ]);
    expect(
      (await list('/notes?include=line', 2)).map(({ line }) => (line as Line | null)?.title),
    ).to.deep.equal(['1 of 3', undefined]);
  });

  it('include, count, list and filter the records of each', async () => {
    const line = bodyOf<Record<string, Answered>>(
      await ask('get', '/lines/1,11?include=notes&notes.count=exact'),
      200,
    );
    expect(line['notes']?.items.map(({ text }) => text)).to.deep.equal(['a', 'd']);
    expect(line['notes']).to.include({ total: 2, has_next: false });
    expect((await list('/lines/1,11/notes')).map(({ text }) => text)).to.deep.equal(['a', 'd']);
    expect(await list('/lines/1,12/notes')).to.deep.equal([]);
    bodyOf(await ask('get', '/lines/3,1/notes'), 404);
    expect((await list('/lines?q=notes=any=(text==b)')).map(({ title }) => title)).to.deep.equal(['1 of 1']);
    expect((await list('/notes?q=line.title=="11 of 1"')).map(({ text }) => text)).to.deep.equal(['a', 'd']);
  });

  it('sort by the record, walked by cursors in both directions', async () => {
    for (const sort of ['line.title', '-line.title']) {
      const whole = (await list(`/notes?sort=${sort}`)).map(({ id }) => id);
      const walked: unknown[] = [];
      for (let path: string | null = `/notes?sort=${sort}&size=3`; path !== null; ) {
        const page: Answered = bodyOf<Answered>(await ask('get', path), 200);
        walked.push(...page.items.map(({ id }) => id));
        path = page.next_cursor ? `/notes?sort=${sort}&size=3&after=${page.next_cursor}` : null;
      }
      expect(walked).to.deep.equal(whole);
      expect(new Set(walked).size).to.equal(8);
    }
  });

  it('double no parent among 200', async () => {
    await site.engine.sequelize.query(`
      INSERT INTO lines ("orderId", "lineNo", "tenantId", title) SELECT 1000 + o, 1, 1, 'many' FROM generate_series(1, 200) o;
      INSERT INTO notes ("tenantId", "orderId", "lineNo", text) SELECT 1, 1000 + o, 1, 'm' || n FROM generate_series(1, 200) o, generate_series(1, 2) n;`);
    const notes = await list('/notes?q=line.title==many&size=500&include=line');
    expect(notes).to.have.length(400);
    for (const { orderId, line } of notes) expect((line as Line).orderId).to.equal(orderId);
    const lines = await list('/lines?q=notes=any=(text==m1)&size=100&include=notes');
    expect(new Set(lines.map(({ orderId }) => orderId)).size).to.equal(100);
    for (const { notes: own } of lines) expect((own as Answered).items).to.have.length(2);
  });

  it('refuse a write that names a record which the request does not see, as one that is not there', async () => {
    const text = 'new';
    const foreign = bodyOf(await ask('post', '/notes').send({ orderId: 3, lineNo: 1, text }), 409);
    const nobody = bodyOf(await ask('post', '/notes').send({ orderId: 99, lineNo: 1, text }), 409);
    expect(foreign).to.deep.equal(nobody);
    bodyOf(await ask('post', '/notes').send({ orderId: 1, lineNo: 12, text }), 201);
    bodyOf(await ask('post', '/notes').send({ orderId: null, lineNo: 99, text }), 201);
    bodyOf(await ask('post', '/notes').send({ text }), 201);
    const part = await ask('patch', '/notes/1').send({ lineNo: 1 });
    const { errors } = bodyOf<{ errors: readonly Record<string, string>[] }>(part, 422);
    expect(errors).to.deep.equal([
      {
        pointer: '/orderId',
        code: 'isDefined',
        detail: 'orderId and lineNo name one Line together; send all of them.',
      },
    ]);
    bodyOf(await ask('patch', '/notes/1').send({ orderId: 3, lineNo: 1 }), 409);
    expect(bodyOf(await ask('patch', '/notes/1').send({ orderId: 1, lineNo: 2 }), 200)).to.include({
      lineNo: 2,
    });
    if (!SERVES_MANY) return;
    const many = [1, 3].map((orderId) => ({ orderId, lineNo: 1, text: 'of many' }));
    bodyOf(await ask('post', '/notes').send(many), 409);
    const some = [{ text }, { orderId: 1, lineNo: null, text }, { orderId: 1, lineNo: 1, text }];
    bodyOf(await ask('post', '/notes').send(some), 201);
    bodyOf(await ask('patch', '/notes').send([{ id: 1, orderId: 3, lineNo: 1 }]), 409);
  });

  it('take the parts that the server sets', async () => {
    const invoices = await list('/invoices?include=customer');
    expect(invoices.map(({ customer }) => (customer as Customer | null)?.name ?? null)).to.deep.equal([
      'ours',
      null,
    ]);
    bodyOf(await ask('post', '/invoices').send({ customerId: 8 }), 409);
    bodyOf(await ask('post', '/invoices').send({ customerId: 7 }), 201);
    bodyOf(await ask('post', '/invoices', 2).send({ customerId: 8 }), 201);
    bodyOf(await ask('patch', '/invoices/1').send({ customerId: 8 }), 409);
    bodyOf(await ask('patch', '/invoices/2').send({ customerId: 7 }), 200);
    const customer = bodyOf<Record<string, Answered>>(
      await ask('get', '/customers/7?include=invoices', 2),
      200,
    );
    expect(customer['invoices']?.items).to.have.length(1);
  });

  it('are loaded and counted by repositories, too', async () => {
    const notes = new Repository(Note);
    const [found] = await notes.list({ where: { text: 'a' }, include: ['line'] });
    expect(notes.related(found as Note, 'line')?.title).to.equal('11 of 1');
  });

  it('refuse at the start what would join other rows', async () => {
    @Crud({ include: { line: UNGUARDED } } as object)
    @Table({ tableName: 'wrong_notes', timestamps: false })
    class Wrong extends Model {
      @PrimaryKey @Column(DataType.INTEGER) declare id: number;
      @Column(DataType.INTEGER) declare orderId: number;
      @Column(DataType.TEXT) declare title: string;
      @BelongsToKey(() => Line, { orderId: 'orderId', title: 'title' }) declare line?: Line;
      @BelongsToKey(() => Line, { orderId: 'orderId', lineId: 'lineNo' }) declare other?: Line;
    }
    expect(() => BelongsToKey(() => Line, { orderId: 'orderId' })(Wrong.prototype, 'one')).to.throw(
      ConfigError,
      'use two pairs of attributes or more',
    );
    (site.engine.sequelize as unknown as { addModels(models: unknown[]): void }).addModels([Wrong, Linked]);
    await site.engine.sequelize.query(
      'CREATE TABLE IF NOT EXISTS wrong_notes (id int PRIMARY KEY, "orderId" int, title text)',
    );
    const problems = await buildApp({ models: [Wrong] as never, logger: new CapturedLog() }).then(
      () => [],
      (error: ConfigError) => error.problems,
    );
    expect(problems.join('\n')).to.include('Wrong.line joins by orderId, title of Line');
    Crud({ links: { notes: true } } as object)(Linked as never);
    const refused = await buildApp({ models: [Linked, Note] as never, logger: new CapturedLog() }).then(
      () => [],
      (error: ConfigError) => error.problems,
    );
    expect(refused.join('\n')).to.include('links.notes is found by several attributes of Note');
  });
});
