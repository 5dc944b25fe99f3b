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
  /** Values by the rules that each of them breaks. */
  readonly refused: Readonly<Record<string, readonly unknown[]>>;
}[] = [
  {
    label: 'varchar(3), counted in code points',
    type: VARCHAR_3,
    accepted: ['', 'abc', '🎈🎈🎈', 'é́', 'a\ufe0f\ufe0e'],
    refused: {
      maxLength: ['abcd', '🎈🎈🎈🎈', `a${'\ufe0f'.repeat(1000)}`, '👨‍👩‍👧'],
      'isStorableText maxLength': ['abc\0'],
      isString: [1234],
    },
  },
  {
    label: 'int4',
    type: INT4,
    accepted: [0, 2147483647, -2147483648, 1.0],
    refused: {
      max: [2147483648, Number('9007199254740993'), 1e308],
      min: [-2147483649, -1e308],
      isInt: [1.5, '1', '', true, [1], 1n],
      'isInt min max': [Number.NaN],
      'isInt max': [Number.POSITIVE_INFINITY],
    },
  },
  {
    label: 'double precision',
    type: DOUBLE,
    accepted: [0, -0, 1.5, 1e308, -Number.MAX_VALUE, Number.MIN_VALUE],
    refused: { 'isNumber max': [Number.POSITIVE_INFINITY, Number.NaN], isNumber: ['1.5', true] },
  },
  {
    label: 'timestamptz',
    type: { kind: 'date' },
    accepted: ['2026-01-31T10:00:00+02:00', new Date(0)],
    refused: { isDateTime: ['foo 7', 1769846400000, new Date(Number.NaN)] },
  },
  {
    label: 'bytea',
    type: { kind: 'blob' },
    accepted: ['', 'AA==', Buffer.from([0])],
    refused: { isBase64: ['A', [0]] },
  },
  {
    label: 'jsonb',
    type: { kind: 'json' },
    accepted: ['', 'x', 0, -0, 1e40, [-1e-40], false, null, [], {}, { a: [{ b: null }] }, '🎈', '1e308'],
    refused: {
      isJsonNumber: [1e41, [1, { a: -1e-41 }], { a: [Number.POSITIVE_INFINITY] }],
      isStorableJson: [
        ...['\0', ['\ud83d'], { a: 'b\0' }, { 'a\0': 1 }, { constructor: 1 }, { prototype: 1 }],
        JSON.parse('{"a":[{"__proto__":1}]}'),
      ],
    },
  },
  {
    label: 'a type of the database only',
    type: { kind: 'other', sqlType: 'TSVECTOR' },
    accepted: ['a', 5, [1, 2], {}],
    refused: { isStorableJson: ['a\0'] },
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
    refused: {
      isRange: [
        1,
        '[1,2)',
        {},
        [1, 2],
        [1, 2].map((value) => ({ value, inclusive: true })),
        { lower: 1 },
        { lower: 1, upper: 2, bounds: '[' },
        { lower: 1, upper: 2, step: 1 },
        { empty: false },
        { empty: true, lower: null, upper: null },
        { lower: 2, upper: 1 },
        { lower: '1', upper: 2 },
        { lower: 1, upper: 2147483648 },
        { lower: [1], upper: true },
      ],
    },
  },
  {
    label: 'nummultirange',
    type: { kind: 'multirange', bound: { kind: 'decimal', precision: null, scale: null } },
    accepted: [[], [{ empty: true }, { lower: '1.5', upper: 'Infinity' }, { lower: null, upper: '-3' }]],
    refused: {
      isMultirange: [
        ...[{ empty: true }, '{}', [null], [{ lower: 1, upper: null }], [{ lower: '10', upper: '9.5' }]],
        ...[[{ lower: 'NaN', upper: 'Infinity' }], [{ lower: '1', upper: '-Infinity' }]],
      ],
    },
  },
  {
    label: 'tstzrange',
    type: { kind: 'range', bound: { kind: 'date', isPrecise: true } },
    accepted: [
      { lower: null, upper: 'infinity' },
      { lower: '2026-01-31T08:00:00.123456Z', upper: '2026-01-31T10:00:00+01:00' },
    ],
    refused: {
      isRange: [
        { lower: '2026-01-31T08:00:00', upper: null },
        { lower: null, upper: '2026-01-31' },
        { lower: 'infinity', upper: '2026-01-31T08:00:00Z' },
        { lower: '2026-01-31T08:00:00Z', upper: '2026-01-31T08:00:00+01:00' },
      ],
    },
  },
  {
    label: 'daterange, declared as a text',
    type: { kind: 'range', bound: { kind: 'dateonly' }, isText: true },
    accepted: [{ empty: true }, { lower: '2026-01-31', upper: 'infinity' }],
    refused: {
      isRange: [
        '[2026-01-01,2026-01-02)',
        { lower: '2026-02-30', upper: null },
        { lower: '2026-02-02', upper: '2026-02-01' },
      ],
    },
  },
  {
    label: 'inet',
    type: { kind: 'network', form: 'inet' },
    accepted: ['10.1.2.3', '10.1.2.3/8', '0.0.0.0/0', '::', '::ffff:1.2.3.4', '2001:DB8::1/128'],
    refused: {
      isNetwork: [
        1,
        '',
        ' 10.1.2.3',
        ...'10/8 10.1.2 010.1.2.3 10.1.2.3/33 10.1.2.3/08 10.1.2.3/ fe80::1%eth0 ::/129 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1:2:3:4::5:6:7:8 1::2::3 ::: 1.2.3.4:: ::1.2.3 12345::'.split(
          ' ',
        ),
      ],
    },
  },
  {
    label: 'cidr',
    type: { kind: 'network', form: 'cidr' },
    accepted: '10.0.0.0/8 10.1.2.3/32 ::/0 2001:db8::/32 ::ffff:1.2.3.0/120 1:2:3:4:5:6:7:8/128'.split(' '),
    refused: { isNetwork: ['10.0.0.0', '10.0.0.1/8', '::ffff:1.2.3.4/120', '2001:db8:8000::/32'] },
  },
  {
    label: 'macaddr',
    type: { kind: 'network', form: 'macaddr' },
    accepted: ['08:00:2b:01:02:03', '08:00:2B:01:02:03'],
    refused: { isNetwork: ['08-00-2b-01-02-03', '08:00:2b:01:02', '08:00:2b:ff:fe:01:02:03'] },
  },
  {
    label: 'interval',
    type: { kind: 'interval' },
    accepted:
      'P1Y2M3W4DT5H6M7.000001S PT0S P-1Y2D PT-0.5S infinity P178956970Y7M PT2562047788H54.775807S'.split(' '),
    refused: {
      isDuration: [
        ...[1, '', '1 day'],
        ...'P PT P1DT -P1D P1.5D PT1.1234567S P178956970Y8M P2147483648D PT2562047788H54.775808S'.split(' '),
      ],
    },
  },
  {
    label: 'money',
    type: { kind: 'money', sample: '$1,234,567.89' },
    accepted: ['0', '-12.5', '12.50', '12.500', '92233720368547758.07', '-92233720368547758.08'],
    refused: { isMoney: [12.5, '12.345', '12,5', '$12', 'NaN', '1e2', '92233720368547758.08'] },
  },
  {
    label: 'money where there are no decimals',
    type: { kind: 'money', sample: '￥1,234,568' },
    accepted: ['12', '12.0'],
    refused: { isMoney: ['12.5'] },
  },
  {
    label: 'bit(3)',
    type: { kind: 'bit', length: 3, isVarying: false },
    accepted: ['101'],
    refused: { isBits: ['10', '1010', '102', 101] },
  },
  {
    label: 'bit varying(3)',
    type: { kind: 'bit', length: 3, isVarying: true },
    accepted: ['', '101'],
    refused: { isBits: ['1010'] },
  },
  {
    label: 'a virtual attribute',
    type: { kind: 'virtual' },
    accepted: ['anything', 5, {}],
    refused: { isStorableJson: [{ constructor: 1 }] },
  },
  {
    label: 'varchar(3)[]',
    type: { kind: 'array', element: VARCHAR_3 },
    accepted: [[], ['abc', ''], ['🎈🎈🎈']],
    refused: {
      isArray: ['abc', { 0: 'abc', length: 1 }],
      maxLengthEach: [['abcd']],
      isStringEach: [['a', 5], ['a', true], [['a', 5]]],
      isStorableTextEach: [['a\0']],
      isRectangular: [[['a'], 'a'], [['a'], ['a', 'b']], [[]]],
    },
  },
  {
    label: 'int4[][]',
    type: { kind: 'array', element: { kind: 'array', element: INT4 } },
    accepted: [[], [[]], [[1], [2]]],
    refused: { isArrayEach: [[1]], isIntEachEach: [[[1.5]]], maxEachEach: [[[2147483648]]] },
  },
];

describe('[A7 B9] columnRules', () => {
  for (const { label, type, accepted, refused } of CASES) {
    describe(`of ${label}`, () => {
      it('hold for what the column takes', () => {
        for (const value of accepted) expect([value, brokenRules(type, value)]).to.deep.equal([value, []]);
      });

      it('refuse what it does not take, each mistake under its name', () => {
        for (const [rules, values] of Object.entries(refused)) {
          for (const value of values) {
            expect([value, brokenRules(type, value)]).to.deep.equal([value, rules.split(' ')]);
          }
        }
      });
    });
  }
});
