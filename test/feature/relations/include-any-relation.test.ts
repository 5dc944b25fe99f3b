/** Associations of every sort: each answers with the rows that Sequelize would find, and with no others. */
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const PARANOID = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true } as const;

@Crud({
  prefix: '/people',
  pageSize: { default: 10, max: 10 },
  include: {
    boss: UNGUARDED,
    staff: UNGUARDED,
    'boss.boss': UNGUARDED,
    'boss.staff': UNGUARDED,
    'boss.staff.friends': UNGUARDED,
    written: UNGUARDED,
    edited: UNGUARDED,
    badge: UNGUARDED,
    friends: UNGUARDED,
    'friends.badge': UNGUARDED,
  },
} as object)
@Table({ tableName: 'people', ...PARANOID })
class Person extends NamedRow {
  @Column({ type: DataType.INTEGER, field: 'Boss id' }) declare bossId: number | null;
  @BelongsTo(() => Person, { foreignKey: 'bossId', constraints: false }) declare boss?: unknown;
  @HasMany(() => Person, { foreignKey: 'bossId', constraints: false }) declare staff?: unknown;
  @HasMany(() => Article, { foreignKey: 'writerId', constraints: false }) declare written?: unknown;
  @HasMany(() => Article, { foreignKey: 'editorId', constraints: false }) declare edited?: unknown;
  @HasOne(() => Badge, { foreignKey: 'holder', constraints: false }) declare badge?: unknown;

  @BelongsToMany(() => Person, {
    through: { model: () => Friendship, unique: false, scope: { isMutual: true } },
    foreignKey: 'fromId',
    otherKey: 'toId',
    constraints: false,
  })
  declare friends?: unknown;
}

@Table({ tableName: 'friendships', ...PARANOID })
class Friendship extends NumberedRow {
  @Column({ type: DataType.INTEGER, field: 'from id' }) declare fromId: number;
  @Column({ type: DataType.INTEGER, field: 'to id' }) declare toId: number;
  @Column(DataType.BOOLEAN) declare isMutual: boolean;
}

@Crud({ defaultSort: '-serial' } as object)
@Table({ tableName: 'badges', timestamps: false })
class Badge extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare serial: number;
  @Exclude() @Column(DataType.INTEGER) declare holder: number | null;
  @Exclude() @Column(DataType.TEXT) declare pin: string | null;
}

@Crud({
  include: {
    writer: UNGUARDED,
    'writer.badge': UNGUARDED,
    'writer.written': UNGUARDED,
    'writer.edited': UNGUARDED,
    editor: UNGUARDED,
    notes: UNGUARDED,
  },
} as object)
@Table({ tableName: 'articles', timestamps: false })
class Article extends NamedRow {
  @Exclude() @Column(DataType.INTEGER) declare writerId: number | null;

  @Column({
    type: DataType.INTEGER,
    get(this: Model) {
      return 1000 + Number(this.getDataValue('editorId'));
    },
  })
  declare editorId: number | null;

  @BelongsTo(() => Person, { foreignKey: 'writerId', constraints: false }) declare writer?: unknown;
  @BelongsTo(() => Person, { foreignKey: 'editorId', constraints: false }) declare editor?: unknown;

  @HasMany(() => Note, {
    foreignKey: 'subjectId',
    constraints: false,
    scope: { subject: 'article', state: ["it's", 'new'], hiddenBy: null },
  })
  declare notes?: unknown;
}

class ShownPhoto {
  @Expose() name = '';
}

@Crud({ readSchema: ShownPhoto, include: { notes: UNGUARDED } } as object)
@Table({ tableName: 'photos', timestamps: false })
class Photo extends NamedRow {
  @HasMany(() => Note, {
    foreignKey: 'subjectId',
    constraints: false,
    scope: { subject: 'photo' },
  })
  declare notes?: unknown;
}

/** Not served. */
@Table({ tableName: 'notes', timestamps: false })
class Note extends NamedRow {
  @Column(DataType.TEXT) declare subject: string;
  @Column(DataType.INTEGER) declare subjectId: number;
  @Column(DataType.ENUM('new', 'old', "it's")) declare state: string | null;
  @Column(DataType.INTEGER) declare hiddenBy: number | null;
}

const SERVED = [Person, Badge, Article, Photo] as unknown as ModelClass[];

describe('including any relation', () => {
  const log = new CapturedLog();
  const site = serveTestApp(() => {
    const models = [...SERVED, Note, Friendship] as ModelClass[];
    return { models: SERVED, bootstrap: { logger: log }, engine: { models } };
  });

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO people (id, name, "Boss id", "deletedAt") VALUES
        (1, 'Ann', NULL, NULL), (2, 'Bob', 1, NULL), (3, 'Cid', 2, NULL), (4, 'Dan', 4, NULL),
        (5, 'Eve', 1, now()), (6, 'Fay', 5, NULL), (7, 'Gus', 99, NULL), (8, 'Hal', 1, NULL);
      INSERT INTO badges VALUES (10, 1, 'x'), (12, 1, 'y'), (11, 1, 'z'), (13, 2, 'v'), (14, NULL, 'w');
      INSERT INTO articles VALUES
        (1, 'Cats', 1, 2), (2, 'Dogs', 2, 1), (3, 'Emus', 2, 2), (4, 'Fish', NULL, 5), (5, 'Gnus', 5, NULL);
      INSERT INTO friendships (id, "from id", "to id", "isMutual", "deletedAt") VALUES
        (1, 1, 2, true, NULL), (2, 1, 2, true, NULL), (3, 1, 3, true, now()), (4, 1, 4, false, NULL),
        (5, 1, 5, true, NULL), (6, 1, 6, true, NULL), (7, 1, 99, true, NULL), (8, 2, 2, true, NULL);
      INSERT INTO photos VALUES (1, 'Sea'), (2, 'Hill');
      INSERT INTO notes VALUES
        (1, 'a', 'article', 1, 'new', NULL), (2, 'b', 'photo', 1, 'new', NULL), (3, 'c', 'article', 1, 'it''s', NULL),
        (4, 'd', 'article', 1, 'old', NULL), (5, 'e', 'article', 1, 'new', 3), (6, 'f', 'article', 1, NULL, NULL),
        (7, 'g', 'photo', 2, 'old', 2);`),
  );

  const get = async (path: string) => {
    log.clear();
    const { status, body } = await site.agent.get(path);
    expect(status, `${log.text}${JSON.stringify(body)}`).to.equal(200);
    return body;
  };
  /** The names in a page of a relation. */
  const names = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name).join(' ');

  it('[R6] answers with rows of the same table, to three levels', async () => {
    const { items } = await get('/people?fields=name&include=boss,staff&boss.fields=name&staff.fields=name');
    const bosses = Object.fromEntries(
      items.map((each: { name: string; boss: { name: string } | null }) => [each.name, each.boss?.name]),
    );
    expect(bosses).to.deep.equal({
      Ann: undefined,
      Bob: 'Ann',
      Cid: 'Bob',
      Dan: 'Dan',
      // Soft-deleted, and dangling.
      Fay: undefined,
      Gus: undefined,
      Hal: 'Ann',
    });
    expect(items.map((each: { staff: never }) => names(each.staff))).to.deep.equal([
      'Bob Hal',
      'Cid',
      '',
      'Dan',
      '',
      '',
      '',
    ]);
    const cid = await get('/people/3?include=boss.boss,boss.staff.friends&fields=name&boss.fields=name');
    expect(cid).to.deep.equal({
      name: 'Cid',
      boss: {
        name: 'Bob',
        boss: { id: 1, name: 'Ann', bossId: null, deletedAt: null },
        staff: {
          items: [
            {
              id: 3,
              name: 'Cid',
              bossId: 2,
              deletedAt: null,
              friends: { items: [], has_next: false },
            },
          ],
          has_next: false,
        },
      },
    });
  });

  it('[R6] keeps apart two relations to one table', async () => {
    const ann = await get('/people/1?include=written,edited&written.fields=name&edited.fields=name');
    expect([names(ann.written), names(ann.edited)]).to.deep.equal(['Cats', 'Dogs']);
    const bob = await get('/people/2?include=edited,written&written.fields=name&edited.fields=name');
    expect([names(bob.written), names(bob.edited)]).to.deep.equal(['Dogs Emus', 'Cats Emus']);
    const { writer } = await get('/articles/2?include=writer.written,writer.edited');
    expect([names(writer.written), names(writer.edited)]).to.deep.equal(['Dogs Emus', 'Cats Emus']);
    const { items } = await get(
      '/articles?fields=name&include=writer,editor&writer.fields=name&editor.fields=name',
    );
    expect(items).to.deep.equal([
      { name: 'Cats', writer: { name: 'Ann' }, editor: { name: 'Bob' } },
      { name: 'Dogs', writer: { name: 'Bob' }, editor: { name: 'Ann' } },
      { name: 'Emus', writer: { name: 'Bob' }, editor: { name: 'Bob' } },
      { name: 'Fish', writer: null, editor: null },
      { name: 'Gnus', writer: null, editor: null },
    ]);
  });

  it('[R2 R4] finds rows by a key that answers do not have, and by one that a getter shows as another', async () => {
    const dogs = await get('/articles/2?include=editor,writer.badge&editor.fields=name&writer.fields=name');
    expect(dogs).to.deep.equal({
      id: 2,
      name: 'Dogs',
      editorId: 1001,
      writer: { name: 'Bob', badge: { serial: 13 } },
      editor: { name: 'Ann' },
    });
  });

  it('[R8] answers with the first of several where one is meant', async () => {
    const { items } = await get('/people?fields=name&include=badge&size=3');
    expect(items.map(({ badge }: { badge: unknown }) => badge)).to.deep.equal([
      { serial: 12 },
      { serial: 13 },
      null,
    ]);
  });

  it('[R9] answers with a row once, however often it is joined, and not by a soft-deleted row in between', async () => {
    const ann = await get('/people/1?fields=name&include=friends.badge&friends.fields=name');
    expect(ann.friends).to.deep.equal({
      items: [
        { name: 'Bob', badge: { serial: 13 } },
        { name: 'Fay', badge: null },
      ],
      has_next: false,
    });
    const bob = await get('/people/2?fields=name&include=friends&friends.fields=name');
    expect(names(bob.friends)).to.equal('Bob');
  });

  it('[R7] answers with the rows that the association asks for', async () => {
    const { notes } = await get('/articles/1?include=notes&notes.fields=name');
    expect(names(notes)).to.equal('a c');
    const { items } = await get('/photos?include=notes&notes.fields=name');
    expect(items).to.deep.equal([
      { name: 'Sea', notes: { items: [{ name: 'b' }], has_next: false } },
      { name: 'Hill', notes: { items: [{ name: 'g' }], has_next: false } },
    ]);
  });

  it('[R14] shows nothing that is excluded, at any depth, and knows no parameter for it', async () => {
    const { writer } = await get('/articles/1?include=writer.badge');
    expect(writer.badge).to.deep.equal({ serial: 12 });
    const refusals = await Promise.all(
      ['pin', 'pinn'].map(async (name) => {
        const { status, text } = await site.agent.get(
          `/articles/1?include=writer.badge&writer.badge.fields=${name}`,
        );
        return [status, text.replaceAll(`'${name}'`, '?')];
      }),
    );
    expect(refusals[0]).to.deep.equal(refusals[1]);
    expect(refusals[0]?.[0]).to.equal(400);
  });
});
