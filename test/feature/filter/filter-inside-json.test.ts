/** `q` on values inside of JSONB: compared as the types of the option, and never a failure, whatever the rows hold. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { KeyedRow, TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

const PATHS = {
  'details.text': 'string',
  'details.number': 'number',
  'details.flag': 'boolean',
  'details.deep.text': 'string',
  'details.deep.0': 'number',
  'details.null': 'string',
} as const;

@Crud({ filterAllow: { title: true, details: true, ...PATHS } } as object)
@Table({ tableName: 'items', timestamps: false })
class Item extends TitledRow {
  @Column({ type: DataType.JSONB, field: 'the details' }) declare details: unknown;
  @ForeignKey(() => Box) @Column(DataType.INTEGER) declare boxId: number | null;
  @BelongsTo(() => Box, 'boxId') declare box?: object | null;
}

@Crud({
  pagination: 'cursor',
  filterAllow: {
    items: { 'details.text': 'string', 'box.label.colour': 'string' },
    'label.colour': 'string',
  },
  include: { items: UNGUARDED, 'items.box': UNGUARDED },
  fields: { label: { read: (request: Request) => request.headers['key'] !== undefined } },
} as object)
@Table({ tableName: 'boxes', timestamps: false })
class Box extends KeyedRow {
  @Column(DataType.JSONB) declare label: unknown;
  @HasMany(() => Item, 'boxId') declare items?: Item[];
}

const ITEMS: readonly (readonly [title: string, details: unknown])[] = [
  ['none', null],
  ['empty', {}],
  ['a', { text: 'a', number: 1, flag: true, deep: { text: 'x', 0: 7 } }],
  ['b', { text: 'b', number: 10, flag: false, deep: [8] }],
  ['c', { text: "o'c", number: 9.5, flag: null, deep: 'text' }],
  ['texts', { text: '"', number: '9', flag: 'true' }],
  ['others', { text: 5, number: true, flag: 1, deep: null }],
  ['nested', { text: ['a'], number: { number: 1 }, flag: [true], deep: { text: { text: 'x' } } }],
  ['null', { text: null, number: null, null: 'null' }],
  ['array', [{ text: 'a', number: 1 }]],
  ['scalar', 'text'],
  ['large', { text: 'ä\u{1f642}', number: 1e300, deep: { text: '' } }],
  ['small', { text: 'NULL', number: -0.0000001 }],
];

describe('filtering by a value inside of JSON', () => {
  const bootstrap = { logger: new CapturedLog() };
  const paths = forSuite(() => TwoPaths.start({ models: [Box, Item] as ModelClass[], bootstrap }));

  before(async () => {
    await Box.bulkCreate([
      { id: 1, label: { colour: 'red' } },
      { id: 2, label: { colour: 'blue' } },
    ] as never[]);
    await Item.bulkCreate(
      ITEMS.map(([title, details], index) => ({ title, details, boxId: 1 + (index % 2) })) as never[],
    );
    const { sequelize } = paths.site.engine;
    // More digits than JavaScript has, and a null of JSON's in the place of all.
    await sequelize.query(`INSERT INTO items (id, title, "the details") VALUES
      (100, 'exact', '{"number": 12345678901234567890.5}'), (101, 'json null', 'null')`);
  });

  const get = (path: string, q: string, headers = {}) =>
    paths.same({ path: `/${path}?${new URLSearchParams({ q, size: '50' })}`, headers });

  async function found(q: string): Promise<string[]> {
    const { status, body } = await get('items', q);
    expect(status, body).to.equal(200);
    const { items, total } = JSON.parse(body);
    expect(total).to.equal(items.length);
    return items.map(({ title }: Item) => title);
  }

  // All operators, and values of other types, are in compare-filters.
  for (const [q, titles] of [
    ['details.text==a', ['a']],
    ['details.text==5', []],
    ['details.text=="[\\"a\\"]"', []],
    ['details.text==null', []],
    ['details.text==NULL', ['small']],
    ['details.text=in=(a,\'o\\\'c\',"\\"")', ['a', 'c', 'texts']],
    ['details.number==1.0', ['a']],
    ['details.number=in=(1,1e1,1e300)', ['a', 'b', 'large']],
    ['details.number==12345678901234567890.5', ['exact']],
    ['details.number==12345678901234567890', []],
    ['details.flag!=true', ['b']],
    ['details.deep.text==x', ['a']],
    ['details.deep.text==""', ['large']],
    ['details.deep.0==7', ['a']],
    ['details.deep.0=isnull=false', ['a']],
    ['details.null=isnull=false', ['null']],
    [
      'details.text=isnull=true',
      ['none', 'empty', 'others', 'nested', 'null', 'array', 'scalar', 'exact', 'json null'],
    ],
    ['details.text==a,details.number>9', ['a', 'b', 'c', 'large', 'exact']],
    ['details=isnull=true', ['none']],
  ] as const) {
    it(`finds ${titles.length} by ${q}`, async () => expect(await found(q)).to.deep.equal(titles));
  }

  it('takes each text for itself', async () => {
    for (const text of ["'", "''", '\\', '$1', '?', ':x', '{"a":1}', "' OR 1=1 --", '%', '*']) {
      await Item.update({ details: { text } } as never, { where: { title: 'scalar' } });
      const quoted = `"${text.replace(/["\\]/g, '\\$&')}"`;
      expect(await found(`details.text==${quoted}`), text).to.deep.equal(['scalar']);
      expect(await found(`details.text=in=(${quoted})`), text).to.deep.equal(['scalar']);
    }
    await Item.update({ details: 'text' } as never, { where: { title: 'scalar' } });
  });

  for (const [q, code, position, detail] of [
    ['details.number==a', 'q.type', 16, "'a' is not a number (field 'details.number')."],
    ['details.number==NaN', 'q.type', 16, "'NaN' is not a number (field 'details.number')."],
    ['details.number<Infinity', 'q.type', 15, "'Infinity' is not a number (field 'details.number')."],
    ['details.number==1e309', 'q.range', 16, "'1e309' is outside the range of 'details.number'."],
    ['details.number==01', 'q.type', 16, "'01' is not a number (field 'details.number')."],
    ['details.flag==1', 'q.type', 14, "'1' is not true or false (field 'details.flag')."],
    [
      'details.number==null',
      'q.type',
      16,
      "'null' is not a number (field 'details.number'). Use details.number=isnull=true.",
    ],
    [
      'details.flag>true',
      'q.operator-not-allowed',
      12,
      "'>' is not available for 'details.flag' (boolean). Use ==, !=, =in=, =out=, =isnull=.",
    ],
  ] as const) {
    it(`refuses ${q}`, async () => {
      const { status, body } = await get('items', q);
      const { allowed: _, ...issue } = JSON.parse(body).errors[0];
      expect([status, issue]).to.deep.equal([400, { parameter: 'q', code, detail, position }]);
    });
  }

  it('knows no other path', async () => {
    for (const name of 'details.other details.deep details.text.x details. details.__proto__ title.text'.split(
      ' ',
    )) {
      const { status, body } = await get('items', `${name}==x`);
      expect([status, JSON.parse(body).errors[0].code], name).to.deep.equal([400, 'q.unknown-field']);
    }
  });

  it('is a condition on related rows, too', async () => {
    const key = { key: 'x' };
    for (const [q, ids] of [
      ['items=any=(details.text==a)', [1]],
      ['items=none=(details.text==b)', [1]],
      ['items=any=(box.label.colour==blue)', [2]],
      ['label.colour==red', [1]],
    ] as const) {
      const { status, body } = await get('boxes', q, key);
      expect(status, body).to.equal(200);
      const found = JSON.parse(body).items.map(({ id }: Box) => id);
      expect(found, q).to.deep.equal(ids);
    }
  });

  it('is unknown where the request may not read the column, as any other name', async () => {
    for (const [q, names] of [
      ['label.colour==red', ['items']],
      ['items=any=(box.label.colour==blue)', ['details.text', 'box']],
    ] as const) {
      const { status, body } = await get('boxes', q);
      const [{ code, allowed }] = JSON.parse(body).errors;
      expect([status, code, allowed], q).to.deep.equal([400, 'q.unknown-field', names]);
      const other = await get('boxes', q.replace('label.colour', 'lable.colour'));
      expect(other.body.replaceAll('lable', 'label')).to.equal(body);
    }
  });
});
