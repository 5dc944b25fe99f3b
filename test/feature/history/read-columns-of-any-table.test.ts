/** Histories, reverts and feeds of tables whose columns have types that JSON does not have, or that need a value. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = {
  can: { history: true, deleted: true },
  history: true,
  changes: true,
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'history', 'revert'],
} satisfies CrudOptions;

@Crud({ ...OPTIONS, prefix: '/shelves' })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column({ type: 'hstore' }) declare tags: object | null;
}

/** The table has another column of hstore. */
@Crud({ ...OPTIONS, prefix: '/plain-shelves' })
@Table({ tableName: 'plain_shelves', timestamps: false })
class PlainShelf extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud({ ...OPTIONS, prefix: '/flagged' })
@Table({ tableName: 'flagged', timestamps: false })
class Flagged extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
  @Exclude() @Column(DataType.BOOLEAN) declare internal: boolean;
}

const TABLES = `
  CREATE EXTENSION hstore;
  CREATE DOMAIN flag AS boolean NOT NULL;
  CREATE TABLE shelves (id serial PRIMARY KEY, name text, tags hstore);
  CREATE TABLE plain_shelves (id serial PRIMARY KEY, name text, tags hstore);
  CREATE TABLE flagged (id serial PRIMARY KEY, name text, size int, internal flag DEFAULT false)`;

async function prepared() {
  const database = await freshDatabase();
  await execute(database.url, TABLES);
  return database;
}

/** Milliseconds. */
const TICK = 50;

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the past of a table', () => {
  const site = serveTestApp(async () => ({
    models: [Shelf, PlainShelf, Flagged],
    database: await prepared(),
    bootstrap: { changes: { tick: TICK }, indexAdvice: false },
  }));
  const run = (text: string) => site.engine.sequelize.query(text);
  const pastOf = async (path: string) => {
    const { body } = await site.agent.get(path).expect(200);
    return body.items as { id: string; op: string; changed: string[]; changes: object }[];
  };
  const eventsOf = async (path: string) => {
    await delay(TICK);
    const { body } = await site.agent.get(path).expect(200);
    return body.items.map(({ op, id }: { op: string; id: string }) => `${op} ${id}`);
  };

  it('has values of hstore, and goes back to them', async () => {
    const tags = { 'a "b" \\c': 'x, "y"=>\\', é: null, d: '' };
    const { body: created } = await site.agent.post('/shelves').send({ name: 'a', tags }).expect(201);
    expect(created.tags).to.deep.equal(tags);
    await site.agent.patch('/shelves/1').send({ tags: {} }).expect(200);
    const [update, create] = await pastOf('/shelves/1/history');
    expect(update?.changes).to.deep.equal({ tags: { from: tags, to: {} } });
    const { body } = await site.agent.post('/shelves/1/revert').send({ to: create?.id }).expect(200);
    expect(body).to.deep.equal({ ...created, skipped: [] });
    expect(await eventsOf('/shelves/changes?after=start')).to.deep.equal([
      'create 1',
      'update 1',
      'update 1',
    ]);
  });

  it('is there where a column without an attribute is of hstore', async () => {
    await run(`INSERT INTO plain_shelves VALUES (1, 'a', 'a=>1'); UPDATE plain_shelves SET name = 'b'`);
    const [update, create] = await pastOf('/plain-shelves/1/history');
    expect(update?.changes).to.deep.equal({ name: { from: 'a', to: 'b' } });
    await site.agent.post('/plain-shelves/1/revert').send({ to: create?.id }).expect(200);
    const events = await eventsOf('/plain-shelves/changes?after=start');
    expect(events).to.deep.equal(['create 1', 'update 1', 'update 1']);
  });

  it('is there where a domain refuses NULL for a value that is not stored', async () => {
    await run(`INSERT INTO flagged (id, name, size) VALUES (1, 'a', 1); UPDATE flagged SET name = 'b'`);
    // It no longer fits.
    await run(`UPDATE crud_changes SET old = old || '{"size": "x"}' WHERE source = 'flagged' AND op = 'u'`);
    const [update, create] = await pastOf('/flagged/1/history');
    expect(update?.changes).to.deep.equal({
      name: { from: 'a', to: 'b' },
      size: { from: 'x', raw: true, to: 1 },
    });
    await site.agent.post('/flagged/1/revert').send({ to: create?.id }).expect(200);
    const events = await eventsOf('/flagged/changes?after=start');
    expect(events).to.deep.equal(['create 1', 'update 1', 'update 1']);
  });
});
