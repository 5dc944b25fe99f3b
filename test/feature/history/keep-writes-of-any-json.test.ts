/** Writes of rows with values of `json` that `jsonb` does not have: triggers let them pass, and leave these values out. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { pastOf } from '../../support/read-the-past.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = {
  can: { history: true, deleted: true },
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'revert'],
} satisfies CrudOptions;

abstract class Document extends NumberedRow {
  @Column(DataType.JSON) declare doc: unknown;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud({ ...OPTIONS, prefix: '/papers', history: true, changes: true })
@Table({ tableName: 'papers', timestamps: false })
class Paper extends Document {}

@Crud({ ...OPTIONS, prefix: '/letters', history: { exclude: ['doc'], onPurge: 'erase' } })
@Table({ tableName: 'letters', timestamps: false })
class Letter extends Document {}

@Crud({ ...OPTIONS, prefix: '/cards', history: { capture: 'row' } })
@Table({ tableName: 'cards', timestamps: false })
class Card extends Document {
  @PrimaryKey @Column(DataType.INTEGER) declare part: number;
}

@Crud({
  ...OPTIONS,
  endpoints: ['read', 'update', 'delete', 'history'],
  prefix: '/notes',
  history: { images: 'changed' },
})
@Table({ tableName: 'notes', timestamps: false })
class Note extends Document {}

/** The table has a column of `json` that the model lacks, in an array of a domain. */
@Crud({ ...OPTIONS, prefix: '/drafts', history: true })
@Table({ tableName: 'drafts', timestamps: false })
class Draft extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column(DataType.TEXT) declare note: string | null;
}

const ZERO = String.raw`{"a":"\u0000"}`;
const BAD = [ZERO, '[1e200000]', String.raw`"\ud800"`];

const UUID = '6f1c1a52-5a7e-4f0e-9c39-0d3a8f4f7c11';

const COLUMNS = 'id serial PRIMARY KEY, doc json, note text';
const TABLES = `
  CREATE DOMAIN flag AS boolean NOT NULL;
  CREATE DOMAIN documents AS json[];
  CREATE TABLE papers (${COLUMNS}, flag flag DEFAULT true, more json); CREATE TABLE letters (${COLUMNS}); CREATE TABLE notes (${COLUMNS});
  CREATE TABLE cards (id int, part int, doc json, note text, PRIMARY KEY (id, part));
  CREATE TABLE drafts (id uuid PRIMARY KEY, note text, docs documents)`;

async function prepared() {
  const database = await freshDatabase();
  await execute(database.url, TABLES);
  return database;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('a row with json that jsonb does not have', () => {
  const models: ModelClass[] = [Paper, Letter, Card, Note, Draft];
  const site = serveTestApp(async () => ({
    models,
    database: await prepared(),
    bootstrap: { models, indexAdvice: false },
  }));
  const run = (text: string, bind: unknown[] = []) => site.engine.sequelize.query(text, { bind });
  const changesOf = (source: string) =>
    site.engine.sequelize.query<{ op: string; old: object; new: object; left_out: string[] }>(
      `SELECT op, old, new, left_out FROM crud_changes WHERE source = '${source}' ORDER BY id`,
      { type: QueryTypes.SELECT, useMaster: true } as { type: QueryTypes.SELECT },
    );

  for (const [index, bad] of BAD.entries())
    it(`is written, and its other values are stored: ${bad}`, async () => {
      const id = 10 + index;
      await run('INSERT INTO papers (id, doc, note) VALUES ($1, $2, $3)', [id, bad, 'a']);
      const { body } = await site.agent.patch(`/papers/${id}`).send({ note: 'b' }).expect(200);
      expect(body.note).to.equal('b');
      await run(`UPDATE papers SET doc = '{"b":1}' WHERE id = $1`, [id]);
      await run('UPDATE papers SET doc = $2 WHERE id = $1', [id, bad]);
      await run('UPDATE papers SET doc = $2 WHERE id = $1', [id, `[${bad}]`]);
      await site.agent.delete(`/papers/${id}`).expect(204);
      const past = await pastOf(site.agent, `/papers/${id}/history`);
      expect(past.map(({ op, changed }) => [op, ...changed])).to.deep.equal([
        ['delete', 'id', 'note', 'doc'],
        ['update', 'doc'],
        ['update', 'doc'],
        ['update', 'doc'],
        ['update', 'note'],
        ['create', 'id', 'note', 'doc'],
      ]);
      expect(past[3]?.changes).to.deep.equal({ doc: { to: { b: 1 } } });
      expect(past[1]?.changes).to.deep.equal({});
    });

  it('takes no value from the other rows of its statement', async () => {
    await run(`INSERT INTO papers (id, doc, more) VALUES (1, '{"a":1}', '2'), (2, $1, '2')`, [ZERO]);
    await run('UPDATE papers SET doc = NULL WHERE id = 2');
    const [[first], [, second]] = [
      await pastOf(site.agent, '/papers/1/history'),
      await pastOf(site.agent, '/papers/2/history'),
    ];
    expect(first?.changes).to.deep.equal({ id: { to: 1 }, doc: { to: { a: 1 } }, note: { to: null } });
    expect(second?.changes).to.deep.equal({ id: { to: 2 }, note: { to: null } });
    const stored = (await changesOf('papers')).slice(-3, -1).map((each) => [each.new, each.left_out]);
    expect(stored).to.deep.equal([
      [{ id: 1, doc: { a: 1 }, note: null, flag: true, more: 2 }, null],
      [{ id: 2, note: null, flag: true, more: 2 }, ['doc']],
    ]);
    await site.agent.patch('/papers/2').send({ note: 'x' }).expect(200);
    const reverted = await site.agent.post('/papers/2/revert').send({ to: second?.id }).expect(200);
    expect(reverted.body).to.include({ note: null }).and.have.property('skipped').that.deep.equals(['doc']);
  });

  it('goes back to a state before it', async () => {
    await run(`INSERT INTO papers (id, doc, note) VALUES (3, '{"a":1}', 'a')`);
    await run('UPDATE papers SET doc = $1 WHERE id = 3', [ZERO]);
    const [, create] = await pastOf(site.agent, '/papers/3/history');
    const { body } = await site.agent.post('/papers/3/revert').send({ to: create?.id }).expect(200);
    expect(body).to.deep.equal({ id: 3, doc: { a: 1 }, note: 'a', skipped: [] });
  });

  it('is written where its value is excluded, and erased with it', async () => {
    await run('INSERT INTO letters (id, doc, note) VALUES (1, $1, $2)', [ZERO, 'a']);
    await site.agent.patch('/letters/1').send({ note: 'b' }).expect(200);
    await site.agent.delete('/letters/1').expect(204);
    const stored = await changesOf('letters');
    expect(stored.map((each) => [each.op, each.left_out?.join()])).to.deep.equal([
      ['i', 'doc'],
      ['u', undefined],
      ['d', 'doc'],
      ['e', undefined],
    ]);
  });

  it('is written by triggers for rows, and where only what has changed is stored', async () => {
    await run('INSERT INTO cards VALUES (1, 2, $1, $2)', [ZERO, 'a']);
    await site.agent.patch('/cards/1,2').send({ note: 'b' }).expect(200);
    await site.agent.delete('/cards/1,2').expect(204);
    expect((await changesOf('cards')).map((each) => [each.op, each.old, each.new])).to.deep.equal([
      ['i', null, { id: 1, part: 2, note: 'a' }],
      ['u', { id: 1, part: 2, note: 'a' }, { id: 1, part: 2, note: 'b' }],
      ['d', { id: 1, part: 2, note: 'b' }, null],
    ]);
    await run('INSERT INTO notes (id, doc, note) VALUES (1, $1, $2)', [ZERO, 'a']);
    await run('UPDATE notes SET note = $1', ['b']);
    await run('TRUNCATE notes');
    expect((await changesOf('notes')).map((each) => [each.op, each.old, each.new])).to.deep.equal([
      ['i', null, { id: 1, note: 'a' }],
      ['u', { id: 1, note: 'a' }, { id: 1, note: 'b' }],
      ['t', null, null],
    ]);
  });

  it('is written where no attribute has the column', async () => {
    await run('INSERT INTO drafts (id, docs) VALUES ($1, ARRAY[$2::json])', [UUID, ZERO]);
    await site.agent.patch(`/drafts/${UUID}`).send({ note: 'b' }).expect(200);
    await run('UPDATE drafts SET docs = NULL');
    expect((await pastOf(site.agent, `/drafts/${UUID}/history`)).map(({ op }) => op)).to.deep.equal([
      'update',
      'create',
    ]);
    const stored = await changesOf('drafts');
    expect(stored.map((each) => each.left_out?.join())).to.deep.equal(['docs', undefined, 'docs']);
  });
});
