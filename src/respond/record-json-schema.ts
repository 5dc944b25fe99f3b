/** The JSON Schema of a record as it leaves: of the properties that the serializer writes, in their wire format. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { withRules } from '../schema/body-json-schema.js';
import { answerProperty, objectSchema, type WriteNested } from '../schema/class-json-schema.js';
import { classProperties, shownName } from '../schema/class-properties.js';
import { readableAttributes } from '../schema/derive-class.js';
import type { JsonProperty, JsonSchema } from '../schema/json-schema.js';
import { hasType, isTransformed } from '../schema/model-decorators.js';
import { attributeProperty, derivedProperty, UNKNOWN } from '../schema/read-property.js';

/**
 * The schema of the records of a resource.
 *
 * @param writeNested writes the classes in its read schema. Default: within it
 */
export function recordJsonSchema(plan: ResourcePlan, writeNested?: WriteNested): JsonSchema {
  const { read } = plan.explicitSchemas;
  const properties = read ? classRecord(plan, read, writeNested) : derivedRecord(plan);
  return withRules(objectSchema(properties), plan.access, 'read');
}

/** The same, with any choice of the properties: the result of `fields`. */
export function partialRecord({ required: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function derivedRecord({ info, exposure }: ResourcePlan): (readonly [string, JsonProperty])[] {
  return readableAttributes(info, exposure).map(({ name }) => [name, derivedProperty(info, name)]);
}

function classRecord(
  plan: ResourcePlan,
  schema: Class,
  writeNested?: WriteNested,
): (readonly [string, JsonProperty])[] {
  return [...classProperties(schema, 'read')].map((name) => [
    shownName(schema, name),
    // Values pass the class in both directions.
    isTransformed(schema, name, 'read') || isTransformed(schema, name, 'write') || isAccessor(schema, name)
      ? UNKNOWN
      : classRecordProperty(plan, schema, name, writeNested),
  ]);
}

/** The column decides the type of a property; of one without a column, or with a `@Type`, the decorators of the class. */
function classRecordProperty(
  { info }: ResourcePlan,
  schema: Class,
  name: string,
  writeNested?: WriteNested,
): JsonProperty {
  const attribute = info.attributes.get(name);
  if (attribute && !hasType(schema, name)) return attributeProperty(info, name);
  const property = answerProperty(schema, name, { writeNested, isNullable: attribute?.nullable });
  return { ...property, isRequired: attribute !== undefined && attributeProperty(info, name).isRequired };
}

/** A getter or a method of the class. */
function isAccessor({ prototype }: Class, name: string): boolean {
  return typeof prototype === 'object' && prototype !== null && name in prototype;
}
