/** `sort=country.name`: of all executors, and of rows that a request may not see, which sort as NULL. */
// @runs once
import { expect } from 'chai';
import type { Request } from 'express';
import fc from 'fast-check';
import { type FindOptions, Op } from 'sequelize';
import {
  BeforeFind,
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, EVERYTHING, filter } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { TwoPaths } from '../../support/two-paths.js';

const visible = ({ headers }: Request) => {
  const tenant = headers['x-tenant'];
  return tenant === undefined ? EVERYTHING : filter`tenant==${Number(tenant)}`;
};

class LandColumns extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare code: string;
  @PrimaryKey @Column(DataType.INTEGER) declare part: number;
  @Column(DataType.INTEGER) declare tenant: number;
  @Column({ type: DataType.TEXT, unique: true, field: 'the key' }) declare key: string;
  @Column({ type: DataType.TEXT, field: 'the name' }) declare name: string | null;
  @Column(DataType.INTEGER) declare area: number | null;
  @Column(DataType.DATE(6)) declare founded: Date | null;
}

/** Rows that a request sees by its tenant, and that are soft-deleted. */
@Crud({
  sortAllow: { name: { ignoreCase: true, nulls: 'first' }, area: true, founded: true },
  fields: { area: { read: ({ headers }: Request) => headers['x-blind'] === undefined } },
  visible,
} as object)
@Table({ tableName: 'lands', paranoid: true, createdAt: false, updatedAt: false })
class Land extends LandColumns {}

const NAMES = {
  id: true,
  name: true,
  'land.name': true,
  'land.area': { nulls: 'last' },
  'land.founded': true,
};

/** A key without a constraint, which may be that of no row. */
class TownColumns extends KeyedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column({ type: DataType.TEXT, field: 'land key' }) declare landKey: string | null;
  @Column(DataType.INTEGER) declare twinId: number | null;

  @BelongsTo(() => Land, { foreignKey: 'landKey', targetKey: 'key', constraints: false })
  declare land?: object | null;
}

@Crud({
  sortAllow: { ...NAMES, 'twin.name': true, 'mayor.name': true },
  include: { streets: true },
  subresources: ['streets'],
  pageSize: { default: 100, max: 100 },
} as object)
@Table({ tableName: 'towns', timestamps: false })
class Town extends TownColumns {
  @BelongsTo(() => Town, { foreignKey: 'twinId', constraints: false }) declare twin?: object | null;
  @HasOne(() => Mayor, { foreignKey: 'townId', constraints: false }) declare mayor?: object | null;
  @HasMany(() => Street, { foreignKey: 'townId', constraints: false }) declare streets?: object[];
}

/** Several may have one town: the first of its default order is the one that an include shows. */
@Crud({ sortAllow: ['name'], defaultSort: '-name' } as object)
@Table({ tableName: 'mayors', timestamps: false })
class Mayor extends KeyedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare townId: number;
}

/** Each has a town, which everybody sees. */
@Crud({
  pagination: 'cursor',
  sortAllow: { id: true, 'town.name': true, 'land.name': true },
  pageSize: { default: 100, max: 100 },
} as object)
@Table({ tableName: 'streets', timestamps: false })
class Street extends KeyedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare townId: number;
  @Column(DataType.TEXT) declare landKey: string | null;
  @BelongsTo(() => Town, 'townId') declare town?: object;
  @BelongsTo(() => Land, { foreignKey: 'landKey', targetKey: 'key', constraints: false })
  declare land?: object | null;
}

/** The same table by cursor. */
@Crud({ prefix: '/walked', pagination: 'cursor', sortAllow: NAMES } as object)
@Table({ tableName: 'towns', timestamps: false })
class Walked extends TownColumns {}

/** Read by Sequelize, whose default scope joins many rows; one of its own hides some lands. */
@Crud({
  prefix: '/scoped',
  pagination: 'cursor',
  sortAllow: { name: { ignoreCase: true }, 'land.name': true, 'open.name': { nulls: 'last' } },
} as object)
@DefaultScope(() => ({ include: [{ model: Street, as: 'streets' }] }))
@Table({ tableName: 'towns', timestamps: false })
class Scoped extends TownColumns {
  @BelongsTo(() => OpenLand, { foreignKey: 'landKey', targetKey: 'key', constraints: false })
  declare open?: object | null;
  @HasMany(() => Street, { foreignKey: 'townId', constraints: false }) declare streets?: object[];
}

const CHOSEN = { prefix: '/chosen', pagination: 'cursor', sortAllow: NAMES, filterAllow: ['twinId'] };

/** Its default scope has some of the towns. */
@Crud(CHOSEN as object)
@DefaultScope(() => ({ where: { name: ['n1', 'n3'] } }))
@Table({ tableName: 'towns', timestamps: false })
class Chosen extends TownColumns {}

/** A hook has some of them. */
@Crud({ ...CHOSEN, prefix: '/hooked' } as object)
@Table({ tableName: 'towns', timestamps: false })
class Hooked extends TownColumns {
  @BeforeFind
  static choose(options: FindOptions): void {
    options.where = { [Op.and]: [options.where ?? {}, { name: ['n1', 'n3'] }] };
  }
}

/** Its default scope has the lands of one tenant. */
@Crud({ prefix: '/open', sortAllow: ['name'] } as object)
@DefaultScope(() => ({ where: { tenant: 2 } }))
@Table({ tableName: 'lands', timestamps: false })
class OpenLand extends LandColumns {
  @Column(DataType.DATE) declare deletedAt: Date | null;
}

const LANDS = [
  { key: 'a', name: 'Ob', tenant: 1, area: 5, founded: '2026-01-01T00:00:00.123456Z' },
  { key: 'b', name: 'ob', tenant: 1, area: null, founded: '2026-01-01T00:00:00.123457Z' },
  { key: 'c', name: null, tenant: 1, area: 3, founded: null },
  { key: 'd', name: 'Aa', tenant: 2, area: 4, founded: null },
  { key: 'e', name: 'zz', tenant: 2, area: 1, founded: null },
  { key: 'f', name: 'mm', tenant: 1, area: 2, founded: null, isDeleted: true },
].map((land, index) => ({ code: land.key.repeat(2), part: index, ...land }));
type LandRow = (typeof LANDS)[number] & { readonly isDeleted?: boolean };

/** `x` is the key of no land. */
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'x', null];
const TOWNS = Array.from({ length: 20 }, (_, index) => ({
  id: index + 1,
  name: `n${(index * 7) % 4}`,
  landKey: KEYS[(index * 3) % KEYS.length] ?? null,
  twinId: index % 5 === 0 ? null : 20 - index,
}));
type TownRow = (typeof TOWNS)[number];

interface Term {
  readonly name: string;
  readonly descending: boolean;
}

interface Page {
  readonly items: readonly { readonly id: number }[];
  readonly total?: number;
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

const landOf = ({ landKey }: TownRow, tenant?: number) =>
  LANDS.find(
    (each: LandRow) => each.key === landKey && !each.isDeleted && (tenant ?? each.tenant) === each.tenant,
  );

/** By the bytes. */
const small = (text: string | null | undefined) => text?.toLowerCase() ?? null;

/** The values that a town is sorted by, and the place of NULLs where it is declared. */
const VALUES: Readonly<
  Record<
    string,
    readonly [nulls: 'first' | 'last' | undefined, of: (town: TownRow, tenant?: number) => unknown[]]
  >
> = {
  id: [undefined, ({ id }) => [id]],
  name: [undefined, ({ name }) => [name]],
  'land.name': [
    'first',
    (town, tenant) => [small(landOf(town, tenant)?.name), landOf(town, tenant)?.name ?? null],
  ],
  'land.area': ['last', (town, tenant) => [landOf(town, tenant)?.area ?? null]],
  'land.founded': [undefined, (town, tenant) => [landOf(town, tenant)?.founded ?? null]],
};

function expected(terms: readonly Term[], tenant?: number): number[] {
  const whole = [...terms, { name: 'id', descending: terms.at(-1)?.descending ?? false }];
  const compare = (one: TownRow, other: TownRow): number => {
    for (const { name, descending } of whole) {
      const [nulls = descending ? 'first' : 'last', of] = VALUES[name] as (typeof VALUES)[string];
      const values = of(other, tenant);
      for (const [index, first] of of(one, tenant).entries()) {
        const second = values[index];
        if (first === second) continue;
        if (first === null || second === null) return (first === null) === (nulls === 'last') ? 1 : -1;
        return (first as string) < (second as string) === descending ? 1 : -1;
      }
    }
    return 0;
  };
  return [...TOWNS].sort(compare).map(({ id }) => id);
}

const orders = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...Object.keys(VALUES)), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);
const sortOf = (terms: readonly Term[]) =>
  terms.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join(',');
const tenants = fc.constantFrom(undefined, 1, 2);
const headersOf = (tenant?: number) => (tenant === undefined ? {} : { 'x-tenant': String(tenant) });
const idsOf = ({ items }: Page) => items.map(({ id }) => id);

describe('sorting by a relation', function () {
  this.timeout(60_000);

  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Land, Town, Mayor, Street, Walked, Scoped, OpenLand, Chosen, Hooked],
      bootstrap: { logger: new CapturedLog() },
    }),
  );

  before(async () => {
    const { sequelize } = paths.site.engine;
    await sequelize.query(`
      ALTER TABLE lands ALTER "the name" TYPE text COLLATE "C"; ALTER TABLE towns ALTER name TYPE text COLLATE "C";
      ALTER TABLE mayors ALTER name TYPE text COLLATE "C"`);
    for (const { isDeleted, founded, ...land } of LANDS as LandRow[]) {
      const row = await Land.create(land);
      // JavaScript has no microseconds.
      await sequelize.query('UPDATE lands SET founded = $1 WHERE part = $2', { bind: [founded, land.part] });
      if (isDeleted) await row.destroy();
    }
    await Town.bulkCreate(TOWNS);
    await Mayor.bulkCreate([
      { id: 1, name: 'b', townId: 1 },
      { id: 2, name: 'z', townId: 1 },
      { id: 3, name: 'c', townId: 2 },
      { id: 4, name: null, townId: 3 },
      { id: 5, name: 'a', townId: 3 },
    ]);
    await Street.bulkCreate(
      Array.from({ length: 30 }, (_, index) => ({
        id: index + 1,
        townId: 1 + ((index * 7) % 9),
        landKey: KEYS[index % KEYS.length],
      })),
    );
  });

  async function get<T = Page>(path: string, headers = {}): Promise<T> {
    const { status, body } = await paths.same({ path, headers });
    expect(status, body).to.equal(200);
    return JSON.parse(body) as T;
  }

  /** All ids, by cursor forward, which have to be the same backward. */
  async function walk(path: string, headers = {}): Promise<number[]> {
    let page = await get(path, headers);
    const forward = idsOf(page);
    while (page.next_cursor !== null) {
      page = await get(`${path}&after=${page.next_cursor}`, headers);
      forward.push(...idsOf(page));
    }
    const backward = idsOf(page);
    while (page.prev_cursor !== null) {
      page = await get(`${path}&before=${page.prev_cursor}`, headers);
      backward.unshift(...idsOf(page));
    }
    expect(backward).to.deep.equal(forward);
    return forward;
  }

  it('is the order of the values that the request sees, by number and by cursor, and leaves out no row', async () =>
    await fc.assert(
      fc.asyncProperty(orders, tenants, fc.integer({ min: 2, max: 8 }), async (terms, tenant, size) => {
        const ids = expected(terms, tenant);
        const sort = sortOf(terms);
        const page = await get(`/towns?sort=${sort}`, headersOf(tenant));
        expect([idsOf(page), page.total]).to.deep.equal([ids, TOWNS.length]);
        expect(await walk(`/walked?sort=${sort}&size=${size}&fields=id`, headersOf(tenant))).to.deep.equal(
          ids,
        );
      }),
      { numRuns: wholeOr(6, 40) },
    ));

  it('does not depend on a name that the request may not see', async () => {
    const pages = async () => {
      const found: string[] = [];
      for (const path of [
        '/towns?sort=land.name',
        '/walked?sort=-land.name&size=7',
        '/streets?sort=land.name',
      ])
        found.push((await paths.same({ path, headers: headersOf(1) })).body);
      return found;
    };
    const before = await pages();
    const { sequelize } = paths.site.engine;
    for (const name of ['', 'zzzz', null]) {
      await sequelize.query('UPDATE lands SET "the name" = $1 WHERE tenant = 2 OR "deletedAt" IS NOT NULL', {
        bind: [name],
      });
      expect(await pages()).to.deep.equal(before);
    }
    for (const { key, name } of LANDS)
      await sequelize.query('UPDATE lands SET "the name" = $1 WHERE "the key" = $2', { bind: [name, key] });
  });

  it('joins rows of the same table, and the first of several rows', async () => {
    const names = new Map(TOWNS.map(({ id, name }) => [id, name]));
    const rank = ({ twinId }: TownRow) => (twinId === null ? '~' : (names.get(twinId) ?? '~'));
    const byTwin = [...TOWNS].sort((one, other) =>
      rank(one) === rank(other) ? one.id - other.id : rank(one) < rank(other) ? -1 : 1,
    );
    expect(idsOf(await get('/towns?sort=twin.name'))).to.deep.equal(byTwin.map(({ id }) => id));
    const others = TOWNS.flatMap(({ id }) => (id > 3 ? id : []));
    // The mayors are z, c, and NULL, which is first in a descending order.
    expect(idsOf(await get('/towns?sort=mayor.name'))).to.deep.equal([2, 1, 3, ...others]);
  });

  it('walks rows that all have one, and those under a record, and those that are included', async () => {
    const streets = await Street.findAll();
    const nameOf = (id: number) => TOWNS[id - 1]?.name as string;
    const ids = streets
      .sort((one, other) => {
        const [first, second] = [nameOf(one.townId), nameOf(other.townId)];
        return first === second ? one.id - other.id : first < second ? -1 : 1;
      })
      .map(({ id }) => id);
    expect(await walk('/streets?sort=town.name&size=4')).to.deep.equal(ids);
    expect(await walk('/streets?sort=-town.name&size=7')).to.deep.equal(ids.toReversed());
    const seen = await get('/towns/1/streets?sort=land.name', headersOf(1));
    const { items } = await get<{ items: { streets: Page }[] }>(
      '/towns?include=streets&streets.sort=land.name&size=1',
      headersOf(1),
    );
    const keyed = new Map(
      streets.map(({ id, landKey }) => [id, small(landOf({ landKey } as TownRow, 1)?.name) ?? '']),
    );
    expect(idsOf(seen).map((id) => keyed.get(id))).to.deep.equal(
      idsOf(seen)
        .map((id) => keyed.get(id))
        .sort(),
    );
    expect(items.map((item) => idsOf(item.streets))).to.deep.equal([idsOf(seen)]);
  });

  it('holds where a default scope joins rows, and where one hides them', async () => {
    const terms = [{ name: 'land.name', descending: true }];
    expect(await walk('/scoped?sort=-land.name&size=3&fields=id', headersOf(1))).to.deep.equal(
      expected(terms, 1),
    );
    const byName = [...TOWNS].sort((one, other) =>
      one.name === other.name ? one.id - other.id : one.name < other.name ? -1 : 1,
    );
    expect(await walk('/scoped?sort=name&size=3&fields=id')).to.deep.equal(byName.map(({ id }) => id));
    const rank = (town: TownRow) => landOf(town, 2)?.name ?? '~';
    const byOpen = [...TOWNS].sort((one, other) =>
      rank(one) === rank(other) ? one.id - other.id : rank(one) < rank(other) ? -1 : 1,
    );
    expect(await walk('/scoped?sort=open.name&size=3&fields=id')).to.deep.equal(byOpen.map(({ id }) => id));
  });

  it('is of the rows that a default scope or a hook chooses, with a filter', async () => {
    const chosen = new Set(
      TOWNS.flatMap(({ id, name, twinId }) => (name.match(/[13]/) && Number(twinId) > 3 ? id : [])),
    );
    for (const [path, size] of [
      ['/chosen', 2],
      ['/chosen', 3],
      ['/hooked', 2],
    ] as const)
      for (const descending of [false, true]) {
        const sort = `${descending ? '-' : ''}land.name`;
        const ids = expected([{ name: 'land.name', descending }], 1).filter((id) => chosen.has(id));
        expect(
          await walk(`${path}?sort=${sort}&size=${size}&fields=id&q=twinId>3`, headersOf(1)),
          `${path} ${sort}`,
        ).to.deep.equal(ids);
      }
  });

  it('has a warning where no index can serve the order, with the reason', async () => {
    const logger = new CapturedLog();
    await buildApp({ models: [Land, Town, Mayor, Street], logger });
    const lines = logger.lines.flatMap(({ message }) => message.split('\n  '));
    expect(lines.filter((line) => line.includes('reads and sorts'))).to.deep.equal(
      [
        ['Town', 'land', 'a request may not see each Land'],
        ['Town', 'twin', 'twinId may be NULL'],
        ['Town', 'mayor', 'no foreign key makes sure that each row has one'],
        ['Street', 'land', 'a request may not see each Land'],
      ].map(
        ([name, relation, reason]) =>
          `${name}: each page in an order by '${relation}.…' (sortAllow) reads and sorts all rows of the list, because ${reason}; ` +
          'on a large table copy the value into a column of it.',
      ),
    );
    expect(lines.filter((line) => line.includes("'town'"))).to.deep.equal([]);
  });

  it('refuses a cursor that was made for another tenant', async () => {
    const path = '/walked?sort=land.name&size=3';
    const { next_cursor: cursor } = await get(path, headersOf(1));
    const { status, body } = await paths.same({ path: `${path}&after=${cursor}`, headers: headersOf(2) });
    expect([status, JSON.parse(body).errors[0].code]).to.deep.equal([400, 'cursor.mismatch']);
  });

  it('has no name of what the request may not read, and none behind many records', async () => {
    const allowed = ['id', 'name', 'land.name', 'land.founded', 'twin.name', 'mayor.name'];
    const refused = async (sort: string, reason = '') => {
      const { status, body } = await paths.same({ path: `/towns?sort=${sort}`, headers: { 'x-blind': '1' } });
      const detail = `Cannot sort by '${sort}'.${reason} Sortable: ${allowed.join(', ')}.`;
      const issue = { parameter: 'sort', code: 'sort.unknown-field', detail, allowed };
      expect([status, JSON.parse(body)]).to.deep.equal([400, { detail, errors: [issue] }]);
    };
    await refused('land.area', " Did you mean 'land.name'?");
    await refused('land.tenant', " Did you mean 'land.name'?");
    await refused('streets.id', ' streets leads to many records, of which none is the one to sort by.');
  });
});
