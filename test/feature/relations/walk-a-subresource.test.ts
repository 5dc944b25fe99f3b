/** Sub-resources: the list of a resource under a record of another one, `GET /cities/{id}/reviews`. */
import { expect } from 'chai';
import type { Request } from 'express';
import {
  AutoIncrement,
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, EVERYTHING } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

type Loaded<M> = M;
const WORD = { allowNull: false, type: DataType.TEXT };

@Crud({ subresources: { cities: UNGUARDED, namesakes: UNGUARDED } } as object)
@Table({ tableName: 'countries', timestamps: false })
class Country extends Model {
  @PrimaryKey @Column(DataType.CHAR(5)) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
  @HasMany(() => City, { foreignKey: 'countryCode', constraints: false }) declare cities?: City[];

  @HasMany(() => City, { foreignKey: 'name', sourceKey: 'name', constraints: false })
  declare namesakes?: City[];
}

@Crud({
  sortAllow: ['id', 'name'],
  filterAllow: ['name'],
  include: { country: UNGUARDED },
  subresources: {
    reviews: UNGUARDED,
    bestReviews: UNGUARDED,
    tags: UNGUARDED,
    picks: UNGUARDED,
    twins: UNGUARDED,
  },
} as object)
@Table({ tableName: 'cities', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class City extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column(WORD) declare name: string;
  @Column(DataType.TEXT) declare countryCode: string | null;

  @BelongsTo(() => Country, { foreignKey: 'countryCode', constraints: false })
  declare country?: Loaded<Country> | null;

  @ForeignKey(() => City) @Column(DataType.BIGINT) declare twinId: string | null;
  @HasMany(() => City, 'twinId') declare twins?: City[];
  @HasMany(() => Review, { foreignKey: 'cityId', constraints: false }) declare reviews?: Review[];

  @HasMany(() => Review, {
    foreignKey: 'cityId',
    scope: { rating: 5 },
    constraints: false,
  })
  declare bestReviews?: Review[];

  @BelongsToMany(() => Tag, { through: () => CityTag }) declare tags?: Tag[];

  @BelongsToMany(() => Review, {
    through: () => CityPick,
    foreignKey: 'cityId',
    otherKey: 'reviewId',
    constraints: false,
  })
  declare picks?: Review[];
}

@Crud({
  pagination: 'cursor',
  pageSize: { default: 2, max: 4 },
  sortAllow: ['rating', 'id'],
  filterAllow: ['rating', 'cityId'],
  defaultSort: '-rating',
} as object)
@Table({ tableName: 'reviews', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Review extends NumberedRow {
  @Column(DataType.INTEGER) declare rating: number | null;
  @Column({ type: DataType.INTEGER, field: 'city_id' }) declare cityId: number;
}

@Crud({ subresources: { cities: UNGUARDED } } as object)
@Table({ tableName: 'tags', timestamps: false })
class Tag extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare name: string;
  @BelongsToMany(() => City, { through: () => CityTag }) declare cities?: City[];
}

@Crud({ scope: { kind: (request: Request) => request.get('x-kind') ?? EVERYTHING } } as object)
@Table({ tableName: 'city_tags', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class CityTag extends Model {
  @PrimaryKey @ForeignKey(() => City) @Column(DataType.BIGINT) declare cityId: string;
  @PrimaryKey @ForeignKey(() => Tag) @Column(DataType.TEXT) declare tagName: string;
  @Column(DataType.TEXT) declare kind: string | null;
}

/** A join table whose two columns differ in size. */
@Table({ tableName: 'city_picks', timestamps: false })
class CityPick extends Model {
  @PrimaryKey @Column(DataType.BIGINT) declare cityId: string;
  @PrimaryKey @Column(DataType.INTEGER) declare reviewId: number;
}

/** A model whose key becomes a CITEXT: a path may have another case than the row. */
@Crud({ subresources: { ports: UNGUARDED } } as object)
@Table({ tableName: 'harbours', timestamps: false })
class Harbour extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare name: string;
  @HasMany(() => Port, { foreignKey: 'harbour', constraints: false }) declare ports?: Port[];
}

@Crud()
@Table({ tableName: 'ports', timestamps: false })
class Port extends KeyedRow {
  @Column(DataType.TEXT) declare harbour: string;
}

const tenantId = (request: Request) => request.get('x-tenant');

@Crud({
  scope: { tenantId },
  can: { read: (request: Request) => request.get('x-role') !== 'guest' },
  fields: { motto: { read: (request: Request) => request.get('x-role') === 'owner' } },
  subresources: { tasks: UNGUARDED, namesakes: UNGUARDED, echoes: UNGUARDED },
} as object)
@Table({ tableName: 'teams', timestamps: false })
class Team extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column(WORD) declare tenantId: string;
  @HasMany(() => Task, 'teamId') declare tasks?: Task[];
  @Column(DataType.TEXT) declare motto: string | null;

  @HasMany(() => Task, { foreignKey: 'tenantId', sourceKey: 'motto', constraints: false })
  declare namesakes?: Task[];

  @HasMany(() => Task, { foreignKey: 'secret', sourceKey: 'tenantId', constraints: false })
  declare echoes?: Task[];
}

@Crud({
  pagination: 'cursor',
  scope: { tenantId },
  can: { list: (request: Request) => request.get('x-role') !== 'reader' },
  fields: {
    secret: { read: (request: Request) => request.get('x-role') === 'owner' },
    teamId: { read: (request: Request) => request.get('x-role') !== 'visitor' },
  },
} as object)
@Table({ tableName: 'tasks', timestamps: false })
class Task extends KeyedRow {
  @Column(WORD) declare tenantId: string;
  @Column(DataType.TEXT) declare secret: string | null;
  @ForeignKey(() => Team) @Column(DataType.UUID) declare teamId: string;
}

const RED = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const BLUE = '9c858901-8a57-4791-81fe-4c455b099bc9';
const MODELS = [Country, City, Review, Tag, Team, Task, Harbour, Port];

interface Envelope {
  readonly items: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly [name: string]: unknown;
}

describe('[R26] walking a sub-resource', () => {
  const site = serveTestApp(() => {
    const engine = { models: [...MODELS, CityTag, CityPick] };
    return { models: MODELS, bootstrap: { logger: new CapturedLog() }, engine };
  });

  before(async () => {
    const { sequelize } = site.engine;
    await sequelize.query('CREATE EXTENSION citext; ALTER TABLE harbours ALTER name TYPE citext');
    await Harbour.create({ name: 'Brest' } as never);
    await Port.bulkCreate([
      { id: 1, harbour: 'Brest' },
      { id: 2, harbour: 'brest' },
    ] as never);
    await Country.bulkCreate([
      { code: 'F/ R', name: 'Lyon' },
      { code: 'ITA', name: null },
    ] as never);
    await City.bulkCreate([
      { name: 'Paris', countryCode: 'F/ R' },
      { name: 'Lyon', countryCode: 'F/ R', twinId: '1' },
      { name: 'Rome', countryCode: 'ITA', twinId: '1' },
      { name: 'Brest', countryCode: 'F/ R' },
      { name: 'Gone', countryCode: 'F/ R', twinId: '1', deletedAt: new Date() },
      { id: '99999999999', name: 'Far', countryCode: null },
    ] as never);
    // The rows of two cities alternate in every order.
    const ratings = [5, 5, 3, null, 4, 5, null, 1];
    await Review.bulkCreate(
      ratings.flatMap((rating) => [
        { cityId: 1, rating },
        { cityId: 2, rating },
      ]) as never,
    );
    await Review.create({ cityId: 1, rating: 9, deletedAt: new Date() } as never);
    await Review.create({ cityId: 5, rating: 9 } as never);
    await Tag.bulkCreate([{ name: 'old' }, { name: 'warm' }, { name: 'wet' }] as never);
    await CityTag.bulkCreate([
      { cityId: 1, tagName: 'old' },
      { cityId: 3, tagName: 'old' },
      { cityId: 3, tagName: 'warm', kind: 'a' },
      { cityId: 3, tagName: 'wet', deletedAt: new Date() },
      { cityId: 5, tagName: 'old' },
    ] as never);
    await Team.bulkCreate([
      { id: RED, tenantId: 'a', motto: 'a' },
      { id: BLUE, tenantId: 'b' },
    ] as never);
    await Task.bulkCreate([
      { id: 1, tenantId: 'a', teamId: RED, secret: 'x' },
      { id: 2, tenantId: 'b', teamId: RED, secret: 'y' },
      { id: 3, tenantId: 'b', teamId: BLUE, secret: 'z' },
    ] as never);
  });

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Envelope> =>
    (await site.agent.get(path).set(headers).expect(200)).body;
  const refused = async (path: string, status: number, headers: Record<string, string> = {}) =>
    (await site.agent.get(path).set(headers).expect(status)).text;
  const names = ({ items }: Envelope) => items.map(({ name }) => name);

  it('answers with the envelope and the parameters of the list', async () => {
    const path = '/countries/F%2F%20R/cities';
    expect(await get(`${path}?sort=name&size=2&fields=name`)).to.deep.equal({
      items: [{ name: 'Brest' }, { name: 'Lyon' }],
      total: 3,
      page: 1,
      size: 2,
      pages: 2,
      has_next: true,
      has_prev: false,
    });
    const second = await get(`${path}?sort=name&sort[]=id&size=2&page=2&fields[]=name`);
    expect(second).to.include({ total: 3, page: 2, has_next: false, has_prev: true });
    expect(names(second)).to.deep.equal(['Paris']);
    expect(names(await get(`${path}?q=name=like=*o*`))).to.deep.equal(['Lyon']);
    expect(await get(`${path}?page=9`)).to.include({ total: 3, page: 9, has_next: false });
    const [paris] = (await get(`${path}?fields=name&include=country&country.fields=code`)).items;
    expect(paris).to.deep.equal({ name: 'Paris', country: { code: 'F/ R' } });
  });

  it('takes a cursor under its own parent and relation only', async () => {
    const cursor = (await get('/cities/1/best-reviews')).next_cursor;
    expect((await get(`/cities/1/best-reviews?after=${cursor}`)).items).to.have.length(1);
    const plain = (await get('/reviews')).next_cursor;
    for (const path of [
      `/cities/2/best-reviews?after=${cursor}`,
      `/cities/1/reviews?after=${cursor}`,
      `/reviews?after=${cursor}`,
      `/cities/1/reviews?after=${plain}`,
      `/cities/1/best-reviews?after=${cursor}&sort=id`,
    ]) {
      expect(await refused(path, 400), path).to.include('cursor.mismatch');
    }
  });

  it('lists rows over a table in between, those of the same table, and those that an association asks for', async () => {
    expect(names(await get('/cities/3/tags'))).to.deep.equal(['old', 'warm']);
    expect(names(await get('/cities/3/tags', { 'x-kind': 'a' }))).to.deep.equal(['warm']);
    expect(await get('/cities/1/tags', { 'x-kind': 'a' })).to.include({ total: 0 });
    expect(await get('/tags/old/cities')).to.include({ total: 2 });
    expect(names(await get('/cities/1/twins'))).to.deep.equal(['Lyon', 'Rome']);
    expect(await get('/cities/3/twins')).to.include({ total: 0, pages: 0, has_next: false });
    const best = await get('/cities/1/best-reviews?size=4');
    expect(best.items.map(({ rating }) => rating)).to.deep.equal([5, 5, 5]);
  });

  it('finds rows by another key of the parent', async () => {
    expect(names(await get('/countries/F%2F%20R/namesakes'))).to.deep.equal(['Lyon']);
    expect(await get('/countries/ITA/namesakes?size=7')).to.deep.equal({
      items: [],
      total: 0,
      page: 1,
      size: 7,
      pages: 0,
      has_next: false,
      has_prev: false,
    });
  });

  it('tells texts apart by the blanks at their end', async () => {
    const country = await Country.create({ code: 'BLANK', name: 'Lyon ' } as never);
    try {
      expect(names(await get('/countries/BLANK/namesakes'))).to.deep.equal([]);
    } finally {
      await country.destroy();
    }
  });

  it('finds rows by the key of the row, however the path writes it', async () => {
    for (const name of ['Brest', 'brest', 'BREST']) {
      expect(await get(`/harbours/${name}/ports`)).to.deep.include({ items: [{ id: 1, harbour: 'Brest' }] });
    }
  });

  it('has rows for the least and the greatest key that their column can have', async () => {
    const keys = ['-2147483649', '-2147483648', '2147483647', '2147483648'];
    await City.bulkCreate(keys.map((id) => ({ id, name: 'End', countryCode: null })) as never);
    const reviews = await Review.bulkCreate(
      keys.slice(1, 3).map((cityId) => ({ cityId, rating: 2 })) as never,
    );
    try {
      const found = await Promise.all(keys.map((id) => get(`/cities/${id}/reviews`)));
      const cities = found.map(({ items }) => items.map(({ cityId }) => cityId));
      expect(cities).to.deep.equal([[], [-2147483648], [2147483647], []]);
    } finally {
      await Review.destroy({ where: { id: reviews.map(({ id }) => id) }, force: true });
      await City.destroy({ where: { id: keys }, force: true });
    }
  });

  it('has the rows over a table in between whose column can have the key, though theirs could not', async () => {
    await CityPick.create({ cityId: '99999999999', reviewId: 3 } as never);
    const { items } = await get('/cities/99999999999/picks');
    expect(items.map(({ id }) => id)).to.deep.equal([3]);
  });

  it('answers with what the database says of a read of the parent', async () => {
    const { sequelize } = site.engine;
    await sequelize.query(`
      CREATE FUNCTION busy() RETURNS boolean LANGUAGE plpgsql AS $f$ BEGIN
        RAISE 'busy' USING ERRCODE = '55P03';
      END $f$;
      ALTER TABLE harbours RENAME TO quays;
      CREATE VIEW harbours AS SELECT * FROM quays WHERE busy()`);
    try {
      const own = await refused('/harbours/Brest', 503);
      expect(await refused('/harbours/Brest/ports', 503)).to.equal(own);
    } finally {
      await sequelize.query('DROP VIEW harbours; ALTER TABLE quays RENAME TO harbours');
    }
  });

  it('is missing where the parent is, with the body of a read of it', async () => {
    for (const [id, status] of [
      ['77', 404],
      ['5', 404],
      ['99999999999999999999', 404],
      ['x', 400],
      ['01', 400],
    ] as const) {
      for (const relation of ['reviews', 'tags', 'twins']) {
        const own = await refused(`/cities/${id}`, status);
        expect(await refused(`/cities/${id}/${relation}`, status)).to.equal(own);
      }
    }
    expect(await refused('/cities/77/reviews?siz=1', 400)).to.include("Did you mean 'size'?");
    expect(await refused('/countries/x%00/cities', 400)).to.equal(await refused('/countries/x%00', 400));
  });

  it('says what is wrong with a parameter as the list does', async () => {
    for (const query of [
      'siz=1',
      'size=5',
      'sort=ratng',
      'q=ratin>4',
      'fields=x',
      'after=x',
      'page=1',
      'q=rating',
    ]) {
      expect(await refused(`/cities/1/reviews?${query}`, 400)).to.equal(
        await refused(`/reviews?${query}`, 400),
      );
    }
  });

  it('shows what the request may see of both', async () => {
    const a = { 'x-tenant': 'a' };
    expect((await get(`/teams/${RED}/tasks`, a)).items).to.deep.equal([
      { id: 1, tenantId: 'a', teamId: RED },
    ]);
    const owned = await get(`/teams/${RED.toUpperCase()}/tasks`, { ...a, 'x-role': 'owner' });
    expect(owned.items).to.deep.equal([{ id: 1, tenantId: 'a', secret: 'x', teamId: RED }]);
    expect(await refused(`/teams/${RED}/tasks?fields=secret`, 400, a)).to.include('fields.unknown');
    expect(await refused(`/teams/${BLUE}/tasks`, 404, a)).to.equal(await refused(`/teams/${BLUE}`, 404, a));
    expect(await refused(`/teams/${RED}/tasks`, 403)).to.equal(await refused(`/teams/${RED}`, 403));
    await refused(`/teams/${RED}/tasks`, 403, { ...a, 'x-role': 'guest' });
    await refused(`/teams/${RED}/tasks`, 403, { ...a, 'x-role': 'reader' });
    // The list would reveal the team of each task, which the tasks themselves do not.
    expect(await refused(`/teams/${RED}/tasks`, 403, { ...a, 'x-role': 'visitor' })).to.equal(
      '{"detail":"This request may not list tasks of Team."}',
    );
  });

  it('is for requests that may read the keys by which the rows belong to the record', async () => {
    const a = { 'x-tenant': 'a' };
    const owner = { ...a, 'x-role': 'owner' };
    expect((await get(`/teams/${RED}/namesakes?fields=id`, owner)).items).to.deep.equal([{ id: 1 }]);
    expect((await get(`/teams/${RED}/echoes`, owner)).items).to.deep.equal([]);
    for (const relation of ['namesakes', 'echoes']) {
      const problem = await refused(`/teams/${RED}/${relation}`, 403, a);
      expect(problem).to.equal(await refused(`/teams/${BLUE}/${relation}`, 403, a));
    }
  });

  it('answers HEAD and OPTIONS, and no other method', async () => {
    const { headers } = await site.agent.head('/cities/1/reviews').expect(200);
    expect(Number(headers['content-length'])).to.be.greaterThan(100);
    await site.agent.head('/cities/77/reviews').expect(404);
    await site.agent.options('/cities/1/reviews').expect(204).expect('Allow', 'GET, HEAD, OPTIONS');
    const refusal = site.agent.post('/cities/1/reviews').send({ rating: 1 });
    await refusal.expect(405).expect('Allow', 'GET, HEAD, OPTIONS');
  });

  it('is a route of the application, and an operation of its document', () => {
    const route = site.crud.routes.find(({ path }) => path === '/cities/:id/best-reviews');
    expect(route).to.include({
      method: 'GET',
      resource: 'Review',
      operation: 'list',
      handler: 'subresources.bestReviews',
    });
    const { paths } = site.crud.openapi();
    const operation = paths['/cities/{id}/best-reviews']?.get;
    const list = paths['/reviews']?.get;
    expect(operation?.operationId).to.equal('listCityBestReviews');
    expect(operation?.parameters?.slice(1)).to.deep.equal(list?.parameters);
    expect(operation?.responses['200']).to.deep.equal(list?.responses['200']);
    expect(operation?.responses).to.have.property('404');
    expect(paths['/teams/{id}/tasks']?.get?.responses).to.have.property('403');
    // Rules of the table in between.
    expect(paths['/tags/{id}/cities']?.get?.responses).to.have.property('403');
    expect(paths['/countries/{id}/cities']?.get?.responses).to.not.have.property('403');
  });
});
