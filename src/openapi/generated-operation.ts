/** Describes a generated operation. */

import { hasRestrictedKey, type ResourcePlan, type SubresourcePlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { GeneratedRoute } from '../express/resources/generated-routes.js';
import type { ActionDescription } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import { isRuled } from '../features/scope.js';
import type { ResourceFeatures } from '../operation/compile-features.js';
import type { Input } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/problem-status.js';
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
  readonly features: ResourceFeatures;
}

/** The statuses of the problems of an operation: by its route, its features and its guard. */
function problemsOf(
  { features }: DescribedResource,
  { operation, verb, isItem, parameters }: GeneratedRoute,
  { refusedStatus }: ActionDescription,
): ProblemStatus[] {
  const statuses = new Set<ProblemStatus>([
    ...([400, 405, 500, 503, 504] as const),
    ...(isItem ? ([404] as const) : []),
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
  route: GeneratedRoute,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { plan, names, features } = resource;
  const { operation } = route;
  const usual = [
    ...pathParameters.map((parameter) => pathParameter(plan, parameter)),
    ...features[operation].inputs.flatMap(inputParameter),
  ];
  const parameters = [...usual, ...ownParameters(action.parameters, usual)];
  const body = requestBody(resource, operation);
  return {
    operationId: operation === 'list' ? `list${names.many}` : `${operation}${names.one}`,
    tags: plan.tags,
    summary: `${WORDS[operation].verb} ${operation === 'list' ? names.phrases : names.phrase}`,
    description: descriptionOf(plan, operation),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      [successStatus(operation, action)]: success(resource, operation),
      ...(operation === 'replace'
        ? { 201: { ...success(resource, operation), description: WORDS.create.success } }
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
    description: descriptionOf(target.plan, 'list'),
    parameters: [
      ...pathParameters.map((parameter) => pathParameter(plan, parameter)),
      ...listParameters(target),
    ],
    responses: {
      200: success(target, 'list'),
      ...problemReferences([...problems].sort((first, second) => first - second)),
    },
  };
}

const WORDS: Readonly<Record<Endpoint, { readonly verb: string; readonly success: string }>> = {
  list: { verb: 'List', success: 'A page.' },
  read: { verb: 'Read', success: 'The record.' },
  create: { verb: 'Create', success: 'The new record.' },
  update: { verb: 'Change', success: 'The record after the change.' },
  delete: { verb: 'Delete', success: 'The record is deleted.' },
  restore: { verb: 'Restore', success: 'The record, which is no longer deleted.' },
  purge: { verb: 'Purge', success: 'The record is removed for good.' },
  replace: { verb: 'Replace', success: 'The record after the change.' },
};

function descriptionOf(plan: ResourcePlan, operation: Endpoint): string {
  const { description, pagination, info, relations } = plan;
  switch (operation) {
    case 'list': {
      const paging = pagination === 'offset' ? 'Pages have numbers.' : 'Pages are followed by their cursors.';
      return description === null ? paging : `${description}\n\n${paging}`;
    }
    case 'read':
      return relations.include.size === 0
        ? 'The whole record, or the properties that `fields` names.'
        : 'The whole record, or the properties that `fields` names, and the relations that `include` names.';
    case 'create':
      return 'What may be null is null where it is absent; a property that is not described is an error.';
    case 'update':
      return 'A merge patch (RFC 7396): absent properties stay as they are, null sets null, and `{}` changes nothing.';
    case 'delete':
      return info.paranoid ? 'The record is kept, and is missing from then on.' : 'The record is removed.';
    case 'restore':
      return 'Brings a deleted record back. What belongs to it stays as it is. A record that is not deleted is a 409.';
    case 'purge':
      return 'Removes a deleted record for good. A record that is not deleted is a 409.';
    case 'replace':
      return 'Creates the record, or gives it other values: what is absent has its default, or is null where it has none.';
  }
}

function successStatus(operation: Endpoint, { successStatus: given }: ActionDescription): number {
  if (operation === 'delete' || operation === 'purge') return 204;
  return given ?? (operation === 'create' ? 201 : 200);
}

/** Response of an operation that succeeds. */
export function success(resource: DescribedResource, operation: Endpoint): ResponseObject {
  const { headers, media } = resource.features[operation];
  const forms = media.map(({ type, schema }) => [type, { schema }]);
  return {
    description: WORDS[operation].success,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(operation === 'delete' || operation === 'purge'
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
