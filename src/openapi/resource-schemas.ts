/** The schemas of one resource: its records, its bodies and its page. */

import type { ResourcePlan } from '../compile/resource-plan.js';

import type { Endpoint } from '../declare/crud-options.js';
import { exampleValue } from '../features/example-value.js';
import { partialRecord, recordJsonSchema } from '../respond/record-json-schema.js';
import { bodyJsonSchema } from '../schema/body-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { COUNTED_PROPERTIES, TOTAL } from './count-schemas.js';
import type { DescribedResource } from './described-route.js';
import { includedSchemas, type NameGiver, withRelations } from './included-schemas.js';
import { schemaRef } from './openapi-object.js';
import type { ResourceNames } from './resource-names.js';

/** The schemas by name, those that no operation of the resource uses left out. */
export function resourceSchemas(
  resource: DescribedResource,
  operations: ReadonlySet<Endpoint>,
  giveName: NameGiver,
): Record<string, JsonSchema> {
  const has = (...wanted: readonly Endpoint[]): boolean => wanted.some((each) => operations.has(each));
  const { plan, names, routes } = resource;
  const { schemas } = names;
  const record = recordJsonSchema(plan);
  const described = plan.description === null ? record : { description: plan.description, ...record };
  const isRead = has('list', 'read');
  const included = includedSchemas(names.one, isRead ? plan.relations.include : new Map(), giveName);
  return {
    ...(has('create', 'update', 'restore', 'replace') ? { [schemas.written]: described } : {}),
    ...(isRead ? { [schemas.record]: withRelations(described, included) } : {}),
    ...(isRead ? { [schemas.partial]: withRelations(partialSchema(names, record), included) } : {}),
    ...included.schemas,
    ...(has('list') ? { [schemas.page]: pageSchema(plan, names) } : {}),
    ...(has('create') ? { [schemas.create]: bodyJsonSchema(plan, 'create') } : {}),
    ...(has('update') ? { [schemas.update]: bodyJsonSchema(plan, 'update') } : {}),
    ...(has('replace') ? { [schemas.replace]: bodyJsonSchema(plan, 'replace') } : {}),
    ...Object.assign({}, ...routes.map((route) => route.schemas?.(resource))),
  };
}

/** A record as `fields` can make it: whole, or with some of its properties. */
export function chosenRecord({ schemas }: ResourceNames): JsonSchema {
  return { anyOf: [schemaRef(schemas.record), schemaRef(schemas.partial)] };
}

/** A record to show; undefined where none can be made up. */
export function recordExample(plan: ResourcePlan): unknown {
  return exampleValue(recordJsonSchema(plan));
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

function pageSchema(plan: ResourcePlan, names: ResourceNames): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    items: { type: 'array', items: chosenRecord(names), maxItems: plan.pageSize.max },
    ...(plan.pagination === 'offset' ? { total: TOTAL } : {}),
    ...(plan.count === null ? {} : COUNTED_PROPERTIES),
    ...(plan.pagination === 'offset' ? offsetProperties(plan) : CURSOR_PROPERTIES),
    has_next: { type: 'boolean' },
    has_prev: { type: 'boolean' },
  };
  return { type: 'object', properties, required: Object.keys(properties) };
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

const CURSOR_PROPERTIES: Readonly<Record<string, JsonSchema>> = {
  next_cursor: { type: ['string', 'null'], description: 'For `after`; null on the last page.' },
  prev_cursor: { type: ['string', 'null'], description: 'For `before`; null on the first page.' },
};
