import { expect } from 'chai';
import fc from 'fast-check';
import { types } from 'pg';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { textFormat } from '../../../src/respond/text-format.js';
import { wireFormat } from '../../../src/respond/wire-format.js';

type Parser = (text: string) => unknown;

const asText: Parser = (text) => text;
const parserOf = (oid: number): Parser => types.getTypeParser(oid, 'text') as Parser;

/** Types of the model, and of a column that may be behind one. */
const KINDS: Readonly<Record<string, ColumnType>> = {
  integer: { kind: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  float: { kind: 'float', maximum: Number.MAX_VALUE },
  boolean: { kind: 'boolean' },
  bigint: { kind: 'bigint' },
  decimal: { kind: 'decimal', precision: null, scale: null },
  uuid: { kind: 'uuid' },
  time: { kind: 'time' },
  string: { kind: 'string', maxLength: null },
  enum: { kind: 'enum', values: ['a'] },
  date: { kind: 'date' },
  dateonly: { kind: 'dateonly' },
  json: { kind: 'json' },
  blob: { kind: 'blob' },
};

const TEXTS = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11 12 t 2026-01-3" NaN';

/** Texts of PostgreSQL, by the name of the column's type. */
const COLUMNS: Readonly<Record<string, readonly [oid: number, ...texts: string[]]>> = {
  bool: [16, 't', 'f'],
  bytea: [17, '\\x00ff', '\\x'],
  int8: [20, '0', '-9223372036854775808', '9007199254740993'],
  int4: [23, '0', '-7', '2147483647'],
  text: [25, '', 'a"b', 'back\\slash', '\u0001\u2028', ...TEXTS.split(' ')],
  json: [114, '{"a":1}', '[1,null]', 'null', '"x"'],
  float8: [
    701,
    ...'0 -0 0.1 1e+20 1e-07 NaN Infinity 123456789012345 1e+15 -12.75 999999999.999999'.split(' '),
  ],
  date: [1082, '2026-01-31', '12026-01-31', '0044-03-15 BC', 'infinity', '31.01.2026'],
  time: [1083, '08:00:00', '24:00:00', '08:00:00.000001'],
  timestamptz: [
    1184,
    '2026-01-31 08:00:00+00',
    '2026-01-31 08:00:00.5+00',
    '2026-01-31 08:00:00.123456+00',
    '2026-01-31 08:00:00.123999+05:30',
    '0044-03-15 12:00:00+00 BC',
    '12026-01-31 08:00:00+00',
    'infinity',
  ],
  numeric: [1700, '0', '-0.10', '12345678901234567890.1', 'NaN', 'Infinity'],
  uuid: [2950, '0f8fad5b-d9cb-469f-a165-70867728950e'],
};

/** The JSON of the driver's value. */
function throughValue(type: ColumnType, parse: Parser, text: string): string {
  return JSON.stringify(wireFormat(type)(parse(text))) ?? 'null';
}

describe('textFormat', () => {
  for (const [kind, type] of Object.entries(KINDS)) {
    for (const [column, [oid, ...texts]] of Object.entries(COLUMNS)) {
      it(`writes a column of type ${column} behind an attribute of type ${kind} as the driver's value would be`, () => {
        const parse = parserOf(oid);
        const format = textFormat(type, parse);
        for (const text of texts) expect(format(text), text).to.equal(throughValue(type, parse, text));
      });
    }

    it(`writes any text behind an attribute of type ${kind} so that it can be read`, () => {
      const format = textFormat(type, asText);
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), (text) => {
          expect(format(text)).to.equal(throughValue(type, asText, text));
        }),
      );
    });
  }

  it("asks a parser of the user's", () => {
    const format = textFormat(KINDS['integer'] as ColumnType, (text) => ({ text }));
    expect(format('7')).to.equal('{"text":"7"}');
  });

  it('does not mind a parser that throws at what is no value of its type', () => {
    const format = textFormat(KINDS['string'] as ColumnType, (text) => JSON.parse(text) as unknown);
    expect(format('{"a":1}')).to.equal('{"a":1}');
  });
});
