import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'postgres-array';
import type { ColumnType } from '../../../../src/describe/column-type.js';
import { arrayLiteral, encodeParameter } from '../../../../src/execute/sql/encode-parameter.js';

const TEXT: ColumnType = { kind: 'string', maxLength: null };
const DATE: ColumnType = { kind: 'date' };
const BLOB: ColumnType = { kind: 'blob' };
const JSON_TYPE: ColumnType = { kind: 'json' };
const arrayOf = (element: ColumnType): ColumnType => ({ kind: 'array', element });

const CASES: readonly (readonly [type: ColumnType, value: unknown, text: string | null | undefined])[] = [
  [TEXT, null, null],
  [TEXT, '', ''],
  [{ kind: 'integer', minimum: 0, maximum: 9 }, -0, '0'],
  [{ kind: 'bigint' }, 9007199254740993n, '9007199254740993'],
  [{ kind: 'float', maximum: 1 }, 1e21, '1e+21'],
  [{ kind: 'boolean' }, false, 'false'],
  [DATE, new Date('2026-01-31T08:00:00.5Z'), '2026-01-31T08:00:00.500Z'],
  [DATE, new Date(Number.NaN), undefined],
  [DATE, '2026-01-31', undefined],
  [BLOB, Buffer.from([0, 255]), '\\x00ff'],
  [BLOB, 'text', undefined],
  [JSON_TYPE, 'text', '"text"'],
  [JSON_TYPE, { a: [1] }, '{"a":[1]}'],
  [arrayOf(TEXT), [], '{}'],
  [arrayOf(TEXT), ['a', null, '"\\'], '{"a",NULL,"\\"\\\\"}'],
  [arrayOf(arrayOf(TEXT)), [['a'], ['b']], '{{"a"},{"b"}}'],
  [arrayOf(BLOB), [Buffer.from([1])], '{"\\\\x01"}'],
  [arrayOf(DATE), ['x'], undefined],
  [arrayOf(TEXT), 'x', undefined],
  [TEXT, { literal: 'SQL' }, undefined],
];

describe('encodeParameter', () => {
  for (const [type, value, text] of CASES) {
    it(`gives ${text} for a value of type ${type.kind}`, () => {
      expect(encodeParameter(type, value)).to.equal(text);
    });
  }
});

describe('arrayLiteral', () => {
  it('can be read back, whatever is in it', () => {
    const values = fc.array(fc.option(fc.string({ unit: 'binary' })));
    fc.assert(
      fc.property(values, (members) => {
        expect(parse(arrayLiteral(members))).to.deep.equal(members);
      }),
    );
  });
});
