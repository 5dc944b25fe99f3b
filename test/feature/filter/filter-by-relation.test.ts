/** `q` with relations: attributes behind a relation to one record, and conditions on some or none of many. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, type ListQuery, Repository } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

@Table({ tableName: 'continents', timestamps: false })
class Continent extends Model {
  @PrimaryKey @Column(DataType.CHAR(2)) declare code: string;
  @Column(DataType.TEXT) declare name: string;
}

@Crud<Country>({ sortAllow: ['code'], filterAllow: ['name'] })
@Table({ tableName: 'countries', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Country extends Model {
  @PrimaryKey @Column(DataType.CHAR(3)) declare code: string;
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare region: string | null;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
  @ForeignKey(() => Continent) @Column(DataType.CHAR(2)) declare continentCode: string | null;
  @BelongsTo(() => Continent, 'continentCode') declare continent?: Loaded<Continent> | null;
}

const CITIES = {
  sortAllow: ['name', 'id'],
  defaultSort: 'id',
  include: {
    country: UNGUARDED,
    former: UNGUARDED,
    twin: UNGUARDED,
    twins: { ...UNGUARDED, size: { max: 5 } },
    reviews: { ...UNGUARDED, size: { max: 5 } },
    review: UNGUARDED,
    tags: { ...UNGUARDED, size: { max: 5 } },
  },
  filterAllow: {
    id: true,
    name: true,
    'country.name': true,
    'country.region': true,
    'country.continent.name': true,
    'former.name': ['=='],
    'twin.name': true,
    reviews: { rating: true, text: true, 'author.name': true, cityId: ['=='] },
    'review.rating': true,
    'review.text': true,
    tags: ['name'],
    twins: [],
  },
} as const;

@Crud<City>(CITIES)
@Table({ tableName: 'cities', timestamps: false })
class City extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;

  // Some countries are not there.
  @ForeignKey(() => Country)
  @Column({ type: DataType.CHAR(3), field: 'country_code' })
  declare countryCode: string | null;

  @BelongsTo(() => Country, { foreignKey: 'countryCode', constraints: false })
  declare country?: Loaded<Country> | null;

  @Column(DataType.CHAR(3)) declare formerCode: string | null;

  @BelongsTo(() => Country, { foreignKey: 'formerCode', constraints: false })
  declare former?: Loaded<Country> | null;

  @Column(DataType.INTEGER) declare twinId: number | null;
  @BelongsTo(() => City, 'twinId') declare twin?: Loaded<City> | null;
  @HasMany(() => City, 'twinId') declare twins?: City[];
  @HasMany(() => Review, 'cityId') declare reviews?: Review[];
  @HasOne(() => Review, 'cityId') declare review?: Loaded<Review> | null;
  @BelongsToMany(() => Tag, { through: () => CityTag }) declare tags?: Tag[];
}

@Crud<Review>({ sortAllow: ['id'], filterAllow: ['rating', 'author.name'] })
@Table({ tableName: 'reviews', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Review extends NumberedRow {
  @Column(DataType.INTEGER) declare rating: number | null;
  @Column(DataType.TEXT) declare text: string | null;
  @Column(DataType.INTEGER) declare cityId: number;
  @ForeignKey(() => Author) @Column(DataType.INTEGER) declare authorId: number | null;
  @BelongsTo(() => Author, 'authorId') declare author?: Loaded<Author> | null;
}

@Table({ tableName: 'authors', timestamps: false })
class Author extends KeyedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud()
@Table({ tableName: 'tags', timestamps: false })
class Tag extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare name: string;
}

@Table({ tableName: 'city_tags', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class CityTag extends Model {
  @PrimaryKey @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @PrimaryKey @ForeignKey(() => Tag) @Column(DataType.TEXT) declare tagName: string;
}

/** The same names, paged by cursor. */
@Crud<Town>({
  prefix: '/towns',
  pagination: 'cursor',
  include: { reviews: { ...UNGUARDED, size: { max: 5 } } },
  filterAllow: { name: true, reviews: true },
})
@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @HasMany(() => Review, { foreignKey: 'cityId', constraints: false }) declare reviews?: Review[];
}

/** Its name is as long as a name of PostgreSQL can be. */
@Crud<Branch>({
  prefix: '/branches',
  pageSize: { max: 20 },
  include: {
    ...{ parent: UNGUARDED, 'parent.parent': UNGUARDED },
    ...{ children: UNGUARDED, 'children.parent': UNGUARDED },
  },
  filterAllow: { 'parent.name': true, 'parent.parent.name': true, children: ['name', 'parent.name'] },
})
@Table({ tableName: 'branches', modelName: 'B'.repeat(63), timestamps: false })
class Branch extends KeyedRow {
  @Column(DataType.TEXT) declare name: string;
  @ForeignKey(() => Branch) @Column(DataType.INTEGER) declare parentId: number | null;
  @BelongsTo(() => Branch, 'parentId') declare parent?: Loaded<Branch> | null;
  @HasMany(() => Branch, 'parentId') declare children?: Branch[];
}

/** The query that an override passes on. */
let passed: ListQuery | undefined;

class TownController extends crudController(Town) {
  override list(query: ListQuery, context: CrudContext<Town>) {
    passed = query;
    return super.list(query, context);
  }
}

const MODELS = [Country, City, Review, Tag, Town, Branch];

const ALL = 'Paris Nice Rome Tokyo Atlantis Dangling Deleted';

describe('[R24] a filter by relations', () => {
  const site = serveTestApp(() => {
    const bootstrap = { logger: new CapturedLog(), models: MODELS, controllers: [TownController] };
    const tables = [Continent, Country, City, Review, Tag, Author, CityTag, Town, Branch];
    const engine = { models: tables };
    return { models: MODELS, bootstrap, engine };
  });

  before(async () => {
    await Continent.bulkCreate([
      { code: 'EU', name: 'Europe' },
      { code: 'AS', name: 'Asia' },
    ] as never);
    await Country.bulkCreate([
      { code: 'FRA', name: 'France', region: 'West', continentCode: 'EU', secret: 'x' },
      { code: 'ITA', name: 'Italy', region: 'South', continentCode: 'EU' },
      { code: 'JPN', name: 'Japan', region: null, continentCode: 'AS' },
      { code: 'SUN', name: 'Gone', region: 'East', deletedAt: new Date() },
    ] as never);
    await City.bulkCreate([
      { name: 'Paris', countryCode: 'FRA' },
      { name: 'Nice', countryCode: 'FRA', formerCode: 'ITA', twinId: 1 },
      { name: 'Rome', countryCode: 'ITA', twinId: 1 },
      { name: 'Tokyo', countryCode: 'JPN' },
      { name: 'Atlantis', countryCode: null },
      { name: 'Dangling', countryCode: 'XXX' },
      { name: 'Deleted', countryCode: 'SUN' },
    ] as never);
    await Town.bulkCreate(ALL.split(' ').map((name) => ({ name })) as never);
    await Author.bulkCreate([
      { id: 1, name: 'Ann' },
      { id: 2, name: 'Bob' },
    ] as never);
    await Review.bulkCreate([
      { cityId: 1, rating: 5, authorId: 2, text: 'good' },
      { cityId: 1, rating: 2, authorId: 1, text: 'bad' },
      { cityId: 2, rating: 4, authorId: 1 },
      { cityId: 3, rating: null, authorId: null },
      { cityId: 4, rating: 1, deletedAt: new Date() },
      { cityId: 5, rating: 1, authorId: 1 },
    ] as never);
    await Tag.bulkCreate([{ name: 'old' }, { name: 'warm' }] as never);
    await CityTag.bulkCreate([
      { cityId: 1, tagName: 'old' },
      { cityId: 2, tagName: 'warm' },
      { cityId: 3, tagName: 'old' },
      { cityId: 3, tagName: 'warm', deletedAt: new Date() },
    ] as never);
  });

  const get = (path: string, q: string, more = '') =>
    site.agent.get(`/${path}?q=${encodeURIComponent(q)}${more}`);
  const names = async (q: string): Promise<string> => {
    const { body } = await get('cities', q, '&fields=name').expect(200);
    expect(body.total).to.equal(body.items.length);
    return body.items.map(({ name }: { name: string }) => name).join(' ');
  };

  for (const [what, filters] of Object.entries({
    'of one record': {
      'country.region==West': 'Paris Nice',
      'country.name=in=(Italy,Japan)': 'Rome Tokyo',
      'country.region==West,name==Rome': 'Paris Nice Rome',
      'country.region==West;name==Nice': 'Nice',
    },
    'of one record, where a missing, deleted or unset one matches nothing': {
      'country.region!=West': 'Rome',
      'country.region=out=(West)': 'Rome',
      'country.name!=x': 'Paris Nice Rome Tokyo',
      'country.region=isnull=true': 'Tokyo',
      'country.region==East': '',
    },
    'whether there is one record': {
      'country=isnull=true': 'Atlantis Dangling Deleted',
      'country=isnull=false': 'Paris Nice Rome Tokyo',
      'country=null=true;name!=Deleted': 'Atlantis Dangling',
    },
    'of one record where there are several, on any of them, however it is written': {
      'review.rating==5': 'Paris',
      'review.rating==2': 'Paris',
      'review.rating==5;review.text==bad': 'Paris',
      '(review.rating==5,name==x);review.text==bad': 'Paris',
    },
    'over two relations': {
      'country.continent.name==Europe': 'Paris Nice Rome',
      'country.continent.name!=Europe': 'Tokyo',
      'country.continent=isnull=true': '',
    },
    'over two relations to one table': {
      'country.name==France;former.name==Italy': 'Nice',
      'country.name==Italy;former.name==Italy': '',
    },
    'over a relation to the same table': {
      'twin.name==Paris': 'Nice Rome',
      'twins=isempty=false': 'Paris',
      'twins=isempty=true;twin=isnull=true': 'Tokyo Atlantis Dangling Deleted',
    },
    'on one of many records': {
      'reviews=any=(rating>=4)': 'Paris Nice',
      'reviews=any=(rating>=4;author.name==Ann)': 'Nice',
      'reviews=any=(rating>=4);reviews=any=(author.name==Ann)': 'Paris Nice',
      'reviews=any=(text=isnull=true)': 'Nice Rome Atlantis',
      'reviews=any=(author=isnull=true)': 'Rome',
      'reviews=any=((rating==5,rating==1),author.name==nobody)': 'Paris Atlantis',
    },
    'on none of many records, among which NULL is not less than anything': {
      'reviews=none=(rating<3)': 'Nice Rome Tokyo Dangling Deleted',
      'reviews=none=(rating>=3)': 'Rome Tokyo Atlantis Dangling Deleted',
      'reviews=none=(author.name==Ann);reviews=isempty=false': 'Rome',
    },
    'whether there is any of many records that is not deleted': {
      'reviews=isempty=true': 'Tokyo Dangling Deleted',
      'reviews=isempty=false': 'Paris Nice Rome Atlantis',
    },
    'over a table in between, without its deleted rows': {
      'tags=any=(name==old)': 'Paris Rome',
      'tags=any=(name==warm)': 'Nice',
      'tags=none=(name==warm)': 'Paris Rome Tokyo Atlantis Dangling Deleted',
      'tags=isempty=true': 'Tokyo Atlantis Dangling Deleted',
    },
    'joined in any way': {
      'country.region==West,reviews=any=(rating==1)': 'Paris Nice Atlantis',
      '(country.region==South,country.region==West);(tags=isempty=true,reviews=any=(rating==5))': 'Paris',
      'reviews=any=(rating==5),reviews=any=(rating==4),reviews=isempty=true':
        'Paris Nice Tokyo Dangling Deleted',
      'reviews=none=(rating==5);reviews=none=(rating==4);reviews=none=(rating==1)':
        'Rome Tokyo Dangling Deleted',
      'reviews=isempty=true,reviews=isempty=false': ALL,
    },
  })) {
    it(`finds records by a condition ${what}`, async () => {
      for (const [q, expected] of Object.entries(filters)) expect(await names(q), q).to.equal(expected);
    });
  }

  it('finds records of the same table, whatever the length of its name', async () => {
    await Branch.bulkCreate([
      { id: 1, name: 'root' },
      { id: 2, name: 'child', parentId: 1 },
      { id: 3, name: 'leaf', parentId: 2 },
    ] as never);
    for (const [q, found] of Object.entries({
      'parent.name==root': [2],
      'parent.parent.name==root': [3],
      'children=any=(name==leaf)': [2],
      'children=any=(parent.name==root)': [1],
      'children=isempty=true': [3],
    })) {
      const { body } = await get('branches', q).expect(200);
      const ids = body.items.map(({ id }: Branch) => id);
      expect(ids, q).to.deep.equal(found);
    }
  });

  it('works for pages by cursor, whose cursors belong to it', async () => {
    const q = 'reviews=any=(rating>=1)';
    const first = await get('towns', q, '&size=2').expect(200);
    expect(first.body.items.map(({ name }: Town) => name)).to.deep.equal(['Paris', 'Nice']);
    const after = `&size=2&after=${first.body.next_cursor}`;
    const second = await get('towns', q, after).expect(200);
    expect(second.body.items.map(({ name }: Town) => name)).to.deep.equal(['Atlantis']);
    for (const other of ['reviews=any=(rating>=2)', 'reviews=none=(rating>=1)', 'reviews=isempty=false']) {
      const { body } = await get('towns', other, after).expect(400);
      expect(body.errors[0].code, other).to.equal('cursor.mismatch');
    }
  });

  it('works in a repository', async () => {
    // `true` means the attributes that the other model allows itself.
    await get('towns', 'reviews=any=(author.name==Ann)').expect(400);
    await get('towns', 'reviews=none=(rating>=1);name!=Rome').expect(200);
    const { filter = null } = passed ?? {};
    const page = await new Repository(Town).page({ filter, page: 1, size: 2 });
    expect([page.total, page.items.map(({ name }) => name)]).to.deep.equal([3, ['Tokyo', 'Dangling']]);
  });

  it('chooses what is included, by the filters of the other model', async () => {
    const path = '/cities/1?fields=name&include=reviews&reviews.fields=rating&reviews.q=';
    const { body } = await site.agent.get(`${path}author.name==Ann`).expect(200);
    expect(body.reviews.items).to.deep.equal([{ rating: 2 }]);
    const { body: problem } = await site.agent.get(`${path}author.nam==Ann`).expect(400);
    expect(problem.errors[0]).to.include({ parameter: 'reviews.q', code: 'q.unknown-field' });
  });

  it('does not tell a hidden attribute from none', async () => {
    for (const [made, hidden, typo] of [
      [(name: string) => `country.${name}==x`, 'secret', 'secre1'],
      [(name: string) => `reviews=any=(${name}==x)`, 'deletedAt', 'deleted1t'],
    ] as const) {
      const answers = [];
      for (const name of [hidden, typo])
        answers.push((await get('cities', made(name)).expect(400)).text.replaceAll(name, 'NAME'));
      expect(answers[0]).to.equal(answers[1]).and.to.include('q.unknown-field');
    }
  });

  it('is described with examples that work', async () => {
    const { body } = await site.agent.get('/openapi.json').expect(200);
    const { parameters } = body.paths['/cities'].get;
    const { description, schema } = parameters.find(({ name }: { name: string }) => name === 'q');
    expect(description).to.include('| `country.region` | string |').and.to.include('=isempty=');
    expect(description).to.include('| `author.name` in `reviews=any=(…)` | string |');
    expect(schema.examples.slice(-2)).to.deep.equal(['country.name==text', 'reviews=any=(rating==1)']);
    for (const example of schema.examples) await get('cities', example).expect(200);
  });
});
