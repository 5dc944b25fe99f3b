/** The schemas of relations in records. They are named after their paths, so that none of them leads back into itself. */
import type { IncludePlan } from '../compile/resource-plan.js';
import { partialRecord, recordJsonSchema } from '../respond/record-json-schema.js';
import { type JsonSchema, orNull } from '../schema/json-schema.js';
import { COUNTED_PROPERTIES } from './count-schemas.js';
import { schemaRef } from './openapi-object.js';
import { pascalCase } from './resource-names.js';

/** Schemas that the relations of a record add to its schema, and to the document. */
export interface IncludedSchemas {
  /** By the names of the relations. None is required, because a client asks for each. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** Schemas that these refer to, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Gives a schema a name of its own: the wanted one, or that with a number. */
export type NameGiver = (wanted: string) => string;

/** Names that are given once each. */
export function nameGiver(taken: Iterable<string>): NameGiver {
  const given = new Set(taken);
  return (wanted) => {
    let name = wanted;
    for (let count = 2; given.has(name); count += 1) name = `${wanted}${count}`;
    given.add(name);
    return name;
  };
}

/**
 * Describes the relations of one level, and all behind them.
 *
 * @param prefix the name of what has the relations, such as `City`
 */
export function includedSchemas(
  prefix: string,
  include: ReadonlyMap<string, IncludePlan>,
  giveName: NameGiver,
): IncludedSchemas {
  const properties: Record<string, JsonSchema> = {};
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, plan] of include) {
    const path = `${prefix}${pascalCase(name)}`;
    const own = giveName(path);
    const record = plan.size === null ? own : giveName(`${path}Item`);
    const inner = includedSchemas(path, plan.include, giveName);
    properties[name] = plan.size === null ? orNull(schemaRef(own)) : schemaRef(own);
    if (plan.size !== null) schemas[own] = manySchema(plan, plan.size.max, record);
    schemas[record] = recordSchema(plan, inner);
    Object.assign(schemas, inner.schemas);
  }
  return { properties, schemas };
}

/** A record with relations, all of them optional. */
export function withRelations(record: JsonSchema, { properties }: IncludedSchemas): JsonSchema {
  return { ...record, properties: { ...record.properties, ...properties } };
}

/** The parameter of the relation chooses properties, so none is required. */
function recordSchema({ path, size, target }: IncludePlan, inner: IncludedSchemas): JsonSchema {
  const words = size === null ? `The record of \`${path}\`` : `An item of \`${path}\``;
  const description = `${words}, with the properties that \`${path}.fields\` names, or all.`;
  return withRelations({ description, ...partialRecord(recordJsonSchema(target)) }, inner);
}

function manySchema({ path, count }: IncludePlan, maxItems: number, record: string): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    items: { type: 'array', items: schemaRef(record), maxItems },
    has_next: { type: 'boolean', description: 'Whether there are others.' },
    ...(count === null ? {} : COUNTED_PROPERTIES),
  };
  return {
    description: `The first items of \`${path}\`.`,
    type: 'object',
    properties,
    required: Object.keys(properties),
  };
}
