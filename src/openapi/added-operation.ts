/** A route of the user's, added to a resource or written by hand, described by its decorators: its answer is in its code alone. */

import { compileId } from '../compile/compile-id.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { isModel } from '../describe/record.js';
import type { AnswerType } from '../express/routes/answers.js';
import type { ActionDescription, ActionParameter } from '../express/routes/describe-action.js';
import { exampleValue } from '../features/example-value.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import { USUAL } from '../operation/route-spec.js';
import { objectSchema, type WriteNested } from '../schema/class-json-schema.js';
import { classProperties } from '../schema/class-properties.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { parseIdText } from '../schema/wire-value.js';
import {
  BYTES,
  type DescribedResource,
  pathParameter as idParameter,
  idSchema,
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
  type Reference,
  type RequestBodyObject,
  type ResponseObject,
} from './openapi-object.js';
import { problemReferences, problemSaying } from './problem-responses.js';
import { pascalCase, toWords } from './resource-schemas.js';

interface RouteOwner {
  readonly tags: readonly string[];
  /** Suffix of the names of its operations. */
  readonly suffix: string;
  /** Null where it extends no generated one. */
  readonly resource: DescribedResource | null;
  /** Schema of a class: a record, where it is the model of an answer. */
  readonly refer: WriteNested;
}

/** Describes a route of the user's, whose path has these parameters. */
export function addedOperation(
  owner: RouteOwner,
  method: string,
  verb: string,
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
        : resource && action.recordKeys.includes(parameter.name)
          ? keyParameter(resource.plan, parameter)
          : pathParameter(parameter, action.parameters),
    ),
    ...listed,
    ...ownParameters(action.parameters, listed),
  ];
  const body = requestBody(action.parameters, owner.refer);
  const words = toWords(method);
  const operation: OperationObject = {
    operationId: `${method.charAt(0).toLowerCase()}${pascalCase(method).slice(1)}${suffix}`,
    tags,
    summary: words.charAt(0).toUpperCase() + words.slice(1),
    description: `What the method \`${method}\` of the controller answers.`,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: {
      ...successes(owner, action),
      ...problemReferences([
        ...PROBLEMS,
        ...(SAFE_VERBS.has(verb) ? [] : WRITE_PROBLEMS),
        ...(body ? BODY_PROBLEMS : []),
        ...(resource ? addedProblems(resource, action) : []),
        ...refusals(action),
      ]),
    },
  };
  return withDeclared(operation, action, owner.refer);
}

/** Problems of every route. Other errors of its method are declared by `@Answers`. */
const PROBLEMS: readonly ProblemStatus[] = [400, 404, 500, 503, 504];
const SAFE_VERBS: ReadonlySet<string> = new Set(['get', 'head', 'options']);
/** Problems of rows that a method writes. */
const WRITE_PROBLEMS: readonly ProblemStatus[] = [403, 409, 422];
const BODY_PROBLEMS: readonly ProblemStatus[] = [413, 415, 422];

/** Adds the answers of `@Answers`, which replace other descriptions. */
export function withDeclared(
  operation: OperationObject,
  { declared: { success, byStatus, details }, mediaType }: ActionDescription,
  refer: WriteNested,
): OperationObject {
  const { public: _, ...words } = details;
  const { responses } = operation;
  const given = Object.entries(byStatus);
  const isSuccess = (status: string): boolean => status.startsWith('2');
  const first = Object.keys(responses).find(isSuccess);
  const known = Object.entries(responses).filter(
    ([status]) => !isSuccess(status) || !given.some(([other]) => isSuccess(other)),
  );
  const whole = success && first !== undefined ? [[first, success] as const] : [];
  const declared = [...whole, ...given].map(([status, answer]) => [
    status,
    declaredResponse(Number(status), answer, responses[status], refer, mediaType),
  ]);
  return { ...operation, ...words, responses: { ...Object.fromEntries([...known, ...declared]) } };
}

function declaredResponse(
  status: number,
  answer: AnswerType | string | null,
  known: ResponseObject | Reference | undefined,
  refer: WriteNested,
  mediaType: string | undefined,
): ResponseObject | Reference {
  const { headers, ...before }: Partial<ResponseObject> = known && !('$ref' in known) ? known : {};
  const { description = status < 400 ? 'The answer of the method.' : 'What the method answers.' } = before;
  const shown = headers ? { headers } : {};
  if (answer === null) return { description, ...shown };
  if (typeof answer !== 'string') {
    const content = answerContent(answered(answer, refer), status < 400 ? mediaType : undefined);
    return { description, ...shown, content };
  }
  return status < 400 ? { ...before, ...shown, description: answer } : problemSaying(status, answer);
}

function addedProblems(
  { plan, features }: DescribedResource,
  action: ActionDescription,
): readonly ProblemStatus[] {
  const { takes } = action;
  const isRefused =
    (takes.size > 0 && plan.access) || (takes.has('listQuery') && features.list.problems.includes(403));
  return isRefused ? [403, 405] : [405];
}

function refusals({ refusedStatus }: ActionDescription): readonly ProblemStatus[] {
  return refusedStatus === undefined ? [] : [refusedStatus];
}

/** True where the method has the id of a record, or the record. */
export function takesId({ takes }: ActionDescription): boolean {
  return takes.has('id') || takes.has('record');
}

function successes({ resource, refer }: RouteOwner, action: ActionDescription): OperationObject['responses'] {
  const { takes, returnType, successStatus = 200, undefinedStatus, nullStatus, mediaType } = action;
  // Express answers so, also where a decorator names another status.
  if (action.isRedirect) return { 302: REDIRECT };
  const isEmpty = successStatus === 204 || successStatus === 205;
  const success =
    resource && takes.has('listQuery') && !isEmpty && mediaType === undefined
      ? generatedSuccess(resource, USUAL.list)
      : {
          description: 'The answer of the method.',
          ...(isEmpty ? {} : { content: answerContent(emittedSchema(returnType, refer), mediaType) }),
        };
  const others = [undefinedStatus, nullStatus].flatMap((status) =>
    status === undefined || status === successStatus || status >= 400
      ? []
      : [[status, { description: 'Nothing to answer.' }] as const],
  );
  return { [successStatus]: success, ...Object.fromEntries(others) };
}

const REDIRECT: ResponseObject = {
  description: 'Another address.',
  headers: { Location: { description: 'The address.', schema: { type: 'string' } } },
};

/** An answer in its media type: JSON of the schema, a text, or bytes. */
function answerContent(schema: JsonSchema, mediaType = 'application/json'): RequestBodyObject['content'] {
  if (/json/.test(mediaType)) return { [mediaType]: { schema } };
  return { [mediaType]: { schema: /^text\//i.test(mediaType) ? { type: 'string' } : BYTES } };
}

/** Schema of a result whose class the compiler has emitted; of any other one there is none. */
function emittedSchema(type: ActionDescription['returnType'], refer: WriteNested): JsonSchema {
  const isDescribed = type && (isModel(type) || classProperties(type, 'read').size > 0);
  return isDescribed ? refer(type, 'read') : {};
}

function answered(answer: AnswerType, refer: WriteNested): JsonSchema {
  return typeof answer === 'function'
    ? refer(answer, 'read')
    : { type: 'array', items: refer(answer[0], 'read') };
}

/** The value of another attribute than that which addresses a record. */
function keyParameter(plan: ResourcePlan, { name, shownAs }: PathParameter): ParameterObject {
  const address = plan.info.attributes.get(name) as AttributeInfo;
  const idKind = compileId({ name: plan.name, address: [address] }, undefined, parseIdText).kind;
  const schema = idSchema({ ...plan, idKind, info: { ...plan.info, address: [address] } });
  return { name: shownAs, in: 'path', required: true, description: `The ${name}.`, schema };
}

function pathParameter(
  { name, shownAs }: PathParameter,
  parameters: readonly ActionParameter[],
): ParameterObject {
  const declared = parameters.find((parameter) => parameter.source === 'param' && parameter.name === name);
  return { name: shownAs, in: 'path', required: true, schema: typeSchema(declared?.type ?? String) };
}

function requestBody(
  parameters: readonly ActionParameter[],
  refer: WriteNested,
): RequestBodyObject | undefined {
  const body = parameters.find(({ source }) => source === 'body');
  const members = parameters.filter(({ source }) => source === 'body-param');
  const files = parameters.filter(({ source }) => source === 'file' || source === 'files');
  if (files.length > 0) return formBody(body, [...members, ...files]);
  if (!body && members.length === 0) return undefined;
  const schema = body ? parameterSchema(body, refer) : membersSchema(members, refer);
  const isRequired = (body ? [body] : members).some((parameter) => parameter.isRequired);
  const example = body && exampleValue(parameterSchema(body));
  return { required: isRequired, content: jsonContent(schema, example) };
}

/** A form with files. The class of a whole body has its other fields. */
function formBody(body: ActionParameter | undefined, members: readonly ActionParameter[]): RequestBodyObject {
  const fields: JsonSchema = body ? parameterSchema(body) : {};
  const { properties, required = [] } = membersSchema(members);
  const all = [...(fields.required ?? []), ...required];
  const schema: JsonSchema = {
    type: 'object',
    properties: { ...fields.properties, ...properties },
    ...(all.length > 0 ? { required: all } : {}),
  };
  return {
    required: body?.isRequired === true || required.length > 0,
    content: { 'multipart/form-data': { schema } },
  };
}

function membersSchema(members: readonly ActionParameter[], refer?: WriteNested): JsonSchema {
  return objectSchema(
    members.map((member) => [
      member.name,
      { schema: parameterSchema(member, refer), isRequired: member.isRequired },
    ]),
  );
}
