/** `include`: relations that are answered along with each record, with one statement for each of them. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import {
  AutoIncrement,
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
import { Crud, type CrudContext, crudController, type Id, type ReadQuery } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { relatedStatements, SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

/** A class that is declared later cannot be a type that decorators see. */
type Loaded<M> = M;

@Crud({
  sortAllow: ['code'],
  pageSize: { max: 10 },
  include: { cities: UNGUARDED, 'cities.reviews': UNGUARDED, 'cities.tags': UNGUARDED },
} as object)
@Table({ tableName: 'countries', timestamps: false })
class Country extends Model {
  @PrimaryKey @Column(DataType.CHAR(3)) declare code: string;
  @Column(DataType.TEXT) declare name: string;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
  @HasMany(() => City, 'countryCode') declare cities?: City[];

  @HasOne(() => City, { foreignKey: 'countryCode', as: 'capital', scope: { isCapital: true } })
  declare capital?: Loaded<City>;
}

@Crud({
  sortAllow: ['id', 'name'],
  filterAllow: ['name'],
  include: {
    country: UNGUARDED,
    reviews: { ...UNGUARDED, size: { default: 2, max: 3 } },
    'reviews.author': true,
    tags: UNGUARDED,
    twin: UNGUARDED,
  },
} as object)
@Table({ tableName: 'cities', timestamps: false })
class City extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column({ type: DataType.BOOLEAN, defaultValue: false }) declare isCapital: boolean;

  @ForeignKey(() => Country)
  @Column({ type: DataType.CHAR(3), field: 'country_code' })
  declare countryCode: string | null;

  @BelongsTo(() => Country, 'countryCode') declare country?: Loaded<Country> | null;
  @ForeignKey(() => City) @Column(DataType.INTEGER) declare twinId: number | null;
  @BelongsTo(() => City, 'twinId') declare twin?: Loaded<City> | null;
  @HasMany(() => Review, 'cityId') declare reviews?: Review[];
  @BelongsToMany(() => Tag, { through: () => CityTag }) declare tags?: Tag[];
}

@Crud({ sortAllow: ['rating', 'id'], filterAllow: ['rating'], defaultSort: '-rating' } as object)
@Table({ tableName: 'reviews', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Review extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column(DataType.INTEGER) declare rating: number | null;
  @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @ForeignKey(() => Author) @Column(DataType.UUID) declare authorId: string | null;
  @BelongsTo(() => Author, 'authorId') declare author?: Loaded<Author> | null;
}

@Table({ tableName: 'authors', timestamps: false })
class Author extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column(DataType.TEXT) declare name: string;
}

@Crud()
@Table({ tableName: 'tags', timestamps: false })
class Tag extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare name: string;
}

@Table({ tableName: 'city_tags', timestamps: false })
class CityTag extends Model {
  @PrimaryKey @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @PrimaryKey @ForeignKey(() => Tag) @Column(DataType.TEXT) declare tagName: string;
}

const ANN = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

describe('including relations', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => {
    const bootstrap = { logger: new CapturedLog(), models: [Country, City, Review, Tag] };
    const engine = { logging: sql.record, models: [Country, City, Review, Tag, Author, CityTag] };
    return { models: [Country, City, Review, Tag], bootstrap, engine };
  });

  before(async () => {
    await Country.bulkCreate([
      { code: 'FRA', name: 'France', secret: 'x' },
      { code: 'ITA', name: 'Italy' },
    ] as never);
    await City.bulkCreate([
      { name: 'Paris', countryCode: 'FRA', isCapital: true },
      { name: 'Lyon', countryCode: 'FRA', twinId: 1 },
      { name: 'Rome', countryCode: 'ITA', twinId: 1 },
      { name: 'Atlantis', countryCode: null },
    ] as never);
    await Author.create({ id: ANN, name: 'Ann' } as never);
    await Review.bulkCreate([
      { cityId: 1, rating: 5, authorId: ANN },
      { cityId: 1, rating: 3 },
      { cityId: 1, rating: 4, authorId: ANN },
      { cityId: 2, rating: 1 },
    ] as never);
    await Review.create({ cityId: 2, rating: 9, deletedAt: new Date() } as never);
    await Tag.bulkCreate([{ name: 'old' }, { name: 'warm' }] as never);
    await CityTag.bulkCreate([
      { cityId: 1, tagName: 'old' },
      { cityId: 3, tagName: 'old' },
      { cityId: 3, tagName: 'warm' },
    ] as never);
  });

  const items = async (query: string): Promise<Record<string, unknown>[]> => {
    const { body } = await site.agent.get(`/cities?${query}`).expect(200);
    return body.items;
  };

  it('answers with a record, or null', async () => {
    const [paris, lyon, , atlantis] = await items('fields=name&include=country');
    expect(paris).to.deep.equal({ name: 'Paris', country: { code: 'FRA', name: 'France' } });
    expect(lyon?.['country']).to.deep.equal(paris?.['country']);
    expect(atlantis).to.deep.equal({ name: 'Atlantis', country: null });
  });

  it('answers with some of many, and tells whether there are more', async () => {
    const found = await items('fields=name&include=reviews&reviews.fields=rating');
    expect(found.map((each) => each['reviews'])).to.deep.equal([
      { items: [{ rating: 5 }, { rating: 4 }], has_next: true },
      { items: [{ rating: 1 }], has_next: false },
      { items: [], has_next: false },
      { items: [], has_next: false },
    ]);
    const three = await items(
      'fields=name&include=reviews&reviews.fields=rating&reviews.size=3&reviews.sort=rating',
    );
    expect(three[0]?.['reviews']).to.deep.equal({
      items: [{ rating: 3 }, { rating: 4 }, { rating: 5 }],
      has_next: false,
    });
    const good = await items('fields=name&include=reviews&reviews.fields=rating&reviews.q=rating>4');
    expect(good[0]?.['reviews']).to.deep.equal({ items: [{ rating: 5 }], has_next: false });
  });

  it('answers with relations of relations, of the same table, and over a table in between', async () => {
    const [paris, lyon, rome] = await items(
      'fields=name&include=reviews.author,tags,twin&reviews.fields=rating&twin.fields=name',
    );
    expect(paris).to.deep.equal({
      name: 'Paris',
      reviews: {
        items: [
          { rating: 5, author: { id: ANN, name: 'Ann' } },
          { rating: 4, author: { id: ANN, name: 'Ann' } },
        ],
        has_next: true,
      },
      tags: { items: [{ name: 'old' }], has_next: false },
      twin: null,
    });
    expect(lyon?.['twin']).to.deep.equal({ name: 'Paris' });
    expect(rome?.['tags']).to.deep.equal({ items: [{ name: 'old' }, { name: 'warm' }], has_next: false });
  });

  it('answers with several relations of an included record that are found by the same key', async () => {
    const query = 'include=cities.reviews,cities.tags&cities.fields=name&cities.reviews.fields=rating';
    const { body } = await site.agent.get(`/countries/ITA?${query}`).expect(200);
    expect(body.cities.items).to.deep.equal([
      {
        name: 'Rome',
        reviews: { items: [], has_next: false },
        tags: { items: [{ name: 'old' }, { name: 'warm' }], has_next: false },
      },
    ]);
  });

  it('answers a read with the same', async () => {
    const { body } = await site.agent.get('/cities/1?fields=name&include=country,tags').expect(200);
    expect(body).to.deep.equal({
      name: 'Paris',
      country: { code: 'FRA', name: 'France' },
      tags: { items: [{ name: 'old' }], has_next: false },
    });
  });

  it('has them loaded where an override reads by super', async () => {
    const seen: unknown[] = [];
    const include = { country: UNGUARDED, tags: UNGUARDED };
    class Cities extends crudController(City, { include }) {
      override async read(id: Id, query: ReadQuery, context: CrudContext<City>) {
        const city = await super.read(id, query, context);
        seen.push(
          city.country?.name,
          city.tags?.map(({ name }) => name),
        );
        return city;
      }
    }
    const { agent } = await buildApp({ models: [], controllers: [Cities] });
    const path = '/cities/1?fields=name&include=country,tags';
    expect((await agent.get(path).expect(200)).body).to.deep.equal((await site.agent.get(path)).body);
    expect(seen).to.deep.equal(['France', ['old']]);
  });

  it('takes one statement for each relation', async () => {
    const { statements } = await sql.duringRequest(() => items('include=country,reviews.author'));
    expect(relatedStatements(statements)).to.have.length(3);
  });

  it('refuses what it does not know, and what would be passed over', async () => {
    for (const [query, code, part] of [
      ['include=contry', 'include.unknown', "Did you mean 'country'?"],
      ['include=country,country', 'include.repeated', 'country'],
      ['reviews.size=1', 'include.missing', 'add include=reviews'],
      ['include=reviews&reviews.size=4', 'range', 'from 0 to 3'],
      ['include=reviews&reviews.size=01', 'range', 'from 0 to 3'],
      ['include=reviews&reviews.sort=x', 'sort.unknown-field', 'Sortable'],
      ['include=country&country.fields=secret', 'fields.unknown', 'code, name'],
      ['include=reviews&reviews.q=ratin>4', 'q.unknown-field', "Did you mean 'rating'?"],
    ] as const) {
      const { body } = await site.agent.get(`/cities?${query}`).expect(400);
      expect(JSON.stringify(body), query).to.include(`"${code}"`).and.to.include(part);
    }
  });
});
