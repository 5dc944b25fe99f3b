/** The answers of errors, as components of the document: one for each status. */
import type { Feature, HeaderDescription } from '../operation/feature.js';
import type { ProblemStatus } from '../operation/refused-request-error.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { type OpenAPIObject, type Reference, type ResponseObject, schemaRef } from './openapi-object.js';

const PROBLEM_TYPE = 'application/problem+json';

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
  readonly headers: Readonly<Record<string, HeaderDescription>> | undefined;
}

/** @param example its body, or the sentence in it */
function problem(
  name: string,
  description: string,
  example: string | object,
  headers?: ProblemResponse['headers'],
): ProblemResponse {
  return { name, description, headers, example: typeof example === 'string' ? { detail: example } : example };
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

const ALLOW: HeaderDescription = {
  description: 'The methods that the path has.',
  required: true,
  schema: { type: 'string', examples: ['GET, HEAD, POST, OPTIONS'] },
};

const RESPONSES: Readonly<Record<ProblemStatus, ProblemResponse>> = {
  400: problem(
    'BadRequest',
    'The id or a parameter cannot be understood: unknown, repeated, out of range, of another type, or not encoded as ' +
      'UTF-8. Or the body is not JSON, or nested more than 32 levels deep.',
    issue("This route has no parameter 'limit'. It accepts page, size.", { parameter: 'limit' }, 'unknown'),
  ),
  401: problem('Unauthorized', 'Who asks is not known.', 'Unauthorized'),
  403: problem('Forbidden', 'Who asks may not do this, or not with this record.', 'Forbidden'),
  404: problem('NotFound', 'There is no such record, or it was deleted.', 'There is no such record.'),
  405: problem(
    'MethodNotAllowed',
    'The answer to every method that this path does not have.',
    'This path does not have the method PUT; it has GET, HEAD, OPTIONS.',
    { Allow: ALLOW },
  ),
  408: problem(
    'RequestTimeout',
    'The next rows of the file did not arrive in time.',
    'The next rows did not arrive within 30000 ms; send the file again.',
  ),
  409: problem(
    'Conflict',
    'Another record has the same unique value, a record refers to one that does not exist or is referred to, or ' +
      'somebody else changed the data at the same time.',
    issue('Another record has the same name.', { pointer: '/name' }, 'unique'),
    { 'Retry-After': { ...RETRY_AFTER, required: false } },
  ),
  410: problem(
    'Gone',
    'The cursor of a feed goes on no more: its events are gone, or it is of other resources, another `q` or other rights.',
    issue(
      'The cursor goes on no more. Take a new one with after=now.',
      { parameter: 'after' },
      'changes.expired',
    ),
  ),
  412: problem(
    'PreconditionFailed',
    'The record has another tag than `If-Match` names, and the header `ETag` is the one that it has; or there are no tags to ' +
      'check `If-Match` with. Nothing was done.',
    'The City has been changed since; read it again, and repeat the change.',
  ),
  413: problem(
    'ContentTooLarge',
    'The body is too large. It is not read to its end.',
    issue('The body is larger than 102400 bytes.', { pointer: '' }, 'tooLarge'),
  ),
  415: problem(
    'UnsupportedMediaType',
    'The body is of another media type, charset or content encoding.',
    issue('The Content-Type must be application/json.', { pointer: '' }, 'mediaType'),
  ),
  422: problem(
    'UnprocessableContent',
    'The body is not what the schema asks for, or the model or the database does not accept a value: texts hold no NUL ' +
      'characters, JSON no key `__proto__` and no number beyond 1e40, days exist, and 64-bit integers fit.',
    issue('name is required.', { pointer: '/name' }, 'isDefined'),
  ),
  428: problem(
    'PreconditionRequired',
    'The request has no `If-Match`. Nothing was done.',
    'A change of a City needs the header If-Match, with the ETag that a read of it has given.',
  ),
  500: problem(
    'InternalServerError',
    'Something unexpected, which the log of the server explains.',
    'Internal Server Error',
  ),
  503: problem(
    'ServiceUnavailable',
    'The database is not available, or something else holds a lock for too long.',
    'The database is not available; try again.',
    { 'Retry-After': RETRY_AFTER },
  ),
  504: problem(
    'GatewayTimeout',
    'The database did not answer in time.',
    'The database did not answer in time.',
  ),
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
        content: { [PROBLEM_TYPE]: { schema: schemaRef('Problem'), example } },
      },
    ]),
  );
}

/** Response with a problem of a status in words of its own. @param schema of its body, by name */
export function problemSaying(status: number, description: string, schema = 'Problem'): ResponseObject {
  const headers = RESPONSES[status as ProblemStatus]?.headers;
  const content = { [PROBLEM_TYPE]: { schema: schemaRef(schema) } };
  return { description, ...(headers ? { headers } : {}), content };
}

/** A problem that the application makes: its form and its media type are unknown. */
const OPEN_CONTENT = { '*/*': { schema: schemaRef('Problem') } };

function opened<R extends ResponseObject | Reference>(
  responses: Readonly<Record<string, R>>,
): Record<string, R> {
  const entries = Object.entries(responses).map(([key, each]): [string, R] => {
    const isProblem = 'content' in each && each.content?.[PROBLEM_TYPE];
    return [key, isProblem ? { ...each, content: OPEN_CONTENT } : each];
  });
  return Object.fromEntries(entries);
}

/** The parts of a document, where the application makes the bodies of errors. */
export function withOpenProblems<P extends Pick<OpenAPIObject, 'paths' | 'components'>>(parts: P): P {
  const { Issue: _issue, ...schemas } = parts.components.schemas;
  const Problem = { description: 'Something went wrong. The application decides the form.' };
  const paths = Object.entries(parts.paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => [
      method,
      { ...operation, responses: opened(operation.responses) },
    ]);
    return [path, Object.fromEntries(operations)];
  });
  const responses = opened(parts.components.responses);
  const components = { ...parts.components, schemas: { ...schemas, Problem }, responses };
  return { ...parts, paths: Object.fromEntries(paths), components };
}
