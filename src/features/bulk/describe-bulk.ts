/** Writes of many records in the document: operations, and the schemas of their items. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import { type BulkEndpoint, SINGLE_OF } from '../../declare/endpoint.js';
import { keyNames, keyText } from '../../describe/row-key.js';
import type { ActionDescription } from '../../express/routes/describe-action.js';
import {
  type DescribedResource,
  idSchema,
  inputParameter,
  operationOf,
  type ResourceNames,
} from '../../openapi/described-route.js';
import {
  jsonContent,
  type MediaTypeObject,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
  schemaRef,
} from '../../openapi/openapi-object.js';
import { bareSchemaOf, bodySchemaOf } from '../../openapi/resource-schemas.js';
import { type RouteWords, USUAL } from '../../operation/route-spec.js';
import { patchTypes } from '../../schema/body-json-schema.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import { bulkInputs, maxOf } from './bulk-options.js';

/** Status of an answer in which each of many records has its own result. */
const MULTI_STATUS = 207;

const AFFECTED: JsonSchema = objectOf({
  affected: { type: 'integer', minimum: 0, description: 'Records that were written.' },
});

/** Describes the route of an endpoint. */
export function bulkOperation(
  resource: DescribedResource,
  endpoint: BulkEndpoint,
  action: ActionDescription,
): OperationObject {
  const { plan, names, features } = resource;
  const single = SINGLE_OF[endpoint];
  const { verb, description } = WORDS[endpoint];
  const requestBody = bodyOf(resource, endpoint);
  return operationOf(resource, action, {
    operationId: idOf(endpoint, names),
    summary: `${verb} many ${names.phrases}`,
    description: description(plan),
    parameters: bulkParameters(resource, endpoint),
    ...(requestBody ? { requestBody } : {}),
    answers: bulkAnswers(resource, endpoint),
    problems: [
      ...([403, 409, 412, 422] as const),
      ...(requestBody ? ([413, 415] as const) : []),
      ...(endpoint === 'updateMany' ? ([404] as const) : []),
      ...features[single].problems,
    ],
  });
}

/** The description of a route for one record that takes an array, too. OpenAPI would have a union for it. */
export function mentionMany({ names }: DescribedResource, one: OperationObject): OperationObject {
  return { ...one, description: `${one.description}\n\n\`${idOf('createMany', names)}\` creates many.` };
}

function idOf(endpoint: BulkEndpoint, { many }: ResourceNames): string {
  return `${SINGLE_OF[endpoint]}Many${many}`;
}

const ALL_OR_NONE = 'All happens or nothing, unless `atomic` is `false`.';

/** Texts of the routes. */
export const WORDS: Readonly<Record<BulkEndpoint, RouteWords>> = {
  createMany: words('Create', 'The new records, in the order of the body.', 'An array of new records.'),
  updateMany: words(
    'Change',
    'The records after the change, in the order of the body; or how many `q` has found.',
    'An array of records with their keys, each with what changes of it; or with `q` one change of all records that it finds.',
  ),
  deleteMany: words('Delete', 'How many records `q` has found.', 'Deletes all records that `q` finds.'),
};

function words(verb: string, success: string, text: string): RouteWords {
  return { verb, success, description: () => `${text} ${ALL_OR_NONE}` };
}

function bulkParameters({ plan, features }: DescribedResource, endpoint: BulkEndpoint): ParameterObject[] {
  const filter = features.list.inputs.find(({ name }) => name === 'q');
  const headers = features[SINGLE_OF[endpoint]].inputs.filter(({ isForMany }) => isForMany);
  return [...bulkInputs(maxOf(plan), endpoint, filter), ...headers]
    .flatMap(inputParameter)
    .map((each) => (endpoint === 'deleteMany' && each.name === 'q' ? { ...each, required: true } : each));
}

function bodyOf(resource: DescribedResource, endpoint: BulkEndpoint): RequestBodyObject | undefined {
  if (endpoint === 'deleteMany') return undefined;
  const { plan, names } = resource;
  const item = endpoint === 'createMany' ? names.schemas.create : names.schemas.change;
  const items: JsonSchema = {
    type: 'array',
    items: schemaRef(item),
    minItems: 1,
    maxItems: maxOf(plan),
  };
  if (endpoint === 'createMany') return { required: true, content: jsonContent(items) };
  // A change by q takes no children.
  const one = bareSchemaOf(resource, 'update');
  const patches = patchTypes(plan).mediaTypes.map((type): [string, MediaTypeObject] => [
    type,
    { schema: one },
  ]);
  return {
    required: true,
    content: { ...Object.fromEntries(patches), ...jsonContent({ oneOf: [items, one] }) },
  };
}

function bulkAnswers(
  { names, features }: DescribedResource,
  endpoint: BulkEndpoint,
): Record<string, ResponseObject> {
  const known = Object.entries(features[SINGLE_OF[endpoint]].headers);
  // Each answer for one record has those of its address and its state.
  const headers = known.filter(([, { required }]) => !required);
  const items = schemaRef(names.schemas.items);
  const each = {
    [MULTI_STATUS]: {
      description: 'Each record has a status of its own, because `atomic` is `false`.',
      content: jsonContent(
        schemaRef(endpoint === 'deleteMany' ? names.schemas.removals : names.schemas.results),
      ),
    },
  };
  const { success: description } = WORDS[endpoint];
  const schemaOf = { createMany: items, updateMany: { oneOf: [items, AFFECTED] }, deleteMany: AFFECTED };
  const { status = 200 } = USUAL[SINGLE_OF[endpoint]];
  return {
    [status === 204 ? 200 : status]: {
      description,
      ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
      content: jsonContent(schemaOf[endpoint]),
    },
    ...each,
  };
}

/** The schemas of an endpoint, by name. */
export function bulkSchemas(endpoint: BulkEndpoint, resource: DescribedResource): Record<string, JsonSchema> {
  const { plan, names } = resource;
  const { schemas } = names;
  if (endpoint === 'deleteMany') return { [schemas.removals]: listOf(resultSchema(plan, {})) };
  const written = schemaRef(schemas.written);
  return {
    ...(endpoint === 'updateMany' ? { [schemas.change]: changeSchema(resource) } : {}),
    [schemas.items]: listOf(written),
    [schemas.results]: listOf(resultSchema(plan, { item: written })),
  };
}

function listOf(items: JsonSchema): JsonSchema {
  return objectOf({ items: { type: 'array', items } });
}

function resultSchema(plan: ResourcePlan, item: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { address } = plan.info;
  const isKeyShown = !keyNames(address).some((name) => plan.exposure.unreadable.has(name));
  return objectOf(
    {
      status: {
        type: 'integer',
        description: 'What a request for this record alone would be answered with.',
      },
      ...(isKeyShown
        ? {
            key: {
              description: `The ${keyText(address)}, of a record that \`q\` has found.`,
              ...idSchema(plan),
            },
          }
        : {}),
      ...item,
      problem: schemaRef('Problem'),
    },
    ['status'],
  );
}

/** The members of an item that say which record it is about. */
function keySchemas(plan: ResourcePlan): Readonly<Record<string, JsonSchema>> {
  const parts = plan.idParts.map(({ attribute, kind: idKind }) => {
    const info = { ...plan.info, address: [attribute] };
    return [attribute.name, idSchema({ ...plan, idKind, info })] as const;
  });
  return Object.fromEntries(parts);
}

/** A change, and the record that it is of. */
function changeSchema(resource: Pick<DescribedResource, 'plan' | 'features'>): JsonSchema {
  const { plan } = resource;
  const { info, entityTag, ifMatch } = plan;
  const { properties = {}, required = [], ...others } = bodySchemaOf(resource, 'update');
  const keys = keyNames(info.address);
  const version = entityTag?.kind === 'version' ? entityTag.attribute : null;
  const state: JsonSchema = {
    type: 'integer',
    minimum: 0,
    description: 'Only if the record still has this version. Default: any.',
  };
  return {
    ...others,
    properties: { ...keySchemas(plan), ...(version === null ? {} : { [version]: state }), ...properties },
    required: [...keys, ...(version !== null && ifMatch === 'required' ? [version] : []), ...required],
  };
}
