/** Changing a record: null and absence, what is written, and what happens when somebody else was faster. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { onPath } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { meetingOf } from '../../support/meeting.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

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
  // Two changes at the same time, whose hooks wait for each other.
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

  it('writes only the columns that are given', async () => {
    const { statements } = await sql.duringRequest(() => change('/notes/1', { text: 'Changed' }));
    const updates = onPath({
      fast: [
        'UPDATE "notes" AS "Note" SET "text" = $1 ' +
          'WHERE ("Note"."id" = $2) AND ("Note"."text"::text IS DISTINCT FROM $3::text) ' +
          'RETURNING "id", "title", "text", "stars", "state", "labels"',
      ],
      general: [
        'UPDATE "notes" SET "text"=$1 WHERE "id" = $2 ' +
          'RETURNING "id","title","text","stars","state","labels","tableoid"',
      ],
    });
    expect(statements.filter((statement) => statement.startsWith('UPDATE'))).to.deep.equal(updates);
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

  describe('with a merge patch', () => {
    const merge = (path: string, body: object) =>
      site.agent.patch(path).set('Content-Type', 'application/merge-patch+json').send(JSON.stringify(body));

    it('does so where there is nothing to merge', async () => {
      await Page.create({ title: 'a' });
      const { status, body } = await merge('/pages/1', { views: 2 });
      expect([status, body.title, body.views]).to.deep.equal([200, 'a', 2]);
      expectIssue(await site.agent.patch('/pages/1').type('text/plain').send('{}'), 415, {
        pointer: '',
        code: 'mediaType',
        detail: 'The Content-Type must be application/json or application/merge-patch+json.',
      });
    });

    it('refuses it where JSON is replaced as a whole', async () => {
      expectIssue(await merge('/notes/1', { labels: { b: null } }), 415, {
        pointer: '',
        code: 'mediaType',
        detail: 'The Content-Type must be application/json, because labels cannot be merged.',
      });
      expectJson(await site.agent.get('/notes/1'), 200, FIRST);
    });
  });

  it('refuses the primary key', async () => {
    expectIssue(await change('/notes/1', { id: 5 }), 422, {
      pointer: '/id',
      code: 'readOnly',
      detail: 'id cannot be set.',
    });
  });

  it('refuses a query parameter', async () => {
    expectIssue(await change('/notes/1?force=1', { title: 'New' }), 400, {
      parameter: 'force',
      code: 'unknown',
      detail: "This route has no parameter 'force'. It accepts none.",
    });
    expect(await rows('SELECT * FROM notes WHERE id = 1')).to.deep.equal([FIRST]);
  });

  it('answers 404 where there is no such record', async () => {
    for (const body of [{ title: 'New' }, {}]) {
      expectProblem(await change('/notes/3', body), 404, { detail: 'There is no Note with this id.' });
    }
  });

  describe('that goes away between reading and writing it', () => {
    const remove = async (): Promise<void> => {
      await site.engine.sequelize.query('DELETE FROM notes WHERE id = 1');
    };

    before(() => Note.addHook('beforeValidate', 'remove', remove));
    after(() => Note.removeHook('beforeValidate', 'remove'));

    it('[E5] answers 404 and does not say that it succeeded', async () => {
      expectProblem(await change('/notes/1', { title: 'Late' }), 404, {
        detail: 'There is no Note with this id.',
      });
    });
  });

  describe('with a version', () => {
    beforeEach(() => Page.create({ title: 'Home' }));

    it('counts the version up', async () => {
      const { body } = await change('/pages/1', { title: 'Start' });
      expect(body).to.include({ title: 'Start', version: 1 });
      expect(await rows('SELECT title, version FROM pages')).to.deep.equal([{ title: 'Start', version: 1 }]);
    });

    it('writes the given column, the version and the time, and no others', async () => {
      const { statements } = await sql.duringRequest(() => change('/pages/1', { title: 'Start' }));
      expect(statements.filter((statement) => statement.startsWith('UPDATE'))).to.deep.equal([
        onPath({
          fast:
            'UPDATE "pages" AS "Page" SET "title" = $1, "updated_at" = $2, "version" = coalesce("Page"."version", 0) + 1 ' +
            'WHERE ("Page"."id" = $3) AND ("Page"."title"::text IS DISTINCT FROM $4::text) ' +
            'RETURNING "id", "title", "views", "created_at", "updated_at", "version"',
          general:
            'UPDATE "pages" SET "title"=$1,"updated_at"=$2,"version"=$3 WHERE "id" = $4 AND "version" = $5 ' +
            'RETURNING "id","title","views","created_at","updated_at","version","tableoid"',
        }),
      ]);
    });

    it('leaves the version and the time of change alone where nothing changes', async () => {
      const { body } = await site.agent.get('/pages/1');
      expectJson(await change('/pages/1', {}), 200, body);
    });

    it('refuses the version itself', async () => {
      expectIssue(await change('/pages/1', { version: 7 }), 422, {
        pointer: '/version',
        code: 'readOnly',
        detail: 'version cannot be set.',
      });
    });

    it('lets one of two changes at the same time through, and answers 409 to the other', async () => {
      const barrier = meetingOf(2);
      Page.addHook('beforeUpdate', 'meet', barrier);
      const answers = await Promise.all([
        change('/pages/1', { title: 'Mine' }),
        change('/pages/1', { views: 1 }),
      ]).finally(() => Page.removeHook('beforeUpdate', 'meet'));
      const [won, lost] = answers.toSorted((one, other) => one.status - other.status);
      expect(won?.status).to.equal(200);
      expectProblem(lost ?? expect.fail(), 409, {
        detail: 'Somebody else changed this Page at the same time; read it again and repeat the change.',
      });
      expect(await rows('SELECT version FROM pages')).to.deep.equal([{ version: 1 }]);
    });

    it('answers 404 where the record went away meanwhile', async () => {
      Page.addHook('beforeUpdate', 'remove', async () => {
        await site.engine.sequelize.query('DELETE FROM pages');
      });
      const response = await change('/pages/1', { title: 'Late' }).then(
        (answer) => answer,
        () => expect.fail('no answer'),
      );
      Page.removeHook('beforeUpdate', 'remove');
      expectProblem(response, 404, { detail: 'There is no Page with this id.' });
    });
  });
});
