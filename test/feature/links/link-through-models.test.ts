/** Join models of every kind: with hooks, soft-deleted rows, a scope, a key of their own, and a history. */
import { expect } from 'chai';
import type { Request } from 'express';
import { QueryTypes } from 'sequelize';
import {
  AfterCreate,
  AfterDestroy,
  BeforeUpdate,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  Index,
  Model,
  Table,
} from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { OVERRIDDEN } from './people.js';

const tenant = (request: Request): string => request.get('tenant') ?? 'A';
const seen: string[] = [];

@Crud({ links: { labels: true, authors: true, readers: true, stamps: true } })
@Table({ tableName: 'books', timestamps: false })
class Book extends NumberedRow {
  @BelongsToMany(
    () => Label,
    () => Labelling,
  )
  declare labels?: Label[];
  @BelongsToMany(
    () => Label,
    () => Authoring,
  )
  declare authors?: Label[];
  @BelongsToMany(
    () => Label,
    () => Reading,
  )
  declare readers?: Label[];
  @BelongsToMany(
    () => Label,
    () => Stamping,
  )
  declare stamps?: Label[];
}

@Crud()
@Table({ tableName: 'labels', timestamps: false })
class Label extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

/** With hooks, one of which refuses. */
@Table({ tableName: 'labellings', timestamps: false })
class Labelling extends NumberedRow {
  @Index({ name: 'one_labelling', unique: true })
  @ForeignKey(() => Book)
  @Column(DataType.INTEGER)
  declare bookId: number;
  @Index({ name: 'one_labelling', unique: true })
  @ForeignKey(() => Label)
  @Column(DataType.INTEGER)
  declare labelId: number;
  @Column(DataType.TEXT) declare note: string | null;

  @AfterCreate static made({ bookId, labelId, note }: Labelling): void {
    if (note === 'refuse') throw Object.assign(new Error('A hook refuses this.'), { httpCode: 400 });
    seen.push(`made ${typeof bookId} ${labelId}`);
  }
  @BeforeUpdate static changed({ labelId, note }: Labelling): void {
    seen.push(`changed ${labelId} ${note}`);
  }
  @AfterDestroy static gone({ labelId }: Labelling): void {
    seen.push(`gone ${labelId}`);
  }
}

/** Rows that are kept when a link is removed. */
@Table({ tableName: 'authorings', timestamps: true, updatedAt: false, paranoid: true })
class Authoring extends NumberedRow {
  @Index({ name: 'one_authoring', unique: true })
  @ForeignKey(() => Book)
  @Column(DataType.INTEGER)
  declare bookId: number;
  @Index({ name: 'one_authoring', unique: true })
  @ForeignKey(() => Label)
  @Column(DataType.INTEGER)
  declare labelId: number;
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'author' }) declare role: string;
  @Column(DataType.INTEGER) declare share: number | null;
}

/** Rows of a tenant, one attribute of which nothing fills, and another that not everybody reads. */
@Crud({ scope: { tenant }, fields: { secret: { read: (request) => request.get('user') === 'staff' } } })
@Table({ tableName: 'readings', timestamps: false, version: true })
class Reading extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Index({ name: 'one_reading', unique: true })
  @ForeignKey(() => Book)
  @Column(DataType.INTEGER)
  declare bookId: number;
  @Index({ name: 'one_reading', unique: true })
  @ForeignKey(() => Label)
  @Column(DataType.INTEGER)
  declare labelId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare device: string;
  @Column(DataType.TEXT) declare secret: string | null;
}

/** With a history, and a key of its own. */
@Crud({ history: true, endpoints: ['read', 'history'], can: { history: true } })
@Table({ tableName: 'stampings', timestamps: false })
class Stamping extends NumberedRow {
  @Index({ name: 'one_stamping', unique: true })
  @ForeignKey(() => Book)
  @Column(DataType.INTEGER)
  declare bookId: number;
  @Index({ name: 'one_stamping', unique: true })
  @ForeignKey(() => Label)
  @Column(DataType.INTEGER)
  declare labelId: number;
  @Column(DataType.TEXT) declare ink: string | null;
}

@Crud({ links: { files: true } })
@Table({ tableName: 'folders', timestamps: false, underscored: true })
class Folder extends Model {
  @Column({ type: DataType.UUID, primaryKey: true, field: 'folder_uuid' }) declare key: string;
  @BelongsToMany(
    () => File,
    () => Filing,
  )
  declare files?: File[];
}

@Crud({ links: { folders: true }, visible: () => filter`size>=0` })
@Table({ tableName: 'files', timestamps: false, underscored: true })
class File extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, field: 'file_no' }) declare number: string;
  @Column(DataType.BIGINT) declare size: string;
  @BelongsToMany(
    () => Folder,
    () => Filing,
  )
  declare folders?: Folder[];
}

@Table({ tableName: 'filings', timestamps: true, underscored: true, version: true })
class Filing extends Model {
  @ForeignKey(() => Folder)
  @Column({ type: DataType.UUID, primaryKey: true, field: 'folder_ref' })
  declare folderKey: string;
  @ForeignKey(() => File)
  @Column({ type: DataType.BIGINT, primaryKey: true, field: 'file_ref' })
  declare fileNumber: string;
  @Column({ type: DataType.DATE, field: 'due' }) declare dueAt: Date | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
}

const MODELS = [Folder, File, Filing, Book, Label, Labelling, Authoring, Reading, Stamping];

except(OVERRIDDEN).describe('links by a join model', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: {
      models: [Book, Label, Reading, Stamping, Folder, File],
      idempotency: { principal: (request) => request.get('user') ?? 'nobody' },
      history: { actor: (request) => request.get('user') ?? null },
    },
  }));
  const rows = (text: string) => site.engine.sequelize.query(text, { type: QueryTypes.SELECT });
  before(() =>
    site.engine.sequelize.query(
      'INSERT INTO books (id) VALUES (1), (2); INSERT INTO labels (id) VALUES (1), (2), (3), (4)',
    ),
  );
  beforeEach(async () => {
    await site.engine.sequelize.query(
      'TRUNCATE labellings, authorings, readings, stampings, crud_changes RESTART IDENTITY',
    );
    seen.length = 0;
  });

  it('pass its hooks, one by one, in the transaction of the request', async () => {
    expect(
      (await site.agent.put('/books/1/labels').send([{ id: 2, note: 'x' }, { id: 1 }])).body,
    ).to.deep.equal({
      items: [
        { id: '2', note: 'x' },
        { id: '1', note: null },
      ],
      added: 2,
      removed: 0,
    });
    await site.agent.put('/books/1/labels').send([{ id: 1, note: 'y' }, { id: 3 }]);
    expect(seen).to.deep.equal(['made number 1', 'made number 2', 'gone 2', 'changed 1 y', 'made number 3']);
    const refused = await site.agent.put('/books/1/labels').send([{ id: 4 }, { id: 2, note: 'refuse' }]);
    expectProblem(refused, 400, { detail: 'A hook refuses this.' });
    expect(await rows('SELECT "labelId" AS id FROM labellings ORDER BY 1')).to.deep.equal([
      { id: 1 },
      { id: 3 },
    ]);
    const reasons = site.crud.routes.filter(({ handler }) => handler.startsWith('labels.'));
    expect(reasons).to.have.length(4);
  });

  for (const way of ['statements', 'records'] as const)
    it(`bring a removed row back as a new one, by ${way}`, () => {
      const work = async () => {
        const made = await site.agent.put('/books/1/authors/1').send({ role: 'editor', share: 5 });
        expectJson(made, 201, { id: '1', role: 'editor', share: 5 });
        expectNothing(await site.agent.delete('/books/1/authors/1'), 204);
        expect((await site.agent.get('/books/1/authors')).body.items).to.deep.equal([]);
        expectProblem(await site.agent.delete('/books/1/authors/1'), 404, {
          detail: 'There is no such link of this Book.',
        });
        expectJson(await site.agent.put('/books/1/authors').send([]), 200, {
          items: [],
          added: 0,
          removed: 0,
        });
        expectJson(await site.agent.put('/books/1/authors/1'), 201, { id: '1', role: 'author', share: null });
        expectNothing(await site.agent.delete('/books/1/authors/1'), 204);
        expectJson(await site.agent.post('/books/1/authors').send([{ id: 1, share: 7 }]), 200, {
          items: [{ id: '1', role: 'author', share: 7 }],
          added: 1,
        });
        expect(await rows('SELECT id, "deletedAt" AS gone FROM authorings')).to.deep.equal([
          { id: 1, gone: null },
        ]);
      };
      return way === 'statements' ? work() : withHook(Authoring, 'beforeBulkCreate', () => {}, work);
    });

  for (const way of ['statements', 'records'] as const)
    it(`keep the scope of its rows, by ${way}`, () => {
      const work = async () => {
        const phone = { device: 'phone', secret: 's' };
        expectIssue(await site.agent.put('/books/1/readers/1'), 422, {
          pointer: '/device',
          code: 'isDefined',
          detail: 'device is required.',
        });
        expectJson(await site.agent.put('/books/1/readers/1').send(phone).set('user', 'staff'), 201, {
          id: '1',
          ...phone,
        });
        expectJson(await site.agent.put('/books/1/readers/1'), 200, { id: '1', device: 'phone' });
        expect((await site.agent.get('/books/1/readers')).body.items[0].link).to.deep.equal({
          device: 'phone',
        });
        expect(
          (await site.agent.put('/books/1/readers/1').send({ tenant: 'B' })).body.errors[0].code,
        ).to.equal('readOnly');
        // Another tenant does not see the link, and can neither remove nor set it.
        const other = { tenant: 'B' };
        expectProblem(await site.agent.delete('/books/1/readers/1').set(other), 404, {
          detail: 'There is no such link of this Book.',
        });
        expectJson(await site.agent.put('/books/1/readers').send([]).set(other), 200, {
          items: [],
          added: 0,
          removed: 0,
        });
        const detail =
          'These links of this Book are there and not shown to this request, or somebody else changes them at the same time.';
        expectProblem(await site.agent.put('/books/1/readers/1').send(phone).set(other), 409, { detail });
        const many = [{ id: 1, ...phone }];
        expectProblem(await site.agent.post('/books/1/readers').send(many).set(other), 409, { detail });
        expect((await site.agent.get('/books/1/readers').set(other)).body.items).to.deep.equal([]);
        await site.agent.put('/books/1/readers/1').send({ device: 'desk' });
        expect(await rows('SELECT tenant, device, version FROM readings')).to.deep.equal([
          { tenant: 'A', device: 'desk', version: 1 },
        ]);
      };
      return way === 'statements' ? work() : withHook(Reading, 'beforeBulkCreate', () => {}, work);
    });

  it('have keys and attributes of any type, in columns of any name', async () => {
    const key = '6f1c2d3e-0000-4000-8000-00000000000a';
    await site.engine.sequelize.query(
      `INSERT INTO folders VALUES ('${key}'); INSERT INTO files VALUES (9007199254740993, 5), (2, -1)`,
    );
    const link = { dueAt: '2026-01-31T08:00:00.000Z', tags: ['a', 'b,"c'] };
    const number = '9007199254740993';
    expectJson(await site.agent.put(`/folders/${key.toUpperCase()}/files/${number}`).send(link), 201, {
      id: number,
      ...link,
    });
    expectJson(
      await site.agent.put(`/folders/${key}/files`).send([{ id: number, tags: ['a', 'b,"c'] }]),
      200,
      {
        items: [{ id: number, ...link }],
        added: 0,
        removed: 0,
      },
    );
    expectProblem(await site.agent.put(`/folders/${key}/files/2`), 409, {
      detail: 'There is no File with this number.',
    });
    const other = await site.agent.get(`/files/${number}/folders`);
    expect(other.body.items).to.deep.equal([{ key, link }]);
    expect(await rows('SELECT version FROM filings')).to.deep.equal([{ version: 0 }]);
    expectNothing(await site.agent.delete(`/files/${number}/folders/${key}`), 204);
  });

  it('have an event with the context of the request, and one for each change', async () => {
    const put = () => site.agent.put('/books/1/stamps/1').set('user', 'ann').send({ ink: 'red' });
    await put();
    await put();
    const events = await rows(
      `SELECT old IS NULL AS made, context FROM crud_changes WHERE op <> 't' ORDER BY id`,
    );
    expect(events).to.deep.equal([
      { made: true, context: { actor: 'ann', request_id: 'same', operation: 'Book.stamps.link' } },
    ]);
  });

  it('are done once with an Idempotency-Key', async () => {
    const put = (path: string) => site.agent.put(path).set('Idempotency-Key', path).set('user', 'ann');
    expectJson(await put('/books/1/stamps/1'), 201, { id: '1', ink: null });
    const again = await put('/books/1/stamps/1');
    expectJson(again, 201, { id: '1', ink: null });
    expect(again.headers['idempotent-replayed']).to.equal('true');
    const remove = () =>
      site.agent.delete('/books/1/stamps/1').set('Idempotency-Key', 'gone').set('user', 'ann');
    expectNothing(await remove(), 204);
    expectNothing(await remove(), 204);
    expectProblem(await site.agent.delete('/books/1/stamps/1'), 404, {
      detail: 'There is no such link of this Book.',
    });
  });

  except({ values: 'an interceptor receives the whole answer' }).it('answer as Prefer says', async () => {
    expectNothing(
      await site.agent
        .post('/books/1/stamps')
        .set('Prefer', 'return=minimal')
        .send([{ id: 1 }]),
      204,
    );
    expectNothing(await site.agent.delete('/books/1/stamps/1').set('Prefer', 'return=minimal'), 204);
    const representation = ['Prefer', 'return=representation'] as const;
    const made = await site.agent.put('/books/1/stamps/1').set(...representation);
    expect(made.headers['preference-applied']).to.equal('return=representation');
    expectJson(made, 201, { id: '1', ink: null });
    const removed = await site.agent.delete('/books/1/stamps/1').set(...representation);
    expectNothing(removed, 204);
    expect(removed.headers).not.to.have.property('preference-applied');
  });
});

@Crud({ links: { works: true } })
@Table({ tableName: 'writers', timestamps: false })
class Writer extends NumberedRow {
  @BelongsToMany(
    () => Work,
    () => Writing,
  )
  declare works?: Work[];
}

@Crud()
@Table({ tableName: 'works', timestamps: false })
class Work extends NumberedRow {}

/** Only the table has the defaults. */
@Table({ tableName: 'writings', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Writing extends Model {
  @ForeignKey(() => Writer) @Column({ type: DataType.INTEGER, primaryKey: true }) declare writerId: number;
  @ForeignKey(() => Work) @Column({ type: DataType.INTEGER, primaryKey: true }) declare workId: number;
  @Column({ type: DataType.ARRAY(DataType.TEXT), allowNull: false }) declare parts: string[];
  @Column(DataType.DATE) declare due: Date | null;
  @Column('interval') declare span: string | null;
}

except(OVERRIDDEN).describe('a link of an existing table', () => {
  const { apps, query } = serveTables(
    `CREATE TABLE writers (id int PRIMARY KEY); CREATE TABLE works (id int PRIMARY KEY); INSERT INTO writers VALUES (1); INSERT INTO works VALUES (1);
     CREATE TABLE writings ("writerId" int REFERENCES writers, "workId" int REFERENCES works, "deletedAt" timestamptz,
       parts text[] NOT NULL DEFAULT '{}', due timestamptz DEFAULT '1970-01-01Z', span interval DEFAULT '1 day', PRIMARY KEY ("writerId", "workId"))`,
    [Writer, Work],
    { others: [Writing] },
  );

  it('has the constants of the table as a new one, and as one that is brought back', async () => {
    for (const { agent } of apps)
      for (const given of [{ parts: ['secret'], due: null, span: 'P9D' }, {}]) {
        await query('TRUNCATE writings');
        expect((await agent.put('/writers/1/works/1').send(given)).status).to.equal(201);
        expectNothing(await agent.delete('/writers/1/works/1'), 204);
        expectJson(await agent.put('/writers/1/works/1'), 201, {
          id: '1',
          parts: [],
          due: '1970-01-01T00:00:00.000Z',
          span: 'P1D',
        });
      }
  });
});
