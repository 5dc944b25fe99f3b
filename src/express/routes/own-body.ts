/** The JSON body of a route of the user's, read as generated routes read theirs. */
import type { Request, RequestHandler } from 'express';
import { checkMediaType, hasBody, isKept, isRead, readBody } from '../../request/read-body.js';

/** Makers of middlewares, of `body-parser`. */
interface BodyParsers {
  json(options: object): RequestHandler;
  text(options?: object): RequestHandler;
}

const JSON_TYPE = 'application/json';
const ALL = [JSON_TYPE, 'application/merge-patch+json'];

/** The makers, with our own reader where a route has no options of `body-parser`. @param limit in bytes */
export function bodyParsers(parsers: BodyParsers, limit: number): BodyParsers {
  return {
    json: (options?: object) =>
      options
        ? ofKnownType(options, parsers.json({ strict: false, type: ALL, ...options }))
        : readJson(limit),
    text: (options) => parsers.text(options),
  };
}

/** `body-parser` reads nothing of another type, and passes the request on. */
function ofKnownType(options: { readonly type?: unknown }, parse: RequestHandler): RequestHandler {
  if (options.type !== undefined) return parse;
  return (request, response, next) => {
    if (!isRead(request) && hasBody(request)) checkMediaType(request, { mediaTypes: typesOf(request) });
    parse(request, response, next);
  };
}

function typesOf({ method }: Request): readonly string[] {
  return method === 'PATCH' ? ALL : [JSON_TYPE];
}

function readJson(limit: number): RequestHandler {
  return async (request, _response, next) => {
    // A body that a middleware has read before is taken as it is.
    if ((isRead(request) && !isKept(request)) || !hasBody(request)) return next();
    try {
      request.body = await readBody(request, { limit, mediaTypes: typesOf(request) });
    } catch (error) {
      return next(error);
    }
    next();
  };
}
