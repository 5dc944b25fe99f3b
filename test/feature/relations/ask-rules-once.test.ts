/** Several relations to one model: its rules are asked once for a request, also where they take time. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud, filter, type ModelClass } from '../../../src/index.js';
import { NamedRow, TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const asked: string[] = [];

/** A rule that counts its calls, and takes the time of a query. */
function slow<T>(name: string, answer: (request: Request) => T) {
  return async (request: Request): Promise<T> => {
    asked.push(name);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return answer(request);
  };
}

@Crud({
  scope: { tenant: slow('scope', (request) => Number(request.get('tenant') ?? 1)) },
  visible: slow('visible', () => filter`name!=hidden`),
  can: {
    read: slow('read', () => true),
    list: slow('list', (request) => request.get('lists') !== 'no'),
  },
  fields: { secret: { read: slow('secret', () => false) } },
} as object)
@Table({ tableName: 'users', timestamps: false })
class User extends NamedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;
  @Column(DataType.TEXT) declare secret: string | null;
}

@Crud({
  include: { author: UNGUARDED, reviewers: UNGUARDED },
  filterAllow: { author: ['name'], reviewers: ['name'] },
} as object)
@Table({ tableName: 'books', timestamps: false })
class Book extends TitledRow {
  @ForeignKey(() => User) @Column(DataType.INTEGER) declare authorId: number | null;
  @BelongsTo(() => User) declare author?: User;
  @BelongsToMany(
    () => User,
    () => Review,
  )
  declare reviewers?: User[];
}

@Table({ tableName: 'reviews', timestamps: false })
class Review extends Model {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare bookId: number;
  @ForeignKey(() => User) @Column({ type: DataType.INTEGER, primaryKey: true }) declare userId: number;
}

describe('rules of a model that several relations lead to', () => {
  const site = serveTestApp(() => ({
    models: [User, Book, Review] as ModelClass[],
    bootstrap: { models: [User, Book], logger: new CapturedLog() },
  }));
  const ALL = ['list', 'read', 'scope', 'secret', 'visible'];

  beforeEach(async () => {
    await emptyTables(site, 'reviews', 'books', 'users');
    await User.bulkCreate(
      ['ann', 'bob', 'hidden'].map((name) => ({ name, tenant: 1, secret: 'x' })) as never[],
    );
    await User.create({ name: 'eve', tenant: 2 });
    await Book.create({ title: 'a', authorId: 1 });
    await Review.bulkCreate([1, 2, 3, 4].map((userId) => ({ bookId: 1, userId })) as never[]);
    asked.length = 0;
  });

  for (const path of ['/books?include=author,reviewers', '/books/1?include=author,reviewers'])
    it(`are asked once for ${path}`, async () => {
      const { status, body } = await site.agent.get(path);
      expect(status).to.equal(200);
      const { author, reviewers } = body.items?.[0] ?? body;
      expect(author).to.deep.equal({ id: 1, name: 'ann', tenant: 1 });
      expect(reviewers.items.map(({ name }: { name: string }) => name)).to.deep.equal(['ann', 'bob']);
      expect(asked.sort()).to.deep.equal(ALL);
    });

  it('are asked once where a filter and an answer name them', async () => {
    const { body } = await site.agent.get('/books?include=author&q=reviewers=any=(name==bob)');
    expect(body.items).to.have.length(1);
    expect(asked.sort()).to.deep.equal(ALL);
  });

  it('refuse for the relation that the request may not see', async () => {
    expect((await site.agent.get('/books?include=author').set('lists', 'no')).status).to.equal(200);
    expect((await site.agent.get('/books?include=author,reviewers').set('lists', 'no')).status).to.equal(403);
  });
});
