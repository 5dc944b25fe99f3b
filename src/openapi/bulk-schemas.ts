/** The schemas of many records: the items of bodies and of answers. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { BulkEndpoint } from '../declare/endpoint.js';
import { bodyJsonSchema } from '../schema/body-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { idSchema } from './id-schema.js';
import { schemaRef } from './openapi-object.js';
import type { ResourceNames } from './resource-names.js';

/** The schemas by name, those that no endpoint of the resource uses left out. */
export function bulkSchemas(plan: ResourcePlan, { schemas }: ResourceNames): Record<string, JsonSchema> {
  const has = (...endpoints: readonly BulkEndpoint[]) =>
    endpoints.some((each) => plan.bulk?.endpoints.has(each));
  const written = schemaRef(schemas.written);
  return {
    ...(has('updateMany') ? { [schemas.change]: changeSchema(plan) } : {}),
    ...(has('createMany', 'updateMany')
      ? { [schemas.items]: listOf(written), [schemas.results]: listOf(resultSchema(plan, { item: written })) }
      : {}),
    ...(has('deleteMany') ? { [schemas.deleted]: listOf(resultSchema(plan, {})) } : {}),
  };
}

function listOf(items: JsonSchema): JsonSchema {
  return { type: 'object', properties: { items: { type: 'array', items } }, required: ['items'] };
}

function resultSchema(plan: ResourcePlan, item: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { primaryKey } = plan.info;
  const isKeyShown = !plan.exposure.unreadable.has(primaryKey.name);
  return {
    type: 'object',
    properties: {
      status: {
        type: 'integer',
        description: 'What a request for this record alone would be answered with.',
      },
      ...(isKeyShown
        ? {
            key: {
              description: `The ${primaryKey.name}, of a record that \`q\` has found.`,
              ...idSchema(plan),
            },
          }
        : {}),
      ...item,
      problem: schemaRef('Problem'),
    },
    required: ['status'],
  };
}

/** A change, and the record that it is of. */
function changeSchema(plan: ResourcePlan): JsonSchema {
  const { info, entityTag, ifMatch } = plan;
  const { properties = {}, required = [], ...others } = bodyJsonSchema(plan, 'update');
  const key = info.primaryKey.name;
  const version = entityTag?.kind === 'version' ? entityTag.attribute : null;
  const state: JsonSchema = {
    type: 'integer',
    minimum: 0,
    description: 'Only if the record still has this version. Default: any.',
  };
  return {
    ...others,
    properties: { [key]: idSchema(plan), ...(version === null ? {} : { [version]: state }), ...properties },
    required: [key, ...(version !== null && ifMatch === 'required' ? [version] : []), ...required],
  };
}
