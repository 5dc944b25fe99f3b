import { expect } from 'chai';
import fc from 'fast-check';
import { compileId, type ParsedId } from '../../../src/compile/compile-id.js';
import type { IdType } from '../../../src/declare/crud-options.js';
import type { ColumnType } from '../../../src/describe/column-type.js';
import type { AttributeInfo } from '../../../src/describe/model-info.js';
import { parseIdText } from '../../../src/schema/wire-value.js';

const INT4: ColumnType = { kind: 'integer', minimum: -2147483648, maximum: 2147483647 };
const INT2: ColumnType = { kind: 'integer', minimum: -32768, maximum: 32767 };
const TEXT: ColumnType = { kind: 'string', maxLength: null };
const IMPOSSIBLE: ParsedId = { kind: 'impossible' };

function keyOf(type: ColumnType): AttributeInfo {
  return { name: 'id', column: 'id', type, role: 'primaryKey', nullable: false, hasDefault: true };
}

function compile(type: ColumnType, idType?: IdType) {
  return compileId({ name: 'Article', address: [keyOf(type)] }, idType, parseIdText);
}

const problemsOf = (type: ColumnType, idType?: IdType) => compile(type, idType).problems;

function parserOf(type: ColumnType, idType?: IdType): (raw: string) => ParsedId {
  const { parser, problems } = compile(type, idType);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return parser;
}

function found(value: unknown): ParsedId {
  return { kind: 'id', value };
}

function malformed(expected: string): ParsedId {
  return { kind: 'malformed', expected };
}

describe('compileId', () => {
  describe('for a text key', () => {
    const parse = parserOf({ kind: 'string', maxLength: 3 });

    it('refuses what PostgreSQL cannot hold', () => {
      const expected = malformed('text without NUL characters');
      expect([parse('a\0'), parse('\ud83d')]).to.deep.equal([expected, expected]);
    });

    it('knows no limit where the column has none', () => {
      const long = 'x'.repeat(10_000);
      expect(parserOf(TEXT)(long)).to.deep.equal(found(long));
    });
  });

  it('reads the key of a network strictly, with an idType or without', () => {
    for (const idType of [undefined, String]) {
      const parse = parserOf({ kind: 'network', form: 'macaddr' }, idType);
      expect(parse('08:00:2b:01:02:03')).to.deep.equal(found('08:00:2b:01:02:03'));
      expect(parse('x')).to.deep.equal(malformed('a MAC address such as 08:00:2b:01:02:03'));
    }
  });

  describe('with an idType', () => {
    const pairs: readonly (readonly [IdType, IdType])[] = [
      ['integer', Number],
      ['bigint', BigInt],
      ['string', String],
    ];
    const key: ColumnType = { kind: 'other', sqlType: 'CITEXT' };
    const raws = ['7', '9007199254740993', '1.5', 'x', '', '9223372036854775808'];

    for (const [name, standIn] of pairs) {
      it(`reads '${String(name)}' and its constructor alike`, () => {
        const [byName, byStandIn] = [parserOf(key, name), parserOf(key, standIn)];
        expect(raws.map(byStandIn)).to.deep.equal(raws.map(byName));
      });
    }

    it('reads an integer only where a number is exact, when the column does not tell a range', () => {
      const parse = parserOf({ kind: 'bigint' }, Number);
      expect(['9007199254740991', '9007199254740992', '-9007199254740992'].map(parse)).to.deep.equal([
        found(9007199254740991),
        IMPOSSIBLE,
        IMPOSSIBLE,
      ]);
    });

    it('keeps the range of an integer column', () =>
      expect(parserOf(INT2, 'integer')('32768')).to.deep.equal(IMPOSSIBLE));

    it("keeps the length of a text column for a 'string'", () =>
      expect(parserOf({ kind: 'string', maxLength: 2 }, 'string')('abc')).to.deep.equal(IMPOSSIBLE));

    it('takes a function for a key of any type', () => {
      const parse = parserOf({ kind: 'date' }, (raw) => new Date(raw));
      expect(parse('2026-01-31')).to.deep.equal(found(new Date('2026-01-31')));
    });

    it("keeps the range of an integer column for a 'bigint'", () => {
      const parse = parserOf(INT2, 'bigint');
      expect([parse('32767'), parse('32768')]).to.deep.equal([found('32767'), IMPOSSIBLE]);
    });

    const misfits: readonly (readonly [IdType, name: string, ColumnType, others: string])[] = [
      ['string', 'string', INT4, "leave it out, or use 'integer', 'bigint' or a function"],
      [Number, 'integer', TEXT, "leave it out, or use 'bigint', 'uuid', 'string' or a function"],
      ['uuid', 'uuid', { kind: 'bigint' }, "leave it out, or use 'integer', 'bigint' or a function"],
      [BigInt, 'bigint', { kind: 'uuid' }, "leave it out, or use 'uuid' or a function"],
      [String, 'string', { kind: 'date' }, 'use a function'],
    ];
    for (const [idType, name, type, others] of misfits) {
      it(`refuses '${name}' for a key of type ${type.kind}`, () =>
        expect(problemsOf(type, idType)).to.deep.equal([
          `Article: idType '${name}' does not fit the primary key 'id', which is of type ${type.kind}; ${others}.`,
        ]));
    }

    for (const [idType, shown] of [
      ['int', '"int"'],
      [null, 'null'],
      [5n, '5n'],
      [{ kind: 'integer' }, "{ kind: 'integer' }"],
    ] as const) {
      it(`refuses ${shown}`, () =>
        expect(problemsOf(INT4, idType as never)).to.deep.equal([
          `Article: idType ${shown} is unknown; use 'integer', 'bigint', 'uuid', 'string' or a function.`,
        ]));
    }
  });

  for (const type of [
    { kind: 'float', maximum: 1 },
    { kind: 'json' },
    { kind: 'array', element: INT4 },
    { kind: 'blob' },
    { kind: 'virtual' },
    { kind: 'other', sqlType: 'INET' },
  ] satisfies ColumnType[]) {
    it(`asks for a function where the key is of type ${type.kind}`, () =>
      expect(problemsOf(type)).to.deep.equal([
        `Article: the primary key 'id' is of type ${type.kind}, which no path segment can hold; ` +
          'give @Crud an idType function that reads it.',
      ]));
  }

  describe('for any text at all', () => {
    const types: readonly ColumnType[] = [
      INT4,
      { kind: 'bigint' },
      { kind: 'uuid' },
      { kind: 'string', maxLength: 5 },
      { kind: 'enum', values: ['red'] },
    ];
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.bigInt().map(String),
      fc.double().map(String),
      fc.uuid(),
    );

    it('never throws, and says one of three things', () => {
      for (const parse of types.map((type) => parserOf(type))) {
        fc.assert(
          fc.property(anyText, (raw) => {
            expect(parse(raw).kind).to.be.oneOf(['id', 'malformed', 'impossible']);
          }),
        );
      }
    });

    it('[B1] reads every int4, and no other integer', () => {
      const parse = parserOf(INT4);
      fc.assert(
        fc.property(fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n }), (integer) => {
          const fits = integer >= -(2n ** 31n) && integer < 2n ** 31n;
          expect(parse(String(integer))).to.deep.equal(fits ? found(Number(integer)) : IMPOSSIBLE);
        }),
      );
    });

    it('reads every int8 as its text, and no other integer', () => {
      const parse = parserOf({ kind: 'bigint' });
      fc.assert(
        fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
          const fits = integer >= -(2n ** 63n) && integer < 2n ** 63n;
          expect(parse(String(integer))).to.deep.equal(fits ? found(String(integer)) : IMPOSSIBLE);
        }),
      );
    });
  });
});
