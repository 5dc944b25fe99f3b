/** The JSON body of a route of the user's, read as generated routes read theirs. */
import type { Request, RequestHandler } from 'express';
import {
  checkMediaType,
  checkReadLength,
  hasBody,
  isCutOff,
  isKept,
  isRead,
  readBody,
  unreadableBody,
} from '../../request/read-body.js';

/** Makers of middlewares, of `body-parser`. */
interface BodyParsers {
  json(options: object): RequestHandler;
  text(options?: object): RequestHandler;
}

const JSON_TYPE = 'application/json';
const ALL = [JSON_TYPE, 'application/merge-patch+json'];

/** The makers, with our own reader where a route has no options of `body-parser`. @param limit in bytes; undefined for the default */
export function bodyParsers(parsers: BodyParsers, limit: number | undefined): BodyParsers {
  return {
    json: (options?: object) =>
      options
        ? ofWhole(ofKnownType(options, parsers.json({ strict: false, type: ALL, ...options })))
        : readJson(limit),
    text: (options) => ofWhole(parsers.text(options)),
  };
}

/** `body-parser` reads nothing of a request whose client has gone, so that a placeholder would stay in the place of the body. */
function ofWhole(parse: RequestHandler): RequestHandler {
  return (request, response, next) =>
    isCutOff(request) ? next(unreadableBody()) : parse(request, response, next);
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

function readJson(limit: number | undefined): RequestHandler {
  return async (request, _response, next) => {
    if (!hasBody(request)) return next();
    try {
      // A body that a middleware has read before is taken as it is, such as a form with files.
      if (isRead(request) && !isKept(request) && !isCutOff(request)) {
        if (request.is(ALL)) checkReadLength(request, limit);
      } else request.body = await readBody(request, { limit, mediaTypes: typesOf(request) });
    } catch (error) {
      return next(error);
    }
    next();
  };
}
