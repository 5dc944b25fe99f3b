/** Children that go with each other: their foreign keys refer to other children of the request, and cascade. */
import { expect } from 'chai';
import { AllowNull, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow, TitledRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

const { INTEGER } = DataType;
const required = { type: INTEGER, allowNull: false } as const;
const cascading = { type: INTEGER, onDelete: 'CASCADE' } as const;

@Crud({
  endpoints: ['read', 'update', 'replace', 'updateMany'],
  nested: { comments: { replace: true }, likes: { replace: true }, notes: { replace: true } },
} as CrudOptions)
@Table({ tableName: 'posts', timestamps: false })
class Post extends TitledRow {
  @HasMany(() => Comment) declare comments: Comment[];
  @HasMany(() => Like) declare likes: Like[];
  @HasMany(() => Note) declare notes: Note[];
}

@Crud()
@Table({ tableName: 'comments', timestamps: false, version: true })
class Comment extends NumberedRow {
  @ForeignKey(() => Post) @Column(required) declare postId: number;
  @AllowNull
  @ForeignKey(() => Comment)
  @Column({ ...cascading, references: { model: 'comments', key: 'id' } })
  declare parentId: number | null;
}

@Crud()
@Table({ tableName: 'likes', timestamps: false })
class Like extends NumberedRow {
  @ForeignKey(() => Post) @Column(required) declare postId: number;
  @ForeignKey(() => Comment)
  @Column({ ...cascading, references: { model: 'comments', key: 'id' } })
  declare commentId: number | null;
}

@Crud()
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @ForeignKey(() => Post) @Column(required) declare postId: number;
  @ForeignKey(() => Note)
  @Column({ type: INTEGER, onDelete: 'NO ACTION', references: { model: 'notes', key: 'id' } })
  declare parentId: number | null;
}

describeNested('children that go with each other', () => {
  const site = serveTestApp(() => ({
    models: [Post, Comment, Like, Note],
    bootstrap: { indexAdvice: false },
  }));
  const rowsOf = async (text: string) => (await site.engine.sequelize.query(text))[0] as { id: number }[];
  const idsOf = async (table: string) =>
    (await rowsOf(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id);

  // Comment 2 answers comment 1, and 3 answers 2; 4 is alone, and 5 of another post answers 1.
  beforeEach(async () => {
    await emptyTables(site, 'notes', 'likes', 'comments', 'posts');
    await rowsOf(`INSERT INTO posts (id, title) VALUES (1, 'one'), (2, 'two')`);
    await rowsOf(`INSERT INTO comments (id, "postId", "parentId", version)
      VALUES (1, 1, NULL, 0), (2, 1, 1, 0), (3, 1, 2, 0), (4, 1, NULL, 0), (5, 2, 1, 0)`);
    await rowsOf(`INSERT INTO likes (id, "postId", "commentId") VALUES (1, 1, 1), (2, 1, 4), (3, 2, 5)`);
  });

  const put = (body: object) => site.agent.put('/posts/1').send({ title: 'x', ...body });
  const patch = (body: object) => site.agent.patch('/posts/1').send(body);

  /** The ids of comments and likes that are left. */
  const cells: readonly (readonly [
    send: () => ReturnType<typeof put>,
    left: readonly [number[], number[]],
  ])[] = [
    [() => put({ comments: [] }), [[], []]],
    [
      () => put({ comments: [{ id: 1 }, { id: 2 }] }),
      [
        [1, 2, 5],
        [1, 3],
      ],
    ],
    [() => put({ comments: [], likes: [] }), [[], []]],
    [() => put({ likes: [], comments: [{ id: 4 }] }), [[4], []]],
    [() => patch({ comments: { delete: [1, 2, 3] } }), [[4], [2]]],
    [() => patch({ comments: { delete: [3, 2, 1] } }), [[4], [2]]],
    [() => patch({ comments: { delete: [1] } }), [[4], [2]]],
    [() => patch({ comments: { delete: [1, { id: 2, version: 0 }] } }), [[4], [2]]],
    [
      () => patch({ comments: { delete: [4] }, likes: { delete: [2] } }),
      [
        [1, 2, 3, 5],
        [1, 3],
      ],
    ],
    [() => patch({ comments: { delete: [1] }, likes: { delete: [1, 2] } }), [[4], []]],
  ];
  for (const [index, [send, left]] of cells.entries())
    it(`are removed: ${index}`, async () => {
      const { status, body } = await send();
      expect(status, JSON.stringify(body)).to.equal(200);
      expect([await idsOf('comments'), await idsOf('likes')]).to.deep.equal(left);
    });

  const refused: readonly (readonly [send: () => ReturnType<typeof put>, status: number, pointer: string])[] =
    [
      [() => patch({ comments: { delete: [1, 99] } }), 404, '/comments/delete/1'],
      [() => patch({ comments: { delete: [1, 5] } }), 404, '/comments/delete/1'],
      [() => patch({ comments: { delete: [1, { id: 2, version: 3 }] } }), 412, '/comments/delete/1'],
      [() => patch({ comments: { delete: [1], update: [{ id: 2 }] } }), 404, '/comments/update/0'],
      [() => patch({ comments: { delete: [1] }, likes: { delete: [3] } }), 404, '/likes/delete/0'],
      [() => put({ comments: [{ id: 2 }] }), 404, '/comments/0'],
      [
        () =>
          site.agent.patch('/posts').send([
            { id: 1, comments: { delete: [1] } },
            { id: 2, comments: { delete: [2] } },
          ]),
        404,
        '/1/comments/delete/0',
      ],
    ];
  for (const [index, [send, expected, pointer]] of refused.entries())
    it(`are refused with all others: ${index}`, async () => {
      const { status, body } = await send();
      expect(status, JSON.stringify(body)).to.equal(expected);
      expect(body.errors[0].pointer).to.equal(pointer);
      expect(await idsOf('comments')).to.deep.equal([1, 2, 3, 4, 5]);
      expect(await idsOf('likes')).to.deep.equal([1, 2, 3]);
      expect((await rowsOf('SELECT title FROM posts WHERE id = 1'))[0]).to.deep.equal({ title: 'one' });
    });

  it('are removed in an order that foreign keys without a cascade take', async () => {
    const fill = () =>
      rowsOf(`INSERT INTO notes (id, "postId", "parentId") VALUES (1, 1, NULL), (2, 1, 1), (3, 1, 2)`);
    await fill();
    expect((await patch({ notes: { delete: [1, 2] } })).status).to.equal(409);
    expect((await patch({ notes: { delete: [3, 2, 1] } })).status).to.equal(200);
    await fill();
    expect((await put({ notes: [{ id: 1 }] })).status).to.equal(200);
    expect(await idsOf('notes')).to.deep.equal([1]);
  });

  it('are those of several parents', async () => {
    const { status } = await site.agent.patch('/posts').send([
      { id: 1, comments: { delete: [2, 3] } },
      { id: 2, comments: { delete: [5] }, likes: { delete: [3] } },
    ]);
    expect(status).to.equal(200);
    expect([await idsOf('comments'), await idsOf('likes')]).to.deep.equal([
      [1, 4],
      [1, 2],
    ]);
  });
});
