/** Describes a generated operation. */

import type { Endpoint } from '../declare/crud-options.js';
import { baseOf } from '../declare/endpoint.js';
import type { ActionDescription } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import type { RouteSpec } from '../operation/route-spec.js';
import { bodyJsonSchema, patchTypes } from '../schema/body-json-schema.js';
import {
  type DescribedAction,
  type DescribedResource,
  operationOf,
  ownParameters,
  parametersOf,
} from './described-route.js';
import {
  jsonContent,
  type OperationObject,
  type RequestBodyObject,
  type ResponseObject,
  schemaRef,
} from './openapi-object.js';
import { chosenRecord, pageExample, recordExample } from './resource-schemas.js';

/** Describes an operation. */
export function generatedOperation(route: RouteSpec, mounted: DescribedAction): OperationObject {
  const { resource, action } = mounted;
  const { plan, names, features } = resource;
  const { endpoint, operation, parses = operation, words, verb, path, parameters } = route;
  const usual = parametersOf(mounted, features[operation].inputs);
  const requestBody = bodyOf(resource, parses);
  return operationOf(resource, action, {
    operationId: operation === 'list' ? `list${names.many}` : `${endpoint}${names.one}`,
    summary: `${words.verb} ${operation === 'list' ? names.phrases : names.phrase}`,
    description: words.description(plan),
    parameters: [...usual, ...ownParameters(action.parameters, usual)],
    ...(requestBody ? { requestBody } : {}),
    answers: {
      [successStatus(route, action)]: success(resource, route),
      ...Object.fromEntries(
        Object.entries(features[operation].records).map(([status, description]) => [
          status,
          { ...success(resource, { ...route, status: Number(status) }), description },
        ]),
      ),
    },
    problems: [
      ...(path === '' ? [] : ([404] as const)),
      ...(verb === 'get' ? [] : ([403, 409, 422] as const)),
      ...(parameters.includes('values') ? ([413, 415] as const) : []),
      ...features[operation].problems,
    ],
  });
}

function successStatus({ status }: RouteSpec, { successStatus: given }: ActionDescription): number {
  return status === 204 ? status : (given ?? status ?? 200);
}

/** Response of an operation that succeeds. */
export function success(
  resource: DescribedResource,
  { operation, status, words }: RouteSpec,
): ResponseObject {
  const { headers, media } = resource.features[operation];
  const forms = media.map(({ type, schema }) => [type, { schema }]);
  return {
    description: words.success,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(status === 204
      ? {}
      : { content: { ...successContent(resource, operation), ...Object.fromEntries(forms) } }),
  };
}

function successContent(resource: DescribedResource, operation: Endpoint) {
  const { plan, names } = resource;
  if (operation === 'list') return jsonContent(schemaRef(names.schemas.page), pageExample(plan));
  // A record is removed only as a read shows it.
  const other = baseOf(operation) === 'delete' ? names.schemas.record : names.schemas.written;
  const record = operation === 'read' ? chosenRecord(resource) : schemaRef(other);
  return jsonContent(record, recordExample(plan));
}

function bodyOf({ plan, names }: DescribedResource, operation: Endpoint): RequestBodyObject | undefined {
  if (operation !== 'create' && operation !== 'update' && operation !== 'replace') return undefined;
  // Ready to be sent where the user's rules let it.
  const example = exampleValue(bodyJsonSchema(plan, operation));
  const content = jsonContent(schemaRef(names.schemas[operation]), example);
  if (operation !== 'update') return { required: true, content };
  const patches = patchTypes(plan).mediaTypes.map((type) => [type, content['application/json']]);
  return { required: true, content: Object.fromEntries(patches) as RequestBodyObject['content'] };
}
