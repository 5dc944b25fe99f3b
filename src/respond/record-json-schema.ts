/** The JSON Schema of a record as it leaves: of the properties that the serializer writes, in their wire format. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { type AttributeInfo, hasGetter, hasPartialRecords } from '../describe/model-info.js';
import { hasJsonForm } from '../describe/record.js';
import { columnSchema, withComment, withRules } from '../schema/body-json-schema.js';
import { classProperty, objectSchema } from '../schema/class-json-schema.js';
import { classProperties, shownName } from '../schema/class-properties.js';
import { readableAttributes } from '../schema/derive-class.js';
import { type JsonProperty, type JsonSchema, orNull } from '../schema/json-schema.js';
import { isTransformed, shapesValue } from '../schema/model-decorators.js';

/** Any value, or none: the user's code decides. */
const UNKNOWN: JsonProperty = Object.freeze({ schema: Object.freeze({}), isRequired: false });

/** The schema of the records of a resource. */
export function recordJsonSchema(plan: ResourcePlan): JsonSchema {
  const { read } = plan.explicitSchemas;
  return withRules(objectSchema(read ? classRecord(plan, read) : derivedRecord(plan)), plan.access, 'read');
}

/** The same, with any choice of the properties: the result of `fields`. */
export function partialRecord({ required: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function derivedRecord(plan: ResourcePlan): (readonly [string, JsonProperty])[] {
  return readableAttributes(plan.info, plan.exposure).map(({ name }) => [
    name,
    isTransformed(plan.model, name, 'read') ? noted(plan, name, UNKNOWN) : attributeProperty(plan, name),
  ]);
}

function classRecord(plan: ResourcePlan, schema: Class): (readonly [string, JsonProperty])[] {
  return [...classProperties(schema, 'read')].map((name) => [
    shownName(schema, name),
    shapesValue(schema, name) || isAccessor(schema, name) ? UNKNOWN : classRecordProperty(plan, schema, name),
  ]);
}

/** The column says what a property is; of one without a column, the decorators of the class. */
function classRecordProperty(plan: ResourcePlan, schema: Class, name: string): JsonProperty {
  if (plan.info.attributes.has(name)) return attributeProperty(plan, name);
  return { ...classProperty(schema, name), isRequired: false };
}

function attributeProperty(plan: ResourcePlan, name: string): JsonProperty {
  const { info, model } = plan;
  const attribute = info.attributes.get(name) as AttributeInfo;
  if (attribute.type.kind === 'virtual' || hasGetter(model, name)) return noted(plan, name, UNKNOWN);
  const schema = wireSchema(attribute.type);
  return noted(plan, name, {
    schema: attribute.nullable ? orNull(schema) : schema,
    isRequired: !hasPartialRecords(model) && !hasJsonForm(model),
  });
}

function noted({ info }: ResourcePlan, name: string, { schema, isRequired }: JsonProperty): JsonProperty {
  return { schema: withComment(schema, info, name), isRequired };
}

/** A getter or a method of the class. */
function isAccessor({ prototype }: Class, name: string): boolean {
  return typeof prototype === 'object' && prototype !== null && name in prototype;
}

/** Schema of values that `wireFormat` writes. Others write to the table too, less strictly than bodies are checked. */
function wireSchema(type: ColumnType): JsonSchema {
  switch (type.kind) {
    case 'date':
      return type.zone === undefined ? { type: 'string', format: 'date-time' } : columnSchema(type);
    case 'time':
    case 'decimal':
      return { type: 'string' };
    case 'array':
      return { type: 'array', items: orNull(wireSchema(type.element)) };
    default:
      return columnSchema(type);
  }
}
