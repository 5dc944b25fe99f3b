/** The last Express error handler: answers whatever was thrown, and never throws itself. */
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { barePlan } from '../compile/bare-plan.js';
import { compileUnservedAccess } from '../compile/compile-access.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { describeRecords, perModel } from '../describe/describe-model.js';
import { ownModel } from '../describe/record.js';
import { writtenModel } from '../errors/refused-attributes.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { isErrorHandler, layersOf, moveLayers } from '../request/express-internals.js';
import { currentItem, requestResource, servedPlan, shownNames } from '../request/request-notes.js';
import { ClientGone, existingSessions, SAFE_METHODS } from '../request/request-sessions.js';
import { describeExposure } from '../schema/model-decorators.js';
import { thrownError } from '../util/describe-error.js';
import type { Logger } from '../util/logger.js';
import { cutConnection } from './cut-connection.js';
import { ofItem } from './item-problem.js';
import { handedProblem, noteProblem, type Problem, toProblem, UNEXPECTED } from './problem.js';
import {
  dropContentHeaders,
  logFailure,
  problemOption,
  sendBareFailure,
  sendProblem,
} from './send-problem.js';

/**
 * Answers errors of hand-written routes like those of generated ones: persistence errors by the table of `statusFor`,
 * refusals of the database, and 500 without details for the rest. `bootstrap` does this already.
 *
 * Errors reach it from routers that were mounted before it; that of `bootstrap` stays behind everything. Unexpected ones are logged
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

/** Paths of an application below which a request that nothing has answered is a problem. */
const CLOSED = new WeakMap<Express, ReadonlySet<string>>();

/**
 * Installs the error handler, and again behind what is mounted later: an error reaches only handlers behind the layer that
 * threw it. Requests without an answer so far search it, before they reach those layers.
 *
 * @param closed below which path unknown ones are a problem; null leaves them to Express
 */
export function installLastHandler(app: Express, logger: Logger, closed: string | null): void {
  const paths = new Set([...(CLOSED.get(app) ?? []), ...(closed === null ? [] : [closed])]);
  CLOSED.set(app, paths);
  const cover = (): void => {
    let covered = 0;
    // A layer that was mounted later may serve the path, or handle the error.
    const isLast = (): boolean => {
      if (layersOf(app).length !== COVERED.get(app)) cover();
      return COVERED.get(app) === covered;
    };
    const before = layersOf(app).length;
    for (const path of paths) app.use(path || '/', refuseUnknownPath(isLast));
    if (problemOption(app) === 'next') moveLayers(app, before, handlersFrom(app, before));
    app.use(exceptionHandler(logger, isLast));
    covered = layersOf(app).length;
    COVERED.set(app, covered);
  };
  app.use(function coverLaterLayers(_request, _response, next) {
    if (layersOf(app).length !== COVERED.get(app)) cover();
    next();
  });
  cover();
}

/** The place of the error handlers at the end of the first layers of an application. */
function handlersFrom(app: Express, count: number): number {
  const layers = layersOf(app).slice(0, count);
  return layers.findLastIndex((layer) => !isErrorHandler(layer)) + 1;
}

function refuseUnknownPath(isLast: () => boolean): RequestHandler {
  return (_request, response, next) => {
    const isOpen = !response.headersSent && !response.destroyed && isLast();
    next(isOpen ? new RefusedRequestError(404, 'There is no such path.') : undefined);
  };
}

/**
 * The error handler, writing to this logger, or else to that of the resource of a request.
 *
 * @param isLast true where the application has no other handler behind it. Default: it has one.
 */
export function exceptionHandler(logger?: Logger, isLast: () => boolean = () => false): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  return async (error: unknown, request: Request, response: Response, next: NextFunction) => {
    const log = (reason: unknown, status: number): void => logFailure(request, status, reason, logger);
    // Express 4 ignores the promise, and Express 5 would answer by itself, through the same hooks.
    try {
      // A parameter may have begun a unit of work whose method was never called, because another parameter failed.
      await existingSessions(request)?.rollback(error);
      const handed = handedProblem(error);
      const problem = handed ?? requestProblem(error, request);
      if (problem === null) return;
      // Half an answer went out: cutting the connection is the only way left to say that it is not whole.
      const { headersSent, writableEnded, destroyed } = response;
      const isCut = headersSent && !writableEnded && !destroyed;
      const isLate = writableEnded && isWrite(request);
      if ((problem.status >= 500 || isCut || isLate) && !handed)
        log(isLate ? afterAnswer(error, response) : error, problem.status);
      if (writableEnded) return;
      if (headersSent) cutConnection(response);
      else if (problemOption(request.app) === 'next' && !isLast()) {
        dropContentHeaders(response);
        next(noteProblem(thrownError(error, 'A middleware, or a route,'), problem));
      } else sendProblem(request, response, problem);
    } catch (failure) {
      log(failure, UNEXPECTED.status);
      sendBareFailure(request, response);
    }
  };
}

/** True where the method of a request may write, and a session was begun for it. */
function isWrite(request: Request): boolean {
  return !SAFE_METHODS.has(request.method) && existingSessions(request) !== undefined;
}

/** Makes the error that is logged where a method had answered before its commit. */
function afterAnswer(cause: unknown, { statusCode }: Response): Error {
  const text = `The client was answered with ${statusCode} before the request failed, and what was not committed is undone.`;
  return new Error(text, { cause });
}

/** The resource that an error is about. Code of the user's may write records of another one, or of a model without routes. */
function planOf(error: unknown, request: Request): ResourcePlan | undefined {
  const plan = requestResource(request);
  const written = writtenModel(error);
  const model = written && ownModel(written);
  if (!model || model === plan?.model) return plan;
  // In a request for a resource, a model without routes is not named to the client.
  return servedPlan(request, model) ?? plan ?? unservedPlan(model);
}

const unservedPlan = perModel((model): ResourcePlan => {
  const info = describeRecords(model);
  const nothing = (): void => {};
  const plan = barePlan(info, describeExposure(info, nothing));
  return { ...plan, access: compileUnservedAccess(model, {}, nothing) };
});

/**
 * Problem of an error, or null where nothing failed here and the client has gone. Reading a thrown value, or
 * even its class, can itself throw: a proxy, a getter.
 */
export function requestProblem(error: unknown, request: Request): Problem | null {
  try {
    if (error instanceof ClientGone) return null;
    // A delete is refused for rows that refer to the record, and for no attribute of a body.
    const plan = request.method === 'DELETE' ? undefined : planOf(error, request);
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
