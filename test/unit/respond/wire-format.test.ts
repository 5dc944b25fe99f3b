import { expect } from 'chai';
import fc from 'fast-check';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { ownFormat, wireFormat } from '../../../src/respond/wire-format.js';
import { parseColumnValue } from '../../../src/schema/wire-value.js';

const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const DOUBLE: ColumnType = { kind: 'float', maximum: Number.MAX_VALUE };
const DECIMAL: ColumnType = { kind: 'decimal', precision: null, scale: null };

describe('wireFormat', () => {
  for (const [label, type, value, expected] of [
    ['bigint texts', { kind: 'bigint' }, '9007199254740993', '9007199254740993'],
    ['bigint numbers', { kind: 'bigint' }, 42, '42'],
    ['BigInts', { kind: 'bigint' }, 9007199254740993n, '9007199254740993'],
    ['decimal texts', DECIMAL, '1.50', '1.50'],
    ['decimal numbers', DECIMAL, 1.5, '1.5'],
    ['decimal NaN', DECIMAL, 'NaN', 'NaN'],
    ['floats', DOUBLE, 1.5, 1.5],
    ['float NaN', DOUBLE, Number.NaN, 'NaN'],
    ['float infinity', DOUBLE, Number.NEGATIVE_INFINITY, '-Infinity'],
    ['dates', { kind: 'date' }, new Date(Date.UTC(2026, 0, 31, 8)), '2026-01-31T08:00:00.000Z'],
    ['date texts', { kind: 'date' }, '2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.000Z'],
    ['infinite dates', { kind: 'date' }, Number.POSITIVE_INFINITY, 'infinity'],
    ['invalid dates', { kind: 'date' }, new Date(Number.NaN), null],
    ['days', { kind: 'dateonly' }, '2026-01-31', '2026-01-31'],
    ['days of early years', { kind: 'dateonly' }, '0044-03-15 BC', '-000043-03-15'],
    ['days of the year 0', { kind: 'dateonly' }, '0001-03-15 BC', '0000-03-15'],
    ['days of late years', { kind: 'dateonly' }, '12026-01-01', '+012026-01-01'],
    ['infinite days', { kind: 'dateonly' }, Number.NEGATIVE_INFINITY, '-infinity'],
    ['times', { kind: 'time' }, '08:00:00', '08:00:00'],
    [
      'uuids',
      { kind: 'uuid' },
      '6F9619FF-8B86-D011-B42D-00C04FC964FF',
      '6f9619ff-8b86-d011-b42d-00c04fc964ff',
    ],
    ['bytes', { kind: 'blob' }, Buffer.from([1, 2]), 'AQI='],
    ['typed arrays', { kind: 'blob' }, new Uint8Array([1, 2]), 'AQI='],
    ['booleans', { kind: 'boolean' }, false, false],
    ['integers', INT4, -7, -7],
    ['JSON', { kind: 'json' }, { a: [null] }, { a: [null] }],
    ['array elements', { kind: 'array', element: { kind: 'bigint' } }, [1n, null, '2'], ['1', null, '2']],
    [
      'nested array elements',
      { kind: 'array', element: { kind: 'array', element: { kind: 'date' } } },
      [[new Date(0)], []],
      [['1970-01-01T00:00:00.000Z'], []],
    ],
    ['what is no array', { kind: 'array', element: INT4 }, 'x', 'x'],
  ] as const satisfies readonly (readonly [string, ColumnType, unknown, unknown])[]) {
    it(`writes ${label}`, () => expect(wireFormat(type)(value)).to.deep.equal(expected));
  }

  it('writes what a body of the same column is read from', () => {
    const values: readonly (readonly [ColumnType, fc.Arbitrary<unknown>])[] = [
      [
        { kind: 'date' },
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31'), noInvalidDate: true }),
      ],
      [{ kind: 'blob' }, fc.uint8Array().map((bytes) => Buffer.from(bytes))],
      [{ kind: 'uuid' }, fc.uuid()],
      [{ kind: 'bigint' }, fc.bigInt().map(String)],
      [
        { kind: 'array', element: { kind: 'date' } },
        fc.array(fc.date({ min: new Date(0), max: new Date(1e12) })),
      ],
    ];
    for (const [type, value] of values) {
      fc.assert(
        fc.property(value, (original) => {
          fc.pre(!JSON.stringify(original).includes('null'));
          const written: unknown = JSON.parse(JSON.stringify(wireFormat(type)(original)));
          expect(parseColumnValue(type, written)).to.deep.equal(original);
        }),
      );
    }
  });

  it('writes nothing that JSON rounds or leaves out', () => {
    for (const type of [DOUBLE, DECIMAL, { kind: 'bigint' }, { kind: 'date' }] as const) {
      fc.assert(
        fc.property(fc.oneof(fc.double(), fc.date(), fc.bigInt()), (value) => {
          fc.pre(type.kind !== 'float' || typeof value === 'number');
          fc.pre(type.kind !== 'date' || typeof value !== 'bigint');
          const written = wireFormat(type)(value);
          expect(JSON.parse(JSON.stringify(written))).to.deep.equal(Object.is(written, -0) ? 0 : written);
        }),
      );
    }
  });
});

describe('ownFormat', () => {
  for (const [value, expected] of [
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(Number.NaN), null],
    [Buffer.from([1, 2]), 'AQI='],
    [5n, '5'],
    [Number.NaN, null],
    [5, 5],
    ['x', 'x'],
    [null, null],
    [undefined, undefined],
    [false, false],
  ] as const) {
    it(`writes ${typeof value === 'object' ? JSON.stringify(value) : String(value)} by what it is`, () =>
      expect(ownFormat(value)).to.equal(expected));
  }
});
