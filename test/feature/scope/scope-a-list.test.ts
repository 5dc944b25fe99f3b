/** Lists of which the server shows a part only: an overriding controller, default scopes, hooks. */
import { expect } from 'chai';
import type { Attributes, WhereOptions } from 'sequelize';
import {
  BeforeFind,
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  HasMany,
  Model,
  Table,
} from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  type CursorPage,
  crudController,
  type ListQuery,
  type ModelClass,
  type Page,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = { filterAllow: ['id', 'owner', 'rank'], sortAllow: ['id', 'owner', 'rank'] } as const;

abstract class Owned extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string;
  @Column({ type: DataType.INTEGER, field: 'the_rank' }) declare rank: number | null;
}

@Crud({ ...OPTIONS } as object)
@Table({ tableName: 'notes', timestamps: false })
class Note extends Owned {}

@Crud({ ...OPTIONS, pagination: 'cursor' } as object)
@Table({ tableName: 'memos', timestamps: false })
class Memo extends Owned {}

@Crud({ ...OPTIONS, pagination: 'cursor' } as object)
@DefaultScope(() => ({ where: { owner: 'ann' }, order: [['id', 'DESC']] }))
@Table({ tableName: 'scoped', timestamps: false })
class Scoped extends Owned {}

@Crud({ ...OPTIONS } as object)
@DefaultScope(() => ({ where: { owner: 'ann' }, order: [['id', 'DESC']], limit: 1 }))
@Table({ tableName: 'scoped_pages', timestamps: false })
class ScopedPage extends Owned {}

@Crud({ filterAllow: ['rank'], sortAllow: ['id', 'rank'], pagination: 'cursor' } as object)
@DefaultScope(() => ({ attributes: ['id', 'rank'] }))
@Table({ tableName: 'narrow', timestamps: false })
class Narrow extends Owned {}

@Crud({ ...OPTIONS, pagination: 'cursor' } as object)
@Table({ tableName: 'narrowed', timestamps: false })
class Narrowed extends Owned {
  @BeforeFind
  static onlyIds(options: { attributes?: unknown }): void {
    options.attributes = ['id'];
  }
}

@Crud({ sortAllow: ['id', 'rank'], filterAllow: ['rank'], pagination: 'cursor' } as object)
@DefaultScope(() => ({ include: [Leaf] }))
@Table({ tableName: 'trees', timestamps: false })
class Tree extends Owned {
  @HasMany(() => Leaf) declare leaves: Leaf[];
}

@Table({ tableName: 'leaves', timestamps: false })
class Leaf extends Model {
  @ForeignKey(() => Tree) @Column(DataType.INTEGER) declare treeId: number;
  @BelongsTo(() => Tree) declare tree: Tree;
}

/** The user's own condition, in addition to the filter of the client. */
const MINE = { owner: 'ann' } as WhereOptions<Attributes<Owned>>;

class NoteController extends crudController(Note) {
  override list(query: ListQuery, { repository }: CrudContext<Note>): Promise<Page<Note> | CursorPage<Note>> {
    if (query.kind !== 'offset') throw new TypeError('not an offset list');
    return repository.page({ ...query, where: MINE });
  }
}

class MemoController extends crudController(Memo) {
  override list(query: ListQuery, { repository }: CrudContext<Memo>): Promise<Page<Memo> | CursorPage<Memo>> {
    if (query.kind !== 'cursor') throw new TypeError('not a cursor list');
    return repository.cursorPage({ ...query, where: MINE });
  }
}

const MODELS: readonly ModelClass[] = [Note, Memo, Scoped, ScopedPage, Narrow, Narrowed, Tree];
const ROWS = [
  { owner: 'ann', rank: 3 },
  { owner: 'bob', rank: 1 },
  { owner: 'ann', rank: null },
  { owner: 'bob', rank: 2 },
  { owner: 'ann', rank: 1 },
];

describe('a list of which the server shows a part', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: MODELS,
    engine: { models: [...MODELS, Leaf] },
    bootstrap: { controllers: [NoteController, MemoController], logger: log },
  }));

  before(async () => {
    for (const model of MODELS) await model.bulkCreate(ROWS);
    await Leaf.bulkCreate([1, 1, 1, 2, 2, 5].map((treeId) => ({ treeId })));
  });

  async function list(path: string, query: Record<string, string> = {}) {
    const { status, body } = await site.agent.get(path).query(query);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  /** The ids on all pages of one row each. */
  async function walk(path: string, query: Record<string, string> = {}): Promise<number[]> {
    const ids: number[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page = await list(path, { ...query, size: '1', ...(after ? { after } : {}) });
      ids.push(...page.items.map((item: { id: number }) => item.id));
      after = page.next_cursor;
    }
    return ids;
  }

  const WIDENING = ['owner==bob', 'id==2,id==4', 'owner==ann,owner==bob', 'rank=isnull=true,id>0', '(id>0)'];

  for (const q of WIDENING) {
    it(`[H2] is not widened by q=${q} in the pages of a controller`, async () => {
      const [notes, memos] = [await list('/notes', { q }), await list('/memos', { q })];
      expect(notes.total).to.equal(notes.items.length);
      for (const { owner } of [...notes.items, ...memos.items]) expect(owner).to.equal('ann');
    });
  }

  it('is walked by cursor within the condition of the controller', async () => {
    expect(await walk('/memos', { sort: '-rank' })).to.deep.equal([3, 1, 5]);
    expect(await walk('/memos', { sort: '-rank', q: "owner!=';$1'" })).to.deep.equal([3, 1, 5]);
  });

  it('takes values as they are beside the condition of the controller', async () => {
    for (const value of ["'; DROP TABLE notes; --", ':owner', '?', '$1', '$$', '\\', "\\'", '%']) {
      const { items } = await list('/notes', { q: `owner=="${value.replace(/["\\]/g, '\\$&')}"` });
      expect(items, value).to.deep.equal([]);
    }
  });

  it('has the default scope of the model, and the order of the client', async () => {
    expect(await walk('/scopeds', { sort: 'rank' })).to.deep.equal([5, 1, 3]);
    expect(await walk('/scopeds', { sort: '-id', q: 'owner==bob,id>0' })).to.deep.equal([5, 3, 1]);
  });

  it('has the default scope of the model in pages and their total', async () => {
    const page = await list('/scoped-pages', { sort: 'rank', size: '2', fields: 'id' });
    expect(page).to.deep.include({ items: [{ id: 5 }, { id: 1 }], total: 3, pages: 2 });
    const bobs = await list('/scoped-pages', { q: 'owner==bob,id>3', fields: 'id' });
    expect(bobs).to.deep.include({ items: [{ id: 5 }], total: 1 });
  });

  it('has only the attributes of the default scope', async () => {
    const { items } = await list('/narrows', { sort: '-rank,id', size: '1' });
    expect(items).to.deep.equal([{ id: 3, rank: null }]);
    expect(await walk('/narrows', { sort: '-rank,id' })).to.deep.equal([3, 1, 4, 2, 5]);
  });

  it('fails rather than loses rows where a hook takes the sort values away', async () => {
    log.clear();
    expect((await site.agent.get('/narroweds')).status).to.equal(500);
    expect(log.lines.map(({ message, details }) => [message, details['error']])).to.deep.equal([
      ['GET /narroweds failed', 'TypeError'],
    ]);
  });

  it('has each row once where the default scope joins many', async () => {
    expect(await walk('/trees', { sort: '-rank' })).to.deep.equal([3, 1, 4, 5, 2]);
    expect(await walk('/trees', { sort: 'rank', q: 'rank>1' })).to.deep.equal([4, 1]);
  });
});
