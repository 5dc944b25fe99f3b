/** The JSON body of a route of the user's, read as generated routes read theirs. */
import type { RequestHandler } from 'express';
import { hasBody, isRead, readBody } from '../../request/read-body.js';

/** Makers of middlewares, of `body-parser`. */
interface BodyParsers {
  json(options: object): RequestHandler;
  text(options?: object): RequestHandler;
}

/** The makers, with our own reader where a route has no options of `body-parser`. @param limit in bytes */
export function bodyParsers(parsers: BodyParsers, limit: number): BodyParsers {
  return {
    json: (options?: object) => (options ? parsers.json({ strict: false, ...options }) : readJson(limit)),
    text: (options) => parsers.text(options),
  };
}

function readJson(limit: number): RequestHandler {
  return async (request, _response, next) => {
    // A body that a middleware has read before is taken as it is.
    if (isRead(request) || !hasBody(request)) return next();
    const isPatch = request.method === 'PATCH';
    const mediaTypes = ['application/json', ...(isPatch ? ['application/merge-patch+json'] : [])];
    try {
      request.body = await readBody(request, { limit, mediaTypes });
    } catch (error) {
      return next(error);
    }
    next();
  };
}
