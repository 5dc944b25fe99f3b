/** One of the five generated operations, described. */
import type { ActionDescription } from '../http/routes/describe-action.js';
import type { Endpoint } from '../metadata/crud-options.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { patchTypes } from '../schema/patch-types.js';
import type { PathParameter } from './document-path.js';
import {
  type HeaderObject,
  jsonContent,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
  type ResponseObject,
} from './openapi-object.js';
import { type ProblemStatus, problemReferences } from './problem-responses.js';
import { fieldsParameter, listParameters } from './query-parameters.js';
import type { ResourceNames } from './resource-names.js';
import {
  bodyExample,
  bodyRef,
  chosenRecord,
  pageExample,
  pageRef,
  recordExample,
  recordRef,
} from './resource-schemas.js';

/** What is described. */
export interface DescribedResource {
  readonly plan: ResourcePlan;
  readonly names: ResourceNames;
  /** The properties of its answers. */
  readonly readable: readonly string[];
}

/** What an operation can fail with, besides what every operation can. */
const PROBLEMS: Readonly<Record<Endpoint, readonly ProblemStatus[]>> = {
  list: [400],
  read: [400, 404],
  create: [400, 403, 409, 412, 413, 415, 422],
  update: [400, 403, 404, 409, 412, 413, 415, 422],
  delete: [400, 403, 404, 409, 412, 422],
};
const COMMON_PROBLEMS: readonly ProblemStatus[] = [405, 500, 503, 504];

const LOCATION: HeaderObject = {
  description: 'The path of the new record.',
  required: true,
  schema: { type: 'string', format: 'uri-reference' },
};

/** The statuses of the problems of an operation. */
export function problemsOf(operation: Endpoint, { refusedStatus }: ActionDescription): ProblemStatus[] {
  const guarded: readonly ProblemStatus[] = refusedStatus === undefined ? [] : [refusedStatus];
  const statuses = new Set([...PROBLEMS[operation], ...guarded, ...COMMON_PROBLEMS]);
  return [...statuses].sort((first, second) => first - second);
}

/** Describes an operation. */
export function generatedOperation(
  resource: DescribedResource,
  operation: Endpoint,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { plan, names } = resource;
  const parameters = [
    ...pathParameters.map((parameter) => pathParameter(plan, parameter)),
    ...queryParameters(resource, operation),
  ];
  const body = requestBody(resource, operation);
  return {
    operationId: operation === 'list' ? `list${names.many}` : `${operation}${names.one}`,
    tags: plan.tags,
    summary: SUMMARIES[operation](names),
    description: descriptionOf(plan, operation),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      [successStatus(operation, action)]: success(resource, operation),
      ...problemReferences(problemsOf(operation, action)),
    },
  };
}

const SUMMARIES: Readonly<Record<Endpoint, (names: ResourceNames) => string>> = {
  list: ({ phrases }) => `List ${phrases}`,
  read: ({ phrase }) => `Read ${phrase}`,
  create: ({ phrase }) => `Create ${phrase}`,
  update: ({ phrase }) => `Change ${phrase}`,
  delete: ({ phrase }) => `Delete ${phrase}`,
};

function descriptionOf({ description, pagination, info }: ResourcePlan, operation: Endpoint): string {
  switch (operation) {
    case 'list': {
      const paging = pagination === 'offset' ? 'Pages have numbers.' : 'Pages are followed by their cursors.';
      return description === null ? paging : `${description}\n\n${paging}`;
    }
    case 'read':
      return 'The whole record, or the properties that `fields` names.';
    case 'create':
      return 'What may be null is null where it is absent; a property that is not described is an error.';
    case 'update':
      return 'A merge patch (RFC 7396): absent properties stay as they are, null sets null, and `{}` changes nothing.';
    case 'delete':
      return info.paranoid ? 'The record is kept, and is missing from then on.' : 'The record is removed.';
  }
}

function successStatus(operation: Endpoint, { successStatus: given }: ActionDescription): number {
  if (operation === 'delete') return 204;
  return given ?? (operation === 'create' ? 201 : 200);
}

function success({ plan, names }: DescribedResource, operation: Endpoint): ResponseObject {
  switch (operation) {
    case 'list':
      return { description: 'A page.', content: jsonContent(pageRef(plan, names), pageExample(plan)) };
    case 'read':
      return { description: 'The record.', content: jsonContent(chosenRecord(names), recordExample(plan)) };
    case 'create':
      return {
        description: 'The new record.',
        headers: { Location: LOCATION },
        content: jsonContent(recordRef(names), recordExample(plan)),
      };
    case 'update':
      return {
        description: 'The record after the change.',
        content: jsonContent(recordRef(names), recordExample(plan)),
      };
    case 'delete':
      return { description: 'The record is deleted.' };
  }
}

function queryParameters({ plan, readable }: DescribedResource, operation: Endpoint): ParameterObject[] {
  if (operation === 'list') return listParameters(plan, readable);
  return operation === 'read' ? fieldsParameter(readable) : [];
}

/** The id; a user who moved the operation to another path may have others there. */
function pathParameter(plan: ResourcePlan, { name, shownAs }: PathParameter): ParameterObject {
  const isId = name === 'id';
  return {
    name: shownAs,
    in: 'path',
    required: true,
    ...(isId ? { description: `The ${plan.info.primaryKey.name}.` } : {}),
    schema: isId ? idSchema(plan) : { type: 'string' },
  };
}

/** An id beyond the range of its column is no mistake: there is no such record. */
function idSchema({ idKind, info }: ResourcePlan): JsonSchema {
  const { type } = info.primaryKey;
  switch (idKind) {
    case 'integer':
      return { type: 'integer' };
    case 'bigint':
      return { type: 'string', pattern: '^(?:0|-?[1-9][0-9]*)$' };
    case 'uuid':
      return { type: 'string', format: 'uuid' };
    case 'enum':
      return { type: 'string', enum: type.kind === 'enum' ? type.values : [] };
    case 'string':
      return {
        type: 'string',
        minLength: 1,
        ...(type.kind === 'string' && type.maxLength !== null ? { maxLength: type.maxLength } : {}),
      };
    case 'custom':
      return { type: 'string', minLength: 1 };
  }
}

function requestBody({ plan, names }: DescribedResource, operation: Endpoint): RequestBodyObject | undefined {
  if (operation !== 'create' && operation !== 'update') return undefined;
  const content = jsonContent(bodyRef(names, operation), bodyExample(plan, operation));
  if (operation === 'create') return { required: true, content };
  const patches = patchTypes(plan).mediaTypes.map((type) => [type, content['application/json']]);
  return { required: true, content: Object.fromEntries(patches) as RequestBodyObject['content'] };
}
