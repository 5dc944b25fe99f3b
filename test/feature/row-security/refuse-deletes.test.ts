/** Policies that let a request see a row, and not delete or change it: no answer says that it did, and nothing else is written. */
import { expect } from 'chai';
import { BelongsToMany, Column, DataType, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { expectIssue, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { describeNested } from '../../support/nested-orders.js';
import { TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'update', 'replace'],
  nested: { items: { replace: true }, scans: true },
  links: { tags: true },
})
@Table({ tableName: 'boxes', timestamps: false, version: true })
class Box extends TitledRow {
  @HasMany(() => Item) declare items: Item[];
  @HasMany(() => Scan) declare scans: Scan[];
  @BelongsToMany(
    () => Tag,
    () => Tagging,
  )
  declare tags?: Tag[];
}

@Crud({
  endpoints: ['list', 'create', 'update', 'delete', 'updateMany', 'createMany', 'upsert', 'deleteMany'],
  filterAllow: ['title'],
  upsert: [['code']],
})
@Table({ tableName: 'items', timestamps: false })
class Item extends TitledRow {
  @Column(DataType.INTEGER) declare code: number | null;
  @ForeignKey(() => Box) @Column({ type: DataType.INTEGER, allowNull: false }) declare boxId: number;
}

@Crud({
  endpoints: ['list', 'create', 'update', 'delete', 'deleteMany', 'purge'],
  filterAllow: ['title'],
})
@Table({ tableName: 'scans', paranoid: true, createdAt: false, updatedAt: false })
class Scan extends TitledRow {
  @ForeignKey(() => Box) @Column({ type: DataType.INTEGER, allowNull: false }) declare boxId: number;
}

@Crud({ endpoints: ['list'] })
@Table({ tableName: 'tags', timestamps: false })
class Tag extends TitledRow {}

/** Sequelize deletes the children of a record first. */
@Crud({ endpoints: ['list', 'delete'] })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends TitledRow {
  @HasMany(() => Book, { onDelete: 'CASCADE', hooks: true }) declare books: Book[];
}

@Table({ tableName: 'books', timestamps: false })
class Book extends TitledRow {
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: number;
}

@Table({ tableName: 'taggings', timestamps: false })
class Tagging extends Model {
  @ForeignKey(() => Box) @Column({ type: DataType.INTEGER, primaryKey: true }) declare boxId: number;
  @ForeignKey(() => Tag) @Column({ type: DataType.INTEGER, primaryKey: true }) declare tagId: number;
}

/** Of the tenant 0 are the rows 1, 17, 33 and 49. All are in the box 1. */
const TABLES = `
  TRUNCATE taggings, books;
  ALTER TABLE boxes ADD version int NOT NULL DEFAULT 0;
  ALTER TABLE items ADD "boxId" int NOT NULL DEFAULT 1, ADD code int UNIQUE;
  ALTER TABLE scans ADD "boxId" int NOT NULL DEFAULT 1, ADD "deletedAt" timestamptz;
  ALTER TABLE taggings ADD "boxId" int NOT NULL DEFAULT 1, ADD "tagId" int NOT NULL DEFAULT currval('taggings_id_seq'),
    DROP CONSTRAINT taggings_pkey, ADD PRIMARY KEY ("boxId", "tagId");
  CREATE POLICY kept ON items AS RESTRICTIVE FOR DELETE USING (title <> 'kept');
  CREATE POLICY fixed ON items AS RESTRICTIVE FOR UPDATE USING (title <> 'fixed');
  CREATE POLICY kept ON scans AS RESTRICTIVE FOR DELETE USING (title <> 'kept');
  CREATE POLICY fixed ON scans AS RESTRICTIVE FOR UPDATE USING (title <> 'fixed');
  ALTER TABLE books ADD "shelfId" int DEFAULT currval('books_id_seq');
  CREATE POLICY kept ON shelves AS RESTRICTIVE FOR DELETE USING (id <> 17);
  CREATE POLICY kept ON taggings AS RESTRICTIVE FOR DELETE USING ("tagId" <> 17)`;

const ROWS = `
  UPDATE items SET title = 'kept' WHERE id = 17;
  UPDATE items SET title = 'fixed', code = 5 WHERE id = 33;
  UPDATE scans SET title = 'kept', "deletedAt" = now() WHERE id = 17;
  UPDATE scans SET title = 'fixed' WHERE id = 33`;

const NO_ITEM = { detail: 'There is no Item with this id.' };
const NO_SCAN = { detail: 'There is no Scan with this id.' };
const NOT_DELETED = { detail: 'This request may not delete this Item.' };

describeNested('rows that a policy keeps', () => {
  let database: TenantDatabase;
  before(async () => {
    database = await TenantDatabase.create([
      'boxes',
      'items',
      'scans',
      'tags',
      'taggings',
      'shelves',
      'books',
    ]);
    await database.control.query(TABLES);
  });
  const site = forSuite(() =>
    startTestApp({
      models: [Box, Item, Scan, Tag, Tagging, Shelf, Book],
      database: { url: database.url() },
      engine: { createAll: false },
      bootstrap: {
        models: [Box, Item, Scan, Tag, Shelf],
        indexAdvice: false,
        rls: { settings: (request) => ({ 'app.tenant': request.get('tenant') ?? '' }) },
      },
    }),
  );
  after(() => database[Symbol.asyncDispose]());

  const send = (method: 'post' | 'patch' | 'put' | 'delete', path: string, body?: object) =>
    site.agent[method](path).set({ tenant: 'tenant 0' }).send(body);
  const stored = async () => {
    const found = await database.control.query<{ text: string }>(
      `SELECT 'box ' || title || version AS text FROM boxes WHERE id = 1
       UNION ALL (SELECT title FROM items WHERE tenant = 'tenant 0' ORDER BY id)
       UNION ALL (SELECT concat(title, ' gone' || left("deletedAt"::text, 0)) FROM scans WHERE tenant = 'tenant 0' ORDER BY id)
       UNION ALL (SELECT "tagId"::text FROM taggings WHERE tenant = 'tenant 0' ORDER BY 1)`,
    );
    return found.rows.map(({ text }) => text);
  };

  it('keep what Sequelize would delete along', async () => {
    const left = async () => (await database.control.query('SELECT id FROM books WHERE id IN (1, 17)')).rows;
    await database.reset();
    expectProblem(await send('delete', '/shelves/17'), 404, { detail: 'There is no Shelf with this id.' });
    expectNothing(await send('delete', '/shelves/1'), 204);
    expect(await left()).to.deep.equal([{ id: 17 }]);
  });

  for (const hooks of [[], ['beforeFind', 'beforeDestroy']])
    describe(hooks.length > 0 ? 'by Sequelize' : 'by statements', () => {
      let asBefore: readonly string[];
      beforeEach(async () => {
        await database.reset();
        await database.control.query(ROWS);
        asBefore = await stored();
      });
      const hooked = async (work: () => Promise<void>) => {
        using _item = addedHook(Item, hooks);
        using _scan = addedHook(Scan, hooks);
        using _tagging = addedHook(Tagging, hooks.slice(1));
        await work();
      };

      it('are not deleted alone, and not purged', () =>
        hooked(async () => {
          expectProblem(await send('delete', '/items/17'), 404, NO_ITEM);
          expectProblem(await send('delete', '/scans/17/purge'), 404, NO_SCAN);
          expectProblem(await send('delete', '/scans/33'), 404, NO_SCAN);
          expect(await stored()).to.deep.equal(asBefore);
        }));

      it('refuse a delete by q, which deletes no other row then', () =>
        hooked(async () => {
          expectProblem(await send('delete', '/items?q=title!=fixed'), 403, NOT_DELETED);
          expect(await stored()).to.deep.equal(asBefore);
          const { body } = await send('delete', '/items?q=title=in=("row 1","row 49")');
          expect(body).to.deep.equal({ affected: 2 });
        }));

      it('are named where a parent is written with deletes of them', () =>
        hooked(async () => {
          const sets = [
            [{ items: { delete: [17] } }, '/items/delete/0'],
            [{ items: { delete: [1, 17] } }, '/items/delete/1'],
            [{ items: { update: [{ id: 49, title: 'x' }], delete: [17, 1] } }, '/items/delete/0'],
            [{ title: 'x', scans: { delete: [1, 33] } }, '/scans/delete/1'],
          ] as const;
          for (const [body, pointer] of sets)
            expectIssue(await send('patch', '/boxes/1', body), 404, {
              pointer,
              code: 'notFound',
              ...(pointer.startsWith('/items') ? NO_ITEM : NO_SCAN),
            });
          expect(await stored()).to.deep.equal(asBefore);
        }));

      it('refuse the replacement of a whole set that leaves them out', () =>
        hooked(async () => {
          const items = [{ id: 33, title: 'fixed' }, { title: 'new' }];
          expectProblem(await send('put', '/boxes/1', { title: 'x', items }), 403, NOT_DELETED);
          expect(await stored()).to.deep.equal(asBefore);
        }));

      it('keep their links', () =>
        hooked(async () => {
          const refused = { detail: 'The database did not delete the record, and nothing was done.' };
          expectProblem(await send('delete', '/boxes/1/tags/17'), 409, refused);
          expectProblem(await send('put', '/boxes/1/tags', [{ id: 1 }]), 409, refused);
          expect(await stored()).to.deep.equal(asBefore);
          expectNothing(await send('delete', '/boxes/1/tags/1'), 204);
        }));

      it('are not changed, alone or together', () =>
        hooked(async () => {
          expectProblem(await send('patch', '/items/33', { title: 'x' }), 404, NO_ITEM);
          const both = [
            { id: 1, title: 'x' },
            { id: 33, title: 'x' },
          ];
          expectIssue(await send('patch', '/items', both), 404, {
            pointer: '/1',
            code: 'notFound',
            ...NO_ITEM,
          });
          expectIssue(await send('patch', '/boxes/1', { items: { update: both } }), 404, {
            pointer: '/items/update/1',
            code: 'notFound',
            ...NO_ITEM,
          });
          const item = { code: 5, title: 'x', boxId: 1 };
          const taken = { code: 'unique', detail: 'Another Item has the same code.' };
          expectIssue(await send('post', '/items?on_conflict=code', item), 409, {
            pointer: '/code',
            ...taken,
          });
          expectIssue(await send('post', '/items?on_conflict=code', [item]), 409, {
            pointer: '/0/code',
            ...taken,
          });
          expect(await stored()).to.deep.equal(asBefore);
        }));

      it('are not found by the q of a change', () =>
        hooked(async () => {
          const { body } = await send('patch', '/items?q=title=in=("row 1",fixed)', { title: 'x' });
          expect(body).to.deep.equal({ affected: 1 });
          const gone = await send('delete', '/scans?q=title=in=("row 1",fixed)');
          expect(gone.body).to.deep.equal({ affected: 1 });
          const changed = asBefore.map((text, index) =>
            index === 1 ? 'x' : index === 5 ? 'row 1 gone' : text,
          );
          expect(await stored()).to.deep.equal(changed);
        }));
    });
});
