/** JSON Schemas of columns, against the rules of the columns: a schema is never stricter, and rarely wider. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { columnSchema } from '../../../src/schema/body-json-schema.js';
import { holdsColumnRules } from '../../../src/schema/column-rules.js';
import { holdsJsonNumbers } from '../../../src/schema/json-value.js';
import { schemaChecker } from '../../support/json-schema-checker.js';

const TYPES: readonly ColumnType[] = [
  { kind: 'string', maxLength: 3 },
  { kind: 'string', maxLength: null },
  { kind: 'integer', minimum: -32768, maximum: 32767 },
  { kind: 'bigint' },
  { kind: 'decimal', precision: 5, scale: 2 },
  { kind: 'decimal', precision: 2, scale: 2 },
  { kind: 'decimal', precision: 4, scale: 0 },
  { kind: 'decimal', precision: null, scale: null },
  { kind: 'float', maximum: 3.4028234663852886e38 },
  { kind: 'float', maximum: Number.MAX_VALUE },
  { kind: 'boolean' },
  { kind: 'date' },
  { kind: 'dateonly' },
  { kind: 'time' },
  { kind: 'uuid' },
  { kind: 'enum', values: ['red', "o'clock"] },
  { kind: 'blob' },
  { kind: 'json' },
];
const ARRAYS: readonly ColumnType[] = TYPES.map((element) => ({ kind: 'array', element }));

/** Texts that some column almost accepts. */
const almost = fc.oneof(
  fc.stringMatching(/^-?[0-9]{0,21}(?:\.[0-9]{0,6})?$/),
  fc.stringMatching(/^-?(?:0|[1-9][0-9]{0,3})(?:\.[0-9]{1,2}0{0,3})?$/),
  fc.stringMatching(/^[0-2][0-9]:[0-6][0-9](?::[0-6][0-9](?:\.[0-9]{0,8})?)?$/),
  fc.stringMatching(
    /^20[0-9]{2}-[01][0-9]-[0-3][0-9](?:[Tt][0-2][0-9]:[0-5][0-9]:[0-6][0-9](?:\.[0-9]{1,5})?(?:[Zz]|[+-][0-2][0-9]:[0-5][0-9])?)?$/,
  ),
  fc.stringMatching(/^[A-Za-z0-9+/]{0,8}={0,3}$/),
  fc.uuid(),
  fc.constantFrom('red', "o'clock", 'green', 'é́', '🎈🎈🎈', '🎈🎈🎈🎈'),
);
const scalar = fc.oneof(
  almost,
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(almost, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

/** Rules that no pattern expresses: the last digits of a range, leap seconds and years of four zeros, NUL, keys of prototypes. */
function isBeyondPatterns(text: string): boolean {
  return /[0-9]{19}|(?:__proto__|constructor|prototype)|\\u0000|\\ud|0000-|:60/i.test(text);
}

function isOfJson(type: ColumnType): boolean {
  return type.kind === 'array' ? isOfJson(type.element) : type.kind === 'json';
}

describe('columnSchema', () => {
  const compile = schemaChecker();
  for (const type of [...TYPES, ...ARRAYS]) {
    it(`agrees with the rules of ${JSON.stringify(type)}`, () => {
      const accepts = compile(columnSchema(type));
      fc.assert(
        fc.property(value, (sample) => {
          const isJson =
            sample !== undefined &&
            JSON.stringify(JSON.parse(JSON.stringify(sample))) === JSON.stringify(sample);
          fc.pre(isJson && !Number.isNaN(sample) && sample !== null);
          const wire: unknown = JSON.parse(JSON.stringify(sample));
          fc.pre(wire !== null && !isBeyondPatterns(JSON.stringify(wire)));
          // The document describes arrays of one dimension.
          fc.pre(
            type.kind !== 'array' || !Array.isArray(wire) || isOfJson(type) || !wire.some(Array.isArray),
          );
          // Any JSON may have numbers, and no schema can find them.
          fc.pre(!isOfJson(type) || holdsJsonNumbers(wire));
          expect(accepts(wire), `${JSON.stringify(wire)} ${JSON.stringify(columnSchema(type))}`).to.equal(
            holdsColumnRules(type, wire),
          );
        }),
        { numRuns: 200 },
      );
    });
  }
});
