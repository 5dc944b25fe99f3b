/** One record is created, changed and deleted: required and allowed parts of a body, the stored row, and its absence afterwards. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, DeletedAt, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

/** A model whose records are marked as deleted. */
@Crud()
@Table({ tableName: 'books', underscored: true, version: true, paranoid: true })
class Book extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.STRING(60), allowNull: false }) declare title: string;
  @Column({ type: DataType.STRING(13), unique: true }) declare isbn: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare copies: number;
  @Column({ type: DataType.STRING(10), defaultValue: 'en' }) declare language: string | null;
  @DeletedAt declare binnedAt: Date | null;

  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.STRING(20), allowNull: false, defaultValue: 'none' })
  declare accessCode: string;
}

/** A row whose defaults are in the database only. */
@Crud({ prefix: '/loans' })
@Table({ tableName: 'loans', timestamps: false })
class Loan extends Model {
  @PrimaryKey @Column({ type: DataType.UUID, defaultValue: DataType.UUIDV4 }) declare id: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare reader: string;
  @Column(DataType.STRING(20)) declare stamp: string | null;
}

/** A model whose records are deleted for good. */
@Crud()
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare title: string;
  @Column(DataType.TEXT) declare text: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare stars: number;
  @Column({ type: DataType.STRING(10), defaultValue: 'draft' }) declare state: string | null;
  @Column(DataType.JSONB) declare labels: unknown;
}

const EMMA = { title: 'Emma', isbn: '9780141439587', copies: 3, language: 'de' };
const FIRST = { id: 1, title: 'First', text: 'Hello', stars: 3, state: 'draft', labels: { a: 1 } };
const SECOND = { id: 2, title: 'Second', text: null, stars: 0, state: null, labels: null };

describe('one record', () => {
  // A hook writes on a connection of its own.
  const site = serveTestApp(() => ({
    models: [Book, Loan, Note],
    engine: { pool: { max: 1 } },
    minPool: 2,
  }));
  const rows = (statement: string) => site.engine.sequelize.query(statement, { type: QueryTypes.SELECT });
  const change = (path: string, body: object) => site.agent.patch(path).send(body);
  const add = (body: object, path = '/books') => site.agent.post(path).send(body);

  before(() =>
    site.engine.sequelize.query(`
      CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.stamp = 'stamped'; RETURN NEW; END $$;
      CREATE TRIGGER stamp BEFORE INSERT ON loans FOR EACH ROW EXECUTE FUNCTION stamp();
    `),
  );

  beforeEach(async () => {
    await emptyTables(site, 'books', 'loans', 'notes');
    await Note.bulkCreate([FIRST, SECOND].map(({ id: _, ...values }) => values));
  });

  /** Expects a record to be missing for each method. */
  async function expectMissing(path: string, { name }: { readonly name: string }): Promise<void> {
    const { agent } = site;
    const changes = [{ title: 'Again' }, {}].map((body) => agent.patch(path).send(body));
    for (const request of [agent.get(path), ...changes, agent.delete(path)])
      expectProblem(await request, 404, { detail: `There is no ${name} with this id.` });
  }

  describe('that is created', () => {
    it('is stored and answered with 201 and its address', async () => {
      const response = await add({ ...EMMA, accessCode: 'k7' });
      const [row] = (await rows('SELECT * FROM books')) as [Record<string, unknown>];
      const { created_at, updated_at, ...rest } = row;
      const common = { ...EMMA, id: '1', version: 0 };
      expect(rest).to.deep.equal({ ...common, access_code: 'k7', binned_at: null });
      expectJson(response, 201, {
        ...common,
        createdAt: (created_at as Date).toISOString(),
        updatedAt: (updated_at as Date).toISOString(),
        binnedAt: null,
      });
      expect(response.headers['location']).to.equal('/books/1');
      expectJson(await site.agent.get('/books/1'), 200, response.body);
    });

    it('has null and the defaults for what is absent, and null where null is given', async () => {
      expect((await add({ title: 'Sanditon' })).body).to.include({ isbn: null, copies: 1, language: 'en' });
      expect((await add({ title: 'Sanditon', language: null })).body).to.include({ language: null });
      expect(await rows('SELECT language, access_code FROM books ORDER BY id')).to.deep.equal([
        { language: 'en', access_code: 'none' },
        { language: null, access_code: 'none' },
      ]);
    });

    it('is answered with what defaults and triggers made of it', async () => {
      const response = await add({ reader: 'Jane' }, '/loans');
      const { id } = response.body;
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expectJson(response, 201, { id, reader: 'Jane', stamp: 'stamped' });
      expect(response.headers['location']).to.equal(`/loans/${id}`);
    });

    it('[C1] is refused without what it needs, and with what belongs to the database and to Sequelize', async () => {
      for (const [body, name, detail] of [
        [{}, 'title', 'title is required.'],
        [{ title: 'Emma', copies: null }, 'copies', 'copies must not be null.'],
      ] as const)
        expectIssue(await add(body), 422, { pointer: `/${name}`, code: 'isDefined', detail });
      const moment = '2026-01-31T08:00:00.000Z';
      const kept = { id: '7', createdAt: moment, updatedAt: moment, binnedAt: moment, version: 3 };
      expectProblem(await add({ title: 'Emma', ...kept }), 422, {
        detail: 'The body has 5 problems.',
        errors: ['id', 'createdAt', 'updatedAt', 'binnedAt', 'version'].map((name) => ({
          pointer: `/${name}`,
          code: 'readOnly',
          detail: `${name} cannot be set.`,
        })),
      });
      expect(await rows('SELECT id FROM books')).to.deep.equal([]);
    });
  });

  describe('that is changed', () => {
    for (const [what, record, changes] of [
      ['what is given, and leaves the rest', FIRST, { title: 'New', stars: 5 }],
      ['[C8] to null where null is given', FIRST, { text: null, state: null }],
      ['[C8] without bringing back defaults', SECOND, { title: 'Still second' }],
      ['a JSON value as a whole', FIRST, { labels: { b: [2] } }],
    ] as const)
      it(`changes ${what}`, async () => {
        const changed = { ...record, ...changes };
        expectJson(await change(`/notes/${record.id}`, changes), 200, changed);
        const all = [FIRST, SECOND].map((each) => (each.id === record.id ? changed : each));
        expect(await rows('SELECT * FROM notes ORDER BY id')).to.deep.equal(all);
      });

    it('refuses null where the column has none', async () => {
      expectProblem(await change('/notes/1', { title: null, stars: null, text: null }), 422, {
        detail: 'The body has 2 problems.',
        errors: ['title', 'stars'].map((name) => ({
          pointer: `/${name}`,
          code: 'isDefined',
          detail: `${name} must not be null.`,
        })),
      });
      expect(await rows('SELECT * FROM notes WHERE id = 1')).to.deep.equal([FIRST]);
    });

    it('stays as it was, its version and time of change as well, where nothing is given or differs', async () => {
      await add(EMMA);
      const state = () =>
        rows('SELECT xmin::text, ctid::text FROM notes UNION ALL SELECT xmin::text, ctid::text FROM books');
      const before = await state();
      const { body } = await site.agent.get('/books/1');
      for (const same of [{}, { title: 'First', stars: 3 }])
        expectJson(await change('/notes/1', same), 200, FIRST);
      for (const same of [{}, EMMA]) expectJson(await change('/books/1', same), 200, body);
      expect(await state()).to.deep.equal(before);
    });

    it('keeps what somebody else changes in another column meanwhile', async () => {
      const changes = [{ title: 'Mine' }, { stars: 9 }].map((body) => change('/notes/1', body));
      expect((await Promise.all(changes)).map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(await rows('SELECT title, stars FROM notes WHERE id = 1')).to.deep.equal([
        { title: 'Mine', stars: 9 },
      ]);
    });

    it('takes a merge patch where there is nothing to merge, and no other type', async () => {
      await add(EMMA);
      const sent = (type: string) => site.agent.patch('/books/1').type(type).send('{"copies":2}');
      const { status, body } = await sent('application/merge-patch+json');
      expect([status, body.title, body.copies]).to.deep.equal([200, 'Emma', 2]);
      expectIssue(await sent('text/plain'), 415, {
        pointer: '',
        code: 'mediaType',
        detail: 'The Content-Type must be application/json or application/merge-patch+json.',
      });
    });

    it('refuses the primary key and the version', async () => {
      await add(EMMA);
      for (const [path, name] of [
        ['/notes/1', 'id'],
        ['/books/1', 'version'],
      ] as const) {
        const issue = { pointer: `/${name}`, code: 'readOnly', detail: `${name} cannot be set.` };
        expectIssue(await change(path, { [name]: 5 }), 422, issue);
      }
    });

    for (const [model, hook] of [
      [Note, 'beforeValidate'],
      [Book, 'beforeUpdate'],
    ] as const)
      it(`[E5] is 404 where a ${model.name} goes away between reading and writing it`, async () => {
        const { tableName } = model;
        await add(EMMA);
        const remove = () => site.engine.sequelize.query(`DELETE FROM ${tableName}`);
        const late = await withHook(model, hook, remove, () => change(`/${tableName}/1`, { title: 'Late' }));
        expectProblem(late, 404, { detail: `There is no ${model.name} with this id.` });
      });
  });

  describe('that is deleted', () => {
    it('[E6] is 204 without a body, removed within the hooks of the model, and 404 afterwards', async () => {
      const seen: unknown[] = [];
      const see = (note: Note) => seen.push(note.title);
      expectNothing(await withHook(Note, 'beforeDestroy', see, () => site.agent.delete('/notes/2')), 204);
      expectNothing(await site.agent.delete('/notes/1'), 204);
      expect(seen).to.deep.equal(['Second']);
      expect(await rows('SELECT * FROM notes')).to.deep.equal([]);
      await expectMissing('/notes/1', Note);
    });

    it('[E6] is kept with its moment where the model marks rows, and is not found, listed, counted or touched again', async () => {
      await add(EMMA);
      const kept = (await add({ title: 'Persuasion' })).body;
      expectNothing(await site.agent.delete('/books/1'), 204);
      const row = () => rows('SELECT * FROM books WHERE id = 1');
      const [before] = (await row()) as [Record<string, unknown>];
      expect(before).to.include({ ...EMMA, access_code: 'none' });
      expect(before['binned_at']).to.be.an.instanceOf(Date);
      await expectMissing('/books/1', Book);
      const page = { total: 1, page: 1, size: 20, pages: 1, has_next: false, has_prev: false };
      expectJson(await site.agent.get('/books'), 200, { items: [kept], ...page });
      expect((await site.agent.get('/books?size=1')).body).to.include({ total: 1, has_next: false });
      expect(await row()).to.deep.equal([before]);
    });
  });
});
