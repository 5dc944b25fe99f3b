/** A value that a schema allows, to be shown in the documentation. */
import type { JsonSchema } from '../schema/json-schema.js';

/** Texts of several forms; the first that fits is shown. */
const TEXTS = [
  'text',
  'Text',
  'TEXT',
  'ABC',
  'AB',
  'A',
  'abc',
  'ab',
  'a',
  '42',
  '1',
  '0',
  '12.5',
  '0.5',
  '08:00:00',
];

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T08:00:00.000Z',
  date: '2026-01-31',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  email: 'ann@example.com',
};

/** An example, or undefined where none is found, as for a pattern of the user's. */
export function exampleValue(schema: JsonSchema): unknown {
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((member) => member !== null);
  const [first] = schema.anyOf ?? [];
  if (first) return exampleValue(schema.type === undefined ? first : { type: schema.type, ...first });
  // Schemas combined by `allOf` have no example: to solve them is not worth the code.
  if (schema.allOf) return undefined;
  const [type] = [schema.type ?? []].flat();
  switch (type) {
    case 'string':
      return exampleText(schema);
    case 'integer':
    case 'number':
      return exampleNumber(schema, type === 'integer');
    case 'boolean':
      return true;
    case 'array':
      return exampleList(schema);
    case 'object':
      return schema.properties ? exampleObject(schema) : {};
    case 'null':
      return null;
    default:
      return {};
  }
}

function exampleText(schema: JsonSchema): string | undefined {
  if (schema.contentEncoding === 'base64') return 'aGVsbG8=';
  const { format, minLength = 0 } = schema;
  const candidates = [...(format ? [FORMATS[format]] : []), ...TEXTS, 'x'.repeat(Math.min(minLength, 1000))];
  return candidates.find((text) => text !== undefined && fits(text, schema));
}

function fits(
  text: string,
  { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: JsonSchema,
): boolean {
  const matches = pattern === undefined || new RegExp(pattern, 'u').test(text);
  return matches && text.length >= minLength && text.length <= maxLength;
}

/** Each bound that is there holds, so the narrower of two of one side does. */
function exampleNumber(
  {
    minimum = Number.NEGATIVE_INFINITY,
    maximum = Number.POSITIVE_INFINITY,
    exclusiveMinimum = Number.NEGATIVE_INFINITY,
    exclusiveMaximum = Number.POSITIVE_INFINITY,
  }: JsonSchema,
  isInteger: boolean,
): number | undefined {
  const least = isInteger
    ? Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1)
    : Math.max(minimum, exclusiveMinimum + 1);
  const most = isInteger
    ? Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1)
    : Math.min(maximum, exclusiveMaximum - 1);
  return least <= most ? Math.min(Math.max(1, least), most) : undefined;
}

function exampleList({ items = {}, minItems = 1 }: JsonSchema): unknown {
  const item = exampleValue(items);
  return item === undefined || minItems > 10 ? undefined : Array(Math.max(minItems, 1)).fill(item);
}

function exampleObject({ properties = {}, required = [] }: JsonSchema): unknown {
  const entries = Object.entries(properties).map(([name, schema]) => [name, exampleValue(schema)] as const);
  const missing = entries.some(([name, value]) => value === undefined && required.includes(name));
  return missing ? undefined : Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
