/** `reviews.count`: how many rows each record has behind a relation; and where included rows end, and in which order they are. */

import { expect } from 'chai';
import type { Request } from 'express';
import type { FindOptions } from 'sequelize';
import {
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
import { Crud, EVERYTHING, filter, type ModelClass } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

const CAP = 3;
/** Asynchronous, as a rule is that queries a database. */
const visible = async (request: Request) => (request.get('sees') ? filter`rating<5` : EVERYTHING);

@Crud({
  include: {
    reviews: { ...UNGUARDED, size: { default: 2, max: 4 }, count: { cap: CAP } },
    tags: { ...UNGUARDED, count: { default: 'exact', allow: ['exact'] } },
    plain: UNGUARDED,
  },
})
@Table({ tableName: 'cities', timestamps: false })
class City extends KeyedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare code: string | null;
  @HasMany(() => Review, { foreignKey: 'cityCode', sourceKey: 'code' }) declare reviews?: Review[];
  @HasMany(() => Review, { foreignKey: 'cityCode', sourceKey: 'code' }) declare plain?: Review[];
  @BelongsToMany(() => Tag, { through: () => CityTag }) declare tags?: Tag[];
}

@Crud({ sortAllow: ['id'], filterAllow: ['rating'], visible } as object)
@Table({ tableName: 'reviews', timestamps: true, paranoid: true, createdAt: false, updatedAt: false })
class Review extends NumberedRow {
  @Column(DataType.INTEGER) declare rating: number;
  @Column(DataType.TEXT) declare cityCode: string | null;
}

@Crud()
@Table({ tableName: 'tags', timestamps: false })
class Tag extends KeyedRow {}

@Table({ tableName: 'city_tags', timestamps: false })
class CityTag extends Model {
  @PrimaryKey @ForeignKey(() => City) @Column(DataType.INTEGER) declare cityId: number;
  @PrimaryKey @ForeignKey(() => Tag) @Column(DataType.INTEGER) declare tagId: number;
}

describe('counting related rows', () => {
  const site = serveTestApp(() => {
    const models = [City, Review, Tag];
    return {
      models,
      bootstrap: { logger: new CapturedLog() },
      engine: { models: [...models, CityTag] },
    };
  });

  before(async () => {
    // Each city has as many reviews as its number says, and one that is deleted; two cities have no code.
    await City.bulkCreate([0, 1, 2, 3, 4].map((id) => ({ id, code: `c${id}` })));
    await City.bulkCreate([
      { id: 8, code: null },
      { id: 9, code: null },
    ]);
    const reviews = [1, 2, 3, 4].flatMap((id) =>
      Array.from({ length: id + 1 }, (_, index) => ({ cityCode: `c${id}`, rating: index + 1 })),
    );
    await Review.bulkCreate([...reviews, { cityCode: null, rating: 1 }]);
    await Review.destroy({ where: { rating: [1], cityCode: ['c1', 'c2', 'c3', 'c4'] } });
    await Tag.bulkCreate(Array.from({ length: 12 }, (_, index) => ({ id: index })));
    await CityTag.bulkCreate(Array.from({ length: 12 }, (_, index) => ({ cityId: 1, tagId: index })));
  });

  /** The number of items of each city, and the rest of the envelope. */
  const ask = async (query: string, name = 'reviews', headers: Record<string, string> = {}) => {
    const { body } = await site.agent.get(`/cities?${query}`).set(headers).expect(200);
    return body.items.map((city: Record<string, { items: unknown[] } & Record<string, unknown>>) => {
      const { items, has_next, total, total_is } = city[name] as never as Record<string, unknown[]>;
      return `${items?.length} ${has_next} ${total} ${total_is}`;
    });
  };

  it('has the keys of the total beside the items, where the option is set', async () => {
    const { text } = await site.agent
      .get('/cities/1?fields=id&include=reviews,plain&reviews.fields=rating&plain.fields=rating')
      .expect(200);
    expect(text).to.equal(
      '{"id":1,"reviews":{"items":[{"rating":2}],"has_next":false,"total":1,"total_is":"exact"},' +
        '"plain":{"items":[{"rating":2}],"has_next":false}}',
    );
  });

  for (const [query, ...counted] of [
    ['', '1 false 1 exact', '2 false 2 exact', '2 true null none', '2 true null none'],
    ['&reviews.count=exact', '1 false 1 exact', '2 false 2 exact', '2 true 3 exact', '2 true 4 exact'],
    ['&reviews.count=capped', '1 false 1 exact', '2 false 2 exact', '2 true 3 exact', '2 true 3 at_least'],
    ['&reviews.size=0&reviews.count=exact', ...[1, 2, 3, 4].map((total) => `0 true ${total} exact`)],
    [
      '&reviews.size=0&reviews.count=capped',
      ...[1, 2, 3].map((total) => `0 true ${total} exact`),
      '0 true 3 at_least',
    ],
    ['&reviews.size=0&reviews.count=none', ...Array(4).fill('0 true null none')],
  ] as readonly (readonly string[])[]) {
    it(`counts as it is asked to, and tells what the rows tell: include=reviews${query}`, async () => {
      const none = '0 false 0 exact';
      expect(await ask(`include=reviews${query}`)).to.deep.equal([none, ...counted, none, none]);
    });
  }

  it('counts what the filter finds, and what the request may see', async () => {
    const counted = 'include=reviews&reviews.size=0&reviews.count=exact';
    const numbers = (lines: string[]) => lines.map((line) => line.split(' ')[2]).join();
    expect(numbers(await ask(`${counted}&reviews.q=rating>2`))).to.equal('0,0,1,2,3,0,0');
    expect(numbers(await ask(counted, 'reviews', { sees: 'few' }))).to.equal('0,1,2,3,3,0,0');
  });

  it('counts over a table in between', async () => {
    const [, first] = await ask('include=tags', 'tags');
    expect(first).to.equal('10 true 12 exact');
    const [, number] = await ask('include=tags&tags.size=0', 'tags');
    expect(number).to.equal('0 true 12 exact');
  });

  it('tells what the rows tell of those that a hook shows, and counts none that it may hide', async () => {
    const hide = (options: FindOptions) => {
      options.where = { ...options.where, rating: 2 };
    };
    await withHook(Review, 'beforeFind', hide, async () => {
      const [none, one] = ['0 false 0 exact', '1 false 1 exact'];
      const known = [none, one, one, one, one, none, none];
      expect(await ask('include=reviews')).to.deep.equal(known);
      expect(await ask('include=reviews&reviews.count=exact')).to.deep.equal(known);
      await site.agent.get('/cities?include=reviews&reviews.count=exact&reviews.size=0').expect(500);
    });
  });

  it('is in the document without a default, which pages would send without the relation', () => {
    const parameters = site.crud.openapi().paths['/cities']?.get?.parameters ?? [];
    const count = parameters.find((each) => 'name' in each && each.name === 'reviews.count');
    expect(count).to.deep.include({ schema: { type: 'string', enum: ['exact', 'capped', 'none'] } });
    expect(count).to.have.property('description').that.includes('Default: `none`.');
  });

  it('refuses what is not allowed, and what the relation does not have', async () => {
    const detail = "Parameter 'tags.count' is 'capped'; it accepts exact.";
    const issue = { parameter: 'tags.count', code: 'count.not-allowed', detail, allowed: ['exact'] };
    expectProblem(await site.agent.get('/cities?include=tags&tags.count=capped'), 400, {
      detail,
      errors: [issue],
    });
    const codes = async (query: string) =>
      (await site.agent.get(`/cities?${query}`).expect(400)).body.errors.map(
        ({ code }: { code: string }) => code,
      );
    expect(await codes('include=plain&plain.count=exact')).to.deep.equal(['unknown']);
    expect(await codes('tags.count=exact')).to.deep.equal(['include.missing']);
  });
});

const HOSTS = 200;
const MAX = 7;
/** The host that has more guests than others. */
const CROWDED = 77;

@Crud({
  pageSize: { max: HOSTS },
  include: {
    guests: { ...UNGUARDED, size: { default: 3, max: MAX } },
    'guests.host': UNGUARDED,
  },
} as object)
@Table({ tableName: 'hosts', timestamps: false })
class Host extends NumberedRow {
  @HasMany(() => Guest, { foreignKey: 'hostId', constraints: false }) declare guests?: unknown;
}

@Crud({ sortAllow: ['rank', 'id'], filterAllow: ['hostId', 'rank'] } as object)
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {
  @Column(DataType.INTEGER) declare hostId: number;
  @Column(DataType.INTEGER) declare rank: number | null;
  @BelongsTo(() => Host, { foreignKey: 'hostId', constraints: false }) declare host?: unknown;
}

interface Guests {
  readonly items: readonly { readonly id: number }[];
  readonly has_next: boolean;
}

describe('cutting included rows', () => {
  const sql = new SqlLog();
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Host, Guest] as unknown as ModelClass[],
    bootstrap: { logger: log },
    engine: { models: [Host, Guest], logging: sql.record },
  }));

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO hosts (id) SELECT generate_series(1, ${HOSTS});
      INSERT INTO guests ("hostId", rank)
        SELECT h, NULLIF((g + h) % 3, 2) FROM generate_series(1, ${HOSTS}) AS h, generate_series(1, h % 10) AS g;
      INSERT INTO guests ("hostId", rank)
        SELECT ${CROWDED}, NULLIF(g % 1000, 999) FROM generate_series(1, 100000) AS g;
      CREATE INDEX ON guests ("hostId", rank, id); ANALYZE guests;`),
  );

  const get = async (path: string) => {
    log.clear();
    const { status, body } = await site.agent.get(path);
    expect(status, `${path}: ${log.text}${JSON.stringify(body)}`).to.equal(200);
    return body;
  };
  const guestsOf = async (host: number, query = ''): Promise<Guests> =>
    (await get(`/hosts/${host}?include=guests${query}`)).guests;

  it('[D9 R1 R10] tells at each size whether there are more', async () => {
    // Host 4 has four guests.
    for (const [size, count, hasNext] of [
      [0, 0, true],
      [3, 3, true],
      [4, 4, false],
      [5, 4, false],
      [MAX, 4, false],
    ] as const) {
      const guests = await guestsOf(4, `&guests.size=${size}`);
      expect([guests.items.length, guests.has_next], `${size}`).to.deep.equal([count, hasNext]);
    }
    expect(await guestsOf(10, '&guests.size=0')).to.deep.equal({ items: [], has_next: false });
    expect(await guestsOf(10)).to.deep.equal({ items: [], has_next: false });
    expect((await guestsOf(9)).items).to.have.length(3);
    expect(await guestsOf(7, `&guests.size=${MAX}`)).to.have.property('has_next', false);
    expect(await guestsOf(8, `&guests.size=${MAX}`)).to.have.property('has_next', true);
    const { body } = await site.agent.get(`/hosts/1?include=guests&guests.size=${MAX + 1}`).expect(400);
    expect(body.errors[0].detail).to.include(`from 0 to ${MAX}`);
  });

  it('[R12] gives the first rows of the list of the target, for equal values and none, too', async () => {
    for (const sort of ['rank', '-rank', 'rank,-id', '-id']) {
      for (const host of [9, CROWDED]) {
        for (const filter of ['', ';rank=isnull=true', ';rank=lt=1']) {
          const { items, total } = await get(`/guests?sort=${sort}&size=${MAX}&q=hostId==${host}${filter}`);
          const q = filter === '' ? '' : `&guests.q=${filter.slice(1)}`;
          const included = await guestsOf(host, `&guests.sort=${sort}&guests.size=${MAX}${q}`);
          expect(included, `${sort} ${host} ${filter}`).to.deep.equal({ items, has_next: total > MAX });
        }
      }
    }
  });

  it('[R11] gives each of 200 records its own rows, whatever others have, with the same statements as for two', async () => {
    const ask = (size: number) =>
      sql.duringRequest(() => get(`/hosts?size=${size}&include=guests.host&guests.fields=id,hostId`));
    const { result, statements } = await ask(HOSTS);
    const { statements: few } = await ask(2);
    expect(statements.map(shapeOf)).to.deep.equal(few.map(shapeOf));
    expect(result.items).to.have.length(HOSTS);
    for (const { id, guests } of result.items) {
      const count = id === CROWDED ? 100_000 + (id % 10) : id % 10;
      expect(guests.items, `${id}`).to.have.length(Math.min(count, 3));
      expect(guests.has_next).to.equal(count > 3);
      for (const guest of guests.items) expect([guest.hostId, guest.host.id]).to.deep.equal([id, id]);
    }
  });
});

/** A statement without the number of its rows. */
function shapeOf(statement: string): string {
  return statement.replace(/LIMIT \d+/, 'LIMIT n').replace(/\{[^}]*\}/g, '{}');
}
