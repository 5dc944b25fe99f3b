import { expect } from 'chai';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { parseColumnValue } from '../../../src/schema/wire-value.js';

const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const PRICE: ColumnType = { kind: 'decimal', precision: 5, scale: 2 };
const TEXT: ColumnType = { kind: 'string', maxLength: null };

describe('parseColumnValue', () => {
  for (const [label, type, value, expected] of [
    ['a timestamp', { kind: 'date' }, '2026-01-31T10:00:00+02:00', new Date('2026-01-31T08:00:00Z')],
    ['base64', { kind: 'blob' }, 'AQI=', Buffer.from([1, 2])],
    ['an empty text as no bytes', { kind: 'blob' }, '', Buffer.alloc(0)],
    [
      'a uuid',
      { kind: 'uuid' },
      '6F9619FF-8B86-D011-B42D-00C04FC964FF',
      '6f9619ff-8b86-d011-b42d-00c04fc964ff',
    ],
    [
      'the elements of an array',
      { kind: 'array', element: { kind: 'date' } },
      ['1970-01-01T00:00:00Z', null, 'x'],
      [new Date(0), null, 'x'],
    ],
  ] as const) {
    it(`converts ${label}`, () => {
      expect(parseColumnValue(type, value)).to.deep.equal(expected);
    });
  }

  for (const [type, value] of [
    [{ kind: 'date' }, '2024-02-30T00:00:00Z'],
    [{ kind: 'date' }, 5],
    [{ kind: 'blob' }, 'A'],
    [{ kind: 'bigint' }, '9007199254740993'],
    [PRICE, '1.50'],
    [INT4, '5'],
    [{ kind: 'boolean' }, 'true'],
    [TEXT, ' A '],
    [{ kind: 'array', element: INT4 }, 'x'],
    [{ kind: 'json' }, { a: 1 }],
    [{ kind: 'date' }, null],
  ] as const satisfies readonly (readonly [ColumnType, unknown])[]) {
    it(`leaves ${JSON.stringify(value)} in ${type.kind} as it came`, () => {
      expect(parseColumnValue(type, value)).to.equal(value);
    });
  }
});
