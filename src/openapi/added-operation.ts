/** A route that a subclass added, described as far as its decorators tell: what it answers with, only its code knows. */
import { exampleValue } from '../features/example-value.js';
import type { ActionDescription, ActionParameter } from '../http/routes/describe-action.js';
import type { Class } from '../metadata/crud-options.js';
import { classJsonSchema, objectSchema } from '../schema/class-json-schema.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { PathParameter } from './document-path.js';
import type { DescribedResource } from './generated-operation.js';
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
  { plan, names }: DescribedResource,
  method: string,
  action: ActionDescription,
  pathParameters: readonly PathParameter[],
): OperationObject {
  const parameters = [
    ...pathParameters.map((parameter) => pathParameter(parameter, action.parameters)),
    ...action.parameters.flatMap(requestParameters),
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
      ...successes(action),
      ...problemReferences([...(action.refusedStatus ? [action.refusedStatus] : []), 405]),
      '4XX': OTHER_PROBLEM,
      '5XX': OTHER_PROBLEM,
    },
  };
}

function successes({
  successStatus = 200,
  undefinedStatus,
}: ActionDescription): OperationObject['responses'] {
  const isEmpty = successStatus === 204 || successStatus === 205;
  const success = {
    description: 'The answer of the method.',
    ...(isEmpty ? {} : { content: jsonContent({}) }),
  };
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
