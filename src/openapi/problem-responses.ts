/** The answers to what goes wrong, as components of the document: one for each status. */
import type { Feature, HeaderDescription } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { type Reference, type ResponseObject, schemaRef } from './openapi-object.js';

/** The schema of every problem's body. */
export const PROBLEM_SCHEMAS: Readonly<Record<'Problem' | 'Issue', JsonSchema>> = {
  Problem: {
    type: 'object',
    description: 'Something went wrong (RFC 9457).',
    properties: {
      detail: { type: 'string', description: 'A sentence for the developer of the client.' },
      errors: {
        type: 'array',
        description: 'Everything that is wrong with the request, at once.',
        items: schemaRef('Issue'),
      },
    },
    required: ['detail'],
  },
  Issue: {
    type: 'object',
    description: 'One thing that is wrong, in the body (`pointer`) or in a parameter (`parameter`).',
    properties: {
      pointer: {
        type: 'string',
        description: 'A JSON pointer into the body (RFC 6901); empty for all of it.',
      },
      parameter: { type: 'string', description: 'The name of a query or path parameter.' },
      code: { type: 'string', description: 'A stable word for programs.' },
      detail: { type: 'string', description: 'A sentence for people.' },
      position: { type: 'integer', minimum: 0, description: 'Where in the parameter, in UTF-16 code units.' },
      allowed: { type: 'array', items: { type: 'string' }, description: 'What could stand there instead.' },
    },
    required: ['code', 'detail'],
  },
};

interface ProblemResponse {
  readonly name: string;
  readonly description: string;
  readonly example: object;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
}

const issue = (detail: string, location: object, code: string) => ({
  detail,
  errors: [{ ...location, code, detail }],
});

const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds until it is worth trying again.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

const RESPONSES: Readonly<Record<ProblemStatus, ProblemResponse>> = {
  400: {
    name: 'BadRequest',
    description:
      'The id or a parameter cannot be understood: unknown, repeated, out of range, of another type, or not encoded as ' +
      'UTF-8. Or the body is not JSON, or nested more than 32 levels deep.',
    example: issue(
      "This route has no parameter 'limit'. It accepts page, size.",
      { parameter: 'limit' },
      'unknown',
    ),
  },
  401: { name: 'Unauthorized', description: 'Who asks is not known.', example: { detail: 'Unauthorized' } },
  403: {
    name: 'Forbidden',
    description: 'Who asks may not do this, or not with this record.',
    example: { detail: 'Forbidden' },
  },
  404: {
    name: 'NotFound',
    description: 'There is no such record, or it was deleted.',
    example: { detail: 'There is no such record.' },
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'The answer to every method that this path does not have.',
    example: { detail: 'This path does not have the method PUT; it has GET, HEAD, OPTIONS.' },
    headers: {
      Allow: {
        description: 'The methods that the path has.',
        required: true,
        schema: { type: 'string', examples: ['GET, HEAD, POST, OPTIONS'] },
      },
    },
  },
  409: {
    name: 'Conflict',
    description:
      'Another record has the same unique value, a record refers to one that does not exist or is referred to, or ' +
      'somebody else changed the data at the same time.',
    example: issue('Another record has the same name.', { pointer: '/name' }, 'unique'),
    headers: { 'Retry-After': { ...RETRY_AFTER, required: false } },
  },
  412: {
    name: 'PreconditionFailed',
    description:
      'The record has another tag than `If-Match` names, and the header `ETag` is the one that it has; or there are no tags to ' +
      'check `If-Match` with. Nothing was done.',
    example: { detail: 'The City has been changed since; read it again, and repeat the change.' },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large. It is not read to its end.',
    example: issue('The body is larger than 102400 bytes.', { pointer: '' }, 'tooLarge'),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is of another media type, charset or content encoding.',
    example: issue('The Content-Type must be application/json.', { pointer: '' }, 'mediaType'),
  },
  422: {
    name: 'UnprocessableContent',
    description:
      'The body is not what the schema asks for, or the model or the database does not accept a value: texts hold no NUL ' +
      'characters, JSON no key `__proto__` and no number beyond 1e40, days exist, and 64-bit integers fit.',
    example: issue('name is required.', { pointer: '/name' }, 'isDefined'),
  },
  428: {
    name: 'PreconditionRequired',
    description: 'The request has no `If-Match`. Nothing was done.',
    example: {
      detail: 'A change of a City needs the header If-Match, with the ETag that a read of it has given.',
    },
  },
  500: {
    name: 'InternalServerError',
    description: 'Something unexpected, which the log of the server explains.',
    example: { detail: 'Internal Server Error' },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The database is not available, or something else holds a lock for too long.',
    example: { detail: 'The database is not available; try again.' },
    headers: { 'Retry-After': RETRY_AFTER },
  },
  504: {
    name: 'GatewayTimeout',
    description: 'The database did not answer in time.',
    example: { detail: 'The database did not answer in time.' },
  },
};

/** References to the answers of these statuses, which may be repeated. */
export function problemReferences(statuses: readonly ProblemStatus[]): Record<string, Reference> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${RESPONSES[status].name}` }]),
  );
}

/** The components that a document with these statuses needs. @param features may cause them, too */
export function problemResponses(
  statuses: ReadonlySet<string>,
  features: readonly Feature[],
): Record<string, ResponseObject> {
  const known = Object.entries(RESPONSES).filter(([status]) => statuses.has(status));
  const causesOf = (status: string) =>
    new Set(features.flatMap(({ causes }) => causes?.[Number(status) as ProblemStatus] ?? []));
  return Object.fromEntries(
    known.map(([status, { name, description, example, headers }]) => [
      name,
      {
        description: [description, ...causesOf(status)].join(' '),
        ...(headers ? { headers } : {}),
        content: { 'application/problem+json': { schema: schemaRef('Problem'), example } },
      },
    ]),
  );
}

/** Any other problem: what a route of the user's throws is his own choice. */
export const OTHER_PROBLEM: ResponseObject = {
  description: 'Something else went wrong.',
  content: { 'application/problem+json': { schema: schemaRef('Problem') } },
};
