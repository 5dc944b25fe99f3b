/** The names and the schemas of one resource: its records with their relations, its bodies and its page. */

import { kebabCase } from '../compile/compile-options.js';
import type { IncludePlan, ResourcePlan } from '../compile/resource-plan.js';
import { TOTALS } from '../declare/count-options.js';
import type { Endpoint } from '../declare/crud-options.js';
import { exampleValue } from '../features/example-value.js';
import { partialRecord, recordJsonSchema } from '../respond/record-json-schema.js';
import { bodyJsonSchema } from '../schema/body-json-schema.js';
import type { WriteNested } from '../schema/class-json-schema.js';
import { type JsonSchema, objectOf, orNull } from '../schema/json-schema.js';
import { withArticle } from '../util/with-article.js';
import { type DescribedResource, idMemberSchema, type ResourceNames } from './described-route.js';
import { schemaRef } from './openapi-object.js';

/** The schemas by name, those that no operation of the resource uses left out. */
export function resourceSchemas(
  resource: DescribedResource,
  operations: ReadonlySet<Endpoint>,
  makeName: MakeName,
  refer: WriteNested,
): Record<string, JsonSchema> {
  const has = (...wanted: readonly Endpoint[]): boolean => wanted.some((each) => operations.has(each));
  const { plan, names, routes, isPartial } = resource;
  const { schemas } = names;
  const record = recordOf(plan, refer);
  const described = withDescription(plan, record);
  const isRead = has('list', 'read');
  const relations = isRead ? plan.relations.include : new Map();
  const included = includedSchemas(names.one, relations, makeName, isPartial);
  return {
    ...(has('create', 'update', 'restore', 'replace')
      ? { [schemas.written]: writtenSchema(resource, described) }
      : {}),
    ...(isRead ? { [schemas.record]: withRelations(described, included) } : {}),
    ...(isRead && isPartial
      ? { [schemas.partial]: withRelations(partialSchema(names, record), included) }
      : {}),
    ...included.schemas,
    ...(has('list') ? { [schemas.page]: pageSchema(resource) } : {}),
    ...(has('create') ? { [schemas.create]: bodySchemaOf(resource, 'create') } : {}),
    ...(has('update') ? { [schemas.update]: bodySchemaOf(resource, 'update') } : {}),
    ...(has('replace') ? { [schemas.replace]: bodySchemaOf(resource, 'replace') } : {}),
    ...Object.assign({}, ...routes.map((route) => route.schemas?.(resource))),
  };
}

/** The record that a write answers, or a body: a schema that does not depend on the routes. Undefined for another name. */
export function ownSchema(
  resource: DescribedResource,
  name: string,
  refer: WriteNested,
): JsonSchema | undefined {
  const { plan } = resource;
  const { schemas } = resource.names;
  if (name === schemas.written) return writtenSchema(resource, withDescription(plan, recordOf(plan, refer)));
  const kind = (['create', 'update'] as const).find((each) => schemas[each] === name);
  return kind && bodySchemaOf(resource, kind);
}

/** The schema of a body, with the forms and members that features add. */
export function bodySchemaOf(
  resource: Pick<DescribedResource, 'plan' | 'features'>,
  kind: 'create' | 'update' | 'replace',
): JsonSchema {
  const members = resource.features[kind].bodyMembers.map((each) => each.describe().body);
  return withProperties(valuesSchemaOf(resource, kind), members);
}

/** The schema of a body that has the values of a record alone. */
export function bareSchemaOf(resource: DescribedResource, kind: 'create' | 'update'): JsonSchema {
  const { features, names } = resource;
  return features[kind].bodyMembers.length > 0
    ? valuesSchemaOf(resource, kind)
    : schemaRef(names.schemas[kind]);
}

function valuesSchemaOf(
  { plan, features }: Pick<DescribedResource, 'plan' | 'features'>,
  kind: 'create' | 'update' | 'replace',
): JsonSchema {
  const schema = bodyJsonSchema(plan, kind);
  return features[kind].forms?.describe(schema) ?? schema;
}

/** The record that a write answers, with the members that its body may have had. */
function writtenSchema({ features }: DescribedResource, record: JsonSchema): JsonSchema {
  const all = [...features.create.bodyMembers, ...features.update.bodyMembers];
  return withProperties(
    record,
    all.map((each) => each.describe().answer),
  );
}

function withProperties(
  schema: JsonSchema,
  more: readonly Readonly<Record<string, JsonSchema>>[],
): JsonSchema {
  if (more.length === 0) return schema;
  return { ...schema, properties: Object.assign({}, schema.properties, ...more) };
}

/** The schema of the records, in which the member with the id is described as the id of paths. */
function recordOf(plan: ResourcePlan, refer?: WriteNested): JsonSchema {
  const record = recordJsonSchema(plan, refer);
  const member = [...plan.info.attributes.values()].find(({ isIdText }) => isIdText)?.name ?? '';
  // Code of the user's may make another value of it.
  if (record.properties?.[member]?.type !== 'string') return record;
  return { ...record, properties: { ...record.properties, [member]: idMemberSchema(plan) } };
}

function withDescription({ description }: ResourcePlan, record: JsonSchema): JsonSchema {
  return description === null ? record : { description, ...record };
}

/** The record of a GET; with the option `partial` also as `fields` can make it. */
export function chosenRecord({ names: { schemas }, isPartial }: DescribedResource): JsonSchema {
  const whole = schemaRef(schemas.record);
  return isPartial ? { anyOf: [whole, schemaRef(schemas.partial)] } : whole;
}

/** A record to show; undefined where none can be made up. */
export function recordExample(plan: ResourcePlan): unknown {
  return exampleValue(recordOf(plan));
}

/** A page to show. */
export function pageExample(plan: ResourcePlan): unknown {
  const record = recordExample(plan);
  if (record === undefined) return undefined;
  const size = plan.pageSize.default;
  const totals = plan.count === null ? {} : { total: 1, total_is: 'exact' };
  return plan.pagination === 'offset'
    ? { items: [record], total: 1, ...totals, page: 1, size, pages: 1, has_next: false, has_prev: false }
    : { items: [record], ...totals, next_cursor: null, prev_cursor: null, has_next: false, has_prev: false };
}

function partialSchema({ phrase }: ResourceNames, record: JsonSchema): JsonSchema {
  return { description: `The properties of ${phrase} that \`fields\` names.`, ...partialRecord(record) };
}

function pageSchema(resource: DescribedResource): JsonSchema {
  const { plan } = resource;
  const properties: Record<string, JsonSchema> = {
    items: { type: 'array', items: chosenRecord(resource), maxItems: plan.pageSize.max },
    ...(plan.pagination === 'offset' ? { total: TOTAL } : {}),
    ...(plan.count === null ? {} : COUNTED_PROPERTIES),
    ...(plan.pagination === 'offset' ? { ...offsetProperties(plan), ...NEIGHBOURS } : CURSOR_PROPERTIES),
  };
  return objectOf(properties);
}

function offsetProperties({ count }: ResourcePlan): Readonly<Record<string, JsonSchema>> {
  return {
    page: { type: 'integer', minimum: 1 },
    size: { type: 'integer', minimum: 1 },
    pages:
      count === null
        ? { type: 'integer', minimum: 0 }
        : { type: ['integer', 'null'], minimum: 0, description: 'Null unless `total` is exact.' },
  };
}

const NEIGHBOURS = { has_next: { type: 'boolean' }, has_prev: { type: 'boolean' } } as const;

/** Members of a page by cursor beside its items. */
export const CURSOR_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  next_cursor: { type: ['string', 'null'], description: 'For `after`; null on the last page.' },
  prev_cursor: { type: ['string', 'null'], description: 'For `before`; null on the first page.' },
  ...NEIGHBOURS,
};

/** Schemas that the relations of a record add to its schema, and to the document. */
interface IncludedSchemas {
  /** By the names of the relations. None is required, because clients choose each. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** Schemas that these refer to, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Names a schema: the wanted name, or that with a number. */
export type MakeName = (wanted: string) => string;

/** Makes names, each of which is used once. */
export function nameMaker(taken: Iterable<string>): MakeName {
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
 * @param prefix the name of the schema with the relations, such as `City`
 */
function includedSchemas(
  prefix: string,
  include: ReadonlyMap<string, IncludePlan>,
  makeName: MakeName,
  isPartial: boolean,
): IncludedSchemas {
  const properties: Record<string, JsonSchema> = {};
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, plan] of include) {
    const path = `${prefix}${pascalCase(name)}`;
    const own = makeName(path);
    const record = plan.size === null ? own : makeName(`${path}Item`);
    const inner = includedSchemas(path, plan.include, makeName, isPartial);
    properties[name] = plan.size === null ? orNull(schemaRef(own)) : schemaRef(own);
    if (plan.size !== null) schemas[own] = manySchema(plan, plan.size.max, record);
    schemas[record] = recordSchema(plan, inner, isPartial);
    Object.assign(schemas, inner.schemas);
  }
  return { properties, schemas };
}

function withRelations(record: JsonSchema, { properties }: IncludedSchemas): JsonSchema {
  return { ...record, properties: { ...record.properties, ...properties } };
}

/** Schema of a record. With the option `partial` no property is required, because the parameter of the relation chooses some. */
function recordSchema(
  { path, size, target }: IncludePlan,
  inner: IncludedSchemas,
  isPartial: boolean,
): JsonSchema {
  const words = size === null ? `The record of \`${path}\`` : `An item of \`${path}\``;
  const record = recordOf(target);
  if (!isPartial) return withRelations({ description: `${words}.`, ...record }, inner);
  const description = `${words}, with the properties that \`${path}.fields\` names, or all.`;
  return withRelations({ description, ...partialRecord(record) }, inner);
}

function manySchema({ path, count }: IncludePlan, maxItems: number, record: string): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    items: { type: 'array', items: schemaRef(record), maxItems },
    has_next: { type: 'boolean', description: 'Whether there are others.' },
    ...(count === null ? {} : COUNTED_PROPERTIES),
  };
  return { description: `The first items of \`${path}\`.`, ...objectOf(properties) };
}

/** Total of a list without the option. */
const TOTAL = {
  type: 'integer',
  minimum: 0,
  description: 'How many records the list has on all pages.',
} as const;

/** Properties of a list with the option `count`. */
const COUNTED_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  total: { ...TOTAL, type: ['integer', 'null'] },
  total_is: {
    type: 'string',
    enum: TOTALS,
    description: 'What `total` is: the exact number, a number that there are more records than, or null.',
  },
};

/** The names of all resources, in their order. Models of the same name are numbered, past the names that others have. */
export function resourceNames(plans: readonly ResourcePlan[]): readonly ResourceNames[] {
  const given = new Set<string>();
  return plans.map((plan) => {
    let names = namesOf(plan, '');
    for (let count = 2; Object.values(names.schemas).some((name) => given.has(name)); count += 1)
      names = namesOf(plan, String(count));
    for (const name of Object.values(names.schemas)) given.add(name);
    return names;
  });
}

function namesOf({ info, pagination, relations }: ResourcePlan, suffix: string): ResourceNames {
  const one = `${pascalCase(info.name)}${suffix}`;
  return {
    one,
    many: `${pascalCase(info.pluralName)}${suffix}`,
    phrase: withArticle(toWords(info.name), info.name),
    phrases: toWords(info.pluralName),
    schemas: {
      record: `${one}Read`,
      // The answer of a write has other relations.
      written: `${one}${relations.include.size + relations.led.size === 0 ? 'Read' : 'Written'}`,
      partial: `${one}Partial`,
      page: `${one}${pagination === 'offset' ? 'Page' : 'CursorPage'}`,
      create: `${one}Create`,
      update: `${one}Update`,
      replace: `${one}Replace`,
      change: `${one}Change`,
      items: `${one}Items`,
      results: `${one}Results`,
      removals: `${one}Deleted`,
      groups: `${one}Groups`,
      past: `${one}History`,
    },
  };
}

/** `summarizeReviews` -> `summarize reviews` */
export function toWords(name: string): string {
  return kebabCase(name).replaceAll('-', ' ');
}

/** Converts a name to letters and digits, as code generators need it. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
