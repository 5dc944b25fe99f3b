import { expect } from 'chai';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { columnRules } from '../../../src/schema/column-rules.js';
import { parseColumnValue } from '../../../src/schema/wire-value.js';

const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const DOUBLE: ColumnType = { kind: 'float', maximum: Number.MAX_VALUE };
const VARCHAR_3: ColumnType = { kind: 'string', maxLength: 3 };

/** The names of the rules that a value breaks. */
function brokenRules(type: ColumnType, value: unknown): string[] {
  return columnRules(type)
    .filter(({ check }) => !check(parseColumnValue(type, value)))
    .map(({ name }) => name);
}

/** Each text of a date, a time, a number, a UUID or bytes is in `wire-value.test.ts`. */
const CASES: readonly {
  readonly label: string;
  readonly type: ColumnType;
  readonly accepted: readonly unknown[];
  readonly refused: readonly (readonly [value: unknown, ...rules: string[]])[];
}[] = [
  {
    label: 'varchar(3), counted in code points',
    type: VARCHAR_3,
    accepted: ['', 'abc', '🎈🎈🎈', 'é́', 'a\ufe0f\ufe0e'],
    refused: [
      ['abcd', 'maxLength'],
      ['🎈🎈🎈🎈', 'maxLength'],
      [`a${'\ufe0f'.repeat(1000)}`, 'maxLength'],
      ['👨‍👩‍👧', 'maxLength'],
      ['abc\0', 'isStorableText', 'maxLength'],
      [1234, 'isString'],
    ],
  },
  {
    label: 'int4',
    type: INT4,
    accepted: [0, 2147483647, -2147483648, 1.0],
    refused: [
      [2147483648, 'max'],
      [-2147483649, 'min'],
      [Number('9007199254740993'), 'max'],
      [1e308, 'max'],
      [-1e308, 'min'],
      [1.5, 'isInt'],
      [Number.NaN, 'isInt', 'min', 'max'],
      [Number.POSITIVE_INFINITY, 'isInt', 'max'],
      ['1', 'isInt'],
      ['', 'isInt'],
      [true, 'isInt'],
      [[1], 'isInt'],
      [1n, 'isInt'],
    ],
  },
  {
    label: 'double precision',
    type: DOUBLE,
    accepted: [0, -0, 1.5, 1e308, -Number.MAX_VALUE, Number.MIN_VALUE],
    refused: [
      [Number.POSITIVE_INFINITY, 'isNumber', 'max'],
      [Number.NaN, 'isNumber', 'max'],
      ['1.5', 'isNumber'],
      [true, 'isNumber'],
    ],
  },
  {
    label: 'timestamptz',
    type: { kind: 'date' },
    accepted: ['2026-01-31T10:00:00+02:00', new Date(0)],
    refused: [
      ['foo 7', 'isDateTime'],
      [1769846400000, 'isDateTime'],
      [new Date(Number.NaN), 'isDateTime'],
    ],
  },
  {
    label: 'bytea',
    type: { kind: 'blob' },
    accepted: ['', 'AA==', Buffer.from([0])],
    refused: [
      ['A', 'isBase64'],
      [[0], 'isBase64'],
    ],
  },
  {
    label: 'jsonb',
    type: { kind: 'json' },
    accepted: ['', 'x', 0, -0, 1e40, [-1e-40], false, null, [], {}, { a: [{ b: null }] }, '🎈', '1e308'],
    refused: [
      [1e41, 'isJsonNumber'],
      [[1, { a: -1e-41 }], 'isJsonNumber'],
      [{ a: [Number.POSITIVE_INFINITY] }, 'isJsonNumber'],
      ['\0', 'isStorableJson'],
      [['\ud83d'], 'isStorableJson'],
      [{ a: 'b\0' }, 'isStorableJson'],
      [{ 'a\0': 1 }, 'isStorableJson'],
      [JSON.parse('{"a":[{"__proto__":1}]}'), 'isStorableJson'],
      [{ constructor: 1 }, 'isStorableJson'],
      [{ prototype: 1 }, 'isStorableJson'],
    ],
  },
  {
    label: 'a type of the database only',
    type: { kind: 'other', sqlType: 'TSVECTOR' },
    accepted: ['a', 5, [1, 2], {}],
    refused: [['a\0', 'isStorableJson']],
  },
  {
    label: 'int4range',
    type: { kind: 'range', bound: INT4 },
    accepted: [
      { empty: true },
      { lower: 1, upper: 11, bounds: '[)' },
      { lower: null, upper: 1 },
      { lower: 1, upper: 1, bounds: '[]' },
    ],
    refused: [
      [1, 'isRange'],
      ['[1,2)', 'isRange'],
      [{}, 'isRange'],
      [[1, 2], 'isRange'],
      [
        [
          { value: 1, inclusive: true },
          { value: 2, inclusive: false },
        ],
        'isRange',
      ],
      [{ lower: 1 }, 'isRange'],
      [{ lower: 1, upper: 2, bounds: '[' }, 'isRange'],
      [{ lower: 1, upper: 2, step: 1 }, 'isRange'],
      [{ empty: false }, 'isRange'],
      [{ empty: true, lower: null, upper: null }, 'isRange'],
      [{ lower: 2, upper: 1 }, 'isRange'],
      [{ lower: '1', upper: 2 }, 'isRange'],
      [{ lower: 1, upper: 2147483648 }, 'isRange'],
      [{ lower: [1], upper: true }, 'isRange'],
    ],
  },
  {
    label: 'nummultirange',
    type: { kind: 'multirange', bound: { kind: 'decimal', precision: null, scale: null } },
    accepted: [[], [{ empty: true }, { lower: '1.5', upper: 'Infinity' }, { lower: null, upper: '-3' }]],
    refused: [
      [{ empty: true }, 'isMultirange'],
      ['{}', 'isMultirange'],
      [[null], 'isMultirange'],
      [[{ lower: 1, upper: null }], 'isMultirange'],
      [[{ lower: '10', upper: '9.5' }], 'isMultirange'],
      [[{ lower: 'NaN', upper: 'Infinity' }], 'isMultirange'],
      [[{ lower: '1', upper: '-Infinity' }], 'isMultirange'],
    ],
  },
  {
    label: 'tstzrange',
    type: { kind: 'range', bound: { kind: 'date', isPrecise: true } },
    accepted: [
      { lower: null, upper: 'infinity' },
      { lower: '2026-01-31T08:00:00.123456Z', upper: '2026-01-31T10:00:00+01:00' },
    ],
    refused: [
      [{ lower: '2026-01-31T08:00:00', upper: null }, 'isRange'],
      [{ lower: null, upper: '2026-01-31' }, 'isRange'],
      [{ lower: 'infinity', upper: '2026-01-31T08:00:00Z' }, 'isRange'],
      [{ lower: '2026-01-31T08:00:00Z', upper: '2026-01-31T08:00:00+01:00' }, 'isRange'],
    ],
  },
  {
    label: 'daterange, declared as a text',
    type: { kind: 'range', bound: { kind: 'dateonly' }, isText: true },
    accepted: [{ empty: true }, { lower: '2026-01-31', upper: 'infinity' }],
    refused: [
      ['[2026-01-01,2026-01-02)', 'isRange'],
      [{ lower: '2026-02-30', upper: null }, 'isRange'],
      [{ lower: '2026-02-02', upper: '2026-02-01' }, 'isRange'],
    ],
  },
  {
    label: 'inet',
    type: { kind: 'network', form: 'inet' },
    accepted: ['10.1.2.3', '10.1.2.3/8', '0.0.0.0/0', '::', '::ffff:1.2.3.4', '2001:DB8::1/128'],
    refused: [
      [1, 'isNetwork'],
      ['', 'isNetwork'],
      ['10/8', 'isNetwork'],
      ['10.1.2', 'isNetwork'],
      ['010.1.2.3', 'isNetwork'],
      ['10.1.2.3/33', 'isNetwork'],
      ['10.1.2.3/08', 'isNetwork'],
      ['10.1.2.3/', 'isNetwork'],
      [' 10.1.2.3', 'isNetwork'],
      ['fe80::1%eth0', 'isNetwork'],
      ['::/129', 'isNetwork'],
      ['1:2:3:4:5:6:7', 'isNetwork'],
      ['1:2:3:4:5:6:7:8:9', 'isNetwork'],
      ['1:2:3:4::5:6:7:8', 'isNetwork'],
      ['1::2::3', 'isNetwork'],
      [':::', 'isNetwork'],
      ['1.2.3.4::', 'isNetwork'],
      ['::1.2.3', 'isNetwork'],
      ['12345::', 'isNetwork'],
    ],
  },
  {
    label: 'cidr',
    type: { kind: 'network', form: 'cidr' },
    accepted: [
      '10.0.0.0/8',
      '10.1.2.3/32',
      '::/0',
      '2001:db8::/32',
      '::ffff:1.2.3.0/120',
      '1:2:3:4:5:6:7:8/128',
    ],
    refused: [
      ['10.0.0.0', 'isNetwork'],
      ['10.0.0.1/8', 'isNetwork'],
      ['::ffff:1.2.3.4/120', 'isNetwork'],
      ['2001:db8:8000::/32', 'isNetwork'],
    ],
  },
  {
    label: 'macaddr',
    type: { kind: 'network', form: 'macaddr' },
    accepted: ['08:00:2b:01:02:03', '08:00:2B:01:02:03'],
    refused: [
      ['08-00-2b-01-02-03', 'isNetwork'],
      ['08:00:2b:01:02', 'isNetwork'],
      ['08:00:2b:ff:fe:01:02:03', 'isNetwork'],
    ],
  },
  {
    label: 'interval',
    type: { kind: 'interval' },
    accepted: [
      'P1Y2M3W4DT5H6M7.000001S',
      'PT0S',
      'P-1Y2D',
      'PT-0.5S',
      'infinity',
      'P178956970Y7M',
      'PT2562047788H54.775807S',
    ],
    refused: [
      [1, 'isDuration'],
      ['', 'isDuration'],
      ['P', 'isDuration'],
      ['PT', 'isDuration'],
      ['P1DT', 'isDuration'],
      ['-P1D', 'isDuration'],
      ['1 day', 'isDuration'],
      ['P1.5D', 'isDuration'],
      ['PT1.1234567S', 'isDuration'],
      ['P178956970Y8M', 'isDuration'],
      ['P2147483648D', 'isDuration'],
      ['PT2562047788H54.775808S', 'isDuration'],
    ],
  },
  {
    label: 'money',
    type: { kind: 'money', sample: '$1,234,567.89' },
    accepted: ['0', '-12.5', '12.50', '12.500', '92233720368547758.07', '-92233720368547758.08'],
    refused: [
      [12.5, 'isMoney'],
      ['12.345', 'isMoney'],
      ['12,5', 'isMoney'],
      ['$12', 'isMoney'],
      ['NaN', 'isMoney'],
      ['1e2', 'isMoney'],
      ['92233720368547758.08', 'isMoney'],
    ],
  },
  {
    label: 'money where there are no decimals',
    type: { kind: 'money', sample: '￥1,234,568' },
    accepted: ['12', '12.0'],
    refused: [['12.5', 'isMoney']],
  },
  {
    label: 'bit(3)',
    type: { kind: 'bit', length: 3, isVarying: false },
    accepted: ['101'],
    refused: [
      ['10', 'isBits'],
      ['1010', 'isBits'],
      ['102', 'isBits'],
      [101, 'isBits'],
    ],
  },
  {
    label: 'bit varying(3)',
    type: { kind: 'bit', length: 3, isVarying: true },
    accepted: ['', '101'],
    refused: [['1010', 'isBits']],
  },
  {
    label: 'a virtual attribute',
    type: { kind: 'virtual' },
    accepted: ['anything', 5, {}],
    refused: [[{ constructor: 1 }, 'isStorableJson']],
  },
  {
    label: 'varchar(3)[]',
    type: { kind: 'array', element: VARCHAR_3 },
    accepted: [[], ['abc', ''], ['🎈🎈🎈']],
    refused: [
      ['abc', 'isArray'],
      [{ 0: 'abc', length: 1 }, 'isArray'],
      [['abcd'], 'maxLengthEach'],
      [['a', 5], 'isStringEach'],
      [['a', true], 'isStringEach'],
      [['a\0'], 'isStorableTextEach'],
      [[['a', 5]], 'isStringEach'],
      [[['a'], 'a'], 'isRectangular'],
      [[['a'], ['a', 'b']], 'isRectangular'],
      [[[]], 'isRectangular'],
    ],
  },
  {
    label: 'int4[][]',
    type: { kind: 'array', element: { kind: 'array', element: INT4 } },
    accepted: [[], [[]], [[1], [2]]],
    refused: [
      [[1], 'isArrayEach'],
      [[[1.5]], 'isIntEachEach'],
      [[[2147483648]], 'maxEachEach'],
    ],
  },
];

describe('[A7 B9] columnRules', () => {
  for (const { label, type, accepted, refused } of CASES) {
    describe(`of ${label}`, () => {
      it('hold for what the column takes', () => {
        for (const value of accepted) expect([value, brokenRules(type, value)]).to.deep.equal([value, []]);
      });

      it('refuse what it does not take, each mistake under its name', () => {
        for (const [value, ...rules] of refused) {
          expect([value, brokenRules(type, value)]).to.deep.equal([value, rules]);
        }
      });
    });
  }
});
