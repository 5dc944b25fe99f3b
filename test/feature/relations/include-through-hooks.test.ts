/** Relations to models whose rows only Sequelize reads: their hooks, scopes and methods hold. */
import { expect } from 'chai';
import { type FindOptions, QueryTypes } from 'sequelize';
import {
  AutoIncrement,
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { UNGUARDED } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { rowsOf, TenantDatabase } from '../../support/tenant-database.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

@Crud({
  include: {
    country: UNGUARDED,
    notes: { ...UNGUARDED, size: { default: 2, max: 5 } },
    'notes.writer': UNGUARDED,
    tags: UNGUARDED,
    price: UNGUARDED,
  },
  filterAllow: { notes: ['stars'] },
} as object)
@Table({ tableName: 'towns', timestamps: false })
class Town extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;

  @ForeignKey(() => Land)
  @Column({ type: DataType.CHAR(3), field: 'land_code' })
  declare landCode: string | null;

  @BelongsTo(() => Land, { foreignKey: 'landCode' }) declare country?: Loaded<Land> | null;
  @Column(DataType.DECIMAL(6, 2)) declare priceKey: string | null;

  @BelongsTo(() => Price, { foreignKey: 'priceKey', targetKey: 'amount' })
  declare price?: Loaded<Price> | null;

  @HasMany(() => Note, 'townId') declare notes?: Note[];
  @BelongsToMany(() => Mark, { through: () => TownMark }) declare tags?: Mark[];
}

@Crud()
@Table({ tableName: 'lands', timestamps: false })
class Land extends Model {
  @PrimaryKey @Column(DataType.CHAR(3)) declare code: string;
  @Column(DataType.TEXT) declare secret: string;
}

@Crud()
@Table({ tableName: 'prices', timestamps: false })
class Price extends KeyedRow {
  @Column({ type: DataType.DECIMAL(6, 2), unique: true }) declare amount: string;
}

@DefaultScope(() => ({
  where: { isHidden: false },
  order: [['id', 'DESC']],
  limit: 1,
  attributes: { exclude: ['draft'] },
}))
@Crud({ sortAllow: ['id', 'stars'], filterAllow: ['stars'], defaultSort: '-stars' } as object)
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column(DataType.INTEGER) declare stars: number;
  @Column({ type: DataType.BOOLEAN, field: 'is_hidden' }) declare isHidden: boolean;
  @Column(DataType.TEXT) declare draft: string | null;
  @ForeignKey(() => Town) @Column(DataType.BIGINT) declare townId: string;
  @ForeignKey(() => Writer) @Column(DataType.CITEXT) declare writerName: string | null;
  @BelongsTo(() => Writer, 'writerName') declare writer?: Loaded<Writer> | null;
}

@Crud()
@Table({ tableName: 'writers', timestamps: false })
class Writer extends Model {
  @PrimaryKey @Column(DataType.CITEXT) declare name: string;
}

@Crud()
@Table({ tableName: 'marks', timestamps: false })
class Mark extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare name: string;
}

@DefaultScope(() => ({ where: { isShown: true } }))
@Table({ tableName: 'town_marks', timestamps: false })
class TownMark extends Model {
  @PrimaryKey @ForeignKey(() => Town) @Column(DataType.BIGINT) declare townId: string;
  @PrimaryKey @ForeignKey(() => Mark) @Column(DataType.TEXT) declare markName: string;
  @Column({ type: DataType.BOOLEAN, defaultValue: true }) declare isShown: boolean;
}

interface NotesOfTown {
  readonly items: readonly { readonly stars: number }[];
  readonly has_next: boolean;
}

/** Relations whose targets are read by our SQL as long as nothing hooks into them. */
const QUERY =
  'include=country,notes.writer,tags,price&notes.size=2&notes.fields=id,stars,writerName&fields=id';

describe('including rows that only Sequelize reads', () => {
  const served = [Town, Land, Price, Note, Writer, Mark];
  const site = serveTestApp(() => ({
    models: served,
    engine: { models: [...served, TownMark], createAll: false },
    bootstrap: { logger: new CapturedLog(), models: served },
  }));

  before(async () => {
    const { sequelize } = site.engine;
    await sequelize.query('CREATE EXTENSION IF NOT EXISTS citext');
    await sequelize.sync();
    await Land.bulkCreate([
      { code: 'FR', secret: 'x' },
      { code: 'ITA', secret: 'y' },
    ] as never);
    await Price.bulkCreate([{ id: 1, amount: '1.50' }] as never);
    await Town.bulkCreate([
      { id: '9007199254740993', landCode: 'FR', priceKey: '1.5' },
      { id: '9007199254740994', landCode: 'ITA' },
      { id: '9007199254740995', landCode: 'FR' },
    ] as never);
    await Writer.bulkCreate([{ name: 'Ann' }] as never);
    const [one, two] = ['9007199254740993', '9007199254740994'];
    await Note.bulkCreate([
      { townId: one, stars: 5, isHidden: true },
      { townId: one, stars: 4, isHidden: false, writerName: 'ANN', draft: 'd' },
      { townId: one, stars: 3, isHidden: false, writerName: 'ann' },
      { townId: two, stars: 2, isHidden: false },
      { townId: two, stars: 1, isHidden: true },
    ] as never);
    await Mark.bulkCreate([{ name: 'old' }, { name: 'wet' }] as never);
    await TownMark.bulkCreate([
      { townId: one, markName: 'old' },
      { townId: one, markName: 'wet', isShown: false },
      { townId: two, markName: 'wet' },
    ] as never);
  });

  const get = async (query: string): Promise<string> =>
    (await site.agent.get(`/towns?${query}`).expect(200)).text;

  it('takes the condition of a default scope before the limit, and nothing else of it but attributes', async () => {
    const { items } = JSON.parse(await get('fields=id&include=notes,tags'));
    expect(items).to.deep.equal([
      {
        id: '9007199254740993',
        notes: {
          items: [
            { id: 2, stars: 4, isHidden: false, townId: '9007199254740993', writerName: 'ANN' },
            { id: 3, stars: 3, isHidden: false, townId: '9007199254740993', writerName: 'ann' },
          ],
          has_next: false,
        },
        tags: { items: [{ name: 'old' }], has_next: false },
      },
      {
        id: '9007199254740994',
        notes: {
          items: [{ id: 4, stars: 2, isHidden: false, townId: '9007199254740994', writerName: null }],
          has_next: false,
        },
        tags: { items: [{ name: 'wet' }], has_next: false },
      },
      { id: '9007199254740995', notes: { items: [], has_next: false }, tags: { items: [], has_next: false } },
    ]);
    const one = JSON.parse(
      await get('fields=id&include=notes&notes.size=1&notes.sort=stars&notes.fields=id'),
    );
    expect(one.items[0].notes).to.deep.equal({ items: [{ id: 3 }], has_next: true });
  });

  it('answers with the same bytes where a hook only looks', async () => {
    const without = await get(QUERY);
    expect(without).to.include('"writer":{"name":"Ann"}').and.to.include('"price":{"id":1,"amount":"1.50"}');
    for (const model of [Land, Price, Note, Writer, Mark])
      expect(
        await withHook(
          model,
          'afterFind',
          () => {},
          () => get(QUERY),
        ),
        model.name,
      ).to.equal(without);
  });

  it('answers with what a hook makes of the records', async () => {
    const mask = (found: Land[]) => {
      for (const each of found) each.secret = '***';
    };
    const masked = await withHook(Land, 'afterFind', mask, () => get('fields=id&include=country'));
    expect(JSON.parse(masked).items.map((each: { country: unknown }) => each.country)).to.deep.equal([
      { code: 'FR', secret: '***' },
      { code: 'ITA', secret: '***' },
      { code: 'FR', secret: '***' },
    ]);
  });

  it('shows no row that a hook hides, and does not tell of it', async () => {
    const hide = (options: FindOptions) => {
      options.where = { ...options.where, stars: 3 };
    };
    const text = await withHook(Note, 'beforeFind', hide, () =>
      get('fields=id&include=notes&notes.fields=stars&notes.q=stars=gt=3&notes.size=0'),
    );
    expect(JSON.parse(text).items[0].notes).to.deep.equal({ items: [], has_next: false });
    const shown = await withHook(Note, 'beforeFind', hide, () =>
      get('fields=id&include=notes&notes.fields=stars'),
    );
    expect(JSON.parse(shown).items[0].notes).to.deep.equal({ items: [{ stars: 3 }], has_next: false });
  });

  it('fills the limit of each record with rows that a hook shows, and knows whether there are others', async () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ townId: '9007199254740995', stars: index }));
    await Note.unscoped().bulkCreate(many.map((each) => ({ ...each, isHidden: false })) as never);
    const even = (options: FindOptions) => {
      options.where = { ...options.where, stars: [1, 2, 3, 5] };
    };
    const notes = async (query: string) => {
      const text = await withHook(Note, 'beforeFind', even, () =>
        get(`fields=id&include=notes&notes.fields=stars&${query}`),
      );
      return JSON.parse(text).items.map(({ notes: { items, has_next } }: { notes: NotesOfTown }) =>
        [...items.map(({ stars }) => stars), has_next].join(' '),
      );
    };
    try {
      expect(await notes('notes.size=2')).to.deep.equal(['3 false', '2 false', '5 3 true']);
      expect(await notes('notes.size=3')).to.deep.equal(['3 false', '2 false', '5 3 2 true']);
      expect(await notes('notes.size=4')).to.deep.equal(['3 false', '2 false', '5 3 2 1 false']);
      expect(await notes('notes.size=0')).to.deep.equal(['true', 'true', 'true']);
      expect(await notes('notes.size=1&notes.sort=stars')).to.deep.equal(['3 false', '2 false', '1 true']);
      // One that hides nearly all is a condition that belongs elsewhere.
      await site.engine.sequelize.query(
        `INSERT INTO notes (stars, is_hidden, "townId") SELECT 100, false, '9007199254740995' FROM generate_series(1, 10001)`,
      );
      expect(await caughtError(() => notes('notes.size=2')))
        .to.have.property('message')
        .that.includes('500');
    } finally {
      await Note.unscoped().destroy({ where: { townId: '9007199254740995' } });
    }
  });

  it('shows rows that a scope joins to others, and tells nothing by a filter of those that it leaves out', async () => {
    const where = { isHidden: false };
    const scoped = async (include: unknown, query: string) => {
      Note.addScope('defaultScope', { where, include: [include] } as object, { override: true });
      try {
        return await site.agent.get(`/towns?fields=id&${query}`);
      } finally {
        Note.addScope('defaultScope', { where, attributes: { exclude: ['draft'] } }, { override: true });
      }
    };
    const written = { association: 'writer', where: { name: 'nobody' } };
    for (const include of [written, { model: Writer, as: 'writer', required: true }]) {
      const { status } = await scoped(include, 'q=notes=any=(stars==2)');
      expect(status).to.equal(500);
    }
    const { body } = await scoped(written, 'include=notes&notes.fields=stars');
    expect(body.items[1].notes).to.deep.equal({ items: [], has_next: false });
    for (const include of [{ ...written, required: false }, 'writer']) {
      const { body: found } = await scoped(include, 'q=notes=any=(stars==2)');
      expect(found.items).to.deep.equal([{ id: '9007199254740994' }]);
    }
  });

  it('sees a scope that comes later', async () => {
    Mark.addScope('defaultScope', { where: { name: 'wet' } }, { override: true });
    try {
      const { items } = JSON.parse(await get('fields=id&include=tags'));
      expect(items.map((each: { tags: { items: unknown[] } }) => each.tags.items)).to.deep.equal([
        [],
        [{ name: 'wet' }],
        [],
      ]);
    } finally {
      Mark.addScope('defaultScope', {}, { override: true });
    }
  });
});

describe('[R15] including rows with row security', () => {
  @Crud({
    include: {
      sheets: { ...UNGUARDED, size: { max: 8 } },
      'sheets.leaves': { ...UNGUARDED, size: { max: 8 } },
      stamps: { ...UNGUARDED, size: { max: 8 } },
    },
    filterAllow: ['title'],
  } as object)
  @Table({ tableName: 'papers', timestamps: false })
  class Paper extends Model {
    @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
    @Column(DataType.TEXT) declare title: string;
    @Column(DataType.TEXT) declare tenant: string;

    @HasMany(() => Sheet, { foreignKey: 'tenant', sourceKey: 'tenant', constraints: false })
    declare sheets?: Sheet[];

    @HasMany(() => Stamp, { foreignKey: 'tenant', sourceKey: 'tenant', constraints: false })
    declare stamps?: Loaded<Stamp>[];
  }

  @Crud()
  @Table({ tableName: 'papers', timestamps: false })
  class Sheet extends Model {
    @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
    @Column(DataType.TEXT) declare tenant: string;

    @HasMany(() => Leaf, { foreignKey: 'tenant', sourceKey: 'tenant', constraints: false })
    declare leaves?: Loaded<Leaf>[];
  }

  @Crud()
  @Table({ tableName: 'papers', timestamps: false })
  class Leaf extends Model {
    @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
    @Column(DataType.TEXT) declare tenant: string;
  }

  /** Only Sequelize makes its records: the constructor sets a field that a getter reads. */
  @Crud()
  @Table({ tableName: 'papers', timestamps: false })
  class Stamp extends Model {
    mark = '>';

    @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;

    @Column({
      type: DataType.TEXT,
      get(this: Stamp) {
        return `${this.mark}${this.getDataValue('title')}`;
      },
    })
    declare title: string;

    @Column(DataType.TEXT) declare tenant: string;
  }

  const database = forSuite(() => TenantDatabase.create(['papers']));
  const site = serveTestApp(() => ({
    models: [Paper, Sheet, Leaf, Stamp],
    database: { url: database.url() },
    engine: { createAll: false },
    bootstrap: {
      logger: new CapturedLog(),
      rls: { settings: (request) => ({ 'app.tenant': request.get('tenant') }) },
    },
  }));

  it('asks with them for records that only Sequelize makes, alone and beside others', async () => {
    for (const include of ['stamps', 'sheets,stamps', 'stamps,sheets']) {
      const { body } = await site.agent
        .get(`/papers?fields=id&include=${include}&stamps.fields=id`)
        .set('tenant', 'tenant 3')
        .expect(200);
      for (const { stamps } of body.items) {
        expect(stamps).to.deep.equal({ items: rowsOf(3).map((id) => ({ id })), has_next: false });
      }
    }
  });

  it('asks for relations of relations with the settings of the request, whoever reads them', async () => {
    const get = () =>
      site.agent
        .get('/papers?fields=id&include=sheets.leaves&sheets.fields=id&sheets.leaves.fields=id')
        .set('tenant', 'tenant 3');
    const without = (await get().expect(200)).text;
    const leaves = rowsOf(3).map((id) => ({ id }));
    const sheets = leaves.map(({ id }) => ({ id, leaves: { items: leaves, has_next: false } }));
    const { items } = JSON.parse(without);
    expect(items).to.deep.equal(rowsOf(3).map((id) => ({ id, sheets: { items: sheets, has_next: false } })));
    const modes: unknown[] = [];
    const look = async () => {
      const rows = await Leaf.sequelize?.query('SHOW transaction_read_only', { type: QueryTypes.SELECT });
      modes.push(rows?.[0]);
    };
    const hooked = await withHook(Leaf, 'afterFind', look, () => get().expect(200));
    expect(hooked.text).to.equal(without);
    expect(modes).to.deep.equal([{ transaction_read_only: 'on' }]);
  });
});
