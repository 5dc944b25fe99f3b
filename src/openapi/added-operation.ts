/** A route of the user's, added to a resource or written by hand, described by its decorators: its answer is in its code alone. */

import type { Class } from '../declare/crud-options.js';
import type { ActionDescription, ActionParameter, AnswerType } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import { USUAL } from '../operation/route-spec.js';
import { objectSchema } from '../schema/class-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import {
  type DescribedResource,
  pathParameter as idParameter,
  inputParameter,
  ownParameters,
  parameterSchema,
  typeSchema,
} from './described-route.js';
import { success as generatedSuccess } from './generated-operation.js';
import {
  jsonContent,
  type OperationObject,
  type ParameterObject,
  type PathParameter,
  type RequestBodyObject,
} from './openapi-object.js';
import { OTHER_PROBLEM, problemReferences } from './problem-responses.js';
import { pascalCase, toWords } from './resource-schemas.js';

/** The controller of a route. */
export interface RouteOwner {
  readonly tags: readonly string[];
  /** Suffix of the names of its operations. */
  readonly suffix: string;
  /** Null where it extends no generated one. */
  readonly resource: DescribedResource | null;
  /** Schema of an answer of a class: a record, where it is a model. */
  schemaOf(type: Class): JsonSchema;
}

/** Describes a route of the user's, whose path has these parameters. */
export function addedOperation(
  owner: RouteOwner,
  method: string,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const { tags, suffix, resource } = owner;
  const listed =
    resource && action.takes.has('listQuery') ? resource.features.list.inputs.flatMap(inputParameter) : [];
  const parameters = [
    ...pathParameters.map((parameter) =>
      resource && takesId(action) && parameter.name === 'id'
        ? idParameter(resource.plan, parameter)
        : pathParameter(parameter, action.parameters),
    ),
    ...listed,
    ...ownParameters(action.parameters, listed),
  ];
  const body = requestBody(action.parameters);
  const words = toWords(method);
  return {
    operationId: `${method.charAt(0).toLowerCase()}${pascalCase(method).slice(1)}${suffix}`,
    tags,
    summary: words.charAt(0).toUpperCase() + words.slice(1),
    description: `What the method \`${method}\` of the controller answers.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...successes(owner, action),
      ...problemReferences(resource ? addedProblems(resource, action) : refusals(action)),
      '4XX': OTHER_PROBLEM,
      '5XX': OTHER_PROBLEM,
    },
  };
}

function addedProblems(
  { plan, features }: DescribedResource,
  action: ActionDescription,
): readonly ProblemStatus[] {
  const { takes } = action;
  const isRefused =
    (takes.size > 0 && plan.access) || (takes.has('listQuery') && features.list.problems.includes(403));
  return [
    405,
    ...refusals(action),
    ...(takes.size > 0 ? ([400] as const) : []),
    ...(isRefused ? ([403] as const) : []),
    ...(takesId(action) ? ([404] as const) : []),
  ];
}

function refusals({ refusedStatus }: ActionDescription): readonly ProblemStatus[] {
  return refusedStatus === undefined ? [] : [refusedStatus];
}

function takesId({ takes }: ActionDescription): boolean {
  return takes.has('id') || takes.has('record');
}

function successes(
  { resource, schemaOf }: RouteOwner,
  { takes, answer, successStatus = 200, undefinedStatus }: ActionDescription,
): OperationObject['responses'] {
  const isEmpty = successStatus === 204 || successStatus === 205;
  const success =
    resource && takes.has('listQuery') && !isEmpty
      ? generatedSuccess(resource, USUAL.list)
      : {
          description: 'The answer of the method.',
          ...(isEmpty ? {} : { content: jsonContent(answered(answer, schemaOf)) }),
        };
  const isOwnStatus =
    undefinedStatus !== undefined && undefinedStatus !== successStatus && undefinedStatus < 400;
  return {
    [successStatus]: success,
    ...(isOwnStatus ? { [undefinedStatus]: { description: 'Nothing to answer.' } } : {}),
  };
}

function answered(answer: AnswerType | undefined, schemaOf: RouteOwner['schemaOf']): JsonSchema {
  if (!answer) return {};
  return typeof answer === 'function' ? schemaOf(answer) : { type: 'array', items: schemaOf(answer[0]) };
}

function pathParameter(
  { name, shownAs }: PathParameter,
  parameters: readonly ActionParameter[],
): ParameterObject {
  const declared = parameters.find((parameter) => parameter.source === 'param' && parameter.name === name);
  return { name: shownAs, in: 'path', required: true, schema: typeSchema(declared?.type ?? String) };
}

function requestBody(parameters: readonly ActionParameter[]): RequestBodyObject | undefined {
  const body = parameters.find(({ source }) => source === 'body');
  const members = parameters.filter(({ source }) => source === 'body-param');
  if (!body && members.length === 0) return undefined;
  const schema = body ? parameterSchema(body) : membersSchema(members);
  const isRequired = (body ? [body] : members).some((parameter) => parameter.isRequired);
  return { required: isRequired, content: jsonContent(schema, body ? exampleValue(schema) : undefined) };
}

function membersSchema(members: readonly ActionParameter[]): JsonSchema {
  return objectSchema(
    members.map((member) => [
      member.name,
      { schema: parameterSchema(member), isRequired: member.isRequired },
    ]),
  );
}
