/** Upserts in the document: parameters of the route that creates, and its other answer. */
import { type DescribedResource, inputParameter } from '../../openapi/described-route.js';
import { jsonContent, type OperationObject, schemaRef } from '../../openapi/openapi-object.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import { maxOf } from '../bulk/bulk-options.js';
import { upsertInputs, upsertKeys } from './upsert-options.js';

/** Adds an upsert to the description of a create. */
export function describeUpsert(
  { plan, names: { schemas }, features }: DescribedResource,
  one: OperationObject,
): OperationObject {
  const record = schemaRef(schemas.create);
  const written = schemaRef(schemas.written);
  const many: JsonSchema = { type: 'array', items: record, minItems: 1, maxItems: maxOf(plan) };
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
      'without those of the key. An array of records is written whole or not at all.',
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
