/**
 * A request -> the arguments of a controller's method. Cheap checks come first and each stops the rest: the query
 * string, then the id, then the body, which is only read when everything before it is right.
 */
import type { Request } from 'express';
import { HttpError } from 'routing-controllers';
import type { Operation } from '../metadata/crud-options.js';
import { NotFoundError } from '../persistence/errors.js';
import { type ParsedId, REFUSED } from '../plan/compile-id.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import { InvalidQueryError } from '../query/invalid-query-error.js';
import type { ListQuery } from '../query/list-query.js';
import { parseListQuery } from '../query/parse-list-query.js';
import { parseQueryString, quote } from '../query/query-string.js';
import { rejectUnknownParameters } from '../query/unknown-parameters.js';
import { type BodySchema, type BodyValues, parseBody } from '../schema/body-schema.js';
import { readBody } from './read-body.js';

/** The arguments, as far as the operation has them. */
export interface RequestArguments {
  readonly query?: ListQuery;
  readonly id?: unknown;
  readonly values?: BodyValues;
}

/** Reads the arguments of one operation. */
export type RequestParser = (request: Request) => Promise<RequestArguments>;

/** What the parsers of a resource need. */
export interface ParserSettings {
  readonly plan: ResourcePlan;
  readonly schemas: { readonly create: BodySchema; readonly update: BodySchema };
  /** Bytes. */
  readonly bodyLimit: number;
}

const JSON_TYPES = ['application/json'];
/** RFC 7396: a PATCH with `application/json` is read as a merge patch too. */
const PATCH_TYPES = ['application/json', 'application/merge-patch+json'];

/** The parser of one operation of a resource. */
export function compileParser(settings: ParserSettings, operation: Operation): RequestParser {
  const { plan, schemas, bodyLimit } = settings;
  switch (operation) {
    case 'list':
      return async (request) => ({ query: parseListQuery(plan, parseQueryString(request.url)) });
    case 'read':
    case 'delete':
      return async (request) => ({ id: parsePath(plan, request) });
    case 'create':
      return async (request) => {
        rejectUnknownParameters(plan, parseQueryString(request.url), []);
        const body = await readBody(request, { limit: bodyLimit, mediaTypes: JSON_TYPES });
        return { values: await parseBody(schemas.create, body) };
      };
    case 'update':
      return async (request) => {
        const id = parsePath(plan, request);
        const body = await readBody(request, { limit: bodyLimit, mediaTypes: PATCH_TYPES });
        return { id, values: await parseBody(schemas.update, body) };
      };
  }
}

/** The id of a route that reads nothing from the query string. */
function parsePath(plan: ResourcePlan, request: Request): unknown {
  rejectUnknownParameters(plan, parseQueryString(request.url), []);
  return parseId(plan, String(request.params['id']));
}

function parseId(plan: ResourcePlan, raw: string): unknown {
  const { primaryKey, name } = plan.info;
  const parsed = tryParseId(plan, raw);
  switch (parsed.kind) {
    case 'id':
      return parsed.value;
    case 'impossible':
      throw new NotFoundError(`There is no ${name} with this ${primaryKey.name}.`);
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
