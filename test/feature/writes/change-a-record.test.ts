/** Changing a record: null and absence, what is written, and what happens when somebody else was faster. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare title: string;
  @Column(DataType.TEXT) declare text: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare stars: number;
  @Column({ type: DataType.STRING(10), defaultValue: 'draft' }) declare state: string | null;
  @Column(DataType.JSONB) declare labels: unknown;
}

@Crud()
@Table({ tableName: 'pages', version: true, underscored: true })
class Page extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare title: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare views: number;
}

const FIRST = { id: 1, title: 'First', text: 'Hello', stars: 3, state: 'draft', labels: { a: 1 } };
const SECOND = { id: 2, title: 'Second', text: null, stars: 0, state: null, labels: null };

describe('changing a record', () => {
  const sql = new SqlLog();
  // A hook writes on a connection of its own.
  const site = serveTestApp(() => ({ models: [Note, Page], engine: { logging: sql.record }, minPool: 2 }));

  const rows = (statement: string) => site.engine.sequelize.query(statement, { type: QueryTypes.SELECT });
  const change = (path: string, body: object) => site.agent.patch(path).send(body);

  beforeEach(async () => {
    await emptyTables(site, 'notes', 'pages');
    await Note.bulkCreate([FIRST, SECOND].map(({ id: _, ...values }) => values));
  });

  it('changes what is given, leaves the rest, and answers with the record after the change', async () => {
    expectJson(await change('/notes/1', { title: 'New', stars: 5 }), 200, {
      ...FIRST,
      title: 'New',
      stars: 5,
    });
    expect(await rows('SELECT * FROM notes ORDER BY id')).to.deep.equal([
      { ...FIRST, title: 'New', stars: 5 },
      SECOND,
    ]);
  });

  it('[C8] sets null where null is given', async () => {
    expectJson(await change('/notes/1', { text: null, state: null }), 200, {
      ...FIRST,
      text: null,
      state: null,
    });
    expect(await rows('SELECT text, state FROM notes WHERE id = 1')).to.deep.equal([
      { text: null, state: null },
    ]);
  });

  it('refuses null where the column has none', async () => {
    expectProblem(await change('/notes/1', { title: null, stars: null, text: null }), 422, {
      detail: 'The body has 2 problems.',
      errors: [
        { pointer: '/title', code: 'isDefined', detail: 'title must not be null.' },
        { pointer: '/stars', code: 'isDefined', detail: 'stars must not be null.' },
      ],
    });
    expect(await rows('SELECT * FROM notes WHERE id = 1')).to.deep.equal([FIRST]);
  });

  it('[C8] does not bring back defaults for what is absent', async () => {
    expectJson(await change('/notes/2', { title: 'Still second' }), 200, {
      ...SECOND,
      title: 'Still second',
    });
  });

  it('takes an empty object as no change, and writes nothing', async () => {
    const { result, statements } = await sql.duringRequest(() => change('/notes/1', {}));
    expectJson(result, 200, FIRST);
    expect(statements.filter((statement) => !statement.startsWith('SELECT'))).to.deep.equal([]);
  });

  it('writes nothing where every value is what it was', async () => {
    const [before] = await rows('SELECT xmin::text, ctid::text FROM notes WHERE id = 1');
    expectJson(await change('/notes/1', { title: 'First', stars: 3 }), 200, FIRST);
    const [after] = await rows('SELECT xmin::text, ctid::text FROM notes WHERE id = 1');
    expect(after).to.deep.equal(before);
  });

  it('does not undo what somebody else changed in another column meanwhile', async () => {
    const [first, second] = await Promise.all([
      change('/notes/1', { title: 'Mine' }),
      change('/notes/1', { stars: 9 }),
    ]);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(await rows('SELECT title, stars FROM notes WHERE id = 1')).to.deep.equal([
      { title: 'Mine', stars: 9 },
    ]);
  });

  it('replaces a JSON value as a whole', async () => {
    expectJson(await change('/notes/1', { labels: { b: [2] } }), 200, { ...FIRST, labels: { b: [2] } });
  });

  it('takes a merge patch where there is nothing to merge', async () => {
    await Page.create({ title: 'a' });
    const sent = site.agent.patch('/pages/1').type('application/merge-patch+json');
    const { status, body } = await sent.send('{"views":2}');
    expect([status, body.title, body.views]).to.deep.equal([200, 'a', 2]);
    expectIssue(await site.agent.patch('/pages/1').type('text/plain').send('{}'), 415, {
      pointer: '',
      code: 'mediaType',
      detail: 'The Content-Type must be application/json or application/merge-patch+json.',
    });
  });

  it('refuses the primary key and the version', async () => {
    for (const [path, name] of [
      ['/notes/1', 'id'],
      ['/pages/1', 'version'],
    ] as const) {
      const issue = { pointer: `/${name}`, code: 'readOnly', detail: `${name} cannot be set.` };
      expectIssue(await change(path, { [name]: 5 }), 422, issue);
    }
  });

  it('answers 404 where there is no such record', async () => {
    for (const body of [{ title: 'New' }, {}]) {
      expectProblem(await change('/notes/3', body), 404, { detail: 'There is no Note with this id.' });
    }
  });

  for (const [model, hook] of [
    [Note, 'beforeValidate'],
    [Page, 'beforeUpdate'],
  ] as const) {
    it(`[E5] answers 404 where a ${model.name} goes away between reading and writing it`, async () => {
      const { tableName } = model;
      await Page.create({ title: 'Home' });
      const remove = () => site.engine.sequelize.query(`DELETE FROM ${tableName}`);
      const late = await withHook(model, hook, remove, () => change(`/${tableName}/1`, { title: 'Late' }));
      expectProblem(late, 404, { detail: `There is no ${model.name} with this id.` });
    });
  }

  it('leaves the version and the time of change alone where nothing changes', async () => {
    await Page.create({ title: 'Home' });
    const { body } = await site.agent.get('/pages/1');
    expectJson(await change('/pages/1', {}), 200, body);
  });
});
