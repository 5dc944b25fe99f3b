/** The operations on many records, described. */

import { type BulkEndpoint, SINGLE_OF } from '../declare/endpoint.js';
import type { BulkRoute } from '../express/resources/bulk-route.js';
import type { ActionDescription } from '../express/routes/describe-action.js';
import { bulkInputs } from '../features/bulk-inputs.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { patchTypes } from '../schema/patch-types.js';
import { type DescribedResource, inputParameter } from './generated-operation.js';
import {
  jsonContent,
  type MediaTypeObject,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
  schemaRef,
} from './openapi-object.js';
import { problemReferences } from './problem-responses.js';

/** Status of an answer in which each of many records has its own result. */
const MULTI_STATUS = 207;

const AFFECTED: JsonSchema = {
  type: 'object',
  properties: { affected: { type: 'integer', minimum: 0, description: 'Records that were written.' } },
  required: ['affected'],
};

/** Describes the route of an endpoint. */
export function bulkOperation(
  resource: DescribedResource,
  { endpoint, single }: BulkRoute,
  { refusedStatus }: ActionDescription,
): OperationObject {
  const { plan, names, features } = resource;
  const { operation } = single;
  const body = bodyOf(resource, endpoint);
  const statuses = new Set<ProblemStatus>([
    ...([400, 403, 405, 409, 412, 422, 500, 503, 504] as const),
    ...(body ? ([413, 415] as const) : []),
    ...(endpoint === 'updateMany' ? ([404] as const) : []),
    ...features[operation].problems,
    ...(refusedStatus === undefined ? [] : [refusedStatus]),
  ]);
  return {
    operationId: `${SINGLE_OF[endpoint]}Many${names.many}`,
    tags: plan.tags,
    summary: `${VERBS[endpoint]} many ${names.phrases}`,
    description: DESCRIPTIONS[endpoint],
    parameters: bulkParameters(resource, endpoint),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...bulkAnswers(resource, endpoint),
      ...problemReferences([...statuses].sort((first, second) => first - second)),
    },
  };
}

/** The description of a route that takes a new record, or an array of them. */
export function withMany(resource: DescribedResource, one: OperationObject): OperationObject {
  const { names } = resource;
  const { 201: created, ...others } = one.responses;
  const many = bulkAnswers(resource, 'createMany');
  const known = created as ResponseObject;
  // An array has no address, and no state.
  const headers = Object.entries(known.headers ?? {}).map(([name, header]) => [
    name,
    { ...header, required: false },
  ]);
  return {
    ...one,
    summary: `${one.summary}, or many ${names.phrases}`,
    description: `${one.description}\n\n${DESCRIPTIONS.createMany}`,
    parameters: [...(one.parameters ?? []), ...bulkParameters(resource, 'createMany')],
    requestBody: either(one.requestBody, bodyOf(resource, 'createMany')),
    responses: {
      ...many,
      201: {
        description: `${known.description} Or the new records, in the order of the body.`,
        ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
        content: jsonContent({ oneOf: [schemaRef(names.schemas.written), schemaRef(names.schemas.items)] }),
      },
      ...others,
    },
  };
}

const VERBS: Readonly<Record<BulkEndpoint, string>> = {
  createMany: 'Create',
  updateMany: 'Change',
  deleteMany: 'Delete',
};

const ALL_OR_NONE = 'All happens or nothing, unless `atomic` is `false`.';

const DESCRIPTIONS: Readonly<Record<BulkEndpoint, string>> = {
  createMany: `An array of new records. ${ALL_OR_NONE}`,
  updateMany: `An array of records with their keys, each with what changes of it; or with \`q\` one change of all records that it finds. ${ALL_OR_NONE}`,
  deleteMany: `Deletes all records that \`q\` finds. ${ALL_OR_NONE}`,
};

function bulkParameters({ plan, features }: DescribedResource, endpoint: BulkEndpoint): ParameterObject[] {
  const filter = features.list.inputs.find(({ name }) => name === 'q');
  return bulkInputs(plan.bulk?.max ?? 1, endpoint, filter)
    .flatMap(inputParameter)
    .map((each) => (endpoint === 'deleteMany' && each.name === 'q' ? { ...each, required: true } : each));
}

function bodyOf({ plan, names }: DescribedResource, endpoint: BulkEndpoint): RequestBodyObject | undefined {
  if (endpoint === 'deleteMany') return undefined;
  const item = endpoint === 'createMany' ? names.schemas.create : names.schemas.change;
  const items: JsonSchema = {
    type: 'array',
    items: schemaRef(item),
    minItems: 1,
    maxItems: plan.bulk?.max ?? 1,
  };
  if (endpoint === 'createMany') return { required: true, content: jsonContent(items) };
  const one = schemaRef(names.schemas.update);
  const patches = patchTypes(plan).mediaTypes.map((type): [string, MediaTypeObject] => [
    type,
    { schema: one },
  ]);
  return {
    required: true,
    content: { ...Object.fromEntries(patches), ...jsonContent({ oneOf: [items, one] }) },
  };
}

function either(one: RequestBodyObject | undefined, many: RequestBodyObject | undefined): RequestBodyObject {
  const [first, second] = [one, many].map((each) => each?.content['application/json']);
  const oneOf = [first, second].flatMap((each) => (each ? [each.schema] : []));
  return { required: true, content: jsonContent({ oneOf }, first?.example) };
}

function bulkAnswers({ names }: DescribedResource, endpoint: BulkEndpoint): Record<string, ResponseObject> {
  const items = schemaRef(names.schemas.items);
  const each = {
    [MULTI_STATUS]: {
      description: 'Each record has a status of its own, because `atomic` is `false`.',
      content: jsonContent(
        schemaRef(endpoint === 'deleteMany' ? names.schemas.deleted : names.schemas.results),
      ),
    },
  };
  switch (endpoint) {
    case 'createMany':
      return {
        201: { description: 'The new records, in the order of the body.', content: jsonContent(items) },
        ...each,
      };
    case 'updateMany':
      return {
        200: {
          description: 'The records after the change, in the order of the body; or how many `q` has found.',
          content: jsonContent({ oneOf: [items, AFFECTED] }),
        },
        ...each,
      };
    case 'deleteMany':
      return {
        200: { description: 'How many records `q` has found.', content: jsonContent(AFFECTED) },
        ...each,
      };
  }
}
