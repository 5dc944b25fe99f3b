/** Upserts in the document: parameters of the route that creates, and its other answer. */
import { type DescribedResource, inputParameter } from '../../openapi/described-route.js';
import { jsonContent, type OperationObject, schemaRef } from '../../openapi/openapi-object.js';
import { bareSchemaOf } from '../../openapi/resource-schemas.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import { maxOf } from '../bulk/bulk-options.js';
import { upsertInputs, upsertKeys } from './upsert-options.js';

/** Adds an upsert to the description of a create. */
export function describeUpsert(resource: DescribedResource, one: OperationObject): OperationObject {
  const { plan, names, features } = resource;
  const { schemas } = names;
  const record = schemaRef(schemas.create);
  const written = schemaRef(schemas.written);
  // An upsert takes the values of a record, and no children. An array may be a create of many with children.
  const members = features.create.bodyMembers.flatMap((each) => each.names);
  const without =
    members.length > 0 ? ` It takes no ${members.map((each) => `\`${each}\``).join(' or ')}.` : '';
  const item = plan.endpoints.has('createMany') ? record : bareSchemaOf(resource, 'create');
  const many: JsonSchema = { type: 'array', items: item, minItems: 1, maxItems: maxOf(plan) };
  const results: JsonSchema = objectOf({
    items: { type: 'array', items: written },
    created: {
      type: 'array',
      items: { type: 'boolean' },
      description: 'True for each record that is new.',
    },
  });
  const { example } = one.requestBody?.content['application/json'] ?? {};
  const headers = Object.entries(features.upsert.headers).filter(([, { required }]) => !required);
  return {
    ...one,
    description:
      `${one.description}\n\nWith \`on_conflict\` a record that has the values of this key is changed: by the properties that the body has, ` +
      `without those of the key.${without} An array of records is written whole or not at all.`,
    parameters: [...(one.parameters ?? []), ...upsertInputs(upsertKeys(plan)).flatMap(inputParameter)],
    requestBody: { required: true, content: jsonContent({ oneOf: [record, many] }, example) },
    responses: {
      200: {
        description:
          'The record after the change; or the records of an array, in its order. With `on_conflict` only.',
        ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
        content: jsonContent({ oneOf: [written, results] }),
      },
      ...one.responses,
    },
  };
}
