/** Measures of groups: equal to those of a reference in JavaScript, by either executor; and times in their zones. */
// @runs once
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { type Dice, dice } from '../../support/dice.js';
import { forSuite } from '../../support/for-suite.js';
import { execute, freshDatabase } from '../../support/postgres.js';
import { wholeOr } from '../../support/short.js';
import { TwoPaths } from '../../support/two-paths.js';

const NUMBERS = ['amount', 'total', 'price', 'weight'] as const;
const UNITS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

const OPTIONS: CrudOptions = {
  filterAllow: '*',
  aggregate: {
    group: ['shop', 'kind', 'open', 'day', { at: UNITS, day: ['month', 'week'], clock: ['hour', 'day'] }],
    sum: NUMBERS,
    avg: NUMBERS,
    min: [...NUMBERS, 'shop', 'kind', 'day', 'at', 'clock'],
    max: [...NUMBERS, 'shop', 'kind', 'day', 'at'],
    countDistinct: ['shop', 'amount', 'open', 'at'],
  },
};

@Crud(OPTIONS)
@Table({ tableName: 'sales', timestamps: false })
class Sale extends Model {
  @Column(DataType.STRING(10)) declare shop: string | null;
  @Column(DataType.ENUM('a', 'c', 'b')) declare kind: string | null;
  @Column(DataType.BOOLEAN) declare open: boolean | null;
  @Column(DataType.INTEGER) declare amount: number | null;
  @Column(DataType.BIGINT) declare total: string | null;
  @Column(DataType.DECIMAL(24, 3)) declare price: string | null;
  @Column(DataType.DOUBLE) declare weight: number | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.DATE) declare clock: Date | null;
}

const TABLE = `CREATE TYPE enum_sales_kind AS ENUM ('a', 'c', 'b');
  CREATE TABLE sales (id serial PRIMARY KEY, shop varchar(10), kind enum_sales_kind, open boolean, amount integer, total bigint,
    price numeric(24,3), weight float8, day date, at timestamptz, clock timestamp)`;

type Text = string | null;
type Row = Readonly<Record<string, Text>>;

/** Rows as texts of PostgreSQL. Weights are halves, whose sums are exact in any order. */
function randomRow({ once, pick, roll }: Dice): Row {
  const orNull = (text: string): Text => (once(5) ? null : text);
  return {
    shop: orNull(pick(['north', 'south', "o'b,x", ''])),
    kind: orNull(pick(['a', 'b', 'c'])),
    open: orNull(pick(['true', 'false'])),
    amount: orNull(String(roll(2000) - 1000)),
    total: orNull(pick(['9223372036854775807', '-9223372036854775808', String(roll(1e9))])),
    price: orNull(
      `${roll(2) === 0 ? '-' : ''}${roll(1e6)}${pick(['', '000000000000000'])}.${String(roll(1000)).padStart(3, '0')}`,
    ),
    weight: orNull(String((roll(4000) - 2000) / 2)),
    day: orNull(`2026-0${1 + roll(3)}-0${1 + roll(9)}`),
  };
}

/** Decimals as integers of thousandths. */
function thousandths(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(3, '0')}`);
}

function decimal(value: bigint, digits: number): string {
  const sign = value < 0n ? '-' : '';
  const text = String(value < 0n ? -value : value).padStart(digits + 1, '0');
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Half away from zero, as PostgreSQL rounds decimals, without the zeros at the end. */
function average(sum: bigint, count: number, digits: number): string {
  const scaled = sum * 10n ** BigInt(10 - digits);
  const half = BigInt(count);
  const twice = 2n * (scaled < 0n ? -scaled : scaled);
  const rounded = (twice + half) / (2n * half);
  return decimal(scaled < 0n ? -rounded : rounded, 10)
    .replace(/\.?0+$/, '')
    .replace(/^-0$/, '0');
}

const KIND_ORDER = ['a', 'c', 'b'];

/** The measures of rows of one attribute. */
function measuresOf(name: string, rows: readonly Row[]) {
  const texts = rows.flatMap((row) => row[name] ?? []);
  const digits = name === 'price' ? 3 : 0;
  if (texts.length === 0) return { sum: null, avg: null, min: null, max: null };
  if (name === 'weight') {
    const values = texts.map(Number);
    const sum = values.reduce((whole, each) => whole + each, 0);
    return { sum, avg: sum / values.length, min: Math.min(...values), max: Math.max(...values) };
  }
  const values = texts.map((text) => (digits === 3 ? thousandths(text) : BigInt(text)));
  const sum = values.reduce((whole, each) => whole + each, 0n);
  const sorted = values.toSorted((first, second) => (first < second ? -1 : first > second ? 1 : 0));
  const wire = (value: bigint) => (name === 'amount' ? Number(value) : decimal(value, digits));
  return {
    sum: decimal(sum, digits),
    avg: average(sum, values.length, digits),
    min: wire(sorted[0] as bigint),
    max: wire(sorted.at(-1) as bigint),
  };
}

/** PostgreSQL's order of groups: NULL last, texts by bytes, labels as they were declared. */
function placeOf(name: string, value: unknown): string {
  if (value === null) return '~~';
  return name === 'kind' ? String(KIND_ORDER.indexOf(String(value))) : String(value);
}

describe('the measures of groups', () => {
  const paths = forSuite(async () => {
    const database = await freshDatabase();
    await execute(database.url, TABLE);
    return TwoPaths.start({
      models: [Sale],
      database,
      engine: { createAll: false },
      bootstrap: { logger: new CapturedLog() },
    });
  });
  const fill = async (rows: readonly Row[]): Promise<void> => {
    const { sequelize } = paths.site.engine;
    const replacements = { rows: JSON.stringify(rows) };
    await sequelize.query('TRUNCATE sales');
    await sequelize.query(
      "INSERT INTO sales SELECT (jsonb_populate_record(s, r)).* FROM jsonb_array_elements(:rows) WITH ORDINALITY AS x(r0, n), LATERAL (SELECT r0 || jsonb_build_object('id', n) AS r) AS y, (SELECT NULL::sales AS s) AS z",
      { replacements },
    );
  };
  const ask = async (query: Record<string, string>) => {
    const answer = await paths.same({ path: `/sales/aggregate?${new URLSearchParams(query)}` });
    return { status: answer.status, body: JSON.parse(answer.body) };
  };

  it('are those of a reference, for random rows and groups', async () => {
    const random = dice(46);
    for (let round = 0; round < wholeOr(4, 12); round += 1) {
      const rows = Array.from({ length: round === 0 ? 0 : 1 + random.roll(200) }, () => randomRow(random));
      await fill(rows);
      for (let turn = 0; turn < 6; turn += 1) {
        const group = random.some(['shop', 'kind', 'open', 'day'], 0, 3);
        const numbers = random.some([...NUMBERS], 1, 2);
        const isFiltered = random.once(2);
        const found = rows.filter(({ amount }) => !isFiltered || (amount !== null && Number(amount) > 0));
        const names = numbers.join(',');
        const { status, body } = await ask({
          ...(group.length > 0 ? { group: group.join(',') } : {}),
          sum: names,
          avg: names,
          min: names,
          max: names,
          countDistinct: 'shop',
          size: '1000',
          ...(isFiltered ? { q: 'amount>0' } : {}),
        });
        const groups = new Map<string, Row[]>(group.length === 0 ? [['', []]] : []);
        for (const row of found) {
          const key = JSON.stringify(group.map((name) => row[name]));
          groups.set(group.length === 0 ? '' : key, [
            ...(groups.get(group.length === 0 ? '' : key) ?? []),
            row,
          ]);
        }
        const expected = [...groups].map(([, own]) => {
          const measured = numbers.map((name) => [name, measuresOf(name, own)] as const);
          const of = (measure: 'sum' | 'avg' | 'min' | 'max') =>
            Object.fromEntries(measured.map(([name, each]) => [name, each[measure]]));
          const wire = (name: string, text: Text) =>
            name === 'open' && text !== null ? text === 'true' : text;
          return {
            group: Object.fromEntries(group.map((name) => [name, wire(name, own[0]?.[name] ?? null)])),
            count: own.length,
            sum: of('sum'),
            avg: of('avg'),
            min: of('min'),
            max: of('max'),
            countDistinct: { shop: new Set(own.flatMap(({ shop }) => shop ?? [])).size },
          };
        });
        const place = (item: (typeof expected)[number]) =>
          group.map((name) => placeOf(name, item.group[name])).join('\n');
        const sorted = (items: typeof expected) =>
          items.toSorted((first, second) => (place(first) < place(second) ? -1 : 1));
        expect(status).to.equal(200);
        expect(body.has_next).to.equal(false);
        // The order of texts is that of the database.
        expect(sorted(body.items)).to.deep.equal(sorted(expected));
      }
    }
  });

  it('are null for no rows, which are one group without a group, and none with one', async () => {
    await fill([]);
    expect(await ask({ sum: 'amount', avg: 'weight', min: 'at', countDistinct: 'shop' })).to.deep.equal({
      status: 200,
      body: {
        items: [
          {
            group: {},
            count: 0,
            sum: { amount: null },
            avg: { weight: null },
            min: { at: null },
            countDistinct: { shop: 0 },
          },
        ],
        has_next: false,
      },
    });
    expect((await ask({ group: 'shop', sum: 'amount' })).body).to.deep.equal({ items: [], has_next: false });
  });

  it('are refused where floats add up to more than the largest one', async () => {
    await fill([{ weight: '1e308' }, { weight: '1e308' }]);
    for (const measure of ['sum', 'avg']) {
      const { status, body } = await ask({ [measure]: 'amount,weight' });
      const detail = `Parameter '${measure}' adds up floats to more than the largest one; narrow it with q.`;
      const errors = [{ parameter: measure, code: 'aggregate.range', detail }];
      expect([status, body]).to.deep.equal([400, { detail, errors }]);
    }
  });

  it('are in the document with exactly what the option has', () => {
    const { paths: described, components } = paths.site.crud.openapi();
    const { operationId, parameters = [], responses } = described['/sales/aggregate']?.get ?? {};
    const valuesOf = (name: string) => {
      const { schema } = parameters.find((each) => each.name === name) ?? {};
      return [schema?.type, Object(schema?.items).enum ?? null];
    };
    expect([operationId, Object.keys(responses ?? {})]).to.deep.equal([
      'aggregateSales',
      ['200', '400', '405', '500', '503', '504'],
    ]);
    expect(parameters.map(({ name }) => name)).to.deep.equal([
      ...['q', 'group', 'sum', 'avg', 'min', 'max', 'countDistinct', 'having', 'sort', 'size', 'page', 'tz'],
    ]);
    expect(valuesOf('sum')).to.deep.equal(['array', [...NUMBERS]]);
    expect(valuesOf('group')).to.deep.equal([
      'array',
      [
        'shop',
        'kind',
        'open',
        'day',
        ...UNITS.map((unit) => `at.${unit}`),
        'day.month',
        'day.week',
        'clock.hour',
        'clock.day',
      ],
    ]);
    expect(responses?.['200']).to.deep.equal({
      description: 'A page of groups.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/SaleGroups' } } },
    });
    const { items, ...page } = components.schemas['SaleGroups']?.properties ?? {};
    expect(Object.keys(page)).to.deep.equal(['has_next', 'tz']);
    const { properties = {}, required } = Object(Object(items).items);
    expect([Object.keys(properties), required]).to.deep.equal([
      ['group', 'count', 'sum', 'avg', 'min', 'max', 'countDistinct'],
      ['group', 'count'],
    ]);
    const exact = {
      type: ['string', 'null'],
      description: 'An exact decimal number.',
      examples: ['1466146500'],
    };
    expect(properties.sum).to.deep.equal({
      type: 'object',
      properties: { amount: exact, total: exact, price: exact, weight: { type: ['number', 'null'] } },
      additionalProperties: false,
    });
    expect(Object.keys(properties.group.properties)).to.deep.equal(valuesOf('group')[1]);
    expect(properties.group.properties['at.week']).to.deep.equal({
      type: ['string', 'null'],
      format: 'date',
    });
    expect(properties.group.properties.kind).to.deep.equal({
      type: ['string', 'null'],
      enum: ['a', 'c', 'b', null],
    });
    expect(properties.max.properties.at.type).to.deep.equal(['string', 'null']);
  });

  describe('of chosen rows', () => {
    beforeEach(() =>
      fill([
        {
          shop: 'b',
          kind: 'b',
          amount: '1',
          weight: 'NaN',
          price: '1.5',
          at: '2026-03-28T23:30:00Z',
          day: '2026-01-01',
        },
        {
          shop: 'a',
          kind: 'c',
          amount: '2',
          weight: 'Infinity',
          price: '2',
          at: '2026-03-28T22:30:00.0001Z',
          day: null,
        },
        {
          shop: 'a',
          kind: 'a',
          amount: null,
          weight: '1',
          price: '0.001',
          at: '2026-03-28T22:30:00.0002Z',
          day: '2026-05-09',
        },
        {
          shop: null,
          kind: null,
          amount: '5',
          at: 'infinity',
          clock: '2026-03-29T02:30:00',
          day: '2026-01-31',
        },
      ]),
    );

    it('have the wire types of their attributes, and moments as answers show them', async () => {
      const { body } = await ask({
        group: 'shop',
        min: 'kind,day,at,price',
        max: 'kind,shop',
        avg: 'weight',
        countDistinct: 'at',
      });
      expect(body.items).to.deep.equal([
        {
          group: { shop: 'a' },
          count: 2,
          avg: { weight: 'Infinity' },
          min: { kind: 'a', day: '2026-05-09', at: '2026-03-28T22:30:00.000Z', price: '0.001' },
          max: { kind: 'c', shop: 'a' },
          countDistinct: { at: 1 },
        },
        {
          group: { shop: 'b' },
          count: 1,
          avg: { weight: 'NaN' },
          min: { kind: 'b', day: '2026-01-01', at: '2026-03-28T23:30:00.000Z', price: '1.500' },
          max: { kind: 'b', shop: 'b' },
          countDistinct: { at: 1 },
        },
        {
          group: { shop: null },
          count: 1,
          avg: { weight: null },
          min: { kind: null, day: '2026-01-31', at: 'infinity', price: null },
          max: { kind: null, shop: null },
          countDistinct: { at: 1 },
        },
      ]);
    });

    it('are ordered and chosen by measures, page by page', async () => {
      const shops = async (query: Record<string, string>) => {
        const { body } = await ask({
          group: 'shop',
          sum: 'amount,price',
          min: 'day',
          max: 'kind',
          avg: 'weight',
          ...query,
        });
        return [body.items.map((item: { group: { shop: Text } }) => item.group.shop), body.has_next];
      };
      expect(await shops({ sort: '-sum.amount' })).to.deep.equal([[null, 'a', 'b'], false]);
      expect(await shops({ sort: '-count,-shop' })).to.deep.equal([['a', null, 'b'], false]);
      expect(await shops({ sort: 'min.day', size: '2' })).to.deep.equal([['b', null], true]);
      expect(await shops({ sort: 'min.day', size: '2', page: '2' })).to.deep.equal([['a'], false]);
      expect(await shops({ having: 'count>=2' })).to.deep.equal([['a'], false]);
      expect(await shops({ having: 'sum.amount>1.5;sum.amount<3' })).to.deep.equal([['a'], false]);
      expect(await shops({ having: 'sum.price=isnull=true,max.kind==b' })).to.deep.equal([
        ['b', null],
        false,
      ]);
      expect(await shops({ having: 'min.day=between=(2026-01-01,2026-01-31)' })).to.deep.equal([
        ['b', null],
        false,
      ]);
      expect(await shops({ having: 'avg.weight>0;sum.amount=in=(1,2)' })).to.deep.equal([['a', 'b'], false]);
      expect((await ask({ having: 'count>4' })).body).to.deep.equal({ items: [], has_next: false });
    });

    it('are by hours, days and longer spans of a zone', async () => {
      const keys = async (query: Record<string, string>) => {
        const { body } = await ask(query);
        return [
          Object.values(body.items.map((item: { group: object }) => Object.values(item.group)[0])),
          body.tz,
        ];
      };
      expect(await keys({ group: 'at.day' })).to.deep.equal([['2026-03-28', 'infinity'], 'UTC']);
      expect(await keys({ group: 'at.day', tz: 'Europe/Berlin' })).to.deep.equal([
        ['2026-03-28', '2026-03-29', 'infinity'],
        'Europe/Berlin',
      ]);
      expect(await keys({ group: 'at.hour', tz: 'Asia/Kolkata' })).to.deep.equal([
        ['2026-03-28T22:30:00.000Z', '2026-03-28T23:30:00.000Z', 'infinity'],
        'Asia/Kolkata',
      ]);
      expect(await keys({ group: 'clock.hour', q: 'clock=isnull=false' })).to.deep.equal([
        ['2026-03-29T02:00:00.000'],
        undefined,
      ]);
      expect(await keys({ group: 'clock.day', q: 'clock=isnull=false' })).to.deep.equal([
        ['2026-03-29'],
        undefined,
      ]);
      expect(await keys({ group: 'day.month' })).to.deep.equal([
        ['2026-01-01', '2026-05-01', null],
        undefined,
      ]);
    });
  });

  it('belong to spans of days that no moment has', async () => {
    await fill(
      ['5874897-12-31', '400000-02-29', 'infinity', '4713-01-03 BC', '2026-05-09'].map((day) => ({ day })),
    );
    const spans = async (group: string) => {
      const { body } = await ask({ group });
      return body.items.map((item: { group: object }) => Object.values(item.group)[0]);
    };
    expect(await spans('day.month')).to.deep.equal([
      ...['-004712-01-01', '2026-05-01', '+400000-02-01', '+5874897-12-01', 'infinity'],
    ]);
    expect(await spans('day.week')).to.deep.equal([
      ...['-004713-12-29', '2026-05-04', '+400000-02-28', '+5874897-12-30', 'infinity'],
    ]);
  });

  it('belong to spans of the clocks of a zone where these are beyond the last moment', async () => {
    await fill(
      [
        '294276-12-31T20:00:00Z',
        '289999-12-31T20:00:00Z',
        '290000-02-28T20:00:00Z',
        'infinity',
        '-infinity',
      ].map((at) => ({ at })),
    );
    const spans = async (group: string, tz: string) => {
      const { body } = await ask({ group, tz });
      return body.items.map((item: { group: object }) => Object.values(item.group)[0]);
    };
    expect(await spans('at.day', 'Asia/Tokyo')).to.deep.equal([
      ...['-infinity', '+290000-01-01', '+290000-02-29', '+294277-01-01', 'infinity'],
    ]);
    expect(await spans('at.year', 'UTC')).to.deep.equal([
      ...['-infinity', '+289999-01-01', '+290000-01-01', '+294276-01-01', 'infinity'],
    ]);
  });

  it('belong to the days of the zone where clocks change', async () => {
    const moments: readonly (readonly [
      at: string,
      zone: string,
      unit: (typeof UNITS)[number],
      begin: string,
    ])[] = [
      ['2026-03-28T22:59:59Z', 'Europe/Berlin', 'day', '2026-03-28'],
      ['2026-03-29T21:59:59Z', 'Europe/Berlin', 'day', '2026-03-29'],
      ['2026-03-29T22:00:00Z', 'Europe/Berlin', 'day', '2026-03-30'],
      ['2026-10-24T22:00:00Z', 'Europe/Berlin', 'day', '2026-10-25'],
      ['2026-10-25T22:59:59Z', 'Europe/Berlin', 'day', '2026-10-25'],
      ['2026-10-25T00:30:00Z', 'Europe/Berlin', 'hour', '2026-10-25T00:00:00.000Z'],
      ['2026-10-25T01:30:00Z', 'Europe/Berlin', 'hour', '2026-10-25T01:00:00.000Z'],
      ['2026-06-01T18:29:59Z', 'Asia/Kolkata', 'day', '2026-06-01'],
      ['2026-06-01T18:30:00Z', 'Asia/Kolkata', 'month', '2026-06-01'],
      ['2026-06-01T18:30:00Z', 'Asia/Kolkata', 'hour', '2026-06-01T18:30:00.000Z'],
      ['2026-01-01T03:29:59Z', 'America/St_Johns', 'year', '2025-01-01'],
      ['2026-01-01T03:30:00Z', 'America/St_Johns', 'quarter', '2026-01-01'],
      ['2011-12-30T09:59:59Z', 'Pacific/Apia', 'day', '2011-12-29'],
      ['2011-12-30T10:00:00Z', 'Pacific/Apia', 'day', '2011-12-31'],
      ['2026-01-04T23:59:59Z', 'UTC', 'week', '2025-12-29'],
      ['2026-01-05T00:00:00Z', 'UTC', 'week', '2026-01-05'],
      ['2026-06-30T23:30:00Z', 'Europe/London', 'quarter', '2026-07-01'],
    ];
    await fill(moments.map(([at]) => ({ at })));
    for (const [at, tz, unit, begin] of moments) {
      const { status, body } = await ask({ group: `at.${unit}`, tz, q: `at==${at}` });
      const name = `${at} ${tz} ${unit}`;
      expect({ status, items: body.items, tz: body.tz }, name).to.deep.equal({
        status: 200,
        items: [
          { group: { [`at.${unit}`]: begin }, count: moments.filter(([other]) => other === at).length },
        ],
        tz,
      });
    }
    // The hour that comes twice stays two; the day is one.
    const night = { q: 'at=between=(2026-10-25T00:00:00Z,2026-10-25T02:00:00Z)', tz: 'Europe/Berlin' };
    expect((await ask({ group: 'at.hour', ...night })).body.items).to.have.length(2);
    expect((await ask({ group: 'at.day', ...night })).body.items).to.have.length(1);
  });
});
