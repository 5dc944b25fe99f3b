/** JSON Schema -> values that it allows, for property tests. */
import fc from 'fast-check';
import type { JsonSchema, JsonType } from '../../src/schema/json-schema.js';
import { keptIn } from '../../src/util/memo.js';

/** By their lengths: fast-check takes longer to make one than to draw from it. */
const texts = new Map<string, fc.Arbitrary<string>>();

/** Any value that the schema allows. The schemas are those of our documents: no `allOf`, and pointers are followed. */
export function allowedValue(
  schema: JsonSchema,
  resolve: (reference: string) => JsonSchema,
): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return allowedValue(resolve(schema.$ref), resolve);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((each) => allowedValue(each, resolve)));
  const types: readonly JsonType[] = [schema.type ?? []].flat();
  if (types.length > 0) return fc.oneof(...types.map((type) => valueOfType(type, schema, resolve)));
  return schema.not?.type === 'null' ? fc.jsonValue().filter((value) => value !== null) : fc.jsonValue();
}

function valueOfType(
  type: JsonType,
  schema: JsonSchema,
  resolve: (reference: string) => JsonSchema,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 - 1 });
    case 'number':
      return fc.double({
        min: schema.minimum ?? -Number.MAX_VALUE,
        max: schema.maximum ?? Number.MAX_VALUE,
        noNaN: true,
        noDefaultInfinity: true,
      });
    case 'string':
      return text(schema);
    case 'array':
      return fc.array(allowedValue(schema.items ?? {}, resolve), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 3,
      });
    case 'object':
      return object(schema, resolve);
  }
}

function object(
  { properties = {}, required = [] }: JsonSchema,
  resolve: (reference: string) => JsonSchema,
): fc.Arbitrary<object> {
  const members = Object.entries(properties).map(([name, schema]) => [name, allowedValue(schema, resolve)]);
  return fc.record(Object.fromEntries(members), { requiredKeys: required as never[], noNullPrototype: true });
}

function text({ format, pattern, minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<string> {
  const fits = (value: string): boolean => [...value].length >= minLength && [...value].length <= maxLength;
  return textOf(format, pattern, { minLength, maxLength }).filter(fits);
}

function textOf(
  format: string | undefined,
  pattern: string | undefined,
  bounds: { minLength: number; maxLength: number },
): fc.Arbitrary<string> {
  const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  switch (format) {
    case 'date-time':
      return date.map((value) => value.toISOString());
    case 'date':
      return date.map((value) => value.toISOString().slice(0, 10));
    case 'uuid':
      return fc.uuid();
    case 'email':
      return fc.emailAddress();
    default:
      return pattern === undefined
        ? keptIn(texts, JSON.stringify(bounds), () => fc.string({ unit: 'grapheme', ...bounds }))
        : fc.stringMatching(new RegExp(pattern));
  }
}
