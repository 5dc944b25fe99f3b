/** The last Express error handler: answers whatever was thrown, and never throws itself. */
import { ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { layersOf } from '../request/express-internals.js';
import { describePath, requestLogger } from '../request/request-log.js';
import { currentItem, requestResource, shownNames } from '../request/request-notes.js';
import { ClientGone, existingSessions, SAFE_METHODS } from '../request/request-sessions.js';
import { DEFAULT_HEADERS, requestId, sendRequestId, setDefaultHeaders } from '../request/standard-headers.js';
import type { Logger } from '../util/logger.js';
import { failureLog } from './failure-log.js';
import { ofItem, type Problem, toProblem, UNEXPECTED } from './problem.js';

/**
 * Answers errors of hand-written routes as those of generated ones: persistence errors by the table of `statusFor`,
 * what the database refuses, and 500 without details for the rest. `bootstrap` does this already.
 *
 * Errors reach it from what was mounted before it; that of `bootstrap` stays behind everything. Unexpected ones are logged
 * by the logger of `bootstrap`, where there is one.
 *
 * @example
 * ```ts
 * app.get('/capital/:id', async (request, response) => response.json(await cities.get(request.params.id)));
 * installExceptionHandlers(app);
 * ```
 */
export function installExceptionHandlers(app: Express): void {
  app.use(exceptionHandler());
}

/** Number of layers of an application's router that have an error handler of this library behind them. */
const COVERED = new WeakMap<Express, number>();

/** Below which paths of an application what nothing has answered is a problem. */
const CLOSED = new WeakMap<Express, ReadonlySet<string>>();

/**
 * Installs the error handler, and again behind what is mounted later: an error reaches only handlers behind the layer that
 * threw it. Looked for by requests that nothing has answered so far, before they reach those layers.
 *
 * @param closed below which path unknown ones are a problem; null leaves them to Express
 */
export function installLastHandler(app: Express, logger: Logger, closed: string | null): void {
  const paths = new Set([...(CLOSED.get(app) ?? []), ...(closed === null ? [] : [closed])]);
  CLOSED.set(app, paths);
  const cover = (): void => {
    let covered = 0;
    // A layer that was mounted later may serve the path.
    const isLast = (): boolean => COVERED.get(app) === covered;
    for (const path of paths) app.use(path || '/', refuseUnknownPath(isLast));
    app.use(exceptionHandler(logger));
    covered = layersOf(app).length;
    COVERED.set(app, covered);
  };
  app.use(function coverLaterLayers(_request, _response, next) {
    if (layersOf(app).length !== COVERED.get(app)) cover();
    next();
  });
  cover();
}

function refuseUnknownPath(isLast: () => boolean): RequestHandler {
  return (request, response, next) => {
    if (response.headersSent || response.destroyed || !isLast()) next();
    else sendProblem(request, response, { status: 404, detail: 'There is no such path.' });
  };
}

/** The error handler, writing to this logger, or else to that of what a request is for. */
export function exceptionHandler(logger?: Logger): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const log = (reason: unknown, status: number): void => logFailure(request, status, reason, logger);
    // Express 4 does not look at the promise, and Express 5 would answer by itself, through the same hooks.
    try {
      // A parameter may have begun a unit of work whose method was never called, because another parameter failed.
      await existingSessions(request)?.rollback(error);
      const problem = problemOf(error, request);
      if (problem === null) return;
      if (problem.status >= 500) log(error, problem.status);
      if (response.writableEnded) return;
      // Half an answer went out: cutting the connection is the only way left to say that it is not whole.
      if (response.headersSent) response.destroy();
      else sendProblem(request, response, problem);
    } catch (failure) {
      log(failure, UNEXPECTED.status);
      sendBareFailure(request, response);
    }
  };
}

/** Writes a failed request to a logger. Default: that of what the request is for. */
export function logFailure(
  request: Request,
  status: number,
  reason: unknown,
  logger = requestLogger(request),
): void {
  const route = `${request.method} ${describePath(request)}`;
  failureLog(logger).add({ route, requestId: requestId(request), status, reason });
}

/**
 * Problem of an error, or null where nothing failed here and nobody waits for an answer. Reading a thrown value, or
 * even its class, can itself throw: a proxy, a getter.
 */
export function problemOf(error: unknown, request: Request): Problem | null {
  try {
    if (error instanceof ClientGone) return null;
    // A delete is refused for rows that refer to the record, and for no attribute of a body.
    const plan = request.method === 'DELETE' ? undefined : requestResource(request);
    const problem = toProblem(error, {
      plan,
      told: shownNames(request, plan),
      isSafe: SAFE_METHODS.has(request.method),
      target: request.url,
    });
    const item = currentItem(request);
    return item === null ? problem : ofItem(problem, item);
  } catch {
    return UNEXPECTED;
  }
}

/** The body of a problem. */
export function problemBody({ detail, errors }: Problem): object {
  return errors ? { detail, errors } : { detail };
}

/** Writes a problem as `application/problem+json` (RFC 9457). */
export function sendProblem(request: Request, response: Response, problem: Problem): void {
  const { status, retryAfter, headers = {} } = problem;
  for (const name of response.getHeaderNames()) if (name.startsWith('content-')) response.removeHeader(name);
  if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
  for (const name in headers) response.setHeader(name, headers[name] as string);
  // The rest of a body that is too large is not read (RFC 9110, 15.5.14), so the connection cannot be used again.
  if (status === 413 && !request.complete) response.setHeader('Connection', 'close');
  const body = Buffer.from(JSON.stringify(problemBody(problem)));
  // A router without `bootstrap` has not answered with it, and the log names it.
  if (status >= 500) sendRequestId(request, response);
  response.statusCode = status;
  setDefaultHeaders(response);
  response.setHeader('Content-Type', 'application/problem+json');
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Node's own methods: what middlewares have put in their place may be what has failed. */
const { end, getHeaderNames, removeHeader, setHeader, writeHead } = ServerResponse.prototype;

/** Answers 500 when the answer itself could not be written; where half of one went out, the connection is cut. */
function sendBareFailure({ method }: Request, response: Response): void {
  if (response.writableEnded) return;
  try {
    if (response.headersSent) throw new TypeError('The head has been sent.');
    const body = JSON.stringify({ detail: UNEXPECTED.detail });
    for (const name of getHeaderNames.call(response)) removeHeader.call(response, name);
    const headers = {
      ...DEFAULT_HEADERS,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    for (const [name, value] of Object.entries(headers)) setHeader.call(response, name, value);
    writeHead.call(response, UNEXPECTED.status);
    Reflect.apply(end, response, method === 'HEAD' ? [] : [body]);
  } catch {
    response.destroy();
  }
}
