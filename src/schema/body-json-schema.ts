/** The JSON Schema of a create or update body, from the rules that the body is checked by, and its media types. */

import type { AccessPlan, FieldPlan, ResourcePlan } from '../compile/resource-plan.js';
import type { AccessRule } from '../declare/access-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { type AttributeInfo, isGenerated, type ModelInfo } from '../describe/model-info.js';
import { keyNames } from '../describe/row-key.js';
import { isViewed } from './attribute-decorators.js';
import { classJsonSchema, objectSchema, propertyRules } from './class-json-schema.js';
import { classProperties } from './class-properties.js';
import type { ColumnRule } from './column-rule.js';
import { attributeRules, columnRules } from './column-rules.js';
import { type BodyKind, type Presence, presenceOf, writableAttributes } from './derive-class.js';
import { bothSchemas, type JsonProperty, type JsonSchema, orNull } from './json-schema.js';
import { declaredType, isTransformed } from './model-decorators.js';

/** Schema of a body of a resource. */
export function bodyJsonSchema(plan: ResourcePlan, kind: BodyKind | 'replace'): JsonSchema {
  const own = kind === 'replace' ? 'create' : kind;
  const explicit = plan.explicitSchemas[own];
  const schema = withRules(
    explicit ? withoutGenerated(classJsonSchema(explicit), plan) : derivedSchema(plan, own),
    plan.access,
    kind === 'replace' && !plan.isKeyGiven ? 'update' : kind,
  );
  return kind === 'replace' ? withoutRequired(schema, keyNames(plan.info.address)) : schema;
}

/** No body has the values that the table makes itself. */
function withoutGenerated(
  { required = [], properties = {}, ...schema }: JsonSchema,
  { info }: ResourcePlan,
): JsonSchema {
  const isGiven = (name: string): boolean => {
    const attribute = info.attributes.get(name);
    return attribute === undefined || !isGenerated(attribute);
  };
  const needed = required.filter(isGiven);
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isGiven(name))),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

/** The path has the key already. */
function withoutRequired({ required = [], ...schema }: JsonSchema, names: readonly string[]): JsonSchema {
  const others = required.filter((each) => !names.includes(each));
  return others.length > 0 ? { ...schema, required: others } : schema;
}

function derivedSchema(plan: ResourcePlan, kind: BodyKind): JsonSchema {
  const attributes = writableAttributes(plan.info, plan.exposure, kind);
  return objectSchema(
    attributes.map((attribute) => [attribute.name, bodyProperty(plan.info, attribute, kind)]),
    { additionalProperties: false },
  );
}

/** Adds the comment of the column. */
export function withComment(schema: JsonSchema, { model }: ModelInfo, name: string): JsonSchema {
  const description = model.getAttributes()[name]?.comment;
  return description === undefined ? schema : { description, ...schema };
}

/** Where null may pass. */
const NULLABLE: ReadonlySet<Presence> = new Set<Presence>(['nullable', 'decided', 'decidedWhereGiven']);

/** Schema of an attribute in a body. */
export function bodyProperty(info: ModelInfo, attribute: AttributeInfo, kind: BodyKind): JsonProperty {
  const presence = presenceOf(info, attribute, kind);
  const schema = valueSchema(info, attribute);
  return {
    schema: withComment(NULLABLE.has(presence) ? orNull(schema) : schema, info, attribute.name),
    isRequired: presence === 'required',
  };
}

function valueSchema(info: ModelInfo, attribute: AttributeInfo): JsonSchema {
  const { name } = attribute;
  // The user's function, or a class of his inside the JSON, makes of a value the one that is then checked.
  const isFree = isTransformed(info.model, name, 'write') || declaredType(info.model, name) !== undefined;
  const schema = isFree
    ? {}
    : bothSchemas(
        schemaOf(attributeRules(attribute)),
        propertyRules(info.model, name, (each) => isViewed(attribute.type, each)).schema,
      );
  return schema.type === undefined && !isFree ? { ...schema, not: { type: 'null' } } : schema;
}

/** Schema of the rules of a column type. */
export function columnSchema(type: AttributeInfo['type']): JsonSchema {
  return schemaOf(columnRules(type));
}

function schemaOf(rules: readonly ColumnRule[]): JsonSchema {
  return rules.map(({ schema }) => schema).reduce(bothSchemas, {});
}

type SchemaUse = keyof FieldPlan | 'replace';

const NOTES: Readonly<Record<SchemaUse, string>> = {
  read: 'Absent where the request may not read it.',
  create: 'Refused where the request may not set it.',
  update: 'Refused where the request may not set it.',
  replace: 'Refused where the request may not set it; it stays as it is then.',
};

/**
 * The schema without properties that no request may have, and a body without those that the server writes; properties that some may not have are
 * optional.
 */
export function withRules(schema: JsonSchema, access: AccessPlan | null, kind: SchemaUse): JsonSchema {
  if (access === null) return schema;
  const ruleOf = (name: string) =>
    kind !== 'read' && (access.scope.has(name) || access.set.has(name))
      ? false
      : strictest(access.fields.get(name), kind);
  const { required = [], properties = {}, ...others } = schema;
  const known = Object.entries(properties).filter(([name]) => ruleOf(name) !== false);
  const needed = required.filter((name) => ruleOf(name) === true);
  return {
    ...others,
    properties: Object.fromEntries(
      known.map(([name, property]) => [name, ruleOf(name) === true ? property : noted(property, kind)]),
    ),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
}

/** A replacement has to meet the rules of both writes. */
function strictest(rules: FieldPlan | undefined, kind: SchemaUse): AccessRule {
  const asked = kind === 'replace' ? [rules?.create, rules?.update] : [rules?.[kind]];
  return asked.find((each) => each === false) ?? asked.find((each) => typeof each === 'function') ?? true;
}

function noted(schema: JsonSchema, kind: SchemaUse): JsonSchema {
  const description = [schema.description, NOTES[kind]].filter((text) => text !== undefined).join('\n\n');
  return { ...schema, description };
}

const JSON_TYPE = 'application/json';
/** RFC 7396. In a body without objects inside, it says the same as JSON. */
const MERGE_PATCH = 'application/merge-patch+json';

/** Media types of a PATCH, and the properties that exclude a merge patch. */
interface PatchTypes {
  readonly mediaTypes: readonly string[];
  /** The properties that are replaced as a whole, where RFC 7396 would merge objects. */
  readonly unmerged: readonly string[];
}

/** The types for a resource: a merge patch only where no property that it may have holds an object. */
export function patchTypes(plan: ResourcePlan): PatchTypes {
  const unmerged = objectProperties(plan);
  return { mediaTypes: unmerged.length > 0 ? [JSON_TYPE] : [JSON_TYPE, MERGE_PATCH], unmerged };
}

function objectProperties({ info, exposure, explicitSchemas: { update } }: ResourcePlan): string[] {
  const names = update
    ? [...classProperties(update, 'write')]
    : writableAttributes(info, exposure, 'update').map(({ name }) => name);
  return names.filter((name) => {
    const rules = update && propertyRules(update, name);
    if (rules?.nested === 'value' || rules?.schema.type === 'object') return true;
    const type = info.attributes.get(name)?.type;
    return type !== undefined && holdsObjects(type);
  });
}

/** RFC 7396 replaces arrays as a whole, with the objects in them. */
function holdsObjects(type: ColumnType): boolean {
  if (type.kind === 'other') return ['HSTORE', 'GEOMETRY', 'GEOGRAPHY'].includes(type.sqlType);
  return ['json', 'range', 'hstore', 'virtual'].includes(type.kind);
}
