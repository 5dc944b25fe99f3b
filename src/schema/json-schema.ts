/** The part of JSON Schema (2020-12, the dialect of OpenAPI 3.1) that describes bodies, parameters and answers. */

/** A JSON value's type. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** A schema. An empty one allows everything. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly contentEncoding?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly readOnly?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  /** The attributes of an id of several, in their order. */
  readonly 'x-key'?: readonly string[];
}

/** One property of an object. */
export interface JsonProperty {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** A schema that holds where both hold. Keywords of one that cannot be beside those of the other are in `allOf`. */
export function bothSchemas(first: JsonSchema, second: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...first };
  const rest: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(second)) {
    const known = merged[keyword];
    if (known === undefined) merged[keyword] = value;
    else if (MERGERS.has(keyword)) merged[keyword] = MERGERS.get(keyword)?.(known, value);
    else if (JSON.stringify(known) !== JSON.stringify(value)) rest[keyword] = value;
  }
  if (Object.keys(rest).length === 0) return merged;
  return { ...merged, allOf: [...(first.allOf ?? []), rest] };
}

type Merger = (first: unknown, second: unknown) => unknown;

const largest: Merger = (first, second) => Math.max(first as number, second as number);
const smallest: Merger = (first, second) => Math.min(first as number, second as number);
const forEach = (keywords: string, merge: Merger): [string, Merger][] =>
  keywords.split(' ').map((keyword) => [keyword, merge]);

/** Bounds meet at the narrower one; members of both lists remain; an integer is a number. */
const MERGERS: ReadonlyMap<string, Merger> = new Map<string, Merger>([
  ...forEach('minimum exclusiveMinimum minLength minItems', largest),
  ...forEach('maximum exclusiveMaximum maxLength maxItems', smallest),
  ['enum', (first, second) => (first as unknown[]).filter((value) => (second as unknown[]).includes(value))],
  ['items', (first, second) => bothSchemas(first as JsonSchema, second as JsonSchema)],
  ['type', narrowerType],
  // Generators make no string of a pattern in an `allOf`.
  [
    'pattern',
    (first, second) => (first === second ? first : `^(?=[\\s\\S]*(?:${first}))[\\s\\S]*(?:${second})`),
  ],
  // Where both name one, the column's says more of how the value is written.
  ['format', (first) => first],
]);

function narrowerType(first: unknown, second: unknown): unknown {
  const pair = [first, second].flat();
  if (pair.includes('integer') && pair.includes('number')) return 'integer';
  return Array.isArray(first) && first.includes(second) ? second : first;
}

/** An object with these members. @param required default: all of them */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required };
}

/** The schema, and null. */
export function orNull(schema: JsonSchema): JsonSchema {
  if (schema.$ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  const { not, ...others } = schema;
  // Any value but null, and null: any value.
  if (not?.type === 'null') return others;
  if (schema.allOf !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (schema.type === undefined || schema.type.includes('null')) return schema;
  return {
    ...schema,
    type: [schema.type, 'null' as const].flat(),
    ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
  };
}

/** A value elsewhere than in its record, whose default and description are not those of the value there. */
export function withoutNotes({
  description: _description,
  default: _default,
  readOnly: _readOnly,
  ...schema
}: JsonSchema): JsonSchema {
  return schema;
}
