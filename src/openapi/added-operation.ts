/** A route that a subclass added, described as far as its decorators tell: what it answers with, only its code knows. */
import { exampleValue } from '../features/example-value.js';
import type { ActionDescription, ActionParameter } from '../http/routes/describe-action.js';
import type { Class } from '../metadata/crud-options.js';
import type { ProblemStatus } from '../operation/problem-status.js';
import { classJsonSchema, objectSchema } from '../schema/class-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { PathParameter } from './document-path.js';
import {
  type DescribedResource,
  success as generatedSuccess,
  pathParameter as idParameter,
  listParameters,
} from './generated-operation.js';
import {
  jsonContent,
  type OperationObject,
  type ParameterObject,
  type RequestBodyObject,
} from './openapi-object.js';
import { OTHER_PROBLEM, problemReferences } from './problem-responses.js';
import { pascalCase, toWords } from './resource-names.js';

/** Describes an added route, whose path has these parameters. */
export function addedOperation(
  resource: DescribedResource,
  method: string,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { plan, names } = resource;
  const listed = action.takes.has('listQuery') ? listParameters(resource) : [];
  const own = action.parameters.flatMap(requestParameters);
  const parameters = [
    ...pathParameters.map((parameter) =>
      takesId(action) && parameter.name === 'id'
        ? idParameter(plan, parameter)
        : pathParameter(parameter, action.parameters),
    ),
    ...listed,
    // Where both read a parameter, the list refuses what it does not take.
    ...own.filter((each) => !listed.some(({ name, in: place }) => name === each.name && place === each.in)),
  ];
  const body = requestBody(action.parameters);
  const words = toWords(method);
  return {
    operationId: `${method.charAt(0).toLowerCase()}${pascalCase(method).slice(1)}${names.one}`,
    tags: plan.tags,
    summary: words.charAt(0).toUpperCase() + words.slice(1),
    description: `What the method \`${method}\` of the controller answers.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...successes(resource, action),
      ...problemReferences(addedProblems(resource, action)),
      '4XX': OTHER_PROBLEM,
      '5XX': OTHER_PROBLEM,
    },
  };
}

/** The statuses of what is known to go wrong. */
function addedProblems(
  { plan, features }: DescribedResource,
  action: ActionDescription,
): readonly ProblemStatus[] {
  const { takes, refusedStatus } = action;
  const isRefused =
    (takes.size > 0 && plan.access) || (takes.has('listQuery') && features.list.problems.includes(403));
  const statuses = new Set<ProblemStatus>([
    405,
    ...(takes.size > 0 ? ([400] as const) : []),
    ...(isRefused ? ([403] as const) : []),
    ...(takesId(action) ? ([404] as const) : []),
    ...(refusedStatus === undefined ? [] : [refusedStatus]),
  ]);
  return [...statuses].sort((first, second) => first - second);
}

function takesId({ takes }: ActionDescription): boolean {
  return takes.has('id') || takes.has('record');
}

function successes(
  resource: DescribedResource,
  { takes, successStatus = 200, undefinedStatus }: ActionDescription,
): OperationObject['responses'] {
  const isEmpty = successStatus === 204 || successStatus === 205;
  const success =
    takes.has('listQuery') && !isEmpty
      ? generatedSuccess(resource, 'list')
      : { description: 'The answer of the method.', ...(isEmpty ? {} : { content: jsonContent({}) }) };
  const isOwnStatus =
    undefinedStatus !== undefined && undefinedStatus !== successStatus && undefinedStatus < 400;
  return {
    [successStatus]: success,
    ...(isOwnStatus ? { [undefinedStatus]: { description: 'Nothing to answer.' } } : {}),
  };
}

function pathParameter(
  { name, shownAs }: PathParameter,
  parameters: readonly ActionParameter[],
): ParameterObject {
  const declared = parameters.find((parameter) => parameter.source === 'param' && parameter.name === name);
  return { name: shownAs, in: 'path', required: true, schema: typeSchema(declared?.type ?? String) };
}

function requestParameters({ source, name, isRequired, type }: ActionParameter): ParameterObject[] {
  switch (source) {
    case 'query':
    case 'header':
    case 'cookie':
      return [{ name, in: source, required: isRequired, schema: typeSchema(type) }];
    case 'queries':
      return isOwnClass(type) ? queryClass(type) : [];
    default:
      return [];
  }
}

function queryClass(type: Class): ParameterObject[] {
  const { properties = {}, required = [] } = classJsonSchema(type);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function requestBody(parameters: readonly ActionParameter[]): RequestBodyObject | undefined {
  const body = parameters.find(({ source }) => source === 'body');
  const members = parameters.filter(({ source }) => source === 'body-param');
  if (!body && members.length === 0) return undefined;
  const schema = body ? typeSchema(body.type) : membersSchema(members);
  const isRequired = (body ? [body] : members).some((parameter) => parameter.isRequired);
  return { required: isRequired, content: jsonContent(schema, body ? exampleValue(schema) : undefined) };
}

function membersSchema(members: readonly ActionParameter[]): JsonSchema {
  return objectSchema(
    members.map(({ name, type, isRequired }) => [name, { schema: typeSchema(type), isRequired }]),
  );
}

const CONSTRUCTORS: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
]);

/** What a type that TypeScript emitted stands for; any value where it says nothing. */
function typeSchema(type: Class | undefined): JsonSchema {
  return CONSTRUCTORS.get(type) ?? (isOwnClass(type) ? classJsonSchema(type) : {});
}

/** A class of the user's that declares properties, unlike `Object`, `Array` and `Date`. */
function isOwnClass(type: Class | undefined): type is Class {
  return typeof type === 'function' && Object.keys(classJsonSchema(type).properties ?? {}).length > 0;
}
