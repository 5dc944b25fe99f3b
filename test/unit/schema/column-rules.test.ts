import { expect } from 'chai';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { columnRules } from '../../../src/schema/column-rules.js';

const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const DOUBLE: ColumnType = { kind: 'float', maximum: Number.MAX_VALUE };
const VARCHAR_3: ColumnType = { kind: 'string', maxLength: 3 };

/** The names of the rules that a value breaks. */
function brokenRules(type: ColumnType, value: unknown): string[] {
  return columnRules(type)
    .filter(({ check }) => !check(value))
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
    type: { kind: 'other', sqlType: 'INET' },
    accepted: ['127.0.0.1', 5, [1, 2], {}],
    refused: [['a\0', 'isStorableJson']],
  },
  {
    label: 'a range',
    type: { kind: 'other', sqlType: 'RANGE', bound: INT4 },
    accepted: [[], [1, 2], ['a', null], [{ value: 1, inclusive: false }, { value: null }], [{}, 'x']],
    refused: [
      [1, 'isRange'],
      ['[1,2)', 'isRange'],
      [{}, 'isRange'],
      [{ 0: 1, 1: 2, length: 2 }, 'isRange'],
      [[1], 'isRange'],
      [[1, 2, 3], 'isRange'],
      [[1, [2]], 'isRange'],
      [[1, true], 'isRange'],
      [[1, { value: {} }], 'isRange'],
      [[1, { inclusive: 1 }], 'isRange'],
      [[1, { toString: 1 }], 'isRange'],
      [['\0', null], 'isStorableJson'],
      [[1, 1e99], 'isJsonNumber'],
    ],
  },
  {
    label: 'a range of moments',
    type: { kind: 'other', sqlType: 'RANGE', bound: { kind: 'date', isPrecise: true } },
    accepted: [[], [null, 'infinity'], ['-infinity', { value: new Date(0), inclusive: true }]],
    refused: [
      [['2026-01-31T08:00:00', null], 'isRange'],
      [[null, { value: '2026-01-31' }], 'isRange'],
      [[new Date(Number.NaN), null], 'isRange'],
    ],
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
