/** A line in the log for each request. */
import type { RequestHandler } from 'express';
import { describePath } from '../request/request-log.js';
import { requestId } from '../request/standard-headers.js';
import { type Logger, tell } from '../util/logger.js';

/**
 * Writes what is known of a request when its answer has been sent, or its connection closed before. The path is the template of
 * the route: a path has ids, and a query string has values.
 */
export function accessLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const { method } = request;
      const route = describePath(request);
      const { statusCode, writableFinished } = response;
      const length = response.getHeader('Content-Length');
      tell(logger, `${method} ${route} ${statusCode}`, {
        requestId: requestId(request),
        method,
        route,
        status: statusCode,
        ms: Math.round((performance.now() - started) * 1000) / 1000,
        bytes: length === undefined ? null : Number(length),
        // The client went away before the end.
        isComplete: writableFinished,
      });
    });
    next();
  };
}
