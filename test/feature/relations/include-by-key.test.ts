/** To-one relations by an integer key, which PostgreSQL looks up at once: the same answers as for keys of any other type. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { type Class, Crud, crudController } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'shelves', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Shelf extends KeyedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ include: { shelf: UNGUARDED } } as object)
@Table({ tableName: 'books', timestamps: false })
class Book extends KeyedRow {
  /** Wider than the key that it refers to. */
  @ForeignKey(() => Shelf) @Column(DataType.BIGINT) declare shelfId: string | null;
  @BelongsTo(() => Shelf, { foreignKey: 'shelfId', constraints: false }) declare shelf?: Shelf | null;
}

describe('including one record by an integer key', () => {
  const site = serveTestApp(() => {
    return { models: [Shelf, Book], bootstrap: { logger: new CapturedLog() } };
  });

  before(async () => {
    await Shelf.bulkCreate([
      { id: -7, name: 'Poems' },
      { id: 0, name: 'Plays' },
      { id: 2, name: 'Burnt', deletedAt: new Date() },
    ] as never);
    const shelves = ['-7', '0', '2', '3', '9007199254740993', null, '-7'];
    await Book.bulkCreate(shelves.map((shelfId, index) => ({ id: index + 1, shelfId })) as never);
  });

  it('finds it where it is, and null where it is deleted, missing, beyond its type or not named', async () => {
    const { body } = await site.agent.get('/books?include=shelf&shelf.fields=name').expect(200);
    const found = (body.items as { shelf: { name: string } | null }[]).map(({ shelf }) => shelf);
    const poems = { name: 'Poems' };
    expect(found).to.deep.equal([poems, { name: 'Plays' }, null, null, null, null, poems]);
  });
});

/** Its answers have keys as somebody has typed them. */
class TypedBooks extends crudController(Book) {
  override async read(): Promise<Book> {
    return { id: 1, shelfId: '+007' } as unknown as Book;
  }
}

describe('including one record by a key that the database takes for equal', () => {
  const models = [Shelf, Book];

  async function expectMaps(controllers: readonly Class[], change: string, rows: readonly object[]) {
    const bootstrap = { logger: new CapturedLog(), models, controllers };
    await using site = await startTestApp({ models, bootstrap });
    await Shelf.sequelize?.query(change);
    await Shelf.create({ id: 7, name: 'Maps' } as never);
    await Book.bulkCreate(rows as never);
    const { body } = await site.agent.get('/books/1?include=shelf&shelf.fields=name').expect(200);
    expect(body.shelf).to.deep.equal({ name: 'Maps' });
  }

  it('finds it where the column is none of the type of the model', () =>
    expectMaps([], 'ALTER TABLE shelves ALTER id TYPE numeric(9, 2)', [{ id: 1, shelfId: '7' }]));

  it('finds it where code of the user has written the key', () => expectMaps([TypedBooks], 'SELECT 1', []));
});
