/**
 * A request -> the arguments of a controller's method. Cheap checks come first and each stops the rest: the query
 * string, then the id, then the body, which is only read when everything before it is right.
 */
import type { Request } from 'express';
import { HttpError } from 'routing-controllers';
import type { Endpoint } from '../../metadata/crud-options.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import { type ParsedId, REFUSED } from '../../plan/compile-id.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { CursorCodec } from '../../query/cursor-codec.js';
import { InvalidQueryError } from '../../query/invalid-query-error.js';
import type { ListQuery } from '../../query/list-query.js';
import { parseFields } from '../../query/parse-fields.js';
import { parseListQuery } from '../../query/parse-list-query.js';
import { parseQueryString, type QueryString, quote } from '../../query/query-string.js';
import type { ReadQuery } from '../../query/read-query.js';
import { parameterIssues, rejectUnknownParameters } from '../../query/unknown-parameters.js';
import { type BodySchema, type BodyValues, parseBody } from '../../schema/body-schema.js';
import { patchTypes } from '../../schema/patch-types.js';
import { readBody } from './read-body.js';

/** The arguments, as far as the operation has them. */
export interface RequestArguments {
  readonly query?: ListQuery | ReadQuery;
  readonly id?: unknown;
  readonly values?: BodyValues;
}

/** Reads the arguments of one operation. Only what has a body takes time. */
export type RequestParser = (request: Request) => RequestArguments | Promise<RequestArguments>;

/** What the parsers of a resource need. */
export interface ParserSettings {
  readonly plan: ResourcePlan;
  readonly schemas: { readonly create: BodySchema; readonly update: BodySchema };
  /** The properties of the read schema. */
  readonly readable: readonly string[];
  readonly cursors: CursorCodec;
  /** Bytes. */
  readonly bodyLimit: number;
}

const READ_PARAMETERS = ['fields'];
const JSON_TYPES = ['application/json'];

/** The same parser for those who ask several times: a request is parsed once. */
export function parseOnce(parse: RequestParser): (request: Request) => Promise<RequestArguments> {
  const parsed = new WeakMap<Request, Promise<RequestArguments>>();
  return (request) => {
    const known = parsed.get(request) ?? Promise.resolve().then(() => parse(request));
    parsed.set(request, known);
    return known;
  };
}

/** The parser of one operation of a resource. */
export function compileParser(settings: ParserSettings, operation: Endpoint): RequestParser {
  const { plan, schemas, bodyLimit } = settings;
  switch (operation) {
    case 'list':
      return ({ url }) => ({ query: parseListQuery(settings, parseQueryString(url)) });
    case 'read':
      return (request) => ({
        query: parseReadQuery(settings, parseQueryString(request.url)),
        id: parsePathId(plan, request),
      });
    case 'delete':
      return (request) => {
        rejectUnknownParameters(plan, parseQueryString(request.url), []);
        const id = parsePathId(plan, request);
        refuseCondition(plan, request);
        return { id };
      };
    case 'create':
      return async (request) => {
        rejectUnknownParameters(plan, parseQueryString(request.url), []);
        refuseCondition(plan, request);
        const body = await readBody(request, { limit: bodyLimit, mediaTypes: JSON_TYPES });
        return { values: await parseBody(schemas.create, body) };
      };
    case 'update': {
      const limits = { limit: bodyLimit, ...patchTypes(plan) };
      return async (request) => {
        rejectUnknownParameters(plan, parseQueryString(request.url), []);
        const id = parsePathId(plan, request);
        refuseCondition(plan, request);
        const body = await readBody(request, limits);
        return { id, values: await parseBody(schemas.update, body) };
      };
    }
  }
}

/**
 * A write with `If-Match` asks to happen only if the record is still the one that the client has seen. Without strong tags
 * nobody can tell (RFC 9110, 13.1.1), and a write that passes the condition by may overwrite what somebody else wrote.
 */
export function refuseCondition({ name }: ResourcePlan, { headers }: Request): void {
  if (headers['if-match'] === undefined) return;
  throw new HttpError(
    412,
    `${name} has no entity tags, so If-Match cannot be checked, and nothing was done; leave it out.`,
  );
}

function parseReadQuery({ plan, readable }: ParserSettings, query: QueryString): ReadQuery {
  const issues = parameterIssues(plan, query, READ_PARAMETERS);
  const fields = parseFields(readable, query.parameters.get('fields'), issues);
  if (issues.length > 0) throw new InvalidQueryError(issues);
  return Object.freeze({ fields });
}

function parsePathId(plan: ResourcePlan, request: Request): unknown {
  return parseId(plan, String(request.params['id']));
}

function parseId(plan: ResourcePlan, raw: string): unknown {
  const parsed = tryParseId(plan, raw);
  switch (parsed.kind) {
    case 'id':
      return parsed.value;
    case 'impossible':
      throw noSuchRecord({ name: plan.name, key: plan.info.primaryKey.name });
    case 'malformed':
      throw new InvalidQueryError([
        {
          parameter: 'id',
          code: 'id',
          detail: `${quote(raw)} is not a valid id; it must be ${parsed.expected}.`,
        },
      ]);
  }
}

/** A user's `idType` function refuses an id by throwing; an HTTP error of his choice stays his. */
function tryParseId(plan: ResourcePlan, raw: string): ParsedId {
  try {
    return plan.parseId(raw);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return REFUSED;
  }
}
