import { expect } from 'chai';
import fc from 'fast-check';
import { exampleValue } from '../../../src/features/example-value.js';
import type { JsonSchema } from '../../../src/schema/json-schema.js';
import { schemaChecker } from '../../support/json-schema-checker.js';

describe('exampleValue', () => {
  const samples: readonly (readonly [schema: JsonSchema, example: unknown])[] = [
    [{ type: 'string' }, 'text'],
    [{ type: 'string', maxLength: 2 }, 'AB'],
    [{ type: 'string', maxLength: 0 }, ''],
    [{ type: 'string', minLength: 20 }, 'x'.repeat(20)],
    [{ type: 'string', pattern: '^[A-Z]{3}$' }, 'ABC'],
    [{ type: 'string', pattern: '^never this$' }, undefined],
    [{ type: 'string', format: 'uuid' }, '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
    [{ type: ['string', 'null'], enum: [null, 'red'] }, 'red'],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'integer', maximum: -5 }, -5],
    [{ type: 'number', exclusiveMinimum: 3 }, 4],
    [{ type: 'integer', minimum: 2, maximum: 1 }, undefined],
    [{ type: 'integer', minimum: -2147483648, maximum: 2147483647, exclusiveMaximum: 0 }, -1],
    [{ type: 'integer', minimum: -2147483648, exclusiveMinimum: 7 }, 8],
    [{ type: 'integer', minimum: 1.5 }, 2],
    [{ type: 'integer', exclusiveMinimum: 1.5 }, 2],
    [{ type: 'integer', exclusiveMaximum: -1.5 }, -2],
    [{ type: 'number', minimum: 1.5, exclusiveMinimum: 0 }, 1.5],
    [{ type: 'integer', minimum: 1.2, maximum: 1.8 }, undefined],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
    [{ type: 'array', items: { type: 'string', pattern: '^never this$' } }, undefined],
    [{ not: { type: 'null' } }, {}],
    [{ const: 'alive' }, 'alive'],
    [
      { type: 'object', properties: { a: { type: 'boolean' }, b: { type: 'string', pattern: '^x{9}$' } } },
      { a: true },
    ],
    [
      { type: 'object', properties: { b: { type: 'string', pattern: '^x{9}$' } }, required: ['b'] },
      undefined,
    ],
  ];
  for (const [schema, example] of samples) {
    it(`is ${JSON.stringify(example)} for ${JSON.stringify(schema)}`, () =>
      expect(exampleValue(schema)).to.deep.equal(example));
  }

  it('is always what the schema allows', () => {
    const compile = schemaChecker();
    const bound = fc.integer().map((number) => number / 2);
    const bounds = fc.record(
      { minimum: bound, maximum: bound, exclusiveMinimum: bound, exclusiveMaximum: bound },
      { requiredKeys: [] },
    );
    const lengths = fc.record({ minLength: fc.nat(30), maxLength: fc.nat(30) }, { requiredKeys: [] });
    const schema = fc.oneof(
      bounds.map((limits): JsonSchema => ({ type: 'integer', ...limits })),
      bounds.map((limits): JsonSchema => ({ type: 'number', ...limits })),
      lengths.map((limits): JsonSchema => ({ type: 'string', ...limits })),
    );
    fc.assert(
      fc.property(schema, (each) => {
        const example = exampleValue(each);
        expect(example === undefined || compile(each)(example), JSON.stringify(each)).to.equal(true);
      }),
    );
  });
});
