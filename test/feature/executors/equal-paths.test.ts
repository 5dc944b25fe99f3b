/** The fast path and the general path: the same status, headers and bytes for the same request. */
// @runs fast
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import fc from 'fast-check';
import {
  Column,
  CreatedAt,
  DataType,
  DeletedAt,
  HasMany,
  Model,
  PrimaryKey,
  Table,
  UpdatedAt,
} from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { EVERY_ENDPOINT } from '../../models/endpoints.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import {
  except,
  OF_MANY,
  onPath,
  SERVES_EXPORTS,
  SERVES_MANY,
  UNGUARDED,
} from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { HARD_COLUMNS, HARD_VALUES, Specimen } from '../../support/specimen.js';
import { SpecimenTable } from '../../support/specimen-table.js';
import { ask, TwoPaths, type WholeAnswer, type WholeRequest } from '../../support/two-paths.js';

const EXPORTS = SERVES_EXPORTS ? { export: ['csv', 'ndjson'] as const } : {};
const SERVED = EVERY_ENDPOINT.filter((each) => SERVES_MANY || !each.endsWith('Many'));
const FILES = SERVES_EXPORTS ? ['format=csv&spreadsheet=true', 'format=ndjson&checkpoints=true'] : [];

/** A column of every type, all nullable. */
@Crud({
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    'delete',
    ...(SERVES_MANY ? (['updateMany'] as const) : []),
  ],
  pageSize: { default: 3, max: 50 },
  sortAllow: ['id', 'text', 'whole'],
  filterAllow: ['text', 'whole', 'colour', 'flag'],
  ...EXPORTS,
})
@Table({ tableName: 'things', createdAt: false })
class Thing extends NumberedManyTypes {
  @Column({ type: DataType.TEXT, field: 'The text' }) declare text: string | null;
  @Column(DataType.ARRAY(DataType.BIGINT)) declare bigs: string[] | null;
  @Column(DataType.ARRAY(DataType.REAL)) declare reals: number[] | null;
  @Column(DataType.ARRAY(DataType.DATEONLY)) declare days: string[] | null;
  @UpdatedAt @Column(DataType.DATE) declare updatedAt: Date;
}

/** Types whose changes only Sequelize detects; they are read as others are. */
@Crud({ prefix: '/odds', ...EXPORTS })
@Table({ tableName: 'odds', createdAt: false })
class Odd extends NumberedRow {
  @Column(DataType.JSON) declare json: unknown;
  @Column(DataType.CHAR(3)) declare code: string | null;
}

const UNIX = new Date(0);
let serial = 0;

/** In a schema, soft-deleted, with renamed columns and timestamps, and a default of every sort. */
@Crud({
  pagination: 'cursor',
  prefix: '/parcels',
  sortAllow: ['weight', 'sentAt'],
  filterAllow: ['state', 'weight'],
})
@Table({ tableName: 'Parcels in transit', schema: 'depot', paranoid: true, underscored: true })
class Parcel extends Model {
  @PrimaryKey @Column({ type: DataType.UUID, defaultValue: DataType.UUIDV4 }) declare code: string;
  @Column({ type: DataType.DOUBLE, allowNull: false, field: 'weight in kg' }) declare weight: number;
  @Column({ type: DataType.STRING(10), allowNull: false, defaultValue: 'new' }) declare state: string;
  @Column({ type: DataType.DATE, allowNull: false, defaultValue: DataType.NOW }) declare sentAt: Date;

  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: () => (serial += 1) })
  declare serial: number;

  @Column({ type: DataType.JSONB, defaultValue: { fragile: false } }) declare marks: unknown;
  @Column({ type: DataType.ARRAY(DataType.TEXT), defaultValue: ['a', 'b'] }) declare stops: string[];
  @Column({ type: DataType.DATE, defaultValue: UNIX }) declare since: Date;
  @CreatedAt @Column({ type: DataType.DATE, field: 'born' }) declare bornAt: Date;
  @UpdatedAt @Column(DataType.DATE) declare touchedAt: Date;
  @DeletedAt @Column(DataType.DATE) declare goneAt: Date | null;
}

/** Keys that clients choose, and names that objects of JavaScript sort. */
@Crud({ prefix: '/names' })
@Table({ tableName: 'names', timestamps: false })
class Name extends Model {
  @PrimaryKey @Column(DataType.STRING(20)) declare key: string;
}
for (const name of ['b', '10', '2', 'a b', 'é\\']) {
  Column({ type: DataType.INTEGER, allowNull: true })(Name.prototype, name);
}

const LEAFLET = {
  id: 'slug',
  endpoints: SERVED,
  pagination: 'cursor',
  filterAllow: ['slug', 'rank'] as never,
  can: { deleted: true, update: () => filter`slug!=2`, delete: () => filter`rank=lt=3` },
  subresources: { pages: UNGUARDED },
  include: { pages: UNGUARDED },
} as const;

/** Addressed by a name; its key is hidden. */
@Crud(LEAFLET as never)
@Table({ tableName: 'leaflets', createdAt: false, updatedAt: false, paranoid: true, version: true })
class Leaflet extends Model {
  @Exclude() @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column({ type: DataType.STRING(9), allowNull: false, unique: true, field: 'the slug' })
  declare slug: string;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Exclude() @DeletedAt @Column(DataType.DATE) declare deletedAt: Date | null;
  @HasMany(() => Leaflet, { foreignKey: 'rank', constraints: false }) declare pages: Leaflet[];
}

/** The same, whose mark and version are columns of the table with other names. */
@Crud({
  ...(LEAFLET as object),
  softDelete: { attribute: 'state', deleted: "it's gone", alive: null },
  etag: { attribute: 'version' },
})
@Table({ tableName: 'flyers', timestamps: false })
class Flyer extends Model {
  @Exclude() @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column({ type: DataType.STRING(9), allowNull: false, unique: true, field: 'the slug' })
  declare slug: string;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Column({ type: DataType.STRING(9), field: 'the state' }) declare state: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0, field: 'lock_version' })
  declare version: number;
  @HasMany(() => Flyer, { foreignKey: 'rank', constraints: false }) declare pages: Flyer[];
}

const LEAFLETS = `DELETE FROM flyers; SELECT setval('flyers_id_seq', 1, false);
  INSERT INTO flyers ("the slug", rank, lock_version, "the state") VALUES ('2', 2, 0, NULL), ('b', 1, 7, 'third'), ('gone', 3, 1, 'it''s gone');
  DELETE FROM leaflets; SELECT setval('leaflets_id_seq', 1, false);
  INSERT INTO leaflets ("the slug", rank, version, "deletedAt") VALUES ('2', 2, 0, NULL), ('b', 1, 7, NULL), ('gone', 3, 1, '2000-01-01')`;
const GONE = ['/leaflets/gone/restore', '/leaflets/2/restore', '/leaflets/none/restore'];
/** One row is undone at most: others that are created would have another key, which no answer has. */
const LEAFLET_REQUESTS: readonly WholeRequest[] = [
  ...[
    '2',
    'b',
    '1',
    'gone',
    'none',
    '%00',
    'x'.repeat(10),
    '2?fields=rank',
    '2?include=pages',
    '2?include=pages&fields=rank',
    '2/pages',
    '1/pages',
  ].map((rest) => ({ path: `/leaflets/${rest}` })),
  ...['gone?deleted=only', 'b?deleted=only', 'gone?deleted=with'].map((rest) => ({
    path: `/leaflets/${rest}`,
  })),
  { path: '/leaflets?size=1' },
  { method: 'POST', path: '/leaflets', body: { slug: 'new' } },
  { method: 'POST', path: '/leaflets', body: { slug: 'b' } },
  { method: 'POST', path: '/leaflets', body: { slug: '..' } },
  { method: 'POST', path: '/leaflets', body: { id: 9, slug: 'new' } },
  { method: 'POST', path: '/leaflets', body: [{ slug: 'n1' }, { slug: 'n2', rank: 5 }] },
  ...['b', '1', '2', 'gone', 'new'].flatMap((slug) => [
    { method: 'PATCH', path: `/leaflets/${slug}`, body: { rank: 9 } },
    { method: 'PATCH', path: `/leaflets/${slug}`, body: {} },
    { method: 'PATCH', path: `/leaflets/${slug}`, body: { slug: 'c', rank: 9 } },
    { method: 'PATCH', path: `/leaflets/${slug}`, headers: { 'If-Match': '"7"' }, body: { slug: 'c' } },
    { method: 'PATCH', path: `/leaflets/${slug}`, headers: { 'If-Match': '"6"' }, body: { slug: 'c' } },
    { method: 'PUT', path: `/leaflets/${slug}`, body: { rank: 9 } },
    { method: 'PUT', path: `/leaflets/${slug}`, headers: { 'If-None-Match': '*' }, body: { rank: 9 } },
    { method: 'PUT', path: `/leaflets/${slug}`, headers: { 'If-Match': '"7"' }, body: { slug, rank: 9 } },
    { method: 'DELETE', path: `/leaflets/${slug}` },
    { method: 'DELETE', path: `/leaflets/${slug}/purge` },
  ]),
  { method: 'PATCH', path: '/leaflets/b', body: { slug: '2' } },
  { method: 'PATCH', path: '/leaflets/b', body: { slug: null } },
  ...GONE.map((path) => ({ method: 'POST', path })),
  ...[
    [{ slug: 'b', rank: 5 }, { slug: '2' }],
    [
      { slug: 'b', rank: 5, version: 7 },
      { slug: '1', rank: 5 },
    ],
    [{ slug: 'b', rank: 5, version: 6 }],
    [{ rank: 5 }, { slug: 2 }],
  ].flatMap((body) =>
    ['', '?atomic=false'].map((query) => ({ method: 'PATCH', path: `/leaflets${query}`, body })),
  ),
  { method: 'PATCH', path: '/leaflets?q=slug==b', body: { slug: 'c' } },
  { method: 'PATCH', path: '/leaflets?q=rank=gt=0&atomic=false', body: { rank: 5 } },
  { method: 'DELETE', path: '/leaflets?q=slug=in=(b,none)' },
];

/** Addressed by a text and a moment. */
@Crud({
  endpoints: SERVED,
  pagination: 'cursor',
  sortAllow: ['rank', 'shop', 'at'],
  filterAllow: ['shop', 'at', 'rank'],
  can: { deleted: true, update: () => filter`rank!=2` },
  ...EXPORTS,
})
@Table({ tableName: 'receipts', createdAt: false, updatedAt: false, paranoid: true, version: true })
class Receipt extends Model {
  @PrimaryKey @Column({ type: DataType.STRING(9), field: 'the shop' }) declare shop: string;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Exclude() @DeletedAt @Column(DataType.DATE) declare deletedAt: Date | null;
}

const RECEIPTS = `DELETE FROM receipts;
  INSERT INTO receipts ("the shop", at, rank, version, "deletedAt") VALUES
    ('a,b', '2026-01-31 08:00:00.123456Z', 1, 7, NULL), ('a,b', '2026-01-31 08:00:00.123457Z', 2, 0, NULL),
    ('a', '2026-01-31 08:00:00Z', 3, 1, '2000-01-01'), ('', '2026-01-31 08:00:00.5Z', NULL, 0, NULL)`;
const RECEIPT_IDS = [
  'a~2b,2026-01-31T08:00:00.123456Z',
  'a~2b,2026-01-31T09:00:00.123457%2B01:00',
  'a,2026-01-31T08:00:00Z',
  ',2026-01-31T08:00:00.500Z',
  'none,2026-01-31T08:00:00Z',
];
const RECEIPT_REQUESTS: readonly WholeRequest[] = [
  ...['a', 'a,b,c', 'a~9,2026-01-31T08:00:00Z', 'a,today', `${'x'.repeat(10)},2026-01-31T08:00:00Z`].map(
    (id) => ({ path: `/receipts/${id}` }),
  ),
  ...[
    '',
    '?size=2',
    '?size=2&sort=-rank',
    ...FILES.flatMap((file) => [
      `?${file}`,
      `?${file}&sort=-at,rank&fields=rank,shop`,
      `?${file}&deleted=with`,
    ]),
    '?sort=-shop',
    '?fields=rank',
    '?q=shop=="a,b"',
    '?deleted=only',
  ].map((query) => ({ path: `/receipts${query}` })),
  { method: 'POST', path: '/receipts', body: { shop: '/~', at: '2026-01-31T08:00:00.001Z', rank: 5 } },
  { method: 'POST', path: '/receipts', body: { shop: '', at: '2026-01-31T08:00:00.500Z' } },
  { method: 'POST', path: '/receipts', body: { shop: 'a' } },
  ...RECEIPT_IDS.flatMap((id) => [
    { path: `/receipts/${id}` },
    { path: `/receipts/${id}?fields=rank` },
    { path: `/receipts/${id}?deleted=with` },
    { path: `/receipts/${id}`, headers: { 'If-None-Match': '"7"' } },
    { method: 'PATCH', path: `/receipts/${id}`, body: { rank: 9 } },
    { method: 'PATCH', path: `/receipts/${id}`, body: { rank: 9, shop: 'c' } },
    { method: 'PATCH', path: `/receipts/${id}`, headers: { 'If-Match': '"7"' }, body: { rank: 9 } },
    { method: 'PATCH', path: `/receipts/${id}`, headers: { 'If-Match': '"6"' }, body: { rank: 9 } },
    { method: 'DELETE', path: `/receipts/${id}` },
    { method: 'DELETE', path: `/receipts/${id}/purge` },
    { method: 'POST', path: `/receipts/${id}/restore` },
    { method: 'PUT', path: `/receipts/${id}`, body: { rank: 9 } },
  ]),
  { method: 'PATCH', path: '/receipts?q=rank=gt=0', body: { rank: 4 } },
  { method: 'DELETE', path: '/receipts?q=shop=="a,b"' },
];

const UUID = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';

const VALUES: Readonly<Record<string, unknown>> = {
  small: -32768,
  whole: 2147483647,
  big: '-9223372036854775808',
  exact: '-0.1',
  unlimited: '12345678901234567890123456789.000000000000000000001',
  real: 0.1,
  double: 1e21,
  flag: false,
  moment: '2026-01-31T08:00:00.5+05:30',
  day: '0001-01-01',
  time: '23:59',
  uuid: UUID,
  jsonb: { b: 1, a: [true, null, 'x', 1.5, '\u2028 🙂'], 2: '', 1: {} },
  colour: "o'clock",
  bytes: 'AP+AYQ==',
  text: 'Grüße, 世界 🙂\n\t"\\\u2028\u007f\u0001',
  short: '🙂🙂🙂🙂🙂',
  words: ['a', 'b,c', '"', "'", '\\', '', 'NULL', '{}', ' '],
  numbers: [1, -2, 2147483647],
  bigs: ['9007199254740993', '-1'],
  decimals: ['12345678901234567890.123456789', '0.10'],
  moments: ['2026-01-31T08:00:00.123Z', '1900-01-31T08:00:00.5+05:30'],
  reals: [0.1, -0, 3.4e38],
  days: ['2026-01-31', 'infinity', '-000043-03-15', '+012026-01-31'],
  uuids: [UUID],
  sizes: ['l', 's'],
};

/** Values of a thing that only SQL can store, by column. */
const STORED: readonly string[] = [
  `double = 'NaN', real = '-Infinity', exact = 'NaN', unlimited = '1e40'`,
  `double = '-0', real = '-0', small = '-0', unlimited = '-0.0000'`,
  `double = '1e20', real = '1e20'`,
  `moment = 'infinity', day = '-infinity'`,
  `moment = '0044-03-15 12:00:00+00 BC', day = '0044-03-15 BC'`,
  `moment = '12026-01-31 08:00:00+00', day = '12026-01-31'`,
  `moment = '2026-01-31 08:00:00.123999+00', time = '24:00:00'`,
  `moments = '{2026-01-31 08:00:00.123999+00,0044-03-15 12:00:00.0001+00 BC,NULL}'`,
  `moment = '1883-01-31 08:00:00.1+00', time = '08:00:00.000001'`,
  `jsonb = 'null'`,
  `words = '{a,NULL}', numbers = '{{1,2},{3,4}}', moments = '{infinity,NULL}', sizes = '{}'`,
  `numbers = '[2:3]={1,2}', uuids = '{NULL}', decimals = '{NaN,1.50}'`,
  `"The text" = repeat('x', 300000), bytes = decode(repeat('00ff', 50000), 'hex')`,
];

/** Values of an odd that only SQL can store. */
const STORED_ODDS: readonly string[] = [
  "json = 'null', code = ''",
  `json = '{"a": 12345678901234567890, "a": 2, "__proto__": 1, "\\u0000": 1e400}', code = 'a"'`,
];

const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed());
const integer = fc.constantFrom(0, -0, 7);
const bigint = fc.constantFrom('0', '-1', '9223372036854775807');
const decimal = fc.constantFrom('0', '-0', '0.0', '1.5', '1.50', '1.5000', '12345678901.1234', 'NaN');
const moment = fc.constantFrom(
  '2001-01-31T08:00:00.500Z',
  '2001-01-31T10:00:00.5+02:00',
  '0001-01-02T00:00:00Z',
  '9999-12-30T00:00:00Z',
  '0000-03-15T12:00:00Z',
  '-000043-03-15T12:00:00.5Z',
  '+012026-01-31T00:00:00+05:30',
  'infinity',
  '-infinity',
);
/** Moments in an array, with microseconds, too. */
const preciseMoment = fc.oneof(
  moment,
  fc.constant('2001-01-31T08:00:00.123456Z'),
  fc.constant('-000043-03-15T12:00:00.000001Z'),
);
const day = fc.constantFrom(
  '2001-01-31',
  '0001-01-02',
  '0000-02-29',
  '-000043-03-15',
  '+012026-01-31',
  'infinity',
  '-infinity',
);
/** An array as columns may hold it: of values and NULL, or of arrays. */
function list<T>(values: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  const flat = fc.array(nullable(values), { maxLength: 2 });
  return fc.oneof(
    flat,
    fc.tuple(values, values).map(([first, second]) => [
      [first, null],
      [second, first],
    ]),
  );
}

const real = fc.constantFrom(0, -0, 0.1, 0.10000000001, 1e20, 3.4e38, 1e-45, 'NaN', 'Infinity');
const uuid = fc.constantFrom(UUID, UUID.toLowerCase());
const json = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom({ a: 1, b: 2 }, { b: 2, a: 1 }, [1, 1e21], 'x', '', 0, -0),
);
const size = fc.constantFrom('s', 'm', 'l');

/** Any body for a thing. */
const THING = fc.record(
  {
    small: nullable(integer),
    whole: nullable(integer),
    big: nullable(bigint),
    exact: nullable(decimal),
    unlimited: nullable(decimal),
    real: nullable(real),
    double: nullable(fc.constantFrom(0, -0, 0.1, 0.30000000000000004, 1e21, 5e-324, 'NaN', '-Infinity')),
    flag: nullable(fc.boolean()),
    moment: nullable(moment),
    day: nullable(day),
    time: nullable(fc.constantFrom('08:00', '08:00:00', '08:00:00.5', '08:00:00.500', '24:00')),
    uuid: nullable(uuid),
    jsonb: nullable(json),
    colour: nullable(fc.constantFrom('red', "o'clock")),
    bytes: nullable(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))),
    text: nullable(text),
    short: nullable(fc.constantFrom('', ' ', 'ab   ', '🙂')),
    words: nullable(list(text)),
    numbers: nullable(list(integer)),
    bigs: nullable(list(bigint)),
    decimals: nullable(list(decimal)),
    moments: nullable(list(preciseMoment)),
    reals: nullable(list(real)),
    days: nullable(list(day)),
    uuids: nullable(list(uuid)),
    sizes: nullable(list(size)),
  },
  { requiredKeys: [] },
);

function nullable<T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(values, { freq: 4 });
}

const ORDERS = ['', 'sort=-id', 'sort=text', 'sort=-text,whole', 'sort=whole,-text,-id'];
const PAGES = ['', 'page=2', 'page=3&size=2', 'page=99', 'size=50', 'size=1&page=1'];
const FILTERS = [
  '',
  'whole==2147483647',
  'whole=isnull=true',
  'flag==false,whole=lt=5',
  'colour=="o\'clock"',
  'text=like=*x*',
  'whole=in=(1,2,3)',
  'whole==77',
];
const FIELDS = ['', 'fields=text,id', 'fields=whole', 'fields=moment,uuid,bytes,jsonb'];

describe('the fast path and the general path', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Thing, Odd, Parcel, Name, Leaflet, Receipt, Flyer, Specimen],
      engine: { createAll: false },
      bootstrap: { cursorSecret: 'a secret of sixteen', logger: new CapturedLog() },
    }),
  );

  const query = (text: string): Promise<unknown> => paths.site.engine.sequelize.query(text);
  /** A read leaves nothing to undo. */
  const sameAndUndone = async (wanted: WholeRequest, rows: string): Promise<WholeAnswer> => {
    if (!wanted.method) return paths.same(wanted);
    const undo = () => query(rows);
    const answer = await paths.same(wanted, undo);
    await undo();
    return answer;
  };
  before(async () => {
    await query('CREATE SCHEMA depot');
    await paths.site.engine.sequelize.sync({ useMaster: true } as never);
    const general = paths.site.crud.routes.filter(({ generalPathReasons }) => generalPathReasons.length > 0);
    expect(general.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['PATCH /odds/:id']);
  });

  describe('of reads', () => {
    before(() => fill(paths));

    it('are equal for every value of every type', async () => {
      expect(await expectEqualReads(paths)).to.be.above(30);
    });

    it('are equal for lists by page, order, filter and fields', async () => {
      for (const order of ORDERS) {
        for (const parts of [
          ...PAGES.map((page) => [order, page]),
          ...FIELDS.map((fields) => [order, fields]),
        ]) {
          const answer = await paths.same({ path: `/things?${parts.filter(Boolean).join('&')}` });
          expect(answer.status).to.equal(200);
        }
      }
      for (const filter of FILTERS) {
        const q = filter && `q=${encodeURIComponent(filter)}`;
        const answer = await paths.same({ path: `/things?${[q, 'sort=-id'].filter(Boolean).join('&')}` });
        expect(answer.status).to.equal(200);
      }
    });

    it('are equal where nothing is found, and where the request is wrong', async () => {
      for (const path of [
        '/things/0',
        '/things/99999',
        '/things/99999999999',
        '/things/x',
        '/things/1?x=1',
        '/things?size=0',
        '/things?q=nope==1',
      ]) {
        const { status } = await paths.same({ path });
        expect(status).to.be.oneOf([400, 404]);
      }
    });

    it('are equal for HEAD, conditions, and headers that were there before', async () => {
      const { headers } = await paths.same({ path: '/things/2' });
      const etag = headers.find((line) => line.startsWith('ETag: '))?.slice(6) ?? '';
      for (const method of ['GET', 'HEAD']) {
        const cached = await paths.same({ method, path: '/things/2', headers: { 'If-None-Match': etag } });
        expect(cached.status).to.equal(304);
        for (const headers of [
          { 'If-None-Match': '"other"' },
          { 'If-None-Match': etag, 'Cache-Control': 'no-cache' },
          { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
        ])
          await paths.same({ method, path: '/things/2', headers });
        await paths.same({ method, path: '/things', headers: { Accept: 'text/html' } });
        await paths.same({ method, path: '/things/999' });
      }
    });
  });

  describe('of cursors', () => {
    const terms = ['id', ...HARD_COLUMNS.flatMap((name) => [name, `${name}OrNull`])];

    before(async () => {
      const rows = Array.from({ length: 12 }, (_, id) => ({
        id,
        values: Object.fromEntries(
          HARD_COLUMNS.flatMap((name) => {
            const values: readonly string[] = HARD_VALUES[name];
            const value = values[id % values.length] ?? null;
            return [
              [name, value],
              [`${name}OrNull`, id % 3 === 0 ? null : value],
            ];
          }),
        ),
      }));
      await new SpecimenTable(paths.site.engine.sequelize).fill(rows);
    });

    for (const [index, term] of terms.entries()) {
      it(`are equal in both directions by ${term}`, async () => {
        // In short one order of each.
        const orders = [term, `-${term}`].filter((_, at) => wholeOr(at === index % 2, true));
        for (const order of orders) {
          let path: string | null = `/specimens?size=5&sort=${order}`;
          let last: string | null = null;
          while (path) {
            const page: Cursors = JSON.parse((await paths.same({ path })).body);
            last = page.prev_cursor;
            path = page.next_cursor && `/specimens?size=5&sort=${order}&after=${page.next_cursor}`;
          }
          while (last) {
            const answer = await paths.same({
              path: `/specimens?size=5&sort=${order}&before=${last}&fields=id`,
            });
            last = (JSON.parse(answer.body) as Cursors).prev_cursor;
          }
        }
      });
    }

    it('are equal for cursors that are refused, and for pages that are empty', async () => {
      const { next_cursor: cursor } = JSON.parse(
        (await paths.same({ path: '/specimens?size=11' })).body,
      ) as Cursors;
      for (const path of ['after=x', `before=${cursor}&sort=-id`, `after=${cursor}&before=${cursor}`]) {
        expect((await paths.same({ path: `/specimens?${path}` })).status).to.equal(400);
      }
      await query('DELETE FROM specimens WHERE id = 11');
      for (const side of ['after', 'before'])
        await paths.same({ path: `/specimens?size=5&${side}=${cursor}` });
      await query('DELETE FROM specimens');
      for (const side of ['after', 'before'])
        await paths.same({ path: `/specimens?size=5&${side}=${cursor}` });
      await paths.same({ path: '/specimens' });
    });
  });

  describe('of writes', () => {
    for (const [name, value] of Object.entries(VALUES)) {
      it(`are equal for ${name}`, async () => {
        const body = { [name]: value };
        await sameWrite(paths, { method: 'POST', path: '/things', body });
        await sameWrite(paths, { method: 'PATCH', path: '/things/1', body }, [OLD]);
        // A PATCH with the stored values changes nothing.
        const { id, updatedAt, ...given } = JSON.parse((await ask(paths.fast, { path: '/things/1' })).body);
        expect({ id, updatedAt }).to.have.keys('id', 'updatedAt');
        await sameWrite(paths, { method: 'PATCH', path: '/things/1', body: given }, [OLD], body);
        await sameWrite(paths, { method: 'PATCH', path: '/things/1', body: { [name]: null } }, [OLD], body);
      });

      it(`tell whether ${name} is another value`, async () => {
        const one = THING.map((thing) => ({ [name]: (thing as Record<string, unknown>)[name] ?? null }));
        await fc.assert(
          fc.asyncProperty(one, one, async (before, after) => {
            await sameWrite(paths, { method: 'PATCH', path: '/things/1', body: after }, [OLD], before);
          }),
          { numRuns: wholeOr(1, 10) },
        );
      });
    }

    it('are equal for JSON that is there with its names in another order', async () => {
      const answer = await sameWrite(
        paths,
        { method: 'PATCH', path: '/things/1', body: { jsonb: { b: 2, a: 1 } } },
        [OLD],
        { jsonb: { a: 1, b: 2 } },
      );
      expect(answer.body).to.include('"jsonb":{"a":1,"b":2}').and.include('2000-01-01');
    });

    it('are equal for days of an array in any year, which are there', async () => {
      const days = ['infinity', null, '-000043-03-15', '+012026-01-31'];
      const answer = await sameWrite(paths, { method: 'PATCH', path: '/things/1', body: { days } }, [OLD], {
        days,
      });
      expect(answer.body).to.include(JSON.stringify(days)).and.include('2000-01-01');
    });

    for (const body of [[{ id: 1, reals: [0.1000000001] }], { reals: [0.1000000001] }]) {
      except(Array.isArray(body) ? OF_MANY : {}).it(
        `are equal for a float of ${Array.isArray(body) ? 'many' : 'one'} that a column rounds to the one that is there`,
        async () => {
          const path = Array.isArray(body) ? '/things' : '/things/1';
          const answer = await sameWrite(paths, { method: 'PATCH', path, body }, [OLD], { reals: [0.1] });
          expect(answer.body).to.include('"reals":[0.1]').and.include('now');
        },
      );
    }

    it('are equal for defaults, and for what only the database knows', async () => {
      for (const body of [
        { weight: 0.5 },
        { weight: 1e21, state: 'sent', marks: null, stops: [], since: null },
      ]) {
        await query('TRUNCATE depot."Parcels in transit"');
        serial = 0;
        const answers = [];
        for (const path of [paths.fast, paths.general]) {
          const created = await ask(path, { method: 'POST', path: '/parcels', body });
          const { code } = JSON.parse(created.body) as { code: string };
          const all: unknown[] = [created];
          for (const [method, body] of [
            ['PATCH', { state: 'lost', serial: 7 }],
            ['PATCH', { state: 'lost' }],
            ['PATCH', {}],
            ['DELETE'],
            ['GET'],
            ['PATCH', {}],
            ['DELETE'],
            ['HEAD'],
          ] as const)
            all.push(await ask(path, { method, path: `/parcels/${code}`, body }));
          all.push(await ask(path, { path: '/parcels' }));
          all.push(await query('SELECT * FROM depot."Parcels in transit" ORDER BY born DESC LIMIT 1'));
          const told = JSON.stringify(all).replaceAll(code, 'the code');
          answers.push(withoutNow(told.replaceAll(/ETag: [^,]*/g, '')));
          serial = 0;
        }
        expect(answers[0]).to.equal(answers[1]);
        expect(answers[0]).to.include('"status":201').and.include('"status":204').and.include('"status":404');
      }
    });

    it('are equal for names that objects sort, and for keys that have to be escaped', async () => {
      const values = { b: 1, 10: 2, 2: 3, 'a b': 7, 'é\\': 8 };
      const restore = (key: string) => () =>
        query(`INSERT INTO names (key) VALUES ('${key}') ON CONFLICT DO NOTHING`);
      for (const key of ['a', 'a/b', 'é ?#%', '...', '"']) {
        const undo = () => query('TRUNCATE names');
        await undo();
        const body = { key, ...values };
        const { status } = await paths.same({ method: 'POST', path: '/names', body }, undo);
        expect(status).to.equal(201);
        const path = `/names/${encodeURIComponent(key)}`;
        await paths.same({ path });
        await paths.same({ method: 'PATCH', path, body: { b: null, 2: null } }, () =>
          query('UPDATE names SET "2" = 3'),
        );
        await paths.same({ path: '/names?fields=b,2,10' });
        await paths.same({ method: 'DELETE', path }, restore(key));
      }
      const { status } = await paths.same({ method: 'POST', path: '/names', body: { key: '..' } });
      expect(status).to.equal(422);
    });

    it('are equal where another key addresses the record', async () => {
      const statuses = new Set<number>();
      // In short each third request to the other model.
      const asked = LEAFLET_REQUESTS.filter((_, index) => index % wholeOr(3, 1) === 0);
      const flyers = asked.map((each) => ({
        ...each,
        path: each.path.replace('leaflets', 'flyers'),
      }));
      await query(LEAFLETS);
      for (const wanted of [...LEAFLET_REQUESTS, ...flyers]) {
        const answer = await sameAndUndone(wanted, LEAFLETS);
        expect(answer.status, JSON.stringify(wanted)).to.be.below(500);
        expect(answer.body).to.not.include('"id":');
        statuses.add(answer.status);
      }
      const partly = SERVES_MANY ? [207] : [];
      expect([...statuses]).to.include.members([200, 201, 204, ...partly, 403, 404, 409, 412, 422]);
    });

    it('are equal where several attributes address the record', async () => {
      const statuses = new Set<number>();
      await query(RECEIPTS);
      for (const wanted of RECEIPT_REQUESTS) {
        const { status } = await sameAndUndone(wanted, RECEIPTS);
        expect(status, JSON.stringify(wanted)).to.be.below(500);
        statuses.add(status);
      }
      const unchanged = onPath({ fast: [304], values: [], session: [], records: [] });
      expect([...statuses]).to.include.members([200, 201, 204, ...unchanged, 400, 403, 404, 409, 412, 422]);
    });

    it('are equal where the database refuses them', async () => {
      await query('TRUNCATE names');
      await query("INSERT INTO names (key) VALUES ('a')");
      await query('ALTER TABLE names ADD CONSTRAINT names_b_check CHECK (b < 10)');
      const requests: WholeRequest[] = [
        { method: 'POST', path: '/names', body: { key: 'a' } },
        { method: 'POST', path: '/names', body: { key: 'b', b: 11 } },
        { method: 'PATCH', path: '/names/a', body: { b: 11 } },
        { method: 'PATCH', path: '/names/none', body: { b: 1 } },
        { method: 'DELETE', path: '/names/none' },
        { method: 'POST', path: '/names', body: [] },
        { method: 'POST', path: '/names', body: { key: 'b', c: 1 } },
      ];
      for (const wanted of requests) {
        expect((await paths.same(wanted)).status, JSON.stringify(wanted)).to.be.above(399);
      }
    });

    it('are equal for any values', () =>
      fc.assert(
        fc.asyncProperty(THING, THING, async (before, after) => {
          await sameWrite(paths, { method: 'POST', path: '/things', body: before });
          await sameWrite(paths, { method: 'PATCH', path: '/things/1', body: after }, [OLD], before);
        }),
        { numRuns: wholeOr(12, 50) },
      ));
  });
});

interface Cursors {
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

/** Rows with every hard value. */
async function fill({ site }: TwoPaths): Promise<void> {
  const { sequelize } = site.engine;
  await sequelize.query('TRUNCATE things, odds RESTART IDENTITY');
  await Thing.create({});
  for (const [name, value] of Object.entries(VALUES)) {
    await Thing.create({ [name]: name === 'bytes' ? Buffer.from(String(value), 'base64') : value });
  }
  for (const assignment of STORED) {
    const { id } = await Thing.create({});
    await sequelize.query(`UPDATE things SET ${assignment} WHERE id = ${id}`);
  }
  for (const assignment of STORED_ODDS) {
    const { id } = await Odd.create({});
    await sequelize.query(`UPDATE odds SET ${assignment} WHERE id = ${id}`);
  }
}

/** Reads each row by either path; how many there were. */
async function expectEqualReads(paths: TwoPaths): Promise<number> {
  const things = await Thing.count();
  for (let id = 1; id <= things; id += 1) await paths.same({ path: `/things/${id}` });
  for (const path of FILES.flatMap((file) => [`/things?${file}&sort=-text`, `/odds?${file}`]))
    expect((await paths.same({ path })).status).to.equal(200);
  for (let id = 1; id <= STORED_ODDS.length; id += 1) await paths.same({ path: `/odds/${id}` });
  return things;
}

const OLD = 'UPDATE things SET "updatedAt" = \'2000-01-01\'';

/** Writes by either path to a table with one row of the given values; the stored rows are equal, too. */
async function sameWrite(
  paths: TwoPaths,
  wanted: WholeRequest,
  prepare: readonly string[] = [],
  row: object = {},
): Promise<WholeAnswer> {
  const { sequelize } = paths.site.engine;
  const outcomes = [];
  for (const path of [paths.fast, paths.general]) {
    // Faster than TRUNCATE.
    await sequelize.query("DELETE FROM things; SELECT setval('things_id_seq', 1, false)");
    if (wanted.method !== 'POST') {
      await ask(paths.general, { method: 'POST', path: '/things', body: row });
      for (const text of prepare) await sequelize.query(text);
    }
    const answer = await ask(path, wanted);
    const [stored] = await sequelize.query('SELECT things::text AS text FROM things', {
      useMaster: true,
    } as never);
    outcomes.push({
      ...answer,
      headers: answer.headers.filter((line) => !line.startsWith('ETag')),
      body: withoutNow(answer.body),
      stored: withoutNow(JSON.stringify(stored)),
    });
  }
  expect(outcomes[0], JSON.stringify({ wanted, row })).to.deep.equal(outcomes[1]);
  return outcomes[0] as WholeAnswer;
}

/** The moment of a write in place of which there is `now`. */
function withoutNow(text: string): string {
  const today = new Date().toISOString().slice(0, 10);
  return text.replaceAll(new RegExp(`${today}[ T][0-9:.]*(?:Z|\\+00)`, 'g'), 'now');
}

for (const setting of [
  'bytea_output=escape',
  'DateStyle=German',
  'DateStyle=SQL,DMY',
  'extra_float_digits=0',
].slice(wholeOr(3, 0))) {
  describe(`the two paths where the server has ${setting}`, () => {
    const paths = forSuite(() =>
      TwoPaths.start({
        models: [Thing, Odd],
        engine: { dialectOptions: { options: `-c ${setting}` } },
        bootstrap: { logger: new CapturedLog() },
      }),
    );

    it('read the same', async () => {
      await fill(paths);
      expect(await expectEqualReads(paths)).to.be.above(30);
    });
  });
}
