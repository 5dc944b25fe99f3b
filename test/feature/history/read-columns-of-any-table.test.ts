/** Histories, reverts and feeds of tables whose columns have types that JSON does not have, or that need a value. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { eventsOf, pastOf, TICK } from '../../support/read-the-past.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

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

const priced = (kind: string) =>
  `(id serial PRIMARY KEY, price int, quantity int, total int GENERATED ALWAYS AS (price * quantity) ${kind})`;

abstract class Priced extends NumberedRow {
  @Column(DataType.INTEGER) declare price: number;
  @Column(DataType.INTEGER) declare quantity: number;
  @Column(DataType.INTEGER) declare total: number | null;
}

@Crud({
  ...OPTIONS,
  prefix: '/items',
  filterAllow: ['total'],
  visible: (request) => (request.get('Judged') ? filter`total>10` : filter`id>0`),
})
@Table({ tableName: 'items', timestamps: false })
class Item extends Priced {}

@DefaultScope(() => ({ where: { total: 1 } }))
@Crud({ history: true })
@Table({ tableName: 'items', timestamps: false })
class ScopedItem extends Priced {}

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

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the past of a table', () => {
  const site = serveTestApp(async () => ({
    models: [Shelf, PlainShelf, Flagged],
    database: await prepared(),
    bootstrap: { changes: { tick: TICK }, indexAdvice: false },
  }));
  const run = (text: string) => site.engine.sequelize.query(text);

  it('has values of hstore, and goes back to them', async () => {
    const tags = { 'a "b" \\c': 'x, "y"=>\\', é: null, d: '' };
    const { body: created } = await site.agent.post('/shelves').send({ name: 'a', tags }).expect(201);
    expect(created.tags).to.deep.equal(tags);
    await site.agent.patch('/shelves/1').send({ tags: {} }).expect(200);
    const [update, create] = await pastOf(site.agent, '/shelves/1/history');
    expect(update?.changes).to.deep.equal({ tags: { from: tags, to: {} } });
    const { body } = await site.agent.post('/shelves/1/revert').send({ to: create?.id }).expect(200);
    expect(body).to.deep.equal({ ...created, skipped: [] });
    expect(await eventsOf(site.agent, '/shelves/changes')).to.deep.equal([
      'create 1',
      'update 1',
      'update 1',
    ]);
  });

  it('is there where a column without an attribute is of hstore', async () => {
    await run(`INSERT INTO plain_shelves VALUES (1, 'a', 'a=>1'); UPDATE plain_shelves SET name = 'b'`);
    const [update, create] = await pastOf(site.agent, '/plain-shelves/1/history');
    expect(update?.changes).to.deep.equal({ name: { from: 'a', to: 'b' } });
    await site.agent.post('/plain-shelves/1/revert').send({ to: create?.id }).expect(200);
    const events = await eventsOf(site.agent, '/plain-shelves/changes');
    expect(events).to.deep.equal(['create 1', 'update 1', 'update 1']);
  });

  it('is there where a domain refuses NULL for a value that is not stored', async () => {
    await run(`INSERT INTO flagged (id, name, size) VALUES (1, 'a', 1); UPDATE flagged SET name = 'b'`);
    // It no longer fits.
    await run(`UPDATE crud_changes SET old = old || '{"size": "x"}' WHERE source = 'flagged' AND op = 'u'`);
    const [update, create] = await pastOf(site.agent, '/flagged/1/history');
    expect(update?.changes).to.deep.equal({
      name: { from: 'a', to: 'b' },
      size: { from: 'x', raw: true, to: 1 },
    });
    await site.agent.post('/flagged/1/revert').send({ to: create?.id }).expect(200);
    const events = await eventsOf(site.agent, '/flagged/changes');
    expect(events).to.deep.equal(['create 1', 'update 1', 'update 1']);
  });
});

except({ session: REASON, records: REASON }).describe('a column that is computed when it is read', () => {
  it('is in no image, so that nothing is said of it', async function () {
    const database = await freshDatabase();
    const [server] = await execute<{ version: number }>(
      database.url,
      `SELECT current_setting('server_version_num')::int / 10000 AS version`,
    );
    // All computed columns were stored before.
    if (Number(server?.version) < 18) this.skip();
    await execute(database.url, `CREATE TABLE items ${priced('VIRTUAL')}`);
    await using site = await startTestApp({
      models: [Item, ScopedItem],
      database,
      bootstrap: { models: [Item], logger: new CapturedLog(), changes: { tick: TICK }, indexAdvice: false },
    });
    await site.engine.sequelize.query(
      'INSERT INTO items (id, price, quantity) VALUES (1, 5, 4); UPDATE items SET price = 6',
    );
    const { body } = await site.agent.get('/items/1/history').expect(200);
    expect(body.items.map(({ changes }: { changes: object }) => changes)).to.deep.equal([
      { price: { from: 5, to: 6 } },
      { id: { to: 1 }, price: { to: 5 }, quantity: { to: 4 } },
    ]);
    await site.agent.post('/items/1/revert').send({ to: body.items[1].id }).expect(200);
    const { body: refused } = await site.agent.get('/items/changes?after=start&q=total>10').expect(400);
    expect(refused.errors[0].code).to.equal('changes.not-stored');
    expect((await site.agent.get('/items/changes').set('Judged', '1')).status).to.equal(500);
    const message = await configError(() => buildBoth({ models: [ScopedItem] }));
    expect(message).to.include("ScopedItem: changes are judged by 'total', whose column is VIRTUAL");
  });
});
