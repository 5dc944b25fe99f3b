/** Describes a generated operation. */

import { hasRestrictedKey, type ResourcePlan, type SubresourcePlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { ActionDescription } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import { isRuled } from '../features/scope.js';
import type { ResourceFeatures } from '../operation/compile-features.js';
import type { Input } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import { type RouteSpec, USUAL } from '../operation/route-spec.js';
import { bodyJsonSchema } from '../schema/body-json-schema.js';
import { patchTypes } from '../schema/patch-types.js';
import type { PathParameter } from './document-path.js';
import { idSchema } from './id-schema.js';
import {
  jsonContent,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
  schemaRef,
} from './openapi-object.js';
import { ownParameters } from './own-parameters.js';
import { problemReferences } from './problem-responses.js';
import { pascalCase, type ResourceNames, toWords } from './resource-names.js';
import { chosenRecord, pageExample, recordExample } from './resource-schemas.js';

/** Resource that is described. */
export interface DescribedResource {
  readonly plan: ResourcePlan;
  readonly names: ResourceNames;
  readonly routes: readonly RouteSpec[];
  readonly features: ResourceFeatures;
}

/** The statuses of the problems of an operation: by its route, its features and its guard. */
function problemsOf(
  { features }: DescribedResource,
  { operation, verb, path, parameters }: RouteSpec,
  { refusedStatus }: ActionDescription,
): ProblemStatus[] {
  const statuses = new Set<ProblemStatus>([
    ...([400, 405, 500, 503, 504] as const),
    ...(path === '' ? [] : ([404] as const)),
    ...(verb === 'get' ? [] : ([403, 409, 422] as const)),
    ...(parameters.includes('values') ? ([413, 415] as const) : []),
    ...features[operation].problems,
    ...(refusedStatus === undefined ? [] : [refusedStatus]),
  ]);
  return [...statuses].sort((first, second) => first - second);
}

/** Describes an operation. */
export function generatedOperation(
  resource: DescribedResource,
  route: RouteSpec,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { plan, names, features } = resource;
  const { operation, words } = route;
  const usual = [
    ...pathParameters.map((parameter) => pathParameter(plan, parameter)),
    ...features[operation].inputs.flatMap(inputParameter),
  ];
  const parameters = [...usual, ...ownParameters(action.parameters, usual)];
  const body = requestBody(resource, operation);
  return {
    operationId: operation === 'list' ? `list${names.many}` : `${operation}${names.one}`,
    tags: plan.tags,
    summary: `${words.verb} ${operation === 'list' ? names.phrases : names.phrase}`,
    description: words.description(plan),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      [successStatus(route, action)]: success(resource, route),
      ...(operation === 'replace'
        ? { 201: { ...success(resource, route), description: USUAL.create.words.success } }
        : {}),
      ...problemReferences(problemsOf(resource, route, action)),
    },
  };
}

/** Describes the list of a sub-resource: that of the target, under a record of the parent. */
export function subresourceOperation(
  parent: DescribedResource,
  target: DescribedResource,
  subresource: SubresourcePlan,
  { refusedStatus }: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { plan, names, features } = parent;
  const { name } = subresource.relation;
  const isRefused = isRuled(subresource) || hasRestrictedKey(subresource, plan.access);
  const problems = new Set<ProblemStatus>([
    ...([400, 404, 405, 500, 503, 504] as const),
    ...features.read.problems,
    ...target.features.list.problems,
    ...(isRefused ? ([403] as const) : []),
    ...(refusedStatus === undefined ? [] : [refusedStatus]),
  ]);
  return {
    operationId: `list${names.one}${pascalCase(name)}`,
    tags: plan.tags,
    summary: `List ${toWords(name)} of ${names.phrase}`,
    description: USUAL.list.words.description(target.plan),
    parameters: [
      ...pathParameters.map((parameter) => pathParameter(plan, parameter)),
      ...listParameters(target),
    ],
    responses: {
      200: success(target, USUAL.list),
      ...problemReferences([...problems].sort((first, second) => first - second)),
    },
  };
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

function successContent({ plan, names }: DescribedResource, operation: Endpoint) {
  if (operation === 'list') return jsonContent(schemaRef(names.schemas.page), pageExample(plan));
  const record = operation === 'read' ? chosenRecord(names) : schemaRef(names.schemas.written);
  return jsonContent(record, recordExample(plan));
}

/** The parameters that a list has in its query string and headers. */
export function listParameters({ features }: DescribedResource): readonly ParameterObject[] {
  return features.list.inputs.flatMap(inputParameter);
}

/** A parameter, unless it accepts no value. */
export function inputParameter({ in: place, name, describe }: Input): ParameterObject[] {
  const description = describe?.();
  return description ? [{ name, in: place, required: false, ...description }] : [];
}

/** The id; a user who moved the operation to another path may have others there. */
export function pathParameter(plan: ResourcePlan, { name, shownAs }: PathParameter): ParameterObject {
  const isId = name === 'id';
  return {
    name: shownAs,
    in: 'path',
    required: true,
    ...(isId ? { description: `The ${plan.info.primaryKey.name}.` } : {}),
    schema: isId ? idSchema(plan) : { type: 'string' },
  };
}

function requestBody({ plan, names }: DescribedResource, operation: Endpoint): RequestBodyObject | undefined {
  if (operation !== 'create' && operation !== 'update' && operation !== 'replace') return undefined;
  // Ready to be sent where the user's rules let it.
  const example = exampleValue(bodyJsonSchema(plan, operation));
  const content = jsonContent(schemaRef(names.schemas[operation]), example);
  if (operation !== 'update') return { required: true, content };
  const patches = patchTypes(plan).mediaTypes.map((type) => [type, content['application/json']]);
  return { required: true, content: Object.fromEntries(patches) as RequestBodyObject['content'] };
}
