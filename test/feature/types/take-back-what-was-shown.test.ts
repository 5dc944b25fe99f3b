/** Values that JavaScript cannot hold: an answer has all of each, and a change with the answered values leaves the row as it is. */
import { expect } from 'chai';
import { QueryTypes, type DataType as Type } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { SERVES_MANY } from '../../support/combination.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

const MANY = SERVES_MANY ? (['updateMany'] as const) : [];

const FAR = `1${'0'.repeat(400)}`;
const NEAR = `0.${'0'.repeat(399)}1`;
const bounds = (lower: unknown, upper: unknown, ends = '[)') => ({ lower, upper, bounds: ends });

/** SQL of a value, and how it is shown. */
type Shown = readonly [sql: string, shown: unknown];

interface Kind {
  readonly type: Type;
  /** The type of the column. Default: Sequelize's own for the attribute. */
  readonly column?: string;
  readonly values: readonly Shown[];
  /** True where the text that is shown is all that there is, so that another row can be given it. */
  readonly isWhole: boolean;
}

const part = (type: Type, ...values: Shown[]): Kind => ({ type, values, isWhole: false });
const whole = (type: unknown, ...values: Shown[]): Kind => ({ type: type as Type, values, isWhole: true });

const ALL_TIME = bounds('2026-01-31T08:00:00.123456Z', 'infinity');
const EMPTY: Shown = [`'empty'`, { empty: true }];

const KINDS: Readonly<Record<string, Kind>> = {
  moment: whole(
    DataType.DATE,
    [`'275761-01-01 00:00:00+00'`, '+275761-01-01T00:00:00.000Z'],
    [`'294276-12-31 23:59:59.999+00'`, '+294276-12-31T23:59:59.999Z'],
    [`'4713-01-01 00:00:00+00 BC'`, '-004712-01-01T00:00:00.000Z'],
  ),
  micros: part(
    DataType.DATE,
    [`'294276-12-31 23:59:59.999999+00'`, '+294276-12-31T23:59:59.999Z'],
    [`'2026-01-31 08:00:00.123456+00'`, '2026-01-31T08:00:00.123Z'],
  ),
  local: {
    ...whole(DataType.DATE, [`'294276-12-31 23:59:59.999999'`, '+294276-12-31T23:59:59.999999']),
    column: 'timestamp',
  },
  moments: whole(DataType.ARRAY(DataType.DATE), [
    `'{{"275761-01-01 00:00:00.000001+00",infinity},{NULL,"2026-01-31 08:00:00.123456+00"}}'`,
    [
      ['+275761-01-01T00:00:00.000001Z', 'infinity'],
      [null, '2026-01-31T08:00:00.123456Z'],
    ],
  ]),
  during: whole(
    DataType.RANGE(DataType.DATE),
    [`'["2026-01-31 08:00:00.123456+00",infinity)'`, ALL_TIME],
    [`'(-infinity,]'`, bounds('-infinity', null, '()')],
    [
      `'("0044-03-15 12:00:00+00 BC","275761-01-01 00:00:00+00"]'`,
      bounds('-000043-03-15T12:00:00.000Z', '+275761-01-01T00:00:00.000Z', '(]'),
    ],
    EMPTY,
  ),
  meanwhile: {
    ...whole(DataType.RANGE(DataType.DATE), [
      `'["2026-01-31 08:00:00.123456","12026-01-31 08:00:00")'`,
      bounds('2026-01-31T08:00:00.123456', '+012026-01-31T08:00:00.000'),
    ]),
    column: 'tsrange',
  },
  days: whole(
    DataType.RANGE(DataType.DATEONLY),
    [`'["0044-03-15 BC",12026-01-01)'`, bounds('-000043-03-15', '+012026-01-01')],
    [`'[-infinity,infinity]'`, bounds('-infinity', 'infinity', '[]')],
  ),
  prices: whole(DataType.RANGE(DataType.DECIMAL), [`'[1.50,NaN]'`, bounds('1.50', 'NaN', '[]')]),
  times: whole(DataType.ARRAY(DataType.RANGE(DataType.DATE)), [
    `ARRAY['["2026-01-31 08:00:00.123456+00",infinity)', NULL, 'empty']::tstzrange[]`,
    [ALL_TIME, null, { empty: true }],
  ]),
  named: whole('TSTZRANGE', [`'["2026-01-31 08:00:00.123456+00",infinity)'`, ALL_TIME], EMPTY),
  several: whole('TSTZMULTIRANGE', [
    `'{["2026-01-31 08:00:00.123456+00","2026-02-01 00:00:00+00"],("275761-01-01 00:00:00+00",infinity)}'`,
    [
      bounds('2026-01-31T08:00:00.123456Z', '2026-02-01T00:00:00.000Z', '[]'),
      bounds('+275761-01-01T00:00:00.000Z', 'infinity', '()'),
    ],
  ]),
  place: whole('POINT', [`'(-0,1e300)'`, '(-0,1e+300)']),
  doc: part(
    DataType.JSONB,
    [`'null'`, null],
    [`'${FAR}'`, FAR],
    [`'{"a": [1, -1e400], "b": "1e400"}'`, { a: [1, `-${FAR}`], b: '1e400' }],
    [`'{"a": 1e-400, "b": [0e-400, 0.0, 1e-30]}'`, { a: NEAR, b: [0, 0, 1e-30] }],
    [`'12345678901234567890'`, 12345678901234567000],
    [`'{"a": 0.300000000000000041}'`, { a: 0.30000000000000004 }],
    [`'1.10'`, 1.1],
  ),
  text: part(
    DataType.JSON,
    [`'null'`, null],
    [`'{"a":1e400, "b\\"1e999": 1e5}'`, { a: '1e400', 'b"1e999': 100000 }],
    [`'{"a":-1e-400, "b":[0.0e-400, 1E-400000]}'`, { a: '-1e-400', b: [0, '1E-400000'] }],
  ),
  parts: part(DataType.ARRAY(DataType.JSONB), [`ARRAY['null', NULL, '1e400']::jsonb[]`, [null, null, FAR]]),
  wholes: part(
    DataType.ARRAY(DataType.INTEGER),
    [`'[0:1]={1,NULL}'`, [1, null]],
    [
      `'[2:3][1:2]={{1,2},{3,4}}'`,
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ),
  words: part(DataType.ARRAY(DataType.TEXT), [`'[0:1]={"=","{"}'`, ['=', '{']]),
  exacts: part(DataType.ARRAY(DataType.DECIMAL), [`'[-1:0]={1.50,NaN}'`, ['1.50', 'NaN']]),
  floats: part(DataType.ARRAY(DataType.DOUBLE), [`'[0:2]={1.5,NaN,-0}'`, [1.5, 'NaN', 0]]),
  sizes: part(DataType.ARRAY(DataType.ENUM('s', 'm')), [`'[0:0]={s}'`, ['s']]),
};

function modelOf(name: string, type: Type): ModelClass {
  class Kept extends Model {}
  Column(DataType.INTEGER)(Kept.prototype, 'id');
  PrimaryKey(Kept.prototype, 'id');
  Column(type)(Kept.prototype, 'value');
  Column(DataType.TEXT)(Kept.prototype, 'note');
  Object.defineProperty(Kept, 'name', { value: name });
  Table({ tableName: name, timestamps: false })(Kept);
  Crud({ prefix: `/${name}`, endpoints: ['list', 'read', 'create', 'update', 'replace', ...MANY] })(Kept);
  return Kept;
}

describe('a value that is sent back as it was shown', () => {
  const models = Object.entries(KINDS).map(([name, { type }]) => modelOf(name, type));
  const site = serveTestApp(() => ({ models, bootstrap: { models: [] } }));
  let agent: TestApp['agent'];
  const query = (text: string) => site.engine.sequelize.query(text);

  before(async () => {
    for (const [name, { column }] of Object.entries(KINDS)) {
      if (column) await query(`ALTER TABLE ${name} ALTER value TYPE ${column} USING NULL::${column}`);
    }
    ({ agent } = await buildApp({ models, indexAdvice: false }));
  });

  async function stored(table: string): Promise<(string | null)[]> {
    const text = `SELECT value::text FROM ${table} ORDER BY id`;
    const rows = await site.engine.sequelize.query<{ value: string | null }>(text, {
      type: QueryTypes.SELECT,
    });
    return rows.map(({ value }) => value);
  }

  for (const [name, { values, isWhole }] of Object.entries(KINDS)) {
    for (const [sql, shown] of values) {
      it(`stays: ${name} ${sql.slice(0, 60)}`, async () => {
        await query(
          `TRUNCATE ${name}; INSERT INTO ${name} VALUES (1, ${sql}), (2, ${sql}), (3, ${sql}), (4, ${sql})`,
        );
        const before = await stored(name);
        const { items } = (await agent.get(`/${name}?sort=id`)).body;
        expect(items.map(({ value }: { value: unknown }) => value)).to.deep.equal(Array(4).fill(shown));
        expect((await agent.get(`/${name}/1`)).body.value).to.deep.equal(shown);
        for (const answer of [
          await agent.patch(`/${name}/1`).send({ value: shown }),
          await agent.patch(`/${name}/2`).send({ value: shown, note: 'new' }),
          await agent.put(`/${name}/3`).send({ value: shown, note: 'new' }),
        ])
          expect([answer.status, answer.body.value], answer.text).to.deep.equal([200, shown]);
        if (SERVES_MANY) {
          const many = await agent.patch(`/${name}`).send([{ id: 4, value: shown, note: 'new' }]);
          expect(many.status, many.text).to.equal(200);
        }
        expect(await stored(name)).to.deep.equal(before);
        if (!isWhole) return;
        await query(`UPDATE ${name} SET value = NULL WHERE id = 1`);
        expect((await agent.patch(`/${name}/1`).send({ value: shown })).body.value).to.deep.equal(shown);
        expect((await agent.post(`/${name}`).send({ id: 5, value: shown })).status).to.equal(201);
        expect(new Set(await stored(name))).to.deep.equal(new Set(before));
      });
    }
  }

  it('is replaced by null, and by another value that differs in a microsecond, a bound or a digit', async () => {
    for (const [name, from, to] of [
      ['moment', '+275761-01-01T00:00:00.000Z', '+275761-01-01T00:00:00.001Z'],
      ['moments', ['2026-01-31T08:00:00.123456Z'], ['2026-01-31T08:00:00.123457Z']],
      [
        'during',
        bounds('2026-01-31T08:00:00.123456Z', null, '[)'),
        bounds('2026-01-31T08:00:00.123457Z', null),
      ],
      ['during', bounds('2026-01-31T08:00:00.000Z', null), bounds('2026-01-31T08:00:00.000Z', 'infinity')],
      ['days', bounds('2026-01-31', null), bounds('2026-01-30', null)],
      ['doc', { a: 0.30000000000000004 }, { a: 0.3 }],
      ['doc', FAR, `${FAR}0`],
      ['parts', [null], ['a']],
      ['wholes', [1, 2], [2, 1]],
    ] as const) {
      await query(`TRUNCATE ${name}`);
      await agent.post(`/${name}`).send({ id: 1, value: from });
      for (const value of [to, null, from, null]) {
        const { status, body } = await agent.patch(`/${name}/1`).send({ value });
        expect([status, body.value], name).to.deep.equal([200, value]);
        expect((await agent.get(`/${name}/1`)).body.value).to.deep.equal(value);
      }
    }
  });

  it('is refused where a moment of a range has an offset that is lacking, or is one too many', async () => {
    for (const [name, value] of [
      ['during', bounds('2026-01-31T08:00:00', null)],
      ['during', bounds('2026-01-31', null)],
      ['meanwhile', bounds('2026-01-31T08:00:00Z', null)],
    ] as const) {
      const { status, body } = await agent.post(`/${name}`).send({ id: 9, value });
      expect([status, body.errors?.[0].pointer], name).to.deep.equal([422, '/value']);
    }
  });
});
